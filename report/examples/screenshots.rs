//! Takes the pictures of the README and of `docs/reports.md`, from the report of a made-up run: `screenshots DIRECTORY`. Needs Chromium.

use std::path::PathBuf;
use std::{env, fs, io};

use evalsuite_records::record::{ProbeRecord, ResultKind};
use evalsuite_report::{HtmlReport, RunData, SuiteData, earlier_runs};
use evalsuite_tests::browser::Browser;
use evalsuite_tests::synthetic_probe::synthetic_probe;
use evalsuite_tests::synthetic_run::SyntheticRun;

struct Picture {
    name: &'static str,
    scheme: &'static str,
    hash: &'static str,
    /// How far the page is scrolled, in pixels.
    scrolled: u32,
    /// Of the window, in pixels.
    height: u32,
}

const CASE: &str = "#/case/scheduling%2Fslice-inside-character%40default?trial=2";
const PICTURES: [Picture; 4] = [
    Picture { name: "report-cases", scheme: "light", hash: "#/", scrolled: 0, height: 850 },
    Picture { name: "report-probe", scheme: "light", hash: "#/", scrolled: 0, height: 330 },
    Picture { name: "report-scores", scheme: "light", hash: CASE, scrolled: 800, height: 850 },
    Picture { name: "report-grid", scheme: "dark", hash: "#/grid", scrolled: 0, height: 850 },
];

/// A probe of a suite of ten cases: one passes for an agent that repeats the prompt, and one reference does not pass.
fn probe(suite: &SuiteData) -> ProbeRecord {
    let case = |number| [(ResultKind::Echo, number == 0), (ResultKind::Reference, number != 9)];
    synthetic_probe(&suite.id, (0..10).map(case))
}

fn main() -> io::Result<()> {
    let pictures = PathBuf::from(env::args().nth(1).ok_or_else(|| io::Error::other("name a directory"))?);
    let directory = tempfile::tempdir()?;
    let mut newest = None;
    for day in 10..18 {
        let mut run = SyntheticRun::new(format!("202611{day}T142550Z-57153b"), 60, 3);
        run.started_at = format!("2026-11-{day}T14:25:50.464Z");
        run.skill = 0.62 + 0.04 * f64::from(day - 10);
        newest = Some(run.write(directory.path()));
    }
    let run = RunData::read(newest.expect("there are eight runs"))?;
    let history = earlier_runs(&run, 10)?;
    let file = directory.path().join("report.html");
    let probes: Vec<ProbeRecord> = run.suites.iter().map(probe).collect();
    let run = run.with_probes(&probes);
    HtmlReport::new(run).with_history(history).write_file(&file)?;
    let mut browser = Browser::start().ok_or_else(|| io::Error::other("there is no Chromium"))?;
    for Picture { name, scheme, hash, scrolled, height } in PICTURES {
        browser.set_window(1360, height);
        browser.set_media("prefers-color-scheme", scheme);
        browser.open(&file, hash);
        browser.wait("Boolean(document.querySelector('.rows .row, .part, canvas, .plot'))");
        browser.evaluate(&format!("scrollTo(0, {scrolled})"));
        fs::write(pictures.join(format!("{name}.png")), browser.screenshot())?;
    }
    Ok(())
}
