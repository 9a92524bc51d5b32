//! `cargo evalsuite accept`.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, Write};

use clap::Args;
use evalsuite::RunOptions;
use evalsuite_records::record::{AcceptedAnswers, Baseline, ProbeRates, ProbeRecord, Status};
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_report::baseline_as_run::{read_accepted_answers, read_baseline};
use evalsuite_report::{
    Accepted, AcceptedCase, CaseData, CompareOptions, Comparison, ComparisonVerdict, Decision, RedBuilds, RunData,
    SuiteData, accept, accept_answers, write_accepted_answers, write_baseline,
};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::diagnostics::suggest::{did_you_mean, quoted};

use crate::baselines::{self, BaselineFile};
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{say, stdout};

/// Accept the results of a run as the baseline of its suites
///
/// Writes one file per suite to `.evalsuite/baselines` of its package; commit it. Tests compare a case with the trials of all accepted runs
/// since the case last changed; `diff --baseline` compares scores with those of the run that was accepted last. A case that differs from its
/// baseline by more than chance explains has changed: from then on, only the trials of this run count. `--force` does this for any case.
/// Prints what changed and what was kept, and how often an unchanged agent would fail. Exit status: 0 on success, also if results were
/// kept; 2 if the run does not exist, is still running or has no cases, or a file cannot be written.
#[derive(Debug, Args)]
pub(crate) struct Accept {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Replace all earlier results of this case with those of the run; may be repeated
    #[arg(long = "force", value_name = "CASE")]
    pub(crate) forced: Vec<String>,
    /// Also write the answers of passed trials, for `diff --baseline --judge`; existing answers are updated without this flag
    #[arg(long)]
    pub(crate) answers: bool,
}

pub(crate) fn run(command: &Accept) -> Result<CommandStatus> {
    let run = RunData::read(stored_runs::find(&command.run)?.path())?;
    if let Some(problem) = unusable(command, &run) {
        return Err(problem);
    }
    for problem in &run.problems {
        say!("warning: {}: {}", problem.file, problem.message);
    }
    let forced: BTreeSet<String> = command.forced.iter().cloned().collect();
    // Of two commands at the same time, the second one adds to what the first one accepted.
    let _lock = OutputDirectory::lock_packages(&env::current_dir()?)?;
    // Everything is read before anything is written.
    let confirming = RunOptions::new().confirming_trials()?;
    let mut all = Vec::new();
    for file in baselines::files(&run)? {
        let before = read_baseline(&file.path)?;
        let accepted = accept(&run, file.suite, before.as_ref(), &forced);
        let answers_before = read_accepted_answers(&file.answers)?;
        let answers = (command.answers || answers_before.is_some())
            .then(|| accept_answers(file.suite, &accepted, answers_before.as_ref()))
            .filter(|answers| answers_before.as_ref() != Some(answers));
        let before = before.as_ref().filter(|_| has_new_scores(&accepted, &file));
        let loss = before.and_then(|before| loss(before, &file, &run));
        all.push((file, accepted, answers, loss));
    }
    let probes = stored_runs::read_probes(&run)?;
    let mut out = stdout();
    for (file, accepted, answers, loss) in &all {
        write!(out, "{accepted}")?;
        if let Some(loss) = loss {
            writeln!(out, "  this run has regressed: its mean score is {loss:.3} below the one that it replaces")?;
        }
        if let Some(builds) = RedBuilds::of(&accepted.baseline, file.suite, confirming) {
            writeln!(out, "  {builds}")?;
        }
        if let Some(probe) = probes.iter().find(|probe| probe.suite.name == file.suite.name) {
            probed(probe, &mut out)?;
        }
        if accepted.is_changed() {
            write_baseline(&file.path, &accepted.baseline)?;
            writeln!(out, "  {}", file.path.display())?;
        }
        if let Some(answers) = answers {
            write_accepted_answers(&file.answers, answers)?;
            writeln!(out, "  {}  {}", file.answers.display(), counted(answers.answers.len(), "answer"))?;
            let cut = cut_answers(file.suite, accepted, answers);
            if !cut.is_empty() {
                let cases = quoted(&cut, "and");
                writeln!(out, "  no answer of {cases}: the records have only the beginning of it, 64 KiB")?;
            }
        }
    }
    Ok(CommandStatus::Good)
}

