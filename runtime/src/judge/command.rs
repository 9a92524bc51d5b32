//! A judge that is a command of a targets file.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    agents::command::{Ask, CliAgent, Failure},
    model::{
        command::CommandEnvironment,
        judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest},
        messages::answer,
    },
    platform::{environment, redaction::Redactor},
};

/// Where a command judges.
pub(crate) struct Site<'a> {
    /// For its files.
    pub(crate) directory: PathBuf,
    pub(crate) workspace: &'a Path,
    pub(crate) environment: &'a CommandEnvironment,
    pub(crate) redactor: &'a Redactor,
}

struct CommandJudge {
    agent: CliAgent,
    directory: PathBuf,
    workspace: PathBuf,
    environment: CommandEnvironment,
    redactor: Redactor,
    calls: AtomicU32,
}

pub(crate) fn judge(agent: CliAgent, site: &Site<'_>) -> BoundJudge {
    let variables = agent.variables();
    let name = format!("cli:{}", agent.name);
    let judge = CommandJudge {
        agent,
        directory: site.directory.clone(),
        workspace: site.workspace.to_owned(),
        environment: site.environment.clone(),
        redactor: site.redactor.and(variables.iter().map(String::as_str)),
        calls: AtomicU32::new(0),
    };
    BoundJudge::blocking(name, move |request| judge.answer(request))
}

impl CommandJudge {
    fn answer(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let ready = self
            .agent
            .ready(&|name: &str| environment::var(name))
            .map_err(|unset| JudgeError::permanent(unset.message))?;
        let prompt = match request.system() {
            "" => request.user().to_owned(),
            system => format!("{}\n\n{}", system.trim_end(), request.user()),
        };
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let answered = ready.call(&Ask {
            prompt: &prompt,
            files: &[],
            case_id: request.case_id(),
            trial: request.trial(),
            directory: &self.directory.join(format!("judge-{call}")),
            cwd: &self.workspace,
            environment: &self.environment,
            limit: request.limit(),
            keep: true,
            redactor: &self.redactor,
        });
        let outcome = answered.result.map_err(|failure| match failure {
            Failure::Failed(message) | Failure::TimedOut(message) => JudgeError::new(self.redactor.apply(&message)),
        })?;
        let said = outcome.messages.as_deref().map(answer).or(outcome.text).unwrap_or_default();
        // What it was given to work with is nobody's business, and a recording does not know of it.
        let said = self.redactor.apply(&said);
        Ok(JudgeReply {
            text: said,
            usage: outcome.usage,
            cost_usd: outcome.cost_usd,
            model: outcome.model,
            is_cut_off: false,
        })
    }
}
