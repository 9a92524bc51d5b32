//! The data of a case that all its trials share, how it is made, and the report of its steps to the listeners of the run and to the file of
//! `EVALSUITE_PROGRESS`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use evalsuite_records::record::{CaseIdentity, CaseRecord, GraderRecord, Mode, Reason, TrialRecord};
use evalsuite_schema::digest::CaseDigests;
use evalsuite_schema::{Case, CliTarget, Hooks, Location, SealMode, Suite, Workspace};

use crate::agents::command::cli_agent::CliAgent;
use crate::grade::scoring::{CaseStandard, TrialScore, case_rule, score_trial};
use crate::judge::endpoint_settings::KEYS;
use crate::judge::judge_choice::JudgeChoice;
use crate::model::command::{CommandEnvironment, SealDefaults};
use crate::model::evals::Evals;
use crate::model::evidence::Dependencies;
use crate::model::interpolation;
use crate::model::progress::{ProgressEvent, ProgressStep};
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::{SuiteLocation, package_directory, program};
use crate::platform::digest::case_key;
use crate::platform::redaction::Redactor;
use crate::platform::{json, notice};
use crate::record::cassette::{AgentInput, CassetteFile, Placeholders, TrialCassette, cassette_path};
use crate::record::earlier_trials::EarlierTrials;
use crate::record::embedded_files;
use crate::record::run_directory::{CaseDirectory, RunDirectory};
use crate::run::case_report::{CaseError, CaseReport, decode_case, decode_suite};
use crate::run::selection::{self, ChosenAgent, DEFAULT_TARGET, check_targets, compares_with_baseline};
use crate::run::settings::Settings;

/// The data of a case that all its trials share.
pub(crate) struct Plan<'a> {
    pub(crate) evals: &'a Evals,
    pub(crate) settings: &'a Settings,
    pub(crate) run: &'a RunDirectory,
    pub(crate) suite: &'static EvalSuite,
    /// The data of the suite.
    pub(crate) data: Arc<Suite>,
    pub(crate) entry: &'static EvalCase,
    pub(crate) case: Case,
    pub(crate) places: SuiteLocation,
    /// What names the case in its records.
    pub(crate) identity: CaseIdentity,
    /// The agent under test.
    pub(crate) agent: ChosenAgent,
    /// How long a call of the agent may take.
    pub(crate) limit: Duration,
    /// What the agent sees of the case.
    pub(crate) seen: AgentInput,
    /// What the trials of the case are measured by.
    pub(crate) standard: CaseStandard,
    pub(crate) planned: u32,
    pub(crate) case_directory: CaseDirectory,
    /// Directory of the records of this attempt of the test runner.
    pub(crate) directory: PathBuf,
    /// Results of the cases that the case depends on.
    pub(crate) dependencies: Arc<Dependencies>,
    /// Whether all of them are results of earlier runs.
    pub(crate) reuses_dependencies: bool,
    /// Names of the variables of the case, its target, and the workspace and hooks around it.
    pub(crate) variables: BTreeSet<String>,
    /// Variables whose values are removed from everything that is written.
    pub(crate) secrets: Vec<String>,
    pub(crate) redactor: Redactor,
    /// The earlier trials that are graded again, or why there are none.
    pub(crate) regraded: Option<Result<EarlierTrials, Reason>>,
    /// The accepted answer to the case, of its target; without one, `Some(Ok(None))`. Only read if a grader compares with it.
    pub(crate) accepted_answer: Option<io::Result<Option<String>>>,
}

