//! What a skill does: the cases of a run with the skill compared with those without it, or with an older copy; what each arm used, and
//! which expectations come out the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evalsuite_records::exact_sums::mean;
use evalsuite_records::record::{CaseRecord, GraderRecord, Status, TrialSummary, Verdict};
use evalsuite_records::summary::TextTable;
use evalsuite_schema::diagnostics::{counted, terminal};
use evalsuite_schema::json::written_by_serde;
use evalsuite_schema::{REFERENCE_ARMS, WITH_SKILL};
use evalsuite_statistics::shown_p;
use serde::Serialize;

use crate::comparison::{CompareOptions, Comparison, FEWEST_PAIRS, has_same_definition, without_trials};
use crate::failure_text::expectation_text;
use crate::run_data::{CaseData, RunData, SuiteData, repeated_text};

/// What a skill does to the cases of a suite: the arm with it compared with another arm of the same run.
///
/// Cases are paired by their ids. Each case is one observation, whatever its number of trials; intervals and p-values are those of a
/// [`Comparison`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lift {
    /// Name of the suite.
    pub suite: String,
    /// The arm that is compared with: `without_skill` or `old_skill`.
    pub reference: String,
    /// Number of cases that have a result in both arms.
    pub pairs: usize,
    /// Number of cases that should have been compared, and have no result in one of the arms.
    pub missing: usize,
    /// The shares of passed trials.
    pub pass_rate: LiftedMeasure,
    /// The scores.
    pub score: LiftedMeasure,
    /// What the trials of the compared cases used: in the reference arm, and with the skill.
    pub arms: [ArmTotals; 2],
    /// Expectations that hold in every trial of both arms: they say nothing about the skill.
    pub always_passed: Vec<SettledExpectation>,
    /// Expectations that hold in no trial of either arm.
    pub never_passed: Vec<SettledExpectation>,
}

written_by_serde!(Lift);

/// What skills do to the cases of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunLifts {
    /// [`RunLifts::SCHEMA`].
    pub schema: &'static str,
    /// Id of the run.
    pub run: String,
    /// Number of cases that the test runner repeated: of each, the first attempt with a result is compared.
    pub repeated_cases: usize,
    /// The lifts by suite, and by the arm that is compared with.
    pub lifts: Vec<Lift>,
}

written_by_serde!(RunLifts);

impl RunLifts {
    /// Value of `schema` in output of this version.
    pub const SCHEMA: &'static str = "evalsuite.lift/1";

    /// The lifts of a run. A suite without arms has none.
    pub fn of(run: &RunData) -> Self {
        let run = &*run.measured();
        let repeated_cases = run.repeated_cases();
        Self { schema: Self::SCHEMA, run: run.run_id.clone(), repeated_cases, lifts: lifts(run) }
    }
}

fn lifts(run: &RunData) -> Vec<Lift> {
    let mut lifts = Vec::new();
    for suite in &run.suites {
        let cases: Vec<&CaseData> = suite.cases.iter().collect();
        let targets: BTreeSet<&str> = cases.iter().map(|case| case.record.target.as_str()).collect();
        for reference in REFERENCE_ARMS {
            if targets.contains(WITH_SKILL) && targets.contains(reference) {
                lifts.push(Lift::new(&suite.name, reference, &cases));
            }
        }
    }
    lifts
}

impl Lift {
    fn new(suite: &str, reference: &str, cases: &[&CaseData]) -> Self {
        let pairs = compared_cases(cases, reference);
        let [pass_rate, score] = [LiftOf::PassRate, LiftOf::Score].map(|of| lift_of(cases, reference, of));
        let [without, with]: [Vec<&CaseData>; 2] =
            [0, 1].map(|arm| pairs.iter().map(|pair| pair[arm]).collect::<Vec<_>>());
        let [always_passed, never_passed] = settled(&pairs);
        Self {
            suite: suite.to_owned(),
            reference: reference.to_owned(),
            pairs: pass_rate.pairs,
            missing: pass_rate.missing,
            pass_rate,
            score,
            arms: [ArmTotals::new(reference, &without), ArmTotals::new(WITH_SKILL, &with)],
            always_passed,
            never_passed,
        }
    }
}

