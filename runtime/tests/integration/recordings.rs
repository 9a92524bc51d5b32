//! Recording, replaying and grading again: when the agent is called, and what is left without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use evalsuite::record::{Mode, ReasonCode, TrialRecord};
use evalsuite::{
    AgentError, CaseReport, Evals, Evidence, JudgeError, JudgeReply, JudgeRequest, Message, Outcome, Role, RunOptions,
    Status, ToolCall, Trial, Usage,
};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, rerun, run_with, suite};

/// A package with a suite of one case, and a place for records.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("suites/x/template/old.txt", "one\n");
        place.write("suites/x/template/gone.txt", "x\n");
        place
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn evals(&self, prompt: &str, graders: Value) -> Evals {
        self.evals_with(prompt, graders, json!({}))
    }

    fn evals_with(&self, prompt: &str, graders: Value, more: Value) -> Evals {
        let mut case = case_json(
            "works",
            graders,
            json!({
                "input": {"messages": [{"role": "user", "content": {"text": prompt}}]},
                "workspace": {"template": {"written": "template", "path": "suites/x/template"}},
            }),
        );
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Evals::new(suite("cases", "mixed", self.0.path(), &[case]))
            .with_grader("saw", |evidence: &Evidence<'_>| {
                evidence.transcript().is_some_and(|messages| messages.len() == 2)
            })
            .with_grader("left", |evidence: &Evidence<'_>| {
                let read = |path: &str| fs::read(evidence.workspace().join(path)).unwrap_or_default();
                evidence.changes().created == ["image"]
                    && evidence.changes().modified == ["old.txt"]
                    && evidence.changes().deleted == ["gone.txt"]
                    && evidence.diff().contains("+two")
                    && read("old.txt") == b"two\n"
                    && read("image") == b"\0\xff"
            })
            .with_grader("reported", |evidence: &Evidence<'_>| {
                evidence.usage() == Some(Usage::new(7, 3))
                    && evidence.cost_usd() == Some(0.25)
                    && evidence.duration() == Duration::from_millis(1234)
                    && evidence.state()["done"] == true
                    && evidence.answer().len() > 70_000
            })
    }

    fn options(&self, mode: Mode) -> RunOptions {
        RunOptions::new().with_mode(mode).with_cassettes(self.0.path().join("cassettes"))
    }

    fn run(&self, evals: &Evals, mode: Mode) -> CaseReport {
        only(&run_with(evals, &self.output(), self.options(mode))).clone()
    }

    fn output(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn recording(&self, case: &CaseReport) -> PathBuf {
        let suite = fs::read_dir(self.0.path().join("cassettes")).unwrap().next().unwrap().unwrap().path();
        suite.join(&case.record().case_key).join("trial-000.json")
    }
}

fn everything() -> Value {
    let user = |name: &str| grader(name, 3, json!({"user": {"grader": name}}));
    json!([contains("done"), user("saw"), user("left"), user("reported")])
}

