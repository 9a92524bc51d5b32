//! `cargo evalsuite diff`.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};
#[cfg(feature = "judge")]
use evalsuite::{RunOptions, tooling::AnswerPairs};
#[cfg(feature = "judge")]
use evalsuite_records::record::AnswerPair;
use evalsuite_records::record::Baseline;
use evalsuite_records::run_directory::{LATEST, StoredRun};
use evalsuite_report::{
    CaseData, CompareOptions, Comparison, ComparisonUnit, ComparisonVerdict, RunData, SliceKey, comparable_of_commit,
    earlier_comparable, pooled, retain_cases_of, runs_of_same_agent,
};
#[cfg(feature = "judge")]
use evalsuite_report::{answer_pairs, answer_pairs_with_accepted, judges_of};
use evalsuite_schema::diagnostics::suggest::did_you_mean;
use evalsuite_schema::diagnostics::terminal;

use crate::arguments::{ComparisonArguments, UnitOfComparison};
use crate::locate::{baselines, stored_runs};
use crate::platform::cli_error::{CliError, Exit, Result};
use crate::platform::output::{print_json, say, stdout};

/// Compare a run with an earlier run or with the baseline
///
/// Compares the cases that have the same input, graders and threshold in both runs. Prints for each suite and target the pass rates, the
/// mean difference of the scores with its 95% interval, the p-value of a permutation test, the noise (the range of differences that chance
/// causes in 95 of 100 comparisons), and the cases that changed. If several suites and targets are compared, the p-value of each has to be
/// smaller; the p-values of slices are corrected for their number (Holm). Exit status: 0 without a regression, 1 with a regression, 2 if a run does not exist or cannot be
/// compared, 4 if fewer than six cases can be compared, more than a tenth of them have no result, or the verdict depends on trials
/// that ended in an error.
///
/// With --judge, a judge compares the two recorded answers of each case. It is asked twice, with the answers in both orders. An answer
/// wins if it is better both times; otherwise the case is a tie. A win rate significantly below one half is a regression. If the order
/// changes the judgement in half of the cases, or if more than a tenth of the cases have no judgement, the judge decides nothing. The
/// judge is the command NAME of targets.yaml; without NAME, the judge of the EVALSUITE_JUDGE_* variables, else the command that all judge
/// graders of RUN asked. With --baseline, the answers written by `accept --answers` are compared with those of the run. The cost of the judge is
/// printed, and is not limited by a budget. --judge requires the feature `judge`.
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("diff"))]
pub(crate) struct Diff {
    /// Earlier run: its id or directory [default: the newest run of the merge base with the default branch, else the newest run before
    /// RUN that is not of the same commit, with a case in common]. Without names, all runs of a commit are counted together
    pub(crate) base: Option<String>,
    /// Run: its id or directory [default: the newest]
    pub(crate) run: Option<String>,
    /// Compare with the baseline that `accept` wrote; a single run argument is then RUN
    #[arg(long, conflicts_with = "run")]
    pub(crate) baseline: bool,
    /// Compare the cases of target A in the earlier run with those of target B in the run; without runs, both in the newest run
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "baseline")]
    pub(crate) targets: Vec<String>,
    /// Ask a judge which answers are better; NAME is a command of targets.yaml [default: the judge of EVALSUITE_JUDGE_*, else that of
    /// the run]
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) judge: Option<Option<String>>,
    /// Criteria by which the judge compares answers [default: the criteria of each case]
    #[arg(long, value_name = "TEXT", requires = "judge")]
    pub(crate) criteria: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub(crate) format: DiffFormat,
}

/// What `diff` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text and tables
    #[value(alias = "text")]
    Human,
    /// Markdown, for pull requests and summaries of CI jobs
    Markdown,
    /// One JSON object; `cargo evalsuite schema diff` prints its schema
    Json,
}

#[cfg(feature = "judge")]
/// Name of the baseline where the id of a run would be: in the directory of prompts and replies.
const BASELINE: &str = "baseline";

