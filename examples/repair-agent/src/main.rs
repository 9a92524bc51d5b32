//! `repair-agent FILE`: repairs a Rust program with tests, in place.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use repair_agent::{Observer, Repair, Step, Verdict};

const USAGE: &str = "usage: repair-agent FILE

Changes FILE, a Rust source file with tests in it or in tests.rs next to it, until the tests pass.
Exit status: 0 repaired or nothing to repair, 1 not repaired, 2 repair could not be attempted.";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(Path::new(file)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            eprintln!("error: {error}{source}");
            ExitCode::from(2)
        }
    }
}

fn run(path: &Path) -> Result<bool, Box<dyn Error>> {
    let file = path.file_name().and_then(|name| name.to_str()).ok_or(USAGE)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let report = Repair::new(directory, file).run(&mut Printer)?;
    println!("{report}");
    Ok(!matches!(report.verdict(), Verdict::NotRepaired(_)))
}

/// Prints the steps of the agent to stderr.
struct Printer;

impl Observer for Printer {
    fn step(&mut self, step: Step) {
        eprintln!("{:>6} ms  {} {}", step.took.as_millis(), step.tool, step.output);
    }
}
