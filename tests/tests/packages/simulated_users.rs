//! Simulated users in users' packages: played by a service, recorded, and replayed without it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use evalsuite_needs::slow;
use evalsuite_schema::json::Value;
use evalsuite_tests::throwaway::{Call, MORE_FEATURES, Package, suites};

use crate::judging::chat_service::{Asked, Service, completion};

/// An agent that answers with the number of its turn. With `NO_AGENT` it fails, to show that it is not called.
const LIB: &str = r#"
pub fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, String> {
    match std::env::var_os("NO_AGENT") {
        Some(_) => Err("the agent is called".to_owned()),
        None => Ok(format!("This is answer {}.", trial.turn().unwrap_or_default())),
    }
}
"#;

const KEY: &str = "sk-very-secret-4711";

/// Cases whose users are told apart by their goals.
fn eval_yaml() -> String {
    let mut text = "execution: { timeout_seconds: 60 }\ntests:\n".to_owned();
    for (id, more) in [
        ("refund", "assertions: [Does not offer help]"),
        ("leaves", "assertions: [Does not offer help]"),
        ("endless", "max_turns: 3"),
        ("garbage", "max_turns: 3"),
        ("empty", "max_turns: 3"),
        ("twice", "max_turns: 3"),
        ("refusal", "max_turns: 3"),
        ("slow", "timeout_seconds: 0.2"),
        ("busy", "max_turns: 1"),
    ] {
        text.push_str(&format!(
            "  - id: {id}\n    conversation: {{ user: {{ persona: Ada, goal: GOAL-{id}, {more} }} }}\n    \
             assertions: [{{ type: contains, value: This is answer 1 }}]\n"
        ));
    }
    text
}

/// Whether a request was refused once.
static WAS_BUSY: AtomicBool = AtomicBool::new(false);

