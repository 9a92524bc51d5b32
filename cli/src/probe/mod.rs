//! `cargo evalsuite probe`: test programs grade made-up results, and what they find is printed.

#[cfg(any(feature = "lsp", feature = "watch"))]
pub(crate) mod saved_cases;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Output};
use std::time::Duration;
use std::{env, fs, thread};

use clap::Args;
use evalsuite::tooling::{PROBE_PROGRESS, PROBE_REQUEST, ProbeReply, ProbeRequest};
use evalsuite_loader::source::{Files, Span, plain_text};
use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::{ProbeRecord, Share, SuiteId};
use evalsuite_records::summary::lower_bound;
use evalsuite_schema::diagnostics::{Diagnostic, Position, counted, render};
use evalsuite_schema::discovery::workspace_around;
use serde::Serialize;

use crate::arguments::{Build, OutputFormat};
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{Progress, print, say};
use crate::run::cargo_commands::evalsuite_feature;
use crate::run::chosen_tests::{build_and_find_checks, failed, read_files, run_checks, unmatched};

/// Find cases that pass without work and graders that decide nothing, without calling agents
///
/// Builds the tests and grades made-up results with the graders of each case: an empty answer, the prompt, a refusal, a list of all expected
/// texts, a call of every tool, the reference, and the reference with one thing broken. Prints the findings with the floor and the ceiling of
/// each suite: only a pass rate between the two is informative. Stores the results in `.evalsuite/probe` of the package;
/// cases that have not changed are not graded again, unless a grader is in Rust. Judges are asked only with `--judge`, until a budget is spent
/// (EVALSUITE_BUDGET_USD, `execution.budget_usd`). Exit status: 0 without
/// findings, 1 with findings, 2 if the tests cannot be built or a suite cannot be probed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Probe {
    /// Probe only these suites: their names or directories
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Probe only the case with this id; may be repeated
    #[arg(long = "case", value_name = "ID")]
    pub(crate) cases: Vec<String>,
    /// Probe only cases with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Ask judges about the made-up results, which may cost money
    #[arg(long)]
    pub(crate) judge: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) build: Build,
}

/// Time between two looks at the progress.
const TICK: Duration = Duration::from_millis(100);

/// The output of `--format json`.
#[derive(Serialize)]
struct ProbedSuites<'r> {
    schema: &'static str,
    suites: Vec<&'r ProbeRecord>,
    judge_calls: u32,
    judge_cost_usd: Option<f64>,
    judge_calls_of_unknown_cost: u32,
}

impl ProbedSuites<'_> {
    /// `judges   12 calls, ≥ 0.0300 USD`.
    fn write_judges(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.judge_calls == 0 {
            return Ok(());
        }
        let is_bound = self.judge_calls_of_unknown_cost > 0;
        let cost = self.judge_cost_usd.map(|cost| lower_bound(is_bound, &format!("{cost:.4} USD")));
        let cost = cost.unwrap_or_else(|| "of unknown cost".to_owned());
        writeln!(out, "judges: {}, {cost}", counted(self.judge_calls as usize, "call"))
    }
}

pub(crate) fn run(command: &Probe) -> Result<CommandStatus> {
    let mut build = command.build.clone();
    build.features.extend(evalsuite_feature(&command.build, "probe")?);
    let checks = build_and_find_checks(&build)?;
    if checks.is_empty() {
        let help =
            "include a suite with `include_eval_suite!`; `-p`, `--workspace` and `--features` choose what is built";
        return Err(CliError::with_help("no suite is included in the tests of these packages", help));
    }
    let directory = tempfile::tempdir()?;
    let request = ProbeRequest {
        directory: directory.path().to_owned(),
        suites: command.suites.clone(),
        cases: command.cases.clone(),
        tags: command.tags.clone(),
        judges: command.judge,
    };
    let mut programs = run_checks(&build, &checks);
    programs
        .env(PROBE_REQUEST, serde_json::to_string(&request)?)
        .env("EVALSUITE_OUTPUT", stored_runs::output_path()?)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let output = wait_with_progress(programs.spawn()?, &directory.path().join(PROBE_PROGRESS))?;
    if !output.status.success() {
        return Err(failed(&output)?);
    }
    let mut replies: Vec<ProbeReply> = read_files(directory.path())?;
    replies.sort_by(|one, other| one.suite.cmp(&other.suite));
    report(command, &replies)
}

