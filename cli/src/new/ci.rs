//! `cargo evalsuite new ci`: the profile of nextest and the workflow for a CI server.

use std::io::Write;
use std::path::Path;

use evalsuite_loader::workspace_root;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value, value};

use super::changes::{Changes, read_if_there};
use super::manifest;
use super::package_here::manifest_directory;
use crate::new::arguments::NewCi;
use crate::platform::cli_error::Result;
use crate::platform::output::stdout;

/// The workflow. `.ci/release` checks it.
const WORKFLOW: &str = include_str!("../../assets/evals.yml");

pub(super) fn write(arguments: &NewCi) -> Result<()> {
    let root = workspace_root(&manifest_directory()?);
    let mut changes = Changes::new(&root);
    add(&mut changes, &root)?;
    if changes.is_empty() {
        writeln!(stdout(), "the workflow and the profile are up to date")?;
        return Ok(());
    }
    changes.write(arguments.force)
}

/// Adds the workflow, and the profile of nextest that it uses.
pub(super) fn add(changes: &mut Changes, workspace_root: &Path) -> Result<()> {
    add_nextest_profile(changes, workspace_root)?;
    add_workflow(changes, workspace_root)
}

/// Adds the profile `ci` to `.config/nextest.toml`, unless it is there.
pub(super) fn add_nextest_profile(changes: &mut Changes, workspace_root: &Path) -> Result<()> {
    let path = workspace_root.join(".config/nextest.toml");
    let is_there = path.is_file();
    let mut document = if is_there { manifest::read(&path)? } else { DocumentMut::new() };
    let profiles = document.entry("profile").or_insert_with(|| {
        let mut profiles = Table::new();
        profiles.set_implicit(true);
        Item::Table(profiles)
    });
    let Some(profiles) = profiles.as_table_like_mut().filter(|profiles| !profiles.contains_key("ci")) else {
        return Ok(());
    };
    let mut limit = InlineTable::new();
    limit.insert("period", "60s".into());
    limit.insert("terminate-after", 10.into());
    let mut profile = Table::new();
    profile.insert("fail-fast", value(false));
    // Several trials of a case are set in the suite.
    profile.insert("retries", value(0));
    profile.insert("slow-timeout", Item::Value(Value::InlineTable(limit)));
    profiles.insert("ci", Item::Table(profile));
    match is_there {
        true => changes.edit(path, document.to_string(), "profile ci"),
        false => changes.create(path, document.to_string()),
    }
    Ok(())
}

/// Writes a workflow of GitHub Actions into the repository around the workspace, unless it is there.
fn add_workflow(changes: &mut Changes, workspace_root: &Path) -> Result<()> {
    let repository = workspace_root.ancestors().find(|directory| directory.join(".git").exists());
    let repository = repository.unwrap_or(workspace_root);
    let text = match workspace_root.strip_prefix(repository).unwrap_or(Path::new("")).to_string_lossy() {
        below if below.is_empty() => WORKFLOW.to_owned(),
        below => WORKFLOW
            .replace("    env:\n", &format!("    defaults: {{ run: {{ working-directory: {below:?} }} }}\n    env:\n"))
            .replace("path: target/", &format!("path: {below}/target/")),
    };
    let path = repository.join(".github/workflows/evals.yml");
    if read_if_there(&path)?.as_ref() != Some(&text) {
        changes.create(path, text);
    }
    Ok(())
}
