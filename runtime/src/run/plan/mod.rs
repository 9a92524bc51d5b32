//! The data of a case that all its trials share.

mod case_parts;
mod progress;
pub(crate) mod regrade;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_records::record::{CaseRecord, Mode, Reason, TrialRecord};
use evalsuite_schema::{Case, Hooks, Location};

use crate::grade::scoring::CaseStandard;
use crate::judge::judge_choice::{JudgeChoice, JudgeCommands};
use crate::model::command::{CommandEnvironment, Site};
use crate::model::dependency::Dependencies;
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::model::suite_location::package_directory;
use crate::platform::redaction::Redactor;
use crate::record::baseline::{accepted_answer, accepted_answers_file};
use crate::record::cassette::{AgentInput, CassetteOptions, Placeholders, RecordedTrial, cassette_path};
use crate::record::run_directory::RunDirectory;
use crate::record::run_record::SuiteOfRun;
use crate::run::case_error::CaseError;
use crate::run::case_report::CaseReport;
use crate::run::hooks::HookFacts;
use crate::run::plan::case_parts::{CaseRecords, CaseSource, CaseVariables, TestedAgent};
use crate::run::plan::regrade::EarlierTrials;
use crate::run::selection::chosen_agent::ChosenAgent;
use crate::run::selection::{requirements, rerun};
use crate::run::settings::Settings;

/// The data of a case that all its trials share, each part from the phase that makes it.
pub(crate) struct Plan<'a> {
    pub(crate) evals: &'a Evals,
    pub(crate) settings: &'a Settings,
    pub(crate) run: &'a RunDirectory,
    pub(crate) source: CaseSource,
    pub(crate) tested: TestedAgent,
    /// What the trials of the case are measured by.
    pub(crate) standard: CaseStandard,
    pub(crate) planned: u32,
    pub(crate) records: CaseRecords,
    pub(crate) dependencies: DependencyResults,
    pub(crate) variables: CaseVariables,
    pub(crate) redactor: Redactor,
    /// What the agent sees of the case.
    pub(crate) seen: AgentInput,
    /// The earlier trials that are graded again, or why there are none.
    pub(crate) regraded: Option<Result<EarlierTrials, Reason>>,
}

