//! Hooks around all trials that use a base: of the suite, of a target, or of a case.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::json::{from_value, to_value};
use evalsuite_schema::{Case, Hook, Hooks};

use crate::platform::digest::file_key;
use crate::platform::files::{read_json, write_json};
use crate::platform::process::Echo;
use crate::platform::redaction::Redactor;
use crate::run::case_setup::BaseOwner;
use crate::run::hooks::{CaseFacts, HookCall, HookFacts, Scope};
use crate::run::plan::Plan;
use crate::run::session::Session;

/// File next to the workspace of a case's own base, with the hook that still has to run.
const PENDING: &str = "after_all.json";

/// Runs the hook before all trials that use a base. The hook after them is recorded before.
pub(super) fn run_before_all(plan: &Plan<'_>, owner: BaseOwner<'_>) -> Result<(), Reason> {
    match owner {
        BaseOwner::Suite { session, workspace, directory } => {
            run_in_session(plan, session, &workspace.hooks, |name, hook| {
                plan.hook_call(Scope::Suite, name, hook, None, directory, session.log(name))
            })
        }
        BaseOwner::Target { session, directory } => {
            let Some(hooks) = plan.target_hooks() else { return Ok(()) };
            let key = file_key(&plan.identity.target);
            run_in_session(plan, session, hooks, |name, hook| {
                let log = session.log(&format!("target.{key}.{name}"));
                plan.hook_call(Scope::Target, name, hook, None, directory, log)
            })
        }
        BaseOwner::Case { needs, workspace, base } => {
            let call = |name: &str, hook: &Hook| {
                let log = plan.directory.join("hooks").join(format!("{name}.log"));
                plan.hook_call(Scope::Case, name, hook, Some(&plan.case), &base.join("workspace"), log)
            };
            if let Some(hook) = workspace.hooks.after_all.as_ref().filter(|_| needs.own_after_all) {
                // If the process dies, `cargo evalsuite finish` finds the file.
                written(write_json(&base.join(PENDING), &call("after_all", hook), &Redactor::default()))?;
            }
            let before_all = workspace.hooks.before_all.as_ref().filter(|_| needs.own_before_all);
            before_all.map_or(Ok(()), |hook| run(&call("before_all", hook), plan))
        }
    }
}

/// Runs the pending hook of a case's own base, if there is one, and adds its problems.
pub(super) fn run_after_all(base: &Path, echo: Echo, had_hook: &mut bool, problems: &mut Vec<String>) {
    match read_json::<HookCall>(&base.join(PENDING)) {
        Ok(Some(call)) => {
            *had_hook = true;
            let (_, result) = call.resolve_and_run(&Redactor::default(), echo);
            problems.extend(result.err().map(|failure| format!("case `{}`: {}", call.facts.test_id, failure.message)));
        }
        Ok(None) => {}
        Err(error) => problems.push(error.to_string()),
    }
}

/// Runs the hook before all tests. The session knows by then which hook undoes it.
fn run_in_session(
    plan: &Plan<'_>,
    session: &Session,
    hooks: &Hooks,
    call: impl Fn(&str, &Hook) -> HookCall,
) -> Result<(), Reason> {
    if let Some(hook) = &hooks.after_all {
        written(note_pending(session, &call("after_all", hook)))?;
    }
    let Some(hook) = &hooks.before_all else { return Ok(()) };
    let result = run(&call("before_all", hook), plan);
    written(session.before_all_ended(result.is_ok()))?;
    result
}

fn note_pending(session: &Session, call: &HookCall) -> io::Result<()> {
    let is_same = |pending: HookCall| pending.scope == call.scope && pending.facts.target == call.facts.target;
    session.note_pending(to_value(call).map_err(io::Error::other)?, |pending| {
        from_value(pending.clone()).is_ok_and(is_same)
    })
}

fn run(call: &HookCall, plan: &Plan<'_>) -> Result<(), Reason> {
    call.resolve_and_run(&plan.redactor, plan.settings.echo).1
}

/// A hook runs only if the session knows how to undo it.
fn written(result: io::Result<()>) -> Result<(), Reason> {
    result.map_err(|error| {
        let message = format!("the state of the suite's hooks cannot be written: {error}");
        Reason::new(Stage::BeforeHooks, ReasonCode::HookFailed, message)
    })
}

impl Plan<'_> {
    /// A call of a hook: around the trials of a case, or, without one, around all cases of the suite or of the target.
    pub(crate) fn hook_call(
        &self,
        scope: Scope,
        name: &str,
        hook: &Hook,
        case: Option<&Case>,
        workspace: &Path,
        log: PathBuf,
    ) -> HookCall {
        let around_all = || match scope {
            Scope::Target => format!("__target_{name}__"),
            Scope::Case | Scope::Suite => format!("__{name}__"),
        };
        let (seals, mut hook) = (self.seals(), hook.clone());
        // Another process may run the hook.
        hook.sealing.sealed = Some(seals.mode(&hook.sealing));
        HookCall {
            name: name.to_owned(),
            scope,
            hook,
            facts: HookFacts {
                run_id: self.run.run_id.clone(),
                package_root: self.places.package_root.clone(),
                suite_dir: self.places.suite_dir.clone(),
                workspace: workspace.to_owned(),
                test_id: case.map_or_else(around_all, |case| case.id.clone()),
                target: (case.is_some() || scope == Scope::Target).then(|| self.identity.target.clone()),
                case: case.map(|case| CaseFacts::of(case, &self.places)),
                trial: None,
                result: None,
                hidden: seals.hidden,
            },
            log,
            location: case.map_or(&self.data.location, |_| &self.case.location).clone(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use evalsuite_schema::{Command, Location, Reset, Sealing};

    use super::*;
    use crate::run::case_setup::end_own_base;

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
