//! `cargo evalsuite list`, as JSON and as text.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table};
use evalsuite_codegen::expansion;
use evalsuite_loader::load;
use evalsuite_records::record::{OutcomeCounts, SuiteId};
use evalsuite_records::run_directory::{OutputDirectory, StoredRun};
use evalsuite_report::RunData;
use evalsuite_schema::diagnostics::{Severity, counted};
use evalsuite_schema::grader::LlmGrader;
use evalsuite_schema::{Case, Grader, GraderConfig};
use schemars::JsonSchema;
use serde::Serialize;
use toml_edit::DocumentMut;

use crate::arguments::OutputFormat;
use crate::check;
use crate::locate::includes::{Include, Includes};
use crate::locate::suite_search::relative;
use crate::locate::{stored_runs, suite_search};
use crate::platform::exit_status::{CommandStatus, Result};
use crate::platform::output::{self, print};

/// List the cases of suites, or with --runs the stored runs
///
/// Cases are listed with their graders, runs with their results, the newest first. Exit status: 0 on success, 1 if a suite has errors, 2 if
/// a path does not exist or a run cannot be read.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Suites, or directories to search for suites [default: the package or workspace of the current directory]
    pub(crate) paths: Vec<PathBuf>,
    /// List runs instead of cases
    #[arg(long, conflicts_with = "paths")]
    pub(crate) runs: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Suites with their cases and graders, or runs with their results.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.list/1"))]
    schema: &'static str,
    /// The suites; `null` with `--runs`.
    suites: Option<Vec<ListedSuite>>,
    /// The runs, the newest first; `null` without `--runs`.
    runs: Option<Vec<ListedRun>>,
}

/// A suite.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedSuite {
    /// Name of the suite, with its package where several suites have the name; `null` if it cannot be read.
    name: Option<String>,
    /// Name of its package; `null` outside of packages.
    package: Option<String>,
    /// Path of the suite, from the directory of its package.
    path: String,
    /// Path of the suite, from the current directory.
    #[serde(skip)]
    shown: String,
    /// Number of errors that `check` reports.
    errors: usize,
    /// Its tags.
    tags: Vec<String>,
    /// Its targets.
    targets: Vec<String>,
    /// Its cases.
    cases: Vec<ListedCase>,
}

/// A case.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedCase {
    /// Id of the case.
    id: String,
    /// The file it is in.
    file: String,
    /// Its line, counted from 1.
    line: u32,
    /// Its tags, with those of the suite.
    tags: Vec<String>,
    /// Its tests.
    tests: Vec<String>,
    /// Its graders.
    graders: Vec<ListedGrader>,
}

/// A grader of a case.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedGrader {
    /// Name of the grader.
    name: String,
    /// Its type.
    #[serde(rename = "type")]
    grader_type: String,
    /// The file it is in.
    file: String,
    /// Its line, counted from 1.
    line: u32,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedRun {
    /// Id of the run.
    run_id: String,
    /// Directory of the run.
    path: String,
    /// Results by suite and target.
    suites: Vec<SuiteResults>,
}

/// Results of a suite and target.
#[derive(Debug, Serialize, JsonSchema)]
struct SuiteResults {
    /// Name of the suite.
    suite: String,
    /// Name of the target.
    target: String,
    /// Number of cases that passed.
    passed: u32,
    /// Number of cases that failed.
    failed: u32,
    /// Number of cases that ended in an error.
    error: u32,
    /// Number of cases that were skipped.
    skipped: u32,
    /// Share of the cases that ran, 0 to 1.
    pass_rate: Option<f64>,
}

pub(crate) fn run(command: &List) -> Result<CommandStatus> {
    let (suites, runs) = if command.runs { (None, Some(runs()?)) } else { (Some(suites(&command.paths)?), None) };
    let is_broken = suites.iter().flatten().any(|suite| suite.errors > 0);
    let listing = Listing { schema: "evalsuite.list/1", suites, runs };
    print(command.format, &listing, |out| write(out, &listing))?;
    Ok(CommandStatus::good_if(!is_broken))
}

/// The suites at or below the paths, or those of the package or workspace.
fn suites(named: &[PathBuf]) -> Result<Vec<ListedSuite>> {
    let (paths, includes) = match named {
        [] => check::suites_here()?,
        _ => {
            let paths = named.iter().map(|path| suite_search::suites_at(path)).collect::<Result<Vec<_>>>()?.concat();
            let includes = Includes::of_packages(&suite_search::packages_around(&paths))?;
            (paths, includes)
        }
    };
    let mut suites =
        paths.iter().map(|path| listed_suite(path, &includes.of_suite(path))).collect::<Result<Vec<_>>>()?;
    label(&mut suites);
    Ok(suites)
}

