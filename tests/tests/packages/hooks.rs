//! Hooks that run once per run: with threads of one program, with processes of nextest, and with some tests selected.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite::tooling::finish_run;
use evalsuite_needs::needs;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, read_json, suites};

/// An agent that answers with the file that `before_all` made. Some case ids make it abort or fail at first.
const CODE: &str = r#"
use evalsuite::{AgentError, Trial};

fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let made = std::fs::read_to_string(trial.workspace().join("made"))
        .map_err(|error| AgentError::new(format!("before_all made nothing: {error}")))?;
    let attempt = std::env::var("NEXTEST_ATTEMPT").unwrap_or_default();
    match trial.case_id() {
        "aborts" if std::env::var_os("MAY_ABORT").is_some() => std::process::abort(),
        "second-attempt" if attempt == "1" => Ok("not yet".to_owned()),
        _ => Ok(made),
    }
}

evalsuite::include_eval_suite!("suites/hooked");
"#;

const EVAL_YAML: &str = r#"
description: Cases with hooks.
workspace:
  template: ./template
  hooks:
    before_all: echo before_all >> "$HOOK_LOG" && cp {{workspace_path}}/given {{workspace_path}}/made
    before_each: echo before_each >> "$HOOK_LOG"
    after_each: [sh, -c, 'echo after_each >> "$HOOK_LOG"']
    after_all: echo after_all >> "$HOOK_LOG" && test -f {{workspace_path}}/made
assertions:
  - { type: contains, value: hello }
"#;

const CASES: [&str; 4] = ["one", "two", "second-attempt", "aborts"];

struct Hooked {
    package: Package,
    log: PathBuf,
}

impl Hooked {
    fn new(name: &str) -> Self {
        let package = suites::package_with_suite(name, "hooked", CODE);
        package.write("suites/hooked/EVAL.yaml", EVAL_YAML).write("suites/hooked/template/given", "hello");
        for case in CASES {
            package.write(&format!("suites/hooked/cases/{case}/case.yaml"), "input: Say what was made.\n");
        }
        let log = package.root().join("hooks.log");
        Self { package, log }
    }

    fn call<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Call {
        self.package.records().clear();
        // The log shows if a hook runs twice.
        let _ = fs::remove_file(&self.log);
        self.package.cargo(arguments).env("HOOK_LOG", self.log.as_os_str())
    }

    fn count(&self, hook: &str) -> usize {
        fs::read_to_string(&self.log).unwrap_or_default().lines().filter(|line| *line == hook).count()
    }

    #[track_caller]
    fn ran_hooks(&self, ran: &CommandOutput, before_all: usize, trials: usize, after_all: usize) {
        let counts = ["before_all", "before_each", "after_each", "after_all"].map(|hook| self.count(hook));
        assert_eq!(counts, [before_all, trials, trials, after_all], "{}", ran.transcript());
    }

    fn run_directory(&self) -> PathBuf {
        let runs = self.package.records().runs();
        assert_eq!(runs.len(), 1, "all tests are one run: {runs:?}");
        self.package.records_directory().join("runs").join(&runs[0])
    }

    /// The state of `before_all` and `after_all` in `run.json`.
    fn hook_states(&self) -> (String, String) {
        let run: Value = read_json(&self.run_directory().join("run.json"));
        let suite = &run["suites"][0];
        (suite["before_all"].to_string(), suite["after_all"].to_string())
    }

    #[track_caller]
    fn is_ended(&self) {
        assert_eq!(self.hook_states(), ("\"done\"".to_owned(), "\"done\"".to_owned()));
        assert_eq!(self.bases(), [] as [PathBuf; 0], "bases are removed at the end");
    }

    #[track_caller]
    fn is_pending(&self) {
        assert_eq!(self.hook_states(), ("\"done\"".to_owned(), "\"pending\"".to_owned()));
        assert_eq!(self.bases().len(), 1, "the base is still there");
    }

