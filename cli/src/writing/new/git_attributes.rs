//! The attributes by which git checks out suites, recordings and baselines with the same line breaks on every system.

use std::path::Path;

use super::changes::{Changes, read_if_there};
use crate::platform::cli_error::Result;

const FILE: &str = ".gitattributes";

const COMMENT: &str = "# Suites, recordings and baselines have the same line breaks on every system.";

/// Adds the lines that are missing for a directory of suites.
pub(super) fn add(changes: &mut Changes, root: &Path, suites: &str) -> Result<()> {
    let path = root.join(FILE);
    let lines = [suites, ".evalsuite"].map(|directory| format!("/{directory}/** text=auto eol=lf"));
    match read_if_there(&path)? {
        None => changes.create(path, format!("{COMMENT}\n{}\n", lines.join("\n"))),
        Some(old) => {
            // Whoever has a rule for these files has decided.
            let is_there = |directory: &str| {
                old.lines().any(|line| line.trim_start_matches('/').starts_with(&format!("{directory}/")))
            };
            let missing: Vec<&str> = [suites, ".evalsuite"]
                .into_iter()
                .zip(&lines)
                .filter(|(directory, _)| !is_there(directory))
                .map(|(_, line)| line.as_str())
                .collect();
            if !missing.is_empty() {
                let between = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
                let text = format!("{old}{between}{COMMENT}\n{}\n", missing.join("\n"));
                changes.edit(path, text, missing.join(", "));
            }
        }
    }
    Ok(())
}
