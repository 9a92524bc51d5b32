//! Graders of type `compare`.

use std::fs;

use evalsuite::record::{GraderState, Mode, ReasonCode, TrialRecord};
use evalsuite::{Evals, GraderKind, JudgeError, JudgeReply, JudgeRequest, RunOptions, Status, Trial, Usage, Verdict};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, run_in_mode, run_with, suite};
use crate::judges::{Scripted, first, judged, read, results, scripted};

const FIRST: &str = r#"{"better": "first", "reasoning": "it comes first"}"#;
const SECOND: &str = r#"{"better": "second", "reasoning": "it comes last"}"#;
const TIE: &str = r#"{"better": "tie", "reasoning": "all the same"}"#;

fn compares(config: Value) -> Value {
    grader("better", 5, json!({"compare": config}))
}

fn with_reference() -> Value {
    json!([compares(json!({"reference": {"text": "Hi."}, "criteria": "Is polite"}))])
}

fn compared(judge: &Scripted) -> (TrialRecord, tempfile::TempDir) {
    judged(with_reference(), json!({}), |evals| evals.with_judge(judge.clone()))
}

#[test]
fn both_orders_are_asked_and_recorded() {
    let reply = |text: &str| Ok(JudgeReply::new(text).with_usage(Usage::new(100, 10)).with_cost_usd(0.002));
    let judge = results([reply(FIRST), reply(SECOND)]);
    let (trial, kept) = compared(&judge);
    let record = first(&trial);
    assert_eq!((record.value, record.verdict, record.kind), (Some(1.0), Some(Verdict::Pass), GraderKind::Model));
    assert_eq!((record.pass_mark, record.rationale.as_deref()), (Some(0.5), Some("the answer is better")));
    assert_eq!(record.detail("consistent"), Some(&json!(true)));
    assert_eq!(
        record.detail("orders"),
        Some(&json!([
            {"first": "answer", "better": "answer", "reasoning": "it comes first"},
            {"first": "reference", "better": "answer", "reasoning": "it comes last"},
        ]))
    );
    let made = record.judge.as_ref().unwrap();
    assert_eq!((made.attempts, made.usage, made.cost_usd), (2, Some(Usage::new(200, 20)), Some(0.004)));
    assert_eq!(made.replies.iter().map(|file| read(&kept, file)).collect::<Vec<_>>(), [FIRST, SECOND]);

    let [one, other] = judge.asked().try_into().unwrap();
    let folder = made.replies[0].trim_end_matches("reply-1.txt");
    assert_eq!(read(&kept, &format!("{folder}prompt.txt")), one.user());
    assert_eq!(read(&kept, &format!("{folder}prompt-2.txt")), other.user());
    assert_eq!(read(&kept, &format!("{folder}system.txt")), other.system());
    let position = |request: &JudgeRequest, text: &str| {
        request.user().find(text).unwrap_or_else(|| panic!("`{text}` is not in\n{}", request.user()))
    };
    assert!(position(&one, "\nHello, and thank you.\n") < position(&one, "\nHi.\n"));
    assert!(position(&other, "\nHi.\n") < position(&other, "\nHello, and thank you.\n"));
    for part in [
        "[[ ## criteria ## ]]\nIs polite\n",
        "[[ ## question ## ]]\nsay hello\n",
        "\n[[ ## second_answer ## ]]\n<untrusted ",
    ] {
        position(&one, part);
        position(&other, part);
    }
    assert!(one.response_schema().unwrap()["properties"]["better"].is_object());
}

#[test]
fn a_judge_that_prefers_a_position_finds_a_tie() {
    let (trial, _kept) = compared(&scripted([FIRST]));
    let record = first(&trial);
    assert_eq!((record.value, record.verdict), (Some(0.5), Some(Verdict::Pass)));
    assert_eq!(record.detail("consistent"), Some(&json!(false)));
    assert_eq!(
        record.rationale.as_deref(),
        Some("a tie: the judge replies differently when the answers change places")
    );
    assert_eq!((trial.outcome, trial.score), (Status::Passed, Some(0.5)), "its verdict counts towards passing");
    let (trial, _kept) = judged(with_reference(), json!({}), |evals| evals.with_judge(scripted([TIE])));
    let record = first(&trial);
    assert_eq!((record.value, record.detail("consistent")), (Some(0.5), Some(&json!(true))));
    assert_eq!(record.rationale.as_deref(), Some("as good as the reference"));
    assert_eq!(trial.outcome, Status::Passed);
}

#[test]
fn a_worse_answer_fails_and_a_tie_fails_a_higher_pass_mark() {
    let judge = scripted([SECOND, FIRST, SECOND, FIRST]);
    let (trial, _kept) = compared(&judge);
    let record = first(&trial);
    assert_eq!((trial.outcome, record.value), (Status::Failed, Some(0.0)));
    assert_eq!(judge.asked().len(), 4, "a failing verdict is confirmed, in both orders");
    assert_eq!(record.assertions[1].text, "the reference shown first: the reference is better");
    assert!(record.assertions.iter().all(|assertion| !assertion.passed));

    let mut strict = with_reference();
    strict[0]["min_score"] = json!(0.8);
    let (trial, _kept) = judged(strict, json!({}), |evals| evals.with_judge(scripted([TIE])));
    assert_eq!((trial.outcome, first(&trial).value), (Status::Failed, Some(0.5)));
}

