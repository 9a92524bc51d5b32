//! The baseline of a suite: its file, the expected result of a case, how badly a case comes out by chance alone, and which trials repeat
//! cases that differ.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use evalsuite_schema::json::{FromJsonOverDefault, ToJson};

use crate::digest::{file_key, name_with_digest};
use crate::json;
use crate::package_file::{LARGEST_BASELINE, read_package_file_if_exists};
use crate::record::{
    AcceptedAnswers, Baseline, BaselineCase, BaselineError, BaselineHeader, BaselineResult, CaseIdentity, CaseRecord,
    Expectation, PassState, Rule, Status, SuiteId,
};
use crate::trial_statistics::{binomial_at_least, binomial_at_most};
use crate::untrusted::regular_file;

/// Largest header of a baseline, in bytes.
const LARGEST_HEADER: u64 = 64 << 10;

/// The file with the baseline of a suite: in `.evalsuite/baselines` of its package, which is not part of any suite.
///
/// Its name is the name of the suite. If another suite of the package, or another module that includes the suite,
/// already uses that file, the name also contains the suite's directory and module. A suite that was moved keeps its
/// baseline.
pub fn baseline_file(package_root: &Path, suite: &SuiteId) -> PathBuf {
    file_in(package_root, &stem(package_root, suite), "jsonl")
}

/// The file with the accepted answers of a suite, next to its baseline.
pub fn accepted_answers_file(package_root: &Path, suite: &SuiteId) -> PathBuf {
    file_in(package_root, &stem(package_root, suite), "answers.jsonl")
}

/// The files with the baseline and the accepted answers of a suite whose plain names another suite uses.
pub fn own_baseline_files(package_root: &Path, suite: &SuiteId) -> [PathBuf; 2] {
    ["jsonl", "answers.jsonl"].map(|extension| file_in(package_root, &own_stem(suite), extension))
}

fn file_in(package_root: &Path, stem: &str, extension: &str) -> PathBuf {
    package_root.join(".evalsuite").join("baselines").join(format!("{stem}.{extension}"))
}

fn own_stem(suite: &SuiteId) -> String {
    name_with_digest(&suite.name, format!("{}\0{}", suite.path, suite.module))
}

fn stem(package_root: &Path, suite: &SuiteId) -> String {
    let (own, shared) = (own_stem(suite), file_key(&suite.name));
    let is_own = file_in(package_root, &own, "jsonl").exists()
        || header(&file_in(package_root, &shared, "jsonl")).is_some_and(|header| {
            let is_of_other_module = !header.module.is_empty() && header.module != suite.module;
            let is_other = !header.path.is_empty() && header.path != suite.path;
            is_of_other_module || is_other && package_root.join(&header.path).is_dir()
        });
    if is_own { own } else { shared }
}

/// The first line of a baseline; `None` if there is none, or if it is not valid, which is an error as soon as it is read.
fn header(file: &Path) -> Option<BaselineHeader> {
    let mut line = String::new();
    BufReader::new(regular_file(file).ok()?.take(LARGEST_HEADER)).read_line(&mut line).ok()?;
    json::decode(line.as_bytes()).ok()
}

/// The line of a case with this threshold, whose trials are counted, in the baseline; `None` if it has none about the case as it is defined, or if there is
/// no baseline.
///
/// # Errors
///
/// If the file cannot be read, or the line is not valid.
pub fn accepted_result(file: &Path, case: &CaseIdentity, threshold: f64) -> io::Result<Option<BaselineCase>> {
    let Some(text) = read(file)? else { return Ok(None) };
    Ok(line(&text, file, case)?.filter(|line| line.is_same_definition(case, threshold, false)))
}

/// The suite as all lines of its baseline tell; as one without any if there is no baseline.
///
/// # Errors
///
/// If the file cannot be read, or is not valid.
pub fn unchanged_suite(file: &Path) -> io::Result<UnchangedSuite> {
    let lines = read(file)?.map_or_else(|| Ok(Vec::new()), |text| lines(&text, file))?;
    Ok(UnchangedSuite::new(&lines))
}

fn lines(text: &str, file: &Path) -> io::Result<Vec<BaselineCase>> {
    Ok(Baseline::parse(text).map_err(|error| invalid(file, &error))?.cases)
}

fn line(text: &str, file: &Path, case: &CaseIdentity) -> io::Result<Option<BaselineCase>> {
    Baseline::find(text, &case.case_id, &case.target).map_err(|error| invalid(file, &error))
}

