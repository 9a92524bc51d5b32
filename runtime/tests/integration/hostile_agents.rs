//! Agents that leave something else behind than the files they should write, or that want this process to read and write for
//! them.

use std::fs;
use std::path::Path;

use evalsuite::record::{Mode, ReasonCode, Stage};
use evalsuite::{
    AgentError, CaseReport, CliAgents, Content, Evals, Message, Outcome, Part, PathRef, Role, Status, ToolCall, Trial,
};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, run_in_mode, suite};
use crate::judges::scripted;

/// A package with a workspace, and a victim that no agent may change.
struct Package(tempfile::TempDir);

impl Package {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("suites/x/ws")).unwrap();
        fs::create_dir(directory.path().join("victim")).unwrap();
        fs::write(directory.path().join("victim/file"), Self::text()).unwrap();
        Self(directory)
    }

    /// What the victim holds: the value of a variable that is hidden in everything that is written.
    fn text() -> String {
        format!("{}\n", std::env::var("PATH").unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a case whose agent is a script. `$VICTIM` is the directory of the victim.
    fn run_script(&self, script: &str, more: Value) -> CaseReport {
        let script = script.replace("$VICTIM", &self.path().join("victim").display().to_string());
        fs::write(self.path().join("agent.sh"), script).unwrap();
        let command = format!("sh {}/agent.sh {{OUTPUT_FILE}}", self.path().display());
        let targets = format!("targets:\n  - name: default\n    provider: cli\n    command: {command}\n");
        fs::write(self.path().join("targets.yaml"), targets).unwrap();
        let mut case = case_json(
            "a",
            json!([contains("done")]),
            json!({"workspace": {"template": {"written": "ws", "path": "suites/x/ws"}}, "requires": {"env": ["PATH"]}}),
        );
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let evals = Evals::new(suite("cases", "mixed", self.path(), &[case])).with_agent(CliAgents);
        only(&run(&evals, &self.path().join("out"))).clone()
    }

    #[track_caller]
    fn assert_unharmed(&self) {
        assert_eq!(fs::read_to_string(self.path().join("victim/file")).unwrap(), Self::text());
        let found: Vec<_> =
            fs::read_dir(self.path().join("victim")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(found, [self.path().join("victim/file")]);
    }
}

#[track_caller]
fn error(case: &CaseReport) -> &str {
    let reason = case.record().reason.as_ref().unwrap_or_else(|| panic!("{case}"));
    assert_eq!((case.status(), reason.stage, reason.code), (Status::Error, Stage::Agent, ReasonCode::AgentError));
    &reason.message
}

#[test]
fn a_pipe_a_device_or_a_link_is_no_output_file_and_no_trajectory() {
    for (script, said) in [
        ("mkfifo $1", "the output file is a named pipe, not a regular file"),
        ("ln -s /dev/zero $1", "the output file leads out of the directories of the trial"),
        ("ln -s $VICTIM/file $1", "the output file leads out of the directories of the trial"),
        ("mkdir $1", "the output file is a directory, not a regular file"),
        ("truncate -s 3G $1", "the output file has 3221225472 bytes, more than 16777216"),
        (
            "echo done > $1; mkfifo \"$EVALSUITE_TRAJECTORY_PATH\"",
            "/agent/trajectory.json is a named pipe, not a regular file",
        ),
        (
            "echo done > $1; ln -s /dev/zero \"$EVALSUITE_TRAJECTORY_PATH\"",
            "/agent/trajectory.json leads out of the directories of the trial",
        ),
    ] {
        let package = Package::new();
        let case = package.run_script(script, json!({}));
        assert!(error(&case).contains(said), "{script}: {}", error(&case));
        package.assert_unharmed();
    }
}

#[test]
fn an_output_file_may_be_a_link_within_the_trial() {
    let case = Package::new().run_script("echo done > answer; ln -s \"$PWD/answer\" $1", json!({}));
    assert_eq!(case.status(), Status::Passed, "{case}");
}

#[test]
fn records_are_not_written_through_links() {
    let hook = json!({"command": {"shell": "echo hooked"}, "timeout_ms": 60000, "reset": "none"});
    let workspace = json!({"workspace": {
        "template": {"written": "ws", "path": "suites/x/ws"}, "hooks": {"after_each": hook},
    }});
    let trial = "trial=${1%/agent/output}";
    for script in [
        // What is printed goes to a file beside the answer.
        format!("{trial}; ln -s $VICTIM/file $trial/agent/stdout.txt; echo printed; echo done > $1"),
        // A call that fails keeps its output, without secrets.
        "ln -s $VICTIM/file $1; exit 1".to_owned(),
        format!("{trial}; ln -s $VICTIM $trial/hooks; ln -s $VICTIM $trial/graders; echo done > $1"),
        format!(
            "{trial}; for f in diff.patch evidence.json trajectory.json result.json; do ln -s $VICTIM/file $trial/$f; done; touch new; echo done > $1"
        ),
        format!("{trial}; mv $trial $trial.moved; ln -s $VICTIM $trial; echo done > $1"),
    ] {
        let package = Package::new();
        let case = package.run_script(&script, workspace.clone());
        assert!(case.directory().join("trial-000/result.json").is_file(), "{script}: {case}");
        package.assert_unharmed();
    }
}

#[test]
fn a_directory_in_place_of_a_record_is_replaced() {
    let script = "trial=${1%/agent/output}; mkdir -p $trial/result.json/deep $trial/evidence.json/deep; echo done > $1";
    let package = Package::new();
    let case = package.run_script(script, json!({}));
    assert_eq!(case.status(), Status::Passed, "{case}");
    for record in ["result.json", "evidence.json"] {
        assert!(case.directory().join("trial-000").join(record).is_file(), "{record}");
    }
}

#[test]
fn a_deep_workspace_is_captured_as_far_as_the_limit_and_removed() {
    let script = "echo x > first; i=0; while [ $i -lt 1000 ]; do mkdir d; cd d; i=$((i+1)); done; echo done > $1";
    let package = Package::new();
    let case = package.run_script(script, json!({}));
    assert_eq!(case.status(), Status::Passed, "{case}");
    let trial = &case.trials()[0];
    let note = trial.notes.iter().find(|note| note.code == "workspace_left_out").unwrap_or_else(|| panic!("{case}"));
    assert_eq!(
        note.message,
        "of the workspace after the agent's work, only the first 50000 entries and 100 levels of directories are looked at"
    );
    assert_eq!(trial.workspace.as_ref().unwrap().created, ["first"]);
    assert!(!case.directory().join("trial-000/workspace").exists());
}

/// A case whose agent answers with this part, and whose judge agrees with everything.
fn answer_with(part: impl Fn(&Trial<'_>) -> Part + Send + Sync + 'static) -> (CaseReport, usize) {
    let package = Package::new();
    let judge = scripted([r#"{"score": 1}"#]);
    let case = case_json("a", json!([grader("tone", 5, json!({"llm-grader": {}}))]), json!({"criteria": "c"}));
    let agent = move |trial: &mut Trial<'_>| {
        let message = Message::new(Role::Assistant, Content::Parts(vec![part(trial)]));
        Ok::<_, AgentError>(Outcome::new().with_messages(vec![message]))
    };
    let evals =
        Evals::new(suite("cases", "mixed", package.path(), &[case])).with_agent(agent).with_judge(judge.clone());
    let case = run_in_mode(&evals, package.path(), Mode::Live);
    (case, judge.asked().len())
}

fn named(path: impl AsRef<Path>) -> PathRef {
    let path = path.as_ref().display().to_string();
    PathRef::new(path)
}

#[test]
fn files_of_an_answer_outside_the_trial_are_an_error() {
    let image = |path: &str| Part::Image { file: named(path), media_type: "image/png".into() };
    let parts: [fn(&Trial<'_>) -> Part; 3] = [
        |_| Part::File(named("/etc/passwd")),
        |_| Part::File(named("../../../../../../../etc/passwd")),
        |trial| {
            std::os::unix::fs::symlink("/etc/passwd", trial.workspace().join("link")).unwrap();
            Part::File(named("link"))
        },
    ];
    for part in parts {
        let (case, asked) = answer_with(part);
        assert!(error(&case).contains("leads out of the directories of the trial"), "{case}");
        assert_eq!(asked, 0);
    }
    let (case, asked) = answer_with(move |_| image("/etc/passwd"));
    assert!(error(&case).contains("leads out of the directories of the trial"), "{case}");
    assert_eq!(asked, 0);
}

#[test]
fn a_pipe_is_no_file_of_an_answer() {
    let (case, asked) = answer_with(|trial| {
        let pipe = trial.workspace().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        Part::File(named("pipe"))
    });
    assert!(error(&case).contains("the file `pipe` of the answer is a named pipe"), "{case}");
    assert_eq!(asked, 0);
}

#[test]
fn an_image_that_is_too_large_breaks_the_grader() {
    let (case, asked) = answer_with(|trial| {
        fs::File::create(trial.workspace().join("a.png")).unwrap().set_len(3 << 30).unwrap();
        Part::Image { file: named(trial.workspace().join("a.png")), media_type: "image/png".into() }
    });
    let reason = case.record().reason.as_ref().unwrap();
    assert_eq!((reason.code, asked), (ReasonCode::GraderError, 0), "{case}");
    assert!(reason.message.contains("a.png` of the answer has 3221225472 bytes, more than 20971520"), "{case}");
}

/// A value with this many lists around a number.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |value, _| json!([value]))
}

#[test]
fn a_value_that_no_record_can_hold_is_an_error_with_a_record() {
    let reports: [fn(&Trial<'_>, Value); 4] = [
        |trial, value| trial.set_state("tree", value),
        |trial, value| trial.set_metadata("tree", value),
        |trial, value| trial.tool_call(ToolCall::new("parse").with_output(value)),
        |trial, value| trial.message(Message::new(Role::Assistant, Content::Data(value))),
    ];
    for report in reports {
        for (levels, ends_well) in [(100, true), (101, true), (1000, true), (1000, false)] {
            let agent = move |trial: &mut Trial<'_>| {
                report(trial, nested(levels));
                if ends_well { Ok("done") } else { Err("no".to_owned()) }
            };
            let package = Package::new();
            let cases = [case_json("a", json!([contains("done")]), json!({}))];
            let evals = Evals::new(suite("cases", "mixed", package.path(), &cases)).with_agent(agent);
            let case = only(&run(&evals, &package.path().join("out"))).clone();
            let reason = case.record().reason.as_ref().map_or("", |reason| &reason.message);
            match (levels, ends_well) {
                (100, _) => assert_eq!(case.status(), Status::Passed, "{case}"),
                (_, true) => {
                    assert!(reason.contains("a value with more than 100 levels of lists and objects"), "{case}")
                }
                (_, false) => assert_eq!(reason, "no", "{case}"),
            }
            for file in ["result.json", "trajectory.json"] {
                let text = fs::read(case.directory().join("trial-000").join(file)).unwrap();
                let read = serde_json::from_slice::<serde_json::Value>(&text);
                assert!(read.is_ok(), "{levels} levels: {file}: {read:?}");
            }
        }
    }
}

#[test]
fn what_an_agent_in_rust_hands_over_is_limited_and_the_whole_is_in_a_file() {
    const MIB: usize = 1 << 20;
    let long = |mib: usize| "x".repeat(mib * MIB);
    let call = move || ToolCall::new("read").with_output(long(49));
    type Does = fn(&mut Trial<'_>, &dyn Fn(usize) -> String, &dyn Fn() -> ToolCall) -> Outcome;
    let agents: [(Does, &str, &str); 6] = [
        (|_, long, _| Outcome::from(long(17)), "answer of 17825792 bytes, more than 16777216; ", "answer.txt"),
        (
            |trial, _, call| {
                trial.tool_call(call());
                Outcome::from("done")
            },
            "more than 50331648; ",
            "messages.json",
        ),
        (
            |_, _, call| Outcome::new().with_messages(vec![Message::empty(Role::Assistant).with_tool_call(call())]),
            "more than 50331648; ",
            "returned.json",
        ),
        (
            |_, long, _| Outcome::from("done").with_state("a", long(9)),
            "state of 9437192 bytes, more than 8388608; ",
            "state.json",
        ),
        (
            |_, _, _| Outcome::from("done").with_metadata("a", vec![0; 200_000]),
            "metadata of more than 100000 values; ",
            "metadata.json",
        ),
        (
            |trial, long, _| {
                trial.log(long(17));
                Outcome::from("done")
            },
            "log of 17825793 bytes, more than 16777216; ",
            "log.txt",
        ),
    ];
    for (does, problem, file) in agents {
        let package = Package::new();
        let agent = move |trial: &mut Trial<'_>| Ok::<_, AgentError>(does(trial, &long, &call));
        let case = case_json("a", json!([contains("done")]), json!({}));
        let evals = Evals::new(suite("cases", "mixed", package.path(), &[case])).with_agent(agent);
        let report = run(&evals, &package.path().join("out"));
        let case = only(&report);
        let reason = case.record().reason.clone().unwrap();
        assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::AgentError), "{file}");
        let whole = case.directory().join("trial-000/agent").join(file);
        let expected = format!("{problem}the whole is in {}", whole.display());
        assert!(reason.message.ends_with(&expected), "{file}: {}", reason.message);
        assert!(fs::metadata(&whole).unwrap().len() > 200_000, "{file}");
        for entry in fs::read_dir(case.directory().join("trial-000")).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.is_dir() || fs::metadata(&path).unwrap().len() < MIB as u64, "{file}: {}", path.display());
        }
    }
    let agent = move |_: &mut Trial<'_>| Ok::<_, AgentError>(format!("done{}", long(15)));
    let package = Package::new();
    let case = case_json("a", json!([contains("done")]), json!({}));
    let evals = Evals::new(suite("cases", "mixed", package.path(), &[case])).with_agent(agent);
    assert_eq!(only(&run(&evals, &package.path().join("out"))).status(), Status::Passed);
}

#[test]
fn what_the_turns_of_a_conversation_hand_over_is_limited_together() {
    const MIB: usize = 1 << 20;
    type Does = fn(&mut Trial<'_>, String) -> Outcome;
    let agents: [(Does, &str, &str); 4] = [
        (
            |trial, long| {
                trial.tool_call(ToolCall::new("read").with_output(long.repeat(3)));
                Outcome::from("done")
            },
            "bytes in its turns so far, more than 50331648; ",
            "messages.json",
        ),
        (|_, long| Outcome::from(long.repeat(2)), "bytes in its turns so far, more than 50331648; ", "messages.json"),
        (
            |trial, long| {
                trial.log(long);
                Outcome::from("done")
            },
            "log in its turns so far of ",
            "log.txt",
        ),
        (
            |trial, long| Outcome::from("done").with_state(format!("turn {:?}", trial.turn()), long),
            "state of ",
            "state.json",
        ),
    ];
    for (does, problem, file) in agents {
        let package = Package::new();
        let agent = move |trial: &mut Trial<'_>| Ok::<_, AgentError>(does(trial, "x".repeat(7 * MIB)));
        let turns =
            ["one", "two", "three", "four"].map(|text| json!({"input": {"role": "user", "content": {"text": text}}}));
        let case = case_json("a", json!([contains("done")]), json!({"conversation": {"turns": turns}}));
        let evals = Evals::new(suite("cases", "mixed", package.path(), &[case])).with_agent(agent);
        let report = run(&evals, &package.path().join("out"));
        let case = only(&report);
        let reason = case.record().reason.clone().unwrap();
        assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::AgentError), "{file}");
        assert!(reason.message.contains(problem), "{file}: {}", reason.message);
        let whole = Path::new(reason.message.rsplit_once(" is in ").unwrap().1);
        assert!(whole.ends_with(file) && fs::metadata(whole).unwrap().len() > MIB as u64, "{}", reason.message);
        let trial = &case.trials()[0];
        assert!(trial.turns.as_ref().is_some_and(|turns| (2..=4).contains(&turns.len())), "{:?}", trial.turns);
    }
}