/// Uses all there is to use, and counts how often it is called.
fn busy(calls: &Arc<AtomicU32>) -> impl Fn(&mut Trial<'_>) -> Result<Outcome, AgentError> + Send + Sync + 'static {
    let calls = Arc::clone(calls);
    move |trial| {
        calls.fetch_add(1, Ordering::SeqCst);
        let failed = |error: std::io::Error| AgentError::new(error.to_string());
        fs::write(trial.workspace().join("old.txt"), "two\n").map_err(failed)?;
        fs::write(trial.workspace().join("image"), b"\0\xff").map_err(failed)?;
        fs::remove_file(trial.workspace().join("gone.txt")).map_err(failed)?;
        trial.tool_call(ToolCall::new("edit"));
        trial.message(Message::text(
            Role::Assistant,
            format!("{} done in {}", "long ".repeat(15_000), trial.workspace().display()),
        ));
        trial.usage(Usage::new(7, 3));
        Ok(Outcome::new()
            .with_cost_usd(0.25)
            .with_duration(Duration::from_millis(1234))
            .with_state("done", true)
            .with_model("small"))
    }
}

fn never(_: &mut Trial<'_>) -> Result<String, AgentError> {
    panic!("the agent is called")
}

fn code(case: &CaseReport) -> Option<ReasonCode> {
    case.record().reason.as_ref().map(|reason| reason.code)
}

fn message(case: &CaseReport) -> &str {
    case.record().reason.as_ref().map(|reason| reason.message.as_str()).unwrap_or_default()
}

fn read(path: &Path) -> Value {
    evalsuite_schema::json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_replay_is_the_recorded_trial_without_its_agent() {
    let place = Place::new();
    let calls = Arc::default();
    let recorded = place.run(&place.evals("go", everything()).with_agent(busy(&calls)), Mode::Record);
    assert_eq!(recorded.status(), Status::Passed, "{recorded}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);

    let text = fs::read_to_string(place.recording(&recorded)).unwrap();
    let workspace = format!("{}/trial-000/workspace", recorded.directory().display());
    assert!(!text.contains(&workspace), "a recording is the same wherever it is made");
    assert!(text.contains("${{ EVALSUITE_WORKSPACE }}"));

    let replayed = place.run(&place.evals("go", everything()).with_agent(never), Mode::Replay);
    assert_eq!(replayed.status(), Status::Passed, "{replayed}");
    let (then, now) = (&recorded.trials()[0], &replayed.trials()[0]);
    assert_eq!((then.mode, now.mode), (Mode::Record, Mode::Replay));
    assert_eq!((now.duration_ms, now.usage, now.cost_usd), (Some(1234), then.usage, Some(0.25)));
    assert_eq!((&now.model, &now.state), (&then.model, &then.state));
    assert_eq!(now.input_digest, then.input_digest);

    let changed = place.run(&place.evals("go", json!([contains("undone")])).with_agent(never), Mode::Replay);
    assert_eq!((changed.status(), code(&changed)), (Status::Failed, Some(ReasonCode::ThresholdNotMet)));
}

#[test]
fn without_a_recording_the_error_says_how_to_make_one() {
    let place = Place::new();
    let case = place.run(&place.evals("go", everything()).with_agent(never), Mode::Replay);
    assert_eq!((case.status(), code(&case)), (Status::Error, Some(ReasonCode::RecordingMissing)));
    assert!(message(&case).contains(&format!("EVALSUITE_MODE=record {}", rerun("x::works"))), "{}", message(&case));
    let record = &case.trials()[0];
    assert_eq!((record.mode, record.answer.as_deref()), (Mode::Replay, None));
}

#[test]
fn a_recording_made_for_something_else_says_what_has_changed() {
    let place = Place::new();
    let calls = Arc::default();
    place.run(&place.evals("go east", everything()).with_agent(busy(&calls)), Mode::Record);
    place.write("suites/x/template/old.txt", "other\n");
    let case = place.run(&place.evals("go west", everything()).with_agent(never), Mode::Replay);
    assert_eq!((case.status(), code(&case)), (Status::Error, Some(ReasonCode::RecordingStale)));
    for part in ["-go east", "+go west", "`old.txt` changed", "EVALSUITE_MODE=record"] {
        assert!(message(&case).contains(part), "{part}: {}", message(&case));
    }
}

#[test]
fn what_cannot_be_recorded_is_an_error_and_leaves_the_earlier_recording() {
    let place = Place::new();
    let calls = Arc::default();
    let recorded = place.run(&place.evals("go", everything()).with_agent(busy(&calls)), Mode::Record);
    let before = fs::read(place.recording(&recorded)).unwrap();
    let huge = |trial: &mut Trial<'_>| -> std::io::Result<String> {
        fs::File::create(trial.workspace().join("huge"))?.set_len(17 * 1024 * 1024)?;
        Ok("done".into())
    };
    let failing = |_: &mut Trial<'_>| -> Result<String, AgentError> { Err(AgentError::new("no")) };
    let case = place.run(&place.evals("go", everything()).with_agent(huge), Mode::Record);
    assert_eq!((case.status(), code(&case)), (Status::Error, Some(ReasonCode::RecordingFailed)));
    let case = place.run(&place.evals("go", everything()).with_agent(failing), Mode::Record);
    assert_eq!(code(&case), Some(ReasonCode::AgentError));
    assert_eq!(fs::read(place.recording(&recorded)).unwrap(), before);
}

#[test]
fn secrets_stand_in_recordings_by_their_names() {
    // Cargo sets this for every test; any variable that is set will do.
    let name = "CARGO_PKG_REPOSITORY";
    let value = std::env::var(name).unwrap();
    let place = Place::new();
    let own = value.clone();
    let tells = move |trial: &mut Trial<'_>| -> std::io::Result<String> {
        fs::write(trial.workspace().join("key.txt"), &own)?;
        Ok(format!("done with {own}"))
    };
    let more = json!({"requires": {"env": [name]}});
    let graders = || json!([contains(&value)]);
    let recorded = place.run(&place.evals_with("go", graders(), more.clone()).with_agent(tells), Mode::Record);
    for file in [place.recording(&recorded), recorded.directory().join("trial-000/evidence.json")] {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&value), "{}", file.display());
        assert!(text.contains("done with ${{ CARGO_PKG_REPOSITORY }}"), "{}", file.display());
    }
    let replayed = place.run(&place.evals_with("go", graders(), more).with_agent(never), Mode::Replay);
    assert_eq!(replayed.status(), Status::Passed, "the value is put back\n{replayed}");
}