/// Waits for test programs, and shows how many cases they have probed.
fn wait_with_progress(child: Child, file: &Path) -> Result<Output> {
    let progress = Progress::start("probing");
    let programs = thread::spawn(move || child.wait_with_output());
    let mut shown = 0;
    while !programs.is_finished() {
        // The first case has not been chosen yet where there is no file.
        let text = fs::read_to_string(file).unwrap_or_default();
        let of_line = |line: &str| line.strip_prefix('+').and_then(|count| count.parse::<usize>().ok());
        let all: usize = text.lines().filter_map(of_line).sum();
        let done = text.lines().filter(|line| *line == ".").count();
        if all > 0 && done > shown {
            progress.set_steps("probing cases", all);
            (shown..done).for_each(|_| progress.step());
            shown = done;
        }
        thread::sleep(TICK);
    }
    match programs.join() {
        Ok(output) => Ok(output?),
        Err(_) => Err(CliError::new("the output of the test programs cannot be read")),
    }
}

fn report(command: &Probe, replies: &[ProbeReply]) -> Result<CommandStatus> {
    let ids: Vec<SuiteId> = replies.iter().map(|reply| reply.suite.clone()).collect();
    let labels = SuiteId::labels(&ids);
    let mut broken = false;
    for (reply, label) in replies.iter().zip(&labels) {
        reply.problems.iter().for_each(|problem| say!("warning: suite `{label}`: {problem}"));
        if let Some(error) = &reply.error {
            say!("error: suite `{label}`: {error}");
            broken = true;
        }
    }
    let records: Vec<(&ProbeRecord, &str)> = replies
        .iter()
        .zip(&labels)
        .filter_map(|(reply, label)| Some((reply.record.as_ref()?, label.as_str())))
        .collect();
    if records.is_empty() && !broken {
        return Err(nothing_chosen(replies, &labels));
    }
    unmatched_options(command, replies).iter().for_each(|warning| say!("warning: {warning}"));
    for (record, label) in &records {
        for case in &record.cases {
            if let Some(error) = &case.error {
                say!("error: suite `{label}`: case `{}`: {error}", case.case_id);
                broken = true;
            }
        }
    }
    let suites = records.iter().map(|(record, _)| *record).collect();
    let probed = ProbedSuites {
        schema: ProbeRecord::SCHEMA,
        suites,
        judge_calls: replies.iter().map(|reply| reply.judge_calls).sum(),
        judge_cost_usd: sum_of_known(replies.iter().filter_map(|reply| reply.judge_cost_usd)),
        judge_calls_of_unknown_cost: replies.iter().map(|reply| reply.judge_calls_of_unknown_cost).sum(),
    };
    print(command.format, &probed, |out| {
        write(out, &records)?;
        probed.write_judges(out)
    })?;
    let found = records.iter().any(|(record, _)| record.findings().next().is_some());
    Ok(if broken { CommandStatus::CannotWork } else { CommandStatus::good_if(!found) })
}

/// Names on the command line that match no suite or no case, although others do.
fn unmatched_options(command: &Probe, replies: &[ProbeReply]) -> Vec<String> {
    let ids = || replies.iter().flat_map(|reply| &reply.cases).map(String::as_str);
    let tags = || replies.iter().flat_map(|reply| &reply.tags).map(String::as_str);
    let suites = || replies.iter().map(|reply| reply.suite.name.as_str());
    let of_suites = command.suites.iter().filter(|name| !replies.iter().any(|reply| reply.is_named(name)));
    let of_suites = of_suites.map(|name| unmatched(format!("no suite is `{name}`"), name, suites()));
    let of_ids = command.cases.iter().filter(|id| ids().all(|known| known != **id));
    let of_ids = of_ids.map(|id| unmatched(format!("no case has the id `{id}`"), id, ids()));
    let of_tags = command.tags.iter().filter(|tag| tags().all(|known| known != **tag));
    let of_tags = of_tags.map(|tag| unmatched(format!("no case has the tag `{tag}`"), tag, tags()));
    of_suites.chain(of_ids).chain(of_tags).collect()
}

