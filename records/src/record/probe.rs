//! The record of a probe: what a suite says about results that no agent made.

use std::collections::BTreeMap;
use std::fmt;

use evalsuite_schema::diagnostics::Diagnostic;
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson};
use evalsuite_schema::{EmptyProbe, Location, Value, json};

use super::SuiteId;

/// The record of a probe of a suite: made-up results of an agent, graded by the graders of each case.
///
/// It is a file in `.evalsuite/probe` of the package. It has neither times nor machine names, so an unchanged suite has an unchanged
/// record.
///
/// ```
/// use evalsuite_records::record::ProbeRecord;
///
/// let record = ProbeRecord::new();
/// assert_eq!(record.schema, "evalsuite.probe/1");
/// assert!(record.floor.is_none(), "no case was probed");
/// ```
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct ProbeRecord {
    /// [`ProbeRecord::SCHEMA`].
    pub schema: String,
    /// The suite.
    pub suite: SuiteId,
    /// The share of cases that the best of the empty probes passes; `None` if no probe was decided.
    pub floor: Option<Floor>,
    /// The share of references that pass; `None` without a reference that was decided.
    pub ceiling: Option<Share>,
    /// The share of broken references that fail; `None` without one that was decided.
    pub mutants: Option<Share>,
    /// The cases, in the order of the suite.
    pub cases: Vec<ProbedCase>,
}

impl ProbeRecord {
    /// All findings, in the order of the cases.
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.cases.iter().flat_map(|case| &case.findings)
    }

    /// Leaves out cases that are no longer as they were when they were probed. `current` has the cases of the suite by id and target, each
    /// with its digest; a case without one, as it was not read yet, counts as unchanged.
    pub fn retain_current(&mut self, current: &BTreeMap<(&str, Option<&str>), Option<String>>) {
        let before = self.cases.len();
        self.cases.retain(|case| {
            let known = current.get(&(case.case_id.as_str(), case.target.as_deref()));
            known.is_some_and(|digest| digest.as_ref().is_none_or(|digest| *digest == case.case_digest))
        });
        if self.cases.len() < before {
            self.sum_up();
        }
    }

    /// Computes floor, ceiling and the share of mutants from the cases.
    pub fn sum_up(&mut self) {
        let share = |kind: ResultKind, counted: bool| {
            let results = self.cases.iter().flat_map(|case| case.results_of(kind));
            Share::of(results.filter_map(|result| result.passes), counted)
        };
        let empty = EmptyProbe::ALL
            .iter()
            .filter_map(|probe| Some(Floor { probe: *probe, share: share(ResultKind::of(*probe), true)? }));
        // The first of equal ones.
        let floor = empty.reduce(|best, other| if other.share.value() > best.share.value() { other } else { best });
        let ceiling = share(ResultKind::Reference, true);
        let mutants = share(ResultKind::Mutant, false);
        (self.floor, self.ceiling, self.mutants) = (floor, ceiling, mutants);
    }
}

/// A number of results among those that were decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Share {
    /// How many there are, at most `decided`.
    pub count: u32,
    /// How many results were decided, at least 1.
    pub decided: u32,
}

impl Share {
    /// The share of results that count; `None` if there are none.
    fn of(results: impl Iterator<Item = bool>, counted: bool) -> Option<Self> {
        let share = results.fold(Self::default(), |share, passes| Self {
            count: share.count + u32::from(passes == counted),
            decided: share.decided + 1,
        });
        (share.decided > 0).then_some(share)
    }

    /// The share, 0 to 1.
    pub fn value(&self) -> f64 {
        f64::from(self.count) / f64::from(self.decided.max(1))
    }
}

/// The floor of a suite: a pass rate up to it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Floor {
    /// The empty probe that passes most cases.
    pub probe: EmptyProbe,
    /// The share of cases that it passes. In JSON, its fields are fields of the floor.
    pub share: Share,
}

#[doc(hidden)]
impl json::ToJson for Floor {
    fn write(&self, writer: &mut json::JsonWriter<'_>) -> json::Result<()> {
        let mut object = writer.object()?;
        object.field("probe", &self.probe);
        object.field("count", &self.share.count);
        object.field("decided", &self.share.decided);
        object.end()
    }
}

#[doc(hidden)]
impl json::FromJson for Floor {
    fn from_json(value: Value) -> json::Result<Self> {
        let mut fields = json::Fields::of(value, "struct Floor")?;
        Ok(Self {
            probe: fields.required("probe")?,
            share: Share { count: fields.required("count")?, decided: fields.required("decided")? },
        })
    }
}

json::by_json!(Floor);

/// A case that was probed.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct ProbedCase {
    /// Id of the case.
    pub case_id: String,
    /// Its target in a matrix.
    pub target: Option<String>,
    /// Path of its test, without the crate.
    pub test_name: String,
    /// Location of the case.
    pub location: Location,
    /// SHA-256 of everything that the results depend on, hexadecimal; `None` if that is not known, because a grader is in Rust.
    pub digest: Option<String>,
    /// Digest of the case, as in the records of its trials.
    #[json(default)]
    pub case_digest: String,
    /// Why the case was not probed at all; `None` if it was.
    #[json(default, skip_if = "Option::is_none")]
    pub error: Option<String>,
    /// The made-up results and their verdicts.
    pub results: Vec<ProbeResult>,
    /// What the graders made of them.
    pub graders: Vec<ProbedGrader>,
    /// Graders that were not run.
    pub not_run: Vec<GraderNotRun>,
    /// The problems of the case and its graders.
    pub findings: Vec<Diagnostic>,
}

