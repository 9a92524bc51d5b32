//! Baselines: the accepted results of suites, as files under version control, in the shape of a run to compare runs with.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::baseline::{Counts, LARGEST_CHANCE, UnchangedSuite, counts, planned_counts};
use evalsuite_records::file_replacement::error_at;
use evalsuite_records::package_file::{LARGEST_BASELINE, read_package_file_if_exists};
use evalsuite_records::record::{
    AcceptedAnswers, AnswerPair, Baseline, BaselineCase, BaselineError, CaseRecord, DecisionRecord, Expectation,
    PassState, Rule, Status, TrialRecord, TrialSummary,
};
use evalsuite_records::run_directory::CaseDirectoryName;
use evalsuite_records::trial_statistics::mean_reaches;
use evalsuite_schema::SuiteKind;

use crate::comparison::{ChangeKind, CompareOptions, Comparison, Standard, answer_pairs};
use crate::run_data::{CaseData, RunData, SuiteData, TrialData, counted_records};

/// Reads the baseline of a suite; `None` if there is no such file. [`evalsuite_records::baseline::baseline_file`] says where it is.
///
/// # Errors
///
/// If the file cannot be read or is larger than 256 MiB, or is not a baseline; the error names the line.
pub fn read_baseline(file: &Path) -> io::Result<Option<Baseline>> {
    read(file, Baseline::parse)
}

/// Reads the accepted answers of a suite; `None` if there is no such file. [`evalsuite_records::baseline::accepted_answers_file`] says where it is.
///
/// # Errors
///
/// If the file cannot be read or is larger than 256 MiB, or has a line that is not an answer; the error names the line.
pub fn read_accepted_answers(file: &Path) -> io::Result<Option<AcceptedAnswers>> {
    read(file, AcceptedAnswers::parse)
}

fn read<T>(file: &Path, parse: fn(&str) -> Result<T, BaselineError>) -> io::Result<Option<T>> {
    let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
    let read = || {
        let Some(bytes) = read_package_file_if_exists(file, LARGEST_BASELINE)? else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
        parse(&text).map(Some).map_err(|error| invalid(error.to_string()))
    };
    read().map_err(|error| error_at(file, &error))
}

/// Four places: more would be noise in reviews.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Removes the results that cases have as other targets than in the run, and returns these targets: a suite that names no targets runs as that
/// of `EVALSUITE_TARGET`, or did when they were accepted.
pub fn remove_other_targets(baseline: &mut Baseline, suite: &SuiteData) -> BTreeSet<String> {
    let mut removed = BTreeSet::new();
    baseline.cases.retain(|line| {
        let is_other = ran_as_other_target(suite, line.key());
        if is_other {
            removed.insert(line.target.clone());
        }
        !is_other
    });
    removed
}

/// Whether a case ran, but not as this target, which its suite does not name.
pub(crate) fn ran_as_other_target(suite: &SuiteData, (id, target): (&str, &str)) -> bool {
    let mut tests = suite.record.iter().flat_map(|record| &record.tests).filter(|test| test.case_id == id);
    let mut ran = suite.cases.iter().map(|case| &case.record).filter(|record| record.case_id == id).peekable();
    tests.all(|test| test.target.is_none()) && ran.peek().is_some() && ran.all(|record| record.target != target)
}

/// The accepted results as cases of a run without files. `run`: a run of their suites, which says how trials decide a case.
fn as_run(baselines: &[Baseline], run: &RunData) -> RunData {
    let suite = |baseline: &Baseline| {
        let name = &baseline.header.suite;
        let rules = SuiteRules::of(run.suites.iter().find(|suite| suite.name == *name));
        let cases = baseline.cases.iter().map(|line| self::case(name, line, &rules));
        SuiteData { name: name.clone(), cases: cases.collect(), ..SuiteData::default() }
    };
    RunData { run_id: "the baseline".to_owned(), suites: baselines.iter().map(suite).collect(), ..RunData::default() }
}

/// How the trials of the cases of a suite decide them.
#[derive(Default)]
struct SuiteRules<'r> {
    /// The records of the cases that the run has, by case and target.
    cases: BTreeMap<(&'r str, &'r str), &'r CaseRecord>,
    /// Whether one passed trial is enough for any other case.
    is_capability: bool,
}

