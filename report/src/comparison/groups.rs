//! Cases that belong together, and cases that are compared by themselves.

use std::collections::BTreeMap;

use evalsuite_records::record::CaseRecord;

use super::CompareOptions;
use crate::run_data::{RunData, identity};
use crate::slice::values_of;

/// Which cases belong together.
pub(super) struct Clusters<'a>(Option<BTreeMap<[&'a str; 3], usize>>);

impl<'a> Clusters<'a> {
    pub(super) fn new(run: &'a RunData, options: &CompareOptions) -> Self {
        let Some(key) = &options.cluster_by else { return Self(None) };
        let (mut numbers, mut clusters) = (BTreeMap::new(), BTreeMap::new());
        for case in run.suites.iter().flat_map(|suite| &suite.cases) {
            // A case without the key is a cluster of its own.
            let value = case.trials.first().and_then(|trial| trial.record.metadata.get(key));
            let name = value.map_or_else(|| format!("case {}", case.record.case_key), |value| format!("value {value}"));
            let next = numbers.len();
            let number = *numbers.entry(name).or_insert(next);
            clusters.insert(identity(&case.record), number);
        }
        Self(Some(clusters))
    }

    pub(super) fn of(&self, case: [&str; 3], index: usize) -> usize {
        self.0.as_ref().map_or(index, |clusters| clusters.get(&case).copied().unwrap_or(index))
    }
}

/// The slices of each case: keys and values.
pub(super) struct Slices<'a>(BTreeMap<[&'a str; 3], Vec<(String, String)>>);

impl<'a> Slices<'a> {
    pub(super) fn new(run: &'a RunData, options: &CompareOptions) -> Self {
        let mut slices: BTreeMap<[&str; 3], Vec<(String, String)>> = BTreeMap::new();
        for case in run.suites.iter().flat_map(|suite| &suite.cases).filter(|_| !options.by.is_empty()) {
            let values = options
                .by
                .iter()
                .flat_map(|key| values_of(key, case).into_iter().map(move |value| (key.to_string(), value)));
            slices.entry(identity(&case.record)).or_insert_with(|| values.collect());
        }
        Self(slices)
    }

    pub(super) fn of<'b>(&'b self, record: &'b CaseRecord) -> &'b [(String, String)] {
        self.0.get(&identity(record)).map(Vec::as_slice).unwrap_or_default()
    }
}
