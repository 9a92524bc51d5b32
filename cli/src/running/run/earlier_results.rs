//! Cases chosen by their results in earlier runs.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use evalsuite::Status;
use evalsuite::tooling::{SuiteDescription, TestDescription};
use evalsuite_report::{Health, HealthOptions, newest_outcomes};

use super::suite_descriptions::names;
use crate::command_line::Run;

/// The suites with only those tests that the results of earlier runs choose; without such a choice, all of them.
pub(super) fn chosen_by_results(
    command: &Run,
    output: &Path,
    suites: &[SuiteDescription],
) -> io::Result<Vec<SuiteDescription>> {
    let mut chosen = suites.to_vec();
    if command.failed {
        let tests =
            suites.iter().flat_map(|suite| suite.tests.iter().map(|test| (suite.suite.clone(), test.test.clone())));
        let outcomes = newest_outcomes(output, &names(suites), &tests.collect())?;
        retain(&mut chosen, |suite, test| {
            let outcome = outcomes.get(&(suite.to_owned(), test.test.clone()));
            matches!(outcome, Some(Status::Failed | Status::Error))
        });
    }
    if let Some(window) = command.flaky {
        let health = Health::of_suites(output, &names(suites), window, &HealthOptions::default())?;
        let cases = |suite: &evalsuite_report::SuiteHealth| {
            let (name, target) = (suite.suite.clone(), suite.target.clone());
            suite.flaky.iter().map(move |case| (name.clone(), case.case.clone(), target.clone())).collect::<Vec<_>>()
        };
        let flaky: BTreeSet<_> = health.suites.iter().flat_map(cases).collect();
        retain(&mut chosen, |suite, test| {
            let is_meant = |target: &str| test.target.as_deref().is_none_or(|name| name == target);
            flaky.iter().any(|(name, case, target)| name == suite && *case == test.case_id && is_meant(target))
        });
    }
    Ok(chosen)
}

fn retain(suites: &mut [SuiteDescription], is_chosen: impl Fn(&str, &TestDescription) -> bool) {
    for suite in suites {
        let name = suite.suite.clone();
        suite.tests.retain(|test| is_chosen(&name, test));
    }
}
