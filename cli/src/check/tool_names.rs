//! Names of tools in graders that no agent has called: they are known only after a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalsuite_discovery::with_slashes;
use evalsuite_loader::{LoadedSuite, Request};
use evalsuite_records::run_data::{RunData, SuiteData, TrialFiles};
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_schema::diagnostics::suggest::{did_you_mean, quoted};
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics};
use evalsuite_schema::grader::{GraderConfig, TrajectoryMode};
use evalsuite_schema::{Grader, Location, Value};

use crate::locate::stored_runs::output_path_of;
use crate::locate::suite_request::suite_directory;
use crate::platform::cli_error::Result;

/// Runs in which a suite is looked for, the newest first.
const MOST_RUNS: usize = 5;

/// Called tools that are named where none is similar, at most.
const MOST_NAMED: usize = 5;

/// A warning for each tool that a single grader names, and that no trial of the newest run of the suite called. A tool that must not be
/// called is only reported if the name is close to that of a called one.
pub(super) fn uncalled(suite: &Path, request: &Request, loaded: &LoadedSuite) -> Result<Diagnostics> {
    let mut named: BTreeMap<&str, Vec<(&Location, bool)>> = BTreeMap::new();
    for grader in loaded.cases.iter().flat_map(|loaded| loaded.case.all_graders()).flat_map(Grader::with_members) {
        for (name, is_wanted) in names(grader) {
            let places = named.entry(name).or_default();
            if places.iter().all(|(place, _)| *place != &grader.location) {
                places.push((&grader.location, is_wanted));
            }
        }
    }
    // A name that two graders have is no slip. A pattern may match what no agent has called yet.
    named.retain(|name, places| places.len() == 1 && !name.contains(['*', '?']));
    if named.is_empty() {
        return Ok(Diagnostics::new());
    }
    let Some((run, called)) = called_tools(suite, request)? else { return Ok(Diagnostics::new()) };
    let problem = |(name, places): (&&str, &Vec<(&Location, bool)>)| {
        let (place, is_wanted) = *places.first()?;
        let meant = did_you_mean(name, called.iter().map(String::as_str));
        if called.contains(*name) || (!is_wanted && meant.is_none()) {
            return None;
        }
        let known: Vec<&str> = called.iter().map(String::as_str).take(MOST_NAMED).collect();
        let help = meant.unwrap_or_else(|| format!("agents called {}", quoted(&known, "and")));
        let message = format!("no agent called a tool `{name}` in run {run}, and no other grader names it");
        Some(Diagnostic::new(Code::UncalledTool, message).at(place).help(help))
    };
    Ok(named.iter().filter_map(problem).collect())
}

/// The tools that a grader names, and whether they have to be called.
fn names(grader: &Grader) -> Vec<(&str, bool)> {
    let GraderConfig::ToolTrajectory(config) = &grader.config else { return Vec::new() };
    let is_wanted = config.mode != TrajectoryMode::Subset && !grader.negate;
    let expected = config.expected.iter().map(|call| (call.tool.as_str(), is_wanted));
    let minimums = config.minimums.iter().map(|(name, count)| (name.as_str(), *count > 0 && !grader.negate));
    let maximums = config.maximums.iter().map(|(name, _)| (name.as_str(), false));
    expected.chain(minimums).chain(maximums).collect()
}

/// The tools that trials of the newest run with calls of the suite called, and the id of the run.
fn called_tools(suite: &Path, request: &Request) -> Result<Option<(String, BTreeSet<String>)>> {
    let directory = suite_directory(suite);
    let path = with_slashes(directory.strip_prefix(&request.package_root).unwrap_or(directory));
    let package = with_slashes(request.package_root.strip_prefix(&request.workspace_root).unwrap_or(Path::new("")));
    let package = if package.is_empty() { ".".to_owned() } else { package };
    let is_it = |suite: &&SuiteData| suite.id.path == path && suite.id.package_directory == package;
    let output = OutputDirectory::new(output_path_of(&request.package_root)?);
    for stored in output.runs_newest_first()?.into_iter().take(MOST_RUNS) {
        let run = RunData::read(stored.path())?;
        let cases = run.suites.iter().filter(is_it).flat_map(|suite| &suite.cases);
        let mut called = BTreeSet::new();
        for trial in cases.flat_map(|case| &case.trials) {
            // What cannot be read is a problem of the run, not of the suite.
            let trajectory = TrialFiles::read_without_texts(&run, trial, &mut Vec::new()).trajectory;
            called.extend(trajectory.iter().flat_map(tools_of));
        }
        if !called.is_empty() {
            return Ok(Some((run.run_id, called)));
        }
    }
    Ok(None)
}

/// The tools that a transcript has calls of.
fn tools_of(document: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let calls = list(&document["steps"]).into_iter().flat_map(|step| list(&step["tool_calls"]));
    calls.filter_map(|call| call["function_name"].as_str().map(str::to_owned)).collect()
}
