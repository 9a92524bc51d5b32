//! Runs compared with the baselines and accepted answers that the packages of their suites store, and `accept` writes.

use std::path::PathBuf;

use clap::Args;
use evalsuite_records::baseline::{accepted_answers_file, baseline_file, own_baseline_files};
use evalsuite_records::record::{AcceptedAnswers, AnswerPair, Baseline, DecisionRecord, SuiteId};
use evalsuite_report::baseline_as_run::{
    answer_pairs_with_accepted, read_accepted_answers, read_baseline, remove_other_targets, trials_of_baselines,
};
use evalsuite_report::{CompareOptions, Comparison, RunData, SuiteData};

use crate::compared_runs::{Chosen, Compared, ComparedAnswers, Read, Request, check_options, with_reruns};
use crate::locate::stored_runs::WorkspacePackages;
use crate::platform::exit_status::{CliError, Result};
use crate::platform::output::say;

/// The argument of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgument {
    /// Compare with the baseline that `accept` wrote; a single run argument is then RUN
    #[arg(long, conflicts_with_all = ["run", "targets"])]
    pub(crate) baseline: bool,
}

/// The argument of `gate`.
#[derive(Debug, Args)]
pub(crate) struct GateArgument {
    /// Also compare with the baseline that `accept` wrote; a regression counts as a missed gate
    #[arg(long, conflicts_with = "base")]
    pub(crate) baseline: bool,
}

/// Compares a run with the baselines of its suites, of which there has to be one.
pub(crate) fn compare(chosen: &Chosen, request: &Request<'_>) -> Result<Compared> {
    let run = request.read(&chosen.run)?;
    check_options(&run, &run, &request.options)?;
    let mut baselines = read_baselines(&run)?;
    if baselines.is_empty() {
        let message = "no suite of the run has a baseline; `cargo evalsuite accept` creates one";
        return Err(CliError::new(message));
    }
    for baseline in &mut baselines {
        let suite = run.suites.iter().find(|suite| suite.name == baseline.header.suite);
        let targets = suite.map(|suite| remove_other_targets(baseline, suite)).unwrap_or_default();
        for target in targets {
            let name = &baseline.header.suite;
            say!("note: {name}: results of target `{target}` are not compared: the run is of another target");
        }
    }
    let answers = |pairs| ComparedAnswers {
        pairs,
        base: DecisionRecord::BASELINE.to_owned(),
        named: format!("{} --baseline", run.run_id),
        run: run.clone(),
    };
    let answers = if request.is_judged { Some(answers(accepted_pairs(&baselines, &run, request)?)) } else { None };
    let run = if chosen.is_named { run } else { with_new_reruns(run, &baselines, &|run| request.read(run))? };
    Ok(Compared { comparison: Comparison::with_baselines(&baselines, &run, &request.options), answers })
}

/// The comparison of a run of chosen cases with what was accepted, if anything was. `read`: of other runs, the cases that this one ran.
pub(crate) fn compare_after_run(
    comparison: &mut Option<Comparison>,
    run: &RunData,
    options: &CompareOptions,
    read: Read<'_>,
) -> Result<()> {
    let baselines = read_baselines(run)?;
    if !baselines.is_empty() {
        let counted = with_new_reruns(run.clone(), &baselines, read)?;
        *comparison = Some(Comparison::with_baselines(&baselines, &counted, options));
    }
    Ok(())
}

/// The accepted trials of suites with these names as the base of a run, unless it has another base, and its name; nothing if there are none.
pub(crate) fn default_base(base: &mut Option<(String, RunData)>, names: Vec<(SuiteId, String)>) -> Result<()> {
    if base.is_some() {
        return Ok(());
    }
    let suite = |(id, name)| SuiteData { name, id, ..SuiteData::default() };
    let suites = RunData { suites: names.into_iter().map(suite).collect(), ..RunData::default() };
    let baselines = read_baselines(&suites)?;
    *base = (!baselines.is_empty()).then(|| (DecisionRecord::BASELINE.to_owned(), trials_of_baselines(&baselines)));
    Ok(())
}

/// A run with the other runs of its agent, except those that were accepted: what they showed is in the baselines.
fn with_new_reruns(run: RunData, accepted: &[Baseline], read: Read<'_>) -> Result<RunData> {
    with_reruns(run, |id| accepted.iter().any(|baseline| baseline.header.runs.contains(id)), read)
}

/// The answers of a run with those that were accepted.
fn accepted_pairs(baselines: &[Baseline], run: &RunData, request: &Request<'_>) -> Result<Vec<AnswerPair>> {
    let answers = read_answers(run)?;
    let asked = answer_pairs_with_accepted(baselines, &answers, run, request.criteria, &request.options);
    if asked.iter().all(|pair| pair.answers[0].is_none()) {
        let message =
            "the baseline has no answers of the cases of this run; `cargo evalsuite accept --answers` writes them";
        return Err(CliError::new(message));
    }
    let failed = |baseline: &Baseline| baseline.cases.iter().filter(|case| case.passed == 0).count();
    match baselines.iter().map(failed).sum() {
        0 => {}
        1 => say!("note: 1 case is not judged, because its accepted result is a failure"),
        count => say!("note: {count} cases are not judged, because their accepted results are failures"),
    }
    Ok(asked)
}

/// The files for the baseline and the accepted answers of a suite, which need not exist.
pub(crate) struct BaselineFile<'a> {
    pub(crate) suite: &'a SuiteData,
    pub(crate) path: PathBuf,
    pub(crate) answers: PathBuf,
}

/// The files for the baselines of a run's suites: each is in the package that the suite belongs to.
pub(crate) fn files(run: &RunData) -> Result<Vec<BaselineFile<'_>>> {
    let packages = WorkspacePackages::here()?;
    let mut files: Vec<BaselineFile<'_>> = Vec::new();
    for suite in &run.suites {
        let (name, package) = (&suite.name, &suite.id.package);
        if package.is_empty() {
            return Err(CliError::new(format!("run `{}` does not record the package of suite `{name}`", run.run_id)));
        }
        let root = packages
            .root_of(&suite.id)
            .ok_or_else(|| CliError::new(format!("package `{package}` of suite `{name}` is not in this workspace")))?;
        let (mut path, mut answers) = (baseline_file(root, &suite.id), accepted_answers_file(root, &suite.id));
        if files.iter().any(|file| file.path == path) {
            [path, answers] = own_baseline_files(root, &suite.id);
        }
        files.push(BaselineFile { suite, path, answers });
    }
    Ok(files)
}

/// The baselines of a run's suites, as far as there are any. Each names its suite as the run does.
fn read_baselines(run: &RunData) -> Result<Vec<Baseline>> {
    read_existing(run, |file| {
        let mut baseline = read_baseline(&file.path)?;
        baseline.iter_mut().for_each(|baseline| baseline.header.suite.clone_from(&file.suite.name));
        Ok(baseline)
    })
}

/// The accepted answers of a run's suites, as far as there are any.
fn read_answers(run: &RunData) -> Result<Vec<AcceptedAnswers>> {
    read_existing(run, |file| {
        let mut answers = read_accepted_answers(&file.answers)?;
        answers.iter_mut().for_each(|answers| answers.header.suite.clone_from(&file.suite.name));
        Ok(answers)
    })
}

fn read_existing<T>(run: &RunData, read: impl Fn(&BaselineFile<'_>) -> Result<Option<T>>) -> Result<Vec<T>> {
    files(run)?.iter().filter_map(|file| read(file).transpose()).collect()
}
