//! The index of a report: cases and trials in columns, from which the page makes its table without opening any chunk.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::{
    CalibrationRecord, CaseRecord, CiRun, GitState, GraderState, Stability, Status, TrialRecord, TrialSummary, Usage,
    Verdict,
};
use evalsuite_records::statistics::bounded_interval;
use evalsuite_schema::{Kind, Object};
use serde::Serialize;

use super::chunks::ChunkPlace;
use super::past_runs::{PastRun, Totals, totals};
use crate::judged_rates::{JudgedRate, judged_rates};
use crate::run_data::{Problem, RunData};

/// The longest reason in the index, in characters; the page of a case has all of it.
const REASON: usize = 240;

/// All that the page needs before a case is opened.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Index {
    /// Version of this format.
    version: u32,
    evalsuite: &'static str,
    run: RunInfo,
    in_use: bool,
    suites: Vec<SuiteInfo>,
    judged_rates: Vec<JudgedRate>,
    totals: Vec<Totals>,
    names: Vec<String>,
    /// Lists of grader names that cases have, as indices into `names`.
    grader_lists: Vec<Vec<usize>>,
    cases: CaseColumns,
    trials: TrialColumns,
    past: Vec<PastRun>,
    /// Index into `past` of the run that is compared with first.
    base: Option<usize>,
    problems: Vec<ProblemInfo>,
}

/// Identity of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunInfo {
    id: String,
    started_at: Option<String>,
    package: Option<String>,
    version: Option<String>,
    git: Option<GitState>,
    ci: Option<CiRun>,
    env: BTreeMap<String, Option<String>>,
    /// Number of runs it was merged from.
    shards: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SuiteInfo {
    name: String,
    kind: Option<Kind>,
    /// Number of its tests, run or not.
    tests: Option<usize>,
    diagnostics: Vec<String>,
    calibration: Option<JudgeQuality>,
}

/// How well the judges of a suite agree with people.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JudgeQuality {
    judges: Vec<String>,
    models: Vec<String>,
    samples: u32,
    valid: u32,
    agreement: Option<f64>,
    kappa: Option<f64>,
    spearman: Option<f64>,
    bias: Option<f64>,
    shortfalls: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ProblemInfo {
    file: String,
    message: String,
}

/// One entry per case and target. Numbers named after texts are indices into `names`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CaseColumns {
    id: Vec<String>,
    test: Vec<String>,
    suite: Vec<usize>,
    target: Vec<usize>,
    agent: Vec<usize>,
    file: Vec<usize>,
    line: Vec<u32>,
    /// `p`, `f`, `e` or `s`.
    outcome: String,
    /// `p` or `f` if all trials agree, `~` if they do not, `-` if that is not known.
    stability: String,
    score: Vec<Option<f64>>,
    threshold: Vec<f64>,
    passed: Vec<u32>,
    completed: Vec<u32>,
    planned: Vec<u32>,
    /// Bounds of the 95 % confidence interval of the mean score.
    interval: Vec<Option<[f64; 2]>>,
    rule: Vec<usize>,
    /// Code of the reason, empty for none.
    code: Vec<usize>,
    /// The first characters of the reason.
    reason: Vec<String>,
    /// Line of the grader or place that the reason names: file, line.
    reason_at: Vec<Option<(usize, u32)>>,
    tags: Vec<Vec<usize>>,
    metadata: Vec<Object>,
    /// Index into `graderLists`.
    graders: Vec<usize>,
    runner_attempt: Vec<u32>,
    /// The first of its trials.
    first_trial: Vec<usize>,
    uncounted: Vec<Option<UncountedTrials>>,
    /// Graders that failed in trials that passed.
    failed_graders: Vec<Vec<usize>>,
    /// Number of different answers of its trials.
    answers: Vec<usize>,
    /// Chunk, and place in it.
    details: Vec<Option<ChunkPlace>>,
}

