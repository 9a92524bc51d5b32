//! A suite of kind `capability` with a baseline: what its tests say, from the first run to a regression.

use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, suites};

/// An agent that knows the words in `KNOWS`.
const LIB: &str = r#"
pub fn echo(trial: &mut evalsuite::Trial<'_>) -> Result<String, String> {
    let knows = std::env::var("KNOWS").unwrap_or_default();
    match trial.prompt() {
        "error" if !knows.contains("error") => Err("the service is down".to_owned()),
        word if knows.contains(word) => Ok(word.to_owned()),
        _ => Ok("I do not know".to_owned()),
    }
}
"#;

const TESTS: &str = "use PACKAGE::echo;\nevalsuite::include_eval_suite!(\"suites/words\");\n";
const CASES: [&str; 4] = ["easy", "hard", "error", "new"];

fn package(name: &str, kind: &str) -> Package {
    let package = Package::new(name);
    let suite = format!("{{ \"name\": \"words\", \"agent_name\": \"echo\", \"kind\": {kind:?} }}");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write("tests/evals.rs", &TESTS.replace("PACKAGE", name))
        .write("suites/words/suite.json", &suite);
    for word in CASES {
        package.write(&format!("suites/words/tasks/{word}.json"), &suites::task(word, word, word));
    }
    package
}

fn evalsuite(package: &Package, arguments: &[&str], knows: &str) -> CommandOutput {
    Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), package)
        .args(["evalsuite"])
        .args(arguments.iter().copied())
        .with_cargo()
        .env("KNOWS", knows)
        .run()
}

/// Runs the tests of some cases.
fn test(package: &Package, cases: &[&str], knows: &str) -> CommandOutput {
    package.cargo(["test", "--test", "evals", "--"]).args(cases.iter().copied()).env("KNOWS", knows).run()
}

fn baseline_of(package: &Package, case: &str) -> Value {
    let cases = package.records().cases();
    let of_case: Vec<&Value> = cases.iter().filter(|record| record["case_id"] == case).collect();
    of_case.last().expect("a record")["baseline"].clone()
}

#[test]
fn what_fails_as_expected_is_green_and_a_regression_is_red() {
    let package = package("accepted_walk", "capability");
    let first = test(&package, &[], "easy error").fails("without a baseline, what fails is red");
    first.says("evaluation failed: hard (words)").is_silent_about("baseline:");
    let ran = evalsuite(&package, &["run"], "easy error").fails("still red");
    ran.says("words: 2 passed, 2 failed").says("words @ default: same").is_silent_about("the baseline");
    evalsuite(&package, &["accept"], "").succeeds("a run can be accepted").says("words: 4 added");
    let files: Vec<_> = std::fs::read_dir(package.root().join(".evalsuite/baselines")).unwrap().collect();
    assert_eq!(files.len(), 1, "one file per suite: {files:?}");
    let build = package.build(["--test", "evals"]).succeeds("nothing changed");
    assert_eq!(build.rebuilt(), [] as [&str; 0], "baselines are not inputs of the build");

    package.records().clear();
    let same = test(&package, &[], "easy error").succeeds("what fails is expected to");
    same.says("EXPECTED FAILURE words::hard: score 0.00, threshold 1.00; in the baseline, 0 of 1 trials passed");
    assert_eq!(baseline_of(&package, "hard")["expectation"], "expected_failure");
    assert_eq!(baseline_of(&package, "easy")["expectation"], "expected_pass");
    let shown = test(&package, &["hard", "--nocapture"], "").succeeds("and is shown");
    shown.says("evaluation failed: hard (words)").says("  baseline: expected failure, none of 1 trials passed");

    let better = test(&package, &["new", "hard"], "easy new").succeeds("a new pass is green");
    better.says("NEW PASS words::new: score 1.00; in the baseline, none of 1 trials passed; to keep it: `cargo evalsuite accept`");
    let worse = test(&package, &["easy", "hard"], "nothing").fails("a regression is red");
    worse.says("  baseline: regression, 1 of 1 trials passed").says("EXPECTED FAILURE words::hard");
    test(&package, &["error"], "").fails("an error is never expected").says("the service is down");

    let ran = evalsuite(&package, &["run", "easy", "new"], "new").fails("the code of the tests");
    ran.says("compared with the baseline\n").says("words @ default: regressed\n").is_silent_about("removed");
    ran.says("regressed           easy  1/1 -> ");

    package.write("suites/words/tasks/hard.json", &suites::task("hard", "hard", "something else"));
    let other = test(&package, &["hard"], "").fails("the baseline is of other graders");
    other.says("  baseline: not comparable, its input, graders, threshold or strategy has changed since");
    let suite = "{ \"name\": \"words\", \"agent_name\": \"echo\", \"kind\": \"capability\"";
    package.write("suites/words/suite.json", &format!("{suite}, \"task_pass_threshold\": 0.5 }}"));
    let other = test(&package, &["easy"], "").fails("the baseline is of another threshold");
    other.says("  baseline: not comparable, its input, graders, threshold or strategy has changed since");
    let shown = evalsuite(&package, &["diff", "--baseline"], "");
    shown.says("definition changed  easy").is_silent_about("regressed");
    package.write("suites/words/suite.json", &format!("{suite} }}"));

    let file = files[0].as_ref().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"trials\":1", "\"trials\":0")).unwrap();
    let torn = test(&package, &["easy"], "easy").fails("an invalid baseline is an error");
    torn.says("evaluation error (setup/invalid_setting): easy (words)")
        .says("is invalid: line 2: 1 of 0 trials passed");
    // Lines in a format that is not known do not make a failure an expected one.
    std::fs::write(&file, text.replace("evalsuite.baseline/1", "evalsuite.baseline/2")).unwrap();
    let newer = test(&package, &["new"], "").fails("a baseline of another version is an error");
    newer.says("is invalid: line 1: the schema is `evalsuite.baseline/2`");
}

