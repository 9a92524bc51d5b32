//! Tasks in temporary directories.

use evalsuite_loader::document;

use super::*;
use crate::output::Conversion;
use crate::report::Outcome;
use crate::suite_draft::CasePlacement;
use crate::test_files::write;

/// The converted EVAL.yaml as JSON.
fn suite(conversion: &Conversion) -> Json {
    let text = String::from_utf8(conversion.output.files()[Path::new("EVAL.yaml")].clone()).unwrap();
    document::parse(&text, Path::new("EVAL.yaml")).unwrap().root.to_json()
}

fn entries(conversion: &Conversion, outcome: Outcome) -> Vec<&str> {
    let entries = conversion.report.entries().iter().filter(|entry| entry.outcome == outcome);
    entries.map(|entry| entry.name.as_str()).collect()
}

#[test]
fn a_task_is_a_case_with_its_verifier_as_grader() {
    let task = "\
schema_version = \"1.4\"
artifacts = [\"/work/x\"]

[task]
name = \"org/dedupe\"
keywords = [\"a\"]

[metadata]
difficulty = \"easy\"

[agent]
timeout_sec = 90.5

[verifier]
timeout_sec = 30
env = { KEY = \"v\" }
user = \"root\"

[environment]
cpus = 2
docker_image = \"ubuntu:24.04\"
mcp_servers = []
unknown = 1
";
    let directory = write(&[
        ("t/task.toml", task),
        ("t/instruction.md", "<!-- harbor-canary GUID 1 -->\n\nDo it.\n"),
        ("t/environment/Dockerfile", "FROM ubuntu\nWORKDIR /work\nCOPY data ./data\n"),
        ("t/environment/data/rows.csv", "a\n"),
        ("t/tests/test.sh", "echo 1 > /logs/verifier/reward.txt"),
        ("t/solution/solve.sh", "true"),
    ]);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    let case = suite(&conversion)["tests"][0].clone();
    assert_eq!(
        case,
        json!({
            "id": "dedupe",
            "input": "Do it.\n",
            "assertions": [{
                "type": "code-grader",
                "name": "reward",
                "command": ["python3", "./graders/harbor.py"],
                "timeout_seconds": 30,
                "required": true,
                "config": {
                    "task": "harbor/dedupe", "tests": ["harbor/dedupe/tests"], "workdir": "/work", "image": "ubuntu:24.04", "env": {"KEY": "v"},
                },
            }],
            "execution": {"timeout_seconds": 90.5},
            "requires": {"commands": ["docker", "python3"]},
            "workspace": {"template": "./harbor/dedupe/workspace"},
            "metadata": {"difficulty": "easy", "task": {"name": "org/dedupe", "keywords": ["a"]}},
        })
    );
    assert!(conversion.output.files().contains_key(Path::new("harbor/dedupe/workspace/data/rows.csv")));
    assert_eq!(
        entries(&conversion, Outcome::Dropped),
        ["FROM ubuntu", "artifacts", "environment.cpus", "environment.unknown", "verifier.user"]
    );
    assert_eq!(
        conversion.report.entries().iter().find(|entry| entry.name == "verifier.user").map(|entry| entry.line),
        Some(17)
    );
}

#[test]
fn steps_are_turns_that_stop_at_a_failure() {
    let task = "[[steps]]\nname = \"one\"\nmin_reward = 1.0\nagent = { timeout_sec = 5 }\n[[steps]]\nname = \"two\"\n[steps.verifier]\ntimeout_sec = 7\n";
    let directory = write(&[
        ("task.toml", task),
        ("environment/Dockerfile", "WORKDIR /app\n"),
        ("tests/helpers.sh", "true"),
        ("steps/one/instruction.md", "First."),
        ("steps/one/tests/test.sh", "true"),
        ("steps/two/instruction.md", "Second."),
        ("steps/two/tests/test.sh", "true"),
        ("steps/two/workdir/a.txt", "x"),
    ]);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    let case = suite(&conversion)["tests"][0].clone();
    assert_eq!(
        (&case["mode"], &case["on_turn_failure"], &case["aggregation"]),
        (&json!("conversation"), &json!("stop"), &json!("mean"))
    );
    let turns = case["turns"].as_array().unwrap();
    let inputs: Vec<&str> = turns.iter().filter_map(|turn| turn["input"].as_str()).collect();
    assert_eq!(inputs, ["First.", "Second."]);
    let grader = &turns[1]["assertions"][0];
    assert_eq!(grader["timeout_seconds"], 7);
    let tests = grader["config"]["tests"].as_array().unwrap();
    assert!(
        tests[0].as_str().unwrap().ends_with("/tests") && tests[1].as_str().unwrap().ends_with("/steps/two/tests"),
        "{tests:?}"
    );
    assert_eq!(case["execution"]["timeout_seconds"], 5);
    assert_eq!(entries(&conversion, Outcome::Dropped), ["steps/two/workdir/a.txt"]);
    let dropped = dropped_alone(from_harbor(directory.path()).unwrap().as_tasks().unwrap_err());
    for part in [".json: case.turns: ", ".json: case: ", "suite.json: tasks: "] {
        assert!(dropped.iter().any(|line| line.contains(part)), "{part} in {dropped:?}");
    }
}

/// What is dropped of tasks of which none is a case.
fn dropped_alone(error: ConvertError) -> Vec<String> {
    let error = error.to_string();
    let mut lines = error.lines();
    assert_eq!(lines.next(), Some("the source has no case that can be converted, and nothing is written"));
    lines.map(|line| line.strip_prefix("dropped").unwrap_or(line).trim_start().to_owned()).collect()
}

#[test]
fn a_task_without_a_verifier_is_dropped() {
    let directory = write(&[
        ("task.toml", "version = \"1.0\"\n"),
        ("instruction.md", "Do it."),
        ("environment/Dockerfile", "WORKDIR /app\n"),
    ]);
    assert_eq!(
        dropped_alone(from_harbor(directory.path()).unwrap_err()),
        ["tests/test.sh: there is no verifier for Linux", "task.toml: nothing is left that grades it"]
    );
}

#[test]
fn what_is_no_task_is_refused() {
    for (files, message) in [(vec![("a.txt", "x")], "has no task.toml"), (vec![("task.toml", "a = ")], "is not TOML")] {
        let directory = write(&files);
        let error = from_harbor(directory.path()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_task_without_a_container_is_dropped_and_one_with_an_image_is_not() {
    let task = [("instruction.md", "Do it."), ("tests/test.sh", "true")];
    let with = |more: &[(&str, &str)]| {
        let directory = write(&[&task[..], more].concat());
        from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File)
    };
    let directory = write(&[&task[..], &[("task.toml", "version = \"1.0\"\n")]].concat());
    let none = dropped_alone(from_harbor(directory.path()).unwrap_err());
    assert!(none.len() == 1 && none[0].starts_with("environment/Dockerfile: it does not exist"), "{none:?}");
    let image = |conversion: &Conversion| suite(conversion)["tests"][0]["assertions"][0]["config"]["image"].clone();
    let named = with(&[("task.toml", "[environment]\ndocker_image = \"alpine\"\n")]);
    assert_eq!(image(&named), "alpine");
    let compose = "services:\n  main:\n    image: python:3.13\n";
    let composed = with(&[("task.toml", ""), ("environment/docker-compose.yaml", compose)]);
    assert_eq!(image(&composed), "python:3.13");
}

#[test]
fn a_verifier_is_a_script_a_command_or_reward_kit() {
    let written = |task: &str, tests: &[(&str, &str)]| {
        let files = [("task.toml", task), ("instruction.md", "Do it."), ("environment/Dockerfile", "WORKDIR /app\n")];
        write(&[&files[..], tests].concat())
    };
    let script = ("tests/test.sh", "true");
    let rewards = ("tests/reward.toml", "[[reward]]\nname = \"reward\"\n");
    let reward_kit = json!(["uvx", "--from", "harbor-rewardkit", "rewardkit", "/tests"]);
    for (task, tests, command) in [
        ("", vec![script], Json::Null),
        ("", vec![script, rewards], Json::Null),
        ("", vec![rewards, ("tests/checks.py", "")], reward_kit.clone()),
        ("[verifier]\nframework = \"reward-kit\"\n", vec![("tests/checks.py", "")], reward_kit),
        ("[verifier]\ncommand = \"pytest /tests\"\n", vec![script], json!(["bash", "-c", "pytest /tests"])),
        ("[verifier]\ncommand = [\"sh\", \"/tests/x.sh\"]\n", vec![], json!(["sh", "/tests/x.sh"])),
    ] {
        let conversion = from_harbor(written(task, &tests).path()).unwrap().in_layout(CasePlacement::File);
        assert_eq!(suite(&conversion)["tests"][0]["assertions"][0]["config"]["command"], command, "{task} {tests:?}");
        assert_eq!(entries(&conversion, Outcome::Dropped), Vec::<&str>::new(), "{task} {tests:?}");
    }
    for (task, named) in [
        ("[verifier]\nframework = \"unknown\"\n", "verifier.framework"),
        ("[verifier]\ncommand = 5\n", "verifier.command"),
    ] {
        let dropped = dropped_alone(from_harbor(written(task, &[]).path()).unwrap_err());
        assert!(dropped.len() == 2 && dropped[0].contains(named), "{dropped:?}");
    }
}
