//! Times builds: every competitor takes its turn in every round, so that a busy machine is busy for all of them.

use anyhow::Result;
use serde::Serialize;

use crate::cargo::Build;
use crate::competitor::Competitor;
use crate::layout::Cases;
use crate::options::Options;
use crate::subject::{State, Subject};
use crate::surroundings::Surroundings;

/// All samples of one competitor at one number of cases.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) competitor: &'static str,
    pub(crate) cases: usize,
    /// Why there are no samples, or no more.
    pub(crate) failure: Option<String>,
    /// The tests are built for the first time.
    pub(crate) first: Option<Sample>,
    /// The test source was touched.
    pub(crate) touch: Vec<Sample>,
    /// One case was edited.
    pub(crate) edit: Vec<Sample>,
}

/// One build.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sample {
    /// From the start of cargo to its end, in seconds.
    pub(crate) seconds: f64,
    /// Processor time in seconds, where the system tells.
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

/// Builds everything as often as the options say.
pub(crate) fn measure(
    options: &Options,
    competitors: &[&'static dyn Competitor],
    surroundings: &Surroundings,
) -> Result<Vec<Measured>> {
    let mut subjects = Vec::new();
    for count in options.sizes() {
        for competitor in competitors {
            let subject = Subject::prepare(*competitor, Cases { layout: options.layout, count }, surroundings)?;
            subjects.push((Measured::new(&subject), subject));
        }
    }
    for run in 1..=options.runs.get() {
        eprintln!("round {run} of {}", options.runs);
        for (measured, subject) in &mut subjects {
            if measured.failure.is_none() {
                measured.failure = round(measured, subject, run, surroundings)?.err();
            }
        }
    }
    if !options.keep {
        subjects.iter().try_for_each(|(_, subject)| subject.remove(surroundings))?;
    }
    Ok(subjects.into_iter().map(|(measured, _)| measured).collect())
}

fn round(
    measured: &mut Measured,
    subject: &Subject,
    run: usize,
    surroundings: &Surroundings,
) -> Result<Result<(), String>> {
    let package = &subject.package;
    package.touch()?;
    match surroundings.cargo.build_tests(package)? {
        Ok(build) => measured.touch.push(Sample::from(&build)),
        Err(why) => return Ok(Err(why)),
    }
    package.edit(run)?;
    match surroundings.cargo.build_tests(package)? {
        Ok(build) => measured.edit.push(Sample::from(&build)),
        Err(why) => return Ok(Err(why)),
    }
    Ok(Ok(()))
}

impl Measured {
    fn new(subject: &Subject) -> Self {
        let (failure, first) = match &subject.state {
            State::Ready { first } => (None, Some(Sample::from(first))),
            State::Failed(why) => (Some(why.clone()), None),
        };
        Self {
            competitor: subject.package.competitor.name(),
            cases: subject.package.cases.count,
            failure,
            first,
            touch: Vec::new(),
            edit: Vec::new(),
        }
    }
}
