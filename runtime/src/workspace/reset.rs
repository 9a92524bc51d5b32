//! Resets of a workspace to its base.

use std::path::Path;
use std::{fs, io};

use evalsuite_schema::Reset;

use crate::platform::files::error_at;
use crate::platform::process::echo::Echo;
use crate::workspace::base::BaseFacts;
use crate::workspace::copy::{CopyMode, remove_entry};
use crate::workspace::git::git;
use crate::workspace::repos;

/// Returns the repositories of a workspace to their commits.
pub(crate) fn git_reset(workspace: &Path, facts: &BaseFacts, reset: Reset, echo: Echo) -> io::Result<()> {
    facts
        .repos
        .iter()
        .try_for_each(|repo| reset_repo(&workspace.join(repos::relative(&repo.path)), &repo.commit, reset, echo))
}

fn reset_repo(directory: &Path, commit: &str, reset: Reset, echo: Echo) -> io::Result<()> {
    if !directory.join(".git").exists() {
        // Git would use a repository around the workspace instead.
        return Err(io::Error::other(format!("{} is not a repository any more", directory.display())));
    }
    // Ends whatever the agent began, a merge for instance.
    git(directory, ["reset", "--quiet", "--hard"], echo)?;
    git(directory, ["checkout", "--quiet", "--force", "--detach", commit], echo)?;
    let clean = if reset == Reset::Strict { "-ffdxq" } else { "-ffdq" };
    git(directory, ["clean", clean], echo).map(drop)
}

/// Returns a shared workspace to its base: repositories by git, everything else from an unchanged copy.
pub(crate) fn restore(
    workspace: &Path,
    pristine: &Path,
    facts: &BaseFacts,
    reset: Reset,
    echo: Echo,
) -> io::Result<()> {
    let mut repos = Vec::new();
    for repo in &facts.repos {
        let path = repos::relative(&repo.path);
        let directory = workspace.join(&path);
        restore_git_directory(&pristine.join(&path), &directory)?;
        if reset_repo(&directory, &repo.commit, reset, echo).is_err() {
            // Its files are damaged beyond what git can repair.
            remove_entry(&directory).map_err(|error| error_at(&directory, &error))?;
            fs::create_dir_all(&directory).map_err(|error| error_at(&directory, &error))?;
            CopyMode::Whole.run(&pristine.join(&path), &directory)?;
        }
        repos.push(path);
    }
    CopyMode::Restore(reset).run_without(&repos, pristine, workspace)
}

/// Removes what an agent left in a repository: its commits would be there for the next trial, in branches, stashes and reflogs.
fn restore_git_directory(pristine: &Path, directory: &Path) -> io::Result<()> {
    let [from, to] = [pristine, directory].map(|parent| parent.join(".git"));
    let are_directories = [&from, &to].iter().all(|path| path.symlink_metadata().is_ok_and(|there| there.is_dir()));
    if are_directories { CopyMode::Restore(Reset::Strict).run(&from, &to) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Everything below a directory, with its content.
    fn listed(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut directories = vec![root.to_owned()];
        while let Some(directory) = directories.pop() {
            for name in fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()) {
                let path = directory.join(name);
                let shown = evalsuite_discovery::with_slashes(path.strip_prefix(root).unwrap());
                if path.is_dir() {
                    directories.push(path);
                } else {
                    found.push(format!("{shown}={}", fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn changed_deleted_and_created_files_are_as_before() {
        let root = tempfile::tempdir().unwrap();
        let (base, pristine) = (root.path().join("base"), root.path().join("pristine"));
        for path in ["same", "changed", "deleted/a", "was_file", "node_modules/lib"] {
            write(&base, path, "old");
        }
        crate::workspace::copy_to_trial(&base, &pristine).unwrap();
        let before = listed(&base);
        for reset in [Reset::Fast, Reset::Strict] {
            write(&base, "changed", "new");
            fs::remove_dir_all(base.join("deleted")).unwrap();
            fs::remove_file(base.join("was_file")).unwrap();
            write(&base, "was_file/now", "a directory");
            write(&base, "node_modules/cache", "kept by a fast reset");
            write(&base, "created/deep", "x");
            restore(&base, &pristine, &BaseFacts::default(), reset, Echo::Off).unwrap();
            let mut expected = before.clone();
            if reset == Reset::Fast {
                expected.push("node_modules/cache=kept by a fast reset".to_owned());
                expected.sort();
            }
            assert_eq!(listed(&base), expected);
        }
    }

    #[test]
    fn a_strict_reset_finds_a_change_that_keeps_the_modification_time() {
        let root = tempfile::tempdir().unwrap();
        let (base, pristine) = (root.path().join("base"), root.path().join("pristine"));
        write(&base, "a", "old");
        crate::workspace::copy_to_trial(&base, &pristine).unwrap();
        let time = base.join("a").metadata().unwrap().modified().unwrap();
        write(&base, "a", "bad");
        fs::File::options().write(true).open(base.join("a")).unwrap().set_modified(time).unwrap();
        restore(&base, &pristine, &BaseFacts::default(), Reset::Strict, Echo::Off).unwrap();
        assert_eq!(listed(&base), ["a=old"]);
    }
}
