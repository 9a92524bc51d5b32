use std::{num::NonZeroUsize, path::PathBuf};

use evalsuite_schema::record::Mode;

use crate::{
    model::{evals::Evals, suite::EvalCase},
    run::settings::Settings,
};

/// How [`Evals::run`] runs a suite. What is not set here is as the `EVALSUITE_*` variables say.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct RunOptions {
    pub(crate) concurrency: Option<NonZeroUsize>,
    filter: Option<String>,
    tags: Vec<String>,
    trials: Option<NonZeroUsize>,
    threshold: Option<f64>,
    run_all: Option<bool>,
    retries: Option<u32>,
    budget_usd: Option<f64>,
    output: Option<PathBuf>,
    run_id: Option<String>,
    mode: Option<Mode>,
    regrade: Option<String>,
    cassettes: Option<PathBuf>,
}

impl RunOptions {
    /// The options of a plain run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs at most this many cases at once; by default as many as there are processors.
    pub fn concurrency(mut self, cases: NonZeroUsize) -> Self {
        self.concurrency = Some(cases);
        self
    }

    /// Runs only cases whose id or test name contains a text.
    pub fn filter(mut self, text: impl Into<String>) -> Self {
        self.filter = Some(text.into());
        self
    }

    /// Runs only cases with this tag; with several calls, those that have one of them.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Sets the number of trials of every case.
    pub fn trials(mut self, trials: NonZeroUsize) -> Self {
        self.trials = Some(trials);
        self
    }

    /// Sets the threshold of every trial, 0 to 1.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Whether trials go on when the case is already decided.
    pub fn run_all(mut self, run_all: bool) -> Self {
        self.run_all = Some(run_all);
        self
    }

    /// Sets how often a trial is repeated that ended in an error of the agent, a grader or its workspace, 0 to 10.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Sets what the run may cost in US dollars, above 0: once it has, no trial starts.
    pub fn budget_usd(mut self, budget: f64) -> Self {
        self.budget_usd = Some(budget);
        self
    }

    /// Sets the directory below which records are written.
    pub fn output(mut self, directory: impl Into<PathBuf>) -> Self {
        self.output = Some(directory.into());
        self
    }

    /// Sets the id of the run; by default a new one.
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    /// Whether the agent and judges are called, and what they say recorded, or taken from recordings.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Grades what the agent did in an earlier run once more, without calling the agent: the id of the run, or `latest` for
    /// the newest trials of each case.
    pub fn regrade(mut self, run: impl Into<String>) -> Self {
        self.regrade = Some(run.into());
        self
    }

    /// Sets the directory of recordings; by default `.evalsuite/cassettes` in the package.
    pub fn cassettes(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cassettes = Some(directory.into());
        self
    }

    pub(crate) fn selects(&self, evals: &Evals, case: &EvalCase) -> bool {
        let named = self.filter.as_ref().is_none_or(|text| {
            case.id.contains(text.as_str()) || evals.suite().test_path(case).contains(text.as_str())
        });
        named && (self.tags.is_empty() || case.tags.iter().any(|tag| self.tags.iter().any(|wanted| wanted == tag)))
    }

    /// The settings of the environment with these options over them.
    pub(crate) fn apply(&self, settings: &Settings) -> Result<Settings, String> {
        let mut settings = settings.clone();
        if let Some(trials) = self.trials {
            let count = u32::try_from(trials.get()).ok().filter(|count| *count <= 1000);
            settings.trials = Some(count.ok_or_else(|| format!("{trials} trials are more than 1000"))?);
        }
        if let Some(threshold) = self.threshold {
            if !(0.0..=1.0).contains(&threshold) {
                return Err(format!("the threshold {threshold} is not a number from 0 to 1"));
            }
            settings.threshold = Some(threshold);
        }
        if let Some(retries) = self.retries {
            if retries > 10 {
                return Err(format!("{retries} retries are more than 10"));
            }
            settings.retries = retries;
        }
        if let Some(budget) = self.budget_usd {
            if !(budget > 0.0 && budget.is_finite()) {
                return Err(format!("the budget {budget} is not a number above 0"));
            }
            settings.budget_usd = Some(budget);
        }
        settings.run_all = self.run_all.unwrap_or(settings.run_all);
        settings.output = self.output.clone().or(settings.output);
        settings.run_id = self.run_id.clone().or(settings.run_id);
        settings.cassettes = self.cassettes.clone().or(settings.cassettes);
        if let Some(mode) = self.mode {
            settings.mode = mode;
            settings.regrade = (mode == Mode::Regrade).then(|| settings.regrade.unwrap_or_else(|| "latest".to_owned()));
        }
        if let Some(run) = &self.regrade {
            if matches!(self.mode, Some(mode) if mode != Mode::Regrade) {
                return Err(format!(
                    "the options ask to grade run `{run}` again, and for another mode; set one of them"
                ));
            }
            (settings.mode, settings.regrade) = (Mode::Regrade, Some(run.clone()));
        }
        Ok(settings)
    }
}
