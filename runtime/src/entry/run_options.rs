//! The options of a run.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use evalsuite_records::record::Mode;

use crate::entry::run_error::RunError;
use crate::model::evals::Evals;
use crate::model::progress::{ProgressEvent, ProgressListeners};
use crate::model::suite::EvalCase;
use crate::platform::accessors::setters;
use crate::run::settings::Settings;

/// Options of [`Evals::run`]. An option that is not set defaults to its `EVALSUITE_*` variable.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use evalsuite::{RunOptions, record::Mode};
///
/// let options = RunOptions::new()
///     .with_tag("smoke")
///     .with_trials(NonZeroUsize::new(3).expect("3 is not 0"))
///     .with_budget_usd(0.50)
///     .with_mode(Mode::Live);
/// assert_ne!(options, RunOptions::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct RunOptions {
    pub(crate) concurrency: Option<NonZeroUsize>,
    filter: Option<String>,
    tags: Vec<String>,
    trials: Option<NonZeroUsize>,
    threshold: Option<f64>,
    run_all: Option<bool>,
    confirm: Option<u32>,
    retries: Option<u32>,
    budget_usd: Option<f64>,
    output: Option<PathBuf>,
    run_id: Option<String>,
    mode: Option<Mode>,
    regrade: Option<String>,
    cassettes: Option<PathBuf>,
    workers: Option<NonZeroUsize>,
    agent_digest: Option<String>,
    only_changed: Option<bool>,
    progress: ProgressListeners,
}

impl RunOptions {
    /// Options of which none is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs only cases with this tag. After several calls, a case needs at least one of the tags.
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// The largest number of trials that repeat such a case, from this option or `EVALSUITE_CONFIRM`. For
    /// `cargo evalsuite`.
    ///
    /// # Errors
    ///
    /// If a variable of evalsuite or an option is invalid.
    #[doc(hidden)]
    pub fn confirming_trials(&self) -> Result<u32, RunError> {
        Ok(self.apply(Settings::from_environment()?)?.confirm)
    }

    /// Calls a function with every step of the run: cases, trials and graders, with scores and cost so far. May be called
    /// several times.
    ///
    /// The function is called on the threads that run the cases, from several of them at the same time, and they wait for it.
    ///
    /// ```
    /// use evalsuite::{ProgressStep, RunOptions};
    ///
    /// let options = RunOptions::new().with_progress(|event| match &event.step {
    ///     ProgressStep::TrialFinished { finished, mean_score, .. } => {
    ///         println!("{}: {finished}/{} trials, score {mean_score:?}", event.case_id, event.trials);
    ///     }
    ///     ProgressStep::CaseFinished { .. } => println!("{event}"),
    ///     _ => {}
    /// });
    /// ```
    pub fn with_progress(mut self, listener: impl Fn(&ProgressEvent) + Send + Sync + 'static) -> Self {
        self.progress.add(listener);
        self
    }

    pub(crate) fn selects(&self, evals: &Evals, case: &EvalCase) -> bool {
        let named = self.filter.as_ref().is_none_or(|text| {
            case.id.contains(text.as_str()) || evals.suite().test_path(case).contains(text.as_str())
        });
        named && (self.tags.is_empty() || case.tags.iter().any(|tag| self.tags.iter().any(|wanted| wanted == tag)))
    }

    /// The settings of the environment, overridden by these options.
    pub(crate) fn apply(&self, settings: &Settings) -> Result<Settings, RunError> {
        let mut settings = settings.clone();
        settings.trials = at_most(1000, self.trials.map(NonZeroUsize::get), "trials")?.or(settings.trials);
        if let Some(threshold) = self.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return Err(RunError::setting(format!("the threshold {threshold} is not a number from 0 to 1")));
        }
        settings.threshold = self.threshold.or(settings.threshold);
        settings.retries = at_most(10, self.retries, "retries")?.unwrap_or(settings.retries);
        settings.confirm = at_most(100, self.confirm, "trials that repeat a case")?.unwrap_or(settings.confirm);
        if let Some(budget) = self.budget_usd.filter(|budget| !(*budget > 0.0 && budget.is_finite())) {
            return Err(RunError::setting(format!("the budget {budget} is not a number above 0")));
        }
        settings.budget_usd = self.budget_usd.or(settings.budget_usd);
        settings.workers = at_most(1000, self.workers.map(NonZeroUsize::get), "workers")?.or(settings.workers);
        settings.progress.extend(&self.progress);
        settings.agent_digest = self.agent_digest.clone().or(settings.agent_digest);
        settings.only_changed = self.only_changed.unwrap_or(settings.only_changed);
        if settings.only_changed && settings.agent_digest.is_none() {
            return Err(RunError::setting("without a digest of the agent, a change of the agent cannot be detected"));
        }
        settings.run_all = self.run_all.unwrap_or(settings.run_all);
        if let Some(output) = &self.output {
            settings.output = Some(std::path::absolute(output).unwrap_or_else(|_| output.clone()));
        }
        settings.run_id = self.run_id.clone().or(settings.run_id);
        settings.cassettes = self.cassettes.clone().or(settings.cassettes);
        if let Some(mode) = self.mode {
            settings.mode = mode;
            settings.regrade = (mode == Mode::Regrade).then(|| settings.regrade.unwrap_or_else(|| "latest".to_owned()));
        }
        if let Some(run) = &self.regrade {
            if matches!(self.mode, Some(mode) if mode != Mode::Regrade) {
                return Err(RunError::setting(format!(
                    "the options have both run `{run}` to grade again and another mode; set only one of them"
                )));
            }
            (settings.mode, settings.regrade) = (Mode::Regrade, Some(run.clone()));
        }
        // The command line runs generated tests: a run within the agent of one of them would wait for the end of its trial.
        settings.model_calls = None;
        Ok(settings)
    }
}