/// What the trials of an arm used: means over the trials for which it is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ArmTotals {
    /// Name of its target.
    pub arm: String,
    /// Number of trials of the compared cases.
    pub trials: usize,
    /// Tokens of the agent in one trial, read from a cache or not: of those for which they are known.
    pub tokens: Option<f64>,
    /// Number of trials for which the tokens of all calls are known.
    pub metered_trials: usize,
    /// Cost of the agent in one trial, in US dollars: of those for which it is known.
    pub cost_usd: Option<f64>,
    /// Number of trials for which the cost of all calls is known.
    pub costed_trials: usize,
    /// Seconds that the agent worked in one trial.
    pub seconds: Option<f64>,
}

written_by_serde!(ArmTotals);

impl ArmTotals {
    fn new(arm: &str, cases: &[&CaseData]) -> Self {
        let trials: Vec<&TrialSummary> = cases.iter().flat_map(|case| &case.record.trials).collect();
        let known = |of: &dyn Fn(&TrialSummary) -> Option<f64>| trials.iter().filter_map(|trial| of(trial)).collect();
        // What is known of some calls only is less than a trial used.
        let tokens: Vec<f64> =
            known(&|trial| trial.usage.filter(|_| !trial.unknown_tokens.agent).map(|usage| usage.total() as f64));
        let costs: Vec<f64> = known(&|trial| trial.cost_usd.filter(|_| !trial.unknown_costs.agent));
        let seconds: Vec<f64> = known(&|trial| Some(trial.duration_ms? as f64 / 1e3));
        Self {
            arm: arm.to_owned(),
            trials: trials.len(),
            tokens: mean(&tokens),
            metered_trials: tokens.len(),
            cost_usd: mean(&costs),
            costed_trials: costs.len(),
            seconds: mean(&seconds),
        }
    }
}

/// What of the cases is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiftOf {
    /// The share of trials that passed.
    PassRate,
    /// The score.
    Score,
}

/// A measure of the cases in two arms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LiftedMeasure {
    /// Mean over the compared cases in the reference arm, 0 to 1; `None` without cases.
    pub reference: Option<f64>,
    /// Mean over the same cases with the skill, 0 to 1.
    pub with_skill: Option<f64>,
    /// Mean over these cases of the value with the skill minus that in the reference arm, −1 to 1.
    pub difference: f64,
    /// 95 % interval of the mean difference of cases such as these; `None` without cases.
    pub interval: Option<(f64, f64)>,
    /// Lower end of the interval if all trials that ended in an error had passed in the reference arm, and failed with the skill; `None` if no
    /// trial did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_with_errors: Option<f64>,
    /// Probability of a difference at least as large in this direction if the skill had no effect, 0 to 1.
    pub p_value: f64,
    #[serde(skip)]
    pub(crate) pairs: usize,
    #[serde(skip)]
    pub(crate) missing: usize,
}

written_by_serde!(LiftedMeasure);

impl LiftedMeasure {
    /// The lower end of the interval, however trials that ended in an error would have ended.
    pub(crate) fn sure_lower(&self) -> Option<f64> {
        self.lower_with_errors.or(self.interval.map(|(lower, _)| lower))
    }
}

/// The cases that have a result with the same definition in both arms: that of the reference arm, then the one with the skill.
fn compared_cases<'a>(cases: &[&'a CaseData], reference: &str) -> Vec<[&'a CaseData; 2]> {
    let of_target = |target: &str| {
        let cases = cases.iter().filter(|case| case.record.target == target && case.record.completed > 0);
        // Of several tests that run one case, the first one.
        cases.rev().map(|case| (case.record.case_id.clone(), *case)).collect::<BTreeMap<String, &CaseData>>()
    };
    let (reference, with_skill) = (of_target(reference), of_target(WITH_SKILL));
    let both = reference.iter().filter_map(|(id, case)| Some([*case, *with_skill.get(id)?]));
    both.filter(|[one, other]| has_same_definition(&one.record, &other.record)).collect()
}

