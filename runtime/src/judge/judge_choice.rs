//! Which judges a grader asks: named by the grader, the environment, the macro, or the targets file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use evalsuite_schema::grader::JudgeSettings;
use evalsuite_schema::json::json;
use evalsuite_schema::placeholder::Syntax;

use crate::agents::command::cli_agent::CliAgent;
use crate::judge::command_judge::command_judge;
use crate::judge::endpoint::endpoint_judge;
use crate::judge::judge_call::AskingGrader;
use crate::model::agent::{LoadTargets, Targets, UnusableTarget};
use crate::model::callable::registered;
use crate::model::cassette::OF_COMMAND;
use crate::model::judge::{BoundJudge, JudgeError, Judges};
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::sha256_of_data;
use crate::platform::environment;
use crate::platform::errors::text_error;
use crate::platform::url::{has_user, secrets_of_query, with_path_end, without_credentials};
use crate::record::cassette::recorded_input::add_named_files;

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

text_error! {
    /// Why a grader has no judge.
    NoJudge
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
            let agent = self.commands.as_ref().and_then(|commands| commands.select(name).ok());
            let command = agent.map(|agent| identity(&agent));
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
            let command = Some(identity(&agent));
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
fn identity(agent: &CliAgent) -> String {
    let mut files = BTreeMap::new();
    let directories: Vec<PathBuf> = agent.file.parent().map(PathBuf::from).into_iter().collect();
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

/// Address of the service that `OPENAI_API_KEY` belongs to, where no other is named.
const OPENAI: &str = "https://api.openai.com/v1";

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

/// An OpenAI-compatible service.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
    /// US dollars per million tokens of input and output.
    pub(crate) price: Option<(f64, f64)>,
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Names of the variables with keys.
pub(crate) const KEYS: [&str; 2] = ["EVALSUITE_JUDGE_API_KEY", "OPENAI_API_KEY"];

/// The values of the variables that describe a service.
#[derive(Debug, Default)]
pub(crate) struct EndpointVariables {
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) openai_url: Option<String>,
    pub(crate) openai_key: Option<String>,
    pub(crate) price: Option<(f64, f64)>,
}

impl Endpoint {
    /// The service that judges; a model has to be set. `OPENAI_*` fills in what `EVALSUITE_JUDGE_*` does not set, but a key is only sent
    /// to the service it belongs to.
    pub(crate) fn from_variables(variables: EndpointVariables) -> Result<Option<Self>, String> {
        let EndpointVariables { url, model, key, openai_url, openai_key, price } = variables;
        let Some(model) = model else {
            return url.map_or(Ok(None), |_| Err("EVALSUITE_JUDGE_URL is set without EVALSUITE_JUDGE_MODEL".into()));
        };
        let own = openai_url.or_else(|| openai_key.is_some().then(|| OPENAI.to_owned()));
        let name = if url.is_some() { "EVALSUITE_JUDGE_URL" } else { "OPENAI_BASE_URL" };
        let written = url.or_else(|| own.clone()).ok_or("EVALSUITE_JUDGE_MODEL is set without EVALSUITE_JUDGE_URL")?;
        let address = with_path_end(&written, "");
        if !["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) {
            let shown = without_credentials(&written);
            return Err(format!("{name} is `{shown}`, not the URL of a service (http:// or https://)"));
        }
        if has_user(&address) {
            return Err(format!("{name} contains a user name or password: set EVALSUITE_JUDGE_API_KEY"));
        }
        let is_theirs = own.is_some_and(|own| with_path_end(&own, "") == address);
        let [own_name, their_name] = KEYS;
        let (name, key) = match key {
            Some(_) => (own_name, key),
            None => (their_name, openai_key.filter(|_| is_theirs)),
        };
        if key.as_ref().is_some_and(|key| key.contains(|character: char| !(' '..='~').contains(&character))) {
            return Err(format!("{name} contains a line break or another character that HTTP headers cannot hold"));
        }
        Ok(Some(Self { url: address, model, key: key.map(Secret), price }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn a_key_goes_only_where_it_belongs() {
        let read = |variables| Endpoint::from_variables(variables).unwrap().unwrap();
        let openai =
            || EndpointVariables { model: text("m"), openai_key: text("theirs"), ..EndpointVariables::default() };
        let plain = read(openai());
        assert_eq!((plain.url.as_str(), plain.key), (OPENAI, Some(Secret("theirs".into()))));
        let other = read(EndpointVariables { url: text("http://localhost:1/v1/"), ..openai() });
        assert_eq!((other.url.as_str(), other.key), ("http://localhost:1/v1", None));
        let same = read(EndpointVariables { url: text("https://x/v1"), openai_url: text("https://x/v1/"), ..openai() });
        assert_eq!(same.key, Some(Secret("theirs".into())));
        let own = read(EndpointVariables { key: text("own"), ..openai() });
        assert_eq!(own.key, Some(Secret("own".into())));
        assert_eq!(format!("{:?}", own.key), "Some(***)");
    }

    #[test]
    fn a_model_has_to_be_named() {
        assert_eq!(
            Endpoint::from_variables(EndpointVariables { openai_key: text("k"), ..EndpointVariables::default() }),
            Ok(None)
        );
        for (wrong, part) in [
            (
                EndpointVariables { url: text("http://x"), ..EndpointVariables::default() },
                "without EVALSUITE_JUDGE_MODEL",
            ),
            (EndpointVariables { model: text("m"), ..EndpointVariables::default() }, "without EVALSUITE_JUDGE_URL"),
            (
                EndpointVariables {
                    model: text("m"),
                    url: text("localhost:1?code=a:b"),
                    ..EndpointVariables::default()
                },
                "`localhost:1?code=***`",
            ),
            (
                EndpointVariables { model: text("m"), url: text("http://a:b@x"), ..EndpointVariables::default() },
                "EVALSUITE_JUDGE_URL contains a user name or password",
            ),
            (
                EndpointVariables { model: text("m"), url: text("http://"), ..EndpointVariables::default() },
                "EVALSUITE_JUDGE_URL is `http://`",
            ),
            (
                EndpointVariables { model: text("m"), openai_url: text("localhost:1"), ..EndpointVariables::default() },
                "OPENAI_BASE_URL is `localhost:1`",
            ),
            (
                EndpointVariables {
                    model: text("m"),
                    url: text("http://x"),
                    key: text("a:b\n"),
                    ..EndpointVariables::default()
                },
                "EVALSUITE_JUDGE_API_KEY contains a line break",
            ),
        ] {
            let error = Endpoint::from_variables(wrong).unwrap_err();
            assert!(error.contains(part) && !error.contains("a:b"), "{error}");
        }
    }
}
