//! Workspaces that are made once, and the hooks around trials and around all of them.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use evalsuite::record::{ReasonCode, Stage};
use evalsuite::{AgentError, Evals, Report, RunOptions, Status, Trial};
use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, run, run_with, suite_with};

/// A package with a suite; hooks write what they do to `log` in its root.
struct Package {
    root: tempfile::TempDir,
    output: tempfile::TempDir,
}

impl Package {
    fn new() -> Self {
        let package = Self { root: tempfile::tempdir().unwrap(), output: tempfile::tempdir().unwrap() };
        package.write("suites/x/template/given", "from the template");
        package
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn evals(&self, suite: Value, cases: &[Value]) -> Evals {
        Evals::new(suite_with("cases", "mixed", self.path(), cases, suite))
    }

    /// What hooks noted, in order.
    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn count(&self, line: &str) -> usize {
        self.log().iter().filter(|noted| *noted == line).count()
    }

    fn run(&self, evals: &Evals) -> Report {
        run(evals, self.output.path())
    }

    /// Files of the run's bases that are still there.
    fn left(&self, report: &Report) -> Vec<PathBuf> {
        let suites = self.output.path().join("runs").join(report.run_id()).join("suites");
        fs::read_dir(suites)
            .unwrap()
            .map(|suite| suite.unwrap().path().join("base"))
            .filter(|base| base.exists())
            .collect()
    }
}

/// A hook that notes a line in `log` at the root of the package and does something else.
fn hook(line: &str, more: &str) -> Value {
    let shell = format!("echo {line} >> ../../log{}{more}", if more.is_empty() { "" } else { " && " });
    json!({"command": {"shell": shell}, "timeout_ms": 60000})
}

fn template() -> Value {
    json!({"written": "template", "path": "suites/x/template"})
}

fn case(id: &str, workspace: &Value) -> Value {
    case_json(id, json!([contains("hello")]), json!({"workspace": workspace}))
}

fn passes(report: &Report) {
    assert!(report.is_success(), "{report}");
}

async fn hello(_: &mut Trial<'_>) -> Result<String, AgentError> {
    Ok("hello".into())
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn what_is_made_once_reaches_every_trial_and_is_gone_at_the_end() {
    async fn looks(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        assert_eq!(fs::read_to_string(trial.workspace().join("given"))?, "from the template");
        assert_eq!(fs::read_to_string(trial.workspace().join("made"))?, "once\n");
        fs::write(trial.workspace().join("made"), "spoilt")?;
        Ok("hello".into())
    }
    let package = Package::new();
    let workspace = json!({
        "template": template(),
        "hooks": {
            "before_all": hook("before_all", "echo once > {{workspace_path}}/made"),
            "after_all": hook("after_all", "test -f \"$EVALSUITE_WORKSPACE\"/made"),
        },
    });
    let cases: Vec<Value> = ["a", "b", "c", "d"].iter().map(|id| case(id, &workspace)).collect();
    let report = package.run(&package.evals(json!({"workspace": workspace}), &cases).with_agent(looks));
    passes(&report);
    assert_eq!(package.log(), ["before_all", "after_all"]);
    assert_eq!(package.left(&report), [] as [PathBuf; 0]);
    let run: Value = evalsuite_schema::json::from_slice(
        &fs::read(package.output.path().join("runs").join(report.run_id()).join("run.json")).unwrap(),
    )
    .unwrap();
    assert_eq!((&run["suites"][0]["before_all"], &run["suites"][0]["after_all"]), (&json!("done"), &json!("done")));
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn hooks_lie_around_each_trial_the_targets_inside() {
    let package = Package::new();
    let each = |who: &str| {
        json!({
            "before_all": hook(&format!("{who}:before_all"), ""), "after_all": hook(&format!("{who}:after_all"), ""),
            "before_each": hook(&format!("{who}:before_each:{{{{test_id}}}}:{{{{target}}}}"), "cat > $EVALSUITE_TRIAL_DIR/before.json"),
            "after_each": hook(&format!("{who}:after_each"), "cat > $EVALSUITE_TRIAL_DIR/after.json"),
        })
    };
    let workspace = json!({"hooks": each("suite")});
    let suite = json!({"workspace": workspace, "targets": [{"name": "t", "hooks": each("target")}]});
    let mut only = case("a", &workspace);
    only["matrix"] = json!("t");
    only["trials"] = json!({"count": 2});
    let report = package.run(&package.evals(suite, &[only]).with_agent(hello));
    passes(&report);
    let trial = ["suite:before_each:a:t", "target:before_each:a:t", "target:after_each", "suite:after_each"];
    let mut expected = vec!["suite:before_all", "target:before_all"];
    expected.extend(trial);
    expected.extend(trial);
    expected.extend(["target:after_all", "suite:after_all"]);
    assert_eq!(package.log(), expected);
    let case = &report.cases()[0];
    let hooks: Vec<(&str, &str, &str)> = case.trials()[0]
        .hooks
        .iter()
        .map(|hook| (hook.scope.as_str(), hook.name.as_str(), hook.log.as_str()))
        .collect();
    assert_eq!(
        hooks,
        [
            ("suite", "before_each", "hooks/before_each.log"),
            ("target", "before_each", "hooks/target.before_each.log"),
            ("target", "after_each", "hooks/target.after_each.log"),
            ("suite", "after_each", "hooks/after_each.log"),
        ]
    );
    let directory = case.directory().join("trial-001");
    let told =
        |file: &str| -> Value { evalsuite_schema::json::from_slice(&fs::read(directory.join(file)).unwrap()).unwrap() };
    let before = told("before.json");
    assert_eq!(
        (&before["test_id"], &before["case_input"], &before["trial"]),
        (&json!("a"), &json!("say hello"), &json!(1))
    );
    let after = told("after.json");
    assert_eq!((&after["outcome"], &after["score"]), (&json!("passed"), &json!(1.0)));
    assert!(directory.join("hooks/before_each.log").is_file());
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn a_hook_that_fails_before_is_an_error_and_after_is_a_note() {
    let package = Package::new();
    let failing = |name: &str| {
        let workspace = json!({"hooks": {name: hook("ran", "echo broken >&2; exit 4")}});
        let report =
            package.run(&package.evals(json!({"workspace": workspace}), &[case("a", &workspace)]).with_agent(hello));
        assert_eq!(package.left(&report), [] as [PathBuf; 0]);
        report
    };
    let report = failing("before_each");
    let reason = report.cases()[0].record().reason.clone().unwrap();
    assert_eq!((reason.stage, reason.code), (Stage::BeforeHooks, ReasonCode::HookFailed));
    assert!(reason.message.contains("exit code 4: broken"), "{}", reason.message);
    assert_eq!(report.cases()[0].trials()[0].hooks[0].exit_code, Some(4));
    let report = failing("before_all");
    let case = &report.cases()[0];
    assert_eq!(case.record().reason.as_ref().map(|reason| reason.code), Some(ReasonCode::HookFailed));
    assert!(case.trials().is_empty(), "no trial starts");
    let report = failing("after_each");
    passes(&report);
    assert_eq!(report.cases()[0].trials()[0].notes[0].code, "hook_failed");
    passes(&failing("after_all"));
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn a_failed_hook_before_all_is_not_repeated() {
    let package = Package::new();
    let workspace = json!({"hooks": {"before_all": hook("before_all", "exit 1"), "after_all": hook("after_all", "")}});
    let cases: Vec<Value> = ["a", "b", "c"].iter().map(|id| case(id, &workspace)).collect();
    let report = package.run(&package.evals(json!({"workspace": workspace}), &cases).with_agent(hello));
    assert_eq!(report.count(Status::Error), 3);
    assert_eq!(package.log(), ["before_all", "after_all"]);
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn after_each_runs_whatever_the_agent_does() {
    async fn panics(_: &mut Trial<'_>) -> Result<String, AgentError> {
        panic!("on purpose")
    }
    let package = Package::new();
    let workspace =
        json!({"hooks": {"before_each": hook("before", ""), "after_each": hook("after:$(cat | grep -o error)", "")}});
    let report =
        package.run(&package.evals(json!({"workspace": workspace}), &[case("a", &workspace)]).with_agent(panics));
    assert_eq!(report.count(Status::Error), 1);
    assert_eq!(package.log(), ["before", "after:error"]);
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn a_case_has_what_it_writes_for_itself() {
    async fn looks(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        Ok(fs::read_to_string(trial.workspace().join("made")).unwrap_or_else(|_| "nothing".into()))
    }
    let package = Package::new();
    package.write("suites/x/other/made", "hello from another template");
    let made =
        |what: &str| hook(&format!("before_all:{what}"), &format!("echo hello {what} > {{{{workspace_path}}}}/made"));
    let suite =
        json!({"template": template(), "hooks": {"before_all": made("suite"), "after_all": hook("after_all", "")}});
    let own_hook = json!({
        "template": template(),
        "hooks": {"before_all": made("case"), "after_all": hook("after_all:case", "test -f {{workspace_path}}/made")},
    });
    let own_template = json!({"template": {"written": "other", "path": "suites/x/other"}, "hooks": suite["hooks"]});
    let mut twice = case("own_hook", &own_hook);
    twice["trials"] = json!({"count": 2});
    let cases = [case("plain", &suite), twice, case("own_template", &own_template)];
    let report = package.run(&package.evals(json!({"workspace": suite}), &cases).with_agent(looks));
    passes(&report);
    let answers: Vec<&str> =
        report.cases().iter().map(|case| case.trials()[0].answer.as_deref().unwrap().trim()).collect();
    assert_eq!(answers, ["hello suite", "hello case", "hello from another template"]);
    for line in ["before_all:suite", "before_all:case", "after_all", "after_all:case"] {
        assert_eq!(package.count(line), 1, "{line}: {:?}", package.log());
    }
    assert_eq!(package.left(&report), [] as [PathBuf; 0]);
}

#[test]
fn a_shared_workspace_is_one_for_all_and_is_reset() {
    async fn adds(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        let seen = fs::read_dir(trial.workspace())?.count();
        fs::write(trial.workspace().join(format!("from-{}", trial.case_id())), "x")?;
        fs::write(trial.workspace().join("given"), "changed")?;
        Ok(format!("hello {seen}"))
    }
    for (reset, expected) in
        [("none", ["hello 1", "hello 2", "hello 3"]), ("fast", ["hello 1"; 3]), ("strict", ["hello 1"; 3])]
    {
        let package = Package::new();
        let workspace = json!({
            "template": template(), "isolation": "shared",
            "hooks": {"before_each": {"timeout_ms": 60000, "reset": reset}},
        });
        let cases: Vec<Value> = ["a", "b", "c"].iter().map(|id| case(id, &workspace)).collect();
        let evals = package.evals(json!({"workspace": workspace}), &cases).with_agent(adds);
        let report =
            run_with(&evals, package.output.path(), RunOptions::new().with_concurrency(NonZeroUsize::new(3).unwrap()));
        passes(&report);
        let mut answers: Vec<&str> =
            report.cases().iter().map(|case| case.trials()[0].answer.as_deref().unwrap()).collect();
        answers.sort_unstable();
        assert_eq!(answers, expected, "{reset}");
        assert_eq!(package.left(&report), [] as [PathBuf; 0]);
    }
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn a_repository_is_cloned_once_and_copied_with_its_history() {
    async fn commits(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        let log = trial.command("git").args(["-C", "repo", "log", "--format=%s"]).output()?;
        let log = String::from_utf8(log.stdout)?;
        fs::write(trial.workspace().join("repo/file"), "changed")?;
        Ok(format!("hello {}", log.trim()))
    }
    let package = Package::new();
    package.write("suites/x/origin/file", "content");
    let origin = package.path().join("suites/x/origin");
    for arguments in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message=first"]] {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
        let status = std::process::Command::new("git").args(who).args(arguments).current_dir(&origin).status().unwrap();
        assert!(status.success());
    }
    let workspace = |source: Value| json!({"repos": [{"path": "repo", "source": source}]});
    let good = workspace(json!({"local": {"written": "origin", "path": "suites/x/origin"}}));
    let cases: Vec<Value> = ["a", "b"].iter().map(|id| case(id, &good)).collect();
    let report = package.run(&package.evals(json!({"workspace": good}), &cases).with_agent(commits));
    passes(&report);
    for case in report.cases() {
        let trial = &case.trials()[0];
        assert_eq!(trial.answer.as_deref(), Some("hello first"));
        assert_eq!(trial.workspace.as_ref().unwrap().modified, ["repo/file"]);
    }
    let bad = workspace(json!({"git": format!("file://{}/gone", package.path().display())}));
    let report = package.run(&package.evals(json!({"workspace": bad}), &[case("a", &bad)]).with_agent(commits));
    let reason = report.cases()[0].record().reason.clone().unwrap();
    assert_eq!((reason.stage, reason.code), (Stage::Workspace, ReasonCode::RepoError));
    assert!(reason.message.contains("does not appear to be a git repository"), "{}", reason.message);
    assert_eq!(package.left(&report), [] as [PathBuf; 0]);
}

#[test]
#[cfg_attr(windows, ignore = "its hooks are lines for `sh`")]
fn a_targets_hook_works_on_a_base_of_its_own() {
    async fn looks(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        let mut names: Vec<String> = fs::read_dir(trial.workspace())?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, _>>()?;
        names.sort();
        Ok(format!("hello {}", names.join(" ")))
    }
    let package = Package::new();
    let workspace = json!({"template": template()});
    let target = |name: &str| json!({"name": name, "hooks": {"before_all": hook(name, &format!("touch {{{{workspace_path}}}}/{name}"))}});
    let cases: Vec<Value> = ["one", "two"]
        .iter()
        .flat_map(|target| {
            ["a", "b"].map(|id| {
                let mut case = case(id, &workspace);
                case["matrix"] = json!(target);
                case
            })
        })
        .collect();
    let suite = json!({"workspace": workspace, "targets": [target("one"), target("two")]});
    let report = package.run(&package.evals(suite, &cases).with_agent(looks));
    passes(&report);
    let answers: Vec<&str> = report.cases().iter().map(|case| case.trials()[0].answer.as_deref().unwrap()).collect();
    assert_eq!(answers, ["hello given one", "hello given one", "hello given two", "hello given two"]);
    assert_eq!((package.count("one"), package.count("two")), (1, 1));
    assert_eq!(package.left(&report), [] as [PathBuf; 0]);
}