impl<'r> SuiteRules<'r> {
    fn of(suite: Option<&'r SuiteData>) -> Self {
        let Some(suite) = suite else { return Self { is_capability: true, ..Self::default() } };
        let records = suite.cases.iter().map(|case| &case.record);
        let kind = suite.record.as_ref().map(|record| record.kind).or_else(|| Some(suite.cases.first()?.record.kind));
        Self {
            cases: records.map(|record| ((record.case_id.as_str(), record.target.as_str()), record)).collect(),
            is_capability: kind.is_none_or(|kind| kind == SuiteKind::Capability),
        }
    }

    /// The outcome of a case with these trials.
    fn outcome(&self, line: &BaselineCase, trials: &[TrialSummary]) -> Status {
        let has_passed = |trial: &TrialSummary| trial.outcome == Status::Passed;
        let (rule, threshold) = match self.cases.get(&line.key()) {
            Some(record) => (record.rule, record.threshold),
            None if self.is_capability => (Rule::Any, 0.0),
            None => (Rule::Every, 0.0),
        };
        let passes = match rule {
            Rule::Any => trials.iter().any(has_passed),
            Rule::Every => trials.iter().all(has_passed),
            Rule::Mean | Rule::ConfidenceInterval => {
                let scored = trials.iter().filter_map(|trial| Some((trial.score?, has_passed(trial))));
                mean_reaches(rule, scored, threshold)
            }
        };
        if passes { Status::Passed } else { Status::Failed }
    }
}

/// The accepted results whose trials are known in the order in which they ran, as a run. Lines of older versions only have a mean, which cannot be
/// compared trial by trial.
pub fn trials_of_baselines(baselines: &[Baseline]) -> RunData {
    let mut ordered = baselines.to_vec();
    ordered.iter_mut().for_each(|baseline| baseline.cases.retain(|case| !case.outcomes.is_empty()));
    as_run(&ordered, &RunData::default())
}

/// The same, with a trial for each accepted answer to the input that the baseline has.
fn as_run_with_answers(baselines: &[Baseline], answers: &[AcceptedAnswers], run: &RunData) -> RunData {
    let mut run = as_run(baselines, run);
    for suite in &mut run.suites {
        let Some(answers) = answers.iter().find(|answers| answers.header.suite == suite.name) else { continue };
        for case in &mut suite.cases {
            let answer = answers.find(&case.record.case_id, &case.record.target);
            let trial = answer.filter(|answer| answer.input == case.record.input_digest).map(|answer| {
                let mut record = TrialRecord::default();
                record.answer = Some(answer.answer.clone());
                TrialData { directory: PathBuf::new(), record }
            });
            case.trials.extend(trial);
        }
    }
    run
}

fn case(suite: &str, case: &BaselineCase, rules: &SuiteRules<'_>) -> CaseData {
    let mut record = CaseRecord::new();
    record.suite = suite.to_owned();
    record.case_id.clone_from(&case.case);
    record.target.clone_from(&case.target);
    record.input_digest.clone_from(&case.input);
    record.grader_digest.clone_from(&case.graders);
    let of_run = rules.cases.get(&case.key());
    // Without one, which scores passed is not known.
    record.threshold = case.threshold.or(of_run.map(|record| record.threshold)).unwrap_or_default();
    // Runs cannot be compared with trials: as with another threshold, the case is another one.
    if of_run.is_some_and(|record| record.is_one_observation() != case.counts_runs) {
        record.grader_digest.clear();
    }
    record.trials = trials(case);
    record.outcome = rules.outcome(case, &record.trials);
    (record.passed, record.completed, record.planned) = (case.passed, case.trials, case.trials);
    record.stops_early = case.stops_early;
    let name = CaseDirectoryName::parse(&record.case_id);
    CaseData {
        name,
        directory: PathBuf::new(),
        record,
        trials: Vec::new(),
        other_attempts: Vec::new(),
        of_runs: Vec::new(),
    }
}