/// The name in a package's manifest; `None` without one.
fn package_name(root: &Path) -> Option<String> {
    let manifest: DocumentMut = fs::read_to_string(root.join("Cargo.toml")).ok()?.parse().ok()?;
    manifest.get("package")?.get("name")?.as_str().map(str::to_owned)
}

/// Gives every suite that can be read a name that no other one has.
fn label(suites: &mut [ListedSuite]) {
    let id = |suite: &ListedSuite| {
        let mut id = SuiteId::new(suite.name.clone()?);
        id.package = suite.package.clone().unwrap_or_default();
        id.path.clone_from(&suite.path);
        Some(id)
    };
    let ids: Vec<SuiteId> = suites.iter().filter_map(id).collect();
    let named = suites.iter_mut().filter_map(|suite| suite.name.as_mut());
    for (name, label) in named.zip(SuiteId::labels(&ids)) {
        *name = label;
    }
}

fn listed_suite(suite: &Path, includes: &[&Include]) -> Result<ListedSuite> {
    let request = suite_search::request(suite)?;
    let include = includes.first();
    let loaded = match include {
        Some(include) => load(&expansion::suite_request(&include.binding, &include.context)),
        None => load(&request),
    };
    let errors = loaded.diagnostics.iter().filter(|found| found.severity() == Severity::Error).count();
    let listed = ListedSuite {
        name: None,
        package: package_name(&request.package_root),
        path: request.entry,
        shown: relative(suite)?,
        errors,
        tags: Vec::new(),
        targets: Vec::new(),
        cases: Vec::new(),
    };
    let Some(loaded) = loaded.suite else { return Ok(listed) };
    let named = include.and_then(|include| include.binding.name.as_ref()).map(ToString::to_string);
    let module = named.unwrap_or(loaded.module);
    let mut tests: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for test in &loaded.tests {
        tests.entry(test.case).or_default().push(format!("{module}::{}", test.path.join("::")));
    }
    let case = |(index, loaded): (usize, &evalsuite_loader::LoadedCase)| ListedCase {
        id: loaded.case.id.clone(),
        file: loaded.case.location.file.clone(),
        line: loaded.case.location.line,
        tags: loaded.case.tags.clone(),
        tests: tests.remove(&index).unwrap_or_default(),
        graders: graders(&loaded.case),
    };
    let cases = loaded.cases.iter().enumerate().map(case).collect();
    let targets = loaded.suite.targets.iter().map(|target| target.name.clone()).collect();
    Ok(ListedSuite { name: Some(loaded.suite.name), tags: loaded.suite.tags, targets, cases, ..listed })
}

/// The graders of a case and its turns. Without any, a judge grades by the criteria.
fn graders(case: &Case) -> Vec<ListedGrader> {
    let mut listed: Vec<ListedGrader> = case.all_graders().map(listed_grader).collect();
    if listed.is_empty() && case.conversation.is_none() {
        let implicit = GraderConfig::LlmGrader(LlmGrader::default());
        listed.push(listed_grader(&Grader::new("llm-grader", case.location.clone(), implicit)));
    }
    listed
}

fn listed_grader(grader: &Grader) -> ListedGrader {
    ListedGrader {
        name: grader.name.clone(),
        grader_type: grader.config.type_name().to_owned(),
        file: grader.location.file.clone(),
        line: grader.location.line,
    }
}

/// All runs, the newest first.
fn runs() -> Result<Vec<ListedRun>> {
    OutputDirectory::new(stored_runs::output_path()?).runs_newest_first()?.iter().map(listed_run).collect()
}

fn listed_run(run: &StoredRun) -> Result<ListedRun> {
    let data = RunData::read_cases(run.path())?;
    let mut counts: BTreeMap<(String, String), OutcomeCounts> = BTreeMap::new();
    for case in data.suites.iter().flat_map(|suite| &suite.cases) {
        let key = (case.record.suite.clone(), case.record.target.clone());
        counts.entry(key).or_default().add(case.record.outcome);
    }
    let results = |((suite, target), counts): ((String, String), OutcomeCounts)| SuiteResults {
        suite,
        target,
        passed: counts.passed,
        failed: counts.failed,
        error: counts.error,
        skipped: counts.skipped,
        pass_rate: (counts.run() > 0).then(|| f64::from(counts.passed) / f64::from(counts.run())),
    };
    let suites = counts.into_iter().map(results).collect();
    Ok(ListedRun { run_id: data.run_id, path: run.path().display().to_string(), suites })
}

