//! `cargo evalsuite convert`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use evalsuite_convert::{CasePlacement, Conversion, Outcome, SOURCE_KINDS, Source, SourceEntry, SourceKind};
use evalsuite_loader::load;
use evalsuite_schema::diagnostics::{Code, Diagnostic, Severity, render, suggest};
use evalsuite_schema::discovery::{SuiteFile, is_case_file};
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::OutputFormat;
use crate::locate::suite_search;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::print;

/// Convert a promptfoo configuration or Harbor tasks to a suite
///
/// Reports whether each entry of the source is mapped, approximated, different or dropped, and why. Comments in YAML files are kept.
/// Programs of the source are not run. Requires the feature `convert`. Exit status: 0 on success, 1 if the new suite has errors or an
/// entry was dropped without `--lossy`, 2 if the source cannot be read or a file would be overwritten.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Promptfoo configuration, Harbor task, or directory of Harbor tasks
    pub(crate) source: PathBuf,
    /// Directory of the new suite
    #[arg(value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Kind of the source [default: detected]
    #[arg(long, value_name = "KIND", value_parser = source_kinds())]
    pub(crate) from: Option<&'static SourceKind>,
    /// Layout of the new suite
    #[arg(long, value_enum, default_value_t = CaseLayout::File)]
    pub(crate) layout: CaseLayout,
    /// Also copy files from this directory outside of the source; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_outside: Vec<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Exit with status 0 even if an entry was dropped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaseLayout {
    /// All cases in EVAL.yaml
    File,
    /// Each case in cases/ID/case.yaml
    Directories,
    /// suite.json, and each case in tasks/ID.json
    Tasks,
}

/// What became of the entries of a source.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConvertedSuite {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.convert/1"))]
    schema: &'static str,
    /// Number of entries that the suite has, too.
    mapped: usize,
    /// Number of entries for which the suite has something that is not quite the same. No verdict changes by it.
    approximated: usize,
    /// Number of entries for which the suite has something whose verdict may be another one.
    different: usize,
    /// Number of entries that the suite does not have.
    dropped: usize,
    /// The entries, in the order in which they were met.
    entries: Vec<ConvertedEntry>,
    /// The files that were written, relative to the directory of the suite.
    files: Vec<String>,
    /// Files outside of the directory of the source that were copied, which `--allow-outside` allowed.
    copied_from_outside: Vec<String>,
    /// What is wrong with the new suite.
    problems: Vec<String>,
}

/// An entry of a source.
#[derive(Debug, Serialize, JsonSchema)]
struct ConvertedEntry {
    /// Its file, relative to the directory of the source.
    file: String,
    /// Its line, counted from 1; 0 for a file as a whole.
    line: u32,
    /// Which it is: keys and indices, with its type.
    entry: String,
    /// `mapped`, `approximated`, `different` or `dropped`.
    outcome: &'static str,
    /// Why it is not mapped as it is.
    reasons: Vec<String>,
}

impl ConvertedSuite {
    fn of(conversion: &Conversion, problems: &[String]) -> Self {
        let Conversion { output, report, .. } = conversion;
        let entry = |entry: &SourceEntry| ConvertedEntry {
            file: entry.file.clone(),
            line: entry.line,
            entry: entry.name.clone(),
            outcome: entry.outcome.word(),
            reasons: entry.reasons.clone(),
        };
        Self {
            schema: "evalsuite.convert/1",
            mapped: report.count(Outcome::Mapped),
            approximated: report.count(Outcome::Approximated),
            different: report.count(Outcome::Different),
            dropped: report.count(Outcome::Dropped),
            entries: report.entries().iter().map(entry).collect(),
            files: output.files().keys().map(|file| file.to_string_lossy().replace('\\', "/")).collect(),
            copied_from_outside: copied_from_outside(conversion),
            problems: problems.to_vec(),
        }
    }
}

pub(crate) fn run(command: &Convert) -> Result<CommandStatus> {
    let kind = command.from.map_or_else(|| kind_of(&command.source), Ok)?;
    let source = Source::new(&command.source).allow_outside(command.allow_outside.iter().cloned());
    let suite = kind.convert(source)?;
    let conversion = match command.layout {
        CaseLayout::File => suite.in_layout(CasePlacement::File),
        CaseLayout::Directories => suite.in_layout(CasePlacement::Directories),
        CaseLayout::Tasks => suite.as_tasks()?,
    };
    let style = match command.format {
        OutputFormat::Human => render::Style::Colored,
        OutputFormat::Json => render::Style::Plain,
    };
    let problems = write(&conversion, &command.output, command.force, style)?;
    print(command.format, &ConvertedSuite::of(&conversion, &problems), |out| {
        writeln!(out, "{}", conversion.report)?;
        for file in copied_from_outside(&conversion) {
            writeln!(out, "copied from outside of the source: {file}")?;
        }
        problems.iter().try_for_each(|problem| writeln!(out, "\n{problem}"))
    })?;
    let is_lossy = conversion.report.count(Outcome::Dropped) > 0 && !command.lossy;
    Ok(CommandStatus::good_if(!is_lossy && problems.is_empty()))
}

/// The values of `--from`.
fn source_kinds() -> impl TypedValueParser<Value = &'static SourceKind> {
    let value = |kind: &SourceKind| PossibleValue::new(kind.name).help(kind.about);
    PossibleValuesParser::new(SOURCE_KINDS.iter().map(value)).try_map(|name| {
        SOURCE_KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| format!("`{name}` is not a kind of source"))
    })
}

/// What a source is, from its name and its contents.
fn kind_of(path: &Path) -> Result<&'static SourceKind> {
    if !path.is_dir() && !path.is_file() {
        suite_search::existing(path)?;
        return Err(CliError::new(format!("`{}` is not a file or a directory", path.display())));
    }
    SOURCE_KINDS.iter().find(|kind| kind.is_kind_of(path)).ok_or_else(|| {
        let kinds: Vec<&str> = SOURCE_KINDS.iter().map(|kind| kind.name).collect();
        let message = format!("{} is not a source of a known kind", path.display());
        CliError::with_help(message, format!("set its kind with `--from`: {}", suggest::quoted(&kinds, "or")))
    })
}

/// Writes the suite, and returns the problems that it has.
fn write(conversion: &Conversion, directory: &Path, force: bool, style: render::Style) -> Result<Vec<String>> {
    conversion.output.write(directory, force)?;
    let files = conversion.output.files();
    let is_eval_file = |file: &&PathBuf| {
        file.components().count() == 1 && file.to_str().and_then(SuiteFile::named) == Some(SuiteFile::Eval)
    };
    let eval_file = files.keys().find(is_eval_file);
    let is_one_file = eval_file.is_some() && !files.keys().any(|file| is_case_file(file));
    let suite = eval_file.map_or_else(|| directory.to_owned(), |file| directory.join(file));
    let loaded = load(&suite_search::request(&suite)?);
    let problems = loaded.diagnostics.grouped();
    let errors = problems.into_iter().filter(|problem| problem.severity() == Severity::Error);
    // The file was written here, and nobody wants to split it by hand.
    let with_help = |problem: Diagnostic| match problem.code {
        Code::LimitExceeded if is_one_file => {
            problem.help("convert with `--layout directories`: each case has a file of its own")
        }
        _ => problem,
    };
    Ok(errors.map(|problem| render::text(&with_help(problem), style)).collect())
}

/// The files that were copied from outside of the source.
fn copied_from_outside(conversion: &Conversion) -> Vec<String> {
    conversion.copied_from_outside.iter().map(|file| file.display().to_string()).collect()
}