/// Trials of a case that do not count, and what they cost in US dollars.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UncountedTrials {
    /// Those that ran at the same time as the one that ended the case.
    surplus: usize,
    /// Of those that repeated the case, how many passed, and all.
    confirming: [usize; 2],
    cost: f64,
    judge_cost: f64,
}

/// One entry per trial, in the order of cases.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct TrialColumns {
    index: Vec<u32>,
    outcome: String,
    score: Vec<Option<f64>>,
    ms: Vec<Option<u64>>,
    cost: Vec<Option<f64>>,
    judge_cost: Vec<Option<f64>>,
    /// Input, output, cached and reasoning tokens of the agent.
    tokens: Vec<Option<[u64; 4]>>,
    judge_tokens: Vec<Option<[u64; 4]>>,
    model: Vec<usize>,
    /// Values of the graders, in the order of the case's list.
    values: Vec<Vec<Option<f64>>>,
    /// `p`, `f`, `u` (undecided) or `e` per grader.
    verdicts: Vec<String>,
}

impl Index {
    /// `places` has one entry per case.
    pub(super) fn new(
        run: &RunData,
        past: &[&RunData],
        base: Option<&RunData>,
        places: Vec<Option<ChunkPlace>>,
        problems: &[Problem],
    ) -> Self {
        let mut names = Names::default();
        let mut grader_lists: Vec<Vec<usize>> = Vec::new();
        let mut cases = CaseColumns { details: places, ..CaseColumns::default() };
        let mut trials = TrialColumns::default();
        for case in run.suites.iter().flat_map(|suite| &suite.cases) {
            let records: Vec<&TrialRecord> = case.trials.iter().map(|trial| &trial.record).collect();
            let list = grader_names(&records).into_iter().map(|name| names.index(name)).collect::<Vec<_>>();
            let graders = grader_lists.iter().position(|known| *known == list).unwrap_or(grader_lists.len());
            if graders == grader_lists.len() {
                grader_lists.push(list);
            }
            cases.graders.push(graders);
            cases.first_trial.push(trials.index.len());
            cases.add(&case.record, &records, &mut names);
            let list: Vec<&str> = grader_names(&records);
            records.iter().for_each(|record| trials.add(record, &list, &mut names));
        }
        let records: Vec<&CaseRecord> =
            run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record).collect();
        Self {
            version: 1,
            evalsuite: env!("CARGO_PKG_VERSION"),
            run: RunInfo::new(run),
            in_use: run.in_use,
            suites: run.suites.iter().map(suite_info).collect(),
            judged_rates: judged_rates(run),
            totals: totals(run),
            base: base.and_then(|base| past.iter().position(|past| past.run_id == base.run_id)),
            past: past.iter().map(|past| PastRun::new(past, run, &records)).collect(),
            names: names.texts,
            grader_lists,
            cases,
            trials,
            problems: problems
                .iter()
                .map(|problem| ProblemInfo { file: problem.file.clone(), message: problem.message.clone() })
                .collect(),
        }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("the index is JSON with text keys")
    }
}

impl RunInfo {
    pub(super) fn new(run: &RunData) -> Self {
        let record = run.record.clone().unwrap_or_default();
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let packages = several_packages(run);
        // The version of the first package says nothing of the others.
        let version = if packages.is_some() { String::new() } else { record.package_version };
        Self {
            id: run.run_id.clone(),
            started_at: some(record.started_at),
            package: some(packages.unwrap_or(record.package)),
            version: some(version),
            git: record.git,
            ci: record.ci,
            env: record.env,
            shards: record.shards.len(),
        }
    }
}

/// The packages of a run's suites, if there are several.
fn several_packages(run: &RunData) -> Option<String> {
    let packages = run.suites.iter().map(|suite| suite.id.package.as_str()).filter(|package| !package.is_empty());
    let packages: Vec<&str> = packages.collect::<BTreeSet<_>>().into_iter().collect();
    match packages.as_slice() {
        [] | [_] => None,
        [first, second] => Some(format!("{first}, {second}")),
        [first, second, others @ ..] => Some(format!("{first}, {second} and {} more", others.len())),
    }
}