/// Trials of a case that passed, and all that passed or failed, without those that repeated it. A run that is
/// [one observation](CaseRecord::is_one_observation) counts as one trial with the outcome of the case.
pub fn planned_counts(record: &CaseRecord) -> Counts {
    match record.is_one_observation() {
        true => (u32::from(record.outcome == Status::Passed), record.completed.min(1)),
        false => (record.passed, record.completed),
    }
}

/// The same, with the trials that repeated the case.
pub fn counts(record: &CaseRecord) -> Counts {
    let (passed, ended) = planned_counts(record);
    if record.is_one_observation() {
        return (passed, ended);
    }
    let repeated = |outcome| record.confirming.iter().filter(|trial| trial.outcome == outcome).count();
    let [more, failed] =
        [Status::Passed, Status::Failed].map(|outcome| u32::try_from(repeated(outcome)).unwrap_or(u32::MAX));
    (passed.saturating_add(more), ended.saturating_add(more).saturating_add(failed))
}

/// How the trials of a case in one run decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseDesign {
    /// How many trials a run adds to the baseline, at least 1.
    pub planned: u32,
    /// The rule by which they decide the case.
    pub rule: Rule,
}

impl CaseDesign {
    /// That of a case with this number of trials. A run is one observation if they are correlated, or their mean decides the case.
    pub fn new(trials: u32, rule: Rule, correlated: bool) -> Self {
        let is_one = correlated || matches!(rule, Rule::Mean | Rule::ConfidenceInterval);
        Self { planned: if is_one { 1 } else { trials.max(1) }, rule }
    }

    /// That of a case of a run.
    pub fn of(record: &CaseRecord) -> Self {
        Self::new(record.planned, record.rule, record.correlated)
    }

    /// Probability that a case fails whose rate of passing has this distribution.
    fn fails(self, [a, b]: Beta) -> f64 {
        match self.rule {
            Rule::Any => at_most([a, b], (0, self.planned)),
            Rule::Every | Rule::Mean | Rule::ConfidenceInterval => 1.0 - at_most([b, a], (0, self.planned)),
        }
    }
}

/// Whether a case may have failed by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chance {
    /// It was replayed: its results are what they were.
    None,
    /// So many cases of the suite have failed in this run that passed in the baseline, with this one.
    WithFailures(u32),
}

/// What the baseline says about a case that passed or failed, with its trials and those that repeated it; `None` if it has no line about
/// the case, or if there is no baseline. `chance` is asked about a case that fails and has passed in the baseline; then `design` is asked about
/// all cases of the baseline: one of which nothing is known is taken to be as this one.
///
/// # Errors
///
/// If the file cannot be read, or is not valid, or `chance` returns an error.
pub fn result_of(
    file: &Path,
    record: &CaseRecord,
    chance: impl FnOnce() -> io::Result<Chance>,
    design: impl Fn(&BaselineCase) -> Option<CaseDesign>,
) -> io::Result<Option<BaselineResult>> {
    let Some(text) = read(file)? else { return Ok(None) };
    let Some(line) = line(&text, file, record)? else { return Ok(None) };
    let mut result = BaselineResult::new(Expectation::Redefined, line.passed, line.trials);
    if !line.is_same_definition(record, record.threshold, record.is_one_observation()) {
        return Ok(Some(result));
    }
    result.expectation = match (record.outcome == Status::Passed, line.state()) {
        (true, PassState::Fails) => Expectation::NewPass,
        (true, _) => Expectation::ExpectedPass,
        (false, PassState::Fails) => Expectation::ExpectedFailure,
        (false, state) => match (chance()?, state) {
            (Chance::None, PassState::Passes) => Expectation::Regression,
            (chance, _) => {
                let lines = lines(&text, file)?;
                let suite = UnchangedSuite::new(&lines);
                let (accepted, now) = ((line.passed, line.trials), counts(record));
                result.chance = Some(suite.chance(accepted, now));
                let designed = |line| (line, design(line).unwrap_or(CaseDesign::of(record)));
                let is_broken = || match chance {
                    Chance::WithFailures(cases) => cases >= suite.too_many_failures(lines.iter().map(designed)),
                    Chance::None => false,
                };
                match state {
                    _ if suite.is_worse(accepted, now) || is_broken() => Expectation::Regression,
                    PassState::Passes => Expectation::Unconfirmed,
                    _ => Expectation::Quarantined,
                }
            }
        },
    };
    Ok(Some(result))
}

/// The accepted answer to the input of a case, of its target; `None` if there is none.
///
/// # Errors
///
/// If the file cannot be read or is invalid.
pub fn accepted_answer(package_root: &Path, suite: &SuiteId, case: &CaseIdentity) -> io::Result<Option<String>> {
    answer_in(&accepted_answers_file(package_root, suite), case)
}

