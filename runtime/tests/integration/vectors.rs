//! Recorded behaviour of the reference implementation, read from `EVALSUITE_VECTORS` or `../shared/vectors`.

use std::{collections::BTreeMap, fs, path::PathBuf};

use evalsuite::{
    AgentError, CaseOutcome, CaseReport, Evals, Evidence, Outcome, RunOptions, Score, Trial, Verdict,
    record::GraderState,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{case_json, grader, run_with, suite};

/// The records of a file; `None`, with a printed reason, where the vectors are not there.
fn vectors(file: &str) -> Option<Vec<Value>> {
    let folder = std::env::var_os("EVALSUITE_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors"), PathBuf::from);
    let path = folder.join(file);
    match fs::read_to_string(&path) {
        Ok(text) => Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()),
        Err(error) => {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!is_ci, "vectors must be there in CI: {}: {error}", path.display());
            println!("skipped: {}: {error}", path.display());
            None
        }
    }
}

/// Says what the record says.
#[derive(Deserialize)]
struct Fixed {
    score: f64,
    verdict: String,
}

fn fixed(config: Fixed, _: &Evidence<'_>) -> Score {
    match config.verdict.as_str() {
        "pass" => Score::new(config.score).verdict(Verdict::Pass),
        "fail" => Score::new(config.score).verdict(Verdict::Fail),
        _ => Score::error("the reference skipped this grader"),
    }
}

async fn answers(_: &mut Trial<'_>) -> anyhow::Result<String> {
    Ok("the answer".into())
}

/// Runs cases and calls `check` with the id and what became of it.
fn run_cases(kind: &str, cases: &[Value], evals: impl Fn(Evals) -> Evals, mut check: impl FnMut(&str, &CaseReport)) {
    let directory = tempfile::tempdir().unwrap();
    let evals = evals(Evals::new(suite("cases", kind, directory.path(), cases)));
    let report = run_with(&evals, directory.path(), RunOptions::new());
    assert_eq!(report.problems(), &[] as &[String]);
    assert_eq!(report.cases().len(), cases.len());
    for case in report.cases() {
        check(case.case().id(), case);
    }
}

fn outcome_of(status: &str) -> CaseOutcome {
    match status {
        "ok" => CaseOutcome::Passed,
        "quality_failure" => CaseOutcome::Failed,
        "execution_error" => CaseOutcome::Error,
        other => panic!("unknown status {other}"),
    }
}

#[track_caller]
fn close(id: &str, actual: Option<f64>, expected: f64) {
    let actual = actual.unwrap_or_else(|| panic!("{id}: no score, expected {expected}"));
    assert!((actual - expected).abs() < 1e-12, "{id}: score {actual}, expected {expected}");
}