    fn bases(&self) -> Vec<PathBuf> {
        let suites = fs::read_dir(self.run_directory().join("suites")).expect("suites were recorded");
        suites.map(|suite| suite.expect("readable").path().join("base")).filter(|base| base.exists()).collect()
    }

    /// Finishes the run as `cargo evalsuite finish` does.
    #[track_caller]
    fn finish(&self) {
        // The pending hook uses the variable HOOK_LOG, which is not set in this process.
        let text = fs::read_to_string(self.session()).expect("the session is on disk");
        fs::write(self.session(), text.replace("$HOOK_LOG", &self.log.display().to_string())).expect("writable");
        let finished = finish_run(&self.run_directory()).expect("the run can be finished");
        assert_eq!((finished.hooks, finished.problems.as_slice()), (1, &[] as &[String]));
        assert_eq!(read_json(&finished.file)["schema"], "evalsuite.summary/1");
        self.is_ended();
        let again = finish_run(&self.run_directory()).expect("the run can be finished again");
        assert_eq!((again.hooks, again.problems.as_slice()), (0, &[] as &[String]));
        assert_eq!(self.count("after_all"), 1, "expected `after_all` to run once");
    }

    fn session(&self) -> PathBuf {
        let sessions = self.package.records().named("session.json");
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0].clone()
    }
}

#[cfg(unix)]
#[test]
fn cargo_test_runs_hooks_once_around_the_selected_tests() {
    let hooked = Hooked::new("hooks_cargo_test");
    let ran = hooked.call(["test"]).run().succeeds("every agent finds what the hook made");
    hooked.ran_hooks(&ran, 1, 4, 1);
    hooked.is_ended();
    for (arguments, trials) in [
        (&["test", "--test", "evals", "one"][..], 1),
        (&["test", "--test", "evals", "--", "--exact", "hooked::two", "hooked::one"], 2),
        (&["test", "--test", "evals", "--", "--skip", "one", "--test-threads", "1"], 3),
    ] {
        let ran = hooked.call(arguments.iter().copied()).run().succeeds("the chosen cases pass");
        hooked.ran_hooks(&ran, 1, trials, 1);
        hooked.is_ended();
    }
    let ran = hooked.call(["test", "suite_check"]).run().succeeds("no case is run");
    assert_eq!(hooked.count("before_all") + hooked.count("after_all"), 0, "{}", ran.transcript());

    // With a run id, further processes may belong to the run.
    let ran = hooked.call(["test"]).env("EVALSUITE_RUN_ID", "named").run().succeeds("every case passes");
    hooked.ran_hooks(&ran, 1, 4, 0);
    hooked.is_pending();
    hooked.finish();
}