fn answer_in(file: &Path, case: &CaseIdentity) -> io::Result<Option<String>> {
    let Some(text) = read(file)? else { return Ok(None) };
    let answers = AcceptedAnswers::parse(&text).map_err(|error| invalid(file, &error))?;
    let found = answers.find(&case.case_id, &case.target);
    Ok(found.filter(|found| found.input == case.input_digest).map(|found| found.answer.clone()))
}

/// The text of a file; `None` if it does not exist.
fn read(file: &Path) -> io::Result<Option<String>> {
    let utf8 = |bytes| String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    let read = read_package_file_if_exists(file, LARGEST_BASELINE).and_then(|bytes| bytes.map(utf8).transpose());
    read.map_err(|error| {
        io::Error::new(error.kind(), format!("the baseline {} cannot be read: {error}", file.display()))
    })
}

fn invalid(file: &Path, error: &BaselineError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the baseline {} is invalid: {error}", file.display()))
}

/// So many trials may be spent on cases that pass when they are repeated, however small the suite is.
const FEWEST: u32 = 10;
/// The share of a suite's planned trials that may be spent on cases that pass when they are repeated.
const SHARE: u32 = 10;
/// After so many cases whose failures were confirmed, the suite has changed, and no further case is repeated.
const ENOUGH_CONFIRMED: u32 = 3;

/// What repeating cases has shown so far in a run of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct RepeatedCases {
    /// Trials of cases whose failure was not confirmed.
    refuted_trials: u32,
    /// Cases of which all trials failed that repeated them.
    confirmed_cases: u32,
}

impl RepeatedCases {
    /// How many trials may repeat another case of a suite: `most`, or 0. `planned`: number of trials planned in the suite.
    ///
    /// In a suite that has not changed, a tenth of its trials is added, or ten trials if that is more, and those of the last case.
    pub fn allowed(self, most: u32, planned: u32) -> u32 {
        let has_room = self.refuted_trials < FEWEST.max(planned / SHARE);
        if has_room && self.confirmed_cases < ENOUGH_CONFIRMED { most } else { 0 }
    }

    /// Adds a case that was repeated.
    pub fn add(&mut self, trials: u32, is_confirmed: bool) {
        if is_confirmed {
            self.confirmed_cases += 1;
        } else {
            self.refuted_trials += trials;
        }
    }
}

/// How a case is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repetition {
    /// The outcome with which the trials end.
    pub until: Status,
    /// How many there are at most, at least 1.
    pub trials: u32,
}

impl Repetition {
    /// How a case with these trials in the baseline is repeated, so that its trials tell whether it has changed; `None` if they tell already,
    /// or cannot. `outcome`: of the case; `ran`: its trials, none of which ended in an error; `suite`: the suite in the baseline, if it can
    /// be read; `most`: how many trials may repeat it.
    pub fn of(
        outcome: Status,
        ran: Counts,
        accepted: Counts,
        suite: impl FnOnce() -> Option<UnchangedSuite>,
        most: u32,
    ) -> Option<Self> {
        let (until, enough) = match (outcome, ran) {
            // No trial passed, and some did in the baseline.
            (Status::Failed, (0, failed)) if accepted.0 > 0 => {
                let needed = suite()?.failures_needed(accepted, failed, failed.saturating_add(most))?;
                (Status::Passed, needed.checked_sub(failed)?)
            }
            // It has never passed in the baseline, and all trials did: as many as there, or as many as tell.
            (Status::Passed, (passed, trials)) if passed == trials && accepted.0 == 0 => {
                let tells = |trials: &u32| has_risen(accepted, (*trials, *trials));
                let enough = (passed..accepted.1).find(tells).unwrap_or(accepted.1);
                (Status::Failed, enough.checked_sub(passed)?.min(most))
            }
            _ => return None,
        };
        (enough > 0).then_some(Self { until, trials: enough })
    }

    /// Whether it takes of what a run may spend: only cases do whose tests may fail. Of others, each is repeated once in its life.
    pub fn takes_room(self) -> bool {
        self.until == Status::Passed
    }
}

/// Share of the runs of an agent that has not changed in which the test of any case of a suite may say that it passes no more, if rates of
/// passing are as the model of [`UnchangedSuite`] says. Rates that few accepted trials do not show make it larger.
pub const LARGEST_CHANCE: f64 = 0.015;
/// Largest probability that so many cases of a suite fail which have passed.
const LARGEST_OF_SUITE: f64 = 0.0025;
/// Largest probability of two results of a case that are taken to be of different rates of passing.
const CHANCE_OF_CHANGE: f64 = 0.02;
/// Fewest passed trials that show that a case passes more often: one that seldom passes does so at some time.
const FEWEST_PASSED: u32 = 3;
/// Largest probability that one case comes out so, if its rate of passing is the one that makes it most likely.
const LARGEST_OF_CASE: f64 = 0.05;
/// How strongly the cases of a suite may resemble each other: a + b of the beta distribution of their rates.
pub const RESEMBLANCES: [f64; 12] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
/// Difference of the logarithms of two likelihoods up to which the data do not tell which one is right.
pub const AS_LIKELY: f64 = 2.0;
/// Difference of such logarithms that rounding makes.
const ROUNDING: f64 = 1e-6;
/// Rates of passing that are tried where one case is looked at.
const RATES: u32 = 100;

