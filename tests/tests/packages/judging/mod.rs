//! Judges in users' packages: a service or commands, recorded and replayed, called by built-in and by custom graders.

pub(crate) mod chat_service;

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, MORE_FEATURES, Package, files_below, suites};

use self::chat_service::{Service, completion};

/// An agent that leaks the judge's key in its answer. With `NO_AGENT` it fails, to show that it is not called.
const LIB: &str = r#"
pub fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, String> {
    if std::env::var_os("NO_AGENT").is_some() {
        return Err("the agent is called".to_owned());
    }
    let key = std::env::var("EVALSUITE_JUDGE_API_KEY").unwrap_or_default();
    Ok(format!("Hello! My key is {key}."))
}
"#;

const TESTS: &str = r#"
use PACKAGE::agent;

evalsuite::include_eval_suite!("suites/by_case", graders = ["tone" => evalsuite::asks_judge(tone)]);

#[derive(serde::Deserialize)]
struct Tone {
    polite: bool,
}

async fn tone(evidence: &evalsuite::Evidence<'_>) -> Result<bool, evalsuite::JudgeError> {
    let request = evalsuite::JudgeRequest::new("", "QUESTION").with_untrusted("answer", evidence.answer());
    let tone: Tone = evidence.judge().ask_json(request).await?;
    Ok(tone.polite)
}
"#;

const KEY: &str = "sk-very-secret-0815";

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/judged/case.yaml", &judged("Greets"))
        .write("suites/by_case/cases/asked/case.yaml", "input: Say hello\nassertions: [{ type: tone }]\n");
    ask(&package, "Is it polite?");
    package
}

fn judged(criteria: &str) -> String {
    format!("input: Say hello\ncriteria: {criteria}\n")
}

fn ask(package: &Package, question: &str) {
    package.write("tests/evals.rs", &TESTS.replace("PACKAGE", package.name()).replace("QUESTION", question));
}

fn test(package: &Package) -> Call {
    package.cargo(["test", "--test", "evals", "--features", MORE_FEATURES])
}

fn with_judge(package: &Package, service: &Service) -> Call {
    let call = test(package).env("EVALSUITE_JUDGE_URL", &service.url).env("EVALSUITE_JUDGE_MODEL", "m");
    call.env("EVALSUITE_JUDGE_API_KEY", KEY).env("EVALSUITE_JUDGE_PRICE", "1/2")
}

