//! What happens around an agent's call, and what is left of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use evalsuite::record::{ReasonCode, Stability, TrialRecord};
use evalsuite::{AgentError, CaseReport, Evals, Message, Outcome, Role, RunOptions, Status, ToolCall, Trial, Usage};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, run_with, suite};

async fn hello(_: &mut Trial<'_>) -> anyhow::Result<String> {
    Ok("hello world".into())
}

fn one(case: Value) -> (Evals, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    (Evals::new(suite("cases", "mixed", directory.path(), &[case])), directory)
}

fn code(case: &CaseReport) -> Option<ReasonCode> {
    case.record().reason.as_ref().map(|reason| reason.code)
}

fn read(path: &Path) -> Value {
    evalsuite_schema::json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_good_answer_passes_and_is_recorded() {
    let (evals, directory) =
        one(case_json("greets", json!([contains("hello")]), json!({"metadata": {"failure_bucket": "b"}})));
    let report = run(&evals.with_agent(hello), directory.path());
    let case = only(&report);
    assert_eq!((case.status(), case.record().score), (Status::Passed, Some(1.0)));

    let trial = case.directory().join("trial-000");
    let record: TrialRecord = evalsuite_schema::json::from_value(read(&trial.join("result.json"))).unwrap();
    assert_eq!(&record, &case.trials()[0]);
    assert_eq!((record.schema.as_str(), record.answer.as_deref()), ("evalsuite.trial/1", Some("hello world")));
    assert_eq!((record.test_name.as_str(), record.target.as_str()), ("x::greets", "default"));
    assert_eq!(record.failure_bucket.as_deref(), Some("b"));
    assert_eq!(record.versions.package, "demo 1.2.3");
    assert!(record.agent.ends_with("hello"), "{}", record.agent);
    assert!(trial.join("started.json").is_file());
    assert!(!trial.join("workspace").exists(), "the workspace of a passed trial is removed");
    assert_eq!(read(&case.directory().join("case.json"))["pass_at_k"], json!({"1": 1.0}));
    let latest = fs::read_to_string(directory.path().join("latest")).unwrap();
    assert_eq!(latest, report.run_id());
    let run = directory.path().join("runs").join(report.run_id());
    assert!(case.directory().starts_with(run.join("suites")), "{}", case.directory().display());
}

#[test]
fn an_agent_has_as_large_a_stack_as_on_the_main_thread() {
    fn deep(_: &mut Trial<'_>) -> Result<String, AgentError> {
        let large = [1_u8; 5 << 20];
        Ok(format!("hello {:?}", std::hint::black_box(&large).last()))
    }
    let (evals, directory) = one(case_json("greets", json!([contains("hello")]), json!({})));
    assert_eq!(only(&run(&evals.with_agent(deep), directory.path())).status(), Status::Passed);
}

#[test]
fn what_was_recorded_before_a_timeout_is_kept() {
    async fn slow(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        trial.usage(Usage::new(5, 2));
        trial.log("before the wait");
        fs::write(trial.workspace().join("note.txt"), "so far\n")?;
        std::future::pending::<()>().await;
        Ok(String::new())
    }
    fn blocking(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        trial.usage(Usage::new(5, 2));
        trial.log("before the wait");
        fs::write(trial.workspace().join("note.txt"), "so far\n")
            .map_err(|error| AgentError::new(error.to_string()))?;
        while !trial.is_cancelled() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok("too late".into())
    }
    let case = || case_json("slow", json!([contains("hello")]), json!({"timeout_seconds": 0.2}));
    for bind in [|evals: Evals| evals.with_agent(slow), |evals: Evals| evals.with_agent(blocking)] {
        let (evals, directory) = one(case());
        let report = run(&bind(evals), directory.path());
        let case = only(&report);
        assert_eq!((case.status(), code(case)), (Status::Error, Some(ReasonCode::Timeout)));
        let trial = &case.trials()[0];
        assert_eq!((trial.usage, trial.score, trial.answer.as_deref()), (Some(Usage::new(5, 2)), None, None));
        assert!(trial.graders.is_empty());
        let workspace = trial.workspace.as_ref().unwrap();
        assert_eq!((workspace.created.as_slice(), workspace.kept), (["note.txt".to_owned()].as_slice(), true));
        let log = fs::read_to_string(case.directory().join("trial-000/log.txt")).unwrap();
        assert_eq!(log, "before the wait\n");
    }
}

#[test]
fn a_panic_is_an_error_of_its_case_only() {
    async fn sometimes(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        assert_ne!(trial.case_id(), "bad", "this one is bad");
        Ok("hello".into())
    }
    let directory = tempfile::tempdir().unwrap();
    let cases = ["bad", "good"].map(|id| case_json(id, json!([contains("hello")]), json!({})));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(sometimes);
    let report = run(&evals, directory.path());
    assert_eq!(code(&report.cases()[0]), Some(ReasonCode::AgentPanic));
    assert!(report.cases()[0].record().reason.as_ref().unwrap().message.contains("this one is bad"));
    assert_eq!(report.cases()[1].status(), Status::Passed);
    assert!(!report.is_success());
}

#[cfg(unix)]
#[test]
fn an_error_that_cannot_be_told_is_one_of_its_case_after_which_hooks_run() {
    #[derive(Debug)]
    struct Unspeakable;
    impl std::fmt::Display for Unspeakable {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("no words for it")
        }
    }
    impl std::error::Error for Unspeakable {}
    fn fails(_: &mut Trial<'_>) -> Result<String, Unspeakable> {
        Err(Unspeakable)
    }
    let after = json!({"command": {"shell": "echo over > seen.txt"}, "timeout_ms": 60_000, "reset": "none"});
    let case = case_json("c", json!([contains("x")]), json!({"workspace": {"hooks": {"after_each": after}}}));
    let (evals, directory) = one(case);
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let report = run(&evals.with_agent(fails), directory.path());
    let case = only(&report);
    assert_eq!(code(case), Some(ReasonCode::AgentPanic), "{case}");
    assert!(case.to_string().contains("no words for it"), "{case}");
    assert_eq!(fs::read_to_string(directory.path().join("suites/x/seen.txt")).unwrap(), "over\n");
    assert!(case.directory().join("case.json").is_file() && case.directory().join("trial-000/result.json").is_file());
}

