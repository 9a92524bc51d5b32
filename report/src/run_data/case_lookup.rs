//! The cases of a run by what identifies them across runs.

use std::collections::HashMap;

use evalsuite_records::record::CaseRecord;

use super::{CaseData, RunData};

/// The cases of a run by suite, id and target; of several tests that run a case, the first one.
#[derive(Debug)]
pub(crate) struct CaseLookup<'a> {
    run: &'a RunData,
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

    pub(crate) fn run(&self) -> &'a RunData {
        self.run
    }

    /// The case that a record of another run is about.
    pub(crate) fn get(&self, record: &CaseRecord) -> Option<&'a CaseData> {
        self.cases.get(&identity(record)).copied()
    }
}

pub(crate) fn identity(record: &CaseRecord) -> [&str; 3] {
    [&record.suite, &record.case_id, &record.target]
}
