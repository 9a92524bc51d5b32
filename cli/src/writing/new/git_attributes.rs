//! The attributes by which git checks out suites, recordings and baselines with the same line breaks on every system.

use std::path::Path;

use super::changes::{Changes, read_if_there};
use crate::platform::cli_error::Result;

const FILE: &str = ".gitattributes";

const COMMENT: &str = "# Suites, recordings and baselines have the same line breaks on every system.";

/// Adds the lines that are missing for a directory of suites.
pub(super) fn add(changes: &mut Changes, root: &Path, suites: &str) -> Result<()> {
    let path = root.join(FILE);
    let old = read_if_there(&path)?;
    let text = old.as_deref().unwrap_or_default();
    // Whoever has a rule for these files has decided.
    let has_rule =
        |directory: &str| text.lines().any(|line| line.trim_start_matches('/').starts_with(&format!("{directory}/")));
    let directories = [suites, ".evalsuite"].into_iter().filter(|directory| !has_rule(directory));
    let missing: Vec<String> = directories.map(|directory| format!("/{directory}/** text=auto eol=lf")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let between = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let changed = format!("{text}{between}{COMMENT}\n{}\n", missing.join("\n"));
    match old {
        Some(_) => changes.edit(path, changed, missing.join(", ")),
        None => changes.create(path, changed),
    }
    Ok(())
}
