//! The test programs: how they are built, and which suites are in them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use std::{env, fs};

use evalsuite::tooling::{DESCRIBE_VARIABLE, SuiteDescription, TestDescription, remove_git_variables};
use evalsuite_loader::source::plain_text;
use evalsuite_loader::workspace_root;
use evalsuite_schema::Value;
use evalsuite_schema::discovery::{normalize, with_slashes};

use super::suites::Touched;
use crate::arguments::Build;
use crate::platform::exit_status::{CliError, ErrorContext, Result};
use crate::run::cargo_commands::cargo_test;
use crate::run::chosen_tests::{listed_checks, read_files};
use crate::run::source_digest::dep_info;

/// A test program with suites.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// What identifies it, also after it was built again.
    pub(super) id: Arc<str>,
    executable: PathBuf,
    /// When it was linked, and each binary of its package, which it may start: cargo does not link it again after those.
    built: BTreeMap<PathBuf, Option<SystemTime>>,
    package_root: PathBuf,
    /// Where its records go.
    pub(super) output: PathBuf,
    libraries: OsString,
    suites: Vec<SuiteDescription>,
}

/// Tests that a program does not have before the next build.
#[derive(Debug, Default)]
pub(super) struct NewTests {
    /// Paths of the tests with their cases.
    pub(super) tests: Vec<(String, Touched)>,
    /// Paths of the tests `suite_check` of their suites, which run them.
    pub(super) checks: Vec<String>,
}

/// Why the tests were not built.
#[derive(Debug, Clone, Default)]
pub(super) struct BuildProblems {
    /// Errors of the compiler, one a line: `FILE:LINE:COLUMN: error: MESSAGE`. Those of suites are reported by their check.
    pub(super) lines: Vec<String>,
    /// As the compiler prints them; else what cargo says.
    pub(super) text: String,
}

/// What a build made.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) programs: Vec<Program>,
    /// The files of the packages that the compiler has read, such as those of `include_str!`.
    pub(super) sources: BTreeSet<PathBuf>,
}

/// How the test programs are built.
#[derive(Debug, Clone)]
pub(super) struct TestBuild {
    options: Build,
    /// Where records go.
    output: PathBuf,
    cargo: Arc<Mutex<RunningCargo>>,
    /// The directory of the toolchain.
    sysroot: PathBuf,
}

/// The cargo that builds. It and its compilers are a process group, which another thread can end.
#[derive(Debug, Default)]
struct RunningCargo {
    /// Its process id while it runs.
    process: Option<u32>,
    is_stopped: bool,
}

impl TestBuild {
    pub(super) fn new(options: Build, output: PathBuf) -> Result<Self> {
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let printed = rustc.args(["--print", "sysroot"]).output().of(&rustc)?;
        let sysroot = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
        Ok(Self { options, output, cargo: Arc::default(), sysroot })
    }

    /// Ends the build that runs, with all compilers, and starts no other one.
    pub(super) fn stop(&self) {
        let mut cargo = self.running_cargo();
        cargo.is_stopped = true;
        #[cfg(unix)]
        if let Some(group) =
            cargo.process.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
        // Cargo runs, so it is the root of the tree of its processes.
        #[cfg(windows)]
        if let Some(id) = cargo.process {
            let mut end = Command::new("taskkill");
            end.args(["/T", "/F", "/PID", &id.to_string()]);
            // It may have ended.
            let _ = end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }

    fn running_cargo(&self) -> MutexGuard<'_, RunningCargo> {
        self.cargo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs cargo to its end.
    fn output_of(&self, mut cargo: Command) -> Result<Output> {
        cargo.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut cargo, 0);
        let child = {
            let mut running = self.running_cargo();
            if running.is_stopped {
                return Err(CliError::new("`watch` is ending"));
            }
            let child = cargo.spawn().of(&cargo)?;
            running.process = Some(child.id());
            child
        };
        let output = child.wait_with_output();
        self.running_cargo().process = None;
        Ok(output?)
    }

    /// Builds the tests, and asks those that are not among `known` for their suites.
    pub(super) fn run(&self, known: &[Program]) -> Result<Result<Built, BuildProblems>> {
        let mut built = cargo_test(&self.options);
        built.args(["--no-run", "--message-format=json"]).stdin(Stdio::null());
        let built = self.output_of(built)?;
        let text = String::from_utf8_lossy(&built.stdout);
        let messages: Vec<Value> =
            text.lines().filter_map(|line| evalsuite_schema::json::from_str(line).ok()).collect();
        if !built.status.success() {
            return Ok(Err(problems(&messages, &String::from_utf8_lossy(&built.stderr))));
        }
        let mut programs = Vec::new();
        let path = |message: &Value, key: &str| message[key].as_str().map(PathBuf::from);
        let executables = messages
            .iter()
            .filter_map(|message| Some((message, path(message, "executable")?, path(message, "manifest_path")?)));
        let linked = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
        for (message, executable, manifest) in executables.clone() {
            if message["profile"]["test"] == true {
                let is_binary = |other: &Value| other["profile"]["test"] != true;
                let binaries = executables.clone().filter(|(other, _, of)| is_binary(other) && *of == manifest);
                let files = binaries.map(|(_, binary, _)| binary).chain([executable.clone()]);
                let package_root = manifest.parent().unwrap_or(&manifest).to_path_buf();
                let libraries = libraries(&executable, &self.sysroot)?;
                let mut program = Program {
                    id: program_id(&package_root, &executable).into(),
                    built: files.map(|file| (file.clone(), linked(&file))).collect(),
                    executable,
                    package_root,
                    output: self.output.clone(),
                    libraries,
                    suites: Vec::new(),
                };
                program.suites = match known.iter().find(|known| known.is_same_build(&program)) {
                    Some(known) => known.suites.clone(),
                    None => program.describe()?,
                };
                programs.push(program);
            }
        }
        programs.retain(|program| !program.suites.is_empty());
        Ok(Ok(Built { programs, sources: messages.iter().flat_map(sources).collect() }))
    }
}

