//! The data of a case that all its trials share.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::{CaseRecord, Mode, Reason, ReasonCode, Rule, Stage, TrialRecord, Versions};
use evalsuite_schema::digest::CaseDigests;
use evalsuite_schema::{Case, Hooks, Location, Suite, Workspace};

use crate::grade::scoring::{CaseStandard, case_rule};
use crate::judge::judge_choice::{JudgeChoice, JudgeCommands};
use crate::judge::judge_options::KEYS;
use crate::model::dependency::Dependencies;
use crate::model::evals::Evals;
use crate::model::interpolation;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::{SuiteLocation, package_directory, program};
use crate::platform::digest::case_key;
use crate::platform::redaction::Redactor;
use crate::record::baseline::{accepted_answer, accepted_answers_file};
use crate::record::cassette::{AgentInput, ReplayError, cassette_path};
use crate::record::embedded_files;
use crate::record::run_directory::{CaseDirectory, RunDirectory};
use crate::record::run_record::SuiteOfRun;
use crate::run::case_error::CaseError;
use crate::run::case_report::CaseReport;
use crate::run::chosen_agent::ChosenAgent;
use crate::run::hooks::HookFacts;
use crate::run::regrade::EarlierTrials;
use crate::run::selected_targets::DEFAULT_TARGET;
use crate::run::settings::Settings;
use crate::run::{regrade, requirements, rerun, selected_targets};

/// Limit of an agent call where none is set.
const AGENT_LIMIT: Duration = Duration::from_secs(300);

/// The data of a case that all its trials share.
pub(crate) struct Plan<'a> {
    pub(crate) evals: &'a Evals,
    pub(crate) suite: &'static EvalSuite,
    pub(crate) entry: &'static EvalCase,
    pub(crate) settings: &'a Settings,
    pub(crate) run: &'a RunDirectory,
    pub(crate) suite_data: Arc<Suite>,
    pub(crate) case: Case,
    pub(crate) places: SuiteLocation,
    pub(crate) target: String,
    pub(crate) agent: ChosenAgent,
    pub(crate) agent_name: String,
    pub(crate) threshold: f64,
    pub(crate) limit: Duration,
    pub(crate) planned: u32,
    pub(crate) rule: Rule,
    pub(crate) case_key: String,
    pub(crate) place: CaseDirectory,
    pub(crate) directory: PathBuf,
    /// The case that made this one run.
    pub(crate) requested_by: Option<&'static str>,
    /// Results of the cases that this case depends on.
    pub(crate) dependencies: Arc<Dependencies>,
    /// Whether the results of all of them are those of earlier runs.
    pub(crate) dependencies_are_reused: bool,
    pub(crate) redactor: Redactor,
    pub(crate) digests: Digests,
    /// What the agent sees of the case.
    pub(crate) seen: AgentInput,
    /// Variables, `${{ NAME }}`, of the case and its target.
    pub(crate) variables: BTreeSet<String>,
    /// Whether variables of the case itself have to be looked for.
    pub(crate) has_variables: bool,
    /// Variables whose values are removed from everything that is written.
    pub(crate) secrets: Vec<String>,
    /// The earlier trials that are graded again, or why there are none.
    pub(crate) regraded: Option<Result<EarlierTrials, ReplayError>>,
}

/// SHA-256 of the parts of a case.
pub(crate) struct Digests {
    pub(crate) case: String,
    pub(crate) input: String,
    pub(crate) graders: String,
}

