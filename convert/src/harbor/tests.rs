//! Tasks in temporary directories.

use evalsuite_loader::document;

use super::*;
use crate::output::Conversion;
use crate::report::Outcome;
use crate::suite_draft::CasePlacement;
use crate::tests::write;

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
                    "task": "harbor/dedupe", "tests": ["harbor/dedupe/tests"], "workdir": "/work", "image": "ubuntu:24.04", "env": {"KEY": "v"}, "user": "root",
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
        ["FROM ubuntu", "artifacts", "environment.cpus", "environment.unknown"]
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
        [
            "tests/test.sh: there is no verifier for Linux: Harbor runs this file and no other",
            "task.toml: nothing is left that grades it"
        ]
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

/// The task of these files, with an instruction and a container.
fn task(files: &[(&str, &str)]) -> tempfile::TempDir {
    let rest = [("instruction.md", "Do it."), ("environment/Dockerfile", "WORKDIR /app\n")];
    write(&[files, &rest].concat())
}

/// The settings of the grader of the task, and what is reported about it.
fn grader_of(files: &[(&str, &str)]) -> (Json, Vec<String>) {
    let directory = task(files);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    let reported = conversion.report.entries().iter().filter(|entry| entry.outcome > Outcome::Approximated);
    let reported = reported.map(|entry| entry.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    (suite(&conversion)["tests"][0]["assertions"][0]["config"].clone(), reported)
}

const SCRIPT: (&str, &str) = ("tests/test.sh", "#!/bin/sh\n");

#[test]
fn nothing_but_the_script_is_a_verifier() {
    for (verifier, key) in
        [("command = \"true\"", "verifier.command"), ("framework = \"rewardkit\"", "verifier.framework")]
    {
        let toml = format!("[verifier]\n{verifier}\n");
        let (config, reported) = grader_of(&[("task.toml", &toml), SCRIPT]);
        assert_eq!(config["command"], Json::Null);
        assert_eq!(reported, [format!("dropped task.toml:2: {key}: Harbor has no such key, and ignores it")]);
        let alone = task(&[("task.toml", &toml), ("tests/reward.toml", "[[reward]]\nname = \"reward\"\n")]);
        let dropped = dropped_alone(from_harbor(alone.path()).unwrap_err());
        let reason = "tests/test.sh: there is no verifier for Linux: Harbor runs this file and no other";
        assert!(dropped.contains(&reason.to_owned()), "{dropped:?}");
    }
}

#[test]
fn what_harborignore_names_is_not_copied() {
    let directory = task(&[
        ("task.toml", ""),
        SCRIPT,
        ("tests/.harborignore", "*.log\n/data/\n!keep.log\n"),
        ("tests/a.log", ""),
        ("tests/keep.log", ""),
        ("tests/data/x.txt", ""),
        ("tests/more/.harborignore", "!b.log\n"),
        ("tests/more/b.log", ""),
        ("tests/more/c.log", ""),
        ("solution/.harborignore", "secret\n"),
        ("solution/secret", ""),
        ("solution/solve.sh", ""),
        ("environment/.harborignore", "Dockerfile\n"),
        ("environment/a.log", ""),
    ]);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    let files: Vec<&str> = conversion.output.files().keys().filter_map(|path| path.to_str()).collect();
    let id = suite(&conversion)["tests"][0]["id"].as_str().unwrap().to_owned();
    let below: Vec<&str> = files.iter().filter_map(|file| file.strip_prefix(&format!("harbor/{id}/"))).collect();
    assert_eq!(
        below,
        [
            "environment/.harborignore",
            "environment/Dockerfile",
            "environment/a.log",
            "solution/solve.sh",
            "tests/keep.log",
            "tests/more/b.log",
            "tests/test.sh"
        ]
    );
    let without = task(&[("task.toml", ""), SCRIPT, ("tests/.harborignore", "test.*\n")]);
    let dropped = dropped_alone(from_harbor(without.path()).unwrap_err());
    assert_eq!(dropped[0], "tests/test.sh: `.harborignore` leaves it out: Harbor refuses the task");
    let step = "[[steps]]\nname = \"one\"\n";
    let step = [("task.toml", step), SCRIPT, ("steps/one/instruction.md", "First."), ("steps/one/tests/test.sh", "")];
    let ignored = task(&[&step[..], &[("steps/one/tests/.harborignore", "test.sh\n")]].concat());
    let conversion = from_harbor(ignored.path()).unwrap().in_layout(CasePlacement::File);
    assert_eq!(entries(&conversion, Outcome::Dropped), ["steps/one/tests/test.sh"]);
}

#[test]
fn every_file_of_the_tests_is_copied() {
    let names = ["tests/instruction.md", "tests/notes-instruction.md", "tests/workdir/a", "environment/workdir/b"];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x")).collect();
    let directory = task(&[&files[..], &[("task.toml", ""), SCRIPT, ("steps/one/trajectory.json", "{}")]].concat());
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    for name in names {
        assert!(conversion.output.files().keys().any(|path| path.ends_with(name)), "{name}");
    }
    assert_eq!(entries(&conversion, Outcome::Dropped), ["steps/one/trajectory.json"]);
}

#[cfg(unix)]
#[test]
fn programs_of_a_task_stay_programs() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = task(&[("task.toml", ""), SCRIPT, ("tests/check", "#!/bin/sh\n")]);
    std::fs::set_permissions(directory.path().join("tests/check"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    let target = tempfile::tempdir().unwrap();
    conversion.output.write(target.path(), false).unwrap();
    let id = suite(&conversion)["tests"][0]["id"].as_str().unwrap().to_owned();
    let mode = |name: &str| target.path().join("harbor").join(&id).join(name).metadata().unwrap().permissions().mode();
    assert_ne!(mode("tests/check") & 0o100, 0);
    assert_eq!(mode("tests/test.sh") & 0o100, 0);
}

#[test]
fn the_verifier_has_the_settings_that_harbor_gives_it() {
    for (toml, expected) in [
        ("[verifier]\nuser = \"tester\"", json!({"user": "tester"})),
        ("[verifier]\nuser = 1000", json!({"user": "1000"})),
        ("[verifier]\nnetwork_mode = \"no-network\"", json!({"network": "none"})),
        ("[environment]\nnetwork_mode = \"no-network\"\n[verifier]\nnetwork_mode = \"public\"", json!({})),
        ("[environment]\nallow_internet = false", json!({"network": "none"})),
        (
            "[environment]\nenv = { A = \"1\", B = \"2\" }\n[verifier]\nenv = { B = \"${X:-3}\" }",
            json!({"env": {"A": "1", "B": "${X:-3}"}}),
        ),
        ("[verifier]\ntimeout_sec = \"30\"", json!({})),
    ] {
        let (config, _) = grader_of(&[("task.toml", toml), SCRIPT]);
        for key in ["user", "network", "env"] {
            assert_eq!(config[key], expected[key], "{toml}");
        }
    }
}

#[test]
fn what_harbor_refuses_or_does_otherwise_is_reported() {
    let refused = "Harbor refuses the task: it expects";
    for (toml, reported) in [
        ("[verifier]\nenv = { PORT = 80 }", format!("different task.toml:2: verifier.env.PORT: {refused} text")),
        ("[verifier]\ntimeout_sec = \"x\"", format!("different task.toml:2: verifier.timeout_sec: {refused} a number")),
        ("[task]\nname = \"x\"", format!("different task.toml:2: task.name: {refused} `organisation/name`")),
        ("multi_step_reward_strategy = \"last\"", format!("different task.toml:1: multi_step_reward_strategy: {refused} `mean` or `final`")),
        ("[environment]\nenv = { A = \"b\" }", "different task.toml:2: environment.env: the verifier gets the variables, the agent does not".into()),
        ("[environment]\nnetwork_mode = \"no-network\"", "different task.toml:2: environment.network_mode: the verifier has no network, the agent has that of the machine".into()),
        ("[agent]\nuser = \"x\"", format!("dropped task.toml:2: agent.user: {CONTAINER}")),
        ("[environment]\nram = 3", format!("dropped task.toml:2: environment.ram: {NO_KEY}")),
        ("[other]\na = 1", format!("dropped task.toml:1: other: {NO_KEY}")),
        ("[environment]\nos = \"Linux\"", String::new()),
    ] {
        let (_, entries) = grader_of(&[("task.toml", toml), SCRIPT]);
        assert_eq!(entries.join("\n"), reported, "{toml}");
    }
    let windows = task(&[("task.toml", "[environment]\nos = \"windows\"\n"), SCRIPT]);
    let dropped = dropped_alone(from_harbor(windows.path()).unwrap_err());
    assert!(
        dropped[0].starts_with("task.toml:2: environment.os: verifiers run in containers of Linux only"),
        "{dropped:?}"
    );
}

#[test]
fn a_step_has_the_variables_and_the_user_of_the_task_but_not_its_time_limit() {
    let toml = "[verifier]\ntimeout_sec = 5\nuser = \"tester\"\nenv = { A = \"1\", B = \"2\" }\n\
                [[steps]]\nname = \"one\"\n[steps.verifier]\nenv = { B = \"3\" }\n";
    let directory = task(&[("task.toml", toml), SCRIPT, ("steps/one/instruction.md", "First.")]);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    let grader = &suite(&conversion)["tests"][0]["turns"][0]["assertions"][0];
    assert_eq!(grader["timeout_seconds"], 600);
    assert_eq!(grader["config"]["env"], json!({"A": "1", "B": "3"}));
    assert_eq!(grader["config"]["user"], "tester");
}

#[test]
fn a_verifier_with_its_own_container_runs_in_its_image() {
    let reason = "verifier: the verifier gets the workspace, not the artifacts of the task";
    let own = "[verifier.environment]\ndocker_image = \"judge\"\nenv = { A = \"1\" }\n";
    let (config, reported) = grader_of(&[("task.toml", own), SCRIPT]);
    assert_eq!((&config["image"], &config["tests"], &config["env"]), (&json!("judge"), &json!([]), &json!({"A": "1"})));
    assert!(reported.iter().any(|entry| entry.ends_with(reason)), "{reported:?}");
    let separate = "[verifier]\nenvironment_mode = \"separate\"\n";
    // The tests are part of the image, so `test.sh` may be made by its build.
    let (config, _) = grader_of(&[("task.toml", separate), ("tests/Dockerfile", "FROM x\n")]);
    assert_eq!((&config["build"], &config["tests"]), (&json!("tests"), &json!([])));
    let (config, reported) = grader_of(&[("task.toml", separate), SCRIPT]);
    assert_eq!((&config["build"], config["tests"].as_array().unwrap().len()), (&Json::Null, 1));
    assert!(reported.iter().any(|entry| entry.ends_with(reason)), "{reported:?}");
}

#[test]
fn an_unknown_working_directory_is_reported() {
    let directory = write(&[
        ("task.toml", "[environment]\ndocker_image = \"alpine\"\n"),
        ("instruction.md", "Do it with ${{ A }}.\r\n"),
        SCRIPT,
    ]);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    assert_eq!(entries(&conversion, Outcome::Different), ["instruction.md", "environment"]);
    assert_eq!(suite(&conversion)["tests"][0]["input"], "Do it with ${{ A }}.\n");
}

#[test]
fn an_image_without_a_dockerfile_gets_the_files_of_the_environment() {
    let directory = write(&[
        ("task.toml", "[environment]\ndocker_image = \"alpine\"\nworkdir = \"/work\"\n"),
        ("instruction.md", "Do it."),
        ("environment/data/rows.csv", "a\n"),
        SCRIPT,
    ]);
    let conversion = from_harbor(directory.path()).unwrap().in_layout(CasePlacement::File);
    assert!(conversion.output.files().keys().any(|path| path.ends_with("workspace/data/rows.csv")));
    assert!(suite(&conversion)["tests"][0]["workspace"]["template"].is_string());
    let files = [("task.toml", ""), SCRIPT, ("environment/.dockerignore", "*.log\n"), ("environment/a.log", "")];
    let rest = [("instruction.md", "Do it."), ("environment/Dockerfile", "WORKDIR /app\nCOPY . .\n")];
    let conversion = from_harbor(write(&[&files[..], &rest].concat()).path()).unwrap().in_layout(CasePlacement::File);
    assert_eq!(entries(&conversion, Outcome::Different), ["environment/.dockerignore"]);
}
