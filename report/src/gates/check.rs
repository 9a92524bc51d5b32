//! Holds a run against gates.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::{ReasonCode, Status, SuiteTest};
use evalsuite_schema::decimal::at_most;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::gate::{Gate, Measure, SliceKey, WITH_SKILL};

use super::measure::Measured;
use super::{GateChances, GateReport, GateResult, GateVerdict};
use crate::run_data::{CaseData, RunData, SuiteData};
use crate::slice::values_of;

/// Share of missing results above which nothing can be said.
const MOST_MISSING: f64 = 0.1;

/// How gates are checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GateOptions {
    /// Whether cases that were not selected are left out, as after a run of chosen cases; else they are missing results.
    pub only_selected: bool,
}

impl GateOptions {
    /// Every case of the suites has to have a result.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Holds a run against gates.
///
/// A gate is never met by a run with torn or missing records, by a run that has not ended, by no cases at all, or where more than a
/// tenth of the results is missing: then it is [`GateVerdict::Undecided`], unless it is missed for sure.
pub fn check_gates(run: &RunData, gates: &[Gate], options: GateOptions) -> GateReport {
    let checked = Checked { run, broken: broken(run), options };
    let results = gates.iter().flat_map(|gate| checked.gate(gate)).collect();
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record);
    GateReport {
        schema: GateReport::SCHEMA,
        run: run.run_id.clone(),
        results,
        trials: cases().map(|case| case.completed.saturating_add(case.errors)).sum(),
        trial_errors: cases().map(|case| case.errors).sum(),
    }
}

struct Checked<'a> {
    run: &'a RunData,
    /// Why nothing in the run is known for sure.
    broken: Option<String>,
    options: GateOptions,
}

fn broken(run: &RunData) -> Option<String> {
    if run.in_use {
        return Some("tests of the run are still running".to_owned());
    }
    if let Some(suite) = run.suites.iter().find(|suite| suite.record.is_none() && run.problems.is_empty()) {
        return Some(format!("suite.json of suite `{}` is missing", suite.name));
    }
    match run.problems.as_slice() {
        [] => None,
        [problem] => Some(format!("{} {}", problem.file, problem.message)),
        [problem, others @ ..] => {
            Some(format!("{} {}, and {} other problems of records", problem.file, problem.message, others.len()))
        }
    }
}

impl<'a> Checked<'a> {
    fn gate(&self, gate: &Gate) -> Vec<GateResult> {
        // The values of a case without a trial are not known: it may be one of those that the gate is about.
        let is_open = |case: &CaseData, key: &SliceKey| case.trials.is_empty() && is_of_trials(key);
        let has_wanted = |case: &CaseData, (key, wanted): &(SliceKey, String)| {
            *key == SliceKey::Suite || is_open(case, key) || values_of(key, case).iter().any(|value| value == wanted)
        };
        let may_be_meant = |case: &&CaseData| selected(gate).all(|one| has_wanted(case, one));
        let keys = || selected(gate).map(|(key, _)| key).chain(gate.per());
        let cases = self.suites(gate).flat_map(|suite| &suite.cases).filter(may_be_meant);
        let (unknown, cases): (Vec<&CaseData>, Vec<&CaseData>) =
            cases.partition(|case| keys().any(|key| is_open(case, key)));
        // A lift is that of one suite.
        let key = gate
            .per()
            .or_else(|| (gate.measure().is_lift() && is_of_several_suites(&cases)).then_some(&SliceKey::Suite));
        let Some(key) = key else { return vec![self.result(gate, None, &cases, &unknown)] };
        let mut groups: BTreeMap<String, Vec<&CaseData>> = BTreeMap::new();
        for case in cases {
            for value in values_of(key, case) {
                groups.entry(format!("{key}:{value}")).or_default().push(case);
            }
        }
        if gate.measure().is_lift() {
            groups.retain(|_, cases| has_arms(cases));
        }
        if groups.is_empty() {
            return vec![self.result(gate, None, &[], &unknown)];
        }
        groups.into_iter().map(|(slice, cases)| self.result(gate, Some(slice), &cases, &unknown)).collect()
    }