impl<'a> Plan<'a> {
    /// # Errors
    ///
    /// If the compiled suite cannot be decoded, a setting does not fit it, or its records cannot be written.
    pub(crate) fn new(
        evals: &'a Evals,
        entry: &'static EvalCase,
        settings: &'a Settings,
        run: &'a RunDirectory,
    ) -> Result<Self, CaseError> {
        let suite = evals.suite();
        let suite_data = suite.data().map_err(|source| CaseError::undecodable_suite(suite, source))?;
        let case = entry.decode().map_err(|source| CaseError::undecodable_case(entry, source))?;
        if let Some(selected) = &settings.targets {
            selected_targets::check(selected, evals, &suite_data)?;
        }
        let target = target(entry, &case, settings)?;
        let places = embedded_files::suite_location(suite, run, &case.dir)
            .map_err(|error| CaseError::Unusable(error.to_string()))?;
        let agent = ChosenAgent::of(&target, evals, &suite_data, settings, &places);
        let agent_name = suite.agent_name.map_or_else(|| agent.name(), str::to_owned);
        let written_limit = case.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let case_key = case_key(suite.name, &target, entry.id);
        let place = run
            .claim_case(&suite.key(), &case_key, &owner(suite, entry), settings.runner.stress.as_deref())
            .map_err(|source| CaseError::unwritable_case(entry, run.path(), source))?;
        let mut variables = BTreeSet::new();
        let has_variables = entry.may_have_variables();
        if has_variables {
            variables.extend(interpolation::variables(&case, suite_data.layout));
        }
        variables.extend(agent.variables());
        variables.extend(variables_around(&suite_data, &target, &case.location));
        let mut secrets: Vec<String> = case.requires.env.iter().chain(&variables).cloned().collect();
        secrets.extend(KEYS.map(str::to_owned));
        let seen = AgentInput::new(&case, &target, agent.command(), &places);
        let regraded = settings
            .regrade
            .as_deref()
            .map(|wanted| regrade::find_trials(run, wanted, suite, &case_key, &suite.test_path(entry)));
        let planned = match &regraded {
            Some(Ok(earlier)) => earlier.trials,
            _ => settings.trials.unwrap_or(case.trials.count),
        };
        Ok(Self {
            threshold: settings.threshold.or(case.threshold).unwrap_or_else(|| suite_data.layout.default_threshold()),
            limit: settings.timeout.or(written_limit).or_else(|| agent.limit()).unwrap_or(AGENT_LIMIT),
            planned: planned.max(1),
            rule: case_rule(suite_data.kind, case.trials.strategy),
            redactor: Redactor::of(secrets.iter().map(String::as_str)).and_values(settings.judge.secrets()),
            digests: Digests::of(entry, &case, &seen),
            places,
            agent,
            seen,
            variables,
            has_variables,
            secrets,
            regraded,
            directory: place.attempt(settings.runner.attempt),
            place,
            requested_by: None,
            dependencies: Arc::default(),
            dependencies_are_reused: true,
            evals,
            suite,
            entry,
            settings,
            run,
            suite_data,
            target,
            agent_name,
            case_key,
            case,
        })
    }

