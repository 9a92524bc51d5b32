//! Holds a run against gates, and says how often an agent meets a gate on its pass rate by chance.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use evalsuite_records::record::{ReasonCode, Status, SuiteTest};
use evalsuite_records::trial_statistics::binomial_at_least;
use evalsuite_schema::decimal::at_most;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::gate::{Gate, Measure, SliceKey, WITH_SKILL};
use serde::Serialize;

use super::measure::{Measured, rate_value};
use super::{GateReport, GateResult, GateVerdict};
use crate::run_data::{CaseData, Problem, RunData, SuiteData, values_of};

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
/// tenth of the results is missing: then it is [`GateVerdict::Undecided`], unless no results in their place could meet it.
pub fn check_gates(run: &RunData, gates: &[Gate], options: GateOptions) -> GateReport {
    let run = &*run.measured();
    let checked = Checked { run, broken: broken(run), options };
    let results = gates.iter().flat_map(|gate| checked.gate(gate)).collect();
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record);
    GateReport {
        schema: GateReport::SCHEMA,
        run: run.run_id.clone(),
        results,
        trials: cases().map(|case| case.completed.saturating_add(case.errors)).sum(),
        trial_errors: cases().map(|case| case.errors).sum(),
        repeated_cases: run.repeated_cases(),
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
            selected.iter().copied().partition(|case| case.record.outcome == Status::Skipped);
        // A case that was skipped in one arm is a pair without a result.
        let measured = measured(gate, if gate.measure().is_lift() { &selected } else { &run });
        let floor = if gate.is_above_floor() { self.floor(&run) } else { Ok(0.0) };
        let filtered = filtered.len() + unknown.iter().filter(|case| is_filtered(case)).count();
        let unknown = unknown.iter().filter(|case| !is_filtered(case)).count();
        let unselected = if self.options.only_selected { 0 } else { filtered + self.without_record(gate) };
        let missing = Missing { skipped: skipped.len(), unknown, unselected };
        let why = self.broken.clone().or_else(|| self.inconclusive_reason(gate, run.len(), &missing, &measured));
        let why = why.or_else(|| floor.clone().err());
        let floor = floor.ok();
        let may_be_met = why.is_some() && self.may_be_met(gate, floor, &run, &missing);
        let chances = floor.and_then(|floor| GateChances::of(gate, run.len(), floor));
        let needed = chances.and_then(|chances| chances.needed_cases);
        let why = why.or_else(|| Some(format!("no result of so few meets it; {} cases are needed", needed?)));
        let verdict = match measured.value.zip(floor).map(|(value, floor)| gate.holds(value, floor)) {
            Some(false) if !may_be_met => GateVerdict::Missed,
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

    /// Whether results that are missing or cannot be read could meet a gate that the measured value misses.
    fn may_be_met(&self, gate: &Gate, floor: Option<f64>, run: &[&CaseData], missing: &Missing) -> bool {
        let is_of = |problem: &Problem, case: &CaseData| Path::new(&problem.file).starts_with(&case.directory);
        let files: Vec<&Problem> = self.run.problems.iter().filter(|problem| problem.is_of_file()).collect();
        let all = || self.run.suites.iter().flat_map(|suite| &suite.cases);
        // How many cases are lost with another file is not known, nor how many selected ones have not started yet.
        let is_bounded = !(self.run.in_use && self.options.only_selected)
            && self.run.suites.iter().all(|suite| suite.record.is_some())
            && files.iter().all(|problem| all().any(|case| is_of(problem, case)));
        let (damaged, known): (Vec<&CaseData>, Vec<&CaseData>) =
            run.iter().partition(|case| files.iter().any(|problem| is_of(problem, case)));
        let missing = missing.skipped + missing.unknown + missing.unselected + damaged.len();
        let best = Measured::at_best(gate, &known, is_bounded.then_some(missing));
        best.zip(floor).is_none_or(|(best, floor)| gate.holds(best, floor))
    }

    /// Why the measured value does not say that a gate is met.
    fn inconclusive_reason(&self, gate: &Gate, run: usize, missing: &Missing, measured: &Measured) -> Option<String> {
        let Missing { skipped, unknown, unselected } = *missing;
        if run == 0 {
            return Some("no case matches".to_owned());
        }
        let missing = skipped + unknown + if gate.measure() == Measure::Score { measured.unknown } else { 0 };
        let all = run + skipped + unknown;
        if !at_most(share(missing, all), MOST_MISSING) {
            let others = if unknown > 0 { format!("; {unknown} of them may be others") } else { String::new() };
            return Some(format!("{missing} of {all} cases have no result{others}"));
        }
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
        // The name of a suite without records is not known.
        let is_of_suite = gate.selected().iter().any(|(key, _)| *key == SliceKey::Suite);
        let without_records = self.run.without_records.iter().filter(|_| !is_of_suite);
        missing.sum::<usize>() + without_records.map(|suite| suite.not_started().len()).sum::<usize>()
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
    /// Neither selected nor skipped, if they count.
    unselected: usize,
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

/// How far the rates of the two agents are from the limit.
const DISTANCE: f64 = 0.02;

/// How often a gate on a rate is wrong: an agent passes each case with a probability near the limit, and the number of passed cases is
/// binomial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateChances {
    /// Pass rate of an agent below the limit, 0 to 1.
    pub below: f64,
    /// Share of its runs that meet the gate, 0 to 1.
    pub met: f64,
    /// Pass rate of an agent above the limit, 0 to 1.
    pub above: f64,
    /// Share of its runs that miss the gate, 0 to 1.
    pub missed: f64,
    /// The smallest number of cases with which the gate can be met, if this is more than there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_cases: Option<usize>,
}

impl GateChances {
    /// The chances of a gate on the rate of this many cases; `None` if it measures something else, or every rate or none is within the limit.
    pub(super) fn of(gate: &Gate, cases: usize, floor: f64) -> Option<Self> {
        let limit = gate.limit() + if gate.is_above_floor() { floor } else { 0.0 };
        if !matches!(gate.measure(), Measure::PassRate | Measure::LowerPassRate)
            || cases == 0
            || !(0.0..1.0).contains(&limit)
            || limit == 0.0
        {
            return None;
        }
        let is_met = |passed: usize, cases: usize| {
            rate_value(gate.measure(), passed, cases).is_some_and(|value| gate.holds(value, floor))
        };
        let least = (0..=cases).find(|passed| is_met(*passed, cases));
        let distance = DISTANCE.min(limit / 2.0).min((1.0 - limit) / 2.0);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let met = |rate: f64| least.map_or(0.0, |least| binomial_at_least(number(least), number(cases), rate));
        let needed = || (cases..=MOST_CASES).find(|cases| is_met(*cases, *cases));
        Some(Self {
            below: limit - distance,
            met: met(limit - distance),
            above: limit + distance,
            missed: 1.0 - met(limit + distance),
            needed_cases: if least.is_none() { needed() } else { None },
        })
    }
}

/// Most cases of which it is said that a gate needs them.
const MOST_CASES: usize = 100_000;

/// `at 0.88, 44% of runs meet it; at 0.92, 21% miss it`.
impl fmt::Display for GateChances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |rate: f64| format!("{rate:.3}").trim_end_matches('0').to_owned();
        let percent = |share: f64| match share * 100.0 {
            share if share < 1.0 => "<1%".to_owned(),
            share if share > 99.0 => ">99%".to_owned(),
            share => format!("{share:.0}%"),
        };
        let (met, missed) = (percent(self.met), percent(self.missed));
        write!(f, "at {}, {met} of runs meet it; at {}, {missed} miss it", rate(self.below), rate(self.above))
    }
}

