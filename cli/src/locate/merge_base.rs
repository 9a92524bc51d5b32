//! Where a commit left the default branch.

use std::env;
use std::process::{Command, Stdio};

/// What the default branch may be called here, the one of the server first.
const DEFAULT_BRANCHES: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// The newest commit that a commit and a branch have in common.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MergeBase {
    /// A name of the default branch.
    pub(crate) branch: &'static str,
    /// Hexadecimal.
    pub(crate) commit: String,
}

/// The merge bases of a commit and what may be the default branch, in the repository around the current directory. There are none
/// outside of one, without git, and where the history is cut off.
pub(crate) fn merge_bases(commit: &str) -> Vec<MergeBase> {
    let mut found: Vec<MergeBase> = Vec::new();
    for branch in DEFAULT_BRANCHES {
        if let Some(base) =
            git(&["merge-base", commit, branch]).filter(|base| found.iter().all(|it| it.commit != *base))
        {
            found.push(MergeBase { branch, commit: base });
        }
    }
    found
}

/// What git prints; `None` if it cannot answer.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // Git sets them for hooks, where they name another repository.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