/// How the arms of these cases, all of one suite, differ: by the method of every other comparison.
pub(crate) fn lift_of(cases: &[&CaseData], reference: &str, of: LiftOf) -> LiftedMeasure {
    let suite = cases.first().map(|case| case.record.suite.clone()).unwrap_or_default();
    let cases: Vec<CaseData> = cases.iter().map(|case| (*case).clone()).collect();
    let suite = SuiteData { name: suite, cases, ..SuiteData::default() };
    let mut run = without_trials(&RunData { suites: vec![suite], ..RunData::default() });
    if of == LiftOf::PassRate {
        let records = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).map(|case| &mut case.record);
        records.for_each(score_by_outcome);
    }
    let pairs = run.suites.first().map(|suite| suite.cases.iter().collect::<Vec<_>>()).unwrap_or_default();
    let pairs = compared_cases(&pairs, reference);
    let means = [0, 1].map(|arm| {
        mean(
            &pairs
                .iter()
                .filter_map(|pair| pair[arm].record.with_independent_trials().sampled_score())
                .collect::<Vec<_>>(),
        )
    });
    let options = CompareOptions::new().with_targets(reference, WITH_SKILL);
    let comparison = Comparison::new(&run, &run, &options).suites.into_iter().next();
    let found = comparison.as_ref();
    LiftedMeasure {
        reference: means[0],
        with_skill: means[1],
        difference: found.map_or(0.0, |found| found.difference),
        interval: found.and_then(|found| found.interval),
        lower_with_errors: found.and_then(|found| Some(found.unknown?.interval_if_failed?.0)),
        p_value: found.map_or(1.0, |found| found.p_value),
        pairs: found.map_or(0, |found| found.pairs),
        missing: found.map_or(0, |found| found.missing),
    }
}

/// Gives the trials of a case the score 1 if they passed and 0 if they failed.
fn score_by_outcome(record: &mut CaseRecord) {
    for trial in &mut record.trials {
        trial.score = match trial.outcome {
            Status::Passed => Some(1.0),
            Status::Failed => Some(0.0),
            Status::Error | Status::Skipped => None,
        };
    }
}

/// An expectation that comes out the same in all trials of two arms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct SettledExpectation {
    /// Id of the case.
    pub case_id: String,
    /// Name of its grader.
    pub grader: String,
    /// What is expected; `None` for a grader that checks one thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

written_by_serde!(SettledExpectation);

/// In how many trials an expectation was checked, and in how many it held.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    checked: usize,
    held: usize,
}

/// The expectations that hold in every trial of both arms, and those that hold in none. Those that not every trial has are left out: the
/// texts of some graders name what they found.
fn settled(pairs: &[[&CaseData; 2]]) -> [Vec<SettledExpectation>; 2] {
    let [mut always, mut never] = [Vec::new(), Vec::new()];
    for pair in pairs {
        let mut counts: BTreeMap<SettledExpectation, Counts> = BTreeMap::new();
        let mut trials = 0;
        for trial in pair.iter().flat_map(|case| &case.trials).map(|trial| &trial.record) {
            if !matches!(trial.outcome, Status::Passed | Status::Failed) {
                continue;
            }
            trials += 1;
            let mut of_trial: BTreeMap<SettledExpectation, bool> = BTreeMap::new();
            for (expectation, holds) in trial.all_graders().flat_map(|grader| expectations(&trial.case_id, grader)) {
                *of_trial.entry(expectation).or_insert(true) &= holds;
            }
            for (expectation, holds) in of_trial {
                let counts = counts.entry(expectation).or_default();
                counts.checked += 1;
                counts.held += usize::from(holds);
            }
        }
        for (expectation, counts) in counts.into_iter().filter(|(_, counts)| counts.checked == trials) {
            match counts.held {
                0 => never.push(expectation),
                held if held == trials => always.push(expectation),
                _ => {}
            }
        }
    }
    [always, never]
}

/// What a grader checks: its assertions, else one thing. Nothing that it did not decide.
fn expectations(case_id: &str, grader: &GraderRecord) -> Vec<(SettledExpectation, bool)> {
    let expectation = |text: Option<&str>| SettledExpectation {
        case_id: case_id.to_owned(),
        grader: grader.name.clone(),
        text: text.map(str::to_owned),
    };
    match grader.verdict {
        None => Vec::new(),
        Some(verdict) if grader.assertions.is_empty() => vec![(expectation(None), verdict == Verdict::Pass)],
        Some(_) => {
            grader.assertions.iter().map(|it| (expectation(Some(expectation_text(grader, it))), it.passed)).collect()
        }
    }
}

/// Largest number of expectations in a list.
const LISTED: usize = 10;

