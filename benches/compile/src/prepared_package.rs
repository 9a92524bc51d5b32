//! One competitor at one number of cases: its package, built and checked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result};

use crate::cargo::Build;
use crate::competitor::Competitor;
use crate::layout::Cases;
use crate::package::Package;
use crate::surroundings::Surroundings;

/// A package that takes part.
pub(crate) struct Subject {
    pub(crate) package: Package,
    pub(crate) state: State,
}

/// Whether a package can be measured.
pub(crate) enum State {
    /// It lists the right tests.
    Ready {
        /// The first build of its tests, without those of the dependencies.
        first: Build,
    },
    /// Why it cannot be measured.
    Failed(String),
}

impl Subject {
    /// Writes the package, builds it and looks whether it has the tests that it should have.
    pub(crate) fn prepare(
        competitor: &'static dyn Competitor,
        cases: Cases,
        surroundings: &Surroundings,
    ) -> Result<Self> {
        let package = Package::write(competitor, cases, &surroundings.directory, &surroundings.source)?;
        eprintln!("preparing {}", package.name());
        let state = match first_build(&package, surroundings)? {
            Ok(first) => State::Ready { first },
            Err(why) => {
                eprintln!("{}: {why}", package.name());
                State::Failed(why)
            }
        };
        Ok(Self { package, state })
    }

    /// Removes the package and what was built from it.
    pub(crate) fn remove(&self, surroundings: &Surroundings) -> Result<()> {
        surroundings.cargo.clean(&self.package)?;
        self.package.remove()
    }
}

fn first_build(package: &Package, surroundings: &Surroundings) -> Result<Result<Build, String>> {
    if let Err(why) = surroundings.cargo.build_dependencies(package)? {
        return Ok(Err(why));
    }
    let build = match surroundings.cargo.build_tests(package)? {
        Ok(build) => build,
        Err(why) => return Ok(Err(why)),
    };
    Ok(check(package, &listed(&build.executable, package)?).map(|()| build))
}

/// A test binary, set up as `cargo test` does.
pub(crate) fn test_command(executable: &Path, package: &Package) -> Command {
    let mut command = Command::new(executable);
    command.current_dir(&package.root).env("CARGO_MANIFEST_DIR", &package.root).stdin(Stdio::null());
    command.env("EVALSUITE_OUTPUT", results(package));
    // Cargo names both, and the second is where the standard library lies as a dynamic one.
    let own = executable.parent().map(Path::to_path_buf);
    let libraries = own.into_iter().chain(standard_library().map(Path::to_path_buf));
    if let Ok(libraries) = std::env::join_paths(libraries) {
        command.env(LIBRARY_PATH, libraries);
    }
    command
}

/// Variable with the directories of dynamic libraries.
const LIBRARY_PATH: &str = if cfg!(target_os = "macos") { "DYLD_FALLBACK_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };

fn standard_library() -> Option<&'static Path> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let ask = || {
        let output = Command::new("rustc").args(["--print", "target-libdir"]).output().ok()?;
        String::from_utf8(output.stdout).ok().map(|path| PathBuf::from(path.trim()))
    };
    DIRECTORY.get_or_init(ask).as_deref()
}

/// Where tests leave their results.
pub(crate) fn results(package: &Package) -> PathBuf {
    package.root.join("results")
}

/// Removes what tests left.
pub(crate) fn remove_results(package: &Package) -> Result<()> {
    let results = results(package);
    match std::fs::remove_dir_all(&results) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", results.display()))
        }
        _ => Ok(()),
    }
}

fn listed(executable: &Path, package: &Package) -> Result<Vec<String>> {
    let output = test_command(executable, package).args(["--list", "--format", "terse"]).output();
    let output = output.with_context(|| format!("cannot start {}", executable.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn check(package: &Package, listed: &[String]) -> Result<(), String> {
    let Package { competitor, cases, .. } = package;
    let expected = cases.count + competitor.further_tests(*cases);
    if listed.len() != expected {
        return Err(format!("lists {} tests instead of {expected}", listed.len()));
    }
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let mut known = (0..cases.count).filter_map(|case| competitor.test(*cases, case));
    match known.find(|name| !listed.contains(name.as_str())) {
        Some(name) => Err(format!("does not list `{name}`")),
        None => Ok(()),
    }
}