impl Plan<'_> {
    /// The report of the case.
    pub(crate) fn report(&self, record: CaseRecord, trials: Vec<TrialRecord>) -> CaseReport {
        CaseReport {
            suite: self.suite,
            case: self.entry,
            record,
            trials,
            directory: self.directory.clone(),
            redactor: self.redactor.clone(),
        }
    }

    /// The error that the case's records cannot be written or read.
    pub(crate) fn unwritable(&self, error: io::Error) -> CaseError {
        CaseError::unwritable(&format!("case `{}`", self.entry.id), &self.directory, error)
    }

    /// Where the case's judges come from.
    pub(crate) fn judges(&self) -> JudgeChoice {
        let under_test = match &self.agent {
            ChosenAgent::Command(agent) => Some(agent.name.clone()),
            // `default` is the target of cases without one: an entry of this name in the targets file may be unrelated.
            ChosenAgent::Rust(_) => Some(self.identity.target.clone()).filter(|target| target != "default"),
            ChosenAgent::Unusable(_) => None,
        };
        let (judges, load) = (self.evals.judges(), self.evals.commands());
        self.settings.judge_choice(judges, load, &self.places, under_test, self.judges_are_recorded())
    }

    /// Whether judges that are not configured reply from a recording: in a replay, and in a live run without a judge of a
    /// case that was recorded with one. There the agent is called, and its answer has to be the recorded one.
    pub(crate) fn judges_are_recorded(&self) -> bool {
        match self.settings.mode {
            Mode::Replay => true,
            Mode::Live => {
                !self.settings.has_judge(self.evals.judges())
                    && selection::needs_judge(&self.case, self.evals.registry())
                    && self.recording(0).is_ok_and(|path| path.is_file())
            }
            _ => false,
        }
    }

    /// The file of a trial's recording.
    pub(crate) fn recording(&self, trial: u32) -> Result<PathBuf, Reason> {
        cassette_path(self.suite, &self.identity.case_key, trial, self.settings.cassettes.as_deref(), &self.places)
    }

    /// The cassette of a trial with these directories, without an earlier recording.
    pub(crate) fn cassette(&self, trial: u32, directory: &Path, workspace: &Path) -> TrialCassette {
        let secrets = self.secrets.iter().map(String::as_str);
        let (suite, id, target) = (self.suite.name, self.entry.id, &self.identity.target);
        let about = CassetteFile::new(suite, id, target, self.seen.clone(), self.identity.input_digest.clone());
        let placeholders = Placeholders::of_trial(secrets, &self.redactor, &self.places, directory, workspace);
        TrialCassette::new(CassetteFile { trial, ..about }, placeholders)
    }

    /// The earlier trials that are graded again, if there are any.
    pub(crate) fn earlier_trials(&self) -> Option<&EarlierTrials> {
        self.regraded.as_ref()?.as_ref().ok()
    }

    /// Whether the agent sees the same as when the plan was made.
    pub(crate) fn sees_the_same(&self) -> bool {
        let now = agent_input(&self.case, &self.identity.target, &self.agent, &self.data, &self.places);
        now.digest() == self.identity.input_digest
    }

    /// Whether the agent is called, and no recording replaces it.
    pub(crate) fn calls_agent(&self) -> bool {
        matches!(self.settings.mode, Mode::Live | Mode::Record)
    }

    /// The environment of programs that are run for a trial. `case` has the values of its variables.
    pub(crate) fn command_environment(
        &self,
        case: &Case,
        trial: u32,
        directory: &Path,
        workspace: &Path,
    ) -> CommandEnvironment {
        let run_id = &self.run.run_id;
        let mut environment =
            CommandEnvironment::of_run(&self.places, run_id, &self.identity.target, self.settings.echo);
        environment.seals = self.seals();
        environment.of_trial(self.places.join(&case.dir), &case.id, trial, directory, workspace)
    }

    /// Which commands of the case are sealed.
    pub(crate) fn seals(&self) -> SealDefaults {
        self.settings.seals(self.data.sealed, &self.places, self.run.output())
    }

    /// The record of the case before any of its trials. The records of trials start from it.
    pub(crate) fn case_record(&self) -> CaseRecord {
        let mut record = CaseRecord::new();
        record.identity = self.identity.clone();
        record.module = self.suite.module_path.to_owned();
        record.threshold = self.standard.threshold;
        record.reference_arm = self.data.is_reference_arm(&self.identity.target);
        record
    }

    /// The score of a trial, or of a part of it, with these results.
    pub(crate) fn score(&self, graders: &[GraderRecord]) -> TrialScore {
        score_trial(self.data.layout, graders, self.standard.threshold)
    }

    /// The tags of the case.
    pub(crate) fn tags(&self) -> Vec<String> {
        self.entry.tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    /// Whether all planned trials run: also those that can no longer change the verdict, where targets are compared.
    pub(crate) fn runs_all_trials(&self) -> bool {
        self.settings.run_all || self.data.has_arms()
    }

    /// Number of trials of the suite that may run in parallel, if there is a limit.
    pub(crate) fn workers(&self) -> Option<u32> {
        self.settings.workers.or(self.data.workers)
    }

    /// The hooks of the case's target.
    pub(crate) fn target_hooks(&self) -> Option<&Hooks> {
        self.data.target(&self.identity.target).map(|target| &target.hooks)
    }

    /// The command line that runs the case's test again.
    pub(crate) fn rerun(&self) -> String {
        selection::command(self.suite.package, &self.identity.test_name)
    }

    /// Help for errors about a recording.
    pub(crate) fn how_to_record(&self) -> String {
        format!("to record it: `EVALSUITE_MODE=record {}`", self.rerun())
    }
}

