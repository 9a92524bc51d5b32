//! Cases that belong together, and cases that are compared by themselves.

use std::collections::BTreeMap;

use super::CompareOptions;
use crate::run_data::{RunData, identity};
use crate::slice::values_of;

/// Which cases belong together, and which are compared by themselves.
pub(super) struct Groups<'a>(BTreeMap<[&'a str; 3], Group>);

/// The cluster of a case, the cases of which belong together, and its slices: keys and values.
struct Group {
    cluster: Option<usize>,
    slices: Vec<(String, String)>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(run: &'a RunData, options: &CompareOptions) -> Self {
        let (mut numbers, mut groups) = (BTreeMap::new(), BTreeMap::new());
        let has_groups = options.cluster_by.is_some() || !options.by.is_empty();
        for case in run.suites.iter().flat_map(|suite| &suite.cases).filter(|_| has_groups) {
            let cluster = options.cluster_by.as_ref().map(|key| {
                // A case without the key is a cluster of its own.
                let value = case.trials.first().and_then(|trial| trial.record.metadata.get(key));
                let own = || format!("case {}", case.record.case_key);
                let next = numbers.len();
                *numbers.entry(value.map_or_else(own, |value| format!("value {value}"))).or_insert(next)
            });
            let slices = options
                .by
                .iter()
                .flat_map(|key| values_of(key, case).into_iter().map(move |value| (key.to_string(), value)));
            groups.entry(identity(&case.record)).or_insert_with(|| Group { cluster, slices: slices.collect() });
        }
        Self(groups)
    }

    /// The cluster of a case; `index` if it is one of its own.
    pub(super) fn cluster(&self, case: [&str; 3], index: usize) -> usize {
        self.0.get(&case).and_then(|group| group.cluster).unwrap_or(index)
    }

    pub(super) fn slices<'b>(&'b self, case: [&'b str; 3]) -> &'b [(String, String)] {
        self.0.get(&case).map(|group| group.slices.as_slice()).unwrap_or_default()
    }
}