impl ProbedCase {
    /// The results of a kind, in order.
    pub fn results_of(&self, probe: ResultKind) -> impl Iterator<Item = &ProbeResult> {
        self.results.iter().filter(move |result| result.probe == probe)
    }
}

names! {
    /// What a made-up result is.
    #[derive(Default, PartialOrd, Ord)]
    ResultKind {
        /// An empty answer, and nothing done.
        #[default]
        Silent => "silent",
        /// The prompt as the answer.
        Echo => "echo",
        /// A polite refusal.
        Refusal => "refusal",
        /// Every expected text and its opposite.
        Hedge => "hedge",
        /// An empty answer, and every tool called with empty input.
        Busy => "busy",
        /// The reference.
        Reference => "reference",
        /// The reference with one thing broken.
        Mutant => "mutant",
        /// An example that has to pass.
        Pass => "pass",
        /// An example that has to fail.
        Fail => "fail",
    }
}

impl ResultKind {
    /// The kind of an empty probe.
    pub fn of(probe: EmptyProbe) -> Self {
        match probe {
            EmptyProbe::Silent => Self::Silent,
            EmptyProbe::Echo => Self::Echo,
            EmptyProbe::Refusal => Self::Refusal,
            EmptyProbe::Hedge => Self::Hedge,
            EmptyProbe::Busy => Self::Busy,
        }
    }

    /// The empty probe that it is; `None` for references, mutants and examples.
    pub fn empty(self) -> Option<EmptyProbe> {
        EmptyProbe::ALL.iter().copied().find(|probe| Self::of(*probe) == self)
    }
}

/// A made-up result and its verdict.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct ProbeResult {
    /// What it is.
    pub probe: ResultKind,
    /// What is broken in a mutant, such as `19.90 became 28.90`.
    #[json(default, skip_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whether the case passes; `None` if it depends on graders that were not run.
    pub passes: Option<bool>,
    /// Score of the case, 0 to 1; `None` if it depends on graders that were not run.
    pub score: Option<f64>,
    /// Paths of the graders that fail it.
    pub failed: Vec<String>,
}

/// What a grader made of the results.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct ProbedGrader {
    /// Its name below the names of the composites around it, after `turn-000/` for a grader of the first turn.
    pub path: String,
    /// Built-in type or name of the registered grader.
    #[json(rename = "type")]
    pub grader_type: String,
    /// Its location.
    pub location: Location,
    /// Number of results that it passes.
    pub passed: u32,
    /// Number of results that it fails.
    pub failed: u32,
    /// Whether it passes the reference; `None` without a verdict.
    pub reference: Option<bool>,
    /// Why it does not.
    #[json(default, skip_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Whether the results say anything about it: it is not only a limit on time, tokens or cost.
    pub is_judged: bool,
}

/// A grader that was not run.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct GraderNotRun {
    /// Its path, as in [`ProbedGrader::path`].
    pub path: String,
    /// Why, such as `asks a judge`.
    pub reason: String,
}

/// The pass rates between which a suite says something, as `cargo evalsuite probe` has found them.
///
/// ```
/// use evalsuite_records::record::{ProbeRates, ProbeRecord};
///
/// assert_eq!(ProbeRates::of(&ProbeRecord::new()), None, "no case was probed");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct ProbeRates {
    /// The share of cases that the best of the empty probes passes; `None` if no probe was decided.
    pub floor: Option<Floor>,
    /// The share of references that pass; `None` without a reference that was decided.
    pub ceiling: Option<Share>,
}

impl ProbeRates {
    /// The rates of a probe; `None` if it decided nothing.
    pub fn of(record: &ProbeRecord) -> Option<Self> {
        let ProbeRecord { floor, ceiling, .. } = *record;
        (floor.is_some() || ceiling.is_some()).then_some(Self { floor, ceiling })
    }
}

/// ``floor 0.25 (`silent` passes 2 of 8 cases), ceiling 1.00 (8 of 8 references pass)``.
impl fmt::Display for ProbeRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Floor { probe, share }) = &self.floor {
            let (rate, probe) = (share.value(), probe.word());
            write!(f, "floor {rate:.2} (`{probe}` passes {} of {} cases)", share.count, share.decided)?;
        }
        if let Some(share) = &self.ceiling {
            let separator = if self.floor.is_some() { ", " } else { "" };
            let rate = share.value();
            write!(f, "{separator}ceiling {rate:.2} ({} of {} references pass)", share.count, share.decided)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shown_with_their_counts() {
        let mut record = ProbeRecord::new();
        for passes in [true, false] {
            let mut case = ProbedCase::default();
            for probe in [ResultKind::of(EmptyProbe::Echo), ResultKind::Reference] {
                let mut result = ProbeResult::default();
                (result.probe, result.passes) = (probe, Some(passes || probe == ResultKind::Reference));
                case.results.push(result);
            }
            record.cases.push(case);
        }
        record.sum_up();
        let rates = ProbeRates::of(&record).expect("results are decided");
        let text = "floor 0.50 (`echo` passes 1 of 2 cases), ceiling 1.00 (2 of 2 references pass)";
        assert_eq!(rates.to_string(), text);
        let only = ProbeRates { floor: None, ..rates };
        assert_eq!(only.to_string(), "ceiling 1.00 (2 of 2 references pass)");
    }
}
