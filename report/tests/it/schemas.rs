//! What is written as JSON for other programs is what its schema says.

use std::collections::BTreeSet;
use std::path::Path;

use evalsuite_records::record::{AnswerPair, JudgeRecord, PairRecord, PairReply, ReasonCode, RunSummary, Side, Usage};
use evalsuite_records::summary::summarize_run;
use evalsuite_report::{
    CompareOptions, Comparison, GateOptions, Health, HealthOptions, JSON_SCHEMAS, RunData, SliceKey, SuiteHealth,
    answer_pairs, check_gates,
};
use evalsuite_schema::Value;
use evalsuite_tests::closed_schema::close;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// The schema of this name. Unlike what is published, it has every field that an object may have.
fn strict(name: &str) -> Value {
    let (_, text) = JSON_SCHEMAS.iter().find(|(kind, _)| *kind == name).expect("a schema of this name");
    let mut schema = evalsuite_schema::json::from_str(text).expect("JSON");
    close(&mut schema);
    schema
}

fn errors(name: &str, value: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&strict(name).into()).expect("a valid schema");
    validator.iter_errors(&value.into()).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn written(root: &Path, id: &str, skill: f64) -> RunData {
    let mut synthetic = SyntheticRun::new(id, 60, 5);
    synthetic.skill = skill;
    RunData::read(synthetic.write(root)).expect("the run can be read")
}

#[test]
fn summaries_are_what_their_schema_says() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let synthetic = written(root.path(), "run", 0.7);
    for directory in [synthetic.directory, Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/card-agent-run")] {
        let summary = summarize_run(&directory).expect("a summary");
        assert_eq!(errors("summary", &evalsuite_schema::json::to_value_by_serde(&summary).expect("JSON")), [""; 0]);
    }
}

#[test]
fn comparisons_are_what_their_schema_says() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let [base, run] = [("run-1", 0.95), ("run-2", 0.3)].map(|(id, skill)| written(root.path(), id, skill));
    let options = CompareOptions::new().with_slices_by(SliceKey::Bucket);
    let comparison = Comparison::new(&base, &run, &options);
    assert!(comparison.suites.iter().any(|suite| !suite.changes.is_empty() && !suite.slices.is_empty()));
    assert_eq!(errors("diff", &evalsuite_schema::json::to_value_by_serde(&comparison).expect("JSON")), [""; 0]);
    let asked = answer_pairs(&base, &run, None, &options);
    let judged: Vec<PairRecord> = asked.iter().enumerate().map(|(index, pair)| judged(index, pair)).collect();
    let comparison = comparison.with_judged_answers(&judged, &run, &options);
    assert!(comparison.suites.iter().all(|suite| suite.judged.is_some()));
    assert_eq!(errors("diff", &evalsuite_schema::json::to_value_by_serde(&comparison).expect("JSON")), [""; 0]);
}

#[test]
fn gates_and_health_are_what_their_schemas_say() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let run = written(root.path(), "run-1", 0.7);
    let gate = |text: &str| text.parse().expect("a gate");
    let gates = [gate("pass_rate >= 60%"), gate("cost <= $5 per bucket"), gate("suite:other score >= 0")];
    let report = check_gates(&run, &gates, GateOptions::new());
    assert!(report.results.iter().any(|result| result.slice.is_some() && result.value.is_some()), "{report}");
    assert!(report.results.iter().any(|result| result.value.is_none() && result.why.is_some()), "{report}");
    assert_eq!(errors("gate", &evalsuite_schema::json::to_value_by_serde(&report).expect("JSON")), [""; 0]);
    let runs = [run, written(root.path(), "run-2", 0.7)];
    let mut options = HealthOptions::default();
    (options.mature, options.graduation_runs, options.broken_trials) = (0.5, 1, 1);
    let health = Health::of(runs, &options);
    let cases = |of: fn(&SuiteHealth) -> usize| health.suites.iter().map(of).sum::<usize>();
    assert!(cases(|suite| suite.graduates.len()) > 0 && cases(|suite| suite.flaky.len()) > 0, "{health}");
    assert!(!health.judges.is_empty(), "{health}");
    assert_eq!(errors("health", &evalsuite_schema::json::to_value_by_serde(&health).expect("JSON")), [""; 0]);
}

