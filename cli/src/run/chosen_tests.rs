//! The tests that the command line chooses, among those that test programs describe: the names of their modules are chosen in code, so only
//! the programs know them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use evalsuite::Status;
use evalsuite::tooling::{DESCRIBE_VARIABLE, SuiteDescription, TestDescription};
use evalsuite_records::record::SuiteId;
use evalsuite_report::newest_outcomes;
use evalsuite_schema::diagnostics::suggest::did_you_mean;
use evalsuite_schema::json::FromJson;

use super::cargo_commands::cargo_test;
use super::suite_tests::{SuiteTests, TestKey};
use crate::arguments::Build;
use crate::health;
use crate::platform::exit_status::{CliError, ErrorContext, Result};
use crate::platform::output::say;
use crate::run::Run;

/// Chooses the tests of cases by the command line and by the results of earlier runs, and the tests that check their suites.
pub(super) fn choose_tests(command: &Run, output: &Path, suites: &[SuiteDescription]) -> Result<SuiteTests> {
    let selected = selected_tests(command, suites).map_err(CliError::new)?;
    unmatched_options(command, suites).iter().for_each(|warning| say!("warning: {warning}"));
    let mut chosen = suites.to_vec();
    retain(&mut chosen, |suite, test| selected.cases.contains(&TestKey::new(&suite.id, &test.test)));
    let mut nothing = String::new();
    let names = suite_names(suites);
    if command.failed {
        let tests = chosen.iter().flat_map(|suite| suite.tests.iter().map(|test| key(suite, test))).collect();
        let outcomes = newest_outcomes(output, &names, &tests)?;
        retain(&mut chosen, |suite, test| {
            matches!(outcomes.get(&key(suite, test)), Some(Status::Failed | Status::Error))
        });
        nothing = none_failed(tests.len(), tests.len() - outcomes.len(), output);
    }
    if let Some(window) = command.flaky {
        let is_flaky = health::flaky(output, &names, window)?;
        retain(&mut chosen, |suite, test| is_flaky(&suite.suite, test));
        nothing = "no selected case is flaky".to_owned();
    }
    selected_tests(&Run::default(), &chosen).map_err(|_| CliError::new(nothing))
}

fn retain(suites: &mut [SuiteDescription], is_chosen: impl Fn(&SuiteDescription, &TestDescription) -> bool) {
    for suite in suites {
        let mut tests = mem::take(&mut suite.tests);
        tests.retain(|test| is_chosen(suite, test));
        suite.tests = tests;
    }
}

/// The name of the suite of a test, and its path.
fn key(suite: &SuiteDescription, test: &TestDescription) -> (String, String) {
    (suite.suite.clone(), test.test.clone())
}

/// Why `--failed` chooses none of so many selected cases, some of which have no result.
fn none_failed(selected: usize, without_result: usize, output: &Path) -> String {
    let output = output.display();
    match without_result {
        0 => "the last result of every selected case is a pass".to_owned(),
        count if count == selected => format!("no selected case has a result in {output}"),
        count => format!(
            "no selected case has failed: {} in {output}, and the last result of the others is a pass",
            if count == 1 { "1 case has no result".to_owned() } else { format!("{count} cases have no result") },
        ),
    }
}

/// Names on the command line that match no case, although others do: those alone select the cases.
fn unmatched_options(command: &Run, suites: &[SuiteDescription]) -> Vec<String> {
    let cases = || suites.iter().flat_map(|suite| suite.tests.iter().map(move |case| (suite, case)));
    let tags = || cases().flat_map(|(_, case)| case.tags.iter().map(String::as_str));
    let buckets = || cases().filter_map(|(_, case)| case.bucket.as_deref());
    let of_tags = command.tags.iter().chain(&command.excluded_tags).filter(|tag| tags().all(|known| known != **tag));
    let of_tags = of_tags.map(|tag| unmatched(format!("no case has the tag `{tag}`"), tag, tags()));
    let of_buckets = command.buckets.iter().filter(|bucket| buckets().all(|known| known != **bucket));
    let of_buckets =
        of_buckets.map(|bucket| unmatched(format!("no case has the bucket `{bucket}`"), bucket, buckets()));
    let named = command.filters.iter().filter(|filter| !cases().any(|(suite, case)| is_named(suite, case, filter)));
    let named =
        named.map(|filter| unmatched(format!("no id and no test name contains `{filter}`"), filter, names(suites)));
    of_tags.chain(of_buckets).chain(named).collect()
}

/// A message about a name that nothing has, with the one that was probably meant.
pub(crate) fn unmatched<'k>(message: String, name: &str, known: impl Iterator<Item = &'k str>) -> String {
    match did_you_mean(name, known) {
        Some(meant) => format!("{message}\n  = help: {meant}"),
        None => message,
    }
}