impl Plan<'_> {
    /// Reports a step of the case.
    pub(crate) fn report_progress(&self, step: impl FnOnce() -> ProgressStep) {
        let file = self.settings.progress_file.as_deref();
        if self.settings.progress.is_empty() && file.is_none() {
            return;
        }
        let event = ProgressEvent {
            suite: self.suite.name.to_owned(),
            package: self.suite.package.to_owned(),
            module: self.suite.module_path.to_owned(),
            test_name: self.identity.test_name.clone(),
            case_id: self.entry.id.to_owned(),
            target: self.identity.target.clone(),
            trials: self.planned,
            step: step(),
        };
        self.settings.progress.report(&event);
        if let Some(file) = file
            && let Err(error) = append(file, &event)
        {
            static REPORTED: Once = Once::new();
            let path = file.display();
            REPORTED.call_once(|| notice::say(&format!("EVALSUITE_PROGRESS: {path} cannot be written: {error}")));
        }
    }

    /// Reports that a grader of a trial has ended.
    pub(crate) fn report_grader(&self, trial: u32, grader: &GraderRecord) {
        self.report_progress(|| ProgressStep::GraderFinished {
            trial,
            grader: self.redactor.apply(&grader.name).into_owned(),
            verdict: grader.verdict,
            value: grader.value,
        });
    }

    /// Reports that the case has ended. `is_cost_partial`: the cost is a lower bound.
    pub(crate) fn report_case_end(&self, record: &CaseRecord, cost_usd: Option<f64>, is_cost_partial: bool) {
        self.report_progress(|| ProgressStep::CaseFinished {
            outcome: record.outcome,
            score: record.score,
            cost_usd,
            is_cost_partial,
            reason: record.reason.as_ref().map(|reason| self.redactor.apply(&reason.message).into_owned()),
        });
    }
}

