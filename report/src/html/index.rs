//! The index of a report: cases and trials in columns, from which the page makes its table without opening any chunk.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::{
    CalibrationRecord, CaseRecord, GraderRecord, GraderState, ProbeRates, Shortfall, Stability, Status, TrialRecord,
    TrialSummary, UnknownParts, Usage, Verdict,
};
use evalsuite_records::trial_statistics::guaranteed_interval;
use evalsuite_schema::Object;
use evalsuite_schema::json::{Value, json};
use evalsuite_statistics::mean;

use super::HtmlReport;
use super::case_details::ChunkPlace;
use super::past_runs::{past_run, totals};
use super::{outcome_code, run_info};
use crate::comparison::FEWEST_PAIRS;
use crate::run_data::{Problem, RunData, SuiteData};
use crate::sequential::RunDecision;
use crate::suite_text::judged_rates;

/// The longest reason in the index, in characters; the page of a case has all of it.
const REASON: usize = 240;

impl HtmlReport {
    /// All that the page needs before a case is opened, as JSON. `places` has one entry per case.
    pub(super) fn index(&self, places: &[Option<ChunkPlace>], problems: &[Problem]) -> String {
        let (run, past, base) = (&self.run, self.runs_before(), self.base());
        let mut names = Names::default();
        let mut grader_lists: Vec<Vec<usize>> = Vec::new();
        // Also without rows, all columns are there.
        let mut cases = Columns::new(&case_row(&CaseRecord::new(), &[], &mut Names::default()));
        let mut trials = Columns::new(&trial_row(&TrialRecord::new(), &[], &mut Names::default()));
        let (mut lists_of_cases, mut first_trials) = (Vec::new(), Vec::new());
        let of_run = || run.suites.iter().flat_map(|suite| &suite.cases);
        for case in of_run() {
            let records: Vec<&TrialRecord> = case.trials.iter().map(|trial| &trial.record).collect();
            let graders = grader_names(&records);
            let list: Vec<usize> = graders.iter().map(|name| names.index(name)).collect();
            let known = grader_lists.iter().position(|known| *known == list).unwrap_or(grader_lists.len());
            if known == grader_lists.len() {
                grader_lists.push(list);
            }
            lists_of_cases.push(known);
            first_trials.push(trials.rows);
            cases.add(case_row(&case.record, &records, &mut names));
            records.iter().for_each(|record| trials.add(trial_row(record, &graders, &mut names)));
        }
        let records: Vec<&CaseRecord> = of_run().map(|case| &case.record).collect();
        let mut cases = cases.finish(&["outcome", "stability"]);
        // Index into `graderLists`; the first of its trials; chunk, and place in it.
        cases.insert("graders".to_owned(), json!(lists_of_cases));
        cases.insert("firstTrial".to_owned(), json!(first_trials));
        cases.insert("details".to_owned(), json!(places));
        let problem = |problem: &Problem| json!({ "file": problem.file, "message": problem.message });
        let mut index = json!({
            "version": 1,
            "evalsuite": env!("CARGO_PKG_VERSION"),
            "run": run_info(run),
            "inUse": run.in_use,
            "suites": run.suites.iter().map(suite_info).collect::<Vec<_>>(),
            "probe": probe(run),
            "judgedRates": judged_rates(run),
            "lifts": crate::lift::RunLifts::of(run).lifts,
            // Below this number of cases, a lift says nothing.
            "fewestPairs": FEWEST_PAIRS,
            "decision": RunDecision::of(run).map(|it| json!({ "verdict": it.verdict, "headline": it.headline(), "rerun": it.rerun() })),
            "totals": totals(run),
            // Index into `past` of the run that is compared with first.
            "base": base.and_then(|base| past.iter().position(|past| past.run_id == base.run_id)),
            "past": past.iter().map(|past| past_run(past, &self.compared_with(past), &records)).collect::<Vec<_>>(),
            "names": names.texts,
            // Lists of grader names that cases have, as indices into `names`.
            "graderLists": grader_lists,
            "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        });
        // Moved: `json!` would copy them.
        index["cases"] = Value::Object(cases);
        index["trials"] = Value::Object(trials.finish(&["outcome"]));
        index.to_string()
    }
}

/// Rows as columns: a list of values for each key.
struct Columns {
    columns: Vec<(String, Vec<Value>)>,
    rows: usize,
}

impl Columns {
    /// No rows, with the keys of this one.
    fn new(row: &Value) -> Self {
        let keys = row.as_object().into_iter().flat_map(|row| row.keys());
        Self { columns: keys.map(|key| (key.clone(), Vec::new())).collect(), rows: 0 }
    }

    /// Adds a row, which has the same keys in the same order as all others.
    fn add(&mut self, row: Value) {
        let Value::Object(row) = row else { return };
        self.columns.iter_mut().zip(row).for_each(|((_, column), (_, value))| column.push(value));
        self.rows += 1;
    }

    /// The columns; those of `letters` as one text each.
    fn finish(self, letters: &[&str]) -> Object {
        let column = |(key, values): (String, Vec<Value>)| {
            let column = match letters.contains(&key.as_str()) {
                true => values.iter().filter_map(Value::as_str).collect::<String>().into(),
                false => Value::Array(values),
            };
            (key, column)
        };
        self.columns.into_iter().map(column).collect()
    }
}

/// The interval of a case's mean score. Where all trials agree, the recorded one has no width, and says more than they show.
fn interval(record: &CaseRecord) -> Option<(f64, f64)> {
    let recorded = record.ci95_lower.zip(record.ci95_upper)?;
    if recorded.0 < recorded.1 {
        return Some(recorded);
    }
    let scores: Vec<f64> = record.trials.iter().filter_map(|trial| trial.score).collect();
    guaranteed_interval(&scores)
}

/// A case and target in the index. Numbers named after texts are indices into `names`.
fn case_row(record: &CaseRecord, trials: &[&TrialRecord], names: &mut Names) -> Value {
    let first = trials.first();
    let rule = evalsuite_schema::json::to_value(&record.rule).ok();
    let reason = record.reason.as_ref();
    let at = reason.and_then(|reason| reason.location.as_ref());
    let cost = |of: fn(&TrialSummary) -> Option<f64>| sum_of_known(record.uncounted_trials().filter_map(of));
    let (surplus, confirming) = (record.surplus.len(), record.confirming.len());
    let passed = record.confirming.iter().filter(|trial| trial.outcome == Status::Passed).count();
    let answers: BTreeSet<&Option<String>> = trials.iter().map(|trial| &trial.answer).collect();
    json!({
        "id": record.case_id,
        "test": record.test_name,
        "suite": names.index(&record.suite),
        "target": names.index(&record.target),
        "agent": names.index(&record.agent),
        "file": names.index(&record.location.file),
        "line": record.location.line,
        "outcome": outcome_code(record.outcome),
        // `p` or `f` if all trials agree, `~` if they do not, `-` if that is not known.
        "stability": match record.stability {
            Some(Stability::StablePass) => "p",
            Some(Stability::StableFail) => "f",
            Some(Stability::Flaky) => "~",
            None => "-",
        },
        "score": record.score,
        "threshold": record.threshold,
        "passed": record.passed,
        "completed": record.completed,
        "planned": record.planned,
        // Bounds of the 95 % confidence interval of the mean score.
        "interval": interval(record).map(|(lower, upper)| [lower, upper]),
        "rule": names.index(rule.as_ref().and_then(|rule| rule.as_str()).unwrap_or_default()),
        // Code of the reason, empty for none.
        "code": names.index(reason.map_or("", |reason| reason.code.as_str())),
        // The first characters of the reason.
        "reason": reason.map_or("", |reason| reason.message.as_str()).chars().take(REASON).collect::<String>(),
        // Line of the grader or place that the reason names: file, line.
        "reasonAt": at.map(|at| (names.index(&at.file), at.line)),
        "tags": first.map(|trial| trial.tags.iter().map(|tag| names.index(tag)).collect::<Vec<_>>()).unwrap_or_default(),
        "metadata": first.map(|trial| trial.metadata.clone()).unwrap_or_default(),
        "runnerAttempt": record.runner_attempt,
        // Trials that do not count: those that ran at the same time as the one that ended the case; of those that repeated it, how many
        // passed, and all; and what they and repeated attempts cost in US dollars.
        "uncounted": record.uncounted_trials().next().is_some().then(|| json!({
            "surplus": surplus,
            "confirming": [passed, confirming],
            "cost": cost(|trial| trial.cost_usd),
            "judgeCost": cost(|trial| trial.judge_cost_usd),
            "userCost": cost(|trial| trial.user_cost_usd),
        })),
        // Of how many trials and repeated attempts the cost of the agent, of judges, and of the simulated user is not known.
        "unknownCosts": UnknownParts::counts(&record.unknown_costs()),
        // Graders that failed in trials that passed.
        "failedGraders": record.failed_graders.iter().map(|name| names.index(name)).collect::<Vec<_>>(),
        // Number of different answers of its trials.
        "answers": answers.len(),
    })
}

/// A trial in the index, with the graders of its case.
fn trial_row(record: &TrialRecord, graders: &[&str], names: &mut Names) -> Value {
    // Several turns may have graders of one name: shown are the mean of their values, and the worst verdict.
    let of = |name: &str| record.all_graders().filter(|grader| grader.name == name).collect::<Vec<_>>();
    let code = |grader: &&GraderRecord| match (grader.state, grader.verdict) {
        (GraderState::Decided, Some(Verdict::Pass)) => 'p',
        (GraderState::Decided, _) => 'f',
        (GraderState::Undecided, _) => 'u',
        (GraderState::Error, _) => 'e',
    };
    let verdict = |name: &&str| of(name).iter().map(code).min_by_key(|code| "efup".find(*code)).unwrap_or('-');
    let value = |name: &&str| {
        let values: Vec<f64> = of(name).iter().filter_map(|grader| grader.value).collect();
        match &values[..] {
            [] => None,
            // As recorded: a mean is rounded.
            [value] => Some(*value),
            values => Some(mean(values)),
        }
    };
    json!({
        "index": record.trial,
        "outcome": outcome_code(record.outcome),
        "score": record.score,
        "ms": record.duration_ms,
        "cost": record.cost_usd,
        "judgeCost": record.judge_cost_usd,
        "userCost": record.user_cost_usd,
        // Input, output, cached and reasoning tokens of the agent.
        "tokens": record.usage.map(tokens),
        "judgeTokens": record.judge_usage.map(tokens),
        "model": names.index(record.model.as_deref().unwrap_or_default()),
        "values": graders.iter().map(value).collect::<Vec<_>>(),
        // `p`, `f`, `u` (undecided) or `e` per grader.
        "verdicts": graders.iter().map(verdict).collect::<String>(),
    })
}

/// Names of the graders of a case's trials, in the order in which they first occur.
fn grader_names<'a>(trials: &[&'a TrialRecord]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for grader in trials.iter().flat_map(|trial| trial.all_graders()) {
        if !names.contains(&grader.name.as_str()) {
            names.push(&grader.name);
        }
    }
    names
}

