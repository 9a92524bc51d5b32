//! What programs inherit from a test program that a git hook started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use evalsuite::{CliAgents, EvalSuite, Evals, Trial};
use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, suite};

const PLACE: &str = "TEST_OF_EVALSUITE_PLACE";

/// Writes what it inherits to a file with its name, and commits to a new repository in the workspace.
const SCRIPT: &str = r#"
env | grep '^GIT_' | sort > "$TEST_OF_EVALSUITE_PLACE/$1.env"
{
    umask
    grep -E '^Sig(Blk|Ign):' /proc/self/status
    ls /proc/self/fd | wc -l
    cut -d ' ' -f 5 /proc/self/stat
    timeout 10 wc -c
} > "$TEST_OF_EVALSUITE_PLACE/$1.more" 2> /dev/null
cd "${EVALSUITE_WORKSPACE:-$TEST_OF_EVALSUITE_PLACE/elsewhere}" || exit
git rev-parse --show-toplevel > "$TEST_OF_EVALSUITE_PLACE/$1.around" 2> /dev/null
mkdir "$1" && cd "$1" && git init -q && echo "$1" > file && git add file &&
git -c user.name=T -c user.email=t@localhost -c commit.gpgSign=false commit -q -m "$1" || exit
git log --format=%s > "$TEST_OF_EVALSUITE_PLACE/$1.log"
"#;

/// Everything that starts the script.
const ROLES: [&str; 7] = ["health", "before_each", "agent", "function", "code", "judge", "after_each"];

fn place() -> PathBuf {
    PathBuf::from(std::env::var_os(PLACE).unwrap())
}

fn run(role: &str) -> String {
    format!("sh {}/script.sh {role}", place().display())
}

async fn function(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    let script = place().join("script.sh");
    let output = trial.command("sh").arg(script).arg("function").env("GIT_PREFIX", "own/").output()?;
    Ok(if output.status.success() { "done".to_owned() } else { String::from_utf8(output.stderr)? })
}

fn evals() -> Evals {
    static SUITE: OnceLock<&'static EvalSuite> = OnceLock::new();
    let suite = SUITE.get_or_init(|| {
        let hook = |name: &str| json!({"command": {"shell": run(name)}, "timeout_ms": 60000, "reset": "none"});
        let judged = grader("judged", 8, json!({"llm-grader": {"judge": {"target": "judge"}}}));
        let code = grader(
            "code",
            9,
            json!({"code-grader": {"run": {"command": {"shell": format!("{} && echo 1", run("code"))}}}}),
        );
        let hooks = json!({"before_each": hook("before_each"), "after_each": hook("after_each")});
        let template = json!({"written": "ws", "path": "suites/x/ws"});
        let more = json!({"workspace": {"template": template, "hooks": hooks}, "criteria": "x", "target": "agent"});
        let cases = [
            case_json("command", json!([contains("done"), code, judged]), more),
            case_json("function", json!([contains("done")]), json!({"target": "function"})),
        ];
        suite("cases", "mixed", &place().join("dev"), &cases)
    });
    Evals::new(suite).with_agent(CliAgents).with_target_agent("function", function).with_command_judges()
}

