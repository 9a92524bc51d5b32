//! Graders that ask a judge.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evalsuite::record::{GraderRecord, GraderState, JudgeRecord, ReasonCode, TrialRecord};
use evalsuite::{
    Evals, GraderKind, Judge, JudgeError, JudgeReply, JudgeRequest, Outcome, Status, Trial, Usage, Verdict,
};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, suite};

async fn polite(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
    Ok(Outcome::from("Hello, and thank you.").with_model("agent-model"))
}

/// A judge that says one thing after the other, the last one again and again, and remembers what it was asked.
#[derive(Clone)]
pub(crate) struct Scripted {
    replies: Arc<Mutex<Vec<Result<JudgeReply, JudgeError>>>>,
    asked: Arc<Mutex<Vec<JudgeRequest>>>,
}

pub(crate) fn scripted<const N: usize>(replies: [&str; N]) -> Scripted {
    results(replies.map(|reply| Ok(JudgeReply::new(reply))))
}

pub(crate) fn results<const N: usize>(replies: [Result<JudgeReply, JudgeError>; N]) -> Scripted {
    Scripted { replies: Arc::new(Mutex::new(replies.into())), asked: Arc::default() }
}

impl Scripted {
    pub(crate) fn asked(&self) -> Vec<JudgeRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Judge for Scripted {
    async fn judge(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.asked.lock().unwrap().push(request);
        let mut replies = self.replies.lock().unwrap();
        if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
    }

    fn name(&self) -> String {
        "scripted".to_owned()
    }
}

fn asks(config: Value) -> Value {
    grader("tone", 5, json!({"llm-grader": config}))
}

fn rubrics(criteria: &Value) -> Value {
    grader("rubrics", 5, json!({"rubrics": {"criteria": criteria}}))
}

/// Runs a case with these graders; the trial's record, and its directory for as long as the last part lives.
pub(crate) fn judged(
    graders: Value,
    more: Value,
    bind: impl FnOnce(Evals) -> Evals,
) -> (TrialRecord, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("suites/x")).unwrap();
    let cases = [case_json("greets", graders, more)];
    let evals = bind(Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(polite));
    let report = run(&evals, directory.path());
    let case = only(&report);
    let trial = case.trials().first().unwrap_or_else(|| panic!("no trial: {case}")).clone();
    fs::rename(case.directory().join("trial-000"), directory.path().join("trial")).unwrap();
    (trial, directory)
}

pub(crate) fn first(trial: &TrialRecord) -> &GraderRecord {
    &trial.graders[0]
}

pub(crate) fn read(directory: &tempfile::TempDir, file: &str) -> String {
    fs::read_to_string(directory.path().join("trial").join(file)).unwrap()
}