    /// The suite in the run.
    pub(crate) fn suite_run(&self) -> SuiteOfRun<'_> {
        SuiteOfRun {
            suite: self.suite,
            data: &self.suite_data,
            location: &self.places,
            run: self.run,
            redactor: &self.redactor,
            echo: self.settings.echo,
        }
    }

    /// The report of the case.
    pub(crate) fn report(&self, record: CaseRecord, trials: Vec<TrialRecord>) -> CaseReport {
        CaseReport::new(self.suite, self.entry, record, trials, self.directory.clone(), self.redactor.clone())
    }

    /// The error that the case's records cannot be written or read.
    pub(crate) fn unwritable(&self, error: io::Error) -> CaseError {
        CaseError::unwritable_case(self.entry, &self.directory, error)
    }

    /// Where the case's judges come from.
    pub(crate) fn judges(&self) -> JudgeChoice<'_> {
        let under_test = match &self.agent {
            ChosenAgent::Command(agent) => Some(agent.name.as_str()),
            // `default` is the target of cases without one: an entry of this name in the targets file may be unrelated.
            ChosenAgent::Rust(_) => Some(self.target.as_str()).filter(|target| *target != "default"),
            ChosenAgent::Unusable(_) => None,
        };
        let file = self.settings.targets_file.as_deref();
        let commands = self.evals.commands().map(|load| JudgeCommands { load, places: &self.places, file, under_test });
        JudgeChoice {
            judges: self.evals.judges(),
            options: &self.settings.judge,
            is_recorded: self.judges_are_recorded(),
            commands,
        }
    }

    /// Whether judges that are not configured reply from a recording: in a replay, and in a live run without a judge of a
    /// case that was recorded with one. There the agent is called, and its answer has to be the recorded one.
    pub(crate) fn judges_are_recorded(&self) -> bool {
        match self.settings.mode {
            Mode::Replay => true,
            Mode::Live => {
                let has_judge = self.settings.judge.names_one() || self.evals.judges().has_default();
                !has_judge
                    && requirements::needs_judge(&self.case, self.evals.registry())
                    && self.recording(0).is_ok_and(|path| path.is_file())
            }
            _ => false,
        }
    }

    /// The file of a trial's recording.
    ///
    /// # Errors
    ///
    /// If it would be inside the suite.
    pub(crate) fn recording(&self, trial: u32) -> Result<PathBuf, Reason> {
        cassette_path(self.suite, &self.case_key, trial, self.settings.cassettes.as_deref(), &self.places)
            .map_err(|error| Reason::new(Stage::Setup, ReasonCode::InvalidSetting, error.to_string()))
    }

    /// The accepted answer to the case, of its target.
    ///
    /// # Errors
    ///
    /// If the accepted answers of the suite cannot be read.
    pub(crate) fn accepted_answer(&self) -> io::Result<Option<String>> {
        let file = accepted_answers_file(&package_directory(self.suite), &self.suite.id());
        accepted_answer(&file, &self.case_record())
    }

    /// The record of the case before any of its trials. The records of trials start from it.
    pub(crate) fn case_record(&self) -> CaseRecord {
        let mut record = CaseRecord::new();
        record.run_id = self.run.run_id.clone();
        record.suite = self.suite.name.to_owned();
        record.module = self.suite.module_path.to_owned();
        record.suite_digest = self.suite_data.digest.clone();
        record.layout = self.suite_data.layout;
        record.kind = self.suite_data.kind;
        record.case_id = self.entry.id.to_owned();
        record.case_key = self.case_key.clone();
        record.case_digest = self.digests.case.clone();
        record.input_digest = self.digests.input.clone();
        record.grader_digest = self.digests.graders.clone();
        record.test_name = self.test_name();
        record.target = self.target.clone();
        record.agent = self.agent_name.clone();
        record.location = Location::new(self.entry.file, self.entry.line, self.entry.column);
        record.runner_attempt = self.settings.runner.attempt;
        record.requested_by = self.requested_by.map(str::to_owned);
        record.threshold = self.threshold;
        record
    }

    /// What the trials of the case are measured by.
    pub(crate) fn standard(&self) -> CaseStandard {
        let tolerated_errors = self.case.trials.errors;
        CaseStandard { rule: self.rule, threshold: self.threshold, tolerated_errors }
    }

    /// Number of trials of the suite that may run in parallel, if there is a limit.
    pub(crate) fn workers(&self) -> Option<u32> {
        self.settings.workers.or(self.suite_data.workers)
    }

    /// Path of the case's test, without the crate.
    pub(crate) fn test_name(&self) -> String {
        self.suite.test_path(self.entry)
    }

    /// The tags of the case.
    pub(crate) fn tags(&self) -> Vec<String> {
        self.entry.tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    /// The hooks of the case's target.
    pub(crate) fn target_hooks(&self) -> Option<&Hooks> {
        self.suite_data.targets.iter().find(|target| target.name == self.target).map(|target| &target.hooks)
    }

    /// What every hook of the case gets; `test_id` is the case's id, or a name in underscores for a hook around all cases.
    pub(crate) fn hook_facts(&self, workspace: &Path, test_id: &str) -> HookFacts {
        HookFacts {
            run_id: self.run.run_id.clone(),
            package_root: self.places.package_root.clone(),
            suite_dir: self.places.suite_dir.clone(),
            workspace: workspace.to_owned(),
            test_id: test_id.to_owned(),
            target: None,
            case: None,
            trial: None,
            result: None,
        }
    }

    /// The command line that runs the case's test again.
    pub(crate) fn rerun(&self) -> String {
        rerun::command(self.suite.package, &self.test_name())
    }

    /// Help for errors about a recording.
    pub(crate) fn how_to_record(&self) -> String {
        format!("to record it: `EVALSUITE_MODE=record {}`", self.rerun())
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

/// The test that runs a case: the test program and the test's path in it.
fn owner(suite: &EvalSuite, entry: &EvalCase) -> String {
    format!("{}\0{}\0{}", program(), suite.module_path, entry.test_name)
}

/// The target of the matrix entry, else of EVALSUITE_TARGET, else of the case, else `default`.
fn target(entry: &EvalCase, case: &Case, settings: &Settings) -> Result<String, CaseError> {
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

/// Names of the variables of the suite's workspace, and of the hooks of the suite and of a target.
fn variables_around(suite: &Suite, target: &str, location: &Location) -> BTreeSet<String> {
    let target = suite.targets.iter().find(|known| known.name == target);
    let of_target = target.map(|target| Workspace { hooks: target.hooks.clone(), ..Workspace::default() });
    let workspaces = suite.workspace.iter().cloned().chain(of_target);
    workspaces.flat_map(|workspace| interpolation::workspace_variables(&workspace, location)).collect()
}

impl Digests {
    fn of(entry: &EvalCase, case: &Case, seen: &AgentInput) -> Self {
        let CaseDigests { case, graders } = entry.json.digests().unwrap_or_else(|| CaseDigests::of(case));
        Self { case, input: seen.digest(), graders }
    }
}
