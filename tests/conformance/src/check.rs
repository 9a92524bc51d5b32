//! One record through the loader, and what is left to explain.

use std::collections::BTreeMap;

use evalsuite_loader::{Loaded, LoadedCase, LoadedSuite, Request, load};
use evalsuite_schema::diagnostic::{Code, Diagnostic, Severity};
use serde_json::{Value, json};

use crate::claim;
use crate::complaint::{self, Complaint, Effect};
use crate::difference::{self, Difference};
use crate::place::Place;
use crate::record::Record;
use crate::reference_form::{self, Site};
use crate::rules::{self, Context};

/// What came of a record.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The rules that were needed, and for what.
    pub rules: BTreeMap<&'static str, String>,
    /// What no rule explains.
    pub unexplained: Vec<String>,
}

impl Verdict {
    fn need(&mut self, rule: Option<&'static str>, what: impl FnOnce() -> String) {
        match rule {
            Some(rule) => {
                self.rules.insert(rule, what());
            }
            None => self.unexplained.push(what()),
        }
    }
}

/// Loads the files of a record and compares the outcome with the recorded one.
pub fn check(record: &Record) -> Result<Verdict, String> {
    let mut verdict = Verdict::default();
    let Some(eval) = &record.eval else {
        // Records without a suite file are about the reference's command line.
        let is_command_line = record.json.get("args").is_some();
        verdict.need(is_command_line.then_some("command-line-paths"), || "there is no suite to load".to_owned());
        return Ok(verdict);
    };
    let files = record.materialise()?;
    let mut request = Request::new(eval.clone(), files.root.clone());
    request.workspace_root.clone_from(&files.root);
    let loaded = load(&request);
    let eval_dir = eval.rsplit_once('/').map_or("", |(directory, _)| directory);
    let site = Site { root: &files.root, eval_dir };
    let cx = Context { record, site, case_dir: eval_dir, id: "" };

    for diagnostic in &loaded.diagnostics {
        if let Err(reason) = claim::verify(diagnostic, &loaded.files, record, &files.root) {
            verdict.unexplained.push(reason);
        }
    }
    let complaints = complaint::all(record);
    complaints_answered(&complaints, &loaded, cx, &mut verdict);
    match &loaded.suite {
        Some(suite) => compare(suite, &complaints, cx, &mut verdict),
        None => refusals_explained(&complaints, &loaded, &mut verdict),
    }
    Ok(verdict)
}

/// What the reference finds wrong, we find wrong, too.
fn complaints_answered(complaints: &[Complaint], loaded: &Loaded, cx: Context<'_>, verdict: &mut Verdict) {
    for complaint in complaints {
        let answers = |diagnostic: &Diagnostic| {
            let directory = complaint.directory.as_deref();
            let case = complaint.case.as_deref();
            (complaint.codes.contains(&diagnostic.code) || complaint::is_about_anything(diagnostic))
                && directory.is_none_or(|directory| {
                    diagnostic.code != Code::MissingCaseFile || diagnostic.message.contains(directory)
                })
                && case.is_none_or(|case| Place::of(diagnostic, &loaded.files).may_be_in_case(case))
        };
        if complaint.effect == Effect::Unknown || loaded.diagnostics.iter().any(answers) {
            continue;
        }
        verdict.need(rules::excuse(complaint, cx), || {
            let found: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
            format!("the reference says {:?}, we find {found:?}", complaint.text)
        });
    }
}

/// An error of ours that the reference does not have is a documented difference, named after the diagnostic.
fn refusals_explained(complaints: &[Complaint], loaded: &Loaded, verdict: &mut Verdict) {
    for diagnostic in &loaded.diagnostics {
        // That a directory is passed over is no reason to refuse the suite.
        let shared = complaints
            .iter()
            .filter(|complaint| complaint.directory.is_none())
            .any(|complaint| complaint.effect != Effect::OtherFile && complaint.codes.contains(&diagnostic.code));
        if diagnostic.severity() == Severity::Error && !shared {
            verdict.rules.insert(diagnostic.code.name(), diagnostic.message.clone());
        }
    }
    if !loaded.diagnostics.has_errors() {
        verdict.unexplained.push("there is neither a suite nor an error".to_owned());
    }
}

/// The recorded tests are ours, in order and field by field.
fn compare(suite: &LoadedSuite, complaints: &[Complaint], cx: Context<'_>, verdict: &mut Verdict) {
    if let Some(kept) = cx.record.expected().get("kept") {
        kept_graders(kept, suite, cx, verdict);
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
            surplus(case, complaints, cx, verdict);
        }
        match ours.next_if(|case| case.case.id == id) {
            Some(case) => {
                let case_dir = case.case.dir.as_str();
                fields(
                    test,
                    reference_form::test(&case.case, suite, cx.site),
                    Context { case_dir, id: &case.case.id, ..cx },
                    verdict,
                );
            }
            None => verdict.need(rules::left_out(test, cx), || {
                let next = ours.peek().map(|case| &case.case.id);
                format!("the reference has the test {id:?} here, we have {next:?}")
            }),
        }
    }
    for case in ours {
        surplus(case, complaints, cx, verdict);
    }
    if let Some(expected) = cx.record.expected().get("suite") {
        suite_level(expected, suite, cx, verdict);
    }
}

/// The graders of the only case, in what every grader has.
fn kept_graders(kept: &Value, suite: &LoadedSuite, cx: Context<'_>, verdict: &mut Verdict) {
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
    // What a record does not tell of a grader is not compared.
    let told = |difference: &&Difference| difference.expected.is_some();
    let all = difference::between(&json!({ "graders": kept }), &json!({ "graders": ours }));
    for difference in all.iter().filter(told) {
        verdict.need(rules::explain(difference, cx), || difference.to_string());
    }
}

fn surplus(case: &LoadedCase, complaints: &[Complaint], cx: Context<'_>, verdict: &mut Verdict) {
    let id = &case.case.id;
    verdict.need(rules::added(id, complaints, cx), || format!("we have a test {id:?}, the reference has none"));
}

fn fields(test: &Value, mut ours: Value, cx: Context<'_>, verdict: &mut Verdict) {
    let expected = reference_form::normal_test(test);
    reference_form::align(&expected, cx.record, &mut ours);
    for difference in difference::between(&expected, &ours) {
        verdict.need(rules::explain(&difference, cx), || format!("test {}: {difference}", test["id"]));
    }
}

fn suite_level(expected: &Value, suite: &LoadedSuite, cx: Context<'_>, verdict: &mut Verdict) {
    let expected = reference_form::normal_suite(expected);
    let mut ours = reference_form::suite(suite);
    reference_form::align_suite(&expected, cx.record, &mut ours);
    for difference in difference::between(&expected, &ours) {
        verdict.need(rules::explain(&difference, cx), || format!("suite: {difference}"));
    }
}

/// Whether the record's filter takes this test. Filters are the test runner's here: what the reference takes counts.
fn is_selected(id: &str, record: &Record) -> bool {
    let mut taken = record.expected()["tests"].as_array().into_iter().flatten();
    record.json.get("filter").is_none() || taken.any(|test| test["id"] == id)
}
