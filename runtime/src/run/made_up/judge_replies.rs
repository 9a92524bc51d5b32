//! Where the replies of judges to made-up results come from.

use std::path::PathBuf;

use evalsuite_records::record::{Mode, Reason};

use crate::model::answer_files::AnswerFiles;
use crate::platform::digest::file_key;
use crate::record::cassette::{CassetteOptions, TrialCassette, cassette_path};
use crate::run::case_error::CaseError;
use crate::run::made_up::made_up_suite::MadeUpSuite;
use crate::run::plan::Plan;

/// Name of the directory with the recordings of examples, which no case has.
const EXAMPLES: &str = "examples";

/// Where the replies of judges come from.
pub(crate) struct JudgeReplies {
    pub(crate) cassette: TrialCassette,
    /// Whether judges are asked.
    pub(crate) are_asked: bool,
    /// Whether the recording replaces judges that are not asked.
    pub(crate) is_recorded: bool,
}

impl JudgeReplies {
    /// Judges are asked if the suite allows it; otherwise they reply from the recording of the case's first trial, if there is one.
    pub(super) fn of_trials(suite: &MadeUpSuite, plan: &Plan<'_>, files: &AnswerFiles) -> Result<Self, CaseError> {
        if suite.allowed.judges {
            return Ok(Self::asked(TrialCassette::none()));
        }
        Self::recorded(plan.recording(0)?, Mode::Live, plan, files)
    }

    /// As [`of_trials`](Self::of_trials), with the recording of the case's examples: that is made or replayed if the settings say so, and
    /// replayed where there is no judge.
    pub(super) fn of_examples(suite: &MadeUpSuite, plan: &Plan<'_>, files: &AnswerFiles) -> Result<Self, CaseError> {
        let recording = recording_of_examples(plan)?;
        let is_asked = suite.allowed.judges && (suite.settings.has_judge(suite.evals.judges()) || !recording.is_file());
        match suite.mode_of_examples {
            Mode::Record => Ok(Self::asked(open(recording, Mode::Record, plan, files)?)),
            Mode::Live if is_asked => Ok(Self::asked(TrialCassette::none())),
            mode => Self::recorded(recording, mode, plan, files),
        }
    }

    fn asked(cassette: TrialCassette) -> Self {
        Self { cassette, are_asked: true, is_recorded: false }
    }

    fn recorded(recording: PathBuf, mode: Mode, plan: &Plan<'_>, files: &AnswerFiles) -> Result<Self, CaseError> {
        if !recording.is_file() {
            return Ok(Self { cassette: TrialCassette::none(), are_asked: false, is_recorded: false });
        }
        Ok(Self { cassette: open(recording, mode, plan, files)?, are_asked: false, is_recorded: true })
    }
}

fn recording_of_examples(plan: &Plan<'_>) -> Result<PathBuf, Reason> {
    let key = format!("{EXAMPLES}/{}", file_key(&plan.case_key));
    let settings = plan.settings.cassettes.as_deref();
    cassette_path(plan.suite, &key, 0, settings, &plan.places)
}

fn open(path: PathBuf, mode: Mode, plan: &Plan<'_>, files: &AnswerFiles) -> Result<TrialCassette, CaseError> {
    let options = plan.cassette_options(0, &files.trial, &files.workspace);
    Ok(TrialCassette::open(CassetteOptions { mode, path: Some(path), has_agent: false, ..options })?)
}