/// The error that no case was chosen, with what there is.
fn nothing_chosen(replies: &[ProbeReply], labels: &[String]) -> CliError {
    let list = |what: &str, names: BTreeSet<&str>| {
        let names: Vec<String> = names.into_iter().take(20).map(|name| format!("`{name}`")).collect();
        if names.is_empty() { format!("no {what}") } else { format!("the {what} {}", names.join(", ")) }
    };
    let suites = list("suites", labels.iter().map(String::as_str).collect());
    let cases = list("cases", replies.iter().flat_map(|reply| &reply.cases).map(String::as_str).collect());
    let tags = list("tags", replies.iter().flat_map(|reply| &reply.tags).map(String::as_str).collect());
    CliError::with_help("no case is selected", format!("there are {suites}; {cases}; {tags}"))
}

/// Most cases that are named for one reason.
const SHOWN: usize = 5;

/// Writes the findings of each suite, then a summary of each.
fn write(out: &mut dyn Write, records: &[(&ProbeRecord, &str)]) -> io::Result<()> {
    let workspace = workspace_around(&env::current_dir()?);
    for (record, _) in records {
        for finding in record.findings() {
            writeln!(out, "{}\n", render::text(&with_lines(finding, &workspace), render::Style::Colored))?;
        }
    }
    for (record, label) in records {
        write_summary(out, record, label)?;
    }
    Ok(())
}

fn write_summary(out: &mut dyn Write, record: &ProbeRecord, label: &str) -> io::Result<()> {
    let findings = record.findings().count();
    writeln!(out, "{label}: {} in {}", counted(findings, "finding"), counted(record.cases.len(), "case"))?;
    let line = |share: Option<Share>, what: &str, nothing: &str| match share {
        Some(share) => format!("{:.2}  {} of {} {what}", share.value(), share.count, share.decided),
        None => format!("   –  {nothing}"),
    };
    let floor = record.floor.map(|floor| (floor.share, format!("cases pass for `{}`", floor.probe.word())));
    let (share, what) = floor.map_or((None, String::new()), |(share, what)| (Some(share), what));
    writeln!(out, "  floor    {}", line(share, &what, "no probe was decided"))?;
    let ceiling = line(record.ceiling, "references pass", "no case has a reference that was decided");
    writeln!(out, "  ceiling  {ceiling}")?;
    writeln!(out, "  mutants  {}", line(record.mutants, "broken references fail", "no reference could be broken"))?;
    for (reason, cases) in not_probed(record) {
        let shown: Vec<&str> = cases.iter().take(SHOWN).map(String::as_str).collect();
        let more = cases.len().checked_sub(SHOWN).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
        writeln!(out, "  not probed: {reason}: {}{more}", shown.join(", "))?;
    }
    Ok(())
}

/// Cases with graders that were not run, by the grader and the reason.
fn not_probed(record: &ProbeRecord) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in &record.cases {
        for grader in &case.not_run {
            let help = if grader.reason == "asks a judge" { "; `--judge` asks it" } else { "" };
            // The lines after the first are details of an error, as JSON has them.
            let reason = grader.reason.lines().next().unwrap_or_default();
            let reason = format!("`{}` {reason}{help}", grader.path);
            let cases = found.entry(reason).or_default();
            if cases.last() != Some(&case.case_id) {
                cases.push(case.case_id.clone());
            }
        }
    }
    found
}

/// The finding with the lines at its places up to their ends: test programs know only where they begin.
fn with_lines(finding: &Diagnostic, workspace: &Path) -> Diagnostic {
    finding.clone().map_places(|mut place| {
        // A file that cannot be read is shown by its name.
        let path = workspace.join(&place.file);
        if let (Some(start), None, Some(text)) = (place.start(), &place.excerpt, plain_text(&path)) {
            let files = Files::new(workspace);
            let next_line = Position { line: start.line.saturating_add(1), column: 1 };
            let span = Span::new(files.add_text(&path, text.into(), [0; 32]), start, next_line);
            place.excerpt = files.locate(span).excerpt;
        }
        place
    })
}