/// What a judge could have said: something else about each third pair.
fn judged(index: usize, pair: &AnswerPair) -> PairRecord {
    let mut record = PairRecord::new(&pair.suite, &pair.target, &pair.case_id);
    let mut judge = JudgeRecord::default();
    judge.usage = Some(Usage::new(100, 10));
    record.judge = Some(judge);
    record.consistent = true;
    record.better = [Some(Side::Base), Some(Side::Run), None][index % 3];
    record.replies = Side::BOTH.map(|first| PairReply::new("small", first, record.better)).to_vec();
    if index % 10 == 9 {
        (record.better, record.error, record.code) = (None, Some("broken".to_owned()), Some(ReasonCode::JudgeError));
    }
    record
}

#[test]
fn other_values_are_not() {
    let empty = |name: &str| errors(name, &evalsuite_schema::json::json!({}));
    assert!(JSON_SCHEMAS.iter().all(|(name, _)| !empty(name).is_empty()));
    let mut summary = evalsuite_schema::json::to_value_by_serde(&RunSummary::new()).expect("JSON");
    assert_eq!(errors("summary", &summary), [""; 0]);
    summary["suites"] = evalsuite_schema::json::json!([{ "suite": 1 }]);
    assert!(!errors("summary", &summary).is_empty());
}

/// The fields of a public type in JSON, from the listing of the public API.
fn public_fields(type_name: &str) -> BTreeSet<String> {
    let listings = ["evalsuite_schema.txt", "evalsuite_records.txt", "evalsuite_report.txt"].map(|file| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/public-api").join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    });
    let field = |line: &str| {
        let (path, _) = line.strip_prefix("pub ")?.split_once(": ")?;
        let (owner, field) = path.rsplit_once("::")?;
        let is_field = !path.contains(' ') && owner.rsplit("::").next() == Some(type_name);
        is_field.then(|| field.to_owned())
    };
    let mut fields: BTreeSet<String> = listings.iter().flat_map(|listing| listing.lines().filter_map(field)).collect();
    if fields.remove("identity") {
        fields.extend(public_fields("CaseIdentity"));
    }
    fields
}

/// A field that is rarely written would be missed by the tests above.
#[test]
fn a_schema_has_the_fields_of_the_types_that_are_written() {
    for (name, root) in [
        ("summary", "RunSummary"),
        ("diff", "Comparison"),
        ("calibrate", "CalibrationRecord"),
        ("gate", "GateReport"),
        ("health", "Health"),
        ("lift", "RunLifts"),
    ] {
        let schema = strict(name);
        let definitions = schema["definitions"].as_object().expect("definitions");
        let types = definitions.iter().map(|(name, definition)| (name.as_str(), definition)).chain([(root, &schema)]);
        for (type_name, definition) in types {
            let Some(properties) = definition["properties"].as_object() else { continue };
            // `report` adds the rates of judged graders to the summary.
            let added = |field: &&String| !(type_name == "RunSummary" && *field == "judged_rates");
            let described: BTreeSet<String> = properties.keys().filter(added).cloned().collect();
            assert_eq!(described, public_fields(type_name), "{type_name} in the schema `{name}`");
        }
    }
}

#[test]
fn every_field_of_a_schema_is_described() {
    fn undescribed(path: &str, value: &Value, found: &mut Vec<String>) {
        for (name, field) in value["properties"].as_object().into_iter().flatten() {
            if field["description"].as_str().is_none_or(str::is_empty) {
                found.push(format!("{path}.{name}"));
            }
        }
        for (name, definition) in value["definitions"].as_object().into_iter().flatten() {
            undescribed(name, definition, found);
        }
    }
    for (name, text) in JSON_SCHEMAS {
        let mut found = Vec::new();
        undescribed(name, &evalsuite_schema::json::from_str(text).expect("JSON"), &mut found);
        assert_eq!(found, [""; 0]);
    }
}
