//! What a failing test prints.

use std::panic::catch_unwind;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use evalsuite::{AgentError, Assertion, Evals, Evidence, Outcome, Score, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, suite};

async fn wrong(_: &mut Trial<'_>) -> anyhow::Result<String> {
    Ok("Your refund is on its way.\nHave a nice day.".into())
}

fn tone(_: &Evidence<'_>) -> Vec<Assertion> {
    vec![
        Assertion::new("is polite", true),
        Assertion::new("is short", false).with_expected("20 characters").with_actual("43"),
    ]
}

fn breaks(_: &Evidence<'_>) -> bool {
    panic!("index out of bounds")
}

fn text(layout: &str, graders: Value, more: Value, bind: impl Fn(Evals) -> Evals) -> String {
    let directory = tempfile::tempdir().unwrap();
    let evals = Evals::new(suite(layout, "mixed", directory.path(), &[case_json("refund-small", graders, more)]));
    let report = run(&bind(evals), directory.path());
    only(&report)
        .to_string()
        .replace(&only(&report).directory().display().to_string(), "DIR")
        .replace(r"DIR\trial-000\", "DIR/trial-000/")
}

#[test]
fn a_failure_says_what_was_wanted_found_and_where() {
    let mut required = contains("19.90");
    required["required"] = json!(true);
    let graders = json!([required, grader("tone", 9, json!({"user": {"grader": "tone"}}))]);
    let text = text("cases", graders, json!({}), |evals| evals.with_agent(wrong).with_grader("tone", tone));
    let expected = "\
evaluation failed: refund-small (x)  score 0.00 < 0.80, required grader `contains-19.90` failed
  ✗ contains-19.90: Output does not contain \"19.90\"  required  suites/x/tasks/a.json:7:5
      actual: Your refund is on its way.\\nHave a nice day.
  ✗ tone  0.50  suites/x/tasks/a.json:9:5
      ✗ is short
        expected: 20 characters
        actual:   43
      1 of 2 passed
  record: DIR/trial-000/result.json
  repeat: cargo test -p demo -- --exact x::refund-small
";
    let text = text.replace(
        "cargo nextest run -p demo -E 'test(=x::refund-small)'",
        "cargo test -p demo -- --exact x::refund-small",
    );
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn an_error_names_its_stage_and_code() {
    let graders = json!([contains("refund"), grader("breaks", 9, json!({"user": {"grader": "breaks"}}))]);
    let text = text("cases", graders, json!({}), |evals| evals.with_agent(wrong).with_grader("breaks", breaks));
    let headline = "evaluation error (grading/grader_error): refund-small (x)  grader `breaks`: the grader panicked: index out of bounds";
    assert_eq!(text.lines().next(), Some(headline));
    assert!(text.contains("\n  ERR breaks  suites/x/tasks/a.json:9:5\n  1 of 2 graders passed\n"), "{text}");
    assert_eq!(text.matches("index out of bounds").count(), 1, "{text}");
}

#[test]
fn trials_are_counted_and_the_rule_is_named() {
    async fn flaky(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        Ok(if trial.index() == 0 { "refund" } else { "sorry" }.into())
    }
    let more = json!({"trials": {"count": 3}});
    let text = text("tasks", json!([contains("refund")]), more, |evals| evals.with_agent(flaky));
    assert!(text.starts_with("evaluation failed: refund-small (x)  score 0.00 < 1.00\n"), "{text}");
    let failed = "\n  trial 2 of 3  failed  0.00\n    ✗ contains-refund: Output does not contain \"refund\"";
    assert!(text.contains(failed) && !text.contains("trial 1 of 3"), "{text}");
    assert!(text.contains("  trials: 1 of 2 passed (all have to pass); 1 of 3 planned were not needed\n"), "{text}");
}

#[test]
fn trials_that_a_cost_limit_prevented_are_not_called_needless() {
    async fn costly(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        Ok(Outcome::new().with_text("sorry").with_cost_usd(0.5))
    }
    let more = json!({"trials": {"count": 5, "strategy": "mean", "cost_limit_usd": 1.0}});
    let text = text("cases", json!([contains("refund")]), more, |evals| evals.with_agent(costly));
    let trials = "trials: 0 of 2 passed (the mean of their scores decides); 3 of 5 planned did not run, as a limit was reached\n";
    assert!(text.contains(trials), "{text}");
}

#[test]
fn a_mean_that_is_high_enough_is_not_why_a_case_failed() {
    async fn slow(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        Ok(Outcome::new().with_text("sorry").with_duration(Duration::from_millis(20)))
    }
    let graders = || json!([contains("sorry"), grader("latency", 3, json!({"latency": {"threshold": 10.0}}))]);
    let headline = |threshold: f64| {
        let more = json!({"trials": {"count": 3, "strategy": "mean"}, "threshold": threshold});
        text("cases", graders(), more, |evals| evals.with_agent(slow)).lines().next().unwrap().to_owned()
    };
    let expected = "evaluation failed: refund-small (x)  score 0.50, 3 of 3 trials failed, so that they count as less than 0.5: \
                    grader `latency` failed, and no other grader makes up for it; ";
    assert!(headline(0.5).starts_with(expected), "{}", headline(0.5));
    assert_eq!(headline(0.7), "evaluation failed: refund-small (x)  score 0.50 < 0.70");
}

#[test]
fn a_score_just_below_the_threshold_looks_like_that() {
    let headline = |score: f64| {
        let graders = json!([grader("close", 3, json!({"user": {"grader": "close"}}))]);
        let close = move |_: &Evidence<'_>| score;
        let text = text("cases", graders, json!({}), |evals| evals.with_agent(wrong).with_grader("close", close));
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(headline(0.72), "evaluation failed: refund-small (x)  score 0.72 < 0.80");
    assert_eq!(headline(0.7975), "evaluation failed: refund-small (x)  score 0.7975 < 0.80");
    assert_eq!(headline(0.799_999_99), "evaluation failed: refund-small (x)  score 0.79999999 < 0.80");
    assert_eq!(
        headline(0.8_f64.next_down()),
        "evaluation passed: refund-small (x)  score 0.80",
        "rounding does not decide"
    );
}

#[test]
fn a_rationale_stands_in_for_assertions() {
    fn empty(_: &Evidence<'_>) -> Score {
        Score::fail("there is no card")
    }
    let graders = json!([grader("empty", 3, json!({"user": {"grader": "empty"}}))]);
    let text = text("tasks", graders, json!({}), |evals| evals.with_agent(wrong).with_grader("empty", empty));
    assert!(text.contains("\n  ✗ empty: there is no card  suites/x/tasks/a.json:3:5\n"), "{text}");
}

#[test]
fn a_plain_failure_takes_five_lines() {
    let text = text("cases", json!([contains("19.90")]), json!({}), |evals| evals.with_agent(wrong));
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(!text.contains("answer:") && !text.contains("expected:"), "{text}");
}

#[test]
fn an_answer_is_shown_once_and_passed_parts_are_counted() {
    fn letter(_: &Evidence<'_>) -> Vec<Assertion> {
        vec![
            Assertion::new("greets", true),
            Assertion::new("apologises", false).with_evidence("no word of regret"),
            Assertion::new("signs", true),
            Assertion::new("is polite", true),
        ]
    }
    let graders = json!([
        contains("refund"),
        contains("19.90"),
        contains("1182"),
        grader("letter", 9, json!({"user": {"grader": "letter"}}))
    ]);
    let text = text("cases", graders, json!({}), |evals| evals.with_agent(wrong).with_grader("letter", letter));
    assert_eq!(text.matches("on its way").count(), 1, "{text}");
    let folded =
        "\n  ✗ letter  0.75  suites/x/tasks/a.json:9:5\n      ✗ apologises: no word of regret\n      3 of 4 passed\n";
    assert!(text.contains(folded), "{text}");
    assert!(text.contains("\n  1 of 4 graders passed\n") && !text.contains("contains-refund"), "{text}");
}

#[test]
fn trials_that_fail_alike_are_shown_once() {
    let more = json!({"trials": {"count": 3, "strategy": "mean"}});
    let text = text("cases", json!([contains("19.90")]), more, |evals| evals.with_agent(wrong));
    assert!(text.contains("\n  trial 2 of 3  failed  0.00, like trial 1\n  trial 3 of 3"), "{text}");
    assert_eq!(text.matches("contains-19.90:").count(), 1, "{text}");
}

#[test]
fn an_error_without_graders_names_the_place_of_its_case() {
    async fn broken(_: &mut Trial<'_>) -> anyhow::Result<String> {
        anyhow::bail!("no connection")
    }
    let text = text("cases", json!([contains("x")]), json!({}), |evals| evals.with_agent(broken));
    assert!(text.contains("no connection\n  suites/x/tasks/a.json:1:1\n  record: "), "{text}");
}

#[test]
fn in_a_workspace_of_packages_all_paths_begin_at_its_root() {
    let root = tempfile::tempdir().unwrap();
    let member = root.path().join("shop");
    std::fs::create_dir_all(member.join("suites/x/tasks")).unwrap();
    std::fs::write(member.join("suites/x/tasks/a.json"), "{}").unwrap();
    let place = |line| json!({"file": "shop/suites/x/tasks/a.json", "line": line, "column": 1});
    let mut wanted = contains("19.90");
    wanted["location"] = place(3);
    let case = case_json("c", json!([wanted]), json!({"location": place(1)}));
    let evals = Evals::new(suite("cases", "mixed", &member, &[case])).with_agent(wrong);
    let report = run(&evals, &root.path().join("target"));
    let text = only(&report).to_string();
    assert!(text.contains("  shop/suites/x/tasks/a.json:3:1\n"), "{text}");
    let runs = std::path::Path::new("target").join("runs");
    assert!(text.contains(&format!("\n  record: {}", runs.display())), "{text}");
}

#[test]
fn a_changed_workspace_is_shown() {
    async fn writes(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        std::fs::write(trial.workspace().join("note.txt"), "x")?;
        Ok("done".into())
    }
    let text = text("cases", json!([contains("x")]), json!({}), |evals| evals.with_agent(writes));
    assert!(text.contains("\n  workspace: DIR/trial-000/workspace\n"), "{text}");
}

/// The suite of the tests below, which are run as tests are: in a process of their own, by index.
fn evals() -> Evals {
    static SUITE: OnceLock<&'static evalsuite::EvalSuite> = OnceLock::new();
    let suite = SUITE.get_or_init(|| {
        let needs = json!({"requires": {"env": ["TEST_OF_EVALSUITE_NOT_SET"]}});
        let cases = [
            case_json("passes", json!([contains("refund")]), json!({})),
            case_json("fails", json!([contains("19.90")]), json!({})),
            case_json("skipped", json!([contains("refund")]), needs),
            case_json("leaks", json!([contains("19.90")]), json!({"requires": {"env": ["TEST_OF_EVALSUITE_SECRET"]}})),
            case_json("asks", json!([contains("19.90")]), json!({"target": "small"})),
            case_json("exits", json!([contains("refund")]), json!({})),
            case_json("exits-in-task", json!([contains("refund")]), json!({})),
        ];
        suite("cases", "mixed", Path::new(env!("CARGO_TARGET_TMPDIR")), &cases)
    });
    async fn agent(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        match trial.case_id() {
            "leaks" => {
                let secret = std::env::var("TEST_OF_EVALSUITE_SECRET")?;
                trial.log(format!("using {secret}"));
                std::fs::write(trial.workspace().join("key.txt"), &secret)?;
                Ok(format!("the key is {secret}"))
            }
            "asks" => Err(AgentError::skip("no model \u{1b}[31m"))?,
            "exits" => std::process::exit(0),
            "exits-in-task" => tokio::spawn(async { std::process::exit(0) }).await?,
            _ => wrong(trial).await,
        }
    }
    Evals::new(suite).with_agent(agent)
}

#[test]
#[ignore = "run by the tests below"]
fn child() {
    let index = std::env::var("TEST_OF_EVALSUITE_INDEX").unwrap().parse().unwrap();
    evalsuite::__private::run_case(evals, index);
}

/// Runs a case as `cargo test` does; its exit status, standard output and standard error.
fn run_test(index: usize, variables: &[(&str, &str)]) -> (bool, String, String) {
    run_test_in(tempfile::tempdir().unwrap().path(), index, variables)
}

pub(crate) fn run_test_in(output: &Path, index: usize, variables: &[(&str, &str)]) -> (bool, String, String) {
    let result = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "failing_test::child", "--ignored"])
        .env("TEST_OF_EVALSUITE_INDEX", index.to_string())
        .env("EVALSUITE_OUTPUT", output)
        .env_remove("NEXTEST_RUN_ID")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (result.status.success(), text(result.stdout), text(result.stderr))
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "`exit` need not drop thread-local values")]
fn an_agent_that_ends_the_process_does_not_pass() {
    for index in [5, 6] {
        let (passed, out, err) = run_test(index, &[]);
        assert!(!passed && err.contains("ended the process with `exit`"), "{index}: {out}{err}");
    }
}