/// What the default branch may be called here, the one of the server first.
const DEFAULT_BRANCHES: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

pub(crate) fn run(command: &Diff) -> Result<Exit> {
    let named = if command.baseline { &command.base } else { &command.run };
    let run = Chosen { run: stored_runs::find(named.as_deref().unwrap_or(LATEST))?, is_named: named.is_some() };
    let id = run.run.id();
    let standard = match &command.base {
        _ if command.baseline => Standard::Baseline,
        Some(base) => Standard::Run(base),
        // Targets are compared within a run.
        None if !command.targets.is_empty() => Standard::Run(&id),
        None => Standard::Usual,
    };
    let mut options = options(&command.comparison)?;
    if let [base, run] = command.targets.as_slice() {
        options = options.with_targets(base, run);
    }
    let comparison = match &command.judge {
        None => compare(&run, standard, &options)?,
        #[cfg(not(feature = "judge"))]
        Some(_) => return Err(CliError::without_feature("judge")),
        #[cfg(feature = "judge")]
        Some(judge) => judged_comparison(command, judge.as_deref(), &run, standard, &options)?,
    };
    let mut out = stdout();
    match command.format {
        DiffFormat::Human => write!(out, "{}", terminal::lines(&comparison.to_string()))?,
        DiffFormat::Markdown => write!(out, "{}", comparison.markdown())?,
        DiffFormat::Json => print_json(&mut out, &comparison)?,
    }
    Ok(match comparison.verdict() {
        ComparisonVerdict::Regressed => Exit::Problems,
        ComparisonVerdict::Undecided => Exit::Undecided,
        _ => Exit::Good,
    })
}

/// The answers of a run with those that were accepted.
#[cfg(feature = "judge")]
fn accepted_pairs(
    command: &Diff,
    baselines: &[Baseline],
    run: &RunData,
    options: &CompareOptions,
) -> Result<Vec<AnswerPair>> {
    let answers = baselines::read_answers(run)?;
    let asked = answer_pairs_with_accepted(baselines, &answers, run, command.criteria.as_deref(), options);
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

/// The comparison, with what a judge says about the answers of both runs.
#[cfg(feature = "judge")]
fn judged_comparison(
    command: &Diff,
    judge: Option<&str>,
    chosen: &Chosen,
    standard: Standard<'_>,
    options: &CompareOptions,
) -> Result<Comparison> {
    if let Some(name) = judge.filter(|name| command.targets.iter().any(|target| target == name)) {
        let message = format!("`{name}` cannot be the judge: it is one of the compared targets");
        return Err(CliError::new(message));
    }
    let run = RunData::read(chosen.run.path())?;
    let read = |run: &StoredRun| Ok(RunData::read(run.path())?);
    let (base, asked, comparison) = if command.baseline {
        let baselines = baselines_of(&run)?;
        check_options(&run, &run, options)?;
        let asked = accepted_pairs(command, &baselines, &run, options)?;
        let counted = if chosen.is_named { run.clone() } else { with_reruns(run.clone(), &baselines, &read)? };
        (BASELINE.to_owned(), asked, Comparison::with_baselines(&baselines, &counted, options))
    } else {
        let base = read(&base_of(&run, standard)?)?;
        check_options(&base, &run, options)?;
        // The answers of one run are compared, the scores of all that are counted together.
        let asked = answer_pairs(&base, &run, command.criteria.as_deref(), options);
        let id = base.run_id.clone();
        let (base, run) = counted_sides(base, run.clone(), standard, chosen.is_named, &read)?;
        (id, asked, Comparison::new(&base, &run, options))
    };
    let named = if command.baseline { format!("{} --baseline", run.run_id) } else { format!("{base} {}", run.run_id) };
    let repeat = format!("cargo evalsuite diff {named} --judge {}", judge.unwrap_or_default());
    let pairs = AnswerPairs {
        pairs: asked,
        package_root: env::current_dir()?,
        run: std::path::absolute(&run.directory)?,
        base: base.to_owned(),
        repeat: repeat.trim_end().to_owned(),
        judge: None,
        judge_name: judge.map(str::to_owned),
        judges_of_run: judges_of(&run),
    };
    Ok(comparison.with_judged_answers(&pairs.judge(&RunOptions::new())?, &run, options))
}

/// What a run is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Standard<'a> {
    /// The results that were accepted.
    Baseline,
    /// A run by its id or directory.
    Run(&'a str),
    /// The run of the merge base with the default branch; without one, the newest run before it. Both with a case in common.
    Usual,
}

/// The run that is compared.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) run: StoredRun,
    /// Whether it was named. Else it is the newest one, and other runs of its agent are counted with it.
    pub(crate) is_named: bool,
}