/// Trials that passed, and all that passed or failed.
pub type Counts = (u32, u32);

/// The parameters of the beta distribution that rates of passing have.
pub type Beta = [f64; 2];

/// A suite whose agent has not changed, as far as its baseline tells: how often its cases pass.
///
/// The rates of its cases are taken to be of one beta distribution; a case's own trials then tell where in it the case is (beta-binomial).
/// How much the rates resemble each other often cannot be told, and not at all from one trial per case: of all distributions that are
/// about as likely, the one counts that makes a bad result most probable.
#[derive(Debug, Clone, PartialEq)]
pub struct UnchangedSuite {
    /// The most likely distribution of the rates; of equally likely ones, that with the most alike rates.
    best: Beta,
    /// All that are about as likely.
    plausible: Vec<Beta>,
    /// Number of cases that have passed, and whose tests can therefore say that they do not any more.
    at_risk: u32,
}

impl UnchangedSuite {
    /// The suite with these accepted results.
    pub fn new(lines: &[BaselineCase]) -> Self {
        let found = likelihoods(lines);
        let best = found.iter().map(|(_, likelihood)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
        let within = |difference: f64| {
            let near = found.iter().filter(move |(_, likelihood)| *likelihood >= best - difference);
            near.map(|(beta, _)| *beta)
        };
        let at_risk = lines.iter().filter(|line| line.passed > 0).count();
        let at_risk = u32::try_from(at_risk).unwrap_or(u32::MAX);
        let [first, ..] = found;
        Self { best: within(ROUNDING).next_back().unwrap_or(first.0), plausible: within(AS_LIKELY).collect(), at_risk }
    }

    /// The most likely distribution of the rates of its cases.
    pub fn rates(&self) -> Beta {
        self.best
    }

    /// Expected number of cases that come out as badly as this one in a run in which nothing has changed; a probability where it is small.
    pub fn chance(&self, accepted: Counts, run: Counts) -> f64 {
        let of = |beta: &Beta| at_most(posterior(*beta, accepted), run);
        f64::from(self.at_risk.max(1)) * self.plausible.iter().map(of).fold(0.0, f64::max)
    }

    /// Whether a case is worse than in its baseline: its result is improbable among all cases of the suite, and by itself.
    pub fn is_worse(&self, accepted: Counts, run: Counts) -> bool {
        self.chance(accepted, run) <= LARGEST_CHANCE && chance_of_fall(accepted, run) <= LARGEST_OF_CASE
    }

    /// Whether a case passes less often than before, as its test says or by its own trials.
    pub fn has_fallen(&self, before: Counts, now: Counts) -> bool {
        self.is_worse(before, now) || chance_of_fall(before, now) <= CHANCE_OF_CHANGE
    }

    /// Number of cases that have passed and fail now which chance does not explain any more, however few trials each of them has: the suite is
    /// worse than its baseline, though of no single case can it be told. `lines`: those of the suite, each with how a run decides its case.
    ///
    /// The probability of as many is bounded by Hoeffding's inequality (1963, theorem 1), which needs only the mean of the cases' own
    /// probabilities to fail.
    pub fn too_many_failures<'l>(&self, lines: impl IntoIterator<Item = (&'l BaselineCase, CaseDesign)>) -> u32 {
        // By what says how often they fail.
        let mut at_risk: BTreeMap<(Counts, u32, bool), (CaseDesign, u32)> = BTreeMap::new();
        for (line, design) in lines.into_iter().filter(|(line, _)| line.passed > 0) {
            let key = ((line.passed, line.trials), design.planned, design.rule == Rule::Any);
            at_risk.entry(key).or_insert((design, 0)).1 += 1;
        }
        let cases = at_risk.values().map(|(_, count)| count).sum();
        let expected = |beta: &Beta| -> f64 {
            let of = |((accepted, ..), (design, count)): (&(Counts, u32, bool), &(CaseDesign, u32))| {
                f64::from(*count) * design.fails(posterior(*beta, *accepted))
            };
            at_risk.iter().map(of).sum()
        };
        let expected = self.plausible.iter().map(expected).fold(0.0, f64::max);
        let is_improbable = |failed: &u32| {
            f64::from(*failed) > expected && tail(f64::from(*failed), f64::from(cases), expected) <= LARGEST_OF_SUITE
        };
        (1..=cases).find(is_improbable).unwrap_or(u32::MAX)
    }

    /// With how many failed trials a case is worse than in its baseline, at least `failed` and at most `most`; `None` if more are needed.
    pub fn failures_needed(&self, accepted: Counts, failed: u32, most: u32) -> Option<u32> {
        (failed.max(1)..=most).find(|trials| self.is_worse(accepted, (0, *trials)))
    }
}

