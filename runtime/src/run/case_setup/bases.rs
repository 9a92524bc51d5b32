//! The bases of suites, of their targets, and of cases that have their own files or hooks.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Hook, Hooks, Isolation};

use crate::platform::digest::file_key;
use crate::platform::files::{read_json, remove_if_exists, write_json};
use crate::platform::process::echo::Echo;
use crate::platform::redaction::Redactor;
use crate::record::coordination::run_once;
use crate::run::case_setup::{CaseSetup, WorkspaceSource, run_hook, written};
use crate::run::hooks::{HookCall, Scope};
use crate::run::plan::Plan;
use crate::run::session::Session;
use crate::workspace::{self, WorkspaceBase, workspace_error};

/// File next to the workspace of a case's own base, with the hook that still has to run.
const PENDING: &str = "after_all.json";

impl CaseSetup<'_> {
    /// The base of the suite, or that of the target where the target has a hook that changes it.
    pub(crate) fn suite_base(&mut self) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let session = Session::of(plan.suite, plan.settings, plan.run);
        let entered = session
            .enter(plan.settings.keep_workspaces && self.needs.source == WorkspaceSource::Suite(Isolation::Shared))?;
        let name = format!("base-{}.{}", session.key(), entered.epoch);
        let base = session.base();
        self.session = Some((session.clone(), entered));
        let wanted = plan.data.workspace.clone().unwrap_or_default();
        let is_shared = wanted.isolation == Isolation::Shared;
        let directory = base.join("workspace");
        let call =
            |name: &str, hook: &Hook| plan.hook_call(Scope::Suite, name, hook, None, &directory, session.log(name));
        let of_suite =
            self.make_base(&name, &base, &wanted, is_shared, || run_before_all(plan, &session, &wanted.hooks, call))?;
        let of_suite = match of_suite {
            Ok(base) => base,
            Err(reason) => return Ok(Err(reason)),
        };
        let of_target = self.target_base(&directory, is_shared)?;
        Ok(of_target.map(|own| match (of_suite, own) {
            (WorkspaceBase::Copied { facts, .. }, Some(directory)) => WorkspaceBase::Copied { directory, facts },
            (of_suite, _) => of_suite,
        }))
    }

    /// A copy of the base in which the target's hook runs, so that only the target's trials see its changes. Of a shared
    /// workspace there is no copy.
    fn target_base(&self, base: &Path, is_shared: bool) -> io::Result<Result<Option<PathBuf>, Reason>> {
        let (plan, Some((session, entered))) = (self.plan, &self.session) else { return Ok(Ok(None)) };
        let Some(hooks) = plan.target_hooks().filter(|hooks| hooks.before_all.is_some() || hooks.after_all.is_some())
        else {
            return Ok(Ok(None));
        };
        let key = file_key(&plan.identity.target);
        let own = (!is_shared && hooks.before_all.is_some()).then(|| session.base().join("targets").join(&key));
        let call = |name: &str, hook: &Hook| {
            let log = session.log(&format!("target.{key}.{name}"));
            plan.hook_call(Scope::Target, name, hook, None, own.as_deref().unwrap_or(base), log)
        };
        let name = format!("target-{}-{key}.{}", session.key(), entered.epoch);
        let made = run_once(&plan.run.locks(), &name, &plan.redactor, || {
            if let Some(own) = &own {
                workspace::copy_to_trial(base, own).map_err(|error| workspace_error(&error))?;
            }
            run_before_all(plan, session, hooks, call)
        })?;
        Ok(made.map(|()| own))
    }

    /// The base of a case that has its own files or hooks.
    pub(crate) fn case_base(&mut self, isolation: Isolation) -> io::Result<Result<WorkspaceBase, Reason>> {
        let plan = self.plan;
        let Some(workspace) = &plan.case.workspace else { return Ok(Ok(WorkspaceBase::Template)) };
        // The same in all attempts of the test runner.
        let first_attempt = plan.case_directory.attempt(1);
        let name = format!("case-{}", first_attempt.file_name().unwrap_or_default().to_string_lossy());
        let base = plan.run.suite(&plan.suite.key()).join("base").join(&name);
        let call = |name: &str, hook: &Hook| {
            let log = plan.directory.join("hooks").join(format!("{name}.log"));
            plan.hook_call(Scope::Case, name, hook, Some(&plan.case), &base.join("workspace"), log)
        };
        let needs = self.needs;
        self.own_base = Some(base.clone());
        self.make_base(&once_name(&name), &base, workspace, isolation == Isolation::Shared, || {
            if let Some(hook) = workspace.hooks.after_all.as_ref().filter(|_| needs.own_after_all) {
                // If the process dies, `cargo evalsuite finish` finds the file.
                written(write_json(&base.join(PENDING), &call("after_all", hook), &Redactor::default()))?;
            }
            let before_all = workspace.hooks.before_all.as_ref().filter(|_| needs.own_before_all);
            before_all.map_or(Ok(()), |hook| run_hook(&call("before_all", hook), plan))
        })
    }

    /// Runs the case's own hook after its trials and removes its base, unless the case is run again.
    pub(crate) fn end(mut self, is_last: bool) -> Vec<String> {
        let Some(base) = self.own_base.take().filter(|_| is_last) else { return Vec::new() };
        end_own_base(&self.plan.run.locks(), &base, self.plan.settings.echo).1
    }
}