    /// The suites that a gate is about.
    fn suites(&self, gate: &Gate) -> impl Iterator<Item = &'a SuiteData> {
        let named = gate.selected().iter().filter(|(key, _)| *key == SliceKey::Suite);
        let named: Vec<&str> = named.map(|(_, wanted)| wanted.as_str()).collect();
        let run = self.run;
        run.suites.iter().filter(move |suite| named.iter().all(|text| run.is_called(suite, text)))
    }

    /// `unknown`: cases without a trial, which may be some of these.
    fn result(&self, gate: &Gate, slice: Option<String>, cases: &[&CaseData], unknown: &[&CaseData]) -> GateResult {
        let (filtered, selected): (Vec<&CaseData>, Vec<&CaseData>) =
            cases.iter().copied().partition(|case| is_filtered(case));
        let (skipped, run): (Vec<&CaseData>, Vec<&CaseData>) =
            selected.into_iter().partition(|case| case.record.outcome == Status::Skipped);
        let measured = Measured::of(gate, &run);
        let floor = if gate.is_above_floor() { self.floor(&run) } else { Ok(0.0) };
        let filtered = filtered.len() + unknown.iter().filter(|case| is_filtered(case)).count();
        let unknown = unknown.iter().filter(|case| !is_filtered(case)).count();
        let missing = Missing { skipped: skipped.len(), unknown, filtered };
        let why = self.broken.clone().or_else(|| self.inconclusive_reason(gate, run.len(), &missing, &measured));
        let why = why.or_else(|| floor.clone().err());
        let floor = floor.ok();
        let chances = floor.and_then(|floor| GateChances::of(gate, run.len(), floor));
        let needed = chances.and_then(|chances| chances.needed_cases);
        let why = why.or_else(|| Some(format!("no result of so few meets it; {} cases are needed", needed?)));
        let verdict = match measured.value.zip(floor).map(|(value, floor)| gate.holds(value, floor)) {
            Some(false) => GateVerdict::Missed,
            Some(true) if why.is_none() => GateVerdict::Met,
            _ => GateVerdict::Undecided,
        };
        GateResult {
            gate: gate.to_string(),
            slice,
            value: measured.value,
            limit: floor.map(|floor| floor + gate.limit()),
            floor: floor.filter(|_| gate.is_above_floor()),
            interval: measured.interval,
            difference: measured.difference,
            chances,
            cases: run.len(),
            verdict,
            why,
            measure: gate.measure(),
        }
    }

    /// The pass rate of an agent that does nothing: of several suites, their floors by the number of cases.
    fn floor(&self, cases: &[&CaseData]) -> Result<f64, String> {
        let mut sum = 0.0;
        for suite in &self.run.suites {
            let count = suite.cases.iter().filter(|case| cases.iter().any(|one| std::ptr::eq(*one, *case))).count();
            if count == 0 {
                continue;
            }
            let Some(floor) = suite.record.as_ref().and_then(|record| record.probe.as_ref()?.floor) else {
                let name = &suite.name;
                return Err(format!("the floor of suite `{name}` is not known: run `cargo evalsuite probe`"));
            };
            sum += floor.share.value() * share(count, cases.len());
        }
        Ok(sum)
    }

    /// Why the measured value does not say that a gate is met.
    fn inconclusive_reason(&self, gate: &Gate, run: usize, missing: &Missing, measured: &Measured) -> Option<String> {
        let Missing { skipped, unknown, filtered } = *missing;
        if run == 0 {
            return Some("no case matches".to_owned());
        }
        let missing = skipped + unknown + if gate.measure() == Measure::Score { measured.unknown } else { 0 };
        let all = run + skipped + unknown;
        if !at_most(share(missing, all), MOST_MISSING) {
            let others = if unknown > 0 { format!("; {unknown} of them may be others") } else { String::new() };
            return Some(format!("{missing} of {all} cases have no result{others}"));
        }
        let unselected = if self.options.only_selected { 0 } else { filtered + self.without_record(gate) };
        if unselected > 0 {
            return Some(format!(
                "{} did not run; with --selected, only cases that ran are counted",
                counted(unselected, "case")
            ));
        }
        if gate.measure().is_lift() {
            return measured.why.clone();
        }
        // What is not known can only make a sum larger, and is anywhere among the times.
        let is_unknown = match gate.measure() {
            Measure::Cost | Measure::Time => measured.unknown > 0,
            Measure::MedianTime | Measure::P95Time => !at_most(measured.missing, MOST_MISSING),
            _ => measured.value.is_none(),
        };
        let what = if gate.measure().is_time() { "time" } else { "cost" };
        is_unknown.then(|| format!("the {what} of {} is not known", counted(measured.unknown, "trial")))
    }

    /// Number of tests that left no record, in the suites and targets that a gate is about.
    fn without_record(&self, gate: &Gate) -> usize {
        let names = |key: &SliceKey, value: &str| selected(gate).all(|(other, wanted)| other != key || wanted == value);
        let missing = self.suites(gate).map(|suite| {
            let ran: BTreeSet<&str> = suite.cases.iter().map(|case| case.record.test_name.as_str()).collect();
            let tests = suite.record.iter().flat_map(|record| &record.tests);
            let is_meant =
                |test: &&SuiteTest| test.target.as_deref().is_none_or(|target| names(&SliceKey::Target, target));
            let missing: BTreeSet<&str> =
                tests.filter(is_meant).map(|test| test.test_name.as_str()).filter(|test| !ran.contains(test)).collect();
            missing.len()
        });
        missing.sum()
    }
}

/// The values that the cases of a gate must have. The target that a lift is compared with is not one of them.
fn selected(gate: &Gate) -> impl Iterator<Item = &(SliceKey, String)> {
    gate.selected().iter().filter(|(key, _)| *key != SliceKey::Target || !gate.measure().is_lift())
}

fn is_of_several_suites(cases: &[&CaseData]) -> bool {
    cases.iter().any(|case| case.record.suite != cases[0].record.suite)
}

/// Whether a skill is compared with something in these cases.
fn has_arms(cases: &[&CaseData]) -> bool {
    cases.iter().any(|case| case.record.target == WITH_SKILL)
}

/// Numbers of cases without a result.
struct Missing {
    skipped: usize,
    /// Without a trial, so that it is not known whether they are meant.
    unknown: usize,
    /// Not selected.
    filtered: usize,
}

/// Whether the values of a key are in the records of trials.
fn is_of_trials(key: &SliceKey) -> bool {
    !matches!(key, SliceKey::Suite | SliceKey::Target)
}

/// Whether a case was not selected, rather than skipped for what it needs.
fn is_filtered(case: &CaseData) -> bool {
    case.record.outcome == Status::Skipped
        && case.record.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::Filtered)
}

fn share(count: usize, all: usize) -> f64 {
    count as f64 / all.max(1) as f64
}