#[test]
fn scores_of_trials_follow_the_vectors() {
    let Some(records) = vectors("scoring.jsonl") else { return };
    // Where we differ, on purpose.
    let differences: BTreeMap<&str, &str> = [
        ("scoring-028", "a threshold given for the run goes before the case's and the suite's"),
        ("scoring-042", "the suite's threshold is the effective one of its gates too"),
        ("scoring-057", "the suite's threshold is the effective one of its gates too"),
    ]
    .into();
    let mut cases = Vec::new();
    let mut expected = BTreeMap::new();
    for record in &records {
        let id = record["id"].as_str().unwrap();
        let threshold = |key: &str| record[key].as_f64().filter(|value| (0.0..=1.0).contains(value));
        // Whole suites and conversations are not trials; a threshold out of range is refused by the loader; that of the
        // run is the one of `EVALSUITE_THRESHOLD`, which goes first here and last there.
        let out_of_range = |key: &str| record[key].as_f64().is_some() && threshold(key).is_none();
        if !id.starts_with("scoring-")
            || differences.contains_key(id)
            || out_of_range("test_threshold")
            || out_of_range("suite_threshold")
            || record["cli_threshold"].is_number()
            || record["expected"]["failure_reason"] == "provider_error"
        {
            continue;
        }
        let graders: Vec<Value> = record["graders"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                let config = json!({"user": {"grader": "fixed", "config": {"score": entry["score"], "verdict": entry["verdict"]}}});
                let mut grader = grader(entry["name"].as_str().unwrap(), 7, config);
                grader["weight"] = entry["weight"].clone();
                grader["required"] = json!(!matches!(entry["required"], Value::Null | Value::Bool(false)));
                grader["min_score"] = entry["min_score"].clone();
                grader
            })
            .collect();
        if graders.is_empty() {
            continue;
        }
        let mut more = json!({});
        if let Some(threshold) = threshold("test_threshold").or(threshold("suite_threshold")) {
            more["threshold"] = json!(threshold);
        }
        cases.push(case_json(id, json!(graders), more));
        expected.insert(
            id.to_owned(),
            (record, threshold("suite_threshold").is_some() && record["test_threshold"].is_null()),
        );
    }
    assert!(cases.len() > 30, "only {} records", cases.len());
    let mut seen = 0;
    run_cases(
        "capability",
        &cases,
        |evals| evals.agent(answers).grader("fixed", fixed),
        |id, case| {
            let (record, by_suite) = expected[id];
            let expected = &record["expected"];
            // In the reference the suite's threshold does not reach the status of a test.
            let status = match (by_suite, &record["if_suite_threshold_reached_the_runner"]) {
                (true, Value::Object(other)) => other["execution_status"].as_str().unwrap(),
                _ => expected["execution_status"].as_str().unwrap(),
            };
            let outcome = outcome_of(status);
            if by_suite && outcome != case.outcome() {
                return;
            }
            assert_eq!(case.outcome(), outcome, "{id}: {case}");
            if outcome != CaseOutcome::Error {
                close(id, case.record().score, expected["score"].as_f64().unwrap());
            }
            seen += 1;
        },
    );
    assert!(seen > 30, "only {seen} records compared");
}

#[test]
fn trials_of_a_case_follow_the_vectors() {
    /// Says what the record says for each trial.
    async fn per_trial(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        let index = trial.index() as usize;
        let trials = trial.metadata("per_trial").and_then(Value::as_array).unwrap().clone();
        let now = &trials[index.min(trials.len() - 1)];
        if now["provider_error"] == true {
            return Err(AgentError::new("the provider failed"));
        }
        let answer = if now["grader_skip"] == true { "skip".to_owned() } else { now["score"].to_string() };
        let outcome = Outcome::new().text(answer);
        Ok(match now["cost_usd"].as_f64() {
            Some(cost) => outcome.cost_usd(cost),
            None => outcome,
        })
    }
    fn from_answer(evidence: &Evidence<'_>) -> anyhow::Result<f64> {
        Ok(evidence.answer().parse()?)
    }

    let Some(records) = vectors("trials.jsonl") else { return };
    let mut cases = Vec::new();
    let mut expected = BTreeMap::new();
    for record in &records {
        let id = record["id"].as_str().unwrap();
        let parsed = &record["expected"]["parsed_trials"];
        let Some(count) = parsed["count"].as_u64() else { continue };
        let mut trials = json!({"count": count, "strategy": record["strategy"]});
        if let Some(limit) = parsed["cost_limit_usd"].as_f64() {
            trials["cost_limit_usd"] = json!(limit);
        }
        let mut more = json!({"trials": trials, "metadata": {"per_trial": record["per_trial"]}});
        if let Some(threshold) = record["test_threshold"].as_f64() {
            more["threshold"] = json!(threshold);
        }
        let graders = json!([grader("from_answer", 7, json!({"user": {"grader": "from_answer"}}))]);
        cases.push(case_json(id, graders, more));
        expected.insert(id.to_owned(), record);
    }
    assert!(cases.len() > 25, "only {} records", cases.len());
    let evals = |evals: Evals| evals.agent(per_trial).grader("from_answer", from_answer);
    run_cases("capability", &cases, evals, |id, case| {
        let record = expected[id];
        let expected = &record["expected"];
        let any = record["strategy"] == "pass_at_k";
        // In the reference a trial passes at 0.8 whatever the threshold.
        if any && record["test_threshold"].is_number() {
            return;
        }
        assert_eq!(case.trials().len() as u64, expected["trials_run"].as_u64().unwrap(), "{id}");
        assert_eq!(json!(case.record().cost_limited), expected["cost_limited"], "{id}");
        let broken = case.record().errors > 0;
        // In the reference broken trials count as 0, and one good trial makes any strategy a success.
        if !broken {
            close(id, case.record().score, expected["score"].as_f64().unwrap());
        }
        if any && !broken {
            assert_eq!(case.outcome(), outcome_of(expected["execution_status"].as_str().unwrap()), "{id}");
        }
        if let (false, Some(deviation)) =
            (broken || case.record().truncated, expected["aggregation"]["stddev"].as_f64())
        {
            close(id, case.record().stddev, deviation);
            close(id, case.record().ci95_upper, expected["aggregation"]["ci95_upper"].as_f64().unwrap());
        }
    });
}

