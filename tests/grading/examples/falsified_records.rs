//! Falsifies recorded grades, and ours, and prints how many of the false results are found.
//!
//! A rule that explains a difference should say what both sides print. If it accepts anything, a wrong grade of ours can hide behind it.
//!
//! `falsified_records`, or `falsified_records KIND` with a line for every false result of the kind, or of `all`, that is not found.

use std::collections::BTreeMap;

use evalsuite::Verdict;
use evalsuite::record::{GraderRecord, GraderState};
use evalsuite_conformance::record::Record;
use evalsuite_conformance::test_data::Vectors;
use evalsuite_grading_tests::graders::{self, RecordCheck};
use evalsuite_grading_tests::{dependents, scoring, trials};
use evalsuite_schema::json::{Value, json};

/// The rule about what only one side loads: there are no two results to compare.
const ONE_SIDED: &str = "decided-at-load-time";

/// A way to falsify a record; `false` if there is nothing to falsify.
type Falsify = fn(&mut Value) -> bool;

/// The same for a grade of ours.
type FalsifyOurs = fn(&mut GraderRecord) -> bool;

/// Runs a record and explains every difference.
type Check = fn(&Record) -> Result<RecordCheck, String>;

/// Falsified results of the reference.
const THEIRS: &[(&str, Falsify)] = &[
    ("their score", |expected| flip_number(&mut expected["score"])),
    ("their verdict", |expected| flip_verdict(&mut expected["verdict"])),
    ("their score, verdict", |expected| flip_number(&mut expected["score"]) && flip_verdict(&mut expected["verdict"])),
    ("their assertion", |expected| {
        let passed = expected.pointer("/assertions/0/passed").and_then(Value::as_bool);
        let Some(passed) = passed else { return false };
        expected["assertions"][0]["passed"] = json!(!passed);
        true
    }),
    ("their whole grade", |expected| {
        let is_graded = flip_number(&mut expected["score"]) && flip_verdict(&mut expected["verdict"]);
        for assertion in expected["assertions"].as_array_mut().into_iter().flatten().filter(|_| is_graded) {
            assertion["passed"] = json!(assertion["passed"] != true);
        }
        is_graded
    }),
    ("their status", |expected| match expected["execution_status"].as_str() {
        Some("ok") => set(&mut expected["execution_status"], "quality_failure"),
        Some("quality_failure" | "execution_error") => set(&mut expected["execution_status"], "ok"),
        _ => false,
    }),
];

/// Falsified results of ours.
const OURS: &[(&str, FalsifyOurs)] = &[
    ("our value", |ours| match &mut ours.value {
        Some(value) => {
            *value = if *value < 0.5 { 1.0 } else { 0.0 };
            true
        }
        None => false,
    }),
    ("our verdict", |ours| match &mut ours.verdict {
        Some(verdict) => {
            *verdict = !*verdict;
            true
        }
        None => false,
    }),
    ("our whole grade", |ours| {
        let is_decided = ours.state == GraderState::Decided;
        if is_decided {
            ours.value = ours.value.map(|value| if value < 0.5 { 1.0 } else { 0.0 });
            ours.verdict = ours.verdict.map(|verdict| !verdict);
            ours.assertions.iter_mut().for_each(|assertion| assertion.passed = !assertion.passed);
        }
        is_decided
    }),
    ("our error, a fail", |ours| decided(ours, 0.0)),
    ("our error, a pass", |ours| decided(ours, 1.0)),
    ("our grade, an error", |ours| {
        if ours.state != GraderState::Decided {
            return false;
        }
        (ours.state, ours.value, ours.verdict) = (GraderState::Error, None, None);
        ours.error = Some("something is wrong".to_owned());
        true
    }),
    ("our assertion", |ours| match ours.assertions.first_mut().filter(|_| ours.state == GraderState::Decided) {
        Some(assertion) => {
            assertion.passed = !assertion.passed;
            true
        }
        None => false,
    }),
];

fn decided(ours: &mut GraderRecord, value: f64) -> bool {
    let is_error = ours.state == GraderState::Error;
    if is_error {
        (ours.state, ours.value, ours.error, ours.code) = (GraderState::Decided, Some(value), None, None);
        ours.verdict = Some(Verdict::from_passed(value > 0.0));
    }
    is_error
}

fn flip_number(value: &mut Value) -> bool {
    let Some(number) = value.as_f64() else { return false };
    *value = json!(if number < 0.5 { 1.0 } else { 0.0 });
    true
}

fn flip_verdict(value: &mut Value) -> bool {
    match value.as_str() {
        Some("pass") => set(value, "fail"),
        Some("fail") => set(value, "pass"),
        _ => false,
    }
}

fn set(value: &mut Value, text: &str) -> bool {
    *value = json!(text);
    true
}

