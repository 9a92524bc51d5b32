//! Runs cases with graders of the samples, from their file to their records.

use std::collections::BTreeMap;
use std::sync::Arc;

use evalsuite::record::GraderState;
use evalsuite::{Judge, JudgeError, JudgeReply, JudgeRequest, RunOptions, Status};
use evalsuite_conformance::record::Record;
use evalsuite_grading_tests::{evidence, replay};
use evalsuite_schema::json::{Value, json};

use crate::forms::{Form, SuiteFiles};
use crate::samples::Work;

/// A case: its graders, and the work of its agent.
#[derive(Debug, Clone)]
pub(crate) struct SampleCase {
    pub(crate) graders: Vec<Value>,
    pub(crate) work: Work,
}

impl SampleCase {
    pub(crate) fn new(graders: Vec<Value>, work: &Work) -> Self {
        Self { graders, work: work.clone() }
    }
}

/// How a case ended, and its first grader.
#[derive(Debug)]
pub(crate) struct CaseResult {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    pub(crate) state: Option<GraderState>,
    #[allow(dead_code, reason = "shown when a relation is broken")]
    why: Vec<String>,
}

/// Replies as the work of the case says.
#[derive(Debug, Clone)]
struct SampleJudge(Arc<Vec<SampleCase>>);

impl Judge for SampleJudge {
    async fn judge(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let case = &self.0[index(request.case_id())];
        let reply = case.work.reply.clone().unwrap_or_default();
        // A comparison shows the two answers in both orders.
        let answer = case.work.evidence["messages"][0]["content"].as_str().unwrap_or_default();
        let place = |text: &str| request.user().find(text);
        let other = if place(answer) < place("another answer") { "second" } else { "first" };
        Ok(JudgeReply::new(reply.replace("OTHER", other)))
    }

    fn name(&self) -> String {
        "samples".to_owned()
    }
}

fn index(case_id: &str) -> usize {
    case_id.trim_start_matches("case-").parse().expect("the number of a case")
}

/// Runs the cases at the default threshold.
pub(crate) fn run(cases: &[SampleCase]) -> Vec<CaseResult> {
    run_with(cases, None)
}

/// Runs the cases at a threshold.
pub(crate) fn run_with(cases: &[SampleCase], threshold: Option<f64>) -> Vec<CaseResult> {
    run_in(Form::EvalFile, cases, threshold)
}

/// Runs the cases of a suite in this form.
pub(crate) fn run_in(form: Form, cases: &[SampleCase], threshold: Option<f64>) -> Vec<CaseResult> {
    let SuiteFiles { eval, files } = form.suite(cases);
    let suite = json!({ "files": files });
    let record = Record {
        id: "relations-001".to_owned(),
        eval: Some(eval.to_owned()),
        env: BTreeMap::new(),
        json: suite.clone(),
    };
    let shared = Arc::new(cases.to_vec());
    let works = Arc::clone(&shared);
    let agent = move |trial: &mut evalsuite::Trial<'_>| {
        let SampleCase { work, .. } = &works[index(trial.case_id())];
        evidence::report(&work.evidence, trial)
    };
    let mut options = RunOptions::new();
    if let Some(threshold) = threshold {
        options = options.with_threshold(threshold);
    }
    let replay = replay::run_with_judge(&record, options, agent, Some(&SampleJudge(shared))).expect("the suite runs");
    assert_eq!(replay.refused, [], "the loader refuses a sample: {suite}");
    let mut results: Vec<(usize, CaseResult)> = replay
        .cases
        .iter()
        .map(|ran| {
            let turns = ran.trials.iter().flat_map(|trial| trial.turns.iter().flatten());
            let of_turns = turns.flat_map(|turn| &turn.graders);
            let all: Vec<_> = ran.trials.iter().flat_map(|trial| &trial.graders).chain(of_turns).collect();
            let first = all.first();
            let why = all.iter();
            let why = why.map(|grader| {
                let texts: Vec<&str> = grader.assertions.iter().map(|assertion| assertion.text.as_str()).collect();
                format!("{}: {:?} {:?} {:?} {texts:?}", grader.name, grader.value, grader.verdict, grader.error)
            });
            let result = CaseResult {
                outcome: ran.case.outcome,
                score: ran.case.score,
                state: first.map(|grader| grader.state),
                why: why.collect(),
            };
            (index(&ran.case.case_id), result)
        })
        .collect();
    results.sort_by_key(|(index, _)| *index);
    assert_eq!(results.len(), cases.len(), "every case runs");
    results.into_iter().map(|(_, result)| result).collect()
}
