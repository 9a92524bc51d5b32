//! Which judges a grader asks: named by the grader, the environment, the macro, or the targets file, whose judges are commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evalsuite_records::record::{ReasonCode, SealRecord};
use evalsuite_schema::grader::JudgeSettings;
use evalsuite_schema::json::json;
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::sorting::map;

use crate::agents::command::cli_agent::CliAgent;
use crate::agents::{CommandCall, CommandFailure, Writer};
use crate::judge::NoJudge;
use crate::judge::endpoint::endpoint_judge;
use crate::judge::endpoint_settings::Endpoint;
use crate::model::agent::{LoadTargets, Targets, UnusableTarget};
use crate::model::callable::registered;
use crate::model::cassette::{Cassette, OF_COMMAND};
use crate::model::command::CommandEnvironment;
use crate::model::judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest, Judges};
use crate::model::messages::answer;
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::sha256_of_data;
use crate::platform::environment;
use crate::platform::redaction::Redactor;
use crate::platform::seal_terms::SealedFiles;
use crate::platform::untrusted::UntrustedDirectory;
use crate::platform::url::secrets_of_query;
use crate::record::cassette::recorded_input::add_named_files;
use crate::record::grader_files::GraderFiles;

/// A judge and its name in records.
#[derive(Debug, Clone)]
pub(crate) struct ChosenJudge {
    pub(crate) name: String,
    pub(crate) judge: BoundJudge,
    /// Whether a grader or the environment names it.
    pub(crate) is_named: bool,
    /// Whether there are only its recorded replies.
    pub(crate) is_absent: bool,
    /// Of a command, what tells it from another one: [`OF_COMMAND`] and a digest.
    pub(crate) command: Option<String>,
}

#[cfg(feature = "users")]
impl ChosenJudge {
    /// The recorded replies of a judge with this name.
    pub(crate) fn recorded(name: &str) -> Self {
        Self { name: name.to_owned(), judge: absent_judge(), is_named: true, is_absent: true, command: None }
    }
}

/// Where judges come from: the environment, the macro, the targets file.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeChoice {
    pub(crate) judges: Judges,
    pub(crate) options: JudgeOptions,
    /// Whether the cassette replaces a judge that is absent.
    pub(crate) is_recorded: bool,
    /// `None`: judges of the suite are not commands of a targets file.
    pub(crate) commands: Option<JudgeCommands>,
}

/// The commands of a targets file, which may judge.
#[derive(Debug, Clone)]
pub(crate) struct JudgeCommands {
    pub(crate) load: LoadTargets,
    pub(crate) places: SuiteLocation,
    /// The targets file, if it is named.
    pub(crate) file: Option<PathBuf>,
    /// Name of the command under test, or of the target whose agent is.
    pub(crate) under_test: Option<String>,
}

impl JudgeCommands {
    fn targets(&self) -> Result<Targets, UnusableTarget> {
        (self.load)(&self.places, self.file.as_deref())
    }

    fn select(&self, name: &str) -> Result<CliAgent, UnusableTarget> {
        self.targets().and_then(|targets| CliAgent::select(targets, name, environment::var))
    }
}

impl JudgeChoice {
    /// Names of the variables in the targets file, whose commands may judge.
    pub(crate) fn variables(&self) -> BTreeSet<String> {
        // Graders report a file that cannot be read.
        let targets = self.commands.as_ref().and_then(|commands| commands.targets().ok());
        let text = targets.map_or_else(String::new, |targets| json!(targets.file).to_string());
        Syntax::Variable.names(&text).map(str::to_owned).collect()
    }

    /// What tells the commands that graders ask from other ones, by name. `named`: the judges that graders name; `None`: they may ask any.
    pub(crate) fn commands_asked(&self, named: Option<BTreeSet<String>>) -> BTreeMap<String, String> {
        let Some(commands) = &self.commands else { return BTreeMap::new() };
        let by_default = self.options.targets.iter().flatten().chain(&self.judges.default_names).cloned();
        // Graders report a file that cannot be read.
        let all = || commands.targets().map(|targets| targets.file.targets).unwrap_or_default().into_iter();
        let named = named.unwrap_or_else(|| all().map(|entry| entry.name).collect());
        let names: BTreeSet<String> = named.into_iter().chain(by_default).collect();
        let is_command = |name: &String| {
            registered(&self.judges.named, name).is_none() && commands.under_test.as_ref() != Some(name)
        };
        let found = names.into_iter().filter(is_command).filter_map(|name| {
            let identity = identity(&commands.select(&name).ok()?, &commands.places);
            Some((name, identity))
        });
        map(found)
    }