/// The distributions of rates that are tried for a suite, each with the logarithm of its likelihood, up to a constant.
fn likelihoods(lines: &[BaselineCase]) -> [(Beta, f64); RESEMBLANCES.len()] {
    let alike = alike(lines);
    let sum = |of: fn(&BaselineCase) -> u32| lines.iter().map(|line| f64::from(of(line))).sum::<f64>();
    let mean = (sum(|line| line.passed) + 0.5) / (sum(|line| line.trials) + 1.0);
    let of = |resemblance: f64| {
        let beta = [mean * resemblance, (1.0 - mean) * resemblance];
        let lines = alike.iter().map(|(counts, lines)| f64::from(*lines) * log_likelihood(beta, *counts));
        (beta, lines.sum())
    };
    RESEMBLANCES.map(of)
}

/// Number of cases by their trials.
pub fn alike<'a>(lines: impl IntoIterator<Item = &'a BaselineCase>) -> BTreeMap<Counts, u32> {
    let mut alike = BTreeMap::new();
    lines.into_iter().for_each(|line| *alike.entry((line.passed, line.trials)).or_default() += 1);
    alike
}

/// Hoeffding's bound of the probability that so many of so many cases fail, if so many are expected to.
fn tail(failed: f64, cases: f64, expected: f64) -> f64 {
    let part = |share: f64, expected: f64| if share > 0.0 { share * (share / expected).ln() } else { 0.0 };
    let (share, expected) = (failed / cases, expected / cases);
    f64::exp(-cases * (part(share, expected) + part(1.0 - share, 1.0 - expected)))
}

/// The distribution of the rate of a case with these trials.
pub fn posterior([a, b]: Beta, (passed, trials): Counts) -> Beta {
    [a + f64::from(passed), b + f64::from(trials.saturating_sub(passed))]
}

/// Logarithm of the probability of trials in their order, where the rate has this distribution.
pub fn log_likelihood([a, b]: Beta, (passed, trials): Counts) -> f64 {
    log_rising(a, passed) + log_rising(b, trials.saturating_sub(passed)) - log_rising(a + b, trials)
}

/// Logarithm of start · (start + 1) · … of so many factors.
fn log_rising(start: f64, count: u32) -> f64 {
    (0..count).map(|index| (start + f64::from(index)).ln()).sum()
}

/// Probability that at most so many of so many trials pass, where the rate has this distribution.
fn at_most(beta: Beta, (passed, trials): Counts) -> f64 {
    let mut ways = 0.0;
    let mut sum = 0.0;
    for count in 0..=passed.min(trials) {
        if count > 0 {
            ways += (f64::from(trials - count + 1) / f64::from(count)).ln();
        }
        sum += f64::exp(ways + log_likelihood(beta, (count, trials)));
    }
    f64::min(sum, 1.0)
}

/// Probability of results at least as good as the first and at least as bad as the second one, for the rate that makes it largest.
fn chance_of_fall(good: Counts, bad: Counts) -> f64 {
    let of = |step: u32| {
        let rate = f64::from(step) / f64::from(RATES);
        binomial_at_least(good.0, good.1, rate) * binomial_at_most(bad.0, bad.1, rate)
    };
    (1..RATES).map(of).fold(0.0, f64::max)
}