/// The number that an option sets, if it is not too large.
fn at_most<N: Copy + Display + TryInto<u32>>(
    most: u32,
    option: Option<N>,
    what: &str,
) -> Result<Option<u32>, RunError> {
    let check = |number: N| match number.try_into() {
        Ok(count) if count <= most => Ok(count),
        _ => Err(RunError::setting(format!("{number} {what} are more than {most}"))),
    };
    option.map(check).transpose()
}

setters! {
    impl RunOptions {
        /// Sets the largest number of cases that run in parallel. The default is the number of processors.
        pub fn with_concurrency(cases: NonZeroUsize) { concurrency = Some(cases) }

        /// Runs only cases whose id or test name contains this text.
        pub fn with_filter(text: impl Into<String>) { filter = Some(text.into()) }

        /// Sets the number of trials of every case, at most 1000. In a suite of kind `capability`, one passed trial passes the case: more
        /// trials make it easier.
        pub fn with_trials(trials: NonZeroUsize) { trials = Some(trials) }

        /// Sets the threshold of every trial, 0 to 1.
        pub fn with_threshold(threshold: f64) { threshold = Some(threshold) }

        /// Sets whether the remaining trials of a case run when its outcome is already decided.
        pub fn with_run_all(run_all: bool) { run_all = Some(run_all) }

        /// Sets the largest number of trials that repeat a case that fails and passed in its baseline, 0 to 100.
        pub fn with_confirm(trials: u32) { confirm = Some(trials) }

        /// Sets how often a trial is repeated after an error of its agent, a grader or its workspace, 0 to 10.
        pub fn with_retries(retries: u32) { retries = Some(retries) }

        /// Sets the budget of the run in US dollars, above 0. Once the run has spent it, no further trial starts.
        pub fn with_budget_usd(budget: f64) { budget_usd = Some(budget) }

        /// Sets the directory below which run directories are written, relative to the current directory.
        pub fn with_output(directory: impl Into<PathBuf>) { output = Some(directory.into()) }

        /// Sets the id of the run. The default is a new one.
        pub fn with_run_id(id: impl Into<String>) { run_id = Some(id.into()) }

        /// Sets whether agents and judges are called, called and recorded, or replayed from cassettes.
        pub fn with_mode(mode: Mode) { mode = Some(mode) }

        /// Grades the trials of an earlier run again, without calling the agent. `run` is the id of that run, or `latest` for the
        /// newest trials of each case.
        pub fn with_regrade(run: impl Into<String>) { regrade = Some(run.into()) }

        /// Sets the directory of cassettes. The default is `.evalsuite/cassettes` in the package.
        pub fn with_cassettes(directory: impl Into<PathBuf>) { cassettes = Some(directory.into()) }

        /// Sets the largest number of trials of the suite that run in parallel, up to 1000. The default is
        /// `execution.workers` of the suite; if neither is set, cases run in parallel, and the trials of each case run one
        /// after another.
        pub fn with_workers(trials: NonZeroUsize) { workers = Some(trials) }

        /// Sets the version of the agent, and of graders and judges in Rust, in records: if it differs, a case has changed.
        pub fn with_agent_digest(digest: impl Into<String>) { agent_digest = Some(digest.into()) }

        /// Sets whether only changed cases run, by their files, the settings, and the digest of the agent, which has to be
        /// set. The others take their result from the newest run that has it.
        pub fn with_only_changed(only_changed: bool) { only_changed = Some(only_changed) }
    }
}
