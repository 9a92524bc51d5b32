//! Which judges a grader asks.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use evalsuite_schema::grader::JudgeSettings;

use crate::{
    agents::command::CliAgent,
    judge::{JudgeOptions, Site, command},
    model::{
        agent::LoadTargets,
        cassette::Cassette,
        judge::{BoundJudge, IntoJudge, Judge, JudgeError, JudgeReply, JudgeRequest, Judges},
        suite_location::SuiteLocation,
    },
};

/// A judge and the name it goes by.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) name: String,
    pub(crate) judge: BoundJudge,
    /// Whether a grader or the environment names it.
    pub(crate) is_named: bool,
    /// Whether there are only replies it once gave.
    pub(crate) is_absent: bool,
}

/// Where judges come from: the environment, the macro, the targets file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'a> {
    pub(crate) judges: &'a Judges,
    pub(crate) options: &'a JudgeOptions,
    /// Whether a judge that is not there is taken from a recording.
    pub(crate) is_recorded: bool,
    /// The targets file, where agents or judges of the suite may be commands of one.
    pub(crate) commands: Option<Commands<'a>>,
}

/// Commands that may judge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Commands<'a> {
    pub(crate) load: LoadTargets,
    pub(crate) places: &'a SuiteLocation,
    /// The targets file, if it is named.
    pub(crate) file: Option<&'a Path>,
    /// Name of the command under test, or of the target whose agent is.
    pub(crate) under_test: Option<&'a str>,
}

/// [`Choice`] for a thread of its own.
#[derive(Debug, Clone)]
pub(crate) struct OwnedChoice {
    judges: Judges,
    pub(crate) options: JudgeOptions,
    is_recorded: bool,
    commands: Option<OwnedCommands>,
}

#[derive(Debug, Clone)]
struct OwnedCommands {
    load: LoadTargets,
    places: SuiteLocation,
    file: Option<PathBuf>,
    under_test: Option<String>,
}

impl OwnedChoice {
    pub(crate) fn borrowed(&self) -> Choice<'_> {
        let commands = self.commands.as_ref().map(|commands| Commands {
            load: commands.load,
            places: &commands.places,
            file: commands.file.as_deref(),
            under_test: commands.under_test.as_deref(),
        });
        Choice { judges: &self.judges, options: &self.options, is_recorded: self.is_recorded, commands }
    }
}

impl Choice<'_> {
    pub(crate) fn detached(&self) -> OwnedChoice {
        let commands = self.commands.map(|commands| OwnedCommands {
            load: commands.load,
            places: commands.places.clone(),
            file: commands.file.map(Path::to_owned),
            under_test: commands.under_test.map(str::to_owned),
        });
        OwnedChoice {
            judges: self.judges.clone(),
            options: self.options.clone(),
            is_recorded: self.is_recorded,
            commands,
        }
    }

    /// Whether a grader that names no judge has one.
    pub(crate) fn has_default(&self) -> bool {
        self.options.names_one() || self.judges.has_default()
    }

    /// The judges of a grader, at least one.
    ///
    /// # Errors
    ///
    /// If one of them does not exist, or is the agent under test.
    pub(crate) fn of(&self, settings: &JudgeSettings, site: &Site<'_>) -> Result<Vec<Chosen>, String> {
        if let Some(target) = &settings.target {
            return Ok(vec![self.named(target, site)?]);
        }
        if let Some(targets) = &self.options.targets {
            return targets.iter().map(|name| self.named(name, site)).collect();
        }
        if let Some(endpoint) = &self.options.endpoint {
            return crate::judge::service::judge_at(endpoint)
                .map(|judge| vec![chosen(judge)])
                .or_else(|problem| self.recorded(problem));
        }
        if !self.judges.default_names.is_empty() {
            return self.judges.default_names.iter().map(|name| self.named(name, site)).collect();
        }
        match &self.judges.default {
            Some(judge) => Ok(vec![chosen(judge.clone())]),
            None => self.recorded(
                "there is no judge: name one in the macro, `judge = my_judge`, or set EVALSUITE_JUDGE_URL and \
                 EVALSUITE_JUDGE_MODEL"
                    .to_owned(),
            ),
        }
    }

    /// What was recorded can be had without the judge.
    fn recorded(&self, problem: String) -> Result<Vec<Chosen>, String> {
        if self.is_recorded { Ok(vec![Chosen { is_absent: true, ..chosen(nobody()) }]) } else { Err(problem) }
    }

    fn named(&self, name: &str, site: &Site<'_>) -> Result<Chosen, String> {
        if let Some(judge) = self.judges.named(name) {
            return Ok(Chosen { name: name.to_owned(), judge: judge.clone(), is_named: true, is_absent: false });
        }
        if self.is_recorded {
            return Ok(Chosen { name: name.to_owned(), judge: nobody(), is_named: true, is_absent: true });
        }
        if let Some(commands) = self.commands {
            let agent = (commands.load)(commands.places, commands.file)
                .and_then(|targets| CliAgent::select(targets, name))
                .map_err(|problem| format!("there is no judge `{name}`: {problem}"))?;
            if [Some(name), Some(&agent.name)].contains(&commands.under_test) {
                return Err(format!(
                    "judge `{name}` is the agent under test\nhelp: name another target, or a judge of the macro"
                ));
            }
            return Ok(Chosen {
                name: name.to_owned(),
                judge: command::judge(agent, site),
                is_named: true,
                is_absent: false,
            });
        }
        let known: Vec<String> = self.judges.named.iter().map(|(name, _)| format!("`{name}`")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        // To ask whether there is a reader of targets files would link it.
        let commands = match cfg!(feature = "cli-agents") {
            true => format!(", or a command of targets.yaml, `judge = \"{name}\"`"),
            false => String::new(),
        };
        Err(format!(
            "there is no judge `{name}`\nhelp: name it in the macro, `judges = {{ \"{name}\" => path }}`{commands}; known: {known}"
        ))
    }
}

/// The judges with names whose replies to a grader are recorded, where only an absent default judge is chosen. All of them
/// replied then, in an order that nobody knows.
pub(crate) fn recorded_judges(chosen: &[Chosen], grader: &str, cassette: &Cassette) -> Option<Vec<Chosen>> {
    if chosen.iter().any(|judge| judge.is_named || !judge.is_absent) {
        return None;
    }
    let of_grader = cassette.recorded_requests().into_iter().filter(|request| request["grader"] == grader);
    let names: BTreeSet<String> =
        of_grader.map(|request| request["judge"].as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let judges = names.into_iter().map(|name| Chosen { name, judge: nobody(), is_named: true, is_absent: true });
    Some(judges.collect::<Vec<_>>()).filter(|judges| !judges.is_empty())
}

fn chosen(judge: BoundJudge) -> Chosen {
    Chosen { name: judge.name(), judge, is_named: false, is_absent: false }
}

/// Stands for a judge whose replies are recorded.
fn nobody() -> BoundJudge {
    struct Nobody;

    impl Judge for Nobody {
        async fn judge(&self, _: JudgeRequest) -> Result<JudgeReply, JudgeError> {
            Err(JudgeError::permanent("a replay asks nobody"))
        }

        fn name(&self) -> String {
            "recorded".to_owned()
        }
    }

    Nobody.into_judge()
}