/// The interval of a case's mean score. Where all trials agree, the recorded one has no width, and says more than they show.
fn interval(record: &CaseRecord) -> Option<(f64, f64)> {
    let recorded = record.ci95_lower.zip(record.ci95_upper)?;
    if recorded.0 < recorded.1 {
        return Some(recorded);
    }
    let scores: Vec<f64> = record.trials.iter().filter_map(|trial| trial.score).collect();
    bounded_interval(&scores, None, [0.0, 1.0])
}

impl CaseColumns {
    fn add(&mut self, record: &CaseRecord, trials: &[&TrialRecord], names: &mut Names) {
        let first = trials.first();
        self.id.push(record.case_id.clone());
        self.test.push(record.test_name.clone());
        self.suite.push(names.index(&record.suite));
        self.target.push(names.index(&record.target));
        self.agent.push(names.index(&record.agent));
        self.file.push(names.index(&record.location.file));
        self.line.push(record.location.line);
        self.outcome.push(outcome_code(record.outcome));
        self.stability.push(match record.stability {
            Some(Stability::StablePass) => 'p',
            Some(Stability::StableFail) => 'f',
            Some(Stability::Flaky) => '~',
            None => '-',
        });
        self.score.push(record.score);
        self.threshold.push(record.threshold);
        self.passed.push(record.passed);
        self.completed.push(record.completed);
        self.planned.push(record.planned);
        self.interval.push(interval(record).map(|(lower, upper)| [lower, upper]));
        let rule = evalsuite_schema::json::to_value(record.rule).ok();
        self.rule.push(names.index(rule.as_ref().and_then(|rule| rule.as_str()).unwrap_or_default()));
        self.code.push(names.index(record.reason.as_ref().map_or("", |reason| reason.code.as_str())));
        let message = record.reason.as_ref().map_or("", |reason| reason.message.as_str());
        self.reason.push(message.chars().take(REASON).collect());
        let at = record.reason.as_ref().and_then(|reason| reason.location.as_ref());
        self.reason_at.push(at.map(|at| (names.index(&at.file), at.line)));
        self.tags.push(first.map(|trial| trial.tags.iter().map(|tag| names.index(tag)).collect()).unwrap_or_default());
        self.metadata.push(first.map(|trial| trial.metadata.clone()).unwrap_or_default());
        self.runner_attempt.push(record.runner_attempt);
        let cost = |of: fn(&TrialSummary) -> Option<f64>| record.uncounted_trials().filter_map(of).sum::<f64>();
        let (surplus, confirming) = (record.surplus.len(), record.confirming.len());
        let passed = record.confirming.iter().filter(|trial| trial.outcome == Status::Passed).count();
        self.uncounted.push((surplus + confirming > 0).then(|| UncountedTrials {
            surplus,
            confirming: [passed, confirming],
            cost: cost(|trial| trial.cost_usd),
            judge_cost: cost(|trial| trial.judge_cost_usd),
        }));
        self.failed_graders.push(record.failed_graders.iter().map(|name| names.index(name)).collect());
        let mut answers: Vec<&Option<String>> = trials.iter().map(|trial| &trial.answer).collect();
        answers.sort();
        answers.dedup();
        self.answers.push(answers.len());
    }
}

impl TrialColumns {
    fn add(&mut self, record: &TrialRecord, graders: &[&str], names: &mut Names) {
        self.index.push(record.trial);
        self.outcome.push(outcome_code(record.outcome));
        self.score.push(record.score);
        self.ms.push(record.duration_ms);
        self.cost.push(record.cost_usd);
        self.judge_cost.push(record.judge_cost_usd);
        self.tokens.push(record.usage.map(tokens));
        self.judge_tokens.push(record.judge_usage.map(tokens));
        self.model.push(names.index(record.model.as_deref().unwrap_or_default()));
        let of = |name: &&str| record.graders.iter().find(|grader| grader.name == **name);
        self.values.push(graders.iter().map(|name| of(name).and_then(|grader| grader.value)).collect());
        let verdict = |name: &&str| match of(name).map(|grader| (grader.state, grader.verdict)) {
            Some((GraderState::Decided, Some(Verdict::Pass))) => 'p',
            Some((GraderState::Decided, _)) => 'f',
            Some((GraderState::Undecided, _)) => 'u',
            Some((GraderState::Error, _)) => 'e',
            None => '-',
        };
        self.verdicts.push(graders.iter().map(verdict).collect());
    }
}

