//! Rules about single files: length, first line, and the style of modules.

use evalsuite_tests::source::SourceFiles;

pub(crate) fn too_long(files: &SourceFiles, path: &str, longest: usize) -> Option<String> {
    let lines = files.get(path).map_or(0, |text| text.lines().count());
    (lines > longest).then(|| format!("{path} has {lines} lines; at most {longest} are allowed"))
}

pub(crate) fn without_header(files: &SourceFiles) -> Vec<String> {
    let without = files.iter().filter(|(_, text)| !text.starts_with("//!"));
    without
        .map(|(path, _)| format!("{path}:1: the first line is not a `//!` line that says what the file holds"))
        .collect()
}

/// Tests with `#[needs(…)]` below `#[test]`, where it comes too late to ignore them.
pub(crate) fn with_late_needs(files: &SourceFiles) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, pair) in lines.windows(2).enumerate() {
            if pair[0] == "#[test]" && pair[1].starts_with("#[needs(") {
                found.push(format!("{path}:{}: `#[needs]` belongs above `#[test]`", at + 2));
            }
        }
    }
    found
}

/// Files `name.rs` beside a folder `name/` with modules: the module belongs in `name/mod.rs`.
pub(crate) fn of_two_styles(files: &SourceFiles) -> Vec<String> {
    let mut found = Vec::new();
    for path in files.keys() {
        let stem = path.strip_suffix(".rs").expect("only Rust files are read");
        let folder = format!("{stem}/");
        let is_root = ["/lib", "/main", "/mod"].iter().any(|name| stem.ends_with(name));
        if !is_root && files.keys().any(|other| other.starts_with(&folder)) {
            found.push(format!("{path}: a module with child modules belongs in {folder}mod.rs"));
        }
    }
    found
}
