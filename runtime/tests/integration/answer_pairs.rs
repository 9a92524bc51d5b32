//! Judges that compare recorded answers.

use std::fs;
use std::path::Path;

use evalsuite::record::{Mode, PairRecord, ReasonCode, Side};
use evalsuite::tooling::AnswerPairs;
use evalsuite::{IntoJudge, JudgeError, JudgeReply, JudgeRequest, RunErrorKind, RunOptions, Usage};
use evalsuite_records::record::AnswerPair;
#[cfg(all(unix, feature = "cli-agents"))]
use evalsuite_schema::json::json;

fn pair(case_id: &str, base: &str, run: &str) -> AnswerPair {
    let mut pair = AnswerPair::new("shop", "default", case_id);
    pair.input = "Where is my refund?".to_owned();
    pair.criteria = "Is polite".to_owned();
    pair.answers = [Some(base.to_owned()), Some(run.to_owned())];
    pair
}

fn pairs(root: &Path, pairs: Vec<AnswerPair>) -> AnswerPairs {
    AnswerPairs {
        pairs,
        package_root: root.to_owned(),
        run: root.join("run"),
        base: "base".to_owned(),
        repeat: "cargo evalsuite diff a b --judge".to_owned(),
        ..AnswerPairs::default()
    }
}

/// The pairs with a judge.
fn judged_by<Marker>(judge: impl IntoJudge<Marker>, pairs: AnswerPairs) -> AnswerPairs {
    AnswerPairs { judge: Some(judge.into_judge()), ..pairs }
}

/// Prefers the answer that says please.
fn polite(request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
    let second = request.user().find("[[ ## second_answer ## ]]").expect("a second answer");
    let said = request.user().find("please");
    let better = match said {
        None => "tie",
        Some(at) if at < second => "first",
        Some(_) => "second",
    };
    let reply = format!("{{\"better\": \"{better}\", \"reasoning\": \"one says please\"}}");
    Ok(JudgeReply::new(reply).with_usage(Usage::new(50, 5)).with_cost_usd(0.01).with_model("polite-1"))
}

fn always_first(_: JudgeRequest) -> Result<&'static str, JudgeError> {
    Ok(r#"{"better": "first"}"#)
}

fn verdicts(records: &[PairRecord]) -> Vec<(&str, Option<Side>, bool, Option<&str>)> {
    let shown = |record: &'_ PairRecord| (record.better, record.consistent);
    records
        .iter()
        .map(|record| (record.case_id.as_str(), shown(record).0, shown(record).1, record.error.as_deref()))
        .collect()
}

#[test]
fn the_answer_that_is_better_in_both_orders_wins() {
    let root = tempfile::tempdir().unwrap();
    let asked = pairs(
        root.path(),
        vec![pair("won", "Here.", "Here, please."), pair("lost", "One moment, please.", "No."), pair("tie", "a", "b")],
    );
    let records = judged_by(polite, asked).judge(&RunOptions::new()).unwrap();
    let expected =
        [("won", Some(Side::Run), true, None), ("lost", Some(Side::Base), true, None), ("tie", None, true, None)];
    assert_eq!(verdicts(&records), expected);
    let replies: Vec<_> = records[0].replies.iter().map(|reply| (reply.first, reply.better)).collect();
    assert_eq!(replies, [(Side::Base, Some(Side::Run)), (Side::Run, Some(Side::Run))]);
    assert_eq!(records[0].replies[0].reasoning.as_deref(), Some("one says please"));
    let judge = records[0].judge.as_ref().unwrap();
    assert_eq!((judge.attempts, judge.usage, judge.model.as_deref()), (2, Some(Usage::new(100, 10)), Some("polite-1")));
    assert_eq!(judge.cost_usd, Some(0.02));
    let directory = root.path().join("run");
    let text = |file: &str| fs::read_to_string(directory.join(file)).unwrap();
    assert!(judge.replies[1].starts_with("pairwise/base/shop"), "{:?}", judge.replies);
    assert!(text(&judge.replies[1]).contains("one says please"));
    let prompt = text(&judge.replies[0].replace("reply-1", "prompt"));
    assert!(prompt.contains("[[ ## criteria ## ]]\nIs polite\n") && prompt.contains("Where is my refund?"), "{prompt}");
}

#[cfg(all(unix, feature = "cli-agents"))]
#[test]
fn of_several_judges_more_than_half_have_to_prefer_an_answer() {
    let prefers = |first: &str, second: &str| {
        format!(
            r#"if grep -E 'Here(, please)?[.]' {{PROMPT_FILE}} | head -n 1 | grep -q please; then echo '{{"better": "{first}"}}'; \
               else echo '{{"better": "{second}"}}'; fi > {{OUTPUT_FILE}}"#
        )
    };
    let commands = [
        ("run", prefers("first", "second")),
        ("base", prefers("second", "first")),
        ("tie", prefers("tie", "tie")),
        ("gone", "exit 3".to_owned()),
    ];
    let targets = commands.map(|(name, command)| json!({"name": name, "provider": "cli", "command": command}));
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("targets.yaml"), json!({"targets": targets}).to_string()).unwrap();
    let expect = |judges: &[&str], better, is_judged| {
        let judges_of_run = judges.iter().map(|judge| (*judge).to_owned()).collect();
        let asked = pairs(root.path(), vec![pair("a", "Here.", "Here, please.")]);
        let run = root.path().join(judges.join("-"));
        let [record] =
            AnswerPairs { judges_of_run, run, ..asked }.judge(&RunOptions::new()).unwrap().try_into().unwrap();
        assert_eq!((record.better, record.is_judged()), (better, is_judged), "{judges:?}: {record:?}");
    };
    // At the same time, as a judge that fails is asked again after a while.
    std::thread::scope(|scope| {
        for (judges, better, is_judged) in [
            (&["run", "run", "tie"][..], Some(Side::Run), true),
            (&["base", "tie", "base"], Some(Side::Base), true),
            (&["run", "tie", "tie"], None, true),
            (&["run", "tie"], None, true),
            (&["run", "base", "tie"], None, true),
            (&["run", "gone", "run"], Some(Side::Run), true),
            (&["run", "tie", "gone"], None, false),
            (&["tie", "tie", "gone"], None, true),
        ] {
            scope.spawn(move || expect(judges, better, is_judged));
        }
    });
}

