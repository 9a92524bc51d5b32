//! Commands of a targets file that judge what agents in Rust do, and judges that are named.
#![cfg(all(unix, feature = "cli-agents"))]

use std::fs;

use evalsuite::record::{GraderRecord, Mode, ReasonCode};
use evalsuite::{AgentError, CaseReport, Evals, Evidence, JudgeError, Status, Trial};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, grader, run_in_mode, suite};
use crate::judges::scripted;

/// Judges that like it, that do not, and one that is a command of another name.
const TARGETS: &str = r#"targets:
  - { name: kind, provider: cli, command: "echo '{\"score\": 0.9}' > {OUTPUT_FILE}" }
  - { name: strict, provider: cli, command: "echo '{\"score\": 0.1}' > {OUTPUT_FILE}" }
  - { name: reads, provider: cli, command: "grep -q 'thank you' {PROMPT_FILE} && echo '{\"score\": 1}' > {OUTPUT_FILE}" }
  - { name: alias, use_target: kind }
  - { name: default, provider: cli, command: "echo '{\"score\": 0.8}' > {OUTPUT_FILE}" }
"#;

fn polite(_: &mut Trial<'_>) -> Result<String, AgentError> {
    Ok("Hello, and thank you.".to_owned())
}

fn never(_: &mut Trial<'_>) -> Result<String, AgentError> {
    panic!("the agent is called")
}

fn asks(judge: Value) -> Value {
    grader("tone", 5, json!({"llm-grader": {"judge": judge}}))
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("suites/x")).unwrap();
        fs::write(directory.path().join("targets.yaml"), TARGETS).unwrap();
        Self(directory)
    }

    fn evals(&self, grader: Value, more: Value) -> Evals {
        let mut case = case_json("greets", json!([grader]), json!({"criteria": "is polite"}));
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Evals::new(suite("cases", "mixed", self.0.path(), &[case])).with_agent(polite)
    }

    fn run(&self, evals: &Evals, mode: Mode) -> CaseReport {
        run_in_mode(evals, self.0.path(), mode)
    }

    fn live(&self, evals: &Evals) -> CaseReport {
        self.run(evals, Mode::Live)
    }
}

fn first(case: &CaseReport) -> &GraderRecord {
    &case.trials()[0].graders[0]
}

fn votes(case: &CaseReport) -> usize {
    first(case).detail("votes").map_or(1, |votes| votes.as_array().unwrap().len())
}

#[track_caller]
fn refused(case: &CaseReport) -> &str {
    let reason = case.record().reason.as_ref().unwrap();
    assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::GraderError), "{case}");
    &reason.message
}

