//! Directories of the workspace, of the target directory, and of the packages.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The workspace of evalsuite.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a member of the workspace")
}

/// The target directory this test program was built in.
pub(crate) fn target() -> PathBuf {
    let executable = std::env::current_exe().expect("a test program has a path");
    let target = executable.ancestors().skip(1).find(|directory| directory.join("CACHEDIR.TAG").is_file());
    target.map_or_else(|| workspace().join("target"), Path::to_owned)
}

/// The target directory of all packages.
pub(crate) fn shared_target() -> PathBuf {
    target().join("throwaway")
}

/// A directory outside of any workspace.
pub(crate) fn elsewhere() -> PathBuf {
    // The same in every run, so that cargo finds earlier builds, but different for each checkout.
    let mut hasher = DefaultHasher::new();
    target().hash(&mut hasher);
    std::env::temp_dir().join(format!("evalsuite-throwaway-{:016x}", hasher.finish()))
}
