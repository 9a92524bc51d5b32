//! `cargo evalsuite diff`.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};
#[cfg(feature = "judge")]
use evalsuite::{RunOptions, tooling::AnswerPairs};
use evalsuite_records::run_directory::StoredRun;
#[cfg(feature = "judge")]
use evalsuite_report::judges_of;
use evalsuite_report::{
    CompareOptions, Comparison, ComparisonVerdict, RunData, answer_pairs, comparable_of_commit,
    comparable_of_same_agent, earlier_comparable, retain_cases_of, runs_of_same_agent,
};
use evalsuite_schema::diagnostics::terminal;

use crate::arguments::ComparisonArguments;
use crate::compared_runs::{
    Chosen, Compared, ComparedAnswers, Read, Request, check_options, counted, options, with_reruns,
};
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{print_json, say, stdout};

/// Compare a run with an earlier run or with the baseline
///
/// Compares the cases that have the same input, graders and threshold in both runs. Prints for each suite and target the pass rates, the
/// mean difference of the scores with its 95% interval, the p-value of a permutation test, the noise (the range of differences that chance
/// causes in 95 of 100 comparisons), and the cases that changed. If several suites and targets are compared, the p-value of each has to be
/// smaller; the p-values of slices are corrected for their number (Holm). Exit status: 0 without a regression, 1 with a regression, 2 if a
/// run does not exist or cannot be compared, 4 if fewer than six cases can be compared, more than a tenth of them have no result, or the
/// verdict depends on trials that ended in an error.
///
/// With --judge, a judge compares the two recorded answers of each case. It is asked twice, with the answers in both orders. An answer
/// wins if it is better both times; otherwise the case is a tie. A win rate significantly below one half is a regression. If the order
/// changes the judgement in half of the cases, or if more than a tenth of the cases have no judgement, the comparison is undecided. The
/// judge is the command NAME of targets.yaml; without NAME, the judge of the EVALSUITE_JUDGE_* variables, else the command that all judge
/// graders of RUN asked. With --baseline, the answers written by `accept --answers` are compared with those of the run. The cost of the
/// judge is printed, and not limited by a budget. --judge requires the feature `judge`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Earlier run: its id or directory [default: the newest run of the merge base with the default branch, else the newest run before
    /// RUN that is not of the same commit, with a case in common]. Without names, all runs of a commit are counted together
    pub(crate) base: Option<String>,
    /// Run: its id or directory [default: the newest]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) accepted: crate::baselines::DiffArgument,
    /// Compare the cases of target A in the earlier run with those of target B in the run; without runs, both in the newest run
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
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

/// What the default branch may be called here, the one of the server first.
const DEFAULT_BRANCHES: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

pub(crate) fn run(command: &Diff) -> Result<CommandStatus> {
    #[cfg(not(feature = "judge"))]
    if command.judge.is_some() {
        return Err(CliError::without_feature("judge"));
    }
    let judge = command.judge.as_ref().and_then(Option::as_deref);
    if let Some(name) = judge.filter(|name| command.targets.iter().any(|target| target == name)) {
        let message = format!("`{name}` cannot be the judge: it is one of the compared targets");
        return Err(CliError::new(message));
    }
    let mut options = options(&command.comparison)?;
    if let [base, run] = command.targets.as_slice() {
        options = options.with_targets(base, run);
    }
    let request = Request { options, is_judged: command.judge.is_some(), criteria: command.criteria.as_deref() };
    let compared = match &command.base {
        base if command.accepted.baseline => crate::baselines::compare(&Chosen::find(base.as_deref())?, &request)?,
        base => {
            let chosen = Chosen::find(command.run.as_deref())?;
            // Targets are compared within a run.
            let own = (!command.targets.is_empty()).then(|| chosen.run.id());
            compare(&chosen, base.as_deref().or(own.as_deref()), &request)?
        }
    };
    #[cfg(not(feature = "judge"))]
    let comparison = compared.comparison;
    #[cfg(feature = "judge")]
    let comparison = judged(compared, judge, &request.options)?;
    let mut out = stdout();
    match command.format {
        DiffFormat::Human => write!(out, "{}", terminal::lines(&comparison.to_string()))?,
        DiffFormat::Markdown => write!(out, "{}", comparison.markdown())?,
        DiffFormat::Json => print_json(&mut out, &comparison)?,
    }
    Ok(match comparison.verdict() {
        ComparisonVerdict::Regressed => CommandStatus::Problems,
        ComparisonVerdict::Undecided => CommandStatus::Undecided,
        _ => CommandStatus::Good,
    })
}

