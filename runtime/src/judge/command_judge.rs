//! Judges that are commands of a targets file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use evalsuite_records::record::ReasonCode;

use crate::agents::command::cli_agent::CliAgent;
use crate::agents::command_exchange::{CommandCall, CommandFailure, Writer};
use crate::judge::asking_grader::{AskingGrader, JudgeSeal};
use crate::model::command::CommandEnvironment;
use crate::model::judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest};
use crate::model::messages::answer;
use crate::model::suite_location::SuiteLocation;
use crate::platform::environment;
use crate::platform::redaction::Redactor;
use crate::platform::seal_terms::SealedFiles;
use crate::platform::untrusted::UntrustedDirectory;

struct CommandJudge {
    agent: CliAgent,
    directory: UntrustedDirectory,
    workspace: PathBuf,
    places: SuiteLocation,
    seal: JudgeSeal,
    environment: CommandEnvironment,
    redactor: Redactor,
    calls: AtomicU32,
}

/// The judge that calls a command. The files of its calls go to the directory of the grader that asks.
pub(crate) fn command_judge(agent: CliAgent, grader: &AskingGrader, places: &SuiteLocation) -> BoundJudge {
    let variables = agent.variables();
    let name = format!("cli:{}", agent.name);
    let judge = CommandJudge {
        agent,
        directory: grader.files.directory(&grader.directory),
        workspace: grader.workspace.clone(),
        places: places.clone(),
        seal: grader.seal.clone(),
        environment: grader.environment.clone(),
        redactor: grader.files.redactor().and(variables.iter().map(String::as_str)),
        calls: AtomicU32::new(0),
    };
    BoundJudge::blocking(name, move |request| judge.answer(request))
}

impl CommandJudge {
    fn answer(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let command = self
            .agent
            .resolve(&|name: &str| environment::var(name))
            .map_err(|unset| JudgeError::permanent(unset.message).unpaid())?;
        let own = Some(self.workspace.clone()).filter(|workspace| workspace.is_dir());
        let files = SealedFiles { own: own.into_iter().collect(), ..SealedFiles::default() };
        let seal = self.environment.seals.seal(&command.target.sealing, &self.places, files).map_err(|refusal| {
            self.seal.add(&refusal.record);
            let message = format!("judge `{}` cannot run: {}", self.agent.name, refusal.message);
            JudgeError::permanent(message).with_code(ReasonCode::NotSealed).unpaid()
        })?;
        seal.record.iter().for_each(|record| self.seal.add(record));
        let prompt = match request.system() {
            "" => request.user().to_owned(),
            system => format!("{}\n\n{}", system.trim_end(), request.user()),
        };
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let answered = command.call(&CommandCall {
            prompt: &prompt,
            files: &[],
            case_id: request.case_id(),
            trial: request.trial(),
            directory: &self.directory.join(format!("judge-{call}")),
            cwd: &self.workspace,
            environment: &self.environment,
            limit: request.limit(),
            writer: Writer::Judge,
            keep: true,
            redactor: &self.redactor,
            mcp: None,
            seal: seal.start.as_ref(),
        });
        let outcome = answered.reported;
        let said = outcome.messages.as_deref().map(answer).or(outcome.text).unwrap_or_default();
        let reply = JudgeReply {
            // It is recorded, so it must not hold the secrets that the command was given.
            text: self.redactor.apply(&said).into_owned(),
            usage: outcome.usage,
            cost_usd: outcome.cost_usd,
            model: outcome.model,
            is_cut_off: false,
        };
        match answered.result {
            Ok(()) => Ok(reply),
            Err(CommandFailure::Failed(message) | CommandFailure::TimedOut(message)) => {
                Err(JudgeError::new(self.redactor.apply(&message).into_owned()).after(&reply))
            }
        }
    }
}
