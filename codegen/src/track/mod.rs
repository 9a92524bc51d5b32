//! `track()`: lets cargo see every change below a directory.

mod refusal;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use evalsuite_loader::{Request, render};

use crate::cache::Cache;
use crate::cargo_environment::{Package, tracked_variable};
use crate::cargo_instructions::Instructions;
use crate::{allowed_warnings, suite_search};

/// A directory of suites that a build script tracks; see [`track`](crate::track).
#[derive(Debug, Clone)]
#[must_use = "nothing is tracked before `start`"]
pub struct Tracker {
    directory: PathBuf,
    allow: Vec<String>,
    /// Whether suites are loaded for their warnings and for the macro.
    load: bool,
}

impl Tracker {
    /// Tracks `directory`, a path relative to the package's root.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), allow: Vec::new(), load: true }
    }

    /// Leaves out warnings with these names, as the macro's argument `allow` does.
    pub fn allow<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.allow.extend(names.into_iter().map(Into::into));
        self
    }

    /// Loads nothing: `generate` does.
    #[cfg(feature = "generate")]
    pub(crate) fn only_changes(mut self) -> Self {
        self.load = false;
        self
    }

    /// Tells cargo. If the directory cannot be tracked this ends the build script with an error that says why.
    pub fn start(self) {
        match Package::of_build_script() {
            Ok(package) => self.instructions(&package),
            Err(error) => {
                let mut instructions = Instructions::default();
                instructions.error(&error.to_string());
                instructions
            }
        }
        .print();
    }

    pub(crate) fn instructions(&self, package: &Package) -> Instructions {
        let mut instructions = Instructions::default();
        for problem in self.allow.iter().filter_map(|name| allowed_warnings::problem(name)) {
            instructions.error(&problem);
        }
        match refusal::checked(&self.directory, package) {
            Ok(tracked) => {
                instructions.rerun_if_changed(&tracked.written);
                instructions.rustc_env(&tracked_variable(next_number()), &tracked.absolute);
                let found =
                    if self.load { suite_search::below(Path::new(&tracked.absolute)).suites } else { Vec::new() };
                for suite in found {
                    self.suite(&suite, package, &mut instructions);
                }
            }
            Err(refusal) => instructions.error(&refusal.to_string()),
        }
        instructions
    }

    fn suite(&self, path: &Path, package: &Package, instructions: &mut Instructions) {
        let Some(entry) = entry(path, &package.root) else { return };
        let request = Request::new(entry, &package.root);
        let (warnings, stored) = Cache::new(&package.out_dir, &request, path).update();
        for warning in &warnings {
            if !self.allow.iter().any(|name| name == warning.code.name()) {
                instructions.warning(&render::short(warning));
            }
        }
        if let Err(error) = stored {
            instructions
                .warning(&format!("{} cannot be cached, so every expansion loads it again: {error}", path.display()));
        }
    }
}

/// `path` as an entry path: relative to the package root, with `/` separators.
fn entry(path: &Path, root: &Path) -> Option<String> {
    let relative = path.strip_prefix(root).unwrap_or(path);
    Some(relative.to_str()?.replace('\\', "/"))
}

/// Build scripts may track several directories; each gets its own variable.
fn next_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