/// The comparison, with what a judge says about the answers of both runs.
#[cfg(feature = "judge")]
fn judged(compared: Compared, judge: Option<&str>, options: &CompareOptions) -> Result<Comparison> {
    let Compared { comparison, answers: Some(ComparedAnswers { run, base, named, pairs }) } = compared else {
        return Ok(compared.comparison);
    };
    let repeat = format!("cargo evalsuite diff {named} --judge {}", judge.unwrap_or_default());
    let pairs = AnswerPairs {
        pairs,
        package_root: env::current_dir()?,
        run: std::path::absolute(&run.directory)?,
        base,
        repeat: repeat.trim_end().to_owned(),
        judge: None,
        judge_name: judge.map(str::to_owned),
        judges_of_run: judges_of(&run),
    };
    Ok(comparison.with_judged_answers(&pairs.judge(&RunOptions::new())?, &run, options))
}

/// Compares a run with the named one; without a name, with the run of the merge base with the default branch, else with the newest run
/// before it. Both have a case in common with it.
pub(crate) fn compare(chosen: &Chosen, base: Option<&str>, request: &Request<'_>) -> Result<Compared> {
    let run = request.read(&chosen.run)?;
    let is_base_named = base.is_some();
    let base = base_of(&run, base)?;
    stored_runs::check_differ(&base, &run, request.options.targets.as_ref())?;
    let base = request.read(&base)?;
    check_options(&base, &run, &request.options)?;
    // The answers of one run are compared, the scores of all that are counted together.
    let answers = request.is_judged.then(|| ComparedAnswers {
        pairs: answer_pairs(&base, &run, request.criteria, &request.options),
        named: format!("{} {}", base.run_id, run.run_id),
        base: base.run_id.clone(),
        run: run.clone(),
    });
    let (base, run) = counted_sides(base, run, is_base_named, chosen.is_named, &|run| request.read(run))?;
    Ok(Compared { comparison: Comparison::new(&base, &run, &request.options), answers })
}

/// Base and run with the other runs of their agents, if they were not named. Of the other runs of a named one, a note says that they are not
/// counted. Two runs of one agent are compared as they are.
fn counted_sides(
    base: RunData,
    run: RunData,
    is_base_named: bool,
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
    Ok((count(base, of_base, is_base_named)?, count(run, of_run, is_run_named)?))
}

/// The run that a run is compared with.
fn base_of(run: &RunData, named: Option<&str>) -> Result<StoredRun> {
    if let Some(base) = named {
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

/// How a run of chosen cases compares with the accepted results, or without any with the run that `diff` chooses; `None` if there is
/// neither. Of other runs of the same agent, the cases that this one ran are counted with it.
pub(crate) fn after_run(run: &StoredRun) -> Result<Option<Comparison>> {
    let options = CompareOptions::new().with_only_cases_of_run();
    let data = RunData::read_cases(run.path())?;
    let read = |run: &StoredRun| Ok(RunData::read_cases(run.path())?);
    let read_of_run = |run: &StoredRun| Ok(retain_cases_of(read(run)?, &data));
    let mut comparison = None;
    crate::baselines::compare_after_run(&mut comparison, &data, &options, &read_of_run)?;
    if comparison.is_some() {
        return Ok(comparison);
    }
    let Some(base) = usual_base(&data)? else {
        // The comparison does not affect the exit status of `run`.
        let Some(last) = comparable_of_same_agent(&data)? else { return Ok(None) };
        say!("note: compared with run `{}` of the same commit, because there is none of another one", last.id());
        return Ok(Some(Comparison::new(&read(&last)?, &data, &options)));
    };
    let counted = with_reruns(data.clone(), |_| false, &read_of_run)?;
    Ok(Some(Comparison::new(&with_reruns(read(&base)?, |_| false, &read)?, &counted, &options)))
}