#[test]
fn an_agents_error_names_its_causes_and_a_skip_is_no_error() {
    async fn fails(_: &mut Trial<'_>) -> anyhow::Result<String> {
        Err(anyhow::anyhow!("connection refused").context("cannot reach the model"))
    }
    async fn skips(_: &mut Trial<'_>) -> anyhow::Result<String> {
        Err(AgentError::skip("no key"))?
    }
    let case = || case_json("c", json!([contains("hello")]), json!({}));
    let (evals, directory) = one(case());
    let report = run(&evals.with_agent(fails), directory.path());
    let reason = only(&report).record().reason.clone().unwrap();
    assert_eq!(
        (reason.code, reason.message.as_str()),
        (ReasonCode::AgentError, "cannot reach the model: connection refused")
    );

    let (evals, directory) = one(case());
    let report = run(&evals.with_agent(skips), directory.path());
    assert_eq!((only(&report).status(), code(only(&report))), (Status::Skipped, Some(ReasonCode::SkipRequested)));
    assert!(report.is_success());
}

#[test]
fn every_trial_works_in_a_fresh_copy() {
    async fn edits(trial: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        let file = trial.workspace().join("text.txt");
        let before = fs::read_to_string(&file)?;
        fs::write(&file, "changed\n")?;
        fs::write(trial.workspace().join("new.txt"), "new\n")?;
        Ok(Outcome::new().with_text(before).with_state("files", 2))
    }
    let directory = tempfile::tempdir().unwrap();
    let template = directory.path().join("suites/x/workspace");
    fs::create_dir_all(&template).unwrap();
    fs::write(template.join("text.txt"), "hello\n").unwrap();
    let workspace = json!({"template": {"written": "workspace", "path": "suites/x/workspace"}});
    let case = case_json("edits", json!([contains("hello")]), json!({"workspace": workspace, "trials": {"count": 2}}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(edits);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    assert_eq!((case.status(), case.trials().len()), (Status::Passed, 2));
    for trial in case.trials() {
        let workspace = trial.workspace.as_ref().unwrap();
        assert_eq!(
            (&workspace.created, &workspace.modified),
            (&vec!["new.txt".to_owned()], &vec!["text.txt".to_owned()])
        );
        assert_eq!(workspace.snippets["text.txt"], "changed\n");
        assert_eq!(trial.state, json!({"files": 2}).as_object().unwrap().clone());
    }
    let patch = fs::read_to_string(case.directory().join("trial-001/diff.patch")).unwrap();
    assert!(patch.contains("-hello\n+changed\n"), "{patch}");
    assert_eq!(fs::read_to_string(template.join("text.txt")).unwrap(), "hello\n");
}

#[cfg(unix)]
#[test]
fn a_workspace_that_became_a_link_is_not_followed() {
    fn leaves(trial: &mut Trial<'_>) -> Result<String, std::io::Error> {
        fs::remove_dir_all(trial.workspace())?;
        let outside = trial.suite_dir().join("outside");
        std::os::unix::fs::symlink(outside, trial.workspace())?;
        Ok("hello".into())
    }
    let (evals, directory) = one(case_json("c", json!([contains("hello")]), json!({})));
    let outside = directory.path().join("suites/x/outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("private.txt"), "nobody else's business").unwrap();
    let options = || RunOptions::new().with_run_id("one");
    let report = run_with(&evals.clone().with_agent(leaves), &directory.path().join("out"), options());
    let case = only(&report);
    assert_eq!(code(case), Some(ReasonCode::WorkspaceError), "{case}");
    assert!(case.to_string().contains("is not a directory any more"), "{case}");
    for entry in fs::read_dir(case.directory().join("trial-000")).unwrap().map(Result::unwrap) {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        assert!(!text.contains("business"), "{}", entry.path().display());
    }
    // The next run of the same id makes room.
    let report = run_with(&evals.with_agent(hello), &directory.path().join("out"), options());
    assert_eq!(only(&report).status(), Status::Passed);
    assert!(outside.join("private.txt").is_file(), "what lies behind the link is not removed with it");
}

#[test]
fn transcripts_reach_the_graders() {
    async fn calls(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        trial.message(Message::text(Role::Assistant, "let me look"));
        trial.tool_call(ToolCall::new("read"));
        Ok("hello".into())
    }
    let graders = json!([
        contains("hello"),
        grader("calls", 9, json!({"tool-trajectory": {"mode": "exact", "expected": [{"tool": "read"}]}})),
    ]);
    let (evals, directory) = one(case_json("c", graders.clone(), json!({})));
    let report = run(&evals.with_agent(calls), directory.path());
    assert_eq!(only(&report).record().score, Some(1.0));
    let (evals, directory) = one(case_json("c", graders, json!({})));
    let report = run(&evals.with_agent(hello), directory.path());
    let case = only(&report);
    assert_eq!(code(case), Some(ReasonCode::GraderError), "a bare answer reports no calls: {case}");
}

#[test]
fn early_stopping_follows_the_kind() {
    async fn second_time(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        Ok(if trial.index() == 1 { "hello" } else { "nothing" }.into())
    }
    let outcome = |kind: &str, run_all: bool| {
        let directory = tempfile::tempdir().unwrap();
        let case = case_json("c", json!([contains("hello")]), json!({"trials": {"count": 4}}));
        let evals = Evals::new(suite("cases", kind, directory.path(), &[case])).with_agent(second_time);
        let report = run_with(&evals, directory.path(), RunOptions::new().with_run_all(run_all));
        let case = only(&report);
        (case.status(), case.trials().len(), case.record().truncated, case.record().stability)
    };
    let flaky = Some(Stability::Flaky);
    assert_eq!(outcome("capability", false), (Status::Passed, 2, true, flaky), "one failed and one passed");
    assert_eq!(outcome("regression", false), (Status::Failed, 1, true, None));
    assert_eq!(outcome("capability", true), (Status::Passed, 4, false, flaky));
    assert_eq!(outcome("regression", true), (Status::Failed, 4, false, flaky));
}

#[test]
fn trials_that_run_after_the_case_is_decided_do_not_change_its_outcome() {
    const DOES: [&str; 3] = ["hello", "no", "break"];
    for (kind, strategy, errors) in [
        ("regression", None, 0),
        ("regression", None, 1),
        ("capability", None, 0),
        ("capability", None, 1),
        ("capability", Some("mean"), 1),
    ] {
        let orders = (0..27).map(|order| [order / 9, order / 3 % 3, order % 3].map(|index| DOES[index]).join("-"));
        let cases: Vec<Value> = orders
            .map(|order| {
                let mut trials = json!({"count": 3, "errors": errors});
                strategy.into_iter().for_each(|strategy| trials["strategy"] = json!(strategy));
                case_json(&order, json!([contains("hello")]), json!({"trials": trials}))
            })
            .collect();
        let agent = |trial: &mut Trial<'_>| match trial.case_id().split('-').nth(trial.index() as usize) {
            Some("break") => Err(AgentError::new("broken")),
            text => Ok(text.unwrap_or_default().to_owned()),
        };
        let run = |run_all: bool| {
            let directory = tempfile::tempdir().unwrap();
            let evals = Evals::new(suite("cases", kind, directory.path(), &cases)).with_agent(agent);
            run_with(&evals, directory.path(), RunOptions::new().with_run_all(run_all))
        };
        let (first, all) = (run(false), run(true));
        for (first, all) in first.cases().iter().zip(all.cases()) {
            let outcome = |case: &CaseReport| (case.status(), code(case));
            assert_eq!(outcome(first), outcome(all), "{kind} {strategy:?} {errors}: {first}{all}");
            assert_eq!(all.trials().len(), 3);
        }
    }
}

#[test]
fn trials_end_when_they_have_cost_enough() {
    async fn costs(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        Ok(Outcome::new().with_text("hello").with_cost_usd(0.4))
    }
    let trials = json!({"trials": {"count": 5, "cost_limit_usd": 0.8, "strategy": "mean"}});
    let (evals, directory) = one(case_json("c", json!([contains("hello")]), trials));
    let report = run(&evals.with_agent(costs), directory.path());
    let record = only(&report).record();
    assert_eq!((record.trials.len(), record.cost_limited, record.outcome), (2, true, Status::Passed));
    assert_eq!(record.pass_at_k[&1], None, "statistics of a truncated case would mislead");
    let trials = json!({"trials": {"count": 2, "cost_limit_usd": 0.8, "strategy": "mean"}});
    let (evals, directory) = one(case_json("c", json!([contains("hello")]), trials));
    let report = run(&evals.with_agent(costs), directory.path());
    let record = only(&report).record();
    assert_eq!((record.cost_limited, record.truncated), (true, false), "the last one reached the limit");
    assert_eq!(record.pass_at_k[&1], Some(1.0));
}

#[test]
fn requirements_skip_a_case_before_its_agent_runs() {
    async fn never(_: &mut Trial<'_>) -> anyhow::Result<String> {
        panic!("the agent ran")
    }
    let judge = grader(
        "tone",
        7,
        json!({"rubrics": {"criteria": [{"id": "a", "outcome": "polite", "weight": 1.0, "required": true}]}}),
    );
    let missing = [
        (
            json!([contains("x")]),
            json!({"requires": {"env": ["TEST_OF_EVALSUITE_NOT_SET"]}}),
            "TEST_OF_EVALSUITE_NOT_SET is not set",
        ),
        (json!([contains("x")]), json!({"requires": {"commands": ["no-such-program"]}}), "no-such-program"),
        (json!([contains("x")]), json!({"workspace": {"docker": true}}), "docker"),
        (json!([judge]), json!({}), "needs a judge"),
        (json!([]), json!({"criteria": "Is polite"}), "needs a judge"),
        (json!([]), json!({}), "nothing grades the case"),
    ];
    for (graders, more, text) in missing {
        let (evals, directory) = one(case_json("c", graders, more));
        let report = run(&evals.with_agent(never), directory.path());
        let case = only(&report);
        assert_eq!((case.status(), case.trials().len()), (Status::Skipped, 0), "{text}");
        assert!(case.record().reason.as_ref().unwrap().message.contains(text), "{case}");
        assert!(case.directory().join("case.json").is_file());
    }
}

#[test]
fn an_unset_variable_is_an_error_with_its_place() {
    let (evals, directory) = one(case_json("c", json!([contains("${{ TEST_OF_EVALSUITE_NOT_SET }}")]), json!({})));
    let report = run(&evals.with_agent(hello), directory.path());
    let reason = only(&report).record().reason.clone().unwrap();
    assert_eq!((reason.code, reason.location.map(|place| place.line)), (ReasonCode::VariableUnset, Some(7)));
    assert!(
        reason.message.contains("E073") && reason.message.contains("TEST_OF_EVALSUITE_NOT_SET"),
        "{}",
        reason.message
    );
}

#[test]
fn a_target_has_its_own_agent() {
    async fn other(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        Ok(format!("hello from {}", trial.target()))
    }
    let directory = tempfile::tempdir().unwrap();
    let case = |target: &str| case_json("c", json!([contains("hello from codex")]), json!({"matrix": target}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case("plain"), case("codex")]));
    let report = run(&evals.with_agent(hello).with_target_agent("codex", other), directory.path());
    let outcomes: Vec<_> = report.cases().iter().map(CaseReport::status).collect();
    assert_eq!(outcomes, [Status::Failed, Status::Passed]);
    assert_ne!(report.cases()[0].directory(), report.cases()[1].directory());
}

#[test]
fn options_choose_cases_and_results_keep_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let cases: Vec<Value> =
        (0..20).map(|index| case_json(&format!("case-{index}"), json!([contains("hello")]), json!({}))).collect();
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(hello);
    let ids = |options: RunOptions| -> Vec<&'static str> {
        run_with(&evals, directory.path(), options).cases().iter().map(|case| case.case().id()).collect()
    };
    let four = std::num::NonZeroUsize::new(4).unwrap();
    let all: Vec<String> = (0..20).map(|index| format!("case-{index}")).collect();
    assert_eq!(ids(RunOptions::new().with_concurrency(four)), all);
    assert_eq!(ids(RunOptions::new().with_filter("case-1").with_concurrency(four)).len(), 11);
    assert_eq!(ids(RunOptions::new().with_tag("none")).len(), 0);
}