/// The planned trials of a case. Older files have neither their order nor their scores, but how many passed and the mean.
fn trials(case: &BaselineCase) -> Vec<TrialSummary> {
    let passed = (0..case.trials).map(|index| if index < case.passed { 'P' } else { 'F' });
    let outcomes = if case.outcomes.is_empty() { passed.collect() } else { case.outcomes.clone() };
    let trial = |(index, outcome): (usize, char)| {
        let mut trial = TrialSummary::default();
        trial.outcome = if outcome == 'P' { Status::Passed } else { Status::Failed };
        trial.score = case.scores.get(index).copied().or(case.score);
        trial
    };
    outcomes.chars().enumerate().map(trial).collect()
}

/// The trials of a case in all runs that are counted.
fn of_all_runs(case: &CaseData, counts: fn(&CaseRecord) -> Counts) -> Counts {
    let of_runs = counted_records(case).iter().map(counts);
    of_runs.fold((0, 0), |sum, of_run| (sum.0.saturating_add(of_run.0), sum.1.saturating_add(of_run.1)))
}

/// What was accepted, as what a run is compared with: suites as their baselines tell, by their names.
struct AcceptedResults(BTreeMap<String, UnchangedSuite>);

impl Standard for AcceptedResults {
    fn name<'a>(&'a self, _base: &'a RunData) -> &'a str {
        DecisionRecord::BASELINE
    }

    /// Baselines count a run once whose trials do not decide the case one by one.
    fn counts(&self, case: &CaseData) -> Counts {
        of_all_runs(case, planned_counts)
    }

    /// Baselines have rounded scores, which are compared with rounded ones.
    fn score(&self, score: f64) -> f64 {
        rounded(score)
    }

    fn change(&self, cases: [&CaseData; 2], scores_differ: bool) -> Option<ChangeKind> {
        let [base, run] = cases.map(|case| self.counts(case)).map(|(passed, ended)| PassState::of(passed, ended));
        match base {
            PassState::Flaky => (run != PassState::Passes).then_some(ChangeKind::Quarantined),
            _ => (scores_differ || base != run).then_some(ChangeKind::Changed),
        }
    }

    /// Cases are judged as their tests are.
    fn has_tested_cases(&self) -> bool {
        true
    }

    fn chance_of_tests(&self, suite: &str) -> f64 {
        if self.0.contains_key(suite) { LARGEST_CHANCE } else { 0.0 }
    }

    /// By the trials of all accepted runs.
    fn worse(&self, suite: &str, [base, run]: [&CaseData; 2]) -> Option<f64> {
        let accepted = self.0.get(suite)?;
        let [before, now] = [base, run].map(|case| of_all_runs(case, counts));
        let says = || run.record.baseline.map(|result| result.expectation) == Some(Expectation::Regression);
        let is_worse = before.0 > 0 && (accepted.is_worse(before, now) || says());
        is_worse.then(|| accepted.chance(before, now))
    }
}

impl Comparison {
    /// Compares a run with the baselines of its suites.
    ///
    /// A case that came out otherwise than in the baseline may have been repeated
    /// ([`CaseRecord::confirming`](evalsuite_records::record::CaseRecord::confirming)), which counts. A case whose test says that it
    /// passes no more has regressed here, too.
    pub fn with_baselines(baselines: &[Baseline], run: &RunData, options: &CompareOptions) -> Self {
        let suite = |baseline: &Baseline| (baseline.header.suite.clone(), UnchangedSuite::new(&baseline.cases));
        let accepted = AcceptedResults(baselines.iter().map(suite).collect());
        Self::with(&as_run(baselines, run), &accepted, run, options)
    }
}

/// [`answer_pairs`] with the accepted answers in place of those of another run. A case that failed when its result was accepted has no answer
/// and is left out.
pub fn answer_pairs_with_accepted(
    baselines: &[Baseline],
    answers: &[AcceptedAnswers],
    run: &RunData,
    criteria: Option<&str>,
    options: &CompareOptions,
) -> Vec<AnswerPair> {
    let mut base = as_run_with_answers(baselines, answers, run);
    for suite in &mut base.suites {
        suite.cases.retain(|case| case.record.passed > 0);
    }
    let mut pairs = answer_pairs(&base, run, criteria, options);
    for pair in &mut pairs {
        let why =
            "no accepted answer to this input; `cargo evalsuite accept --answers` takes one from a trial that passes";
        pair.why_no_base = Some(why.to_owned());
    }
    pairs
}
