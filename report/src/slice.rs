//! The values of cases by which they are grouped.

use std::collections::BTreeSet;

use evalsuite_schema::Value;
use evalsuite_schema::gate::SliceKey;

use crate::run_data::CaseData;

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