#[cfg(unix)]
#[test]
fn programs_of_an_agent_end_with_it() {
    async fn starts(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        let pid = trial.workspace().join("pid");
        let script = format!("echo $$ > {}; sleep 60", pid.display());
        trial.command("sh").args(["-c", &script]).output()?;
        Ok(String::new())
    }
    let (evals, directory) = one(case_json("c", json!([contains("x")]), json!({"timeout_seconds": 0.5})));
    let report = run(&evals.with_agent(starts), directory.path());
    assert_eq!(code(only(&report)), Some(ReasonCode::Timeout));
    let pid = fs::read_to_string(only(&report).directory().join("trial-000/workspace/pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).join("cwd").exists(), "the program still runs");
}

#[test]
fn calls_that_never_return_end_at_their_limit() {
    async fn blocks_its_runtime(_: &mut Trial<'_>) -> anyhow::Result<String> {
        std::thread::sleep(Duration::from_secs(60));
        Ok(String::new())
    }
    fn blocks(_: &mut Trial<'_>) -> anyhow::Result<String> {
        std::thread::sleep(Duration::from_secs(60));
        Ok(String::new())
    }
    for bind in [|evals: Evals| evals.with_agent(blocks_its_runtime), |evals: Evals| evals.with_agent(blocks)] {
        let started = std::time::Instant::now();
        let (evals, directory) = one(case_json("c", json!([contains("x")]), json!({"timeout_seconds": 0.1})));
        let report = run(&bind(evals), directory.path());
        assert_eq!(code(only(&report)), Some(ReasonCode::Timeout));
        assert!(started.elapsed() < Duration::from_secs(20), "took {:?}", started.elapsed());
    }
}

#[test]
fn a_test_decodes_its_own_case_only() {
    let directory = tempfile::tempdir().unwrap();
    let mut good = case_json("good", json!([contains("hello")]), json!({}));
    good["metadata"] = json!({"n": 1});
    let cases = [good, json!({"id": "not a case"})];
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(hello);
    let report = run_with(&evals, directory.path(), RunOptions::new().with_filter("good"));
    assert_eq!(only(&report).status(), Status::Passed);
    let report = run_with(&evals, directory.path(), RunOptions::new());
    assert_eq!((report.cases().len(), report.problems().len()), (1, 1));
    assert!(report.problems()[0].contains("case `not a case` cannot be decoded"), "{report}");
}

#[test]
fn a_report_reads_like_a_test_run() {
    let directory = tempfile::tempdir().unwrap();
    let needs = json!({"requires": {"env": ["TEST_OF_EVALSUITE_NOT_SET"]}});
    let cases = [
        case_json("passes", json!([contains("hello")]), json!({})),
        case_json("fails", json!([contains("bye")]), json!({})),
        case_json("skipped", json!([contains("hello")]), needs),
    ];
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(hello);
    let text = run(&evals, directory.path()).to_string();
    assert!(text.starts_with("x: 1 passed, 1 failed, 0 error, 1 skipped\n"), "{text}");
    assert!(text.contains("\n  evaluation failed: fails (x)"), "{text}");
    assert!(
        text.contains("\n  skipped  skipped: environment variable TEST_OF_EVALSUITE_NOT_SET is not set\n"),
        "{text}"
    );
}
