//! A run as reports see it, with the files of its trials, and the values of cases by which they are grouped.

use std::collections::{BTreeSet, HashMap};

use evalsuite_records::record::{CaseRecord, OutcomeCounts, Status, TrialRecord};
use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::gate::SliceKey;

pub use evalsuite_records::run_data::{CaseData, Problem, RunData, SuiteData, TrialData};

pub(crate) use evalsuite_records::run_data::{SuiteNames, TrialFiles, read_record};

/// The cases of a run by suite, id and target; of several tests that run a case, the first one.
#[derive(Debug)]
pub(crate) struct CaseLookup<'a> {
    pub(crate) run: &'a RunData,
    cases: HashMap<[&'a str; 3], &'a CaseData>,
}

impl<'a> CaseLookup<'a> {
    pub(crate) fn new(run: &'a RunData) -> Self {
        let mut cases = HashMap::new();
        for case in run.suites.iter().flat_map(|suite| &suite.cases) {
            cases.entry(identity(&case.record)).or_insert(case);
        }
        Self { run, cases }
    }

    /// The case that a record of another run is about.
    pub(crate) fn get(&self, record: &CaseRecord) -> Option<&'a CaseData> {
        self.cases.get(&identity(record)).copied()
    }
}

/// The record of a case in each run that is counted.
pub(crate) fn counted_records(case: &CaseData) -> &[CaseRecord] {
    if case.of_runs.is_empty() { std::slice::from_ref(&case.record) } else { &case.of_runs }
}

/// What identifies a case across runs: suite, id and target.
pub(crate) fn identity(record: &CaseRecord) -> [&str; 3] {
    [&record.suite, &record.case_id, &record.target]
}

/// The answer of a trial; of a conversation, all that was said.
pub(crate) fn answer_of(trial: &TrialRecord) -> Option<String> {
    let said = match &trial.turns {
        Some(turns) if !turns.is_empty() => {
            let said = |(input, answer): (&str, Option<&str>)| {
                format!("user: {input}\n\nassistant: {}", answer.unwrap_or_default())
            };
            let turns: Vec<String> = turns.iter().map(|turn| said((&turn.input, turn.answer.as_deref()))).collect();
            trial.answer.as_ref().map(|_| turns.join("\n\n"))
        }
        _ => trial.answer.clone(),
    };
    said.map(|text| if trial.answer_truncated { format!("{text}\n[cut: the record has no more of it]") } else { text })
}

/// What is said of cases that the test runner repeated; nothing without any.
pub(crate) fn repeated_text(cases: usize) -> Option<String> {
    let verb = if cases == 1 { "was" } else { "were" };
    let which = if cases == 1 { "its" } else { "of each, the" };
    (cases > 0).then(|| {
        format!(
            "{} {verb} repeated by the test runner; {which} first attempt with a result counts",
            counted(cases, "case")
        )
    })
}

/// Numbers of cases or trials by outcome.
pub(crate) fn count_outcomes(outcomes: impl Iterator<Item = Status>) -> OutcomeCounts {
    let mut counts = OutcomeCounts::default();
    outcomes.for_each(|outcome| counts.add(outcome));
    counts
}

/// The values that a case has, each once. Those of bucket, tag and metadata are in the records of trials: a case without any has none.
pub(crate) fn values_of(key: &SliceKey, case: &CaseData) -> Vec<String> {
    let trial = case.trials.first().map(|trial| &trial.record);
    let mut values = match key {
        SliceKey::Suite => vec![case.record.suite.clone()],
        SliceKey::Target => vec![case.record.target.clone()],
        SliceKey::Bucket => trial.and_then(|trial| trial.failure_bucket.clone()).into_iter().collect(),
        SliceKey::Tag => trial.map(|trial| trial.tags.clone()).unwrap_or_default(),
        SliceKey::Metadata(key) => trial.and_then(|trial| trial.metadata.get(key)).map(texts).unwrap_or_default(),
    };
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(_) | Value::Bool(_) => vec![value.to_string()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Null | Value::Object(_) => Vec::new(),
    }
}