#[test]
fn a_passing_test_is_silent() {
    let (passed, out, err) = run_test(0, &[]);
    assert!(passed && out.contains("test failing_test::child ... ok"), "{out}{err}");
    assert_eq!(err, "");
}

#[test]
fn a_failing_test_shows_the_text_and_no_panic() {
    let (passed, out, _) = run_test(1, &[]);
    assert!(!passed);
    assert!(out.contains("evaluation failed: fails (x)"), "{out}");
    assert!(!out.contains("panicked at") && !out.contains("RUST_BACKTRACE"), "{out}");
}

#[test]
fn a_skip_is_said_on_standard_error_and_can_be_forbidden() {
    let skipped = "evalsuite: SKIPPED x::skipped: environment variable TEST_OF_EVALSUITE_NOT_SET is not set\n\
                   evalsuite: help: set TEST_OF_EVALSUITE_NOT_SET\n";
    let (passed, out, err) = run_test(2, &[("CI", "")]);
    assert!(passed, "{out}");
    assert_eq!(err, skipped);
    let (_, _, err) = run_test(2, &[("CI", "true")]);
    let warning = "evalsuite: warning: skipped cases count as passed; EVALSUITE_REQUIRE=1 turns them into errors\n";
    assert_eq!(err, format!("{skipped}{warning}"));
    let (passed, out, _) = run_test(2, &[("EVALSUITE_REQUIRE", "1")]);
    assert!(!passed && out.contains("evaluation error (requirements/required)"), "{out}");
}

