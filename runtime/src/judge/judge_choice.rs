//! Which judges a grader asks: named by the grader, the environment, the macro, or the targets file.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use evalsuite_schema::grader::JudgeSettings;
use evalsuite_schema::json::json;
use evalsuite_schema::placeholder::Syntax;

use crate::agents::command::cli_agent::CliAgent;
use crate::judge::command_judge::{JudgeCommandSite, command_judge};
use crate::judge::endpoint_judge::{JudgeFeatureMissing, endpoint_judge};
use crate::judge::judge_options::JudgeOptions;
use crate::model::agent::{LoadTargets, UnusableTarget};
use crate::model::cassette::Cassette;
use crate::model::judge::{BoundJudge, IntoJudge, Judge, JudgeError, JudgeReply, JudgeRequest, Judges};
use crate::model::suite_location::SuiteLocation;
use crate::platform::environment;

/// A judge and its name in records.
#[derive(Debug, Clone)]
pub(crate) struct ChosenJudge {
    pub(crate) name: String,
    pub(crate) judge: BoundJudge,
    /// Whether a grader or the environment names it.
    pub(crate) is_named: bool,
    /// Whether there are only its recorded replies.
    pub(crate) is_absent: bool,
}

/// Why a grader has no judge.
#[derive(Debug)]
pub(crate) enum NoJudge {
    /// Neither the grader, the environment nor the macro names one.
    NotNamed,
    Service(JudgeFeatureMissing),
    Target {
        name: String,
        error: UnusableTarget,
    },
    UnderTest {
        name: String,
    },
    Unknown {
        name: String,
        known: Vec<String>,
    },
}

impl fmt::Display for NoJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNamed => f.write_str(
                "there is no judge: name one in the macro, `judge = my_judge`, or set EVALSUITE_JUDGE_URL and \
                 EVALSUITE_JUDGE_MODEL",
            ),
            Self::Service(error) => error.fmt(f),
            Self::Target { name, error } => write!(f, "there is no judge `{name}`: {error}"),
            Self::UnderTest { name } => {
                write!(f, "judge `{name}` is the agent under test\nhelp: name another target, or a judge of the macro")
            }
            Self::Unknown { name, known } => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                // A check at run time whether targets files can be read would link the code that reads them.
                let feature = match cfg!(feature = "cli-agents") {
                    true => "",
                    false => " with the feature `cli-agents` of evalsuite",
                };
                let commands = format!(", or a command of targets.yaml, `judge = \"{name}\"`{feature}");
                write!(
                    f,
                    "there is no judge `{name}`\nhelp: name it in the macro, `judges = {{ \"{name}\" => path }}`{commands}; \
                     known: {known}"
                )
            }
        }
    }
}

/// Where judges come from: the environment, the macro, the targets file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgeChoice<'a> {
    pub(crate) judges: &'a Judges,
    pub(crate) options: &'a JudgeOptions,
    /// Whether the cassette replaces a judge that is absent.
    pub(crate) is_recorded: bool,
    /// `None`: judges of the suite are not commands of a targets file.
    pub(crate) commands: Option<JudgeCommands<'a>>,
}

/// The commands of a targets file, which may judge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgeCommands<'a> {
    pub(crate) load: LoadTargets,
    pub(crate) places: &'a SuiteLocation,
    /// The targets file, if it is named.
    pub(crate) file: Option<&'a Path>,
    /// Name of the command under test, or of the target whose agent is.
    pub(crate) under_test: Option<&'a str>,
}

/// A [`JudgeChoice`] that owns its data, for other threads.
#[derive(Debug, Clone)]
pub(crate) struct OwnedJudgeChoice {
    judges: Judges,
    pub(crate) options: JudgeOptions,
    is_recorded: bool,
    commands: Option<OwnedJudgeCommands>,
}

#[derive(Debug, Clone)]
struct OwnedJudgeCommands {
    load: LoadTargets,
    places: SuiteLocation,
    file: Option<PathBuf>,
    under_test: Option<String>,
}

impl OwnedJudgeChoice {
    pub(crate) fn borrowed(&self) -> JudgeChoice<'_> {
        let commands = self.commands.as_ref().map(|commands| JudgeCommands {
            load: commands.load,
            places: &commands.places,
            file: commands.file.as_deref(),
            under_test: commands.under_test.as_deref(),
        });
        JudgeChoice { judges: &self.judges, options: &self.options, is_recorded: self.is_recorded, commands }
    }
}

