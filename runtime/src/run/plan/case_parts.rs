//! The parts of a plan, each made from those before it: the decoded case, its agent, where its records go, and its variables.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::Versions;
use evalsuite_schema::digest::CaseDigests;
use evalsuite_schema::{Case, Suite, Workspace};

use crate::agents::command::cli_agent::CliAgent;
use crate::grade::scoring::{CaseStandard, case_rule};
use crate::judge::judge_options::KEYS;
use crate::model::evals::Evals;
use crate::model::interpolation;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::{SuiteLocation, program};
use crate::platform::digest::case_key;
use crate::record::cassette::AgentInput;
use crate::record::embedded_files;
use crate::record::run_directory::{CaseDirectory, RunDirectory};
use crate::run::case_error::{CaseError, decode_case, decode_suite};
use crate::run::selection::chosen_agent::ChosenAgent;
use crate::run::selection::selected_targets::{self, DEFAULT_TARGET};
use crate::run::settings::{Runner, Settings};

/// What the files of a suite say about a case.
pub(crate) struct CaseSource {
    pub(crate) suite: &'static EvalSuite,
    pub(crate) entry: &'static EvalCase,
    pub(crate) data: Arc<Suite>,
    pub(crate) case: Case,
    pub(crate) places: SuiteLocation,
}

impl CaseSource {
    pub(super) fn decode(
        evals: &Evals,
        entry: &'static EvalCase,
        settings: &Settings,
        run: &RunDirectory,
    ) -> Result<Self, CaseError> {
        let suite = evals.suite();
        let data = decode_suite(suite)?;
        let case = decode_case(entry)?;
        if let Some(selected) = &settings.targets {
            selected_targets::check(selected, evals, &data)?;
        }
        let places = embedded_files::suite_location(suite, run, &case.dir)
            .map_err(|error| CaseError::Unusable(error.to_string()))?;
        Ok(Self { suite, entry, data, case, places })
    }

    /// What the trials of the case are measured by; `threshold` is that of the run, if it has one.
    pub(super) fn standard(&self, threshold: Option<f64>) -> CaseStandard {
        CaseStandard {
            rule: case_rule(self.data.kind, self.case.trials.strategy),
            threshold: threshold.or(self.case.threshold).unwrap_or_else(|| self.data.layout.default_threshold()),
            tolerated_errors: self.case.trials.errors,
        }
    }

    /// Path of the case's test, without the crate.
    pub(crate) fn test_name(&self) -> String {
        self.suite.test_path(self.entry)
    }

    /// The tags of the case.
    pub(crate) fn tags(&self) -> Vec<String> {
        self.entry.tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    pub(crate) fn versions(&self) -> Versions {
        let mut versions = Versions::default();
        versions.evalsuite = env!("CARGO_PKG_VERSION").to_owned();
        versions.package = format!("{} {}", self.suite.package, self.suite.package_version);
        versions.os = std::env::consts::OS.to_owned();
        versions.arch = std::env::consts::ARCH.to_owned();
        versions
    }
}

/// Limit of an agent call where none is set.
const AGENT_LIMIT: Duration = Duration::from_secs(300);

/// The agent under test in a case.
pub(crate) struct TestedAgent {
    pub(crate) target: String,
    pub(crate) agent: ChosenAgent,
    pub(crate) agent_name: String,
    /// How long a call may take.
    pub(crate) limit: Duration,
}

impl TestedAgent {
    pub(super) fn of(source: &CaseSource, evals: &Evals, settings: &Settings) -> Result<Self, CaseError> {
        let target = target(source, settings)?;
        let agent = ChosenAgent::of(&target, evals, &source.data, settings, &source.places);
        let agent_name = source.suite.agent_name.map_or_else(|| agent.name(), str::to_owned);
        let written_limit = source.case.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = settings.timeout.or(written_limit).or_else(|| agent.command()?.limit()).unwrap_or(AGENT_LIMIT);
        Ok(Self { target, agent, agent_name, limit })
    }
}

/// The target of the matrix entry, else of EVALSUITE_TARGET, else of the case, else `default`.
fn target(CaseSource { entry, case, .. }: &CaseSource, settings: &Settings) -> Result<String, CaseError> {
    if let Some(target) = entry.target {
        return Ok(target.to_owned());
    }
    match settings.targets.as_deref() {
        None => Ok(case.target.clone().unwrap_or_else(|| DEFAULT_TARGET.to_owned())),
        Some([target]) => Ok(target.clone()),
        Some(targets) => Err(CaseError::Unusable(format!(
            "EVALSUITE_TARGET names {} targets, but the suite has no matrix of targets to choose from",
            targets.len()
        ))),
    }
}

/// The identity of a case in records.
pub(crate) struct CaseRecords {
    pub(crate) case_key: String,
    pub(crate) place: CaseDirectory,
    /// Directory of this attempt of the test runner.
    pub(crate) directory: PathBuf,
    pub(crate) digests: CaseDigests,
    /// SHA-256 of what the agent sees of the case.
    pub(crate) input_digest: String,
}

impl CaseRecords {
    pub(super) fn claim(
        CaseSource { suite, entry, case, .. }: &CaseSource,
        target: &str,
        seen: &AgentInput,
        runner: &Runner,
        run: &RunDirectory,
    ) -> Result<Self, CaseError> {
        let case_key = case_key(suite.name, target, entry.id);
        // The test that runs a case: the test program and the test's path in it.
        let owner = format!("{}\0{}\0{}", program(), suite.module_path, entry.test_name);
        let place = run
            .claim_case(&suite.key(), &case_key, &owner, runner.stress.as_deref())
            .map_err(|source| CaseError::unwritable(&format!("case `{}`", entry.id), run.path(), source))?;
        let directory = place.attempt(runner.attempt);
        let digests = entry.json.digests().unwrap_or_else(|| CaseDigests::of(case));
        Ok(Self { case_key, place, directory, digests, input_digest: seen.digest() })
    }
}

/// Variables of a case and its target.
pub(crate) struct CaseVariables {
    pub(crate) names: BTreeSet<String>,
    /// Whether the case itself may have variables.
    pub(crate) of_case: bool,
    /// Variables whose values are removed from everything that is written.
    pub(crate) secrets: Vec<String>,
}

impl CaseVariables {
    pub(super) fn of(source: &CaseSource, tested: &TestedAgent) -> Self {
        let case = &source.case;
        let of_case = source.entry.may_have_variables();
        let mut names = BTreeSet::new();
        if of_case {
            names.extend(interpolation::variables(case, source.data.layout));
        }
        names.extend(tested.agent.command().into_iter().flat_map(CliAgent::variables));
        names.extend(variables_around(source, &tested.target));
        let mut secrets: Vec<String> = case.requires.env.iter().chain(&names).cloned().collect();
        secrets.extend(KEYS.map(str::to_owned));
        Self { names, of_case, secrets }
    }
}

/// Names of the variables of the suite's workspace, and of the hooks of the suite and of a target.
fn variables_around(CaseSource { data, case, .. }: &CaseSource, target: &str) -> BTreeSet<String> {
    let target = data.targets.iter().find(|known| known.name == target);
    let of_target = target.map(|target| Workspace { hooks: target.hooks.clone(), ..Workspace::default() });
    let workspaces = data.workspace.iter().cloned().chain(of_target);
    workspaces.flat_map(|workspace| interpolation::workspace_variables(&workspace, &case.location)).collect()
}