#[test]
fn an_input_with_a_variable_is_the_same_input_as_long_as_its_value_is() {
    let name = "CARGO_PKG_REPOSITORY";
    let value = std::env::var(name).unwrap();
    let place = Place::new();
    let asked = Arc::new(AtomicU32::default());
    let counts = {
        let asked = Arc::clone(&asked);
        move |trial: &mut Trial<'_>| -> Result<String, AgentError> {
            asked.fetch_add(1, Ordering::SeqCst);
            Ok(format!("said {}", trial.prompt()))
        }
    };
    // As written in the case, and as text that happens to be the value.
    for prompt in [format!("open ${{{{ {name} }}}}"), format!("open {value}")] {
        let evals = || {
            let more = json!({"requires": {"env": [name]}});
            place.evals_with(&prompt, json!([contains(&format!("said open {value}"))]), more)
        };
        let recorded = place.run(&evals().with_agent(counts.clone()), Mode::Record);
        assert_eq!(recorded.status(), Status::Passed, "{recorded}");
        let text = fs::read_to_string(place.recording(&recorded)).unwrap();
        assert!(!text.contains(&value) && text.contains("open ${{ CARGO_PKG_REPOSITORY }}"), "{text}");
        let replayed = place.run(&evals().with_agent(never), Mode::Replay);
        assert_eq!(replayed.status(), Status::Passed, "{replayed}");
        let options = RunOptions::new().with_regrade(&recorded.record().run_id);
        let regraded = only(&run_with(&evals().with_agent(never), &place.output(), options)).clone();
        assert_eq!(regraded.status(), Status::Passed, "{regraded}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn recordings_are_not_written_into_the_suite() {
    let place = Place::new();
    let options =
        RunOptions::new().with_mode(Mode::Record).with_cassettes(place.0.path().join("suites/../suites/x/cassettes"));
    let calls = Arc::default();
    let report = run_with(&place.evals("go", everything()).with_agent(busy(&calls)), &place.output(), options);
    let case = only(&report);
    assert_eq!((case.status(), code(case)), (Status::Error, Some(ReasonCode::InvalidSetting)));
    assert!(!place.0.path().join("suites/x/cassettes").exists());
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[test]
fn recording_again_asks_a_model_only_what_is_new() {
    async fn agent(trial: &mut Trial<'_>, asked: &AtomicU32) -> anyhow::Result<String> {
        let mut answers = Vec::new();
        for question in ["a", "b", "a"] {
            let request = json!({"prompt": question, "timestamp": asked.load(Ordering::SeqCst)});
            let answer: String = trial
                .cassette()
                .get_or_record(&request, async || {
                    anyhow::Ok(format!("{question}{}", asked.fetch_add(1, Ordering::SeqCst)))
                })
                .await?;
            answers.push(answer);
        }
        let blocking: u32 =
            trial.cassette().get_or_record_blocking("c", || anyhow::Ok(asked.fetch_add(1, Ordering::SeqCst)))?;
        Ok(format!("done {} {blocking}", answers.join(" ")))
    }
    static ASKED: AtomicU32 = AtomicU32::new(0);
    async fn bound(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        agent(trial, &ASKED).await
    }
    let place = Place::new();
    let answer = |mode| {
        place.run(&place.evals("go", json!([contains("done")])).with_agent(bound), mode).trials()[0]
            .answer
            .clone()
            .unwrap()
    };
    assert_eq!(answer(Mode::Record), "done a0 b1 a2 3");
    assert_eq!(answer(Mode::Record), "done a0 b1 a2 3", "the same question has its replies in order");
    assert_eq!(answer(Mode::Live), "done a4 b5 a6 7");
    assert_eq!(answer(Mode::Replay), "done a0 b1 a2 3");
}

#[test]
fn an_earlier_run_is_graded_again_without_the_agent() {
    let place = Place::new();
    let calls = Arc::default();
    let first = place.run(&place.evals("go", json!([contains("undone")])).with_agent(busy(&calls)), Mode::Live);
    assert_eq!(first.status(), Status::Failed);
    let regrade = |evals: &Evals, run: &str| {
        only(&run_with(&evals.clone().with_agent(never), &place.output(), RunOptions::new().with_regrade(run))).clone()
    };
    let again = regrade(&place.evals("go", everything()), "latest");
    assert_eq!(again.status(), Status::Passed, "{again}");
    let record = &again.trials()[0];
    assert_eq!((record.mode, record.regraded_run.as_ref()), (Mode::Regrade, Some(&first.record().run_id)));
    assert_eq!((record.duration_ms, record.cost_usd), (Some(1234), Some(0.25)));
    let evidence = |case: &CaseReport| fs::read(case.directory().join("trial-000/evidence.json")).unwrap();
    assert_eq!(evidence(&again), evidence(&first));
    // What was graded again can be graded again.
    let id = again.record().run_id.clone();
    assert_eq!(regrade(&place.evals("go", everything()), &id).status(), Status::Passed);

    let unknown = regrade(&place.evals("go", everything()), "no-such-run");
    assert_eq!(code(&unknown), Some(ReasonCode::InvalidSetting));
    assert!(message(&unknown).contains("no-such-run"));
    let stale = regrade(&place.evals("stop", everything()), "latest");
    assert_eq!(code(&stale), Some(ReasonCode::RecordingStale));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn a_case_that_never_ran_cannot_be_graded_again() {
    let place = Place::new();
    let evals = place.evals("go", everything()).with_agent(never);
    let report = run_with(&evals, &place.output(), RunOptions::new().with_mode(Mode::Regrade));
    let case = only(&report);
    assert_eq!((case.status(), code(case)), (Status::Error, Some(ReasonCode::RecordingMissing)));
    assert!(message(case).contains("run the test without EVALSUITE_REGRADE"), "{}", message(case));
}

/// Each of the other cases was an error.
#[test]
fn a_case_that_is_not_in_the_regraded_run_is_skipped() {
    let place = Place::new();
    let evals = |ids: &[&str]| {
        let cases: Vec<Value> = ids.iter().map(|id| case_json(id, json!([contains("done")]), json!({}))).collect();
        Evals::new(suite("cases", "mixed", place.0.path(), &cases))
    };
    let done = |_: &mut Trial<'_>| -> Result<String, AgentError> { Ok("done".to_owned()) };
    let first = only(&run_with(&evals(&["ran"]).with_agent(done), &place.output(), RunOptions::new())).clone();
    let id = first.record().run_id.clone();
    let regrade = |run: &str, ids: &[&str]| -> Vec<(Status, Option<ReasonCode>, String)> {
        let report = run_with(&evals(ids).with_agent(never), &place.output(), RunOptions::new().with_regrade(run));
        let message = |case: &CaseReport| case.record().reason.as_ref().map(|reason| reason.message.clone());
        report.cases().iter().map(|case| (case.status(), code(case), message(case).unwrap_or_default())).collect()
    };
    for (run, message) in
        [(id.as_str(), format!("run `{id}` has no trial of this case")), ("latest", "no run in ".into())]
    {
        let cases = regrade(run, &["other", "ran"]);
        assert_eq!((cases[0].0, cases[0].1), (Status::Skipped, Some(ReasonCode::Filtered)), "{cases:?}");
        assert!(cases[0].2.starts_with(&message), "{cases:?}");
        assert_eq!(cases[1].0, Status::Passed, "{cases:?}");
    }
    // It began, and its process died: what is missing is not left out.
    fs::remove_file(first.directory().join("trial-000/result.json")).unwrap();
    let cases = regrade(&id, &["ran"]);
    assert_eq!((cases[0].0, cases[0].1), (Status::Error, Some(ReasonCode::RecordingMissing)), "{cases:?}");
    // A run without any trial has nothing to grade again.
    fs::remove_dir_all(first.directory()).unwrap();
    let cases = regrade(&id, &["ran"]);
    assert_eq!((cases[0].0, cases[0].1), (Status::Error, Some(ReasonCode::RecordingMissing)), "{cases:?}");
}

#[test]
fn an_earlier_error_stays_one() {
    let place = Place::new();
    let failing = |_: &mut Trial<'_>| -> Result<String, AgentError> { Err(AgentError::new("no network")) };
    place.run(&place.evals("go", everything()).with_agent(failing), Mode::Live);
    let report = run_with(
        &place.evals("go", everything()).with_agent(never),
        &place.output(),
        RunOptions::new().with_regrade("latest"),
    );
    let case = only(&report);
    assert_eq!((case.status(), code(case)), (Status::Error, Some(ReasonCode::AgentError)));
    assert!(message(case).contains("no network"), "{}", message(case));
}

#[test]
fn trials_that_did_not_run_are_missing_if_they_may_decide_the_case_now() {
    let place = Place::new();
    let calls = Arc::default();
    let three = || json!({"trials": {"count": 3}});
    let first =
        place.run(&place.evals_with("go", json!([contains("undone")]), three()).with_agent(busy(&calls)), Mode::Live);
    assert_eq!(first.trials().len(), 1, "one failure decides");
    let id = first.record().run_id.clone();
    let regrade = |graders: Value, options: RunOptions| {
        let evals = place.evals_with("go", graders, three()).with_agent(never);
        only(&run_with(&evals, &place.output(), options)).clone()
    };
    let again = |graders: Value| regrade(graders, RunOptions::new().with_regrade(id.as_str()));
    let mended = again(everything());
    assert_eq!((mended.status(), code(&mended)), (Status::Error, Some(ReasonCode::RecordingMissing)), "{mended}");
    assert!(message(&mended).starts_with(&format!("trials 2, 3 of 3 did not run in run {id}, ")), "{mended}");
    assert_eq!((mended.trials().len(), mended.record().planned, mended.record().cost_limited), (1, 3, false));
    let still = again(json!([contains("undone")]));
    assert_eq!((still.status(), still.trials().len(), still.record().planned), (Status::Failed, 1, 3), "it decides");

    // All of them ran, as many as were planned then.
    let two = RunOptions::new().with_trials(std::num::NonZeroUsize::new(2).unwrap());
    let evals = place.evals_with("go", everything(), three()).with_agent(busy(&calls));
    let all = only(&run_with(&evals, &place.output(), two)).record().run_id.clone();
    let whole = regrade(everything(), RunOptions::new().with_regrade(all));
    assert_eq!((whole.status(), whole.trials().len()), (Status::Passed, 2), "{whole}");
}

#[test]
fn evidence_that_an_agent_wrote_is_not_graded() {
    let place = Place::new();
    let calls = Arc::default();
    let first = place.run(&place.evals("go", everything()).with_agent(busy(&calls)), Mode::Live);
    let evidence = fs::read(first.directory().join("trial-000/evidence.json")).unwrap();
    let failing = move |trial: &mut Trial<'_>| -> Result<String, AgentError> {
        fs::write(trial.workspace().parent().unwrap().join("evidence.json"), &evidence).unwrap();
        Err(AgentError::new("out of tokens"))
    };
    let failed = place.run(&place.evals("go", everything()).with_agent(failing.clone()), Mode::Live);
    let files = |name: &str| failed.directory().join("trial-000").join(name).is_file();
    assert_eq!((files("evidence.json"), files("input.json")), (false, true));
    // Also in a record of a version that left it there.
    fs::copy(first.directory().join("trial-000/evidence.json"), failed.directory().join("trial-000/evidence.json"))
        .unwrap();
    let evals = place.evals("go", everything()).with_agent(never);
    let options = RunOptions::new().with_regrade(failed.record().run_id.as_str());
    let report = run_with(&evals, &place.output(), options);
    let again = only(&report);
    assert_eq!((again.status(), code(again)), (Status::Error, Some(ReasonCode::AgentError)), "{again}");
    assert!(message(again).contains("out of tokens"), "{again}");
}

#[test]
fn graders_that_need_a_workspace_that_is_gone_are_errors() {
    let place = Place::new();
    let huge = |trial: &mut Trial<'_>| -> std::io::Result<String> {
        fs::File::create(trial.workspace().join("huge"))?.set_len(17 * 1024 * 1024)?;
        Ok("done".into())
    };
    let sees = || json!([contains("done"), grader("huge", 3, json!({"user": {"grader": "huge"}}))]);
    let evals = |graders| {
        place
            .evals("go", graders)
            .with_grader("huge", |evidence: &Evidence<'_>| evidence.workspace().join("huge").exists())
    };
    let regrade = |graders| {
        only(&run_with(&evals(graders).with_agent(never), &place.output(), RunOptions::new().with_regrade("latest")))
            .clone()
    };
    // A failed trial keeps its workspace, a passed one does not.
    place.run(&evals(json!([contains("undone")])).with_agent(huge), Mode::Live);
    let kept = regrade(sees());
    assert_eq!(kept.status(), Status::Passed, "{kept}");
    place.run(&evals(sees()).with_agent(huge), Mode::Live);
    let gone = regrade(sees());
    assert_eq!((gone.status(), code(&gone)), (Status::Error, Some(ReasonCode::GraderError)));
    assert!(gone.to_string().contains("EVALSUITE_KEEP=1"), "{gone}");
    assert_eq!(regrade(json!([contains("done")])).status(), Status::Passed, "others grade what there is");
    // A judge that is shown no changes would take it that there are none.
    let judged = |prompt: Value| {
        let grader = grader("judged", 3, json!({"llm-grader": {"prompt": prompt}}));
        let evals =
            evals(json!([grader])).with_judge(|_: JudgeRequest| Ok::<_, JudgeError>("{\"score\": 1}".to_owned()));
        let options = RunOptions::new().with_regrade(gone.trials()[0].regraded_run.clone().unwrap());
        only(&run_with(&evals.with_agent(never), &place.output(), options)).clone()
    };
    for prompt in [Value::Null, json!({"text": "Is it done?"}), json!({"text": "{{ output }} {{ file_changes }}"})] {
        let case = judged(prompt);
        assert_eq!((case.status(), code(&case)), (Status::Error, Some(ReasonCode::GraderError)), "{case}");
    }
    assert_eq!(judged(json!({"text": "Is it done? {{ output }}"})).status(), Status::Passed);
}

#[test]
fn a_file_that_is_no_recording_is_named() {
    let place = Place::new();
    let calls = Arc::default();
    let recorded = place.run(&place.evals("go", everything()).with_agent(busy(&calls)), Mode::Record);
    let path = place.recording(&recorded);
    let mut other = read(&path);
    other["schema"] = json!("evalsuite.cassette/9");
    for text in [other.to_string(), "{".to_owned()] {
        fs::write(&path, text).unwrap();
        let case = place.run(&place.evals("go", everything()).with_agent(never), Mode::Replay);
        assert_eq!(code(&case), Some(ReasonCode::RecordingMissing));
        assert!(message(&case).contains("trial-000.json"), "{}", message(&case));
        assert!(message(&case).contains("to record it: `EVALSUITE_MODE=record "), "{}", message(&case));
        let again = place.run(&place.evals("go", everything()).with_agent(busy(&calls)), Mode::Record);
        assert_eq!(again.status(), Status::Passed, "the command in the message replaces it: {again}");
        assert_eq!(read(&path)["schema"], "evalsuite.cassette/1");
    }
}

/// A judge that counts how often it is asked, and one that must not be.
fn counting(calls: &Arc<AtomicU32>) -> impl Fn(JudgeRequest) -> Result<JudgeReply, JudgeError> + Send + Sync + 'static {
    let calls = Arc::clone(calls);
    move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Err(JudgeError::new("busy").with_retry_after(Duration::from_millis(1))),
        1 => Ok(JudgeReply::new("not JSON")),
        _ => Ok(JudgeReply::new(r#"{"score": 0.9}"#).with_usage(Usage::new(7, 3)).with_cost_usd(0.25)),
    }
}

fn judged(criteria: &str) -> Value {
    json!({"criteria": criteria})
}

#[test]
fn judges_are_replayed_without_being_there_and_a_changed_prompt_is_told() {
    let place = Place::new();
    let (agent, judge) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let evals = |criteria: &str| place.evals_with("q", json!([]), judged(criteria));
    let live = place.run(&evals("is kind").with_agent(busy(&agent)).with_judge(counting(&judge)), Mode::Record);
    assert_eq!(live.status(), Status::Passed, "{live}");
    assert_eq!(judge.load(Ordering::SeqCst), 3);

    let replayed = place.run(&evals("is kind").with_agent(never), Mode::Replay);
    assert_eq!(replayed.status(), Status::Passed, "{replayed}");
    let [then, now] = [&live, &replayed].map(|case| case.trials()[0].clone());
    assert_eq!((now.judge_usage, now.judge_cost_usd), (then.judge_usage, then.judge_cost_usd));
    assert_eq!(now.judge_cost_usd, Some(0.25));
    let replies = |record: &TrialRecord| record.graders[0].judge.as_ref().unwrap().replies.len();
    assert_eq!((replies(&now), replies(&then)), (2, 2), "the reply that could not be read is recorded, too");

    let stale = place.run(&evals("is short").with_agent(never), Mode::Replay);
    assert_eq!((stale.status(), code(&stale)), (Status::Error, Some(ReasonCode::RecordingStale)));
    let message = message(&stale);
    assert!(message.contains("the recording is stale: the prompt changed"), "{message}");
    assert!(message.contains("-is kind") && message.contains("+is short"), "{message}");
    assert!(message.contains("EVALSUITE_MODE=record"), "{message}");
}

#[test]
fn without_a_judge_a_live_answer_is_graded_by_what_was_recorded_for_the_same_answer() {
    let place = Place::new();
    let judge = |_: JudgeRequest| Ok::<_, JudgeError>(JudgeReply::new(r#"{"score": 0.9}"#));
    let says = |answer: &'static str| move |_: &mut Trial<'_>| Ok::<_, AgentError>(answer.to_owned());
    let evals = || place.evals_with("q", json!([]), judged("is kind"));
    let nothing = place.run(&evals().with_agent(says("hello")), Mode::Live);
    assert_eq!(nothing.status(), Status::Skipped, "there is neither a judge nor a recording");
    place.run(&evals().with_agent(says("hello")).with_judge(judge), Mode::Record);
    let same = place.run(&evals().with_agent(says("hello")), Mode::Live);
    assert_eq!((same.status(), same.trials()[0].mode), (Status::Passed, Mode::Live), "{same}");
    let other = place.run(&evals().with_agent(says("goodbye")), Mode::Live);
    assert_eq!((other.status(), code(&other)), (Status::Error, Some(ReasonCode::RecordingStale)));
    assert!(message(&other).contains("-hello") && message(&other).contains("+goodbye"), "{}", message(&other));
}

#[cfg(unix)]
#[test]
fn a_recording_that_is_a_link_stays_one_and_keeps_its_mode_and_line_ends() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let place = Place::new();
    let evals = |prompt: &str| place.evals(prompt, everything()).with_agent(busy(&Arc::default()));
    let path = place.recording(&place.run(&evals("go"), Mode::Record));
    let shared = place.0.path().join("shared.json");
    fs::rename(&path, &shared).unwrap();
    symlink(&shared, &path).unwrap();
    let text = fs::read_to_string(&shared).unwrap();
    fs::write(&shared, text.replace('\n', "\r\n")).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o640)).unwrap();
    let again = place.run(&evals("go now"), Mode::Record);
    assert_eq!(place.recording(&again), path);
    assert!(path.is_symlink(), "the link is not replaced by a file");
    assert_eq!(shared.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let now = fs::read_to_string(&shared).unwrap();
    assert!(now.contains("go now") && now.lines().count() == now.matches("\r\n").count(), "{now}");
}
