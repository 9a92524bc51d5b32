//! The dev profile of the workspace without debug information of dependencies, which is two thirds of a test program.

use std::path::Path;

use toml_edit::{DocumentMut, Item, value};

use super::changes::Changes;
use super::manifest::Manifest;
use super::questions::Question;
use crate::locate::shown_path::relative;
use crate::platform::cli_error::{CliError, Result};

/// What is written.
const SETTING: &str = "[profile.dev.package.\"*\"]\ndebug = false\n";

/// What the list of changes says.
const WHAT: &str = "dev profile without debug information of dependencies";

/// Adds the setting to the manifest of the workspace, which may be that of the package, unless the user sets `debug` or does not want it.
/// A note if the manifest has to be changed by hand.
pub(super) fn add(package: &mut Manifest, workspace_root: &Path, changes: &mut Changes) -> Result<Option<String>> {
    let path = workspace_root.join("Cargo.toml");
    let mut workspace = if path == package.path { None } else { Some(Manifest::read(path)?) };
    let manifest = workspace.as_mut().unwrap_or(package);
    if has_setting(&manifest.document) || !is_wanted()? {
        return Ok(None);
    }
    let Some(document) = with_setting(&manifest.document) else {
        return Ok(Some(format!(
            "note: {} was not changed: its tables do not allow it\n  = help: for smaller and faster builds, add to it:\n{SETTING}",
            relative(&manifest.path)?
        )));
    };
    manifest.document = document;
    manifest.added.push(WHAT.to_owned());
    if let Some(workspace) = workspace {
        workspace.write(changes);
    }
    Ok(None)
}

fn is_wanted() -> Result<bool> {
    let text = "Leave out debug information of dependencies, for smaller and faster builds: yes or no";
    match (Question { text, argument: "--keep-debug-info", default: Some("yes") }).answer(None)?.as_str() {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        other => Err(CliError::new(format!("`{other}` is neither yes nor no"))),
    }
}

/// Whether the user has decided about debug information of dependencies or of all crates.
fn has_setting(document: &DocumentMut) -> bool {
    let dev = document.get("profile").and_then(|profile| profile.get("dev"));
    let of_dependencies = dev.and_then(|dev| dev.get("package")?.get("*"));
    [dev, of_dependencies].into_iter().flatten().any(|table| table.get("debug").is_some())
}

/// The manifest with the setting; everything else in it stays as it is. `None` if its tables cannot be extended.
fn with_setting(document: &DocumentMut) -> Option<DocumentMut> {
    let mut changed = document.clone();
    let existing =
        changed.get_mut("profile").and_then(|profile| profile.get_mut("dev")?.get_mut("package")?.get_mut("*"));
    if let Some(table) = existing.and_then(Item::as_table_like_mut) {
        table.insert("debug", value(false));
        return Some(changed);
    }
    let text = document.to_string();
    let separator = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // Fails where a part of the path is an inline table.
    format!("{text}{newline}{separator}{SETTING}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Option<String> {
        with_setting(&text.parse().expect("TOML")).map(|document| document.to_string())
    }

    #[test]
    fn the_setting_is_added_and_the_rest_stays() {
        let text = "# mine\n[package]\nname = \"shop\"   # here\n";
        assert_eq!(with(text), Some(format!("{text}\n{SETTING}")));
        assert_eq!(with("[package]\nname = \"shop\""), Some(format!("[package]\nname = \"shop\"\n\n{SETTING}")));
        let text = "[profile.dev]\nopt-level = 1 # fast\n";
        assert_eq!(with(text), Some(format!("{text}\n{SETTING}")));
        let text = "[profile.dev.package.\"*\"]\nopt-level = 1 # fast\n\n[profile.release]\nlto = true\n";
        assert_eq!(with(text), Some(text.replace("# fast\n", "# fast\ndebug = false\n")));
        let text = "[profile.dev.package]\n\"*\" = { opt-level = 1 }\n";
        assert_eq!(with(text), Some("[profile.dev.package]\n\"*\" = { opt-level = 1 , debug = false }\n".to_owned()));
    }

    #[test]
    fn tables_that_cannot_be_extended_are_left_alone() {
        let text = "profile.dev.opt-level = 1\n[package]\n";
        assert_eq!(with(text), Some(format!("{text}\n{SETTING}")), "dotted keys can");
        for text in ["profile = { dev = {} }\n", "[profile]\ndev = { opt-level = 1 }\n"] {
            assert_eq!(with(text), None, "{text}");
        }
    }

    #[test]
    fn a_decision_of_the_user_is_kept() {
        let has = |text: &str| has_setting(&text.parse().expect("TOML"));
        for text in [
            "[profile.dev]\ndebug = \"line-tables-only\"\n",
            "[profile.dev.package.\"*\"]\ndebug = true\n",
            "profile.dev.debug = 0\n",
            "profile = { dev = { package = { \"*\" = { debug = 1 } } } }\n",
        ] {
            assert!(has(text), "{text}");
        }
        for text in ["", "[profile.release]\ndebug = 1\n", "[profile.dev.package.serde]\ndebug = false\n"] {
            assert!(!has(text), "{text}");
        }
    }
}
