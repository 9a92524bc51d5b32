//! Runs the test of a case for an editor.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

use evalsuite_loader::CasePlace;
use evalsuite_schema::discovery::with_slashes;
use serde::{Deserialize, Serialize};

use super::workspace::OpenSuite;
use crate::platform::cargo_process::cargo;

/// The command of the code lens.
pub(super) const COMMAND: &str = "evalsuite.runCase";

/// Bytes of the output that are shown, at most: its end.
const MAX_SHOWN: usize = 16 << 10;

/// The argument of [`COMMAND`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CaseRun {
    /// Id of the case.
    pub(super) case: String,
    /// Directory of the package.
    pub(super) directory: String,
    /// Arguments of cargo that run it.
    pub(super) arguments: Vec<String>,
    /// Arguments of cargo that build its test program, for a debugger.
    pub(super) build: Vec<String>,
    /// Arguments of the test program that run it.
    pub(super) test: Vec<String>,
}

/// How a run ended.
pub(super) struct Ended {
    pub(super) case: String,
    /// Whether its test passed; else why it did not run, or nothing if it failed.
    pub(super) result: Result<bool, String>,
    pub(super) output: String,
}

/// The run of a case of a suite that tests include.
pub(super) fn of_case(suite: &OpenSuite, case: &CasePlace) -> Option<CaseRun> {
    let include = suite.include.as_ref()?;
    let directory = suite.request.package_root.clone();
    let named = include.binding.name.as_ref().map(ToString::to_string);
    let module = named.or_else(|| suite.session.module()).unwrap_or_default();
    let test = case.test.join("::");
    let program = program(&include.source, &directory);
    let with_program =
        |own: &[&str]| own.iter().map(|word| (*word).to_owned()).chain(program.clone()).collect::<Vec<_>>();
    // Without `--exact`: modules may be around that of the suite.
    let filter = vec![format!("{module}::{test}")];
    let arguments = if has_nextest() {
        // A target is a module between those of the suite and the case.
        let pattern = format!("test(/(^|::){module}::([^:]+::)?{test}$/)");
        [with_program(&["nextest", "run"]), vec!["-E".to_owned(), pattern]].concat()
    } else {
        [with_program(&["test"]), vec!["--".to_owned()], filter.clone()].concat()
    };
    let build = with_program(&["test", "--no-run"]);
    Some(CaseRun { case: case.id.clone(), directory: directory.to_str()?.to_owned(), arguments, build, test: filter })
}

/// The option for the test program that a source file belongs to, as far as its place says it.
fn program(source: &Path, package: &Path) -> Vec<String> {
    let below = source.strip_prefix(package).map(with_slashes).unwrap_or_default();
    match below.split('/').collect::<Vec<_>>()[..] {
        ["tests", name] => vec!["--test".to_owned(), name.trim_end_matches(".rs").to_owned()],
        ["tests", name, ..] if package.join("tests").join(name).join("main.rs").is_file() => {
            vec!["--test".to_owned(), name.to_owned()]
        }
        ["src", "lib.rs"] => vec!["--lib".to_owned()],
        _ => Vec::new(),
    }
}

fn has_nextest() -> bool {
    let name = format!("cargo-nextest{}", env::consts::EXE_SUFFIX);
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|directory| directory.join(&name).is_file()))
}

/// Starts the run on a thread, which says how it ended.
pub(super) fn start(run: CaseRun, say: impl FnOnce(Ended) + Send + 'static) {
    thread::spawn(move || {
        let mut command: Command = cargo();
        command.args(&run.arguments).current_dir(&run.directory).stdin(Stdio::null());
        let ended = match command.output() {
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                let text = String::from_utf8_lossy(&text[text.len().saturating_sub(MAX_SHOWN)..]).into_owned();
                Ended { case: run.case, result: Ok(output.status.success()), output: text }
            }
            Err(error) => Ended { case: run.case, result: Err(format!("cargo: {error}")), output: String::new() },
        };
        say(ended);
    });
}
