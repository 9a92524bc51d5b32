//! Times runs of all tests of a package: in one process, as `cargo test` does, and one process per test, as nextest does.
//!
//! Only competitors with predictable test names take part, because their tests all do nothing. What is timed is the cost
//! of a case apart from the agent's work: threads, directories, records.

use anyhow::{Result, bail};
use serde::Serialize;

use crate::competitor::Competitor;
use crate::environment::Environment;
use crate::layout::Cases;
use crate::options::Options;
use crate::prepared_package::{PreparedPackage, test_command};

/// All samples of one competitor at one number of cases.
#[derive(Debug, Serialize)]
pub(crate) struct WholeRunSamples {
    pub(crate) competitor: &'static str,
    pub(crate) cases: usize,
    /// Why there are no samples.
    pub(crate) failure: Option<String>,
    /// Seconds of all tests in one process.
    pub(crate) one_process: Vec<f64>,
    /// Seconds of grading their answers again, in one process.
    pub(crate) regrade: Vec<f64>,
    /// Seconds of all tests, each in its own process; empty without nextest.
    pub(crate) nextest: Vec<f64>,
}

/// Runs all tests of every competitor with predictable test names.
pub(crate) fn measure(
    options: &Options,
    competitors: &[&'static dyn Competitor],
    environment: &Environment,
) -> Result<Vec<WholeRunSamples>> {
    let has_nextest = environment.cargo.has_nextest();
    if !has_nextest {
        eprintln!("cargo-nextest is not installed, so only runs in one process are timed");
    }
    let mut packages = Vec::new();
    for count in options.sizes() {
        let cases = Cases { layout: options.layout, count };
        for competitor in competitors.iter().filter(|competitor| competitor.test_name(cases, 0).is_some()) {
            let prepared = PreparedPackage::prepare(*competitor, cases, environment)?;
            packages.push((WholeRunSamples::new(&prepared), prepared));
        }
    }
    for _ in 0..options.runs.get() {
        for (measured, prepared) in &mut packages {
            if measured.failure.is_some() {
                continue;
            }
            measured.one_process.push(one_process(prepared, environment, None)?);
            measured.regrade.push(one_process(prepared, environment, Some("latest"))?);
            if has_nextest {
                match environment.cargo.nextest(&prepared.package)? {
                    Ok(seconds) => measured.nextest.push(seconds),
                    Err(why) => measured.failure = Some(why),
                }
            }
            // Removed outside of the timed part, so that every round starts from the same state.
            prepared.package.remove_results()?;
        }
    }
    if !options.keep {
        packages.iter().try_for_each(|(_, prepared)| prepared.remove(environment))?;
    }
    Ok(packages.into_iter().map(|(measured, _)| measured).collect())
}

/// Processor time of all tests, which on a shared machine says more than the time from start to end.
fn one_process(prepared: &PreparedPackage, environment: &Environment, regraded: Option<&str>) -> Result<f64> {
    let Ok(first) = &prepared.first_build else { bail!("{} is not built", prepared.package.name()) };
    let mut command = test_command(&first.executable, &prepared.package);
    if let Some(run) = regraded {
        command.env("EVALSUITE_REGRADE", run);
    }
    match environment.cargo.run_program(&mut command)? {
        Ok(finished) if finished.status.success() => Ok(finished.cost()),
        Ok(_) => bail!("{}: not all tests pass", prepared.package.name()),
        Err(why) => bail!("{}: {why}", prepared.package.name()),
    }
}

impl WholeRunSamples {
    fn new(prepared: &PreparedPackage) -> Self {
        Self {
            competitor: prepared.package.competitor.name(),
            cases: prepared.package.cases.count,
            failure: prepared.first_build.as_ref().err().cloned(),
            one_process: Vec::new(),
            regrade: Vec::new(),
            nextest: Vec::new(),
        }
    }
}
