//! Writes a made-up run in the formats of other programs, for the scripts in `tests/tools`: `exports DIRECTORY`.

use std::fs::File;
use std::path::PathBuf;
use std::{env, fs, io};

use evalsuite_records::record::{Reason, ReasonCode, Stage, Status};
use evalsuite_report::{Format, InspectFormat, RunData, inspect_logs};
use evalsuite_tests::synthetic_run::SyntheticRun;

fn main() -> io::Result<()> {
    let directory = PathBuf::from(env::args().nth(1).ok_or_else(|| io::Error::other("name a directory"))?);
    let mut synthetic = SyntheticRun::new("20261122T142550Z-57153b", 45, 2);
    synthetic.hostile = Some("a/../b \"c\" é\u{202e}</script> _1".to_owned());
    let mut run = RunData::read(synthetic.write(&directory))?;
    break_a_trial(&mut run);

    for format in [InspectFormat::Json, InspectFormat::Eval] {
        let logs = made(directory.join(format!("inspect-{format:?}").to_lowercase()))?;
        for log in inspect_logs(&run) {
            log.write(format, File::create(logs.join(log.file_name(format)))?)?;
        }
    }
    for (name, path) in [("otel", "otel"), ("junit", "evals.xml")] {
        Format::named(name).expect("a format").write(&run, &directory.join(path))?;
    }
    Ok(())
}

fn made(directory: PathBuf) -> io::Result<PathBuf> {
    fs::create_dir_all(&directory).map(|()| directory)
}

/// Made-up trials that end in an error reached a limit. This one broke.
fn break_a_trial(run: &mut RunData) {
    let case = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).last().expect("the run has cases");
    case.record.outcome = Status::Error;
    case.trials[0].record.outcome = Status::Error;
    case.trials[0].record.reason = Some(Reason::new(Stage::Agent, ReasonCode::AgentError, "connection refused"));
}
