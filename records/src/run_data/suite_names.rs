//! What the suites of a run are called in view of suites that have names already, such as those of a later run.

use std::collections::{BTreeMap, BTreeSet};

use super::{RunData, SuiteData};
use crate::record::{ProbeRates, ProbeRecord, SuiteId};

/// Other names for the suites of a run: those that the same suites have elsewhere, and names that no other suite has for the rest.
#[derive(Debug, Clone, Default)]
pub struct SuiteNames<'a>(BTreeMap<&'a str, String>);

impl RunData {
    /// Its suites, with their names.
    pub fn suite_names(&self) -> Vec<(SuiteId, String)> {
        self.suites.iter().map(|suite| (suite.id.clone(), suite.name.clone())).collect()
    }

    /// The run with its suites called as the same suites are elsewhere, such as in [`suite_names`](Self::suite_names) of another run.
    #[must_use]
    pub fn with_suite_names(mut self, known: &[(SuiteId, String)]) -> Self {
        let names = SuiteNames::new(&self, known);
        let names: Vec<String> = self.suites.iter().map(|suite| names.of(&suite.name).to_owned()).collect();
        for (suite, name) in self.suites.iter_mut().zip(names).filter(|(suite, name)| suite.name != *name) {
            suite.rename(&name);
        }
        self
    }

    /// The run with the rates of probes that were made after it. Each probe names its suite as the run does.
    #[must_use]
    pub fn with_probes(mut self, probes: &[ProbeRecord]) -> Self {
        for suite in &mut self.suites {
            let Some(record) = suite.record.as_mut().filter(|record| record.probe.is_none()) else { continue };
            record.probe = probes.iter().find(|probe| probe.suite.name == suite.name).and_then(ProbeRates::of);
        }
        self
    }
}

impl<'a> SuiteNames<'a> {
    /// The names of the suites of a run in view of suites that have names.
    pub fn new(run: &'a RunData, known: &[(SuiteId, String)]) -> Self {
        let ids: Vec<SuiteId> = run.suites.iter().map(|suite| suite.id.clone()).collect();
        let known_ids: Vec<SuiteId> = known.iter().map(|(id, _)| id.clone()).collect();
        let mut taken: BTreeSet<String> = known.iter().map(|(_, name)| name.clone()).collect();
        let mut names = BTreeMap::new();
        for (suite, counterpart) in run.suites.iter().zip(SuiteId::counterparts(&ids, &known_ids)) {
            let name = match counterpart {
                // A baseline is called as the suite that it was read for.
                _ if suite.id.package.is_empty() && taken.contains(&suite.name) => suite.name.clone(),
                Some(index) => known[index].1.clone(),
                None => own_name(suite, &taken),
            };
            taken.insert(name.clone());
            names.insert(suite.name.as_str(), name);
        }
        Self(names)
    }

    /// The name of a suite of the run.
    pub fn of<'s>(&'s self, suite: &'s str) -> &'s str {
        self.0.get(suite).map_or(suite, String::as_str)
    }
}

/// The shortest name of a suite that no other one has.
fn own_name(suite: &SuiteData, taken: &BTreeSet<String>) -> String {
    let SuiteId { name, package, path, module, .. } = &suite.id;
    let names = [suite.name.clone(), format!("{package}/{name}"), format!("{package}/{path}")];
    let longest = format!("{package}/{path} ({module})");
    names.into_iter().find(|name| !taken.contains(name)).unwrap_or(longest)
}
