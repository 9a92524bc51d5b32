//! Times the process of a single test, as nextest starts one for each test.
//!
//! Only competitors with predictable test names take part. They include one of each kind: hand-written tests, a generated
//! suite, and files found at run time.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::competitor::Competitor;
use crate::environment::Environment;
use crate::layout::Cases;
use crate::options::Options;
use crate::package::Package;
use crate::prepared_package::{PreparedPackage, test_command};

/// Number of processes per round.
const PROCESSES: usize = 20;

/// All samples of one competitor at one number of cases.
#[derive(Debug, Serialize)]
pub(crate) struct StartupSamples {
    pub(crate) competitor: &'static str,
    pub(crate) cases: usize,
    /// Why there are no samples.
    pub(crate) failure: Option<String>,
    /// From the start of the process to its exit, in seconds.
    pub(crate) seconds: Vec<f64>,
}

/// Runs one test of every competitor with predictable test names.
pub(crate) fn measure(
    options: &Options,
    competitors: &[&'static dyn Competitor],
    environment: &Environment,
) -> Result<Vec<StartupSamples>> {
    let mut packages = Vec::new();
    for count in options.sizes() {
        let cases = Cases { layout: options.layout, count };
        for competitor in competitors {
            let Some(test) = competitor.test_name(cases, cases.middle()) else { continue };
            let prepared = PreparedPackage::prepare(*competitor, cases, environment)?;
            packages.push((StartupSamples::new(&prepared), prepared, test));
        }
    }
    for _ in 0..options.runs.get() * PROCESSES {
        for (measured, prepared, test) in &mut packages {
            if let Ok(first) = &prepared.first_build {
                measured.seconds.push(run_one_test(&first.executable, &prepared.package, test)?);
            }
        }
    }
    if !options.keep {
        packages.iter().try_for_each(|(_, prepared, _)| prepared.remove(environment))?;
    }
    Ok(packages.into_iter().map(|(measured, ..)| measured).collect())
}

fn run_one_test(executable: &Path, package: &Package, test: &str) -> Result<f64> {
    let mut command = test_command(executable, package);
    // The processes belong to one run, as nextest's do: work done once per run is not part of the cost of a start.
    command.env("NEXTEST_RUN_ID", "startup").env("NEXTEST_ATTEMPT", "1").env("NEXTEST_TOTAL_ATTEMPTS", "1");
    command.args([test, "--exact"]).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {}", executable.display()))?;
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        bail!("{}: `{test}` does not pass", package.name());
    }
    Ok(seconds)
}

impl StartupSamples {
    fn new(prepared: &PreparedPackage) -> Self {
        Self {
            competitor: prepared.package.competitor.name(),
            cases: prepared.package.cases.count,
            failure: prepared.first_build.as_ref().err().cloned(),
            seconds: Vec::new(),
        }
    }
}
