//! `cargo evalsuite list`.

mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use evalsuite_codegen::expansion;
use evalsuite_loader::load;
use evalsuite_records::record::{OutcomeCounts, SuiteId};
use evalsuite_records::run_directory::{OutputDirectory, StoredRun};
use evalsuite_report::RunData;
use evalsuite_schema::diagnostics::Severity;
use evalsuite_schema::grader::LlmGrader;
use evalsuite_schema::{Case, Grader, GraderConfig};
use schemars::JsonSchema;
use serde::Serialize;
use toml_edit::DocumentMut;

use crate::arguments::OutputFormat;
use crate::check;
use crate::locate::includes::{Include, Includes};
use crate::locate::shown_path::relative;
use crate::locate::{stored_runs, suite_request};
use crate::platform::cli_error::{Exit, Result};
use crate::platform::output::print;

/// List the cases of suites, or with --runs the stored runs
///
/// Cases are listed with their graders, runs with their results, the newest first. Exit status: 0 on success, 1 if a suite has errors, 2 if
/// a path does not exist or a run cannot be read.
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("list"))]
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

pub(crate) fn run(command: &List) -> Result<Exit> {
    let (suites, runs) = if command.runs { (None, Some(runs()?)) } else { (Some(suites(&command.paths)?), None) };
    let is_broken = suites.iter().flatten().any(|suite| suite.errors > 0);
    let listing = Listing { schema: "evalsuite.list/1", suites, runs };
    print(command.format, &listing, |out| text::write(out, &listing))?;
    Ok(Exit::good_if(!is_broken))
}

/// The suites at or below the paths, or those of the package or workspace.
fn suites(named: &[PathBuf]) -> Result<Vec<ListedSuite>> {
    let (paths, includes) = match named {
        [] => check::suites_here()?,
        _ => {
            let paths = named.iter().map(|path| suite_request::suites_at(path)).collect::<Result<Vec<_>>>()?.concat();
            let includes = Includes::of_packages(&suite_request::packages_around(&paths))?;
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
    let request = suite_request::request(suite)?;
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