    /// Whether a grader that names no judge has one.
    pub(crate) fn has_default(&self) -> bool {
        self.options.names_one() || self.judges.has_default()
    }

    /// The judges of a grader, at least one.
    pub(crate) fn of(&self, settings: &JudgeSettings, grader: &AskingGrader) -> Result<Vec<ChosenJudge>, NoJudge> {
        if let Some(target) = &settings.target {
            return Ok(vec![self.named(target, grader)?]);
        }
        if let Some(targets) = &self.options.targets {
            return targets.iter().map(|name| self.named(name, grader)).collect();
        }
        if let Some(endpoint) = &self.options.endpoint {
            return endpoint_judge(endpoint).map(|judge| vec![chosen(judge)]).or_else(|error| self.recorded(error));
        }
        if !self.judges.default_names.is_empty() {
            return self.judges.default_names.iter().map(|name| self.named(name, grader)).collect();
        }
        match &self.judges.default {
            Some(judge) => Ok(vec![chosen(judge.clone())]),
            None => self.recorded(
                "there is no judge: name one in the macro, `judge = my_judge`, or set EVALSUITE_JUDGE_URL and \
                 EVALSUITE_JUDGE_MODEL"
                    .into(),
            ),
        }
    }

    /// Stands in for an absent default judge, if there are recorded replies.
    fn recorded(&self, error: NoJudge) -> Result<Vec<ChosenJudge>, NoJudge> {
        if self.is_recorded { Ok(vec![ChosenJudge { is_absent: true, ..chosen(absent_judge()) }]) } else { Err(error) }
    }

    fn named(&self, name: &str, grader: &AskingGrader) -> Result<ChosenJudge, NoJudge> {
        let named =
            |judge| ChosenJudge { name: name.to_owned(), judge, is_named: true, is_absent: false, command: None };
        if let Some(judge) = registered(&self.judges.named, name) {
            return Ok(named(judge.clone()));
        }
        if self.is_recorded {
            // A replay can do without the targets file.
            let commands = self.commands.as_ref();
            let command = commands.and_then(|commands| Some(identity(&commands.select(name).ok()?, &commands.places)));
            return Ok(ChosenJudge { is_absent: true, command, ..named(absent_judge()) });
        }
        if let Some(commands) = &self.commands {
            let agent = commands.select(name).map_err(|error| format!("there is no judge `{name}`: {error}"))?;
            if agent.acp.is_some() {
                let help = "help: name a target with `provider: cli`";
                return Err(format!(
                    "judge `{name}` speaks the Agent Client Protocol: only commands can judge\n{help}"
                )
                .into());
            }
            if [name, &agent.name].map(Some).contains(&commands.under_test.as_deref()) {
                let help = "help: name another target, or a judge of the macro";
                return Err(format!("judge `{name}` is the agent under test\n{help}").into());
            }
            let command = Some(identity(&agent, &commands.places));
            return Ok(ChosenJudge { command, ..named(command_judge(agent, grader, &commands.places)) });
        }
        let known: Vec<String> = self.judges.named.iter().map(|(name, _)| format!("`{name}`")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        // A check at run time whether targets files can be read would link the code that reads them.
        let feature = if cfg!(feature = "cli-agents") { "" } else { " with the feature `cli-agents` of evalsuite" };
        Err(format!(
            "there is no judge `{name}`\nhelp: name it in the macro, `judges = {{ \"{name}\" => path }}`, or a command of \
             targets.yaml, `judge = \"{name}\"`{feature}; known: {known}"
        )
        .into())
    }
}

/// The named judges whose replies to a grader are recorded, where only an absent default judge is chosen. All of them replied,
/// in an order that is not recorded.
pub(crate) fn recorded_judges(chosen: &[ChosenJudge], grader: &AskingGrader) -> Option<Vec<ChosenJudge>> {
    if chosen.iter().any(|judge| judge.is_named || !judge.is_absent) {
        return None;
    }
    let requests = grader.cassette.0.recorded_requests().into_iter();
    let of_grader = requests.filter(|request| request["grader"] == grader.path.as_str());
    let names: BTreeSet<String> =
        of_grader.map(|request| request["judge"].as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let judges = names.into_iter().map(|name| ChosenJudge {
        name,
        is_named: true,
        is_absent: true,
        ..self::chosen(absent_judge())
    });
    Some(judges.collect::<Vec<_>>()).filter(|judges| !judges.is_empty())
}

/// What tells a command from another one: its entry as written, and the files of the package that it names.
fn identity(agent: &CliAgent, places: &SuiteLocation) -> String {
    let mut files = BTreeMap::new();
    let directories: Vec<PathBuf> =
        agent.file.parent().map(PathBuf::from).into_iter().chain([places.suite_dir.clone()]).collect();
    add_named_files(&agent.target.command, &directories, &mut files);
    let digest = sha256_of_data(&json!([agent.target, files]));
    format!("{OF_COMMAND}{}", &digest[..16])
}

fn chosen(judge: BoundJudge) -> ChosenJudge {
    ChosenJudge { name: judge.0.name.clone(), judge, is_named: false, is_absent: false, command: None }
}

/// Stands in for a judge whose replies are recorded.
fn absent_judge() -> BoundJudge {
    BoundJudge::blocking("recorded", |_| Err(JudgeError::permanent("a replay does not call judges")))
}

/// Judgements after a failing one, by default.
pub(crate) const CONFIRM: u32 = 2;

/// The `EVALSUITE_JUDGE_*` variables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JudgeOptions {
    pub(crate) endpoint: Option<Endpoint>,
    /// Names of the default judges, each a judge of the macro or a target.
    pub(crate) targets: Option<Vec<String>>,
    pub(crate) limit: Option<Duration>,
    pub(crate) temperature: Option<f64>,
    pub(crate) confirm: Option<u32>,
}

impl JudgeOptions {
    /// Whether there is a judge for graders that name none.
    pub(crate) fn names_one(&self) -> bool {
        self.endpoint.is_some() || self.targets.is_some()
    }