/// A measure that compares targets; `None` for a gate on another one.
type Comparison = fn(&Gate, &[&CaseData]) -> Option<Measured>;

/// All of them.
const COMPARISONS: &[Comparison] = &[super::lift::measured];

fn measured(gate: &Gate, cases: &[&CaseData]) -> Measured {
    COMPARISONS.iter().find_map(|of| of(gate, cases)).unwrap_or_else(|| Measured::of(gate, cases))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gate: &str, cases: usize) -> Option<GateChances> {
        GateChances::of(&gate.parse().unwrap(), cases, 0.0)
    }

    #[test]
    fn chances_are_those_of_the_binomial_distribution() {
        // 45 of 50: 0.88 passes as many in 43.5 % of runs.
        let text = of("pass_rate >= 90%", 50).unwrap().to_string();
        assert_eq!(text, "at 0.88, 44% of runs meet it; at 0.92, 21% miss it");
        let bounded = of("lower(pass_rate) >= 90%", 50).unwrap();
        assert!(bounded.met < 0.01 && bounded.missed > 0.9, "{bounded}");
    }

    #[test]
    fn what_is_always_met_or_measures_something_else_has_no_chances() {
        for gate in ["pass_rate >= 0", "score >= 0.9", "cost <= 2"] {
            assert_eq!(of(gate, 50), None, "{gate}");
        }
        assert_eq!(of("pass_rate >= 0.9", 0), None);
        let near = of("pass_rate >= 99%", 10).unwrap();
        assert!((near.below - 0.985).abs() < 1e-12 && (near.above - 0.995).abs() < 1e-12, "{near:?}");
    }

    #[test]
    fn a_gate_that_no_result_meets_says_how_many_cases_it_needs() {
        let few = of("lower(pass_rate) >= 90%", 20).unwrap();
        assert_eq!(few.needed_cases, Some(35));
        assert_eq!(of("lower(pass_rate) >= 90%", 35).unwrap().needed_cases, None);
    }
}