impl JudgeChoice<'_> {
    pub(crate) fn detached(&self) -> OwnedJudgeChoice {
        let commands = self.commands.map(|commands| OwnedJudgeCommands {
            load: commands.load,
            places: commands.places.clone(),
            file: commands.file.map(Path::to_owned),
            under_test: commands.under_test.map(str::to_owned),
        });
        OwnedJudgeChoice {
            judges: self.judges.clone(),
            options: self.options.clone(),
            is_recorded: self.is_recorded,
            commands,
        }
    }

    /// Names of the variables in the targets file, whose commands may judge.
    pub(crate) fn variables(&self) -> BTreeSet<String> {
        // Graders report a file that cannot be read.
        let targets = self.commands.and_then(|commands| (commands.load)(commands.places, commands.file).ok());
        let text = targets.map_or_else(String::new, |targets| json!(targets.file).to_string());
        Syntax::Variable.names(&text).map(str::to_owned).collect()
    }

    /// Whether a grader that names no judge has one.
    pub(crate) fn has_default(&self) -> bool {
        self.options.names_one() || self.judges.has_default()
    }

    /// The judges of a grader, at least one.
    pub(crate) fn of(
        &self,
        settings: &JudgeSettings,
        site: &JudgeCommandSite<'_>,
    ) -> Result<Vec<ChosenJudge>, NoJudge> {
        if let Some(target) = &settings.target {
            return Ok(vec![self.named(target, site)?]);
        }
        if let Some(targets) = &self.options.targets {
            return targets.iter().map(|name| self.named(name, site)).collect();
        }
        if let Some(endpoint) = &self.options.endpoint {
            return endpoint_judge(endpoint)
                .map(|judge| vec![chosen(judge)])
                .or_else(|error| self.recorded(NoJudge::Service(error)));
        }
        if !self.judges.default_names.is_empty() {
            return self.judges.default_names.iter().map(|name| self.named(name, site)).collect();
        }
        match &self.judges.default {
            Some(judge) => Ok(vec![chosen(judge.clone())]),
            None => self.recorded(NoJudge::NotNamed),
        }
    }

    /// Stands in for an absent default judge, if there are recorded replies.
    fn recorded(&self, error: NoJudge) -> Result<Vec<ChosenJudge>, NoJudge> {
        if self.is_recorded { Ok(vec![ChosenJudge { is_absent: true, ..chosen(absent_judge()) }]) } else { Err(error) }
    }

    fn named(&self, name: &str, site: &JudgeCommandSite<'_>) -> Result<ChosenJudge, NoJudge> {
        if let Some(judge) = self.judges.named(name) {
            return Ok(ChosenJudge { name: name.to_owned(), judge: judge.clone(), is_named: true, is_absent: false });
        }
        if self.is_recorded {
            return Ok(ChosenJudge { name: name.to_owned(), judge: absent_judge(), is_named: true, is_absent: true });
        }
        if let Some(commands) = self.commands {
            let agent = (commands.load)(commands.places, commands.file)
                .and_then(|targets| CliAgent::select(targets, name, environment::var))
                .map_err(|error| NoJudge::Target { name: name.to_owned(), error })?;
            if [Some(name), Some(&agent.name)].contains(&commands.under_test) {
                return Err(NoJudge::UnderTest { name: name.to_owned() });
            }
            return Ok(ChosenJudge {
                name: name.to_owned(),
                judge: command_judge(agent, site),
                is_named: true,
                is_absent: false,
            });
        }
        let known = self.judges.named.iter().map(|(name, _)| name.clone()).collect();
        Err(NoJudge::Unknown { name: name.to_owned(), known })
    }
}

/// The named judges whose replies to a grader are recorded, where only an absent default judge is chosen. All of them replied,
/// in an order that is not recorded.
pub(crate) fn recorded_judges(chosen: &[ChosenJudge], grader: &str, cassette: &Cassette) -> Option<Vec<ChosenJudge>> {
    if chosen.iter().any(|judge| judge.is_named || !judge.is_absent) {
        return None;
    }
    let of_grader = cassette.recorded_requests().into_iter().filter(|request| request["grader"] == grader);
    let names: BTreeSet<String> =
        of_grader.map(|request| request["judge"].as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let judges =
        names.into_iter().map(|name| ChosenJudge { name, judge: absent_judge(), is_named: true, is_absent: true });
    Some(judges.collect::<Vec<_>>()).filter(|judges| !judges.is_empty())
}

fn chosen(judge: BoundJudge) -> ChosenJudge {
    ChosenJudge { name: judge.name(), judge, is_named: false, is_absent: false }
}

/// Stands in for a judge whose replies are recorded.
fn absent_judge() -> BoundJudge {
    struct AbsentJudge;

    impl Judge for AbsentJudge {
        async fn judge(&self, _: JudgeRequest) -> Result<JudgeReply, JudgeError> {
            Err(JudgeError::permanent("a replay does not call judges"))
        }

        fn name(&self) -> String {
            "recorded".to_owned()
        }
    }

    AbsentJudge.into_judge()
}