/// The comparison.
pub(crate) fn compare(chosen: &Chosen, standard: Standard<'_>, options: &CompareOptions) -> Result<Comparison> {
    let read = |run: &StoredRun| -> Result<RunData> {
        // Metadata are in the records of trials.
        let needs_trials = options.cluster_by.is_some() || !options.by.is_empty();
        let data = if needs_trials { RunData::read(run.path()) } else { RunData::read_cases(run.path()) }?;
        // The cases of records that cannot be read are missing in the comparison.
        for problem in &data.problems {
            say!("warning: {}: {}: {}", data.run_id, problem.file, problem.message);
        }
        Ok(data)
    };
    if matches!(standard, Standard::Baseline) {
        let run = read(&chosen.run)?;
        check_options(&run, &run, options)?;
        let baselines = baselines_of(&run)?;
        let run = if chosen.is_named { run } else { with_reruns(run, &baselines, &read)? };
        return Ok(Comparison::with_baselines(&baselines, &run, options));
    }
    let run = read(&chosen.run)?;
    let base = read(&base_of(&run, standard)?)?;
    check_options(&base, &run, options)?;
    let (base, run) = counted_sides(base, run, standard, chosen.is_named, &read)?;
    Ok(Comparison::new(&base, &run, options))
}

/// Reads a run.
type Read<'a> = &'a dyn Fn(&StoredRun) -> Result<RunData>;

/// Base and run with the other runs of their agents, if they were not named. Of the other runs of a named one, a note says that they are not
/// counted. Two runs of one agent are compared as they are.
fn counted_sides(
    base: RunData,
    run: RunData,
    standard: Standard<'_>,
    is_run_named: bool,
    read: Read<'_>,
) -> Result<(RunData, RunData)> {
    if base.directory == run.directory || base.is_of_same_agent(&run) {
        return Ok((base, run));
    }
    let mut of_base = runs_of_same_agent(&base)?;
    let of_run = runs_of_same_agent(&run)?;
    // A run without a digest of its agent may be of either side.
    of_base.retain(|other| of_run.iter().all(|run| run.path() != other.path()));
    let count = |data: RunData, others: Vec<StoredRun>, is_named: bool| {
        if !is_named {
            return counted(data, &others, read);
        }
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(StoredRun::id).collect();
            say!("note: `{}` was named; not counted with it: {}, of the same commit", data.run_id, others.join(", "));
        }
        Ok(data)
    };
    Ok((count(base, of_base, matches!(standard, Standard::Run(_)))?, count(run, of_run, is_run_named)?))
}

/// A run with all other runs of its agent, except those that were accepted: what they showed is in the baselines.
fn with_reruns(run: RunData, accepted: &[Baseline], read: Read<'_>) -> Result<RunData> {
    let mut others = runs_of_same_agent(&run)?;
    let is_accepted = |run: &StoredRun| accepted.iter().any(|baseline| baseline.header.runs.contains(&run.id()));
    others.retain(|run| !is_accepted(run));
    counted(run, &others, read)
}

fn counted(run: RunData, others: &[StoredRun], read: Read<'_>) -> Result<RunData> {
    let mut runs = others.iter().map(read).collect::<Result<Vec<RunData>>>()?;
    runs.push(run);
    Ok(pooled(runs))
}