/// Appends a line in one write: lines of several processes do not mix.
fn append(path: &Path, event: &ProgressEvent) -> io::Result<()> {
    let line = json::compact(event, None)? + "\n";
    File::options().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// Limit of an agent call where none is set.
const AGENT_LIMIT: Duration = Duration::from_secs(300);

impl<'a> Plan<'a> {
    pub(crate) fn new(
        evals: &'a Evals,
        entry: &'static EvalCase,
        settings: &'a Settings,
        run: &'a RunDirectory,
    ) -> Result<Self, CaseError> {
        let suite = evals.suite();
        let data = decode_suite(suite)?;
        let mut case = decode_case(entry)?;
        if let Some(selected) = &settings.targets {
            check_targets(selected, evals, &data)?;
        }
        let places = embedded_files::suite_location(suite, run, &case.dir).map_err(CaseError::unusable)?;

        let digests = entry.json.digests().unwrap_or_else(|| CaseDigests::of(&case));
        // A skill is put into a workspace, and the other targets work in the same one without it.
        if data.targets.iter().any(|target| !target.skill.is_empty()) {
            case.workspace.get_or_insert_default();
        }
        let target = target(entry, &case, settings)?;
        let agent = ChosenAgent::of(&target, evals, &data, settings, &places);
        let written_limit = case.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = settings.timeout.or(written_limit).or_else(|| agent.command()?.limit()).unwrap_or(AGENT_LIMIT);
        let seen = agent_input(&case, &target, &agent, &data, &places);

        let case_key = case_key(suite.name, &target, entry.id);
        // The test that runs a case: the test program and the test's path in it.
        let owner = format!("{}\0{}\0{}", program(), suite.module_path, entry.test_name);
        let case_directory = run
            .claim_case(&suite.key(), &case_key, &owner, settings.runner.stress.as_deref())
            .map_err(|error| CaseError::unwritable(&format!("case `{}`", entry.id), run.path(), error))?;

        let variables = variables(entry, &case, &data, &target, &agent);
        let secrets: Vec<String> =
            case.requires.env.iter().chain(&variables).cloned().chain(KEYS.map(str::to_owned)).collect();
        let mut plan = Self {
            standard: CaseStandard {
                rule: case_rule(data.kind, case.trials.strategy),
                threshold: settings.threshold.or(case.threshold).unwrap_or_else(|| data.layout.default_threshold()),
                tolerated_errors: case.trials.errors,
            },
            planned: settings.trials.unwrap_or(case.trials.count).max(1),
            identity: CaseIdentity {
                run_id: run.run_id.clone(),
                suite: suite.name.to_owned(),
                suite_digest: data.digest.clone(),
                layout: data.layout,
                kind: data.kind,
                case_id: entry.id.to_owned(),
                case_key,
                case_digest: digests.case,
                input_digest: seen.digest(),
                grader_digest: digests.graders,
                test_name: suite.test_path(entry),
                target,
                agent: suite.agent_name.map_or_else(|| agent.name(), str::to_owned),
                location: Location::new(entry.file, entry.line, entry.column),
                runner_attempt: settings.runner.attempt,
                requested_by: None,
            },
            directory: case_directory.attempt(settings.runner.attempt),
            dependencies: Arc::default(),
            reuses_dependencies: true,
            redactor: Redactor::of(secrets.iter().map(String::as_str)).and_values(settings.judge.secrets()),
            evals,
            settings,
            run,
            suite,
            data,
            entry,
            case,
            places,
            agent,
            limit,
            seen,
            case_directory,
            variables,
            secrets,
            regraded: None,
            accepted_answer: None,
        };
        plan.accepted_answer = compares_with_baseline(&plan.case).then(|| {
            evalsuite_records::baseline::accepted_answer(&package_directory(suite), &suite.id(), &plan.identity)
        });
        Ok(plan)
    }
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

/// Names of the variables of a case, its target, the suite's workspace, and the hooks of the suite and of the target.
fn variables(entry: &EvalCase, case: &Case, data: &Suite, target: &str, agent: &ChosenAgent) -> BTreeSet<String> {
    let of_target = data.targets.iter().find(|known| known.name == target);
    let of_target = of_target.map(|target| Workspace { hooks: target.hooks.clone(), ..Workspace::default() });
    let workspaces = data.workspace.iter().cloned().chain(of_target);
    let mut names: BTreeSet<String> =
        workspaces.flat_map(|workspace| interpolation::workspace_variables(&workspace, &case.location)).collect();
    if entry.may_have_variables() {
        names.extend(interpolation::variables(case, data.layout));
    }
    names.extend(agent.command().into_iter().flat_map(CliAgent::variables));
    names
}

/// What the agent of a case sees, with the files as they are now.
fn agent_input(case: &Case, target: &str, agent: &ChosenAgent, data: &Suite, places: &SuiteLocation) -> AgentInput {
    let of_target = data.target(target);
    let command = agent.command().map(|agent| with_default_seal(&agent.target, data.sealed));
    AgentInput::new(case, target, command.as_ref(), places)
        .with_acp(agent.command().and_then(|agent| agent.acp.as_deref()))
        .with_target_hooks(of_target.map(|target| &target.hooks), case, places)
        .with_target_skill(of_target.map(|target| target.skill.as_slice()).unwrap_or_default(), places)
}

/// The command with the default of its suite, which an outcome depends on as on the command.
fn with_default_seal(target: &CliTarget, suite: Option<SealMode>) -> CliTarget {
    let mut target = target.clone();
    target.sealing.sealed = target.sealing.sealed.or(suite);
    target
}