#[test]
#[ignore = "run by the test below"]
fn child() {
    evalsuite::__private::run_case(evals, 0);
    evalsuite::__private::run_case(evals, 1);
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let who = ["-c", "user.name=Dev", "-c", "user.email=dev@localhost", "-c", "commit.gpgSign=false"];
    let output = Command::new("git").args(who).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A package in a repository with a staged file.
fn package(place: &Path) {
    let dev = place.join("dev");
    for directory in [dev.join("suites/x/ws"), place.join("elsewhere")] {
        fs::create_dir_all(directory).unwrap();
    }
    fs::write(place.join("script.sh"), SCRIPT).unwrap();
    let entry = |name: &str, line: String, more: Value| {
        let mut entry = json!({"name": name, "provider": "cli", "command": line});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let run = |role: &str| format!("sh {}/script.sh {role}", place.display());
    let health = json!({"healthcheck": {"command": run("health")}, "env": {"GIT_AUTHOR_NAME": "Agent"}});
    let targets = [
        entry("agent", format!("{} && echo done > {{OUTPUT_FILE}}", run("agent")), health),
        entry("judge", format!("{} && echo '{{\"score\": 1}}' > {{OUTPUT_FILE}}", run("judge")), json!({})),
    ];
    fs::write(dev.join("targets.yaml"), json!({"targets": targets.to_vec()}).to_string()).unwrap();
    git(&dev, &["init", "--quiet"]);
    git(&dev, &["commit", "--quiet", "--allow-empty", "--message=first"]);
    fs::write(dev.join("staged"), "x").unwrap();
    git(&dev, &["add", "staged"]);
}

/// Runs the tests as a `pre-commit` hook of the repository does.
fn run_in_hook(place: &Path) -> Output {
    let dev = place.join("dev");
    let mut child = Command::new("sh");
    child.args(["-c", "umask 027; exec \"$@\"", "sh"]).arg(std::env::current_exe().unwrap());
    child.args(["--exact", "inherited::child", "--ignored"]).env_remove("NEXTEST_RUN_ID");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        child.env_remove(name);
    }
    child.env(PLACE, place).env("EVALSUITE_OUTPUT", dev.join("target/evalsuite"));
    child.env("GIT_DIR", dev.join(".git")).env("GIT_INDEX_FILE", dev.join(".git/index")).env("GIT_PREFIX", "");
    child.env("GIT_WORK_TREE", &dev).env("GIT_EDITOR", ":");
    child.envs([("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.bare"), ("GIT_CONFIG_VALUE_0", "true")]);
    child.output().unwrap()
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "its commands are lines for `sh`")]
fn no_program_works_on_the_repository_whose_hook_runs_the_tests() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().canonicalize().unwrap();
    package(&place);
    let dev = place.join("dev");
    let state = || (fs::read(dev.join(".git/index")).unwrap(), git(&dev, &["log", "--all", "--format=%H %s"]));
    let before = state();
    let output = run_in_hook(&place);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let read = |file: String| fs::read_to_string(place.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    for role in ROLES {
        assert_eq!(read(format!("{role}.log")), format!("{role}\n"), "the commit is in a repository of its own");
        let inherited = read(format!("{role}.env"));
        let names: Vec<&str> = inherited.lines().filter_map(|line| line.split('=').next()).collect();
        let own: &[&str] = match role {
            "agent" => &["GIT_AUTHOR_NAME", "GIT_CEILING_DIRECTORIES", "GIT_EDITOR"],
            "function" => &["GIT_CEILING_DIRECTORIES", "GIT_EDITOR", "GIT_PREFIX"],
            "health" => &["GIT_AUTHOR_NAME", "GIT_EDITOR"],
            _ => &["GIT_CEILING_DIRECTORIES", "GIT_EDITOR"],
        };
        assert_eq!(names, own, "{role}");
        assert_eq!(
            read(format!("{role}.around")),
            "",
            "{role}: the workspace is no part of the developer's repository"
        );
    }
    if cfg!(target_os = "linux") {
        let listed = Command::new("sh").args(["-c", "ls /proc/self/fd | wc -l"]).output().unwrap();
        let open_files = text(&listed.stdout).trim().to_owned();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let own_group = stat.rsplit(')').next().unwrap().split_whitespace().nth(2).unwrap().to_owned();
        for role in ROLES {
            let more = read(format!("{role}.more"));
            let [umask, blocked, ignored, files, group, input] = more.lines().collect::<Vec<_>>()[..] else {
                panic!("{more}")
            };
            assert_eq!(umask, "0027", "{role}: that of the test program");
            let signals = |line: &str| u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
            assert_eq!(signals(blocked), 0, "{role}: no signal is blocked");
            assert_eq!(signals(ignored) & (1 << 12), 0, "{role}: SIGPIPE ends it");
            assert_eq!(files, open_files, "{role}: no file that the test program has opened");
            assert_ne!(group, own_group, "{role}: it is in a process group of its own");
            let has_input = ["before_each", "after_each", "code"].contains(&role);
            assert_eq!(input.trim() != "0", has_input, "{role}: {input} bytes of input");
        }
    }
    assert_eq!(before, state(), "the developer's repository is as it was");
    assert_eq!(git(&dev, &["status", "--short", "--", "staged"]), "A  staged\n");
}