/// Results of the cases that a case depends on.
pub(crate) struct DependencyResults {
    pub(crate) results: Arc<Dependencies>,
    /// Whether all of them are results of earlier runs.
    pub(crate) are_reused: bool,
    /// The case that made this one run.
    pub(crate) requested_by: Option<&'static str>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(
        evals: &'a Evals,
        entry: &'static EvalCase,
        settings: &'a Settings,
        run: &'a RunDirectory,
    ) -> Result<Self, CaseError> {
        let source = CaseSource::decode(evals, entry, settings, run)?;
        let tested = TestedAgent::of(&source, evals, settings)?;
        let command = tested.agent.command().map(|agent| &agent.target);
        let seen = AgentInput::new(&source.case, &tested.target, command, &source.places);
        let records = CaseRecords::claim(&source, &tested.target, &seen, &settings.runner, run)?;
        let variables = CaseVariables::of(&source, &tested);
        let regraded = settings.regrade.as_deref().map(|wanted| {
            regrade::find_trials(run, wanted, source.suite, &records.case_key, &source.suite.test_path(entry))
        });
        let planned = match &regraded {
            Some(Ok(earlier)) => earlier.trials,
            _ => settings.trials.unwrap_or(source.case.trials.count),
        };
        Ok(Self {
            standard: source.standard(settings.threshold),
            planned: planned.max(1),
            redactor: Redactor::of(variables.secrets.iter().map(String::as_str)).and_values(settings.judge.secrets()),
            dependencies: DependencyResults { results: Arc::default(), are_reused: true, requested_by: None },
            evals,
            settings,
            run,
            source,
            tested,
            records,
            variables,
            seen,
            regraded,
        })
    }

    /// The suite in the run.
    pub(crate) fn suite_run(&self) -> SuiteOfRun<'_> {
        SuiteOfRun {
            suite: self.source.suite,
            data: &self.source.data,
            location: &self.source.places,
            run: self.run,
            redactor: &self.redactor,
            echo: self.settings.echo,
        }
    }

    /// The report of the case.
    pub(crate) fn report(&self, record: CaseRecord, trials: Vec<TrialRecord>) -> CaseReport {
        CaseReport {
            suite: self.source.suite,
            case: self.source.entry,
            record,
            trials,
            directory: self.records.directory.clone(),
            redactor: self.redactor.clone(),
        }
    }

    /// The error that the case's records cannot be written or read.
    pub(crate) fn unwritable(&self, error: io::Error) -> CaseError {
        CaseError::unwritable(&format!("case `{}`", self.source.entry.id), &self.records.directory, error)
    }

    /// Where the case's judges come from.
    pub(crate) fn judges(&self) -> JudgeChoice {
        let under_test = match &self.tested.agent {
            ChosenAgent::Command(agent) => Some(agent.name.clone()),
            // `default` is the target of cases without one: an entry of this name in the targets file may be unrelated.
            ChosenAgent::Rust(_) => Some(self.tested.target.clone()).filter(|target| target != "default"),
            ChosenAgent::Unusable(_) => None,
        };
        let (places, file) = (self.source.places.clone(), self.settings.targets_file.clone());
        let commands = self.evals.commands().map(|load| JudgeCommands { load, places, file, under_test });
        JudgeChoice {
            judges: self.evals.judges().clone(),
            options: self.settings.judge.clone(),
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
                    && requirements::needs_judge(&self.source.case, self.evals.registry())
                    && self.recording(0).is_ok_and(|path| path.is_file())
            }
            _ => false,
        }
    }

    /// The file of a trial's recording.
    pub(crate) fn recording(&self, trial: u32) -> Result<PathBuf, Reason> {
        let CaseSource { suite, places, .. } = &self.source;
        cassette_path(suite, &self.records.case_key, trial, self.settings.cassettes.as_deref(), places)
    }

    /// The options to open the recording of a trial with these directories, without the path of the recording.
    pub(crate) fn cassette_options(&self, trial: u32, directory: &Path, workspace: &Path) -> CassetteOptions {
        let secrets = self.variables.secrets.iter().map(String::as_str);
        CassetteOptions {
            mode: self.settings.mode,
            path: None,
            placeholders: Placeholders::of_trial(secrets, &self.redactor, &self.source.places, directory, workspace),
            about: RecordedTrial {
                suite: self.source.suite.name.to_owned(),
                case_id: self.source.entry.id.to_owned(),
                target: self.tested.target.clone(),
                trial,
                seen: self.seen.clone(),
                input_digest: self.records.input_digest.clone(),
            },
            hint: self.how_to_record(),
            has_agent: true,
        }
    }

    /// The environment of programs that are run for a trial. `case` has the values of its variables.
    pub(crate) fn command_environment(
        &self,
        case: &Case,
        trial: u32,
        directory: &Path,
        workspace: &Path,
    ) -> CommandEnvironment {
        CommandEnvironment::of(&Site {
            places: &self.source.places,
            run_id: &self.run.run_id,
            case,
            target: &self.tested.target,
            trial,
            echo: self.settings.echo,
            directory,
            workspace,
        })
    }

    /// The accepted answer to the case, of its target.
    pub(crate) fn accepted_answer(&self) -> io::Result<Option<String>> {
        let file = accepted_answers_file(&package_directory(self.source.suite), &self.source.suite.id());
        accepted_answer(&file, &self.case_record())
    }

    /// The record of the case before any of its trials. The records of trials start from it.
    pub(crate) fn case_record(&self) -> CaseRecord {
        let mut record = CaseRecord::new();
        record.run_id = self.run.run_id.clone();
        record.suite = self.source.suite.name.to_owned();
        record.module = self.source.suite.module_path.to_owned();
        record.suite_digest = self.source.data.digest.clone();
        record.layout = self.source.data.layout;
        record.kind = self.source.data.kind;
        record.case_id = self.source.entry.id.to_owned();
        record.case_key = self.records.case_key.clone();
        record.case_digest = self.records.digests.case.clone();
        record.input_digest = self.records.input_digest.clone();
        record.grader_digest = self.records.digests.graders.clone();
        record.test_name = self.source.test_name();
        record.target = self.tested.target.clone();
        record.agent = self.tested.agent_name.clone();
        record.location = Location::new(self.source.entry.file, self.source.entry.line, self.source.entry.column);
        record.runner_attempt = self.settings.runner.attempt;
        record.requested_by = self.dependencies.requested_by.map(str::to_owned);
        record.threshold = self.standard.threshold;
        record
    }

    /// Number of trials of the suite that may run in parallel, if there is a limit.
    pub(crate) fn workers(&self) -> Option<u32> {
        self.settings.workers.or(self.source.data.workers)
    }

    /// The hooks of the case's target.
    pub(crate) fn target_hooks(&self) -> Option<&Hooks> {
        self.source.data.targets.iter().find(|target| target.name == self.tested.target).map(|target| &target.hooks)
    }

    /// What every hook of the case gets; `test_id` is the case's id, or a name in underscores for a hook around all cases.
    pub(crate) fn hook_facts(&self, workspace: &Path, test_id: &str) -> HookFacts {
        HookFacts {
            run_id: self.run.run_id.clone(),
            package_root: self.source.places.package_root.clone(),
            suite_dir: self.source.places.suite_dir.clone(),
            workspace: workspace.to_owned(),
            test_id: test_id.to_owned(),
            ..HookFacts::default()
        }
    }

    /// The command line that runs the case's test again.
    pub(crate) fn rerun(&self) -> String {
        rerun::command(self.source.suite.package, &self.source.test_name())
    }

    /// Help for errors about a recording.
    pub(crate) fn how_to_record(&self) -> String {
        format!("to record it: `EVALSUITE_MODE=record {}`", self.rerun())
    }
}