#[test]
fn a_judge_that_cannot_decide_or_makes_no_sense_gives_no_verdict() {
    let judge = scripted([FIRST, r#"{"better": null, "undecided": true, "reason": "no text is shown"}"#]);
    let graders = json!([with_reference()[0], contains("Hello")]);
    let (trial, _kept) = judged(graders, json!({}), |evals| evals.with_judge(judge.clone()));
    let record = first(&trial);
    assert_eq!((record.state, record.rationale.as_deref()), (GraderState::Undecided, Some("no text is shown")));
    assert_eq!(trial.outcome, Status::Passed);
    for (judge, part) in [
        (scripted(["NaN"]), "the reply is not JSON"),
        (scripted([r#"{"better": "the polite one"}"#]), "not \"first\", \"second\" or \"tie\""),
        (scripted([FIRST, "", "", ""]), "the reply is empty"),
        (results([Err(JudgeError::permanent("no such model"))]), "no such model"),
        (results([Ok(JudgeReply::new(FIRST).with_cost_usd(f64::NAN))]), "a cost"),
    ] {
        let (trial, _kept) = compared(&judge);
        let reason = trial.reason.as_ref().unwrap();
        assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::JudgeError), "{part}");
        assert!(reason.message.contains(part), "{}", reason.message);
    }
}

#[test]
fn without_a_reference_the_expected_output_is_compared() {
    let expected = json!([{"role": "assistant", "content": {"text": "Good day."}}]);
    let judge = scripted([TIE]);
    let more = json!({"expected_output": expected, "criteria": "Is short"});
    judged(json!([compares(json!({}))]), more.clone(), |evals| evals.with_judge(judge.clone()));
    let asked = judge.asked();
    assert!(asked[0].user().contains("\nGood day.\n</untrusted") && asked[0].user().contains("\nIs short\n"));
    assert!(!asked[0].user().contains("reference_answer ##"), "{}", asked[0].user());

    let file = json!({"file": {"file": {"written": "file://good.md", "path": "good.md"}, "text": "From a file.\n"}});
    let judge = scripted([TIE]);
    judged(json!([compares(json!({"reference": file}))]), more, |evals| evals.with_judge(judge.clone()));
    let asked = judge.asked();
    assert!(asked[0].user().contains("\nFrom a file.\n</untrusted"), "{}", asked[0].user());
    assert!(asked[0].user().contains("[[ ## reference_answer ## ]]\nGood day.\n"), "{}", asked[0].user());

    let (trial, _kept) = judged(json!([compares(json!({}))]), json!({}), |evals| evals.with_judge(scripted([TIE])));
    let reason = trial.reason.unwrap();
    assert_eq!((trial.outcome, reason.code), (Status::Error, ReasonCode::GraderError));
    assert!(
        reason.message.contains("neither a `reference` in the grader nor a reference in the case"),
        "{}",
        reason.message
    );
}

#[test]
fn comparisons_are_replayed_and_made_again() {
    fn hello(_: &mut Trial<'_>) -> Result<String, std::fmt::Error> {
        Ok("Hello, and thank you.".to_owned())
    }
    fn never(_: &mut Trial<'_>) -> Result<String, std::fmt::Error> {
        panic!("the agent is called")
    }
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("suites/x")).unwrap();
    let evals =
        || Evals::new(suite("cases", "mixed", place.path(), &[case_json("greets", with_reference(), json!({}))]));
    let recorded =
        run_in_mode(&evals().with_agent(hello).with_judge(scripted([FIRST, SECOND])), place.path(), Mode::Record);
    assert_eq!((recorded.status(), recorded.trials()[0].graders[0].value), (Status::Passed, Some(1.0)));
    let replayed = run_in_mode(&evals().with_agent(never), place.path(), Mode::Replay);
    assert_eq!((replayed.status(), replayed.trials()[0].graders[0].value), (Status::Passed, Some(1.0)), "{replayed}");

    let output = place.path().join("runs");
    let live = run(&evals().with_agent(hello).with_judge(scripted([FIRST, SECOND])), &output);
    assert_eq!(only(&live).status(), Status::Passed);
    let regrade = |evals: Evals, judge: Scripted| {
        let report =
            run_with(&evals.with_agent(never).with_judge(judge), &output, RunOptions::new().with_regrade("latest"));
        (only(&report).status(), only(&report).trials()[0].graders[0].value)
    };
    let silent = results([Err(JudgeError::permanent("the judge is called"))]);
    assert_eq!(regrade(evals(), silent), (Status::Passed, Some(1.0)), "its replies are in the evidence");
    let mut changed = with_reference();
    changed[0]["config"]["compare"]["reference"] = json!({"text": "Dear friend!"});
    let suite = suite("cases", "mixed", place.path(), &[case_json("greets", changed, json!({}))]);
    let judge = scripted([SECOND, FIRST, SECOND, FIRST]);
    assert_eq!(regrade(Evals::new(suite), judge), (Status::Failed, Some(0.0)), "another reference is another question");
}
