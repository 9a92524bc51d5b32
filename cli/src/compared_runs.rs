//! Runs that are compared: how they are read, and which runs are counted together.

use evalsuite_records::record::AnswerPair;
use evalsuite_records::run_directory::{LATEST, StoredRun};
use evalsuite_report::{
    CaseData, CompareOptions, Comparison, ComparisonUnit, RunData, SliceKey, pooled, runs_of_same_agent,
};
use evalsuite_schema::diagnostics::suggest::did_you_mean;

use crate::arguments::{ComparisonArguments, UnitOfComparison};
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, Result};
use crate::platform::output::say;

/// The run that is compared.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) run: StoredRun,
    /// Whether it was named. Else it is the newest one, and other runs of its agent are counted with it.
    pub(crate) is_named: bool,
}

impl Chosen {
    /// The run with this id or directory, else the newest one.
    pub(crate) fn find(named: Option<&str>) -> Result<Self> {
        Ok(Self { run: stored_runs::find(named.unwrap_or(LATEST))?, is_named: named.is_some() })
    }
}

/// How runs are compared.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) options: CompareOptions,
    /// Whether a judge compares the answers.
    pub(crate) is_judged: bool,
    /// The criteria by which it does; those of each case without.
    pub(crate) criteria: Option<&'a str>,
}

impl Request<'_> {
    /// A comparison of scores.
    pub(crate) fn new(options: CompareOptions) -> Self {
        Self { options, is_judged: false, criteria: None }
    }

    pub(crate) fn read(&self, run: &StoredRun) -> Result<RunData> {
        if self.is_judged {
            return Ok(RunData::read(run.path())?);
        }
        // Metadata are in the records of trials.
        let needs_trials = self.options.cluster_by.is_some() || !self.options.by.is_empty();
        let data = if needs_trials { RunData::read(run.path()) } else { RunData::read_cases(run.path()) }?;
        // The cases of records that cannot be read are missing in the comparison.
        for problem in &data.problems {
            say!("warning: {}: {}: {}", data.run_id, problem.file, problem.message);
        }
        Ok(data)
    }
}

/// A run that was compared.
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    /// What a judge compares, if one does.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "the judge reads them"))]
    pub(crate) answers: Option<ComparedAnswers>,
}

/// The answers of a run, and those that a judge compares them with.
#[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "the judge reads them"))]
pub(crate) struct ComparedAnswers {
    pub(crate) run: RunData,
    /// What the run is compared with: its name in the directory of prompts and replies.
    pub(crate) base: String,
    /// The arguments of `diff` that name both.
    pub(crate) named: String,
    pub(crate) pairs: Vec<AnswerPair>,
}

/// Reads a run.
pub(crate) type Read<'a> = &'a dyn Fn(&StoredRun) -> Result<RunData>;

/// A run with all other runs of its agent, except those whose ids are left out.
pub(crate) fn with_reruns(run: RunData, is_left_out: impl Fn(&String) -> bool, read: Read<'_>) -> Result<RunData> {
    let mut others = runs_of_same_agent(&run)?;
    others.retain(|run| !is_left_out(&run.id()));
    counted(run, &others, read)
}

pub(crate) fn counted(run: RunData, others: &[StoredRun], read: Read<'_>) -> Result<RunData> {
    let mut runs = others.iter().map(read).collect::<Result<Vec<RunData>>>()?;
    runs.push(run);
    Ok(pooled(runs))
}

/// An error if no case of a run has the target that is compared; a warning if none has a key, because then nothing is grouped by it.
pub(crate) fn check_options(base: &RunData, run: &RunData, options: &CompareOptions) -> Result<()> {
    if let Some((in_base, in_run)) = &options.targets {
        for (run, target) in [(base, in_base), (run, in_run)] {
            let targets = || cases(run).map(|case| case.record.target.as_str());
            if targets().all(|known| known != target) {
                let message = format!("run `{}` has no case of target `{target}`", run.run_id);
                return Err(CliError::with_suggestion(message, did_you_mean(target, targets())));
            }
        }
    }
    let by = options.by.iter().filter_map(|key| match key {
        SliceKey::Metadata(key) => Some(key),
        _ => None,
    });
    for key in options.cluster_by.iter().chain(by) {
        let has_key = |case: &CaseData| case.trials.iter().any(|trial| trial.record.metadata.contains_key(key));
        if !cases(run).any(has_key) {
            say!("warning: no case of run `{}` has `{key}` in its metadata", run.run_id);
        }
    }
    Ok(())
}

fn cases(run: &RunData) -> impl Iterator<Item = &CaseData> {
    run.suites.iter().flat_map(|suite| &suite.cases)
}

pub(crate) fn options(arguments: &ComparisonArguments) -> Result<CompareOptions> {
    let mut options = CompareOptions::new();
    options.cluster_by.clone_from(&arguments.cluster_by);
    options.allowed_errors = arguments.allow_errors;
    options.unit = arguments.unit.map(|unit| match unit {
        UnitOfComparison::Trial => ComparisonUnit::Trial,
        UnitOfComparison::Case => ComparisonUnit::Case,
    });
    options.margin = arguments.margin;
    for key in &arguments.by {
        match SliceKey::parse(key) {
            Some(SliceKey::Suite | SliceKey::Target) => {
                return Err(CliError::new(format!("--by {key}: suites and targets are always compared separately")));
            }
            Some(key) => options = options.with_slices_by(key),
            None => {
                return Err(CliError::new(format!("--by {key}: expected `bucket`, `tag` or `metadata.KEY`")));
            }
        }
    }
    Ok(options)
}