fn suite_info(suite: &SuiteData) -> Value {
    let record = suite.record.as_ref();
    let diagnostics = record.into_iter().flat_map(|record| &record.diagnostics);
    json!({
        "name": suite.name,
        "kind": record.map(|record| record.kind),
        // Number of its tests, run or not.
        "tests": record.map(|record| record.tests.len()),
        "diagnostics": diagnostics.map(|diagnostic| &diagnostic.message).collect::<Vec<_>>(),
        "calibration": suite.calibration.as_ref().map(judge_quality),
        "probe": record.and_then(|record| record.probe).map(|probe| probe.to_string()),
    })
}

/// Between which pass rates the run says something: the rates of its suites, by their numbers of cases. `None` unless all were probed.
fn probe(run: &RunData) -> Option<Value> {
    let cases: usize = run.suites.iter().map(|suite| suite.cases.len()).sum();
    let mean = |of: &dyn Fn(&ProbeRates) -> Option<f64>| {
        let mut sum = 0.0;
        for suite in run.suites.iter().filter(|suite| !suite.cases.is_empty()) {
            let weight = suite.cases.len() as f64 / cases as f64;
            sum += weight * of(suite.record.as_ref()?.probe.as_ref()?)?;
        }
        (cases > 0).then_some(sum)
    };
    let floor = mean(&|probe| Some(probe.floor?.share.value()));
    let ceiling = mean(&|probe| Some(probe.ceiling?.value()));
    (floor.is_some() || ceiling.is_some()).then(|| json!({ "floor": floor, "ceiling": ceiling }))
}