/// A judge that passes everything and repeats the header with the key.
fn friendly() -> Service {
    Service::start(|_, (head, body)| {
        let heard = head.lines().find(|line| line.to_lowercase().starts_with("authorization")).unwrap_or_default();
        let asks_for_tone = body["messages"].to_string().contains("polite");
        completion(&match asks_for_tone {
            true => format!(r#"{{"polite": true, "heard": {heard:?}}}"#),
            false => format!(r#"{{"score": 1, "assertions": [{{"text": {heard:?}, "passed": true}}]}}"#),
        })
    })
}

/// The files below a directory that contain a text.
fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = files_below(directory);
    found.retain(|path| {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    });
    found
}

#[slow(builds)]
#[test]
fn without_a_judge_cases_are_skipped_before_their_agents_run() {
    let package = package("unjudged");
    let skipped = test(&package).env("NO_AGENT", "1").run().succeeds("both cases are skipped");
    skipped.says("SKIPPED by_case::judged: needs a judge").says("SKIPPED by_case::asked: needs a judge");
    let required =
        test(&package).env("NO_AGENT", "1").env("EVALSUITE_REQUIRE", "1").run().fails("skipped cases are errors");
    required
        .says("needs a judge, and EVALSUITE_REQUIRE=1 turns skipped cases into errors")
        .is_silent_about("the agent is called");
    let half =
        test(&package).env("EVALSUITE_JUDGE_URL", "http://127.0.0.1:9/v1").run().fails("a service needs a model");
    half.says("EVALSUITE_JUDGE_URL is set without EVALSUITE_JUDGE_MODEL");
    let featureless = package.cargo(["test", "--test", "evals"]).env("EVALSUITE_JUDGE_MODEL", "m");
    let featureless =
        featureless.env("EVALSUITE_JUDGE_URL", "http://127.0.0.1:9/v1").run().fails("the feature `judge` is off");
    featureless.says("built without its feature `judge`").says("features = [\"judge\"]");
    let replay = test(&package).env("EVALSUITE_MODE", "replay").run().fails("nothing is recorded");
    replay.says("recording_missing").says("EVALSUITE_MODE=record cargo test -p unjudged");
}

#[slow(builds)]
#[test]
fn replies_of_a_service_are_replayed_without_key_agent_or_network_until_the_prompt_changes() {
    let package = package("judged");
    let service = friendly();
    with_judge(&package, &service).env("EVALSUITE_MODE", "record").run().succeeds("the judge passes both cases");
    let asked = service.asked();
    assert_eq!(asked.len(), 2, "one request for each case");
    for (head, body) in &asked {
        assert!(head.contains(KEY) && head.starts_with("POST /v1/chat/completions "), "{head}");
        assert_eq!((body["model"].as_str(), body["temperature"].as_f64()), (Some("m"), Some(0.0)));
    }
    for case in ["judged", "asked"] {
        let [result] = package.records().of_case(case).try_into().expect("one trial");
        assert_eq!(result["graders"][0]["judge"]["usage"]["input"], 100, "{result}");
        assert_eq!(result["judge_cost_usd"].as_f64(), Some(120e-6), "{result}");
    }

    let cassettes = package.root().join(".evalsuite/cassettes");
    for directory in [cassettes.as_path(), package.records_directory()] {
        assert_eq!(files_with(directory, KEY), [] as [PathBuf; 0], "the key is in no file");
    }
    assert_eq!(
        files_with(&cassettes, "My key is ${{ EVALSUITE_JUDGE_API_KEY }}.").len(),
        2,
        "the cassettes hold the name of the variable"
    );

    let replay = || test(&package).env("EVALSUITE_MODE", "replay").env("NO_AGENT", "1");
    replay().run().succeeds("the recorded replies are replayed");
    // With another key and the address of a service that does not run.
    let elsewhere = replay().env("EVALSUITE_JUDGE_URL", "http://127.0.0.1:9/v1").env("EVALSUITE_JUDGE_MODEL", "m");
    elsewhere.env("EVALSUITE_JUDGE_API_KEY", "another-secret").run().succeeds("the judge is not asked");
    assert_eq!(service.asked().len(), 2);

    package.write("suites/by_case/cases/judged/case.yaml", &judged("Says goodbye"));
    ask(&package, "Is it polite and short?");
    let stale = replay().run().fails("the prompts have changed");
    stale
        .says_times("evaluation error (grading/recording_stale)", 2)
        .says("the recording is stale: the prompt changed");
    stale.is_silent_about("evaluation failed");
    for line in ["-Greets", "+Says goodbye", "-Is it polite?", "+Is it polite and short?"] {
        stale.says(line);
    }
    stale.says("recording_stale").says("EVALSUITE_MODE=record cargo test -p judged");
}

#[slow(builds)]
#[test]
fn a_failing_judge_service_is_an_error_and_never_a_pass() {
    let package = package("troubled");
    // Busy at the first request only.
    let busy = Service::start(|count, (_, body)| match count {
        0 => ("429 Too Many Requests\r\nRetry-After: 0".to_owned(), "{}".to_owned()),
        _ if body["messages"].to_string().contains("polite") => completion(r#"{"polite": true}"#),
        _ => completion(r#"{"score": 1}"#),
    });
    with_judge(&package, &busy).run().succeeds("the request to a busy service is repeated");
    assert_eq!(busy.asked().len(), 3);

    let garbage = Service::start(|_, _| completion("I like it."));
    let wrong = with_judge(&package, &garbage).run().fails("the replies are not JSON");
    wrong.says_times("evaluation error (grading/judge_error)", 2).says("in 3 attempts and a repair");
    let thinking = Service::start(|_, (_, body)| match body["messages"].to_string().contains("polite") {
        true => completion("<think>maybe {\"polite\": false}</think>{\"polite\": true}"),
        false => completion("<think>{\"score\": 0}</think>\n{\"score\": 1}"),
    });
    with_judge(&package, &thinking).run().succeeds("objects in the thinking do not count");
    assert_eq!(thinking.asked().len(), 2);
    let torn = Service::start(|_, (_, body)| match body["messages"].to_string().contains("polite") {
        true => completion("{\"polite\": true}"),
        false => completion("{\"score\": 1, \"assertions\": [{\"text\": \"greets\", \"passed\": false}]}"),
    });
    let torn_run = with_judge(&package, &torn).run().fails("the judge contradicts itself");
    torn_run.says("contradicts itself, also when asked again: `score` is 1").says("`assertions[0]` (\"greets\")");
    assert_eq!(torn.asked().len(), 3, "the contradiction is asked about once");
    let gone = with_judge(&package, &busy).env("EVALSUITE_JUDGE_URL", "http://127.0.0.1:9/v1").run();
    gone.fails("the service does not run")
        .says_times("evaluation error (grading/judge_error)", 2)
        .says("http://127.0.0.1:9/v1");
    for result in package.records().results() {
        assert!(result["outcome"] != "failed", "{result}");
    }
}

#[slow(builds)]
#[cfg(unix)]
#[test]
fn commands_judge_agents_in_rust() {
    let package = Package::new("judged_by_commands");
    let targets = r#"targets:
  - { name: kind, provider: cli, command: "echo '{\"score\": 1}' > {OUTPUT_FILE}" }
  - { name: strict, provider: cli, command: "echo '{\"score\": 0}' > {OUTPUT_FILE}" }
"#;
    let call = |arguments: &str| {
        let code = format!("evalsuite::include_eval_suite!(\"suites/by_case\", deny_warnings{arguments});");
        let generated =
            "mod generated { use super::*; include!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/again.rs\")); }";
        package.write("tests/evals.rs", &format!("use judged_by_commands::agent;\n{code}\n{generated}\n"));
    };
    package
        .add_generator()
        .library(suites::AGENT)
        .write(
            "build.rs",
            "fn main() { evalsuite_build::generate(\"suites/by_case\").name(\"again\").default_judges([\"kind\"]).write(); }",
        )
        .write("targets.yaml", targets)
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/greets/case.yaml", &judged("Greets"));
    call(", judge = \"kind\"");
    let test = || package.cargo(["test", "--test", "evals"]);
    test().run().succeeds("the command passes it").says("by_case::greets ... ok").says("again::greets ... ok");
    let one = test().env("EVALSUITE_JUDGE_TARGET", "strict").run().fails("the other command fails it");
    one.says_times("evaluation failed: greets", 2);
    let majority = test().env("EVALSUITE_JUDGE_TARGET", "kind,strict,kind").run();
    majority.succeeds("two of three commands pass it");

    call("");
    let greets = || package.cargo(["test", "--test", "evals", "by_case::"]);
    greets().run().succeeds("without a judge the case is skipped").says("SKIPPED by_case::greets: needs a judge");
    greets().env("EVALSUITE_JUDGE_TARGET", "kind").run().succeeds("the variable is enough").says("greets ... ok");

    call(", judge = \"kin\"");
    let misspelled = package.build(["--test", "evals"]).fails("the file does not define the judge");
    for part in ["W018 unknown-judge", "did you mean `kind`?", "or add a command of this name to the targets.yaml"] {
        assert!(misspelled.transcript().contains(part), "expected {part:?} in\n{}", misspelled.transcript());
    }

    package.remove("targets.yaml");
    call(", judge = \"kind\"");
    let unknown = package.build(["--test", "evals"]).fails("the judge is not defined");
    assert!(unknown.transcript().contains("W018 unknown-judge"), "{}", unknown.transcript());
}
