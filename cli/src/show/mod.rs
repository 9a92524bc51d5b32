//! `cargo evalsuite show`.

mod case_text;

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use evalsuite_records::run_directory::{LATEST, open_regular_file};
use evalsuite_report::{CaseData, RunData, Transcript, write_transcripts};
use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::suggest;

use crate::locate::stored_runs;
use crate::platform::cli_error::{CliError, ErrorContext, Exit, Result};
use crate::platform::output::stdout;
use crate::platform::pager;

/// Show a case of a run in detail, or a transcript in the ATIF format
///
/// Prints the prompt, the transcript step by step, the graders with their assertions, the changes in the workspace, and the cost. Shows the
/// first trial that did not pass, unless `--trial` selects another one. ATIF files may come from any program; evalsuite writes them as
/// trajectory.json. On a terminal, the output goes through `PAGER`; an empty `PAGER` disables the pager. Exit status: 0 on success, 2 if a
/// file or run cannot be read, or if the case, trial or step does not exist.
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("show"))]
pub(crate) struct Show {
    /// Id or test name of a case, or ATIF files
    #[arg(required = true, value_name = "CASE|FILE")]
    pub(crate) names: Vec<String>,
    /// Run: its id, its directory, or `latest` [default: latest]
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Show the case of this target only
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Trial to show, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Show this step of the transcript only, counted from 1
    #[arg(long, value_name = "N", conflicts_with = "html")]
    pub(crate) step: Option<usize>,
    /// Write the transcripts of ATIF files to an HTML file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// The largest transcript that is shown, in bytes.
const LARGEST: u64 = 64 << 20;

pub(crate) fn run(command: &Show) -> Result<Exit> {
    let [name] = command.names.as_slice() else { return show_files(command) };
    if command.html.is_some() || Path::new(name).is_file() { show_files(command) } else { show_case(command, name) }
}

fn show_files(command: &Show) -> Result<Exit> {
    if let Some(name) = command.names.iter().find(|name| !Path::new(name).exists()) {
        let message = format!("`{name}` is not a file; several names, and --html, are for ATIF files");
        return Err(CliError::with_help(message, "`cargo evalsuite report --html FILE` shows cases"));
    }
    let of_cases = [
        ("--run", command.run.is_some()),
        ("--target", command.target.is_some()),
        ("--trial", command.trial.is_some()),
    ];
    if let Some((option, _)) = of_cases.iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::new(format!("{option} selects a case, and `{}` is a file", command.names[0])));
    }
    let (mut transcripts, mut documents) = (Vec::new(), Vec::new());
    for name in &command.names {
        let file = Path::new(name);
        let text = read(file).at(file)?;
        transcripts.push(Transcript::parse(name.clone(), &text).at(file)?);
        documents.push(evalsuite_schema::json::from_slice::<Value>(&text).at(file)?);
    }
    let Some(page) = &command.html else {
        let mut text = String::new();
        for (name, document) in command.names.iter().zip(&documents) {
            text.push_str(&format!("{name}\n"));
            case_text::add_steps(&mut text, document, command.step).map_err(CliError::new)?;
            case_text::add_metrics(&mut text, document);
        }
        return pager::print(&text);
    };
    write_transcripts(&transcripts, page).at(page)?;
    writeln!(stdout(), "{}", page.display())?;
    Ok(Exit::Good)
}

/// A file that the user names.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    open_regular_file(file)?.take(LARGEST + 1).read_to_end(&mut text)?;
    match text.len() as u64 {
        0..=LARGEST => Ok(text),
        _ => Err(io::Error::other(format!("it has more than {LARGEST} bytes"))),
    }
}

fn show_case(command: &Show, name: &str) -> Result<Exit> {
    let run = RunData::read(stored_runs::find(command.run.as_deref().unwrap_or(LATEST))?.path())?;
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let has_name = |case: &&CaseData| [&case.record.case_id, &case.record.test_name].contains(&&name.to_owned());
    let mut found: Vec<&CaseData> = cases().filter(has_name).collect();
    if found.is_empty() {
        let meant = suggest::did_you_mean(name, cases().map(|case| case.record.case_id.as_str()));
        return Err(CliError::with_suggestion(format!("run `{}` has no case `{name}`", run.run_id), meant));
    }
    if let Some(target) = &command.target {
        let known: BTreeSet<&str> = found.iter().map(|case| case.record.target.as_str()).collect();
        found.retain(|case| case.record.target == *target);
        if found.is_empty() {
            let message = format!("run `{}` has no case `{name}` of target `{target}`", run.run_id);
            let known = suggest::listed(&Vec::from_iter(known));
            return Err(CliError::with_help(message, format!("targets of this case: {known}")));
        }
    }
    let mut text = String::new();
    for (index, case) in found.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if found.len() > 1 && command.step.is_some() {
            text.push_str(&format!("{}\n", case.record.test_name));
        }
        case_text::add(&mut text, &run, case, command.trial, command.step).map_err(CliError::new)?;
    }
    pager::print(&text)
}

/// Adds the facts that are known, one per line below an empty one.
fn add_facts(text: &mut String, facts: &[(&str, Option<String>)]) {
    let known = || facts.iter().filter_map(|(name, fact)| Some((name, fact.as_ref()?)));
    let width = known().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (index, (name, fact)) in known().enumerate() {
        let before = if index == 0 { "\n" } else { "" };
        text.push_str(&format!("{before}{name:<width$}  {fact}\n"));
    }
}

/// Adds each line with an indent.
fn add_indented(text: &mut String, indent: &str, lines: &str) {
    for line in lines.lines() {
        text.push_str(&format!("{indent}{line}\n"));
    }
}
