//! The data of a case that all its trials share, and the report of its steps to the listeners of the run and to the file of
//! `EVALSUITE_PROGRESS`.

mod new_plan;
pub(crate) mod regrade;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use evalsuite_records::record::{CaseIdentity, CaseRecord, GraderRecord, Mode, Reason, TrialRecord};
use evalsuite_schema::{Case, Hooks, Suite};

use crate::grade::scoring::{CaseStandard, TrialScore, score_trial};
use crate::judge::judge_choice::JudgeChoice;
use crate::model::command::{CommandEnvironment, SealDefaults};
use crate::model::evals::Evals;
use crate::model::evidence::Dependencies;
use crate::model::progress::{ProgressEvent, ProgressStep};
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::SuiteLocation;
use crate::platform::redaction::Redactor;
use crate::platform::{json, notice};
use crate::record::cassette::{AgentInput, CassetteFile, CassetteOptions, Placeholders, cassette_path};
use crate::record::run_directory::{CaseDirectory, RunDirectory};
use crate::run::case_report::{CaseError, CaseReport};
use crate::run::plan::regrade::EarlierTrials;
use crate::run::selection;
use crate::run::selection::ChosenAgent;
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

    /// The options to open the recording of a trial with these directories, without the path of the recording.
    pub(crate) fn cassette_options(&self, trial: u32, directory: &Path, workspace: &Path) -> CassetteOptions {
        let secrets = self.secrets.iter().map(String::as_str);
        let (suite, id, target) = (self.suite.name, self.entry.id, &self.identity.target);
        let about = CassetteFile::new(suite, id, target, self.seen.clone(), self.identity.input_digest.clone());
        CassetteOptions {
            mode: self.settings.mode,
            path: None,
            placeholders: Placeholders::of_trial(secrets, &self.redactor, &self.places, directory, workspace),
            about: CassetteFile { trial, ..about },
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

    /// Reports that the case has ended.
    pub(crate) fn report_case_end(&self, record: &CaseRecord, cost_usd: Option<f64>) {
        self.report_progress(|| ProgressStep::CaseFinished {
            outcome: record.outcome,
            score: record.score,
            cost_usd,
            reason: record.reason.as_ref().map(|reason| self.redactor.apply(&reason.message).into_owned()),
        });
    }
}

/// Appends a line in one write: lines of several processes do not mix.
fn append(path: &Path, event: &ProgressEvent) -> io::Result<()> {
    let line = json::compact(event, None)? + "\n";
    File::options().create(true).append(true).open(path)?.write_all(line.as_bytes())
}