/// How well the judges of a suite agree with people.
fn judge_quality(record: &CalibrationRecord) -> Value {
    let statistics = record.statistics;
    let shortfall = |it: &Shortfall| match it.measured {
        Some(measured) => format!("{} is {measured:.2}, required is {}", it.measure, it.demanded),
        None => format!("{} could not be measured, required is {}", it.measure, it.demanded),
    };
    json!({
        "judges": record.judges,
        "models": record.models,
        "samples": record.counts.samples,
        "valid": record.counts.valid,
        "agreement": statistics.map(|it| it.agreement),
        "kappa": statistics.map(|it| it.kappa),
        "spearman": statistics.map(|it| it.spearman),
        "bias": statistics.map(|it| it.bias),
        "shortfalls": record.shortfalls.iter().map(shortfall).collect::<Vec<_>>(),
    })
}

fn tokens(usage: Usage) -> [u64; 4] {
    [usage.input, usage.output, usage.cached, usage.reasoning]
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
    use evalsuite_records::record::{RunRecord, TurnRecord};

    use super::*;

    #[test]
    fn graders_of_turns_have_one_value_and_the_worst_verdict_of_their_name() {
        let grader = |name: &str, state: GraderState, verdict: Option<Verdict>, value: Option<f64>| {
            let mut grader = GraderRecord::default();
            (grader.name, grader.state, grader.verdict, grader.value) = (name.to_owned(), state, verdict, value);
            grader
        };
        let passed = |name: &str| grader(name, GraderState::Decided, Some(Verdict::Pass), Some(1.0));
        let failed = |name: &str| grader(name, GraderState::Decided, Some(Verdict::Fail), Some(0.5));
        let undecided = |name: &str| grader(name, GraderState::Undecided, None, None);
        let turn = |graders: &[GraderRecord]| {
            let mut turn = TurnRecord::default();
            turn.graders = graders.to_vec();
            turn
        };
        let mut trial = TrialRecord::new();
        trial.graders = vec![passed("whole")];
        trial.turns = Some(vec![
            turn(&[passed("tone"), undecided("words")]),
            turn(&[failed("tone"), passed("words"), grader("judged", GraderState::Error, None, None)]),
        ]);
        let names = grader_names(&[&trial]);
        assert_eq!(names, ["whole", "tone", "words", "judged"]);
        let row = trial_row(&trial, &names, &mut Names::default());
        assert_eq!(row["verdicts"], "pfue");
        assert_eq!(row["values"], json!([1.0, 0.75, 1.0, null]));
    }

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
            let info = run_info(&run);
            ["package", "version"].map(|key| info[key].as_str().unwrap_or_default().to_owned()).join(" ")
        };
        assert_eq!(named(&[]), "a 0.1.0");
        assert_eq!(named(&["a", "a"]), "a 0.1.0");
        assert_eq!(named(&["a", "b"]), "a, b ");
        assert_eq!(named(&["d", "c", "b", "a"]), "a, b and 2 more ");
    }
}