/// The recorded results within a record.
fn results(json: &mut Value) -> Vec<&mut Value> {
    let has_own =
        |json: &Value| json["tests"].as_array().is_some_and(|tests| tests.iter().any(|it| it["expected"].is_object()));
    if has_own(json) {
        return json["tests"].as_array_mut().into_iter().flatten().map(|test| &mut test["expected"]).collect();
    }
    let expected = &mut json["expected"];
    if expected["run"]["results"].is_array() {
        return expected["run"]["results"].as_array_mut().into_iter().flatten().collect();
    }
    if expected["graders"].is_array() {
        return expected["graders"].as_array_mut().into_iter().flatten().collect();
    }
    vec![expected]
}

#[derive(Default)]
struct Count {
    found: usize,
    all: usize,
}

struct Counts<'a> {
    /// By kind of record and way to falsify.
    counts: BTreeMap<(String, &'static str), Count>,
    /// Results that are not found, by the rules that accept them.
    accepted: BTreeMap<String, usize>,
    shown: Option<&'a str>,
}

impl Counts<'_> {
    fn add(&mut self, kind: &str, record: &str, how: &'static str, checked: &RecordCheck) {
        let count = self.counts.entry((kind.to_owned(), how)).or_default();
        count.all += 1;
        count.found += usize::from(!checked.unexplained.is_empty());
        if checked.unexplained.is_empty() {
            *self.accepted.entry(format!("{:?}", checked.rules)).or_default() += 1;
            if self.shown.is_some_and(|shown| shown == kind || shown == "all") {
                println!("{record}: {how}: {:?}", checked.rules);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shown = std::env::args().nth(1);
    let vectors = Vectors::find()?;
    let mut counts = Counts { counts: BTreeMap::new(), accepted: BTreeMap::new(), shown: shown.as_deref() };
    let wanted = |kind: &str| shown.as_deref().is_none_or(|shown| shown == kind || shown == "all");
    for file in ["graders", "code_grader", "rubrics"] {
        for line in vectors.lines(file)?.iter().filter(|line| wanted(line.kind())) {
            let record = line.record()?;
            // Those that need variables run in processes of their own.
            if record.env.is_empty() {
                falsify_grades(&record, &mut counts)?;
            }
        }
    }
    let files: [(&str, Check); 3] =
        [("scoring", scoring::check), ("trials", trials::check), ("loader", dependents::check)];
    for (file, check) in files {
        for line in vectors.lines(file)?.iter().filter(|line| wanted(line.kind())) {
            if file == "loader" && !line.contains("\"run\":") {
                continue;
            }
            each_falsified(&line.record()?, &mut counts, check)?;
        }
    }
    let (mut found, mut all) = (0, 0);
    for ((kind, how), count) in &counts.counts {
        println!("{kind:<18} {how:<22} {:>4} of {:>4}", count.found, count.all);
        found += count.found;
        all += count.all;
    }
    for (rules, count) in &counts.accepted {
        println!("{count:>4} accepted by {rules}");
    }
    println!("{found} of {all} found");
    Ok(())
}

fn falsify_grades(record: &Record, counts: &mut Counts<'_>) -> Result<(), String> {
    let mut ran = graders::run(record)?;
    if graders::explain(record, &ran)?.rules.contains(ONE_SIDED) {
        return Ok(());
    }
    each_falsified(record, counts, |falsified| graders::explain(falsified, &ran))?;
    let count = ran.replay.cases.iter().flat_map(|case| &case.trials).map(|trial| trial.graders.len()).sum();
    for index in 0..count {
        for (how, falsify) in OURS {
            let case = ran.replay.cases.first_mut().and_then(|case| case.trials.first_mut());
            let Some(ours) = case.and_then(|trial| trial.graders.get_mut(index)) else { continue };
            let kept = ours.clone();
            let is_false = falsify(ours);
            if is_false {
                counts.add(record.kind(), &record.id, how, &graders::explain(record, &ran)?);
            }
            let case = ran.replay.cases.first_mut().and_then(|case| case.trials.first_mut());
            if let Some(ours) = case.and_then(|trial| trial.graders.get_mut(index)) {
                *ours = kept;
            }
        }
    }
    Ok(())
}

fn each_falsified(
    record: &Record,
    counts: &mut Counts<'_>,
    check: impl Fn(&Record) -> Result<RecordCheck, String>,
) -> Result<(), String> {
    if check(record)?.rules.contains(ONE_SIDED) {
        return Ok(());
    }
    for index in 0..results(&mut record.json.clone()).len() {
        for (how, falsify) in THEIRS {
            let mut falsified = record.clone();
            let is_false = results(&mut falsified.json).into_iter().nth(index).is_some_and(falsify);
            if is_false {
                counts.add(record.kind(), &record.id, how, &check(&falsified)?);
            }
        }
    }
    Ok(())
}
