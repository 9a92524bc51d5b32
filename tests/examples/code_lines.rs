//! Counts the lines of product code, per crate and in total: `cargo run -p evalsuite-tests --example code_lines`.
//!
//! A line of code holds a token that is not part of a comment. Test code does not count: items that exist only in test
//! builds, and folders and files named `tests`. A directory as argument counts another checkout.

use std::path::PathBuf;

use evalsuite_tests::source::{PRODUCT_FOLDERS, count_code_lines, read_source_files, workspace_root};

fn main() {
    let root = std::env::args().nth(1).map_or_else(|| workspace_root().to_owned(), PathBuf::from);
    let (mut files, mut lines) = (0, 0);
    for name in PRODUCT_FOLDERS.iter().filter(|name| root.join(name).is_dir()) {
        let mut sources = read_source_files(&root, &format!("{name}/src"));
        sources.retain(|path, _| !path.ends_with("/tests.rs") && !path.contains("/tests/"));
        let count: usize = sources.iter().map(|(path, text)| count_code_lines(path, text)).sum();
        println!("{name:<10} {:>4} files {count:>7} lines", sources.len());
        files += sources.len();
        lines += count;
    }
    println!("{:<10} {files:>4} files {lines:>7} lines", "total");
}
