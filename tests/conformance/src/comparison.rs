//! Loads the files of a record and compares the result with the recorded one.

use std::collections::BTreeMap;

use evalsuite_loader::{Loaded, LoadedCase, LoadedSuite, Request, load};
use evalsuite_schema::diagnostics::{Code, Diagnostic, Severity};
use evalsuite_schema::json::{Value, json};

use crate::complaint::{Complaint, Effect};
use crate::difference::Difference;
use crate::record::Record;
use crate::reference_form::RecordPaths;
use crate::rules::RuleContext;
use crate::source_excerpt::SourceExcerpt;
use crate::{claim, complaint, difference, reference_form, rules};

/// The result of comparing a record with ours.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The rules that explain differences, and the differences.
    pub rules: BTreeMap<&'static str, String>,
    /// Differences that no rule explains.
    pub unexplained: Vec<String>,
}

impl Comparison {
    fn record(&mut self, rule: Option<&'static str>, what: impl FnOnce() -> String) {
        match rule {
            Some(rule) => {
                self.rules.insert(rule, what());
            }
            None => self.unexplained.push(what()),
        }
    }
}

/// Loads the files of a record and compares the result with the recorded one.
pub fn check(record: &Record) -> Result<Comparison, String> {
    let mut comparison = Comparison::default();
    let Some(eval) = &record.eval else {
        // Records without a suite file test the reference's command line.
        let is_command_line = record.json.get("args").is_some();
        comparison.record(is_command_line.then_some("command-line-paths"), || "there is no suite to load".to_owned());
        return Ok(comparison);
    };
    let files = record.materialise()?;
    let mut request = Request::new(eval.clone(), files.root.clone());
    request.workspace_root.clone_from(&files.root);
    let loaded = load(&request);
    let eval_dir = eval.rsplit_once('/').map_or("", |(directory, _)| directory);
    let paths = RecordPaths { root: &files.root, eval_dir };
    let cx = RuleContext { record, paths, case_dir: eval_dir, id: "" };

    for diagnostic in &loaded.diagnostics {
        if let Err(reason) = claim::verify(diagnostic, &loaded.files, record, &files.root) {
            comparison.unexplained.push(reason);
        }
    }
    let complaints = complaint::all(record);
    check_complaints(&complaints, &loaded, cx, &mut comparison);
    match &loaded.suite {
        Some(suite) => compare(suite, &complaints, cx, &mut comparison),
        None => check_additional_errors(&complaints, &loaded, cx, &mut comparison),
    }
    Ok(comparison)
}

/// Every complaint of the reference has a corresponding diagnostic of ours.
fn check_complaints(complaints: &[Complaint], loaded: &Loaded, cx: RuleContext<'_>, comparison: &mut Comparison) {
    for complaint in complaints {
        let answers = |diagnostic: &Diagnostic| {
            let directory = complaint.directory.as_deref();
            let case = complaint.case.as_deref();
            (complaint.codes.contains(&diagnostic.code) || complaint::is_unusable_input(diagnostic))
                && directory.is_none_or(|directory| {
                    diagnostic.code != Code::MissingCaseFile || diagnostic.message.contains(directory)
                })
                && case.is_none_or(|case| SourceExcerpt::of(diagnostic, &loaded.files).may_be_in_case(case))
        };
        if complaint.effect == Effect::Unknown || loaded.diagnostics.iter().any(answers) {
            continue;
        }
        comparison.record(rules::excuse(complaint, cx), || {
            let found: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
            format!("the reference reports {:?}, we report {found:?}", complaint.text)
        });
    }
}

/// An error that only we report is a documented difference, named after the diagnostic.
fn check_additional_errors(
    complaints: &[Complaint],
    loaded: &Loaded,
    cx: RuleContext<'_>,
    comparison: &mut Comparison,
) {
    // The reference ends with its first error, and does not read what else is wrong.
    let is_shared = |complaint: &Complaint| {
        let codes = complaint.codes;
        loaded.diagnostics.iter().any(|diagnostic| codes.contains(&diagnostic.code))
            || rules::excuse(complaint, cx).is_some()
    };
    if complaints.iter().any(|complaint| complaint.effect == Effect::Suite && is_shared(complaint)) {
        return;
    }
    for diagnostic in &loaded.diagnostics {
        // A skipped directory is not a reason to reject the suite.
        let shared = complaints
            .iter()
            .filter(|complaint| complaint.directory.is_none())
            .any(|complaint| complaint.effect != Effect::OtherFile && complaint.codes.contains(&diagnostic.code));
        if diagnostic.severity() == Severity::Error && !shared {
            comparison.rules.insert(diagnostic.code.name(), diagnostic.message.clone());
        }
    }
    if !loaded.diagnostics.has_errors() {
        comparison.unexplained.push("there is neither a suite nor an error".to_owned());
    }
}