/// The files that the compiler has read for a crate of a package on this disk.
fn sources(message: &Value) -> Vec<PathBuf> {
    let is_local = message["package_id"].as_str().is_some_and(|id| id.starts_with("path+"));
    let Some(text) = dep_info(message).filter(|_| is_local).and_then(|file| plain_text(&file)) else {
        return Vec::new();
    };
    let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
    let package = manifest.parent().unwrap_or(manifest);
    // Cargo starts the compiler in the root of the workspace, and for a package outside of it in that of the package.
    let roots = [workspace_root(package), package.to_owned()];
    let files = named_sources(&text).into_iter();
    files.flat_map(|path| roots.clone().map(|root| normalize(&root.join(&path)))).collect()
}

/// The files that the compiler names in a file for `make`: each has a rule without prerequisites.
fn named_sources(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_suffix(':')).map(|path| path.replace("\\ ", " ")).collect()
}

/// The package of a program in its workspace, and the file name of the program without cargo's digest.
fn program_id(package_root: &Path, executable: &Path) -> String {
    let file = executable.file_stem().unwrap_or_default().to_string_lossy();
    let name = file.rsplit_once('-').map_or(&*file, |(name, _)| name);
    let workspace = workspace_root(package_root);
    // The directories of two members may have one name.
    let below = package_root.strip_prefix(&workspace).ok().filter(|below| !below.as_os_str().is_empty());
    let package = below.unwrap_or_else(|| Path::new(package_root.file_name().unwrap_or_default()));
    format!("{}::{name}", with_slashes(package))
}