/// The tests of cases that the command line selects, and the tests that check their suites. `Err`: there are none; with what there is to
/// choose from.
pub(super) fn selected_tests(command: &Run, suites: &[SuiteDescription]) -> Result<SuiteTests, String> {
    let mut chosen = SuiteTests::default();
    for suite in suites {
        let cases: Vec<&TestDescription> = suite.tests.iter().filter(|case| is_chosen(suite, case, command)).collect();
        if !cases.is_empty() {
            chosen.checks.insert(TestKey::new(&suite.id, &suite.check));
            chosen.cases.extend(cases.into_iter().map(|case| TestKey::new(&suite.id, &case.test)));
        }
    }
    if chosen.cases.is_empty() { Err(nothing_chosen(&command.filters, suites)) } else { Ok(chosen) }
}

fn is_chosen(suite: &SuiteDescription, case: &TestDescription, command: &Run) -> bool {
    let has = |tag: &String| case.tags.contains(tag);
    let is_in = |bucket: &String| case.bucket.as_ref() == Some(bucket);
    let named = |filter: &String| is_named(suite, case, filter);
    (command.tags.is_empty() || command.tags.iter().any(has))
        && !command.excluded_tags.iter().any(has)
        && (command.buckets.is_empty() || command.buckets.iter().any(is_in))
        && (command.filters.is_empty() || command.filters.iter().any(named))
}

/// Whether a filter is a part of the names of a case, or a name of its suite.
fn is_named(suite: &SuiteDescription, case: &TestDescription, filter: &str) -> bool {
    let is_suite = filter == suite.suite || suite.id.is_called(filter);
    is_suite || case.test.contains(filter) || case.case_id.contains(filter)
}

/// Ids and test names of all cases, and names of suites.
fn names(suites: &[SuiteDescription]) -> impl Iterator<Item = &str> {
    let cases = suites.iter().flat_map(|suite| &suite.tests);
    let of_cases = cases.flat_map(|case| [case.case_id.as_str(), case.test.as_str()]);
    of_cases.chain(suites.iter().map(|suite| suite.suite.as_str()))
}

fn nothing_chosen(filters: &[String], suites: &[SuiteDescription]) -> String {
    let cases = || suites.iter().flat_map(|suite| &suite.tests);
    let count = cases().count();
    if count == 0 {
        return "no suite is included in the tests of these packages\n  = help: include one: \
                `evalsuite::include_eval_suite!(\"suites/my_suite\")`"
            .to_owned();
    }
    let names: Vec<&str> = names(suites).collect();
    let misspelled = filters.iter().filter(|filter| names.iter().all(|name| !name.contains(filter.as_str())));
    let meant = misspelled.filter_map(|filter| did_you_mean(filter, names.iter().copied())).next();
    let list = |what: &str, names: BTreeSet<&str>| {
        let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
        if names.is_empty() { format!("no {what}") } else { format!("the {what} {}", names.join(", ")) }
    };
    let tags = list("tags", cases().flat_map(|case| &case.tags).map(String::as_str).collect());
    let buckets = list("buckets", cases().filter_map(|case| case.bucket.as_deref()).collect());
    let suites = list("suites", suites.iter().map(|suite| suite.suite.as_str()).collect());
    let cases = if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
    let help = meant.unwrap_or_else(|| format!("there are {suites}; {tags}; {buckets}"));
    format!("none of {cases} is selected\n  = help: {help}")
}

/// Name of a test that every suite has.
const CHECK: &str = "suite_check";

/// Builds the tests and finds the tests `suite_check` of every suite in them.
pub(crate) fn build_and_find_checks(build: &Build) -> Result<Vec<String>> {
    // The output of the build is shown while it runs.
    let mut list = cargo_test(build);
    list.args(["--", "--list", "--format", "terse"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let listed = list.output().of(&list)?;
    if !listed.status.success() {
        return Err(failed(&listed)?);
    }
    Ok(listed_checks(&listed))
}

/// The tests `suite_check` in a list that test programs have printed.
pub(crate) fn listed_checks(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
    tests.filter(|test| test.rsplit("::").next() == Some(CHECK)).map(str::to_owned).collect()
}

/// `cargo test` of the tests `suite_check`.
pub(crate) fn run_checks(build: &Build, checks: &[String]) -> Command {
    let mut tests = cargo_test(build);
    tests.args(["--no-fail-fast", "--", "--exact"]).args(checks).stdin(Stdio::null());
    tests
}

/// Builds the tests and gets the description of every suite in them.
pub(super) fn describe_suites(build: &Build) -> Result<Vec<SuiteDescription>> {
    let checks = build_and_find_checks(build)?;
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let directory = tempfile::tempdir()?;
    let mut checks = run_checks(build, &checks);
    let output = checks.env(DESCRIBE_VARIABLE, directory.path()).output().of(&checks)?;
    if !output.status.success() {
        return Err(failed(&output)?);
    }
    let mut suites: Vec<SuiteDescription> = read_files(directory.path())?;
    suites.sort_by(|left, right| (&left.check, &left.id).cmp(&(&right.check, &right.id)));
    let ids: Vec<SuiteId> = suites.iter().map(|suite| suite.id.clone()).collect();
    for (suite, label) in suites.iter_mut().zip(SuiteId::labels(&ids)) {
        suite.suite = label;
    }
    Ok(suites)
}

/// The suites, with names that differ.
pub(crate) fn suite_names(suites: &[SuiteDescription]) -> Vec<(SuiteId, String)> {
    suites.iter().map(|suite| (suite.id.clone(), suite.suite.clone())).collect()
}

/// The JSON files that test programs have written to a directory of ours.
pub(crate) fn read_files<T: FromJson>(directory: &Path) -> Result<Vec<T>> {
    let mut read = Vec::new();
    for entry in fs::read_dir(directory)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "json") {
            read.push(evalsuite_schema::json::from_slice(&fs::read(&file)?).at(&file)?);
        }
    }
    Ok(read)
}