impl Hooked {
    /// After a run of nextest with a case that failed in its first attempt.
    fn keeps_the_attempts_apart(&self) {
        let mut trials = self.package.records().of_case("second-attempt");
        trials.sort_by_key(|trial| trial["runner_attempt"].as_u64());
        let of = |trial: &Value| {
            let shown = ["runner_attempt", "outcome", "answer", "attempt", "trial"].map(|key| trial[key].to_string());
            shown.join(" ")
        };
        let shown: Vec<String> = trials.iter().map(of).collect();
        assert_eq!(shown, [r#"1 "failed" "not yet" 0 0"#, r#"2 "passed" "hello" 0 0"#], "each attempt has its record");
        let cases: Vec<Value> =
            self.package.records().cases().into_iter().filter(|case| case["case_id"] == "second-attempt").collect();
        for case in &cases {
            assert_eq!(case["trials"].as_array().map(Vec::len), Some(1), "an attempt has its own trials: {case:?}");
        }
        assert_eq!(cases.len(), 2);
        finish_run(&self.run_directory()).expect("nothing is pending");
        let summary = read_json(&self.run_directory().join("summary.json"));
        let suite = &summary["suites"][0];
        let counted = suite["cases"].as_array().expect("the cases of the summary");
        let counted: Vec<_> = counted.iter().filter(|case| case["case_id"] == "second-attempt").collect();
        assert_eq!(counted.len(), 1, "{suite}");
        assert_eq!((&counted[0]["outcome"], &counted[0]["runner_attempt"]), (&"passed".into(), &2.into()), "{suite}");
    }
}

#[cfg(unix)]
#[needs(nextest)]
#[test]
fn nextest_runs_hooks_once_around_all_processes() {
    let hooked = Hooked::new("hooks_nextest");
    let ran = hooked.call(["nextest", "run", "--retries", "2"]).run().succeeds("every case passes in the end");
    ran.says("1 flaky");
    hooked.ran_hooks(&ran, 1, 5, 1);
    hooked.is_ended();
    hooked.keeps_the_attempts_apart();

    // Each round of a stress test runs the hooks once.
    let ran = hooked.call(["nextest", "run", "--retries", "1", "--stress-count", "2"]).run();
    let ran = ran.succeeds("every case passes in the end, each time");
    hooked.ran_hooks(&ran, 2, 10, 2);
    assert_eq!(hooked.bases(), [] as [PathBuf; 0]);

    // Nextest does not say which tests a filter selects, so no process knows that its test is the last one.
    let ran = hooked.call(["nextest", "run", "one"]).run().succeeds("the chosen case passes");
    hooked.ran_hooks(&ran, 1, 1, 0);
    hooked.is_pending();
    hooked.finish();
}

#[cfg(unix)]
#[needs(nextest)]
#[test]
fn pending_hooks_of_an_aborted_process_are_run_by_finish() {
    let hooked = Hooked::new("hooks_died");
    let ran = hooked.call(["nextest", "run", "--no-fail-fast", "--retries", "1"]).env("MAY_ABORT", "1").run();
    ran.says("SIGABRT");
    assert_eq!((hooked.count("before_all"), hooked.count("after_all")), (1, 0), "{}", ran.transcript());
    hooked.is_pending();
    hooked.finish();
    let summary = read_json(&hooked.run_directory().join("summary.json"));
    let problems = summary["suites"][0]["problems"].to_string();
    assert!(problems.contains("case `aborts`"), "{problems}");
}

/// An agent that waits until `TESTS` tests of its case run at the same time.
const MEETING: &str = r#"
use evalsuite::{AgentError, Trial};

fn meet(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let broken = |error: std::io::Error| AgentError::new(error.to_string());
    let directory = std::env::temp_dir().join(trial.env("MEETING").unwrap_or_default());
    std::fs::create_dir_all(&directory).map_err(broken)?;
    let own = trial.workspace().display().to_string().replace('/', "_");
    std::fs::write(directory.join(own), "").map_err(broken)?;
    let wanted: usize = trial.env("TESTS").and_then(|number| number.parse().ok()).unwrap_or(1);
    while std::fs::read_dir(&directory).map_err(broken)?.count() < wanted {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::fs::read_to_string(trial.workspace().join("made")).map_err(broken)
}

evalsuite::include_eval_suite!("suites/hooked", agent = meet);

mod again {
    evalsuite::include_eval_suite!("suites/hooked", agent = super::meet);
}
"#;

#[cfg(unix)]
#[needs(nextest)]
#[test]
fn concurrent_inclusions_of_a_suite_share_one_run_of_its_hooks() {
    let hooked = Hooked::new("hooks_included");
    hooked.package.write("tests/evals.rs", MEETING).write("tests/other.rs", MEETING);
    for case in &CASES[1..] {
        hooked.package.remove(&format!("suites/hooked/cases/{case}"));
    }
    let meeting = hooked.package.root().join("meeting");
    let call = |arguments: &[&str], tests: &str| {
        let _ = fs::remove_dir_all(&meeting);
        hooked.call(arguments.iter().copied()).env("MEETING", &meeting).env("TESTS", tests)
    };
    let ran = call(&["test", "--test", "evals", "--", "--test-threads", "2"], "2").run().succeeds("both tests pass");
    hooked.ran_hooks(&ran, 1, 2, 1);
    hooked.is_ended();

    // The first inclusion ends before the second one starts, so the hooks run again.
    let ran = call(&["test", "--test", "evals", "--", "--test-threads", "1"], "1").run().succeeds("both tests pass");
    let log = fs::read_to_string(&hooked.log).expect("hooks ran");
    let of_one = ["before_all", "before_each", "after_each", "after_all"];
    assert_eq!(log.lines().collect::<Vec<_>>(), of_one.repeat(2), "{}", ran.transcript());
    hooked.is_ended();

    let ran = call(&["nextest", "run", "--test-threads", "4"], "4").run().succeeds("all tests pass");
    hooked.ran_hooks(&ran, 1, 4, 1);
    hooked.is_ended();
}

const SHARED_YAML: &str = r#"
description: Cases that share a repository, for two targets.
execution:
  targets:
    - name: quick
      hooks: { before_all: echo quick >> "$HOOK_LOG", after_all: echo end-of-quick >> "$HOOK_LOG" }
    - name: thorough
workspace:
  template: ./template
  isolation: shared
  repos:
    - path: ./repo
      source: { type: git, url: "${{ ORIGIN_URL }}" }
      checkout: { ref: main, ancestor: 1 }
      clone: { depth: 1 }
  hooks:
    before_all: echo before_all >> "$HOOK_LOG"
    before_each: { reset: strict }
    after_all: echo after_all >> "$HOOK_LOG"
assertions:
  - { type: contains, value: "repo given first" }
"#;

const SHARED_CODE: &str = r#"
use evalsuite::{AgentError, Trial};

fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let broken = |error: std::io::Error| AgentError::new(error.to_string());
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(trial.workspace()).map_err(broken)? {
        names.push(entry.map_err(broken)?.file_name().to_string_lossy().into_owned());
    }
    names.sort_by_key(|name| std::cmp::Reverse(name.clone()));
    let file = std::fs::read_to_string(trial.workspace().join("repo/file")).map_err(broken)?;
    for spoilt in ["created", "given", "repo/file", "repo/created"] {
        std::fs::write(trial.workspace().join(spoilt), "spoilt").map_err(broken)?;
    }
    Ok(format!("{} {file}", names.join(" ")))
}

evalsuite::include_eval_suite!("suites/hooked");
"#;

#[cfg(unix)]
#[needs(git, nextest)]
#[test]
fn processes_use_a_shared_workspace_with_a_repository_one_at_a_time() {
    let git = |directory: &Path, arguments: &[&str]| {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
        std::process::Command::new("git").args(who).args(arguments).current_dir(directory).output()
    };
    let hooked = Hooked::new("hooks_shared");
    let package = &hooked.package;
    package.write("tests/evals.rs", SHARED_CODE).write("suites/hooked/EVAL.yaml", SHARED_YAML);
    package.write("origin/file", "first");
    let origin = package.root().join("origin");
    let commit = |message: &str| {
        for arguments in [&["add", "."][..], &["commit", "--quiet", "--message", message]] {
            let output = git(&origin, arguments).expect("git runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    };
    let output = git(&origin, &["init", "--quiet", "--initial-branch=main"]).expect("git runs");
    assert!(output.status.success());
    commit("first");
    package.write("origin/file", "second");
    commit("second");

    let url = format!("file://{}", origin.display());
    for arguments in [&["test"][..], &["nextest", "run", "--test-threads", "8"]] {
        let call = hooked.call(arguments.iter().copied()).env("ORIGIN_URL", &url);
        let ran = call.run().succeeds("every trial finds the workspace reset");
        let log = fs::read_to_string(&hooked.log).expect("hooks ran");
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 4, "{lines:?}\n{}", ran.transcript());
        assert_eq!((lines[0], &lines[2..]), ("before_all", &["end-of-quick", "after_all"][..]), "{lines:?}");
        assert_eq!(package.records().results().len(), 2 * CASES.len());
        hooked.is_ended();
    }
    let ran = hooked
        .call(["test", "--test", "evals", "quick::one"])
        .run()
        .fails("the variable with the repository's URL is not set");
    ran.says("evaluation error (workspace/variable_unset)").says("`ORIGIN_URL` is not set");
}