fn problems(messages: &[Value], stderr: &str) -> BuildProblems {
    let errors = messages.iter().filter(|message| message["reason"] == "compiler-message");
    let errors: Vec<&Value> =
        errors.map(|message| &message["message"]).filter(|message| message["level"] == "error").collect();
    let line = |error: &&Value| {
        let message = error["message"].as_str()?.lines().next()?;
        let span = error["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
        // The check of the suite says it where it is written.
        if message.starts_with("[E") || message.starts_with("[W") {
            return None;
        }
        let (file, line, column) = (span["file_name"].as_str()?, &span["line_start"], &span["column_start"]);
        let code = error["code"]["code"].as_str().map(|code| format!("[{code}]")).unwrap_or_default();
        Some(format!("{file}:{line}:{column}: error{code}: {message}"))
    };
    let lines: Vec<String> = errors.iter().filter_map(line).collect();
    let text: String = errors.iter().filter_map(|error| error["rendered"].as_str()).collect();
    if !text.is_empty() {
        return BuildProblems { lines, text };
    }
    let last = stderr.lines().find(|line| line.starts_with("error")).unwrap_or("error: cargo failed");
    BuildProblems { lines: vec![format!("Cargo.toml:1:1: {last}")], text: stderr.to_owned() }
}

/// Where the dynamic loader finds the libraries of a test program, as in `cargo test`.
fn libraries(executable: &Path, sysroot: &Path) -> Result<OsString> {
    let deps = executable.parent().unwrap_or(executable);
    // Windows has libraries where it has programs.
    let of_rust = sysroot.join(if cfg!(windows) { "bin" } else { "lib" });
    let own = [deps.to_path_buf(), deps.parent().unwrap_or(deps).to_path_buf(), of_rust];
    let set = env::var_os(LIBRARY_PATH).unwrap_or_default();
    Ok(env::join_paths(own.into_iter().chain(env::split_paths(&set)))?)
}

const LIBRARY_PATH: &str = if cfg!(target_os = "macos") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else if cfg!(windows) {
    "PATH"
} else {
    "LD_LIBRARY_PATH"
};

impl Program {
    /// Whether a build left the program as it was.
    pub(super) fn is_same_build(&self, other: &Self) -> bool {
        self.executable == other.executable && self.built == other.built && self.built.values().all(Option::is_some)
    }

    /// The program in its package, as cargo runs it.
    pub(super) fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(arguments).current_dir(&self.package_root).stdin(Stdio::null());
        command.env("CARGO_MANIFEST_DIR", &self.package_root).env(LIBRARY_PATH, &self.libraries);
        remove_git_variables(&mut command);
        command
    }

    fn describe(&self) -> Result<Vec<SuiteDescription>> {
        let checks = listed_checks(&self.command(["--list", "--format", "terse"]).output()?);
        if checks.is_empty() {
            return Ok(Vec::new());
        }
        let directory = tempfile::tempdir()?;
        let described = self.command(["--exact"]).args(checks).env(DESCRIBE_VARIABLE, directory.path()).output()?;
        if !described.status.success() {
            let error = String::from_utf8_lossy(&described.stdout).into_owned();
            return Err(CliError::new(format!("{} does not describe its suites: {error}", self.executable.display())));
        }
        read_files(directory.path())
    }

    /// The tests of this program that are of these cases and whose name or case contains one of the texts, if there are any.
    pub(super) fn tests(&self, touched: &BTreeSet<Touched>, filters: &[String]) -> Vec<(String, Touched)> {
        let is_named = |test: &TestDescription| {
            let contains = |text: &String| test.test.contains(text.as_str()) || test.case_id.contains(text.as_str());
            filters.is_empty() || filters.iter().any(contains)
        };
        let tests = self.tests_of_cases().filter(|(test, case)| touched.contains(case) && is_named(test));
        tests.map(|(test, case)| (test.test.clone(), case)).collect()
    }

    /// The tests that this program has after a build, of cases that it does not have yet; with the tests that run them.
    pub(super) fn new_tests(&self, touched: &BTreeSet<Touched>) -> NewTests {
        let built: BTreeSet<Touched> = self.cases().collect();
        let mut new = NewTests::default();
        for suite in &self.suites {
            let prefix = module_prefix(suite);
            let of_suite = touched.iter().filter(|case| case.suite == suite.file && !built.contains(case));
            let tests: Vec<_> = of_suite.map(|case| (format!("{prefix}{}", case.path), case.clone())).collect();
            if !tests.is_empty() {
                new.checks.push(suite.check.clone());
                new.tests.extend(tests);
            }
        }
        new
    }

    /// The cases that it has tests of.
    pub(super) fn cases(&self) -> impl Iterator<Item = Touched> {
        self.tests_of_cases().map(|(_, case)| case)
    }

    /// Its tests with their cases.
    pub(super) fn tests_of_cases(&self) -> impl Iterator<Item = (&TestDescription, Touched)> {
        self.suites.iter().flat_map(|suite| {
            let prefix = module_prefix(suite);
            suite.tests.iter().map(move |test| {
                let path = test.test.strip_prefix(prefix).unwrap_or(&test.test).to_owned();
                (test, Touched { suite: suite.file.clone(), path })
            })
        })
    }
}

/// What the paths of a suite's tests begin with.
fn module_prefix(suite: &SuiteDescription) -> &str {
    suite.check.strip_suffix("suite_check").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn members_whose_directories_have_one_name_have_different_programs() {
        let root = tempfile::tempdir().unwrap();
        let path = |below: &str| root.path().join(below);
        for member in ["sales/evals", "support/evals"] {
            fs::create_dir_all(path(member)).unwrap();
            fs::write(path(member).join("Cargo.toml"), "[package]\nname = \"x\"\n").unwrap();
        }
        fs::write(path("Cargo.toml"), "[workspace]\nmembers = [\"*/evals\"]\n").unwrap();
        let id = |member: &str| program_id(&path(member), Path::new("/t/evals-0123456789abcdef"));
        assert_eq!([id("sales/evals"), id("support/evals")], ["sales/evals::evals", "support/evals::evals"]);
        assert_eq!(program_id(Path::new("/gone/shop"), Path::new("/t/my-evals-01")), "shop::my-evals");
    }

    #[test]
    fn the_files_that_the_compiler_read_are_found() {
        let root = tempfile::tempdir().unwrap();
        let path = |below: &str| root.path().join(below);
        fs::create_dir_all(path("target/deps")).unwrap();
        fs::write(path("Cargo.toml"), "[package]\nname = \"shop\"\n").unwrap();
        let dep_info = "/t/libshop-1.rmeta: src/lib.rs src/../my\\ prompts/a.md\n\nsrc/lib.rs:\nsrc/../my\\ prompts/a.md:\n\n# env-dep:X=1:2\n";
        fs::write(path("target/deps/shop-1.d"), dep_info).unwrap();
        let message = |id: &str| {
            json!({
                "package_id": id, "manifest_path": path("Cargo.toml").to_str(),
                "filenames": [path("target/deps/libshop-1.rlib").to_str(), path("target/deps/libshop-1.rmeta").to_str()],
            })
        };
        let found: BTreeSet<PathBuf> = sources(&message("path+file:///p#shop@0.1.0")).into_iter().collect();
        assert_eq!(found, [path("src/lib.rs"), path("my prompts/a.md")].into());
        assert!(sources(&message("registry+https://x#shop@0.1.0")).is_empty());
    }
}