#[test]
fn text_graders_follow_the_vectors() {
    let Some(records) = vectors("graders.jsonl") else { return };
    let mut cases = Vec::new();
    let mut expected = BTreeMap::new();
    for record in &records {
        let id = record["id"].as_str().unwrap();
        let Some(config) = text_grader(record) else { continue };
        let mut entry = grader(record["expected"]["name"].as_str().unwrap_or("g"), 7, config);
        let written = |key: &str| &record["grader"][key];
        // Other types and ranges are refused by the loader.
        let is = |value: &Value, fits: fn(&Value) -> bool| value.is_null() || fits(value);
        let usable = is(written("weight"), |weight| weight.as_f64().is_some_and(|weight| weight >= 0.0))
            && is(written("min_score"), |mark| mark.as_f64().is_some_and(|mark| mark > 0.0 && mark <= 1.0))
            && is(written("negate"), Value::is_boolean);
        if !usable {
            continue;
        }
        for key in ["weight", "min_score", "negate"] {
            if !written(key).is_null() {
                entry[key] = written(key).clone();
            }
        }
        let more = json!({"metadata": {"answer": record["evidence"]["output"]}});
        cases.push(case_json(id, json!([entry]), more));
        expected.insert(id.to_owned(), &record["expected"]);
    }
    assert!(cases.len() > 200, "only {} records", cases.len());

    async fn recorded(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        Ok(trial.metadata("answer").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
    let mut wrong = Vec::new();
    run_cases(
        "capability",
        &cases,
        |evals| evals.agent(recorded),
        |id, case| {
            let expected = expected[id];
            let grader = &case.trials()[0].graders[0];
            let texts: Vec<(&str, bool)> = grader.assertions.iter().map(|a| (a.text.as_str(), a.passed)).collect();
            let wanted: Vec<(&str, bool)> = expected["assertions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|a| (a["text"].as_str().unwrap(), a["passed"].as_bool().unwrap()))
                .collect();
            let same =
                grader.state == GraderState::Decided && grader.value == expected["score"].as_f64() && texts == wanted;
            if !same {
                wrong.push(format!(
                    "{id}: {:?} {:?} {texts:?}, expected {} {wanted:?}",
                    grader.value, grader.error, expected["score"]
                ));
            }
        },
    );
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The resolved settings of a record's text grader; `None` for other graders and for entries the loader refuses.
fn text_grader(record: &Value) -> Option<Value> {
    let grader = record["grader"].as_object()?;
    let kind = grader.get("type")?.as_str()?.replace('_', "-");
    let plain = record["tags"].as_array().is_none_or(|tags| tags.iter().all(|tag| tag == "engine-text"));
    let usable = plain
        && record["expected"]["assertions"].is_array()
        && record["evidence"]["messages"].is_null()
        && record["evidence"]["output"].is_string()
        && !record.to_string().contains("${{");
    if !usable {
        return None;
    }
    let value = grader.get("value");
    let text = || value?.as_str().filter(|text| !text.is_empty()).map(|text| json!({"value": text}));
    let texts = || {
        let list = value?.as_array()?;
        let usable = !list.is_empty() && list.iter().all(|text| text.as_str().is_some_and(|text| !text.is_empty()));
        usable.then(|| json!({"value": list}))
    };
    let config = match kind.as_str() {
        "contains" | "icontains" | "starts-with" | "ends-with" | "equals" => text()?,
        "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => texts()?,
        "regex" => {
            let flags = match grader.get("flags") {
                None | Some(Value::Null) => "",
                Some(flags) => flags.as_str().filter(|flags| flags.chars().all(|flag| "imsxu".contains(flag)))?,
            };
            json!({"value": value?.as_str()?, "flags": flags})
        }
        "is-json" => return Some(json!("is-json")),
        _ => return None,
    };
    Some(json!({kind: config}))
}