    /// Secrets in the settings that have no variable of their own.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = String> {
        self.endpoint.iter().flat_map(|endpoint| secrets_of_query(&endpoint.url))
    }
}

struct CommandJudge {
    agent: CliAgent,
    directory: UntrustedDirectory,
    workspace: PathBuf,
    places: SuiteLocation,
    seal: JudgeSeal,
    environment: CommandEnvironment,
    redactor: Redactor,
    calls: Arc<AtomicU32>,
}

/// The judge that calls a command. The files of its calls go to the directory of the grader that asks.
fn command_judge(agent: CliAgent, grader: &AskingGrader, places: &SuiteLocation) -> BoundJudge {
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
        calls: Arc::clone(&grader.command_calls),
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
        // The reply itself goes before a transcript.
        let said = outcome.text.or_else(|| outcome.messages.as_deref().map(answer)).unwrap_or_default();
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

/// A grader of a trial that asks judges.
pub(crate) struct AskingGrader {
    /// Name of the grader, below the names of the composites around it.
    pub(crate) path: String,
    pub(crate) case_id: String,
    /// Index of the trial.
    pub(crate) trial: u32,
    /// Where the files of the grader go.
    pub(crate) directory: PathBuf,
    pub(crate) files: GraderFiles,
    pub(crate) cassette: Cassette,
    pub(crate) workspace: PathBuf,
    pub(crate) environment: CommandEnvironment,
    pub(crate) seal: JudgeSeal,
    /// Number of calls of commands so far, of all judges: each call has a directory of its own.
    pub(crate) command_calls: Arc<AtomicU32>,
}

/// Whether the kernel confined the commands that a grader has asked so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeSeal(Arc<Mutex<Option<SealRecord>>>);

impl JudgeSeal {
    /// Of several commands, those without a seal count.
    pub(crate) fn add(&self, started: &SealRecord) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| !known.is_unsealed()) {
            *known = Some(started.clone());
        }
    }

    /// `None`: no command was asked.
    pub(crate) fn record(&self) -> Option<SealRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
