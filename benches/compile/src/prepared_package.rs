//! The package of one competitor with one number of cases, built and checked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result};

use crate::cargo::Build;
use crate::competitor::Competitor;
use crate::environment::Environment;
use crate::layout::Cases;
use crate::package::Package;

/// A package with its first build.
pub(crate) struct PreparedPackage {
    pub(crate) package: Package,
    /// The first build of its tests, without their dependencies, or why the package cannot be measured.
    pub(crate) first_build: Result<Build, String>,
}

impl PreparedPackage {
    /// Writes the package, builds it and checks that it has the expected tests.
    pub(crate) fn prepare(
        competitor: &'static dyn Competitor,
        cases: Cases,
        environment: &Environment,
    ) -> Result<Self> {
        let package = Package::write(competitor, cases, &environment.directory, &environment.source)?;
        eprintln!("preparing {}", package.name());
        let first_build = build_and_check(&package, environment)?;
        if let Err(why) = &first_build {
            eprintln!("{}: {why}", package.name());
        }
        Ok(Self { package, first_build })
    }

    /// Removes the package and its build artifacts.
    pub(crate) fn remove(&self, environment: &Environment) -> Result<()> {
        environment.cargo.clean(&self.package)?;
        self.package.remove()
    }
}

fn build_and_check(package: &Package, environment: &Environment) -> Result<Result<Build, String>> {
    if let Err(why) = environment.cargo.build_dependencies(package)? {
        return Ok(Err(why));
    }
    let build = match environment.cargo.build_tests(package)? {
        Ok(build) => build,
        Err(why) => return Ok(Err(why)),
    };
    Ok(check_tests(package, &listed_tests(&build.executable, package)?).map(|()| build))
}

/// A command for a test binary, with the environment that `cargo test` sets.
pub(crate) fn test_command(executable: &Path, package: &Package) -> Command {
    let mut command = Command::new(executable);
    command.current_dir(&package.root).env("CARGO_MANIFEST_DIR", &package.root).stdin(Stdio::null());
    command.env("EVALSUITE_OUTPUT", package.results());
    // Cargo sets both directories; the second contains the dynamic standard library.
    let own = executable.parent().map(Path::to_path_buf);
    let libraries = own.into_iter().chain(standard_library().map(Path::to_path_buf));
    if let Ok(libraries) = std::env::join_paths(libraries) {
        command.env(LIBRARY_PATH, libraries);
    }
    command
}

/// Environment variable with the search path for dynamic libraries.
const LIBRARY_PATH: &str = if cfg!(target_os = "macos") { "DYLD_FALLBACK_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };

fn standard_library() -> Option<&'static Path> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let ask = || {
        let output = Command::new("rustc").args(["--print", "target-libdir"]).output().ok()?;
        String::from_utf8(output.stdout).ok().map(|path| PathBuf::from(path.trim()))
    };
    DIRECTORY.get_or_init(ask).as_deref()
}

fn listed_tests(executable: &Path, package: &Package) -> Result<Vec<String>> {
    let output = test_command(executable, package).args(["--list", "--format", "terse"]).output();
    let output = output.with_context(|| format!("cannot start {}", executable.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn check_tests(package: &Package, listed: &[String]) -> Result<(), String> {
    let Package { competitor, cases, .. } = package;
    let expected = cases.count + competitor.additional_tests(*cases);
    if listed.len() != expected {
        return Err(format!("lists {} tests, expected {expected}", listed.len()));
    }
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let mut known = (0..cases.count).filter_map(|case| competitor.test_name(*cases, case));
    match known.find(|name| !listed.contains(name.as_str())) {
        Some(name) => Err(format!("does not list `{name}`")),
        None => Ok(()),
    }
}
