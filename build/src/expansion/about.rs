use evalsuite_loader::LoadedSuite;

use super::suggest;

/// What a suite says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Name of the agent.
    pub agent_name: Option<String>,
    /// Names of the targets of its matrix.
    pub targets: Vec<String>,
}

impl About {
    pub(crate) fn new(suite: &LoadedSuite) -> Self {
        Self {
            agent_name: suite.suite.agent_name.clone(),
            targets: suite.suite.targets.iter().map(|target| target.name.clone()).collect(),
        }
    }

    /// Name of the function that is the agent where the caller names none, or `None` if every target has its own.
    ///
    /// # Errors
    ///
    /// If the suite's `agent_name` cannot be the name of a function.
    pub fn default_agent<'t>(&self, with_own: impl Iterator<Item = &'t str>) -> Result<Option<String>, String> {
        let with_own: Vec<&str> = with_own.collect();
        if !self.targets.is_empty() && self.targets.iter().all(|target| with_own.contains(&target.as_str())) {
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

    /// What is wrong with targets that get an agent of their own, each with its index.
    pub fn unknown_targets<'t>(&self, named: impl Iterator<Item = &'t str>) -> Vec<(usize, String)> {
        let known: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        let unknown = named.enumerate().filter(|(_, name)| !known.contains(name));
        unknown
            .map(|(index, name)| match known.as_slice() {
                [] => (index, format!("unknown target `{name}`: the suite has no matrix of targets")),
                known => (index, suggest::unknown("target", name, known)),
            })
            .collect()
    }
}