/// Our cases equal the recorded tests, in order and field by field.
fn compare(suite: &LoadedSuite, complaints: &[Complaint], cx: RuleContext<'_>, comparison: &mut Comparison) {
    if let Some(kept) = cx.record.expected().get("kept") {
        compare_graders(kept, suite, cx, comparison);
        return;
    }
    let none = Vec::new();
    let expected = cx.record.expected()["tests"].as_array().unwrap_or(&none);
    let mut ours = suite.cases.iter().filter(|case| is_selected(&case.case.id, cx.record)).peekable();
    for test in expected {
        let id = test["id"].as_str().unwrap_or_default();
        while let Some(case) =
            ours.next_if(|case| case.case.id != id && !expected.iter().any(|other| other["id"] == case.case.id))
        {
            unexpected_case(case, complaints, cx, comparison);
        }
        match ours.next_if(|case| case.case.id == id) {
            Some(case) => {
                let case_dir = case.case.dir.as_str();
                compare_fields(
                    test,
                    reference_form::test(&case.case, suite, cx.paths),
                    RuleContext { case_dir, id: &case.case.id, ..cx },
                    comparison,
                );
            }
            None => comparison.record(rules::left_out(test, cx), || {
                let next = ours.peek().map(|case| &case.case.id);
                format!("the reference has the test {id:?} here, we have {next:?}")
            }),
        }
    }
    for case in ours {
        unexpected_case(case, complaints, cx, comparison);
    }
    if suite.cases.is_empty() {
        comparison.unexplained.push("the suite has no cases, and there is no error".to_owned());
    }
    if let Some(expected) = cx.record.expected().get("suite") {
        compare_suite_level(expected, suite, cx, comparison);
    }
}

/// Compares the common fields of the graders of the only case.
fn compare_graders(kept: &Value, suite: &LoadedSuite, cx: RuleContext<'_>, comparison: &mut Comparison) {
    let graders = suite.cases.iter().flat_map(|case| &case.case.graders);
    let ours: Value = graders
        .map(|grader| {
            let mut form = json!({
                "name": grader.name,
                "weight": grader.weight,
                "required": grader.required,
                "negate": grader.negate,
            });
            if let Some(mark) = grader.min_score {
                form["min_score"] = json!(mark);
            }
            form
        })
        .collect();
    // Fields that a record does not contain are not compared.
    let is_recorded = |difference: &&Difference| difference.expected.is_some();
    let all = difference::between(&json!({ "graders": kept }), &json!({ "graders": ours }));
    for difference in all.iter().filter(is_recorded) {
        comparison.record(rules::explain(difference, cx), || difference.to_string());
    }
}

fn unexpected_case(case: &LoadedCase, complaints: &[Complaint], cx: RuleContext<'_>, comparison: &mut Comparison) {
    let id = &case.case.id;
    comparison.record(rules::added(id, complaints, cx), || format!("we have a test {id:?}, the reference does not"));
}

fn compare_fields(test: &Value, mut ours: Value, cx: RuleContext<'_>, comparison: &mut Comparison) {
    let expected = reference_form::normal_test(test);
    reference_form::align(&expected, cx.record, &mut ours);
    for difference in difference::between(&expected, &ours) {
        comparison.record(rules::explain(&difference, cx), || format!("test {}: {difference}", test["id"]));
    }
}

fn compare_suite_level(expected: &Value, suite: &LoadedSuite, cx: RuleContext<'_>, comparison: &mut Comparison) {
    let expected = reference_form::normal_suite(expected);
    let mut ours = reference_form::suite(suite);
    reference_form::align_suite(&expected, cx.record, &mut ours);
    for difference in difference::between(&expected, &ours) {
        comparison.record(rules::explain(&difference, cx), || format!("suite: {difference}"));
    }
}

/// Whether the record's filter selects this test. Filters belong to the test runner here, so the reference decides.
fn is_selected(id: &str, record: &Record) -> bool {
    let mut selected = record.expected()["tests"].as_array().into_iter().flatten();
    record.json.get("filter").is_none() || selected.any(|test| test["id"] == id)
}
