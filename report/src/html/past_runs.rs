//! Earlier runs, as the index has them.

use std::collections::HashSet;

use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::{CaseRecord, OutcomeCounts};
use evalsuite_schema::json::{Value, json, written_by_serde};
use evalsuite_statistics::mean;
use serde::Serialize;

use super::{outcome_code, run_info};
use crate::comparison::{Comparison, SuiteComparison, has_same_threshold};
use crate::run_data::{CaseLookup, RunData, identity};

/// Numbers of one suite and target in one run.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Totals {
    suite: String,
    target: String,
    cases: OutcomeCounts,
    /// Mean score of its cases, as in summaries, and the number of cases in it.
    score: Option<f64>,
    scored_cases: usize,
    cost_usd: Option<f64>,
    /// Number of trials whose cost is not in it, because it is not known.
    unknown_costs: usize,
    /// Mean duration of a trial in milliseconds, and the number of trials in it.
    ms: Option<f64>,
    timed_trials: usize,
}

written_by_serde!(Totals);

/// An earlier run: its totals, and one entry per case of the report's run. `comparison` is that of both.
pub(super) fn past_run(run: &RunData, comparison: &Comparison, cases: &[&CaseRecord]) -> Value {
    let lookup = CaseLookup::new(run);
    let theirs = |case: &&CaseRecord| lookup.get(case).map(|theirs| &theirs.record);
    let theirs: Vec<Option<&CaseRecord>> = cases.iter().map(theirs).collect();
    let outcome = |theirs: &Option<&CaseRecord>| theirs.map_or("-", |theirs| outcome_code(theirs.outcome));
    let definition = |(ours, theirs): (&&CaseRecord, &Option<&CaseRecord>)| match theirs {
        Some(theirs) => definition(ours, theirs),
        None => '-',
    };
    json!({
        "run": run_info(run),
        // Its totals by suite and target.
        "totals": totals(run),
        // What `diff` says about the report's run and this one, by suite and target.
        "compared": comparison.suites.iter().map(compared).collect::<Vec<_>>(),
        // Which runs are counted together in it, and whether the test runner repeated cases.
        "notes": comparison.notes(),
        // Outcome by case of the report's run; `-` where the case has not run.
        "outcomes": theirs.iter().map(outcome).collect::<String>(),
        "scores": theirs.iter().map(|theirs| theirs.and_then(|theirs| theirs.score)).collect::<Vec<_>>(),
        "passed": theirs.iter().map(|theirs| theirs.map_or(0, |theirs| theirs.passed)).collect::<Vec<_>>(),
        "completed": theirs.iter().map(|theirs| theirs.map_or(0, |theirs| theirs.completed)).collect::<Vec<_>>(),
        // Mean duration of a trial in milliseconds.
        "ms": theirs.iter().map(|theirs| theirs.and_then(mean_ms)).collect::<Vec<_>>(),
        // `=` where case, input and graders are those of the report's run, `i` where the input differs, `g` where only the graders
        // do, `c` where something else does, `-` where the case has not run.
        "definitions": cases.iter().zip(&theirs).map(definition).collect::<String>(),
        // Ids of cases that the report's run does not have, with their suite and target.
        "removed": removed(run, cases),
    })
}

/// The comparison of a suite and target, without its cases.
fn compared(suite: &SuiteComparison) -> Value {
    json!({
        "suite": suite.suite,
        "target": suite.target,
        "verdict": suite.verdict,
        "pairs": suite.pairs,
        "missing": suite.missing,
        // Cases that had a result and end in an error now.
        "errors": suite.errors,
        // Whether each case counts as one, and what is said of trials in error; `null` if there is nothing to say.
        "unit": suite.unit_text(),
        "unknown": suite.unknown_text(),
        "difference": suite.difference,
        "interval": suite.interval,
        "pValue": suite.p_value,
    })
}

fn definition(ours: &CaseRecord, theirs: &CaseRecord) -> char {
    if ours.case_digest == theirs.case_digest && has_same_threshold(ours, theirs) {
        '='
    } else if ours.input_digest != theirs.input_digest {
        'i'
    } else if ours.grader_digest != theirs.grader_digest {
        'g'
    } else {
        'c'
    }
}

fn removed<'a>(run: &'a RunData, cases: &[&CaseRecord]) -> Vec<[&'a str; 3]> {
    let ours: HashSet<[&str; 3]> = cases.iter().map(|case| identity(case)).collect();
    let theirs = run.suites.iter().flat_map(|suite| &suite.cases).map(|case| identity(&case.record));
    theirs.filter(|case| !ours.contains(case)).collect()
}

fn mean_ms(record: &CaseRecord) -> Option<u64> {
    let known: Vec<u64> = record.trials.iter().filter_map(|trial| trial.duration_ms).collect();
    known.iter().sum::<u64>().checked_div(known.len() as u64)
}

/// The totals of a run by suite and target, in the order in which they first occur.
pub(super) fn totals(run: &RunData) -> Vec<Totals> {
    let mut totals: Vec<(Totals, Vec<f64>, Vec<f64>)> = Vec::new();
    for record in run.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record) {
        let known = totals.iter().position(|(it, ..)| it.suite == record.suite && it.target == record.target);
        let index = known.unwrap_or_else(|| {
            let new = Totals { suite: record.suite.clone(), target: record.target.clone(), ..Totals::default() };
            totals.push((new, Vec::new(), Vec::new()));
            totals.len() - 1
        });
        let (total, scores, durations) = &mut totals[index];
        total.cases.add(record.outcome);
        scores.extend(record.sampled_score());
        durations.extend(record.trials.iter().filter_map(|trial| trial.duration_ms).map(|ms| ms as f64));
        let [agent, ..] = record.costs();
        total.cost_usd = sum_of_known(total.cost_usd.into_iter().chain(agent));
        total.unknown_costs += record.trials_of_unknown_cost();
    }
    let mean_of = |values: &[f64]| (!values.is_empty()).then(|| mean(values));
    let finish = |(total, scores, durations): (Totals, Vec<f64>, Vec<f64>)| Totals {
        score: mean_of(&scores),
        scored_cases: scores.len(),
        ms: mean_of(&durations),
        timed_trials: durations.len(),
        ..total
    };
    totals.into_iter().map(finish).collect()
}
