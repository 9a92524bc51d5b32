//! Which answers of a run are accepted with its results.

use evalsuite_records::record::{AcceptedAnswer, AcceptedAnswers, Status};

use super::{Accepted, Decision};
use crate::run_data::{SuiteData, answer_of};

/// The accepted answers of a suite after [`accept`](super::accept) accepted its results in a run.
///
/// A case whose line in the baseline is replaced takes the answer of its first trial that passed and has an answer; without such a trial,
/// it has no accepted answer any more. A case whose line is kept keeps its answer. A case with the same result as before keeps its answer,
/// or takes one if it has none.
pub fn accept_answers(suite: &SuiteData, accepted: &Accepted, before: Option<&AcceptedAnswers>) -> AcceptedAnswers {
    let mut answers = AcceptedAnswers::new(&suite.id.name);
    for case in &accepted.cases {
        let (id, target) = (case.case.as_str(), case.target.as_str());
        let old = || before.and_then(|before| before.find(id, target)).cloned();
        answers.answers.extend(match case.decision {
            Decision::Removed => None,
            Decision::Kept => old(),
            Decision::Unchanged => match (old(), passed_answer(suite, id, target)) {
                // After a merge, the answer may be to another input than the line of the baseline.
                (Some(old), Some(new)) if old.input != new.input => Some(new),
                (old, new) => old.or(new),
            },
            _ => passed_answer(suite, id, target),
        });
    }
    answers
}

/// The answer of the first trial that passed and has one.
fn passed_answer(suite: &SuiteData, id: &str, target: &str) -> Option<AcceptedAnswer> {
    let case = suite.cases.iter().find(|case| case.record.case_id == id && case.record.target == target)?;
    let passed = case.trials.iter().map(|trial| &trial.record).filter(|trial| trial.outcome == Status::Passed);
    let mut answer = AcceptedAnswer::default();
    answer.case = id.to_owned();
    answer.target = target.to_owned();
    answer.input.clone_from(&case.record.input_digest);
    answer.answer = passed.filter_map(answer_of).next()?;
    Some(answer)
}