/// Whether a case passes more often than before.
pub fn has_risen(before: Counts, now: Counts) -> bool {
    now.0 >= FEWEST_PASSED && chance_of_fall(now, before) <= CHANCE_OF_CHANGE
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::trial_statistics::binomial;

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_a_baseline_is_an_error_and_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let record = CaseRecord::new();
        let errors = [
            result_of(&pipe, &record, || Ok(Chance::None), |_| None).unwrap_err(),
            answer_in(&pipe, &record).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().ends_with(": it is a named pipe, not a regular file"), "{error}");
        }
    }

    #[test]
    fn what_a_case_was_says_what_to_make_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = baseline_file(directory.path(), &SuiteId::new("shop"));
        assert!(file.starts_with(directory.path().join(".evalsuite/baselines")), "{}", file.display());
        let of = |outcome, trials: u32, input: &str| {
            let mut record = CaseRecord::new();
            (record.case_id, record.target, record.outcome) = ("a".into(), "default".into(), outcome);
            (record.input_digest, record.grader_digest) = (input.into(), "g".into());
            record.completed = trials;
            result_of(&file, &record, || Ok(Chance::WithFailures(1)), |_| None)
                .map(|found| found.map(|found| found.expectation))
                .map_err(|error| error.to_string())
        };
        assert_eq!(of(Status::Failed, 1, "i"), Ok(None), "there is no file");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let write = |passed: u32, trials: u32| {
            let line = format!(
                "{{\"schema\":\"evalsuite.baseline/1\",\"suite\":\"shop\",\"commit\":null,\"date\":\"\",\"version\":\"\"}}\n{{\"case\":\"a\",\"target\":\"default\",\"passed\":{passed},\"trials\":{trials},\"score\":0.5,\"input\":\"i\",\"graders\":\"g\"}}\n"
            );
            fs::write(&file, line).unwrap();
        };
        let expected = [
            ((0, 3), Expectation::NewPass, [Expectation::ExpectedFailure, Expectation::ExpectedFailure]),
            ((5, 9), Expectation::ExpectedPass, [Expectation::Quarantined, Expectation::Regression]),
            ((3, 3), Expectation::ExpectedPass, [Expectation::Unconfirmed, Expectation::Regression]),
        ];
        for ((passed, trials), if_it_passes, if_it_fails) in expected {
            write(passed, trials);
            assert_eq!(of(Status::Passed, 1, "i"), Ok(Some(if_it_passes)), "{passed}");
            let found = [1, 20].map(|failed| of(Status::Failed, failed, "i"));
            assert_eq!(found, if_it_fails.map(|expectation| Ok(Some(expectation))), "{passed}");
            assert_eq!(of(Status::Failed, 1, "other"), Ok(Some(Expectation::Redefined)), "{passed}");
        }
        write(4, 3);
        let error = of(Status::Passed, 1, "i").unwrap_err();
        assert!(error.ends_with("is invalid: line 2: 4 of 3 trials passed, which is not a result"), "{error}");
    }

    /// A case whose mean was too low in every accepted run was called flaky, because some of its trials had passed.
    #[test]
    fn a_run_of_a_case_that_is_decided_as_a_whole_counts_once() {
        let of = |rule, correlated, outcome, passed, completed| {
            let mut record = CaseRecord::new();
            (record.rule, record.correlated, record.outcome) = (rule, correlated, outcome);
            (record.passed, record.completed, record.planned) = (passed, completed, completed);
            (counts(&record), CaseDesign::of(&record).planned)
        };
        for rule in [Rule::Mean, Rule::ConfidenceInterval] {
            assert_eq!(of(rule, false, Status::Failed, 2, 3), ((0, 1), 1));
            assert_eq!(of(rule, false, Status::Passed, 2, 3), ((1, 1), 1));
            assert_eq!(of(rule, false, Status::Error, 0, 0).0, (0, 0));
        }
        assert_eq!(of(Rule::Any, true, Status::Passed, 1, 3), ((1, 1), 1));
        assert_eq!(of(Rule::Any, false, Status::Passed, 1, 3), ((1, 3), 3));
        assert_eq!(of(Rule::Every, false, Status::Failed, 2, 3), ((2, 3), 3));
    }

    #[test]
    fn a_tenth_of_the_trials_repeats_cases_that_have_not_changed() {
        let mut repeated = RepeatedCases::default();
        assert_eq!(repeated.allowed(10, 300), 10);
        repeated.add(29, false);
        assert_eq!((repeated.allowed(30, 300), repeated.allowed(30, 100)), (30, 0));
        repeated.add(1, false);
        assert_eq!(repeated.allowed(10, 300), 0, "30 of 300");
        assert_eq!(RepeatedCases::default().allowed(0, 300), 0);
    }

    #[test]
    fn a_case_is_repeated_until_its_trials_tell() {
        let mut line = crate::record::BaselineCase::default();
        (line.passed, line.trials) = (1, 1);
        let suite = || Some(UnchangedSuite::new(&vec![line.clone(); 30]));
        let of = |outcome, ran, accepted, most| {
            Repetition::of(outcome, ran, accepted, suite, most).map(|found| (found.until, found.trials))
        };
        use Status::{Failed, Passed};
        assert_eq!(of(Failed, (0, 1), (1, 1), 30), Some((Passed, 6)));
        assert_eq!(of(Failed, (0, 1), (1, 1), 5), None, "five cannot tell");
        assert_eq!(of(Failed, (0, 7), (1, 1), 30), None, "seven have told");
        assert_eq!(of(Failed, (0, 1), (0, 3), 30), None, "as before");
        assert_eq!(of(Failed, (1, 3), (3, 3), 30), None, "some passed");
        assert_eq!(of(Passed, (1, 1), (0, 3), 30), Some((Failed, 2)));
        assert_eq!(of(Passed, (1, 1), (0, 40), 30), Some((Failed, 2)), "three passes tell, and one does not");
        assert_eq!(of(Passed, (1, 1), (0, 1), 30), None, "as many as before");
        assert_eq!(of(Passed, (1, 1), (3, 5), 30), None);
    }

    #[test]
    fn no_case_is_repeated_in_a_suite_that_has_changed() {
        let mut repeated = RepeatedCases::default();
        repeated.add(10, true);
        repeated.add(10, true);
        assert_eq!(repeated.allowed(10, 20), 10, "confirmed failures take nothing of the tenth");
        repeated.add(10, true);
        assert_eq!(repeated.allowed(10, 20), 0);
    }

    fn suite(of: &[(usize, u32, u32)]) -> UnchangedSuite {
        UnchangedSuite::new(&lines(of))
    }

    fn lines(of: &[(usize, u32, u32)]) -> Vec<BaselineCase> {
        let line = |(passed, trials): (u32, u32)| {
            let mut line = BaselineCase::default();
            (line.passed, line.trials) = (passed, trials);
            line
        };
        of.iter().flat_map(|(count, passed, trials)| vec![line((*passed, *trials)); *count]).collect()
    }

    /// Failures that are too many in a suite, each of whose cases has one of these numbers of trials in turn.
    fn too_many(of: &[(usize, u32, u32)], trials: &[u32], rule: Rule) -> u32 {
        let lines = lines(of);
        let designs = trials.iter().map(|trials| CaseDesign::new(*trials, rule, false)).cycle();
        UnchangedSuite::new(&lines).too_many_failures(lines.iter().zip(designs))
    }

    /// Failed trials that it takes, at most 30.
    fn needed(of: &[(usize, u32, u32)], accepted: Counts) -> Option<u32> {
        suite(of).failures_needed(accepted, 1, 30)
    }

    #[test]
    fn the_more_trials_a_baseline_has_the_fewer_failures_tell() {
        assert_eq!(needed(&[(30, 3, 3)], (3, 3)), Some(2), "three failed trials need no repetition");
        assert_eq!(needed(&[(30, 2, 2)], (2, 2)), Some(3));
        assert_eq!(needed(&[(30, 1, 1)], (1, 1)), Some(7));
        assert_eq!(needed(&[(1, 1, 1)], (1, 1)), Some(7), "a case by itself");
        let one_trial = needed(&[(27, 1, 1), (3, 0, 1)], (1, 1));
        let three_trials = needed(&[(22, 3, 3), (7, 2, 3), (1, 1, 3)], (3, 3));
        assert!(
            one_trial > three_trials && three_trials.is_some_and(|trials| trials <= 6),
            "{one_trial:?} {three_trials:?}"
        );
    }

    #[test]
    fn where_any_rate_is_possible_one_passed_trial_says_too_little() {
        assert_eq!(needed(&[(15, 1, 1), (15, 0, 1)], (1, 1)), None);
        let seldom = suite(&[(29, 3, 3), (1, 1, 30)]);
        assert!(!seldom.is_worse((1, 30), (0, 20)), "it passes once in thirty trials");
        assert!(seldom.is_worse((3, 3), (0, 20)));
    }

    /// How often an unchanged agent is red, if each case has so many accepted trials, and a run has so many, at most: `stable` cases always pass, and
    /// `unstable` ones with the rate. All baselines are enumerated.
    fn red([accepted, planned]: [u32; 2], stable: usize, unstable: usize, rate: f64) -> f64 {
        let of_passed: Vec<f64> = binomial(accepted, rate).collect();
        // Numbers of unstable cases by their passed trials, and the probability of these numbers.
        let mut baselines = vec![(Vec::new(), unstable, 1.0)];
        for (passed, chance) in of_passed.iter().enumerate() {
            let is_last = passed == of_passed.len() - 1;
            let with = |(counts, left, probability): (Vec<usize>, usize, f64)| {
                let numbers = if is_last { left..=left } else { 0..=left };
                numbers.map(move |count| {
                    let ways: f64 = (0..count).map(|it| (left - it) as f64 / (it + 1) as f64).product();
                    let probability = probability * ways * chance.powi(count as i32);
                    ([counts.as_slice(), &[count]].concat(), left - count, probability)
                })
            };
            baselines = baselines.into_iter().flat_map(with).collect();
        }
        let red = |(counts, _, probability): &(Vec<usize>, usize, f64)| {
            let with_passed = || (0..).zip(counts).filter(|(_, count)| **count > 0);
            let unstable = with_passed().map(|(passed, count)| (*count, passed, accepted));
            let suite = suite(&unstable.chain([(stable, accepted, accepted)]).collect::<Vec<_>>());
            let green = with_passed().filter(|(passed, _)| *passed > 0).map(|(passed, count)| {
                let needed = suite.failures_needed((passed, accepted), planned, planned + 30);
                (1.0 - needed.map_or(0.0, |needed| (1.0 - rate).powi(needed as i32))).powi(*count as i32)
            });
            probability * (1.0 - green.product::<f64>())
        };
        baselines.iter().map(red).sum()
    }

    /// The guide to baselines has these numbers, for the worst of many more suites.
    #[test]
    fn an_unchanged_agent_is_seldom_red_and_the_less_the_more_trials_were_accepted() {
        let designs = [
            (1, [(4, 1, 0.125), (29, 1, 0.1), (25, 5, 0.05)], 0.065),
            (2, [(9, 1, 0.4), (25, 5, 0.25), (95, 5, 0.2)], 0.065),
            (3, [(29, 1, 0.6), (25, 5, 0.4), (97, 3, 0.5)], 0.04),
            (5, [(19, 1, 0.6), (19, 3, 0.6), (97, 3, 0.5)], 0.025),
        ];
        for (accepted, suites, most) in designs {
            for (planned, (stable, unstable, rate)) in
                [1, accepted].into_iter().flat_map(|it| suites.map(|suite| (it, suite)))
            {
                let found = red([accepted, planned], stable, unstable, rate);
                assert!(found <= most, "{unstable} at {rate} and {stable} stable, {accepted} accepted trials: {found}");
            }
        }
        let once = red([1, 1], 4, 1, 0.125);
        assert!(once > 0.04, "one accepted trial is too little: {once}");
    }

    #[test]
    fn a_suite_that_is_broken_is_seen_where_no_case_is() {
        let noisy = suite(&[(15, 1, 1), (15, 0, 1)]);
        assert_eq!(noisy.failures_needed((1, 1), 1, 30), None);
        let of_fifteen = too_many(&[(15, 1, 1), (15, 0, 1)], &[1], Rule::Any);
        assert!((11..=14).contains(&of_fifteen), "of fifteen, half may fail by chance: {of_fifteen}");
        assert_eq!(too_many(&[(9, 1, 1)], &[1], Rule::Any), 4);
        assert!(too_many(&[(9, 1, 1)], &[3], Rule::Every) > 4);
        assert_eq!(too_many(&[(1, 1, 1)], &[1], Rule::Any), u32::MAX, "one case says nothing");
        assert!((tail(15.0, 15.0, 7.5) - 0.5_f64.powi(15)).abs() < 1e-9);
    }

    /// All cases were taken to have as many trials as the one that was looked at.
    #[test]
    fn how_many_failures_are_too_many_follows_from_the_trials_of_each_case() {
        let noisy = &[(30, 1, 2)];
        let of = |trials: &[u32]| too_many(noisy, trials, Rule::Any);
        let [few, mixed, many] = [of(&[1]), of(&[1, 10]), of(&[10])];
        assert!(many < mixed && mixed < few, "{few} {mixed} {many}");
        assert_eq!(of(&[1, 10]), of(&[10, 1]), "whichever case comes first");
    }

    #[test]
    fn trials_that_passed_count_too() {
        let stable = suite(&[(30, 10, 10)]);
        assert!(stable.is_worse((10, 10), (1, 6)) && !stable.is_worse((10, 10), (3, 4)));
        assert!(stable.chance((10, 10), (4, 4)) > 1.0, "every case passes all trials");
    }

    #[test]
    fn probabilities_are_those_of_the_distributions() {
        // Uniform rates: every number of passed trials is as likely.
        for passed in 0..=4 {
            assert!((at_most([1.0, 1.0], (passed, 4)) - f64::from(passed + 1) / 5.0).abs() < 1e-12);
        }
        assert!(chance_of_fall((1_000, 2_000), (990, 2_000)) > 0.1, "thousands of trials do not vanish");
        // r³·(1 − r)³ is at most 1/64.
        assert!((chance_of_fall((3, 3), (0, 3)) - 1.0 / 64.0).abs() < 1e-12);
        assert_eq!(posterior([1.0, 2.0], (3, 4)), [4.0, 3.0]);
    }
}