#[test]
fn a_variable_that_makes_no_sense_fails_every_test() {
    let (passed, out, _) = run_test(0, &[("EVALSUITE_TRIALS", "many")]);
    assert!(!passed);
    assert!(out.contains("evaluation error (setup/invalid_setting): EVALSUITE_TRIALS is `many`"), "{out}");
}

#[test]
fn a_variable_or_target_that_does_not_exist_fails_every_test_with_a_suggestion() {
    let (passed, out, _) = run_test(0, &[("EVALSUITE_TIMEOUT", "5")]);
    assert!(!passed);
    let expected = "evaluation error (setup/invalid_setting): EVALSUITE_TIMEOUT is not a variable of evalsuite; \
                    did you mean EVALSUITE_TIMEOUT_SECONDS?";
    assert!(out.contains(expected), "{out}");
    let (passed, out, _) = run_test(0, &[("EVALSUITE_TARGET", "smal")]);
    assert!(!passed);
    let expected = "EVALSUITE_TARGET names `smal`, which is not a target of suite `x`; did you mean `small`?\n\
                    help: its targets are `default` and `small`";
    assert!(out.contains(expected), "{out}");
    for target in ["default", "small"] {
        let (passed, out, _) = run_test(0, &[("EVALSUITE_TARGET", target)]);
        assert!(passed, "{target}: {out}");
    }
}

