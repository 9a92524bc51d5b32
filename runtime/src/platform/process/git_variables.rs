//! Variables by which git tells a hook which repository it runs in.
//!
//! Tests may run in a git hook. With these variables, a `git commit` in the workspace of a trial would change the developer's repository,
//! so no program inherits them. A target's `env` and [`TrialCommand::env`](crate::TrialCommand::env) can set them.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use crate::platform::environment;

/// What `git rev-parse --local-env-vars` lists, in all versions of git, and two that name the repository of a hook on a server:
/// `GIT_NAMESPACE`, and `GIT_QUARANTINE_PATH`, with which git refuses every commit.
const OF_REPOSITORY: [&str; 18] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The settings that `GIT_CONFIG_COUNT` counts: `GIT_CONFIG_KEY_0`, `GIT_CONFIG_VALUE_0` and so on.
const NUMBERED: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// The variable with the directories at which git stops to look for a repository.
pub(crate) const CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// Lets a command not inherit the variables of a repository. Those that it sets itself stay.
pub fn remove_git_variables(command: &mut Command) {
    let inherited: Vec<OsString> =
        std::env::vars_os().map(|(name, _)| name).filter(|name| is_of_repository(name)).collect();
    for name in inherited {
        if command.get_envs().all(|(own, _)| own != name) {
            command.env_remove(name);
        }
    }
}

fn is_of_repository(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    OF_REPOSITORY.contains(&name) || NUMBERED.iter().any(|prefix| name.starts_with(prefix))
}

/// A value of [`CEILING`] with which git finds no repository around a workspace: runs are in `target` of the package, and a workspace
/// without a repository must not be taken for a part of the developer's. `None` if the variable cannot name the directory.
pub(crate) fn ceiling_of(workspace: &Path) -> Option<OsString> {
    let inherited = environment::var_os(CEILING).unwrap_or_default();
    let parent = workspace.parent()?.to_owned();
    let inherited = std::env::split_paths(&inherited).filter(|directory| !directory.as_os_str().is_empty());
    std::env::join_paths(std::iter::once(parent).chain(inherited)).ok()
}

#[cfg(test)]
mod tests {
    use evalsuite_needs::needs;

    use super::*;

    #[needs(git)]
    #[test]
    fn what_git_calls_local_to_a_repository_is_not_inherited() {
        let listed = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.contains("GIT_INDEX_FILE"), "{listed}");
        for name in listed.lines().chain(["GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_12"]) {
            assert!(is_of_repository(name.as_ref()), "{name}");
        }
        for name in ["GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES", "DIR"] {
            assert!(!is_of_repository(name.as_ref()), "{name} says how git works, not on which repository");
        }
    }

    #[test]
    fn git_looks_for_no_repository_above_a_workspace() {
        let ceiling = ceiling_of(Path::new("/p/target/run/workspace")).unwrap();
        assert_eq!(std::env::split_paths(&ceiling).next().unwrap(), Path::new("/p/target/run"));
    }
}
