//! `track()`: lets cargo see every change below a directory.

mod links;
mod refusal;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cargo_instructions::Instructions;
use crate::package::Package;

/// Start of the names of the variables that tell the macro which directories the build script tracks. evalsuite-codegen has the same
/// constant.
const TRACKED: &str = "EVALSUITE_TRACKED_";

/// Adds the instructions that track `directory`, or say why it is not tracked.
pub(crate) fn track(directory: &Path, package: &Package, instructions: &mut Instructions) {
    match refusal::checked(directory, package) {
        Ok(Some(absolute)) => {
            instructions.rerun_if_changed(&directory.to_string_lossy());
            instructions.rustc_env(&format!("{TRACKED}{}", next_number()), &absolute);
        }
        // Without an instruction: cargo takes a missing path for one that has changed, and every build would be a full one.
        Ok(None) => instructions.warning(&format!(
            "`{}` is not tracked: it does not exist in {}. The path is relative to the package's root, where Cargo.toml is",
            directory.display(),
            package.root.display()
        )),
        Err(reason) => instructions.error(&format!("cannot track `{}`: {reason}", directory.display())),
    }
}

/// Build scripts may track several directories; each gets its own variable.
fn next_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
