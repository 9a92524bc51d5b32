use std::collections::BTreeSet;

use evalsuite_loader::LoadedSuite;

use super::judges::Judging;
use super::suggest;

/// What a suite says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Name of the agent.
    pub agent_name: Option<String>,
    /// Names of the targets of its matrix.
    pub targets: Vec<String>,
    /// Without a matrix: names of the targets its cases are for, where nothing else is asked for when they run.
    pub case_targets: Vec<String>,
    /// What its graders want of judges.
    pub judging: Judging,
}

impl About {
    pub(crate) fn new(suite: &LoadedSuite) -> Self {
        let targets: Vec<String> = suite.suite.targets.iter().map(|target| target.name.clone()).collect();
        let of_cases = suite.cases.iter().filter(|_| targets.is_empty());
        let of_cases: BTreeSet<&str> =
            of_cases.map(|loaded| loaded.case.target.as_deref().unwrap_or("default")).collect();
        Self {
            agent_name: suite.suite.agent_name.clone(),
            case_targets: of_cases.into_iter().map(str::to_owned).collect(),
            judging: Judging::of(suite),
            targets,
        }
    }

    /// Name of the function that is the agent where the caller names none, or `None` if every target has its own.
    ///
    /// # Errors
    ///
    /// If the suite's `agent_name` cannot be the name of a function.
    pub fn default_agent<'t>(&self, with_own: impl Iterator<Item = &'t str>) -> Result<Option<String>, String> {
        if self.all_targets_are_in(with_own) {
            return Ok(None);
        }
        let Some(name) = &self.agent_name else { return Ok(Some("agent".to_owned())) };
        let function = name.replace('-', "_");
        if evalsuite_loader::names::segment(&function) == function {
            Ok(Some(function))
        } else {
            let help = "name the agent: `agent = my_agent`";
            Err(format!("the suite's `agent_name` is `{name}`, which is no name of a function\n  = help: {help}"))
        }
    }

    /// Whether each of its targets is among those that have an agent of their own.
    pub(crate) fn all_targets_are_in<'t>(&self, with_own: impl Iterator<Item = &'t str>) -> bool {
        let with_own: Vec<&str> = with_own.collect();
        self.targets.iter().chain(&self.case_targets).all(|target| with_own.contains(&target.as_str()))
    }

    /// What is wrong with targets that get an agent of their own, each with its index. Without a matrix nothing is:
    /// `EVALSUITE_TARGET` may name any.
    pub fn unknown_targets<'t>(&self, named: impl Iterator<Item = &'t str>) -> Vec<(usize, String)> {
        let known: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        let unknown = named.enumerate().filter(|(_, name)| !known.is_empty() && !known.contains(name));
        unknown.map(|(index, name)| (index, suggest::unknown("target", name, &known))).collect()
    }
}
