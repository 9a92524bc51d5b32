//! evalsuite as its users get it.
//!
//! A dependency from a registry or a git repository is built without incremental compilation, in few object files; one at a
//! path is built like a user's own package, in many, which the linker pays for at every build of the tests. So the packages
//! depend on a copy of the workspace that is a git repository. Besides, the sources may be edited while the program runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A copy of the workspace's files, those that git ignores left out.
pub(crate) struct Source {
    root: PathBuf,
}

impl Source {
    /// Copies the workspace to a repository below `directory`.
    pub(crate) fn take(workspace: &Path, directory: &Path) -> Result<Self> {
        let root = directory.join("evalsuite-source");
        if root.exists() {
            fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
        }
        let files = git(workspace, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        for file in files.split('\0').filter(|file| !file.is_empty()) {
            // What git knows and somebody has removed is not part of what is measured.
            if workspace.join(file).is_file() {
                copy(&workspace.join(file), &root.join(file))?;
            }
        }
        git(&root, &["init", "--quiet"])?;
        git(&root, &["add", "--all", "--force"])?;
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false"];
        git(
            &root,
            &[author.as_slice(), &["commit", "--quiet", "--message", "The sources that are measured"]].concat(),
        )?;
        Ok(Self { root })
    }

    /// One of its files.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// The keys of a dependency on one of its packages.
    pub(crate) fn dependency(&self) -> String {
        let path = self.root.to_string_lossy().replace('\\', "/");
        // On Windows a path has no slash in front.
        format!("git = {:?}", format!("file:///{}", path.trim_start_matches('/')))
    }
}

/// Links are copied as what they point to.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy {}", from.display()))
}

fn git(directory: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(directory).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("a file name is not UTF-8")
}
