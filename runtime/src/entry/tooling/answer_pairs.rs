//! Judging which answers are better, without a test program: `cargo evalsuite diff --judge`.

use std::path::PathBuf;

use evalsuite_records::record::{AnswerPair, Mode, PairRecord};

use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::run_options::RunOptions;
use crate::entry::tooling::pair_judging::PairJudging;
use crate::judge::judge_choice::NoJudge;
use crate::judge::judge_options::KEYS;
use crate::model::judge::{BoundJudge, Judges};
use crate::model::suite_location::SuiteLocation;
use crate::platform::map_on_threads::map_on_threads;
use crate::platform::redaction::Redactor;
use crate::run::settings::Settings;

/// Answers of two runs that a judge compares, pair by pair.
///
/// A judge is asked twice about each pair, with each of the answers first. An answer wins if it is better both times. Of several
/// judges, the majority decides.
#[derive(Debug, Clone, Default)]
pub struct AnswerPairs {
    /// The pairs.
    pub pairs: Vec<AnswerPair>,
    /// The package, in which a targets.yaml may name commands that judge.
    pub package_root: PathBuf,
    /// A run directory. Prompts and replies are written to files in `pairwise/BASE` of it.
    pub run: PathBuf,
    /// Id of the other run.
    pub base: String,
    /// The command that asks again, for messages.
    pub repeat: String,
    /// The judge that is asked if the environment names none.
    pub judge: Option<BoundJudge>,
    /// Name of a command in the targets file that is asked regardless of the environment.
    pub judge_name: Option<String>,
    /// Names of the commands in the targets file that are asked if no judge is set and the environment names none: the judges that
    /// a run recorded. A replay needs none.
    pub judges_of_run: Vec<String>,
}

impl AnswerPairs {
    /// Asks about all pairs, some at the same time; the records have the order of the pairs. Limits, retries and recordings are those of
    /// graders that ask a judge. Of the options, mode, cassettes and workers are used.
    ///
    /// A judge that fails or cannot decide is not an error: see [`PairRecord::error`].
    ///
    /// # Errors
    ///
    /// If there is no judge, if an option or variable is invalid, or if the directory cannot be written.
    pub fn judge(&self, options: &RunOptions) -> Result<Vec<PairRecord>, RunError> {
        let mut settings = options.apply(Settings::from_environment()?)?;
        if let Some(name) = &self.judge_name {
            settings.judge.targets = Some(vec![name.clone()]);
        }
        let is_named = settings.judge.names_one() || self.judge.is_some();
        let is_of_run = !is_named && !self.judges_of_run.is_empty() && settings.judge_mode() != Mode::Replay;
        if is_of_run {
            settings.judge.targets = Some(self.judges_of_run.clone());
        }
        let places = SuiteLocation { package_root: self.package_root.clone(), suite_dir: self.package_root.clone() };
        let judging = PairJudging {
            settings: &settings,
            judges: &Judges { default: self.judge.clone(), ..Judges::default() },
            places: &places,
            run: &self.run,
            base: &self.base,
            repeat: &self.repeat,
            redactor: Redactor::of(KEYS).and_values(settings.judge.secrets()),
        };
        let Some(first) = self.pairs.first() else { return Ok(Vec::new()) };
        let unwritable = |error| {
            let message = format!("cannot write to {}", self.run.display());
            RunError::records(message).with_source(error)
        };
        let no_judge = |error: NoJudge| {
            let help = "help: a record has only the name of its judge; set EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, \
                        or name a command of targets.yaml";
            let message = if is_of_run {
                format!("the judge of the run cannot be asked again: {error}\n{help}")
            } else {
                error.to_string()
            };
            RunError::new(RunErrorKind::NothingToMeasure, message)
        };
        judging.check(first).map_err(unwritable)?.map_err(no_judge)?;
        let records = map_on_threads(&self.pairs, settings.workers, |pair| judging.judge(pair));
        let unhidden = |error| RunError::records("secrets cannot be removed from the replies").with_source(error);
        judging.redactor.redacted(records).map_err(unhidden)
    }
}
