//! Suites that documents show: blocks of YAML whose first line names their file.

use std::fs;
use std::path::Path;

use evalsuite_loader::{Request, load};
use evalsuite_schema::diagnostics::render::{Style, text};

/// What the loader says of the eval files of a document, warnings included, and how many there are.
pub(crate) fn problems(document: &str) -> (usize, Vec<String>) {
    let package = tempfile::tempdir().expect("a temporary directory");
    fs::write(package.path().join("Cargo.toml"), "[package]\nname = \"p\"\n").expect("a manifest");
    let (mut count, mut problems) = (0, Vec::new());
    for block in document.split("\n```yaml\n").skip(1) {
        let yaml = block.split("\n```").next().unwrap_or(block);
        let Some(file) = yaml.lines().next().and_then(|line| line.strip_prefix("# suites/")) else { continue };
        let file = Path::new("suites").join(file);
        let suite = file.parent().expect("a file in a suite");
        fs::create_dir_all(package.path().join(suite)).expect("a directory");
        fs::write(package.path().join(&file), yaml).expect("an eval file");
        let loaded = load(&Request::new(suite.display().to_string(), package.path()));
        problems.extend(loaded.diagnostics.iter().map(|diagnostic| text(diagnostic, Style::Plain)));
        count += 1;
    }
    (count, problems)
}