impl fmt::Display for RunLifts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        repeated_text(self.repeated_cases).iter().try_for_each(|text| writeln!(f, "{text}"))?;
        self.lifts.iter().try_for_each(|lift| write!(f, "{lift}"))
    }
}

impl fmt::Display for Lift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, reference, pairs, .. } = self;
        write!(f, "{suite}: lift of the skill, compared with {reference}: {} in both", counted(*pairs, "case"))?;
        if self.missing > 0 {
            write!(f, ", {} without a result", self.missing)?;
        }
        writeln!(f)?;
        if *pairs == 0 {
            return Ok(());
        }
        let mut table = TextTable::new(&["mean", reference, "with_skill", "difference", "95 % interval", "p"]);
        table.add(measured("pass rate", &self.pass_rate));
        table.add(measured("score", &self.score));
        let used = [
            used("tokens", &self.arms, 0, |arm| arm.tokens),
            used("USD", &self.arms, 4, |arm| arm.cost_usd),
            used("seconds", &self.arms, 2, |arm| arm.seconds),
        ];
        used.into_iter().flatten().for_each(|row| table.add(row));
        table.write(TextTable::USUAL_WIDTH, f)?;
        for ArmTotals { arm, trials, metered_trials, costed_trials, .. } in &self.arms {
            let is_partial = |known: &&usize| (1..*trials).contains(*known);
            if let Some(known) = Some(metered_trials).filter(is_partial) {
                let mean = format!("the mean of {known} of {trials} trials: those of the others are not known");
                writeln!(f, "  the tokens of {arm} are {mean}")?;
            }
            if let Some(known) = Some(costed_trials).filter(is_partial) {
                let mean = format!("the mean of {known} of {trials} trials: that of the others is not known");
                writeln!(f, "  the cost of {arm} is {mean}")?;
            }
        }
        if *pairs < FEWEST_PAIRS {
            writeln!(f, "  too few cases to say anything: {FEWEST_PAIRS} are needed")?;
        }
        if self.pass_rate.lower_with_errors.is_some() {
            writeln!(f, "  trials ended in an error; the intervals are those of the others")?;
        }
        list(f, "in every trial of both arms, which says nothing about the skill", &self.always_passed)?;
        list(f, "in no trial of either arm", &self.never_passed)
    }
}

fn measured(name: &str, measure: &LiftedMeasure) -> Vec<Option<String>> {
    let share = |value: Option<f64>| value.map(|value| format!("{value:.2}"));
    vec![
        Some(name.to_owned()),
        share(measure.reference),
        share(measure.with_skill),
        Some(format!("{:+.2}", measure.difference)),
        measure.interval.map(|(lower, upper)| format!("{lower:+.2} to {upper:+.2}")),
        Some(shown_p(measure.p_value)),
    ]
}

/// What one trial used, if trials of one arm reported it.
fn used(
    name: &str,
    arms: &[ArmTotals; 2],
    places: usize,
    of: fn(&ArmTotals) -> Option<f64>,
) -> Option<Vec<Option<String>>> {
    let [reference, with_skill] = arms.each_ref().map(of);
    reference.or(with_skill)?;
    let difference = reference.zip(with_skill).map(|(reference, with_skill)| with_skill - reference);
    let shown = |value: Option<f64>| value.map(|value| format!("{value:.places$}"));
    let difference = difference.map(|value| format!("{value:+.places$}"));
    Some(vec![Some(name.to_owned()), shown(reference), shown(with_skill), difference, None, None])
}

fn list(f: &mut fmt::Formatter<'_>, holds: &str, expectations: &[SettledExpectation]) -> fmt::Result {
    if expectations.is_empty() {
        return Ok(());
    }
    let (count, verb) = (expectations.len(), if expectations.len() == 1 { "holds" } else { "hold" });
    writeln!(f, "  {} {verb} {holds}", counted(count, "expectation"))?;
    for SettledExpectation { case_id, grader, text } in expectations.iter().take(LISTED) {
        let what = text.as_deref().unwrap_or(grader);
        writeln!(f, "    {}", terminal::short_line(&format!("{case_id}: {what}")))?;
    }
    if count > LISTED {
        writeln!(f, "    and {} more", count - LISTED)?;
    }
    Ok(())
}