#[cfg(all(unix, feature = "cli-agents"))]
#[test]
fn comparisons_of_one_run_at_the_same_time_do_not_read_replies_of_each_other() {
    let judge = |name: &str| {
        let reply = format!("echo '{{\"better\": \"{name}\"}}' > {{OUTPUT_FILE}}; sleep 0.1");
        json!({"name": name, "provider": "cli", "command": reply})
    };
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("targets.yaml"), json!({"targets": [judge("first"), judge("tie")]}).to_string())
        .unwrap();
    let preferred = |name: &str| {
        let asked = pairs(root.path(), vec![pair("a", "Here.", "Here, please.")]);
        let [record] = AnswerPairs { judge_name: Some(name.to_owned()), ..asked }
            .judge(&RunOptions::new())
            .unwrap()
            .try_into()
            .unwrap();
        record.replies.iter().map(|reply| reply.better).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let firsts = scope.spawn(|| preferred("first"));
        assert_eq!(preferred("tie"), [None, None]);
        assert_eq!(firsts.join().unwrap(), [Some(Side::Base), Some(Side::Run)]);
    });
}

#[test]
fn a_judge_that_prefers_a_position_finds_ties() {
    let root = tempfile::tempdir().unwrap();
    let asked = pairs(root.path(), vec![pair("a", "x", "y")]);
    let records = judged_by(always_first, asked).judge(&RunOptions::new()).unwrap();
    assert_eq!(verdicts(&records), [("a", None, false, None)]);
    assert!(records[0].replies.iter().all(|reply| reply.better == Some(reply.first)));
}

#[test]
fn a_pair_without_judgement_says_why() {
    fn picky(request: JudgeRequest) -> Result<String, JudgeError> {
        match request.case_id() {
            "broken" => Err(JudgeError::permanent("the model is gone")),
            "hostile" => Ok("{\"better\": NaN}".to_owned()),
            "second" if request.repeat() > 0 => Err(JudgeError::permanent("only once")),
            "second" => Ok(r#"{"better": "first"}"#.to_owned()),
            _ => Ok(r#"{"undecided": true, "reason": "both are empty"}"#.to_owned()),
        }
    }
    let root = tempfile::tempdir().unwrap();
    let mut without = pair("without", "", "x");
    without.answers[0] = None;
    let asked = ["broken", "hostile", "second", "unsure"].map(|id| pair(id, "x", "y")).into_iter().chain([without]);
    let records = judged_by(picky, pairs(root.path(), asked.collect())).judge(&RunOptions::new()).unwrap();
    let expected = [
        (Some(ReasonCode::JudgeError), "the model is gone", 1),
        (Some(ReasonCode::JudgeError), "the reply is not JSON", 4),
        (Some(ReasonCode::JudgeError), "only once", 2),
        (None, "both are empty", 1),
        (None, "the base has no answer", 0),
    ];
    for (record, (code, part, calls)) in records.iter().zip(expected) {
        assert!(!record.is_judged() && record.replies.is_empty() && record.better.is_none(), "{record:?}");
        assert!(record.code == code && record.error.as_ref().unwrap().contains(part), "{record:?}");
        assert_eq!(record.judge.as_ref().map_or(0, |judge| judge.attempts), calls, "{part}");
    }
}

#[test]
fn replies_are_recorded_and_replayed() {
    let root = tempfile::tempdir().unwrap();
    let ask = |mode: Mode, run: &str| {
        let asked = pairs(root.path(), vec![pair("won", "Here.", run)]);
        let options = RunOptions::new().with_mode(mode).with_cassettes(root.path().join("cassettes"));
        match mode {
            Mode::Record => judged_by(polite, asked).judge(&options).unwrap(),
            _ => asked.judge(&options).unwrap(),
        }
    };
    let recorded = ask(Mode::Record, "Here, please.");
    let replayed = ask(Mode::Replay, "Here, please.");
    assert_eq!(verdicts(&recorded), [("won", Some(Side::Run), true, None)]);
    assert_eq!(verdicts(&replayed), verdicts(&recorded));
    let [stale] = ask(Mode::Replay, "There, please.").try_into().unwrap();
    assert_eq!(stale.code, Some(ReasonCode::RecordingStale));
    let message = stale.error.unwrap();
    assert!(message.contains("the prompt changed") && message.contains("+There, please."), "{message}");
    assert!(message.contains("cargo evalsuite diff a b --judge"), "{message}");
}

#[test]
fn without_a_judge_nothing_is_asked() {
    let root = tempfile::tempdir().unwrap();
    let asked = pairs(root.path(), vec![pair("a", "x", "y")]);
    let error = asked.judge(&RunOptions::new()).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::NothingToMeasure);
    assert!(error.to_string().starts_with("there is no judge"), "{error}");
    let asked = AnswerPairs { judge_name: Some("claude".to_owned()), ..asked };
    let error = asked.judge(&RunOptions::new()).unwrap_err();
    assert!(error.to_string().starts_with("there is no judge `claude`"), "{error}");
}
