//! The grader of a converted Harbor task, with a program in place of `docker`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use evalsuite_convert::{CasePlacement, from_harbor};
use evalsuite_needs::{needs, slow};
use evalsuite_schema::Value;
use evalsuite_schema::json::json;

/// Runs its second argument as the container would run the verifier, with the directory of logs in `LOGS`.
const DOCKER: &str = r#"#!/bin/sh
if test "$1" = build; then
  echo image
  exit 0
fi
for word; do
  case "$word" in *:/logs) LOGS=${word%:/logs} ;; esac
done
echo noise of the verifier
"#;

/// What the grader prints with this `docker`; `None`: there is none.
fn graded(docker: Option<&str>, env: &Value) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for (file, text) in [
        ("task/task.toml", ""),
        ("task/instruction.md", "Do it."),
        ("task/environment/Dockerfile", "WORKDIR /app\n"),
        ("task/tests/test.sh", "true"),
    ] {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), text).unwrap();
    }
    let suite = root.join("suite");
    let conversion = from_harbor(&root.join("task")).unwrap().in_layout(CasePlacement::File);
    conversion.output.write(&suite, true).unwrap();
    let written = fs::read_to_string(suite.join("EVAL.yaml")).unwrap();
    let id = written.lines().find_map(|line| line.trim().strip_prefix("- id: ")).unwrap();
    let programs = root.join("programs");
    fs::create_dir(&programs).unwrap();
    let which = |program: &str| {
        let path = std::env::var_os("PATH").unwrap();
        std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file()).unwrap()
    };
    std::os::unix::fs::symlink(which("sh"), programs.join("sh")).unwrap();
    if let Some(script) = docker {
        make_program(&programs.join("docker"), script);
    }
    let config =
        json!({"task": format!("harbor/{id}"), "tests": [format!("harbor/{id}/tests")], "workdir": "/app", "env": env});
    let input = json!({"workspace_path": root.display().to_string(), "config": config});
    // What PATH finds may be a program that looks for Python itself.
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let mut grader = Command::new(String::from_utf8(python.stdout).unwrap().trim())
        .arg("./graders/harbor.py")
        .current_dir(&suite)
        .env("PATH", &programs)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    grader.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = grader.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    evalsuite_schema::json::from_slice(&output.stdout).unwrap()
}

fn make_program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What the grader prints if the verifier is this script.
fn verified(verifier: &str) -> Value {
    graded(Some(&format!("{DOCKER}{verifier}\n")), &json!({}))
}

#[slow(hostile)]
#[needs(python)]
#[test]
fn a_verifier_without_a_reward_is_an_error() {
    let error = |result: Value| {
        assert_eq!(result.as_object().map(|result| result.len()), Some(1), "{result}");
        result["error"].as_str().unwrap().to_owned()
    };
    assert!(error(graded(None, &json!({}))).contains("'docker'"));
    let down = "#!/bin/sh\necho Cannot connect to the Docker daemon >&2\nexit 1\n";
    assert!(error(graded(Some(down), &json!({}))).ends_with("(exit status 1): Cannot connect to the Docker daemon"));
    for (verifier, problem) in [
        ("exit 125", "the verifier wrote no reward (exit status 125)"),
        ("exit 0", "the verifier wrote no reward (exit status 0)"),
        ("echo > $LOGS/verifier/reward.txt", "reward.txt holds '', not a reward"),
        (
            "echo abc > $LOGS/verifier/reward.txt; exit 3",
            "reward.txt holds 'abc', not a reward (exit status of the verifier: 3)",
        ),
        ("echo nan > $LOGS/verifier/reward.txt", "reward.txt holds 'nan': rewards have to be numbers"),
        ("echo 85 > $LOGS/verifier/reward.txt", "the reward is 85.0, not a number from 0 to 1"),
        ("echo -0.5 > $LOGS/verifier/reward.txt", "the reward is -0.5, not a number from 0 to 1"),
        ("echo '{' > $LOGS/verifier/reward.json", "reward.json holds '{', not a reward"),
        ("echo '{}' > $LOGS/verifier/reward.json", "reward.json holds '{}': it has to be an object with rewards"),
        ("echo 1 > $LOGS/verifier/reward.json", "it has to be an object with rewards"),
        ("echo 1 > $LOGS/verifier/reward.txt; : > $LOGS/verifier/reward.json", "reward.json holds '', not a reward"),
        ("echo '{\"reward\": \"1\"}' > $LOGS/verifier/reward.json", "rewards have to be numbers"),
        ("echo '{\"reward\": 1e309}' > $LOGS/verifier/reward.json", "rewards have to be numbers"),
        ("echo '[1]' > $LOGS/verifier/reward.json", "it has to be an object with rewards"),
        ("echo null > $LOGS/verifier/reward.json", "it has to be an object with rewards"),
    ] {
        let error = error(verified(verifier));
        assert!(error.contains(problem), "{verifier}: {error}");
    }
}

#[slow(hostile)]
#[needs(python)]
#[test]
fn a_reward_is_the_score_also_if_the_verifier_fails() {
    for (verifier, score) in [
        ("echo 0 > $LOGS/verifier/reward.txt", 0.0),
        ("echo 0.5 > $LOGS/verifier/reward.txt", 0.5),
        ("echo 1 > $LOGS/verifier/reward.txt; exit 1", 1.0),
        ("echo '{\"reward\": 0.25, \"tests\": 12}' > $LOGS/verifier/reward.json", 0.25),
        ("echo '{\"a\": 1, \"b\": 0}' > $LOGS/verifier/reward.json", 0.5),
        ("echo '{\"reward\": true}' > $LOGS/verifier/reward.json", 1.0),
        ("echo 1 > $LOGS/verifier/reward.txt; echo '{\"reward\": 0}' > $LOGS/verifier/reward.json", 0.0),
    ] {
        assert_eq!(verified(verifier)["score"].as_f64(), Some(score), "{verifier}");
    }
}

#[slow(hostile)]
#[needs(python)]
#[test]
fn variables_are_those_of_this_machine() {
    // Writes the reward 1 if the container gets these variables.
    let docker = format!(
        "{DOCKER}case \"$*\" in *\"-e A=from-default -e B=$HOME -e C=x ${{HOME}}\"*) echo 1 ;; *) echo 0 ;; esac > $LOGS/verifier/reward.txt\n"
    );
    let env = json!({"A": "${EVALSUITE_TEST_UNSET:-from-default}", "B": "${HOME}", "C": "x ${HOME}"});
    let docker = docker.replace("-e C=x ${HOME}", "-e C=x \\${HOME}");
    assert_eq!(graded(Some(&docker), &env)["score"], 1.0, "{docker}");
    let unset = graded(Some("#!/bin/sh\nexit 9\n"), &json!({"KEY": "${EVALSUITE_TEST_UNSET}"}));
    let problem = "the verifier needs the environment variable `EVALSUITE_TEST_UNSET` for `KEY`: set it";
    assert_eq!(unset["error"], problem);
}

#[slow(hostile)]
#[needs(python)]
#[test]
fn the_script_is_executed_as_harbor_executes_it() {
    let command = "--entrypoint bash image -c (/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1";
    let script = format!(
        "{DOCKER}for word; do\n  case \"$word\" in *:/tests) TESTS=${{word%:/tests}} ;; esac\ndone\n\
         case \"$*\" in *'{command}') test -x $TESTS/test.sh && echo 1 > $LOGS/verifier/reward.txt ;; esac\n"
    );
    assert_eq!(graded(Some(&script), &json!({}))["score"], 1.0);
}