#[test]
fn every_form_of_function_is_a_judge() {
    async fn asynchronous(_: JudgeRequest) -> anyhow::Result<&'static str> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(r#"{"score": 1}"#)
    }
    fn plain(_: JudgeRequest) -> Result<String, std::io::Error> {
        Ok(r#"{"score": 1}"#.to_owned())
    }
    async fn local(_: JudgeRequest) -> Result<JudgeReply, Box<dyn std::error::Error>> {
        Ok(JudgeReply::new(r#"{"score": 1}"#).with_model("m"))
    }
    let closure = |request: JudgeRequest| {
        assert!(request.user().contains("thank you"));
        Ok::<_, std::fmt::Error>(r#"{"score": 1}"#)
    };
    let binds: [fn(Evals) -> Evals; 4] = [
        |evals| evals.with_judge(asynchronous),
        |evals| evals.with_judge(plain),
        |evals| evals.with_judge(local),
        |evals| evals.with_judge(scripted([r#"{"score": 1}"#])),
    ];
    for bind in binds {
        let (trial, _kept) = judged(json!([asks(json!({}))]), json!({"criteria": "polite"}), bind);
        assert_eq!(trial.outcome, Status::Passed, "{:?}", trial.reason);
    }
    let (trial, _kept) =
        judged(json!([asks(json!({}))]), json!({"criteria": "polite"}), |evals| evals.with_judge(closure));
    assert_eq!(trial.outcome, Status::Passed, "{:?}", trial.reason);
}

#[test]
fn what_a_judge_was_asked_and_said_is_recorded() {
    let reply = JudgeReply::new(
        r#"Here: {"score": 0.9, "assertions": [{"text": "thanks", "passed": "True", "evidence": "thank you"}]}"#,
    );
    let judge = results([Ok(reply.with_usage(Usage::new(100, 10)).with_cost_usd(0.002).with_model("judge-model"))]);
    let settings = json!({"model": "m", "temperature": 0.5, "max_steps": 3, "timeout_seconds": 7, "config": {"a": 1}});
    let graders = json!([asks(json!({"judge": settings})), contains("Hello")]);
    let (trial, kept) = judged(graders, json!({"criteria": "is polite"}), |evals| evals.with_judge(judge.clone()));
    let record = first(&trial);
    assert_eq!((record.value, record.verdict, record.kind), (Some(0.9), Some(Verdict::Pass), GraderKind::Model));
    assert_eq!(record.assertions[0].evidence.as_deref(), Some("thank you"));
    let made = record.judge.as_ref().unwrap();
    assert_eq!((made.name.as_str(), made.model.as_deref(), made.attempts), ("scripted", Some("judge-model"), 1));
    assert_eq!((made.usage, made.cost_usd), (Some(Usage::new(100, 10)), Some(0.002)));
    assert_eq!((trial.judge_usage, trial.judge_cost_usd), (Some(Usage::new(100, 10)), Some(0.002)));
    assert_eq!((trial.usage, trial.cost_usd), (None, None), "the agent's are its own");
    assert!(read(&kept, &made.replies[0]).starts_with("Here: {"));
    let folder = Path::new(&made.replies[0]).parent().unwrap().display().to_string();

    let [request] = judge.asked().try_into().unwrap();
    assert_eq!(read(&kept, &format!("{folder}/prompt.txt")), request.user());
    assert_eq!(read(&kept, &format!("{folder}/system.txt")), request.system());
    assert_eq!((request.model(), request.temperature(), request.max_steps()), (Some("m"), 0.5, 3));
    assert_eq!((request.limit(), request.config()["a"].clone()), (Duration::from_secs(7), json!(1)));
    assert_eq!((request.case_id(), request.trial(), request.repeat()), ("greets", 0, 0));
    for part in [
        "[[ ## criteria ## ]]\nis polite\n",
        "[[ ## question ## ]]\nsay hello\n",
        "\nHello, and thank you.\n</untrusted ",
    ] {
        assert!(request.user().contains(part), "{part} is missing in\n{}", request.user());
    }
    assert!(request.response_schema().unwrap()["properties"]["score"].is_object());
    assert!(request.system().contains("\"undecided\": false") && request.system().contains("\"undecided\" to true"));
}

#[test]
fn a_case_without_graders_is_judged_by_its_criteria() {
    let more =
        json!({"criteria": "polite", "expected_output": [{"role": "assistant", "content": {"text": "Hi there"}}]});
    let judge = scripted([r#"{"score": 0.2}"#]);
    let (trial, _kept) = judged(json!([]), more, |evals| evals.with_judge(judge.clone()));
    assert_eq!((trial.outcome, first(&trial).name.as_str()), (Status::Failed, "llm-grader"));
    assert!(judge.asked()[0].user().contains("[[ ## reference_answer ## ]]\nHi there\n"));
}

#[test]
fn criteria_are_checked_one_by_one() {
    let criteria = json!([
        {"id": "thanks", "outcome": "Says thank you", "weight": 1.0, "required": true},
        {"id": "name", "outcome": "Uses the name", "weight": 3.0, "required": false},
    ]);
    let check = |id: &str, satisfied: bool| json!({"id": id, "satisfied": satisfied, "reasoning": "it does"});
    let reply = |checks: &[Value]| json!({"checks": checks, "overall_reasoning": "fine"}).to_string();
    let half = reply(&[check("thanks", true)]);
    let whole = reply(&[check("name", false), check("thanks", true)]);
    let judged = |judge| judged(json!([rubrics(&criteria)]), json!({}), |evals| evals.with_judge(judge)).0;
    // A reply that leaves a criterion out is asked for again.
    let trial = judged(scripted([&half, &whole]));
    let record = first(&trial);
    assert_eq!((record.value, record.rationale.as_deref()), (Some(0.25), Some("fine")));
    let trial = judged(scripted([&half]));
    assert_eq!((trial.outcome, trial.score, first(&trial).state), (Status::Error, None, GraderState::Error));
    let message = &trial.reason.as_ref().unwrap().message;
    assert!(message.ends_with("`checks` has no verdict on the criterion `name`"), "{message}");
}

/// Its judge record, whatever became of the grader.
fn asked(judge: &Scripted) -> JudgeRecord {
    let (trial, _kept) =
        judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge.clone()));
    let record = first(&trial).judge.clone().unwrap();
    assert_eq!((trial.judge_usage, trial.judge_cost_usd), (record.usage, record.cost_usd));
    assert_eq!(trial.unknown_costs().judges, !record.is_cost_known());
    record
}

#[test]
fn every_reply_that_was_paid_for_is_counted_and_a_sum_of_some_is_a_lower_bound() {
    let paid = |text: &str| JudgeReply::new(text).with_usage(Usage::new(100, 10)).with_cost_usd(0.5);
    let yes = r#"{"score": 1}"#;
    let no = r#"{"score": 0}"#;
    let soon = |error: JudgeError| error.with_retry_after(Duration::ZERO);
    let spent = |calls: u64| Some(Usage::new(100 * calls, 10 * calls));
    for (judge, attempts, usage, cost, unknown) in [
        (results([Ok(paid(yes))]), 1, spent(1), Some(0.5), [0, 0]),
        (results([Ok(paid("unreadable")), Ok(paid(yes))]), 2, spent(2), Some(1.0), [0, 0]),
        (results([Ok(paid("x")), Ok(paid("x")), Ok(paid("x")), Ok(paid("x"))]), 4, spent(4), Some(2.0), [0, 0]),
        (results([Ok(paid(no)), Ok(paid("x")), Ok(JudgeReply::new(no))]), 3, spent(2), Some(1.0), [1, 1]),
        (results([Ok(paid(no).with_cost_usd(f64::NAN))]), 1, spent(1), None, [0, 1]),
        (results([Err(soon(JudgeError::new("late"))), Ok(paid(yes))]), 2, spent(1), Some(0.5), [1, 1]),
        (
            results([
                Err(soon(JudgeError::new("half").with_usage(Usage::new(100, 10)).with_cost_usd(0.25))),
                Ok(paid(yes)),
            ]),
            2,
            spent(2),
            Some(0.75),
            [0, 0],
        ),
        (results([Err(JudgeError::permanent("cut").with_cost_usd(0.5))]), 1, None, Some(0.5), [1, 0]),
        (scripted([yes]), 1, None, None, [1, 1]),
    ] {
        let record = asked(&judge);
        assert_eq!((record.attempts, record.usage, record.cost_usd), (attempts, usage, cost));
        assert_eq!([record.unknown_tokens, record.unknown_costs], unknown, "{attempts} calls, {cost:?}");
    }
}

#[test]
fn a_reply_that_cannot_be_read_is_asked_for_again_and_then_repaired() {
    let judge = scripted(["I like it.", r#"{"score": 2}"#, "still no", r#"{"score": 0.8}"#]);
    let (trial, kept) =
        judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge.clone()));
    assert_eq!(trial.outcome, Status::Passed, "{:?}", trial.reason);
    let made = first(&trial).judge.as_ref().unwrap();
    assert_eq!((made.attempts, made.replies.len()), (4, 4));
    assert_eq!(read(&kept, &made.replies[1]), r#"{"score": 2}"#);
    let asked = judge.asked();
    assert!(asked[..3].iter().all(|request| request.user() == asked[0].user()));
    assert_eq!(asked.iter().map(JudgeRequest::repeat).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let repair = asked[3].user();
    assert!(repair.contains("still no") && repair.contains("not JSON"), "{repair}");
}

#[test]
fn a_judge_that_never_makes_sense_is_an_error_and_never_a_pass() {
    let judges: [(Scripted, u32, &str); 4] = [
        (scripted(["PASS"]), 4, "the reply is not JSON"),
        (scripted([""]), 3, "the reply is empty"),
        (results([Err(JudgeError::permanent("no such model"))]), 1, "no such model"),
        (results([Ok(JudgeReply::new(r#"{"score": 1}"#).with_cost_usd(f64::NAN))]), 1, "a cost"),
    ];
    for (judge, calls, part) in judges {
        let negated = {
            let mut grader = asks(json!({}));
            grader["negate"] = json!(true);
            grader
        };
        let (trial, _kept) = judged(json!([negated]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
        assert_eq!(trial.outcome, Status::Error);
        let reason = trial.reason.as_ref().unwrap();
        assert_eq!(reason.code, ReasonCode::JudgeError);
        assert!(reason.message.contains(part), "{}", reason.message);
        assert_eq!(first(&trial).judge.as_ref().unwrap().attempts, calls, "{part}");
    }
}

#[test]
fn a_judge_that_thinks_aloud_is_asked_once() {
    for reply in [
        "<think>Is it {\"score\": 0}? {No}.</think>\n{\"score\": 0.9}",
        "◁think▷{\"score\": 0}◁/think▷```json\n{\"score\": 0.9}\n```",
        "Let me think {a}, for example {\"score\": 0}.\n{\"score\": 0.9}",
    ] {
        let judge = scripted([reply]);
        let (trial, _kept) =
            judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
        let record = first(&trial);
        assert_eq!((record.value, record.judge.as_ref().unwrap().attempts), (Some(0.9), 1), "{reply}");
    }
    let judge = scripted(["<think>surely {\"score\": 1}"]);
    let (trial, _kept) = judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
    let reason = trial.reason.as_ref().unwrap();
    assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::JudgeError));
    assert!(reason.message.contains("ends within its thinking: `<think>` has no `</think>`"), "{}", reason.message);
}

#[test]
fn a_judge_that_contradicts_itself_is_asked_once_more() {
    let contradiction = r#"{"score": 1, "assertions": [{"text": "thanks", "passed": false}]}"#;
    let judge = scripted([contradiction, r#"{"score": 0.8}"#]);
    let (trial, kept) =
        judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge.clone()));
    let record = first(&trial);
    let made = record.judge.as_ref().unwrap();
    assert_eq!((trial.outcome, record.value, made.attempts), (Status::Passed, Some(0.8), 2));
    assert_eq!(read(&kept, &made.replies[0]), contradiction);
    let [question, again] = judge.asked().try_into().unwrap();
    assert_eq!(again.system(), question.system());
    let what = "`score` is 1, but these assertions have not passed: `assertions[0]` (\"thanks\")";
    for part in [question.user().trim_end(), what, contradiction] {
        assert!(again.user().contains(part), "{part} is not in: {}", again.user());
    }

    for (replies, calls, part) in [
        ([contradiction; 5], 2, what),
        (
            [r#"{"score": 0, "assertions": [{"text": "thanks", "passed": true}]}"#; 5],
            2,
            "`score` is 0, but all assertions have passed",
        ),
        ([contradiction, "x", "y", "z", contradiction], 5, what),
        ([contradiction, "x", "y", "z", "x"], 5, "no usable reply in 3 attempts and a repair: the reply is not JSON"),
    ] {
        let judge = scripted(replies);
        let (trial, _kept) =
            judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
        let reason = trial.reason.as_ref().unwrap();
        assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::JudgeError));
        assert!(reason.message.contains(part), "{}", reason.message);
        assert_eq!(first(&trial).judge.as_ref().unwrap().attempts, calls, "{part}");
    }
}

#[test]
fn a_judge_that_panics_or_hangs_is_an_error_of_one_case() {
    fn panics(_: JudgeRequest) -> Result<String, std::fmt::Error> {
        panic!("judge down")
    }
    async fn hangs(_: JudgeRequest) -> Result<String, std::fmt::Error> {
        std::future::pending().await
    }
    for (bind, limit, part) in [
        ((|evals: Evals| evals.with_judge(panics)) as fn(Evals) -> Evals, 60.0, "the judge panicked: judge down"),
        (|evals| evals.with_judge(hangs), 0.05, "did not reply within 0.05 s"),
    ] {
        let config = json!({"judge": {"timeout_seconds": limit}});
        let (trial, _kept) = judged(json!([asks(config)]), json!({"criteria": "c"}), bind);
        let reason = trial.reason.as_ref().unwrap();
        assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::JudgeError));
        assert!(reason.message.contains(part), "{}", reason.message);
    }
}

#[test]
fn one_flip_is_no_failure_and_two_are() {
    let (no, yes) = (r#"{"score": 0.3}"#, r#"{"score": 0.9}"#);
    for (replies, value, calls) in
        [([no, yes, yes], 0.9, 3), ([no, no, yes], 0.3, 2), ([no, yes, no], 0.3, 3), ([yes, no, no], 0.9, 1)]
    {
        let judge = scripted(replies);
        let (trial, _kept) =
            judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
        let record = first(&trial);
        let made = record.judge.as_ref().unwrap();
        assert_eq!((record.value, made.attempts, made.replies.len()), (Some(value), calls, calls as usize));
        let votes = record.detail("votes").map_or(1, |votes| votes.as_array().unwrap().len());
        assert_eq!(votes, calls as usize, "every judgement is told");
    }
}

#[test]
fn undecided_is_neither_pass_nor_fail() {
    let judge = scripted([r#"{"undecided": true, "reason": "the file is not shown"}"#]);
    let (trial, _kept) =
        judged(json!([asks(json!({})), contains("Hello")]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
    let record = first(&trial);
    assert_eq!((record.state, record.rationale.as_deref()), (GraderState::Undecided, Some("the file is not shown")));
    assert_eq!((trial.outcome, trial.score), (Status::Passed, Some(1.0)));
}

#[test]
fn a_grader_names_its_judge() {
    let named = |name: &str| asks(json!({"judge": {"target": name}}));
    let bind = |evals: Evals| evals.with_named_judge("the_strict", scripted([r#"{"score": 0.1}"#]));
    let (trial, _kept) = judged(json!([named("the-strict")]), json!({"criteria": "c"}), bind);
    assert_eq!((first(&trial).value, first(&trial).judge.as_ref().unwrap().name.as_str()), (Some(0.1), "the-strict"));
    let (trial, _kept) = judged(json!([named("other")]), json!({"criteria": "c"}), bind);
    let reason = trial.reason.unwrap();
    assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::GraderError));
    assert!(reason.message.contains("there is no judge `other`") && reason.message.contains("`the_strict`"));
}

#[test]
fn prompts_replace_the_criteria_or_everything() {
    let file = json!({"file": {"file": {"written": "p.md", "path": "p.md"}, "text": "A: {{output}} C: {{ criteria }} {{ x }}"}});
    for (prompt, whole, part) in [
        (json!({"text": "Is it short?"}), false, "[[ ## criteria ## ]]\nIs it short?\n"),
        (json!({"text": "Look at {{ output_text }}"}), true, "Look at Hello, and thank you."),
        (file, true, "A: Hello, and thank you. C: polite {{ x }}"),
    ] {
        let judge = scripted([r#"{"score": 1}"#]);
        let graders = json!([asks(json!({"prompt": prompt}))]);
        judged(graders, json!({"criteria": "polite"}), |evals| evals.with_judge(judge.clone()));
        let [request] = judge.asked().try_into().unwrap();
        assert!(request.user().contains(part), "{}", request.user());
        assert_eq!(request.user() == part, whole);
    }
}

#[cfg(unix)]
#[test]
fn a_command_writes_the_prompt_or_breaks_the_grader() {
    let command = |script: &str| {
        let argv = json!([{"text": "sh"}, {"text": "-c"}, {"text": script}]);
        json!({"command": {"run": {"command": {"argv": argv}}, "config": {"tone": "kind"}}})
    };
    let run = |script: &str| {
        let judge = scripted([r#"{"score": 1}"#]);
        let graders = json!([asks(json!({"prompt": command(script)}))]);
        let (trial, _kept) = judged(graders, json!({"criteria": "c"}), |evals| evals.with_judge(judge.clone()));
        (trial, judge)
    };
    let (trial, judge) = run("printf 'PROMPT '; grep -o '\"tone\": \"kind\"'");
    assert_eq!(trial.outcome, Status::Passed, "{:?}", trial.reason);
    assert_eq!(judge.asked()[0].user(), "PROMPT \"tone\": \"kind\"");
    for (script, part) in [("true", "printed nothing"), ("echo broken >&2; exit 3", "broken")] {
        let (trial, judge) = run(script);
        let reason = trial.reason.unwrap();
        assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::GraderError));
        assert!(reason.message.contains(part), "{}", reason.message);
        assert_eq!(judge.asked().len(), 0);
    }
}

#[test]
fn a_judge_combines_the_members_of_a_composite() {
    let composite = |aggregator: Value| {
        let members = [contains("Hello"), contains("bye")];
        json!([grader("both", 9, json!({"composite": {"members": members, "aggregator": {"llm-grader": aggregator}}}))])
    };
    let judge = scripted([r#"{"score": 0.9, "assertions": [{"text": "greets", "passed": true}]}"#]);
    let (trial, _kept) = judged(composite(json!({})), json!({}), |evals| evals.with_judge(judge.clone()));
    let record = first(&trial);
    assert_eq!((record.value, record.kind, record.members.len()), (Some(0.9), GraderKind::Model, 2));
    assert_eq!(record.assertions.len(), 3);
    assert!(judge.asked()[0].user().contains("\"contains-bye\": {"));
    let judge = scripted([r#"{"score": 0.9}"#]);
    let prompt = json!({"prompt": {"text": "Weigh: {{ EVALUATOR_RESULTS_JSON }}!"}, "model": "m"});
    judged(composite(prompt), json!({}), |evals| evals.with_judge(judge.clone()));
    let asked = judge.asked();
    assert!(asked[0].user().starts_with("Weigh: <untrusted") && asked[0].user().ends_with('!'));
    assert_eq!(asked[0].model(), Some("m"));
}

#[test]
fn a_judge_that_is_the_model_of_the_agent_is_told() {
    let judge = results([Ok(JudgeReply::new(r#"{"score": 1}"#).with_model("agent-model"))]);
    let (trial, _kept) = judged(json!([asks(json!({}))]), json!({"criteria": "c"}), |evals| evals.with_judge(judge));
    assert!(trial.notes.iter().any(|note| note.code == "judge_is_model_of_agent"), "{:?}", trial.notes);
}