/// Prints the output of a failed call of cargo.
pub(crate) fn failed(output: &Output) -> Result<CliError> {
    io::stderr().write_all(&output.stderr)?;
    io::stderr().write_all(&output.stdout)?;
    Ok(CliError::printed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(name: &str, tags: &[&str], cases: &[(&str, Option<&str>)]) -> SuiteDescription {
        let tests = cases.iter().map(|(id, bucket)| TestDescription {
            test: format!("{name}::{}", id.replace('-', "_")),
            case_id: (*id).to_owned(),
            tags: texts(tags),
            bucket: bucket.map(str::to_owned),
            ..TestDescription::default()
        });
        SuiteDescription {
            suite: name.to_owned(),
            check: format!("{name}::suite_check"),
            tests: tests.collect(),
            ..SuiteDescription::default()
        }
    }

    fn chosen(command: Run) -> Vec<String> {
        let suites = [
            suite("shop", &["fast", "nightly"], &[("refund-small", Some("money")), ("refund-late", None)]),
            suite("card", &["nightly"], &[("late", Some("dates"))]),
            suite("bare", &[], &[("a", None)]),
        ];
        match selected_tests(&command, &suites) {
            Ok(chosen) => chosen.tests(),
            Err(message) => vec![message],
        }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn tags_buckets_and_texts_choose_cases_and_the_checks_of_their_suites() {
        assert_eq!(chosen(Run::default()).len(), 4 + 3, "everything");
        let fast = Run { tags: texts(&["fast"]), ..Run::default() };
        assert_eq!(chosen(fast.clone()), ["shop::refund_late", "shop::refund_small", "shop::suite_check"]);
        let either = Run { tags: texts(&["fast", "nightly"]), filters: texts(&["late"]), ..Run::default() };
        assert_eq!(chosen(either), ["card::late", "card::suite_check", "shop::refund_late", "shop::suite_check"]);
        let without = Run { excluded_tags: texts(&["fast"]), ..Run::default() };
        assert_eq!(chosen(without), ["bare::a", "bare::suite_check", "card::late", "card::suite_check"]);
        let money = Run { buckets: texts(&["money"]), ..Run::default() };
        assert_eq!(chosen(money), ["shop::refund_small", "shop::suite_check"]);
        let by_id = Run { filters: texts(&["refund-small"]), ..fast };
        assert_eq!(chosen(by_id), ["shop::refund_small", "shop::suite_check"]);
    }

    #[test]
    fn a_name_that_no_case_has_is_reported_although_others_choose_cases() {
        let suites = [suite("shop", &["fast", "slow"], &[("refund-small", Some("money")), ("refund-late", None)])];
        let unmatched = |command: Run| unmatched_options(&command, &suites);
        let command = Run {
            tags: texts(&["fast", "fsat"]),
            excluded_tags: texts(&["slow", "slwo"]),
            buckets: texts(&["money", "mony", "x"]),
            filters: texts(&["shop", "refund", "refnud-late"]),
            ..Run::default()
        };
        let expected = [
            "no case has the tag `fsat`\n  = help: did you mean `fast`?",
            "no case has the tag `slwo`\n  = help: did you mean `slow`?",
            "no case has the bucket `mony`\n  = help: did you mean `money`?",
            "no case has the bucket `x`",
            "no id and no test name contains `refnud-late`\n  = help: did you mean `refund-late`?",
        ];
        assert_eq!(unmatched(command), expected);
        assert_eq!(unmatched(Run::default()), [""; 0]);
    }

    #[test]
    fn a_choice_of_nothing_lists_what_there_is() {
        let none = Run { tags: texts(&["fast"]), buckets: texts(&["dates"]), ..Run::default() };
        let expected = "none of 4 cases is selected\n  = help: there are the suites `bare`, `card`, `shop`; \
                        the tags `fast`, `nightly`; the buckets `dates`, `money`";
        assert_eq!(chosen(none), [expected]);
        let misspelled = Run { filters: texts(&["refnud-small"]), ..Run::default() };
        assert_eq!(chosen(misspelled), ["none of 4 cases is selected\n  = help: did you mean `refund-small`?"]);
        let message = selected_tests(&Run::default(), &[]).expect_err("there are no tests");
        assert!(message.starts_with("no suite is included in the tests of these packages\n"), "{message}");
    }
}
