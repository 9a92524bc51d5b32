//! Tests of the settings.

use std::cell::RefCell;
use std::collections::BTreeSet;

use evalsuite_schema::variable::{Topic, VARIABLES, Variable};

use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Settings, SettingError> {
    let names: Vec<String> = variables.iter().map(|(name, _)| (*name).to_owned()).collect();
    let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
    Settings::read(lookup, &names)
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_unicode_is_reported_once() {
    use std::os::unix::ffi::OsStringExt;
    let broken = |name: &str| (name == "EVALSUITE_MODE").then(|| OsString::from_vec(vec![b'l', 0xff]));
    let error = Settings::read(broken, &["EVALSUITE_MODE".to_owned()]).unwrap_err().to_string();
    assert_eq!(error, "EVALSUITE_MODE is not valid Unicode");
}

#[test]
fn an_unknown_variable_is_an_error_with_a_suggestion() {
    let variables = [("EVALSUITE_TIMEOUT", "5"), ("EVALSUITE_TRIALS", "x"), ("EVALSUITE_DURABLE", "yes")];
    let error = read(&variables).unwrap_err().to_string();
    assert!(error.contains("EVALSUITE_TRIALS is `x`"), "{error}");
    assert!(error.contains("EVALSUITE_DURABLE is `yes`, not 1, true, 0 or false"), "{error}");
    assert!(
        error.contains("EVALSUITE_TIMEOUT is not a variable of evalsuite; did you mean EVALSUITE_TIMEOUT_SECONDS?"),
        "{error}"
    );
}

#[test]
fn the_table_of_variables_lists_what_is_read() {
    let asked = RefCell::new(BTreeSet::new());
    let lookup = |name: &str| {
        asked.borrow_mut().insert(name.to_owned());
        None
    };
    Settings::read(lookup, &[]).unwrap();
    let of_run = |variable: &&Variable| matches!(variable.topic, Topic::Run | Topic::Judge);
    let listed: BTreeSet<String> = VARIABLES.iter().filter(of_run).map(|variable| variable.name.to_owned()).collect();
    let mut read = asked.into_inner();
    let is_internal = |name: &str| VARIABLES.iter().any(|it| it.name == name && it.topic == Topic::Internal);
    read.retain(|name| !name.starts_with("NEXTEST_") && !is_internal(name));
    read.insert(environment::FILE.to_owned());
    assert_eq!(read, listed);
}

#[test]
fn without_variables_settings_have_their_defaults() {
    let plain = Settings {
        confirm: DEFAULT_CONFIRMING,
        runner: Runner { attempt: 1, total_attempts: 1, ..Runner::default() },
        ..Settings::default()
    };
    assert_eq!(read(&[]), Ok(plain.clone()));
    assert_eq!(read(&[("EVALSUITE_REQUIRE", ""), ("EVALSUITE_MODE", "live")]), Ok(plain));
}

#[test]
fn values_are_read() {
    let settings = read(&[
        ("EVALSUITE_REQUIRE", "true"),
        ("EVALSUITE_TRIALS", "5"),
        ("EVALSUITE_THRESHOLD", "0.5"),
        ("EVALSUITE_TIMEOUT_SECONDS", "1.5"),
        ("EVALSUITE_TARGET", "a, b"),
        ("EVALSUITE_RETRIES", "2"),
        ("EVALSUITE_BUDGET_USD", "0.5"),
        ("EVALSUITE_SEALED", "required"),
        ("EVALSUITE_WORKERS", "1000"),
        ("EVALSUITE_MODE", "replay"),
        ("EVALSUITE_TARGETS", "ci/targets.yaml"),
        ("NEXTEST_ATTEMPT", "2"),
        ("NEXTEST_TOTAL_ATTEMPTS", "3"),
    ])
    .unwrap();
    assert!(settings.require);
    assert_eq!((settings.trials, settings.threshold), (Some(5), Some(0.5)));
    assert_eq!(settings.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(settings.targets, Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!((settings.retries, settings.budget_usd, settings.workers), (2, Some(0.5), Some(1000)));
    assert_eq!((settings.runner.attempt, settings.runner.total_attempts), (2, 3));
    assert_eq!(settings.mode, Mode::Replay);
    assert_eq!(settings.targets_file, Some(PathBuf::from("ci/targets.yaml")));
}

#[test]
fn a_judge_is_read() {
    let judge = read(&[
        ("EVALSUITE_JUDGE_URL", "http://localhost:1/v1"),
        ("EVALSUITE_JUDGE_MODEL", "m"),
        ("EVALSUITE_JUDGE_TIMEOUT_SECONDS", "2"),
        ("EVALSUITE_JUDGE_TEMPERATURE", "0.5"),
        ("EVALSUITE_JUDGE_CONFIRM", "0"),
        ("EVALSUITE_JUDGE_PRICE", "0.15/0.6"),
    ])
    .unwrap()
    .judge;
    let endpoint = judge.endpoint.unwrap();
    assert_eq!((endpoint.model.as_str(), endpoint.key, endpoint.price), ("m", None, Some((0.15, 0.6))));
    assert_eq!((judge.limit, judge.temperature), (Some(Duration::from_secs(2)), Some(0.5)));
    assert_eq!(judge.confirm, Some(0));
    let targets = read(&[("EVALSUITE_JUDGE_TARGET", "a, b")]).unwrap().judge.targets;
    assert_eq!(targets, Some(vec!["a".to_owned(), "b".to_owned()]));
    let both = [("EVALSUITE_JUDGE_TARGET", "a"), ("EVALSUITE_JUDGE_URL", "http://x"), ("EVALSUITE_JUDGE_MODEL", "m")];
    assert!(read(&both).unwrap_err().to_string().contains("set one of them"));
}

#[test]
fn every_variable_with_an_invalid_value_is_named() {
    let wrong = [
        ("EVALSUITE_KEEP", "yes"),
        ("EVALSUITE_TRIALS", "0"),
        ("EVALSUITE_TRIALS", "1001"),
        ("EVALSUITE_TRIALS", "2.0"),
        ("EVALSUITE_THRESHOLD", "NaN"),
        ("EVALSUITE_THRESHOLD", "80"),
        ("EVALSUITE_TIMEOUT_SECONDS", "0"),
        ("EVALSUITE_TIMEOUT_SECONDS", "inf"),
        ("EVALSUITE_TARGET", "a,,b"),
        ("EVALSUITE_MODE", "rewind"),
        ("EVALSUITE_PROBE", "1"),
        ("EVALSUITE_MCP", "on"),
        ("EVALSUITE_RETRIES", "11"),
        ("EVALSUITE_RETRIES", "-1"),
        ("EVALSUITE_BUDGET_USD", "0"),
        ("EVALSUITE_BUDGET_USD", "inf"),
        ("EVALSUITE_SEALED", "yes"),
        ("EVALSUITE_WORKERS", "0"),
        ("EVALSUITE_WORKERS", "1001"),
        ("EVALSUITE_JUDGE_URL", "http://localhost"),
        ("EVALSUITE_JUDGE_MODEL", "m"),
        ("EVALSUITE_JUDGE_TARGET", ","),
        ("EVALSUITE_JUDGE_TIMEOUT_SECONDS", "0"),
        ("EVALSUITE_JUDGE_TEMPERATURE", "2.1"),
        ("EVALSUITE_JUDGE_CONFIRM", "12"),
        ("EVALSUITE_JUDGE_CONFIRM", "1"),
        ("EVALSUITE_JUDGE_PRICE", "1"),
    ];
    for (name, value) in wrong {
        assert!(read(&[(name, value)]).unwrap_err().to_string().contains(name), "{name}={value}");
    }
    assert_eq!(read(&[("EVALSUITE_REGRADE", "latest")]).map(|settings| settings.mode), Ok(Mode::Regrade));
    assert!(read(&[("EVALSUITE_REGRADE", "latest"), ("EVALSUITE_MODE", "record")]).is_err());
    let both = read(&[("EVALSUITE_KEEP", "x"), ("EVALSUITE_TRIALS", "x")]).unwrap_err().to_string();
    assert!(both.contains("EVALSUITE_KEEP") && both.contains("EVALSUITE_TRIALS"), "{both}");
}