/// An error if no case of a run has the target that is compared; a warning if none has a key, because then nothing is grouped by it.
fn check_options(base: &RunData, run: &RunData, options: &CompareOptions) -> Result<()> {
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

/// The baselines of a run, at least one.
fn baselines_of(run: &RunData) -> Result<Vec<Baseline>> {
    let baselines = baselines::read(run)?;
    if baselines.is_empty() {
        let message = "no suite of the run has a baseline; `cargo evalsuite accept` creates one";
        return Err(CliError::new(message));
    }
    Ok(baselines)
}

/// The run that a run is compared with.
fn base_of(run: &RunData, standard: Standard<'_>) -> Result<StoredRun> {
    if let Standard::Run(base) = standard {
        return stored_runs::find(base);
    }
    usual_base(run)?.ok_or_else(|| {
        let message = format!("no earlier run has cases in common with `{}`", run.run_id);
        match runs_of_same_agent(run).as_deref() {
            Ok([_, ..]) => CliError::with_help(
                format!("{message}, except runs of its commit"),
                "runs of one commit are one sample; to compare two of them, name one: `cargo evalsuite diff RUN`",
            ),
            _ => CliError::new(message),
        }
    })
}

/// What a run is compared with where nothing is named.
fn usual_base(run: &RunData) -> Result<Option<StoredRun>> {
    if let Some(git) = run.record.as_ref().and_then(|record| record.git.as_ref()) {
        // A run of the merge base itself has nothing to be compared with there.
        for (branch, base) in merge_bases(&git.commit).into_iter().filter(|(_, base)| git.dirty || *base != git.commit)
        {
            if let Some(found) = comparable_of_commit(run, &base)? {
                let (id, commit) = (found.id(), base.chars().take(10).collect::<String>());
                say!("note: compared with run `{id}` of commit {commit}, the merge base with `{branch}`");
                return Ok(Some(found));
            }
        }
    }
    Ok(earlier_comparable(run)?)
}

/// The merge bases of a commit and what may be the default branch, with that branch, in the repository around the current directory.
/// There are none outside of one, without git, and where the history is cut off.
fn merge_bases(commit: &str) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for branch in DEFAULT_BRANCHES {
        if let Some(base) = merge_base(commit, branch).filter(|base| found.iter().all(|(_, known)| known != base)) {
            found.push((branch, base));
        }
    }
    found
}

/// The newest commit that a commit and a branch have in common; `None` if git cannot tell.
fn merge_base(commit: &str, branch: &str) -> Option<String> {
    let mut git = Command::new("git");
    // Git sets them for hooks, where they name another repository.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        git.env_remove(name);
    }
    let output = git.args(["merge-base", commit, branch]).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
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

/// How a run of chosen cases compares with the accepted results, or without any with the run that `diff` chooses; `None` if there is
/// neither. Of other runs of the same agent, the cases that this one ran are counted with it.
pub(crate) fn after_run(run: &StoredRun) -> Result<Option<Comparison>> {
    let options = CompareOptions::new().with_only_cases_of_run();
    let data = RunData::read_cases(run.path())?;
    let read = |run: &StoredRun| Ok(RunData::read_cases(run.path())?);
    let baselines = baselines::read(&data)?;
    let base = if baselines.is_empty() { usual_base(&data)? } else { None };
    if baselines.is_empty() && base.is_none() {
        // The comparison does not affect the exit status of `run`.
        let Some(last) = runs_of_same_agent(&data)?.pop() else { return Ok(None) };
        say!("note: compared with run `{}` of the same commit, because there is none of another one", last.id());
        return Ok(Some(Comparison::new(&read(&last)?, &data, &options)));
    }
    let counted = with_reruns(data.clone(), &baselines, &|run| Ok(retain_cases_of(read(run)?, &data)))?;
    let Some(base) = base else { return Ok(Some(Comparison::with_baselines(&baselines, &counted, &options))) };
    Ok(Some(Comparison::new(&with_reruns(read(&base)?, &[], &read)?, &counted, &options)))
}