/// Names of the graders of a case's trials, in the order in which they first occur.
fn grader_names<'a>(trials: &[&'a TrialRecord]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for grader in trials.iter().flat_map(|trial| &trial.graders) {
        if !names.contains(&grader.name.as_str()) {
            names.push(&grader.name);
        }
    }
    names
}

fn suite_info(suite: &crate::SuiteData) -> SuiteInfo {
    let record = suite.record.as_ref();
    SuiteInfo {
        name: suite.name.clone(),
        kind: record.map(|record| record.kind),
        tests: record.map(|record| record.tests.len()),
        diagnostics: record.into_iter().flat_map(|it| &it.diagnostics).map(|it| it.message.clone()).collect(),
        calibration: suite.calibration.as_ref().map(judge_quality),
    }
}

fn judge_quality(record: &CalibrationRecord) -> JudgeQuality {
    let statistics = record.statistics;
    let shortfall = |it: &evalsuite_records::record::Shortfall| match it.measured {
        Some(measured) => format!("{} is {measured:.2}, required is {}", it.measure, it.demanded),
        None => format!("{} could not be measured, required is {}", it.measure, it.demanded),
    };
    JudgeQuality {
        judges: record.judges.clone(),
        models: record.models.clone(),
        samples: record.counts.samples,
        valid: record.counts.valid,
        agreement: statistics.map(|it| it.agreement),
        kappa: statistics.map(|it| it.kappa),
        spearman: statistics.map(|it| it.spearman),
        bias: statistics.map(|it| it.bias),
        shortfalls: record.shortfalls.iter().map(shortfall).collect(),
    }
}

fn tokens(usage: Usage) -> [u64; 4] {
    [usage.input, usage.output, usage.cached, usage.reasoning]
}

/// The letter of an outcome in the index.
pub(super) fn outcome_code(outcome: Status) -> char {
    match outcome {
        Status::Passed => 'p',
        Status::Failed => 'f',
        Status::Error => 'e',
        Status::Skipped => 's',
    }
}

/// Texts that many cases share.
#[derive(Debug, Default)]
struct Names {
    texts: Vec<String>,
    indices: BTreeMap<String, usize>,
}

impl Names {
    fn index(&mut self, text: &str) -> usize {
        if let Some(index) = self.indices.get(text) {
            return *index;
        }
        self.texts.push(text.to_owned());
        self.indices.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::RunRecord;

    use super::*;
    use crate::run_data::SuiteData;

    #[test]
    fn a_run_of_several_packages_is_named_after_them() {
        let named = |packages: &[&str]| {
            let mut run = RunData { record: Some(RunRecord::new()), ..RunData::default() };
            let record = run.record.as_mut().expect("a record");
            (record.package, record.package_version) = ("a".to_owned(), "0.1.0".to_owned());
            run.suites.extend(packages.iter().map(|package| {
                let mut suite = SuiteData::default();
                suite.id.package = (*package).to_owned();
                suite
            }));
            let RunInfo { package, version, .. } = RunInfo::new(&run);
            [package, version].map(Option::unwrap_or_default).join(" ")
        };
        assert_eq!(named(&[]), "a 0.1.0");
        assert_eq!(named(&["a", "a"]), "a 0.1.0");
        assert_eq!(named(&["a", "b"]), "a, b ");
        assert_eq!(named(&["d", "c", "b", "a"]), "a, b and 2 more ");
    }
}