#[test]
fn a_command_judges_an_agent_in_rust_where_that_is_wanted() {
    let place = Place::new();
    let named = |name: &str| place.evals(asks(json!({"target": name})), json!({}));
    let case = place.live(&named("reads").with_command_judges());
    assert_eq!((case.status(), first(&case).judge.as_ref().unwrap().name.as_str()), (Status::Passed, "reads"));
    assert_eq!(first(&case).value, Some(1.0), "{case}");
    let other = place.live(&named("other").with_command_judges());
    assert!(refused(&other).contains("known: `kind`, `strict`, `reads`, `alias`, `default`"), "{other}");
    let unbound = place.live(&named("reads"));
    assert!(refused(&unbound).contains("`judges = { \"reads\" => path }`"), "{unbound}");
    // A judge of the macro goes before a command of its name.
    let both =
        place.live(&named("kind").with_command_judges().with_named_judge("kind", scripted([r#"{"score": 0.85}"#])));
    assert_eq!(first(&both).value, Some(0.85), "{both}");
}

#[test]
fn graders_in_rust_ask_commands_too() {
    async fn asks(evidence: &Evidence<'_>) -> Result<bool, JudgeError> {
        let [kind, strict] = ["kind", "strict"].map(|name| evidence.named_judge(name));
        let score = |text: &str| text.trim().to_owned();
        let (kind, again) = (kind.ask("a").await?, kind.ask("b").await?);
        Ok(score(kind.text()) == "{\"score\": 0.9}"
            && again == kind
            && score(strict.ask("c").await?.text()) == "{\"score\": 0.1}")
    }
    let place = Place::new();
    let evals = place.evals(grader("asks", 5, json!({"user": {"grader": "asks"}})), json!({}));
    let case = place.live(&evals.with_grader("asks", asks).with_command_judges());
    assert_eq!(case.status(), Status::Passed, "{case}");
    assert_eq!(first(&case).judge.as_ref().unwrap().name, "kind, strict");
}

#[test]
fn the_target_under_test_is_no_judge_of_itself_whatever_it_is_called() {
    let place = Place::new();
    let of = |target: &str, judge: &str| {
        let evals = place.evals(asks(json!({"target": judge})), json!({"target": target}));
        place.live(&evals.with_command_judges())
    };
    for (target, judge) in [("kind", "kind"), ("kind", "alias"), ("alias", "alias")] {
        let case = of(target, judge);
        assert!(refused(&case).contains(&format!("judge `{judge}` is the agent under test")), "{case}");
    }
    assert_eq!(first(&of("kind", "strict")).value, Some(0.1));
    // Nobody called the agent `default`; a command of this name is something else.
    assert_eq!(of("default", "default").status(), Status::Passed);
}

#[test]
fn default_judges_have_names_and_their_majority_decides() {
    let place = Place::new();
    let judged = |names: &[&str]| {
        let evals = place.evals(asks(json!({})), json!({})).with_named_judge("my", scripted([r#"{"score": 0.95}"#]));
        place.live(&evals.with_command_judges().with_default_judges(names.iter().copied()))
    };
    for (names, value, count, name) in [
        (["kind"].as_slice(), 0.9, 1, "kind"),
        (&["my"], 0.95, 1, "my"),
        (&["strict", "kind", "my"], 0.9, 3, "strict, kind, my"),
        (&["kind", "my", "strict"], 0.9, 2, "kind, my"),
        (&["strict", "kind"], 0.1, 1, "strict"),
    ] {
        let case = judged(names);
        let record = first(&case);
        assert_eq!((record.value, votes(&case)), (Some(value), count), "{names:?}: {case}");
        assert_eq!(record.judge.as_ref().unwrap().name, name);
        assert_eq!(record.judge.as_ref().unwrap().replies.len(), count, "every reply is kept");
    }
    // The last one that is set counts.
    let evals =
        place.evals(asks(json!({})), json!({})).with_default_judges(["gone"]).with_judge(scripted([r#"{"score": 1}"#]));
    assert_eq!(place.live(&evals).status(), Status::Passed);
}

#[test]
fn what_named_judges_said_is_replayed_without_them_and_without_their_names() {
    let place = Place::new();
    let evals = || place.evals(asks(json!({})), json!({}));
    let live = place.run(&evals().with_command_judges().with_default_judges(["strict", "kind", "reads"]), Mode::Record);
    assert_eq!((live.status(), votes(&live)), (Status::Passed, 3), "{live}");
    fs::remove_file(place.0.path().join("targets.yaml")).unwrap();
    for evals in [evals(), evals().with_command_judges().with_default_judges(["strict", "kind", "reads"])] {
        let replayed = place.run(&evals.with_agent(never), Mode::Replay);
        assert_eq!((replayed.status(), votes(&replayed)), (Status::Passed, 3), "{replayed}");
        assert_eq!(first(&replayed).value, first(&live).value);
    }
    let other = place.run(&evals().with_default_judges(["other"]).with_agent(never), Mode::Replay);
    let reason = other.record().reason.as_ref().unwrap();
    assert_eq!(reason.code, ReasonCode::RecordingStale, "{other}");
    assert!(reason.message.contains("the judge changed"), "{other}");
}

#[test]
fn a_judge_that_has_said_no_twice_is_replayed_twice() {
    let place = Place::new();
    let evals = || place.evals(asks(json!({})), json!({}));
    let live = place.run(&evals().with_command_judges().with_default_judges(["strict"]), Mode::Record);
    let replayed = place.run(&evals().with_agent(never), Mode::Replay);
    for case in [live, replayed] {
        assert_eq!((case.status(), votes(&case)), (Status::Failed, 2), "{case}");
        assert_eq!(first(&case).judge.as_ref().unwrap().replies.len(), 2);
    }
}

#[test]
fn how_often_a_fail_is_asked_again_is_for_the_grader_then_for_the_suite() {
    let place = Place::new();
    let no = r#"{"score": 0.1}"#;
    let bind = |settings: Value| place.evals(asks(settings), json!({})).with_judge(scripted([no]));
    let calls = |evals: &Evals| first(&place.live(evals)).judge.as_ref().unwrap().attempts;
    assert_eq!(calls(&bind(json!({}))), 2, "two of three agree");
    assert_eq!(calls(&bind(json!({})).with_judge_confirm(0)), 1);
    assert_eq!(calls(&bind(json!({})).with_judge_confirm(4)), 3, "three of five agree");
    assert_eq!(calls(&bind(json!({})).with_judge_confirm(3)), 3, "an odd number could be a tie");
    assert_eq!(calls(&bind(json!({})).with_judge_confirm(99)), 6, "no more than ten");
    assert_eq!(calls(&bind(json!({"confirm": 0})).with_judge_confirm(4)), 1);
    assert_eq!(calls(&bind(json!({"confirm": 6}))), 4);
}

#[test]
fn replies_of_another_command_or_script_are_not_those_of_a_judge() {
    let place = Place::new();
    let targets = place.0.path().join("targets.yaml");
    let script = place.0.path().join("judge.sh");
    let write = |line: &str, text: &str| {
        fs::write(&targets, format!("targets:\n  - {{ name: scripted, provider: cli, command: \"{line}\" }}\n"))
            .unwrap();
        fs::write(&script, text).unwrap();
    };
    let line = format!("cd {} && sh ./judge.sh > {{OUTPUT_FILE}}", place.0.path().display());
    let (kind, strict) = ("echo '{\"score\": 0.9}'\n", "echo '{\"score\": 0.1}'\n");
    write(&line, kind);
    let evals = || place.evals(asks(json!({"target": "scripted"})), json!({})).with_command_judges();
    assert_eq!(place.run(&evals(), Mode::Record).status(), Status::Passed);
    assert_eq!(place.run(&evals(), Mode::Replay).status(), Status::Passed);
    for (line, text) in [(line.clone(), strict), (line.replace("sh ./", "sh -e ./"), kind)] {
        write(&line, text);
        let case = place.run(&evals(), Mode::Replay);
        let reason = case.record().reason.as_ref().unwrap();
        assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::RecordingStale), "{case}");
        assert!(reason.message.contains("the command of the judge, or a file that it names, changed"), "{case}");
    }
    // Whoever replays elsewhere may have no targets file.
    fs::remove_file(&targets).unwrap();
    assert_eq!(place.run(&evals(), Mode::Replay).status(), Status::Passed);
    write(&line, kind);
    assert_eq!(place.run(&evals(), Mode::Replay).status(), Status::Passed);
}

/// A judge that replies, and two that reply nothing.
const SILENT: &str = r#"targets:
  - { name: kind, provider: cli, command: "echo '{\"score\": 1}' > {OUTPUT_FILE}" }
  - { name: silent, provider: cli, command: "echo error: rate limited" }
  - { name: absent, provider: cli, command: "echo error: rate limited" }
  - { name: strict, provider: cli, command: "echo '{\"score\": 0}' > {OUTPUT_FILE}" }
  - { name: logs, provider: cli, command: "echo '{\"score\": 0}' > {OUTPUT_FILE}; cp suites/x/said.json $EVALSUITE_TRAJECTORY_PATH" }
"#;

/// A transcript that ends with a judgement.
const SAID: &str = r#"{"schema_version": "ATIF-v1.8", "session_id": "s", "agent": {"name": "x", "version": "1"},
    "steps": [{"step_id": 1, "source": "agent", "message": "{\"score\": 1}"}]}"#;

#[test]
fn a_judge_that_replies_nothing_does_not_get_the_reply_of_another_one() {
    let place = Place::new();
    fs::write(place.0.path().join("targets.yaml"), SILENT).unwrap();
    let evals = place.evals(asks(json!({})), json!({})).with_command_judges();
    let case = place.live(&evals.with_default_judges(["kind", "silent", "absent"]));
    let reason = case.record().reason.as_ref().unwrap();
    assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::JudgeError), "{case}");
    assert!(reason.message.contains("the command wrote no output file"), "{case}");

    async fn both(evidence: &Evidence<'_>) -> Result<bool, JudgeError> {
        let kind = evidence.named_judge("kind").ask("polite?").await?;
        Ok(evidence.named_judge("silent").ask("polite?").await? == kind)
    }
    let evals = place.evals(grader("both", 5, json!({"user": {"grader": "both"}})), json!({}));
    let case = place.live(&evals.with_grader("both", both).with_command_judges());
    assert_eq!(case.status(), Status::Error, "{case}");
}

#[test]
fn what_an_agent_leaves_where_a_judge_replies_is_not_its_reply() {
    let place = Place::new();
    fs::write(place.0.path().join("targets.yaml"), SILENT).unwrap();
    let judged = |name: &str| place.evals(asks(json!({"target": name})), json!({})).with_command_judges();
    let of_judge = place.live(&judged("kind")).directory().join("trial-000/graders");
    let grader = fs::read_dir(of_judge).unwrap().next().unwrap().unwrap().file_name();
    for (name, status, file, text) in [
        ("strict", Status::Failed, "trajectory.json", SAID),
        ("silent", Status::Error, "output", r#"{"score": 1}"#),
        ("silent", Status::Error, "trajectory.json", SAID),
    ] {
        let grader = grader.clone();
        let agent = move |trial: &mut Trial<'_>| {
            let directory = trial.workspace().parent().unwrap().join("graders").join(&grader).join("judge-1");
            fs::create_dir_all(&directory)?;
            fs::write(directory.join(file), text)?;
            anyhow::Ok("rude".to_owned())
        };
        let case = place.live(&judged(name).with_agent(agent));
        assert_eq!(case.status(), status, "{name} {file}: {case}");
    }
}

#[test]
fn the_transcript_of_a_judge_is_not_its_reply() {
    let place = Place::new();
    fs::write(place.0.path().join("targets.yaml"), SILENT.replace("suites/x", &place.0.path().to_string_lossy()))
        .unwrap();
    fs::write(place.0.path().join("said.json"), SAID).unwrap();
    let case = place.live(&place.evals(asks(json!({"target": "logs"})), json!({})).with_command_judges());
    assert_eq!((case.status(), first(&case).value), (Status::Failed, Some(0.0)), "{case}");
}