/// Plays the users, and judges them.
fn play(_: usize, (_, body): &Asked) -> (String, String) {
    let asked = body["messages"].to_string();
    let has = |text: &str| asked.contains(text);
    if !has("what this person says next") {
        let satisfied = !has("How can I help");
        let check = format!(r#"{{"id": "rubric-1", "satisfied": {satisfied}, "reasoning": "it does"}}"#);
        return completion(&format!(
            r#"{{"checks": [{check}], "overall_reasoning": "so", "undecided": false, "reason": null}}"#
        ));
    }
    let heard = asked.matches("the agent said").count();
    match () {
        () if has("GOAL-garbage") => completion("Certainly! What can I do?"),
        () if has("GOAL-empty") => completion(r#"{"message": "", "done": false}"#),
        () if has("GOAL-twice") => completion(r#"{"message": "a", "done": true, "done": false}"#),
        () if has("GOAL-refusal") => {
            let body = r#"{"choices": [{"message": {"content": null, "refusal": "I can't help with that."}}]}"#;
            ("200 OK".to_owned(), body.to_owned())
        }
        () if has("GOAL-slow") => {
            thread::sleep(Duration::from_millis(500));
            completion(r#"{"message": "late", "done": false}"#)
        }
        () if has("GOAL-busy") && !WAS_BUSY.swap(true, Ordering::Relaxed) => {
            ("503 Service Unavailable\r\nRetry-After: 0".to_owned(), "{}".to_owned())
        }
        () if has("GOAL-leaves") => completion(r#"{"message": "How can I help you today?", "done": false}"#),
        () if has("GOAL-endless") || has("GOAL-busy") => completion(r#"{"message": "And?", "done": false}"#),
        () => completion(&format!(r#"{{"message": "Message {heard}", "done": {}}}"#, heard == 2)),
    }
}

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write("suites/talks/EVAL.yaml", &eval_yaml())
        .write("tests/evals.rs", &format!("use {name}::agent;\nevalsuite::include_eval_suite!(\"suites/talks\");\n"));
    package
}

fn test(package: &Package) -> Call {
    package.cargo(["test", "--test", "evals", "--features", MORE_FEATURES, "--"])
}

fn with_service(call: Call, service: &Service, model: &str) -> Call {
    let call = call.env("EVALSUITE_JUDGE_URL", &service.url).env("EVALSUITE_JUDGE_MODEL", model);
    call.env("EVALSUITE_JUDGE_API_KEY", KEY).env("EVALSUITE_JUDGE_PRICE", "1/2")
}

fn only(package: &Package, case: &str) -> Value {
    let trials = package.records().of_case(case);
    trials.into_iter().next_back().unwrap_or_else(|| panic!("`{case}` has a trial"))
}

#[slow(builds)]
#[test]
fn a_service_plays_users_and_what_it_cannot_play_is_an_error_of_the_user() {
    let package = package("played");
    let featureless = package.cargo(["test", "--test", "evals"]).run().fails("the feature `users` is off");
    featureless.says("[E079 missing-feature] simulated users need the feature `users` of evalsuite");
    let service = Service::start(play);
    let recorded = with_service(test(&package), &service, "m").env("EVALSUITE_MODE", "record");
    recorded.run().fails("some users are broken");

    let refund = only(&package, "refund");
    assert_eq!(refund["outcome"], "passed", "{refund}");
    let said: Vec<&str> =
        refund["turns"].as_array().expect("turns").iter().filter_map(|it| it["input"].as_str()).collect();
    assert_eq!(said, ["Message 0", "Message 1"]);
    assert_eq!((&refund["user"]["ended"], &refund["user"]["last_words"]), (&"done".into(), &"Message 2".into()));
    assert_eq!((&refund["user"]["in_role"], &refund["user"]["model"]), (&true.into(), &"m-1".into()));
    // Three turns of the user, one judgement of it.
    assert_eq!((refund["user_cost_usd"].as_f64(), refund["judge_cost_usd"].as_f64()), (Some(360e-6), Some(120e-6)));
    assert_eq!((&refund["cost_usd"], &refund["usage"]), (&Value::Null, &Value::Null));
    let endless = only(&package, "endless");
    assert_eq!((&endless["outcome"], &endless["user"]["ended"]), (&"passed".into(), &"max_turns".into()));
    assert_eq!(only(&package, "busy")["outcome"], "passed");

    let leaves = only(&package, "leaves");
    assert_eq!((&leaves["outcome"], &leaves["score"]), (&"error".into(), &Value::Null), "{leaves}");
    assert_eq!((&leaves["reason"]["stage"], &leaves["reason"]["code"]), (&"user".into(), &"user_left_role".into()));
    for (case, part) in [
        ("garbage", "not JSON"),
        ("empty", "`message` is empty"),
        ("twice", "the key `done` twice"),
        ("refusal", ""),
        ("slow", "within 0.2 s"),
    ] {
        let trial = only(&package, case);
        assert_eq!((&trial["outcome"], &trial["reason"]["code"]), (&"error".into(), &"user_error".into()), "{trial}");
        let message = trial["reason"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("turn 1: the simulated user") && message.contains(part), "{message}");
    }
    let asked = service.asked().len();

    // Neither the service nor a key.
    for case in ["refund", "endless"] {
        let name = format!("talks::{case}");
        let replay = test(&package).args(["--exact", &name]).env("EVALSUITE_MODE", "replay").env("NO_AGENT", "1");
        replay.run().succeeds("a recorded user needs no model");
    }
    assert_eq!((only(&package, "refund")["turns"].clone(), service.asked().len()), (refund["turns"].clone(), asked));
    let other = with_service(test(&package).args(["--exact", "talks::refund"]), &service, "other");
    let stale = other.env("EVALSUITE_MODE", "replay").run().fails("another model would play the user");
    stale.says("recording_stale").says("the judge's model changed: `m`, now `other`");
    package.write("suites/talks/EVAL.yaml", &eval_yaml().replace("persona: Ada", "persona: Bob"));
    let changed = test(&package).args(["--exact", "talks::refund"]).env("EVALSUITE_MODE", "replay");
    changed.run().fails("the user is another one").says("the simulated user changed").says("Bob");
    assert_eq!(service.asked().len(), asked);
}