/// Maximum number of runs that are listed.
const RUNS: usize = 20;

/// Minimum width of the graders of a case that are on its line.
const GRADERS: usize = 20;

fn write(out: &mut dyn Write, listing: &Listing) -> io::Result<()> {
    for suite in listing.suites.iter().flatten() {
        print_suite(out, suite)?;
    }
    if listing.suites.as_ref().is_some_and(Vec::is_empty) {
        writeln!(out, "no suites")?;
    }
    listing.runs.as_ref().map_or(Ok(()), |runs| print_runs(out, runs))
}

fn print_runs(out: &mut dyn Write, runs: &[ListedRun]) -> io::Result<()> {
    if runs.is_empty() {
        return writeln!(out, "no runs");
    }
    const HEADER: [&str; 6] = ["run", "suite", "passed", "failed", "error", "skipped"];
    let shown = runs.iter().take(RUNS).flat_map(|run| run.suites.iter().map(move |suite| run_cells(run, suite)));
    let rows: Vec<[String; 6]> = shown.collect();
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([HEADER[column].len()]).max().unwrap_or_default() + 2
    };
    let width = output::width();
    if (0..HEADER.len()).map(widest).sum::<usize>() <= width {
        let mut table = table(width);
        table.set_header(HEADER);
        table.add_rows(&rows);
        print_table(out, table, |_| true)?;
    } else {
        for [run, suite, passed, failed, error, skipped] in &rows {
            writeln!(out, "{run}  {suite}")?;
            writeln!(out, "  {passed} passed, {failed} failed, {error} error, {skipped} skipped")?;
        }
    }
    match runs.len().saturating_sub(RUNS) {
        0 => Ok(()),
        more => writeln!(out, "and {}", counted(more, "older run")),
    }
}

/// A row of the table of runs.
fn run_cells(run: &ListedRun, suite: &SuiteResults) -> [String; 6] {
    let rate = suite.pass_rate.map(|rate| format!(" ({:.0} %)", 100.0 * rate)).unwrap_or_default();
    [
        run.run_id.clone(),
        format!("{}@{}", suite.suite, suite.target),
        format!("{}{rate}", suite.passed),
        suite.failed.to_string(),
        suite.error.to_string(),
        suite.skipped.to_string(),
    ]
}

fn print_suite(out: &mut dyn Write, suite: &ListedSuite) -> io::Result<()> {
    let Some(name) = &suite.name else {
        let (path, errors) = (&suite.shown, counted(suite.errors, "error"));
        return writeln!(out, "{path}: {errors}, see `cargo evalsuite check {path}`\n");
    };
    write!(out, "{name} ({})", suite.path)?;
    for (what, names) in [("tags", &suite.tags), ("targets", &suite.targets)] {
        if !names.is_empty() {
            write!(out, "  {what}: {}", names.join(", "))?;
        }
    }
    writeln!(out)?;
    let width = output::width();
    let place = |case: &ListedCase| format!("{}:{}", case.file, case.line);
    let graders =
        |case: &ListedCase| case.graders.iter().map(|grader| grader.name.as_str()).collect::<Vec<_>>().join(", ");
    let widest_id = suite.cases.iter().map(|case| case.id.chars().count()).max().unwrap_or_default();
    let widest_place = suite.cases.iter().map(|case| place(case).chars().count()).max().unwrap_or_default();
    let names = widest_id + widest_place + 6;
    if names + GRADERS <= width {
        let mut table = table(width);
        for case in &suite.cases {
            table.add_row([format!("  {}", case.id), place(case), graders(case)]);
        }
        print_table(out, table, |column| column < 2)?;
    } else {
        // Paths are not broken: editors and terminals open them.
        for case in &suite.cases {
            let gap = if names <= width { "  " } else { "\n    " };
            writeln!(out, "  {}{gap}{}", case.id, place(case))?;
            let mut below = table(width.saturating_sub(2));
            below.add_row([graders(case)]);
            for line in below.lines().filter(|line| !line.trim().is_empty()) {
                writeln!(out, "    {}", line.trim())?;
            }
        }
    }
    writeln!(out)
}

fn table(width: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width.try_into().unwrap_or(u16::MAX));
    table
}

/// The lines of a table without the spaces that fill its last column. The cells of some columns stay on one line.
fn print_table(out: &mut dyn Write, mut table: Table, is_whole: impl Fn(usize) -> bool) -> io::Result<()> {
    for column in table.column_iter_mut().filter(|column| is_whole(column.index)) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    for line in table.lines() {
        let line = line.strip_prefix(' ').unwrap_or(&line);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
