//! Expectations that come out the same with the skill and without it.

use std::collections::BTreeMap;

use evalsuite_records::record::{GraderRecord, Status, Verdict};
use evalsuite_schema::json::written_by_serde;
use serde::Serialize;

use crate::expectation_text::expectation_text;
use crate::run_data::CaseData;

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
pub(super) fn settled(pairs: &[[&CaseData; 2]]) -> [Vec<SettledExpectation>; 2] {
    let [mut always, mut never] = [Vec::new(), Vec::new()];
    for pair in pairs {
        let mut counts: BTreeMap<SettledExpectation, Counts> = BTreeMap::new();
        let mut trials = 0;
        for trial in pair.iter().flat_map(|case| &case.trials).map(|trial| &trial.record) {
            if !matches!(trial.outcome, Status::Passed | Status::Failed) {
                continue;
            }
            trials += 1;
            let of_turns = trial.turns.iter().flatten().flat_map(|turn| &turn.graders);
            let mut of_trial: BTreeMap<SettledExpectation, bool> = BTreeMap::new();
            for (expectation, holds) in
                trial.graders.iter().chain(of_turns).flat_map(|grader| expectations(&trial.case_id, grader))
            {
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
