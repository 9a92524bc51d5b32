//! Writes the report of a made-up run, to look at: `synthetic_report DIRECTORY CASES TRIALS RUNS`.

use std::path::PathBuf;
use std::time::Instant;
use std::{env, io};

use evalsuite_report::{HtmlReport, RunData, earlier_runs};
use evalsuite_tests::synthetic_run::SyntheticRun;

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or_else(|| io::Error::other("name a directory"))?);
    let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (cases, trials, runs) = (number(60), number(3), number(6));
    let mut last = None;
    for index in 0..runs {
        let mut run = SyntheticRun::new(format!("202611{:02}T142550Z-57153b", 10 + index), cases, trials as u32);
        run.started_at = format!("2026-11-{:02}T14:25:50.464Z", 10 + index);
        run.skill = 0.78 + 0.14 * index as f64 / runs as f64;
        last = Some(run.write(&directory));
    }
    let started = Instant::now();
    let run = RunData::read(last.ok_or_else(|| io::Error::other("at least one run"))?)?;
    let history = earlier_runs(&run, 12)?;
    let file = directory.join("report.html");
    let written = HtmlReport::new(run).with_history(history).write_file(&file)?;
    println!("{}: {} bytes in {:.1} s", file.display(), written.bytes, started.elapsed().as_secs_f64());
    Ok(())
}
