//! Times builds. Rounds are interleaved, so that other load on the machine affects all competitors alike.

use anyhow::Result;
use serde::Serialize;

use crate::cargo::Build;
use crate::competitor::Competitor;
use crate::environment::Environment;
use crate::layout::Cases;
use crate::options::Options;
use crate::prepared_package::PreparedPackage;

/// All samples of one competitor at one number of cases.
#[derive(Debug, Serialize)]
pub(crate) struct BuildSamples {
    pub(crate) competitor: &'static str,
    pub(crate) cases: usize,
    /// Why there are no samples, or no further ones.
    pub(crate) failure: Option<String>,
    /// The first build of the tests.
    pub(crate) first: Option<Sample>,
    /// Builds after the test source was touched.
    pub(crate) touch: Vec<Sample>,
    /// Builds after one case was edited.
    pub(crate) edit: Vec<Sample>,
}

/// One build.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sample {
    /// From the start of cargo to its end, in seconds.
    pub(crate) seconds: f64,
    /// Processor time in seconds, if the system reports it.
    pub(crate) processor_seconds: Option<f64>,
    /// Nothing had to be built.
    pub(crate) fresh: bool,
}

impl From<&Build> for Sample {
    fn from(build: &Build) -> Self {
        Self {
            seconds: build.elapsed.as_secs_f64(),
            processor_seconds: build.processor.map(|time| time.as_secs_f64()),
            fresh: build.fresh,
        }
    }
}

/// Builds every package `options.runs` times.
pub(crate) fn measure(
    options: &Options,
    competitors: &[&'static dyn Competitor],
    environment: &Environment,
) -> Result<Vec<BuildSamples>> {
    let mut packages = Vec::new();
    for count in options.sizes() {
        for competitor in competitors {
            let prepared = PreparedPackage::prepare(*competitor, Cases { layout: options.layout, count }, environment)?;
            packages.push((BuildSamples::new(&prepared), prepared));
        }
    }
    for run in 1..=options.runs.get() {
        eprintln!("round {run} of {}", options.runs);
        for (measured, prepared) in &mut packages {
            if measured.failure.is_none() {
                measured.failure = round(measured, prepared, run, environment)?.err();
            }
        }
    }
    if !options.keep {
        packages.iter().try_for_each(|(_, prepared)| prepared.remove(environment))?;
    }
    Ok(packages.into_iter().map(|(measured, _)| measured).collect())
}

fn round(
    measured: &mut BuildSamples,
    prepared: &PreparedPackage,
    run: usize,
    environment: &Environment,
) -> Result<Result<(), String>> {
    let package = &prepared.package;
    package.touch()?;
    match environment.cargo.build_tests(package)? {
        Ok(build) => measured.touch.push(Sample::from(&build)),
        Err(why) => return Ok(Err(why)),
    }
    package.edit_case(run)?;
    match environment.cargo.build_tests(package)? {
        Ok(build) => measured.edit.push(Sample::from(&build)),
        Err(why) => return Ok(Err(why)),
    }
    Ok(Ok(()))
}

impl BuildSamples {
    fn new(prepared: &PreparedPackage) -> Self {
        Self {
            competitor: prepared.package.competitor.name(),
            cases: prepared.package.cases.count,
            failure: prepared.first_build.as_ref().err().cloned(),
            first: prepared.first_build.as_ref().ok().map(Sample::from),
            touch: Vec::new(),
            edit: Vec::new(),
        }
    }
}