/// Cases whose result was accepted, but no answer, because the records have only the beginning of those of its trials that passed.
fn cut_answers<'a>(suite: &SuiteData, accepted: &'a Accepted, answers: &AcceptedAnswers) -> Vec<&'a str> {
    let suite = suite.measured();
    let is_cut = |case: &CaseData| {
        let mut passed = case.trials.iter().filter(|trial| trial.record.outcome == Status::Passed).peekable();
        passed.peek().is_some() && passed.all(|trial| trial.record.answer_truncated)
    };
    let has_cut = |accepted: &&AcceptedCase| {
        let is_it = |case: &&CaseData| case.record.case_id == accepted.case && case.record.target == accepted.target;
        suite.cases.iter().find(is_it).is_some_and(is_cut)
    };
    let is_kept = |case: &AcceptedCase| matches!(case.decision, Decision::Kept | Decision::LeftOut);
    let without =
        accepted.cases.iter().filter(|case| !is_kept(case) && answers.find(&case.case, &case.target).is_none());
    let mut cut: Vec<&str> = without.filter(has_cut).map(|case| case.case.as_str()).collect();
    cut.dedup();
    cut
}

/// Whether the scores of a run are those of the baseline now. Those of a run that was accepted before others are not.
fn has_new_scores(accepted: &Accepted, file: &BaselineFile<'_>) -> bool {
    let runs: BTreeSet<&str> = file.suite.cases.iter().map(|case| case.record.run_of_result()).collect();
    accepted.baseline.cases.iter().any(|line| runs.contains(line.run.as_str()))
}

/// How much the mean score of a suite is below its baseline, if it has regressed.
fn loss(before: &Baseline, file: &BaselineFile<'_>, run: &RunData) -> Option<f64> {
    let mut before = before.clone();
    before.header.suite.clone_from(&file.suite.name);
    let comparison = Comparison::with_baselines(&[before], run, &CompareOptions::new().with_only_cases_of_run());
    let of_suite = comparison.suites.iter().filter(|compared| compared.suite == file.suite.name);
    let regressed = of_suite.filter(|compared| compared.verdict == ComparisonVerdict::Regressed);
    regressed.map(|compared| -compared.difference).filter(|loss| *loss > 0.0).reduce(f64::max)
}

/// What the accepted results of a suite are worth.
fn probed(probe: &ProbeRecord, out: &mut impl Write) -> io::Result<()> {
    if let Some(rates) = ProbeRates::of(probe) {
        writeln!(out, "  {rates}")?;
    }
    match probe.findings().count() {
        0 => Ok(()),
        count => writeln!(out, "  {} of the probe: `cargo evalsuite probe`", counted(count, "finding")),
    }
}

/// Why nothing of the run can be accepted.
fn unusable(command: &Accept, run: &RunData) -> Option<CliError> {
    let ids = || run.suites.iter().flat_map(|suite| &suite.cases).map(|case| case.record.case_id.as_str());
    if run.in_use {
        return Some(CliError::new(format!("tests of run `{}` are still running", run.run_id)));
    }
    if ids().next().is_none() {
        return Some(CliError::new(format!("run `{}` has no cases", run.run_id)));
    }
    let unknown = command.forced.iter().find(|id| ids().all(|known| known != **id))?;
    let message = format!("run `{}` has no case `{unknown}`: --force needs the id of a case", run.run_id);
    Some(CliError::with_suggestion(message, did_you_mean(unknown, ids())))
}