/// An agent whose calls in a test program pass or fail as the letters of `KNOWS` say, and fail after them.
const PLANNED: &str = r#"
use std::sync::atomic::{AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);

pub fn echo(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::env::VarError> {
    let passes = std::env::var("KNOWS")?.as_bytes().get(CALLS.fetch_add(1, Ordering::Relaxed)) == Some(&b'P');
    Ok(if passes { trial.prompt().to_owned() } else { "I do not know".to_owned() })
}
"#;

/// A package with such an agent, and a baseline in which the case `easy` passed so often.
fn accepted(name: &str, kind: &str, (passed, trials): (u32, u32)) -> Package {
    let package = package(name, kind);
    package.write("src/lib.rs", PLANNED);
    test(&package, &["easy"], "P").succeeds("it passes");
    evalsuite(&package, &["accept"], "").succeeds("it is accepted").says("words: 1 added");
    let file = baseline_file(&package);
    let text = std::fs::read_to_string(&file).unwrap();
    let found = format!("\"passed\":{passed},\"trials\":{trials}");
    std::fs::write(&file, text.replace("\"passed\":1,\"trials\":1", &found).replace(",\"outcomes\":\"P\"", ""))
        .unwrap();
    package.records().clear();
    package
}

fn baseline_file(package: &Package) -> std::path::PathBuf {
    std::fs::read_dir(package.root().join(".evalsuite/baselines")).unwrap().next().unwrap().unwrap().path()
}

/// How the trials ended that repeated `easy` in its last run.
fn repeated(package: &Package) -> Vec<String> {
    let cases = package.records().cases();
    let record = cases.iter().rfind(|record| record["case_id"] == "easy").expect("a record");
    let outcomes = record["confirming"].as_array().map(|trials| trials.iter().map(|trial| trial["outcome"].as_str()));
    outcomes.into_iter().flatten().map(|outcome| outcome.expect("an outcome").to_owned()).collect()
}

#[test]
fn a_case_that_fails_is_repeated_before_it_is_a_regression() {
    let package = accepted("accepted_repeated", "capability", (1, 1));
    let once = test(&package, &["easy"], "FFP").succeeds("it passes when it is repeated");
    once.says("UNCONFIRMED words::easy: score 0.00, threshold 1.00; in the baseline, 1 of 1 trials passed; repeated, 1 of 2 passed");
    assert_eq!(repeated(&package), ["failed", "passed"]);
    assert_eq!(baseline_of(&package, "easy")["expectation"], "unconfirmed");
    package.records().clear();
    let broken = test(&package, &["easy"], "").fails("it never passes");
    broken.says("  baseline: regression, 1 of 1 trials passed\n  repeated, as it passed in the baseline: none of 6 further trials passed\n");
    assert_eq!(repeated(&package), ["failed"; 6], "as many as tell it from chance");
    let said = evalsuite(&package, &["diff", "--baseline"], "").fails("a regression is no success");
    said.says("words @ default: regressed").says("regressed           easy  1/1 -> 0/1, repeated 0/6");
    package.records().clear();
    let run = evalsuite(&package, &["run", "easy", "--confirm", "2"], "").succeeds("two are too few to tell");
    run.says("UNCONFIRMED words::easy")
        .says("too few to tell this failure from chance")
        .says("words @ default: undecided");
    assert_eq!(repeated(&package), [] as [&str; 0], "so none are spent");
    package.records().clear();
    let call =
        || package.cargo(["test", "--test", "evals", "--", "easy"]).env("KNOWS", "FP").env("EVALSUITE_CONFIRM", "0");
    call().run().succeeds("nothing is repeated").says("UNCONFIRMED words::easy");
    assert_eq!(repeated(&package), [] as [&str; 0]);
}

/// A run whose trials stop at the first pass could never replace three failed ones.
#[test]
fn a_new_pass_is_kept_as_the_message_says() {
    let package = accepted("accepted_new_pass", "capability", (0, 3));
    let ran = test(&package, &["easy"], "PPP").succeeds("it passes");
    ran.says("NEW PASS words::easy").says("to keep it: `cargo evalsuite accept`");
    assert_eq!(repeated(&package), ["passed", "passed"], "as many as the baseline has");
    let said = evalsuite(&package, &["accept"], "").succeeds("it is kept");
    said.says("words: 1 raised").says("raised     easy @ default  0/3, now 3/3\n");
    package.records().clear();
    test(&package, &["easy"], "").fails("and held to");

    let lucky = accepted("accepted_lucky_pass", "capability", (0, 3));
    test(&lucky, &["easy"], "PF").succeeds("it passes");
    assert_eq!(repeated(&lucky), ["failed"]);
    let said = evalsuite(&lucky, &["accept"], "").succeeds("all trials count");
    said.says("raised     easy @ default  0/3, now 1/2, together 1/5\n");
    lucky.records().clear();
    test(&lucky, &["easy"], "").succeeds("one pass in five trials is no promise").says("QUARANTINED words::easy");
}

#[test]
fn a_regression_suite_says_what_repeating_showed() {
    let package = accepted("accepted_repeated_every", "regression", (1, 1));
    let ran = test(&package, &["easy"], "FFP").fails("every trial has to pass");
    ran.says("  repeated, as it passed in the baseline: 1 of 2 further trials passed, so it may be flaky\n");
}

#[test]
fn flaky_cases_are_quarantined_until_there_is_evidence() {
    let package = accepted("accepted_quarantine", "capability", (2, 3));
    let ran = test(&package, &["easy"], "FFFP").succeeds("it is flaky in the baseline");
    ran.says("QUARANTINED words::easy: score 0.00, threshold 1.00; in the baseline, 2 of 3 trials passed");
    assert_eq!(repeated(&package), ["failed", "failed", "passed"]);
    package.records().clear();
    let ran = test(&package, &["easy"], "").fails("it never passes");
    ran.says("  baseline: regression, 2 of 3 trials passed");

    package.records().clear();
    test(&package, &["easy"], "P").succeeds("it passes");
    assert_eq!(repeated(&package), [] as [&str; 0], "a pass is no reason to repeat it");
    evalsuite(&package, &["accept"], "").succeeds("its trial counts").says("words: 1 updated");
    assert!(std::fs::read_to_string(baseline_file(&package)).unwrap().contains("\"passed\":3,\"trials\":4"));
}

#[test]
fn regression_suites_have_no_expected_failures() {
    let package = package("accepted_regression", "regression");
    test(&package, &["hard"], "").fails("it fails");
    evalsuite(&package, &["accept"], "").succeeds("it is accepted").says("words: 1 added");
    let ran = test(&package, &["hard"], "").fails("it fails as before, and is red");
    ran.is_silent_about("EXPECTED FAILURE").is_silent_about("baseline:");
    assert!(baseline_of(&package, "hard").is_null());
}

/// An agent that answers in the tone of `KNOWS`, and a judge that prefers kind answers.
const TONES: &str = r#"
evalsuite::include_eval_suite!("suites/words", agent = agent, judge = judge);

fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::env::VarError> {
    std::env::var("KNOWS").map(|tone| format!("a {tone} answer"))
}

fn judge(request: evalsuite::JudgeRequest) -> Result<String, std::convert::Infallible> {
    let (first, second) = request.user().split_once("[[ ## second_answer ## ]]").expect("two answers");
    let better = match (first.contains("a kind answer"), second.contains("a kind answer")) {
        (true, false) => "first",
        (false, true) => "second",
        _ => "tie",
    };
    Ok(format!("{{ \"better\": {better:?} }}"))
}
"#;

#[test]
fn answers_are_compared_with_accepted_ones() {
    let package = Package::new("accepted_answers");
    let case = "input: hello\ncriteria: Is kind\nassertions:\n  - { type: contains, value: answer }\n  \
        - { name: kinder, type: compare, against: baseline }\n";
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library("")
        .write("tests/evals.rs", TONES)
        .write("suites/words/EVAL.yaml", "execution: { threshold: 0.7 }\n")
        .write("suites/words/cases/hello/case.yaml", case);
    let comparisons = || {
        let results = package.records().results();
        let graders = results.iter().flat_map(|result| result["graders"].as_array().expect("graders").clone());
        graders.filter(|grader| grader["name"] == "kinder").collect::<Vec<Value>>()
    };
    let compared = || match <[Value; 1]>::try_from(comparisons()) {
        Ok([only]) => only,
        Err(all) => panic!("expected one comparison: {all:?}"),
    };
    evalsuite(&package, &["run"], "kind").succeeds("the other grader decides");
    assert_eq!(compared()["state"], "undecided");
    let rationale = compared()["rationale"].as_str().expect("a reason").to_owned();
    assert!(
        rationale.starts_with("there is no accepted answer to compare with: `cargo evalsuite accept"),
        "{rationale}"
    );
    evalsuite(&package, &["accept", "--answers"], "").succeeds("the run passed").says("words: 1 added");

    let run = |tone: &str, arguments: &[&str]| {
        package.records().clear();
        evalsuite(&package, &[&["run"], arguments].concat(), tone)
    };
    run("kind", &[]).succeeds("the answer is no worse");
    assert_eq!(
        (&compared()["value"], &compared()["rationale"]),
        (&0.5.into(), &"as good as the accepted answer".into())
    );
    let rude = run("rude", &["--confirm", "0"]).succeeds("one failure after one pass may be chance");
    rude.says("UNCONFIRMED words::hello");
    assert_eq!(compared()["rationale"], "the accepted answer is better");
    assert_eq!(compared()["details"]["orders"][1]["first"], "accepted answer");

    run("kind", &[]).succeeds("once more");
    let changed = || evalsuite(&package, &["run", "--changed"], "kind").succeeds("it passes");
    changed().says("reused   1 unchanged case");
    let file = package.root().join(".evalsuite/baselines");
    let file = std::fs::read_dir(file).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.to_string_lossy().ends_with(".answers.jsonl")).expect("the answers");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("a kind answer", "another answer")).unwrap();
    changed().is_silent_about("reused");
    assert!(comparisons().iter().any(|compared| compared["rationale"] == "the answer is better"));
    std::fs::write(&file, "torn").unwrap();
    run("kind", &[]).fails("invalid answers are an error").says(".answers.jsonl is invalid: line 1");
}
