//! A copy of evalsuite that packages depend on as its users do.
//!
//! A dependency from a registry or a git repository is built without incremental compilation, in few object files. A path
//! dependency is built like a user's own package, in many, which slows the linker down in every build of the tests. The
//! packages therefore depend on a copy of the workspace that is a git repository. The copy also allows the sources to be
//! edited while the program runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A copy of the workspace's files, except those that git ignores.
pub(crate) struct SourceCopy {
    root: PathBuf,
}

impl SourceCopy {
    /// Copies the workspace to a repository below `directory`.
    pub(crate) fn create(workspace: &Path, directory: &Path) -> Result<Self> {
        let root = directory.join("evalsuite-source");
        if root.exists() {
            fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
        }
        let files = git(workspace, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        for file in files.split('\0').filter(|file| !file.is_empty()) {
            // The index may list files that were deleted.
            if workspace.join(file).is_file() {
                copy(&workspace.join(file), &root.join(file))?;
            }
        }
        git(&root, &["init", "--quiet"])?;
        git(&root, &["add", "--all", "--force"])?;
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false"];
        git(&root, &[author.as_slice(), &["commit", "--quiet", "--message", "Copy of the measured sources"]].concat())?;
        Ok(Self { root })
    }

    /// Path of a file of the copy.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// The keys of a dependency on a package of the copy.
    pub(crate) fn dependency(&self) -> String {
        let path = self.root.to_string_lossy().replace('\\', "/");
        // On Windows a path has no leading slash.
        format!("git = {:?}", format!("file:///{}", path.trim_start_matches('/')))
    }
}

/// Copies a file; links are replaced by their targets.
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
