//! The answers that judges compare.

use std::collections::BTreeSet;

use evalsuite_records::record::{AnswerPair, GraderRecord};

use super::pairing::pair_cases;
use super::{CompareOptions, by_suite_and_target};
use crate::formats::input_messages;
use crate::run_data::{RunData, TrialData, TrialFiles, answer_of};

/// The answers to the cases of two runs that have the same definition in both, for judges to compare:
/// of each case, the answers of the first trials that have one. They are compared by `criteria`, else by what each case says. The runs
/// are read with their trials ([`RunData::read`]).
pub fn answer_pairs(
    base: &RunData,
    run: &RunData,
    criteria: Option<&str>,
    options: &CompareOptions,
) -> Vec<AnswerPair> {
    let mut pairs = Vec::new();
    for ((suite, target), cases) in by_suite_and_target([base, run], options) {
        for paired in pair_cases(cases.each_ref().map(Vec::as_slice), &BTreeSet::new(), false) {
            let Some(same) = paired.same_case() else { continue };
            let has_answer = |trial: &&TrialData| answer_of(&trial.record).is_some();
            let [in_base, in_run] = same.map(|case| case.trials.iter().find(has_answer));
            let [_, now] = same.map(|case| &case.record);
            let mut pair = AnswerPair::new(suite.as_str(), target.as_str(), now.case_id.as_str());
            pair.criteria = criteria.or(now.criteria.as_deref()).unwrap_or_default().to_owned();
            // What was asked is the same in both; a pair without an answer in the run is not judged.
            pair.input = in_run.map(|trial| input(run, trial)).unwrap_or_default();
            pair.answers = [in_base, in_run].map(|trial| trial.and_then(|trial| answer_of(&trial.record)));
            pairs.push(pair);
        }
    }
    pairs
}

/// Names of the judges that the graders of a run asked, if all of them asked the same ones; else none.
pub fn judges_of(run: &RunData) -> Vec<String> {
    let mut names = BTreeSet::new();
    let trials = run.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.trials);
    let mut graders: Vec<&GraderRecord> = trials.flat_map(|trial| &trial.record.graders).collect();
    while let Some(grader) = graders.pop() {
        names.extend(grader.judge.iter().map(|judge| judge.name.as_str()).filter(|name| !name.is_empty()));
        graders.extend(&grader.members);
    }
    match (names.pop_first(), names.is_empty()) {
        // Several judges of one grader are recorded as `a, b`.
        (Some(judges), true) => judges.split(", ").map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// What the agent was asked, as text.
fn input(run: &RunData, trial: &TrialData) -> String {
    // A file that cannot be read leaves the judge without the question.
    let files = TrialFiles::read_without_texts(run, trial, &mut Vec::new());
    let messages = input_messages(&files);
    match messages.as_slice() {
        [(_, only)] => only.clone(),
        messages => {
            let said: Vec<String> = messages.iter().map(|(role, text)| format!("{}: {text}", role.as_str())).collect();
            said.join("\n\n")
        }
    }
}