/// Runs the pending hook of a case's own base and removes the base. Returns whether there was a hook, and the problems.
pub(crate) fn end_own_base(locks: &Path, base: &Path, echo: Echo) -> (bool, Vec<String>) {
    let mut problems = Vec::new();
    let call = read_json::<HookCall>(&base.join(PENDING)).unwrap_or_else(|error| {
        problems.push(error.to_string());
        None
    });
    if let Some(call) = &call {
        let (_, result) = call.resolve_and_run(&Redactor::default(), echo);
        problems.extend(result.err().map(|failure| format!("case `{}`: {}", call.facts.test_id, failure.message)));
    }
    // The next test that needs the base makes it again.
    let name = base.file_name().unwrap_or_default().to_string_lossy();
    let made = locks.join(format!("once-{}.json", once_name(&name)));
    let removed = remove_if_exists(&made).and_then(|()| workspace::remove_directory(base));
    problems.extend(removed.err().map(|error| format!("{} cannot be removed: {error}", base.display())));
    if let Some(bases) = base.parent() {
        // It fails where other bases remain.
        let _ = fs::remove_dir(bases);
    }
    (call.is_some(), problems)
}

/// Name under which the making of a base is done once per run.
fn once_name(name: &str) -> String {
    format!("base-{name}")
}

/// Runs the hook before all tests. The session knows by then which hook undoes it.
fn run_before_all(
    plan: &Plan<'_>,
    session: &Session,
    hooks: &Hooks,
    call: impl Fn(&str, &Hook) -> HookCall,
) -> Result<(), Reason> {
    written(session.note_pending(hooks.after_all.as_ref().map(|hook| call("after_all", hook))))?;
    let Some(hook) = &hooks.before_all else { return Ok(()) };
    let result = run_hook(&call("before_all", hook), plan);
    written(session.before_all_ended(result.is_ok()))?;
    result
}

#[cfg(all(test, unix))]
mod tests {
    use evalsuite_schema::{Command, Location, Reset, Sealing};

    use super::*;
    use crate::run::hooks::HookFacts;

    #[test]
    fn the_base_of_a_process_that_died_is_removed_after_its_hook() {
        let run = tempfile::tempdir().unwrap();
        let base = run.path().join("base/case-a");
        fs::create_dir_all(base.join("workspace")).unwrap();
        let call = HookCall {
            name: "after_all".into(),
            scope: Scope::Case,
            hook: Hook {
                command: Some(Command::Shell("pwd > {{workspace_path}}/../../../seen".into())),
                timeout_ms: 60_000,
                cwd: None,
                reset: Reset::None,
                sealing: Sealing::default(),
            },
            facts: HookFacts {
                run_id: "r".into(),
                package_root: run.path().to_owned(),
                suite_dir: run.path().to_owned(),
                workspace: base.join("workspace"),
                test_id: "a".into(),
                target: None,
                case: None,
                trial: None,
                result: None,
                hidden: Vec::new(),
            },
            log: run.path().join("after_all.log"),
            location: Location::new("f", 1, 1),
        };
        write_json(&base.join(PENDING), &call, &Redactor::default()).unwrap();
        assert_eq!(end_own_base(run.path(), &base, Echo::Off), (true, Vec::new()));
        assert!(run.path().join("seen").is_file(), "the hook ran");
        assert!(!run.path().join("base").exists(), "nothing is left");
    }
}
