//! What a run says about itself.

use std::fs;

use evalsuite::record::{HookState, RunRecord, SuiteRecord};
use evalsuite::{Evals, RunOptions, Trial};
use evalsuite_schema::json::{FromJson, from_slice, json};

use crate::common::{case_json, contains, run, run_with, suite};

async fn hello(_: &mut Trial<'_>) -> anyhow::Result<String> {
    Ok("hello".into())
}

#[test]
fn a_run_names_its_suites_and_their_tests_once() {
    let directory = tempfile::tempdir().unwrap();
    let cases = ["a", "b"].map(|id| case_json(id, json!([contains("hello")]), json!({})));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(hello);
    // A part of the suite, twice in the same run.
    let part = || RunOptions::new().with_filter("a").with_run_id("one");
    run_with(&evals, directory.path(), part());
    run_with(&evals, directory.path(), part());
    let run_directory = directory.path().join("runs/one");
    let record: RunRecord = read(&run_directory.join("run.json"));
    assert_eq!((record.schema.as_str(), record.run_id.as_str()), ("evalsuite.run/1", "one"));
    assert_eq!((record.package.as_str(), record.package_version.as_str()), ("demo", "1.2.3"));
    assert_eq!(record.git, None, "the package lies in no repository");
    assert_eq!(record.suites.len(), 1);
    let entry = &record.suites[0];
    assert_eq!((entry.name.as_str(), entry.tests, entry.before_all), ("x", 2, HookState::None));
    let key = fs::read_dir(run_directory.join("suites")).unwrap().next().unwrap().unwrap().path();
    let suite: SuiteRecord = read(&key.join("suite.json"));
    let names: Vec<&str> = suite.tests.iter().map(|test| test.test_name.as_str()).collect();
    assert_eq!((suite.name.as_str(), names.as_slice()), ("x", ["x::a", "x::b"].as_slice()));
}

#[test]
fn the_newest_run_is_the_latest() {
    let directory = tempfile::tempdir().unwrap();
    let case = case_json("a", json!([contains("hello")]), json!({}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(hello);
    let ids = [run(&evals, directory.path()), run(&evals, directory.path())].map(|report| report.run_id().to_owned());
    assert_ne!(ids[0], ids[1]);
    assert_eq!(fs::read_to_string(directory.path().join("latest")).unwrap(), ids[1]);
    assert!(ids.iter().all(|id| directory.path().join("runs").join(id).join("run.json").is_file()));
}

fn read<T: FromJson>(path: &std::path::Path) -> T {
    from_slice(&fs::read(path).unwrap()).unwrap()
}