#[test]
fn variables_change_the_run() {
    let (passed, out, _) = run_test(0, &[("EVALSUITE_TRIALS", "3"), ("EVALSUITE_RUN_ID", "r")]);
    assert!(passed, "{out}");
    let (passed, out, _) = run_test(1, &[("EVALSUITE_THRESHOLD", "0")]);
    assert!(passed, "{out}");
}

#[test]
fn the_panic_carries_the_text() {
    let payload = catch_unwind(|| evalsuite::__private::run_case(evals, 99)).unwrap_err();
    assert!(payload.downcast_ref::<String>().is_some_and(|text| text.contains("no case 99")));
}

#[test]
fn secrets_reach_neither_records_nor_output() {
    fn search(directory: &Path, secret: &str, files: &mut usize) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // The workspace is the agent's own, and is kept as it is.
                if !path.ends_with("workspace") {
                    search(&path, secret, files);
                }
            } else {
                *files += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains(secret), "{}: {text}", path.display());
            }
        }
    }
    let output = tempfile::tempdir().unwrap();
    let secret = "s3cr3t-v4lu3";
    let (passed, out, err) = run_test_in(output.path(), 3, &[("TEST_OF_EVALSUITE_SECRET", secret)]);
    assert!(!passed && out.contains("the key is ***"), "{out}");
    assert!(!out.contains(secret) && !err.contains(secret), "{out}{err}");
    let mut files = 0;
    search(output.path(), secret, &mut files);
    assert!(files >= 6, "only {files} files were written");
}

#[test]
fn an_agents_request_to_be_skipped_can_be_forbidden() {
    let (passed, _, err) = run_test(4, &[]);
    assert!(passed && err.contains("SKIPPED x::asks: no model \u{241b}[31m\n"), "{err}");
    let (passed, out, _) = run_test(4, &[("EVALSUITE_REQUIRE", "true")]);
    assert!(!passed && out.contains("evaluation error (agent/required)"), "{out}");
}

#[test]
fn workspaces_are_kept_on_request() {
    let output = tempfile::tempdir().unwrap();
    let variables = [("EVALSUITE_KEEP", "1"), ("EVALSUITE_RUN_ID", "r/1"), ("NEXTEST_ATTEMPT", "2")];
    assert!(run_test_in(output.path(), 0, &variables).0);
    let only = |directory: &Path| directory.read_dir().unwrap().next().unwrap().unwrap().path();
    let run = only(&output.path().join("runs"));
    assert!(run.file_name().unwrap().to_string_lossy().starts_with("r_1-"), "{}", run.display());
    let case = only(&only(&run.join("suites")).join("cases"));
    assert!(case.display().to_string().ends_with(".attempt-2"), "{}", case.display());
    assert!(case.join("trial-000/workspace").is_dir());
}
