//! Whether the commands of a trial are sealed, decided before the first of them starts.

use evalsuite_records::record::{ReasonCode, SealRecord, Stage};
use evalsuite_schema::{Case, Grader, Hook, SealMode, Sealing};

use crate::agents::command::resolved_command::ResolvedCommand;
use crate::model::command::{CommandSeal, SealDefaults};
use crate::platform::seal_terms::{SealRefusal, SealedFiles};
use crate::run::selection::case_graders;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt};

/// Why an agent in Rust is not sealed.
const IN_PROCESS: &str = "the agent runs in the test program; make it a command to seal it";

/// What a trial starts to get an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StartedAgent<'a> {
    /// Nothing: its answer is recorded.
    Nothing,
    /// A function of the test program.
    Function,
    Command(&'a ResolvedCommand<'a>),
}

/// Decides whether the agent is sealed, and records it. A command of the trial that must not run without a seal ends the trial.
pub(crate) fn seal_trial(
    trial: &TrialAttempt<'_>,
    case: &Case,
    agent: StartedAgent<'_>,
    seals: &SealDefaults,
) -> Result<CommandSeal, EarlyEnd> {
    let agent = match agent {
        StartedAgent::Nothing => Ok(CommandSeal::default()),
        StartedAgent::Function => seal_function(seals.mode(&Sealing::default())),
        StartedAgent::Command(command) => {
            let elsewhere = command.own_directory(&trial.plan.places).filter(|_| case.workspace.is_none());
            let own = vec![trial.workspace.clone()];
            let files = SealedFiles { own, working: elsewhere, ..SealedFiles::default() };
            seals.seal(&command.target.sealing, &trial.plan.places, files)
        }
    };
    let record = |seal: Option<SealRecord>| trial.journal.borrow_mut().sealed = seal;
    let seal = agent.map_err(|refusal| {
        record(Some(refusal.record.clone()));
        refused("the agent", &refusal)
    })?;
    record(seal.record.clone());
    check_others(trial, case, seals)?;
    Ok(seal)
}

fn seal_function(mode: SealMode) -> Result<CommandSeal, Box<SealRefusal>> {
    let record = SealRecord::unsealed(IN_PROCESS);
    match mode {
        SealMode::Off => Ok(CommandSeal::default()),
        SealMode::Auto => Ok(CommandSeal { record: Some(record), start: None }),
        SealMode::Required => {
            let message = "`sealed: required`, but it runs in the test program, where the kernel cannot confine it\nhelp: make it a command \
                           of a targets file: docs/sealed.md";
            Err(Box::new(SealRefusal { record, message: message.to_owned() }))
        }
    }
}

/// Graders and hooks that must be sealed and cannot be would end the trial after the agent was paid for.
fn check_others(trial: &TrialAttempt<'_>, case: &Case, seals: &SealDefaults) -> Result<(), EarlyEnd> {
    let graders = case_graders(case);
    let with_members = graders.iter().flat_map(Grader::with_members);
    for grader in with_members {
        if let Some(sealing) = grader.config.settings().sealing() {
            let who = format!("grader `{}`", grader.name);
            seals.decide(sealing).map_err(|refusal| refused(&who, &refusal))?;
        }
    }
    let of_case = case.workspace.as_ref().map(|workspace| &workspace.hooks);
    for hooks in of_case.into_iter().chain(trial.plan.target_hooks()) {
        let around: [(&str, &Option<Hook>); 2] =
            [("before_each", &hooks.before_each), ("after_each", &hooks.after_each)];
        for (name, hook) in around {
            if let Some(hook) = hook {
                let who = format!("hook `{name}`");
                seals.decide(&hook.sealing).map_err(|refusal| refused(&who, &refusal))?;
            }
        }
    }
    Ok(())
}

fn refused(who: &str, refusal: &SealRefusal) -> EarlyEnd {
    EarlyEnd::error(Stage::Setup, ReasonCode::NotSealed, format!("{who} cannot run: {}", refusal.message))
}
