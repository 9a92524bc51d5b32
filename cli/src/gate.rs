//! `cargo evalsuite gate`.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use evalsuite_records::record::SuiteId;
use evalsuite_records::run_directory::{LATEST, SUITES, StoredRun};
use evalsuite_report::{
    Comparison, ComparisonVerdict, GateOptions, GateReport, GateVerdict, JSON_SCHEMAS, RunData, SliceKey, SuiteData,
    check_gates, suite_gates,
};
use evalsuite_schema::diagnostics::terminal;
use evalsuite_schema::json::{Value, json};
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::{ComparisonArguments, OutputFormat};
use crate::compared_runs::{self, Chosen, Request};
use crate::diff;
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::print;

/// Check a run against thresholds
///
/// Checks the `gates` in the files of the run's suites, and those of `--require`.
///
/// A gate is `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`. Measures: `pass_rate`, `lower(pass_rate)` (the lower bound of its 95%
/// interval), `score`, `cost`, `time`, `p50(time)`, `p95(time)`, `lift` (the lower bound of what a skill adds to the pass rate),
/// `lift(score)`. Keys: `suite`, `target`, `bucket`, `tag`, `metadata.KEY`. Exit status: 0 if all gates are met, 1 if one is missed or the
/// run has a regression, 2 if a run does not exist or a gate is invalid, 4 if a gate cannot be decided: no cases, missing or damaged
/// results, or too few cases to compare.
#[derive(Debug, Args)]
pub(crate) struct Gate {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Further gate to check; may be repeated
    #[arg(long = "require", value_name = "GATE")]
    pub(crate) gates: Vec<String>,
    /// Only check the cases that ran: cases without a result were not selected, and are not missing
    #[arg(long)]
    pub(crate) selected: bool,
    #[command(flatten)]
    pub(crate) accepted: crate::baselines::GateArgument,
    /// Also compare with an earlier run: its id or directory; a regression counts as a missed gate
    #[arg(long, value_name = "RUN")]
    pub(crate) base: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Both parts of the check as one JSON object.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    gates: &'a GateReport,
    comparison: Option<&'a Comparison>,
}

pub(crate) fn run(command: &Gate) -> Result<CommandStatus> {
    let required = command
        .gates
        .iter()
        .map(|text| text.parse())
        .collect::<std::result::Result<Vec<evalsuite_report::Gate>, _>>()?;
    if command.run.parse::<evalsuite_report::Gate>().is_ok() {
        let message = format!("`{}` is a gate, where the run is named", command.run);
        return Err(CliError::with_help(message, format!("write `--require '{}'`", command.run)));
    }
    let stored = stored_runs::find(&command.run)?;
    let chosen = Chosen { is_named: command.run != LATEST, run: stored };
    let request = || Ok::<_, CliError>(Request::new(compared_runs::options(&command.comparison)?));
    let compared = match &command.base {
        _ if command.accepted.baseline => Some(crate::baselines::compare(&chosen, &request()?)?),
        Some(base) => Some(diff::compare(&chosen, Some(base), &request()?)?),
        None => None,
    };
    let comparison = compared.map(|compared| compared.comparison);
    let mut options = GateOptions::new();
    options.only_selected = command.selected;
    let run = RunData::read(chosen.run.path())?;
    let mut gates = suite_gates(&run)?;
    gates.extend(required);
    if gates.is_empty() && comparison.is_none() {
        return Err(CliError::with_help(
            format!("the suites of run `{}` have no gates", run.run_id),
            "write `gates: [lower(pass_rate) >= 80%]` in EVAL.yaml, or use --require",
        ));
    }
    let run = with_floors(run, &gates)?;
    let report = check_gates(&run, &gates, options);
    print(command.format, &Checked { gates: &report, comparison: comparison.as_ref() }, |out| {
        write!(out, "{report}")?;
        let gap = if gates.is_empty() { "" } else { "\n" };
        let mut comparison = comparison.iter().map(|comparison| terminal::lines(&comparison.to_string()));
        comparison.try_for_each(|comparison| write!(out, "{gap}{comparison}"))
    })?;
    Ok(exit((!gates.is_empty()).then(|| report.verdict()), comparison.as_ref().map(Comparison::verdict)))
}

/// The gates of the suites of a run of chosen cases.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct GatesOfRun {
    /// The gates of suites all of whose tests were chosen, as `gate --format json` prints them; `null` without any.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    gates: Option<GateReport>,
    /// The other gates.
    unchecked_gates: Vec<String>,
}

impl GatesOfRun {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.gates.is_some() || !self.unchecked_gates.is_empty() {
            writeln!(out)?;
        }
        for gate in &self.unchecked_gates {
            let gate = terminal::line(gate);
            writeln!(out, "unchecked  {gate}  (some tests of the suite were not selected)")?;
        }
        self.gates.as_ref().map_or(Ok(()), |report| write!(out, "{report}"))
    }
}

/// Checks the gates of a run's suites; returns the exit status that follows, too. `names` is what the suites are called. `is_complete`: whether
/// all tests of a suite were to run; the gates of others are not checked.
pub(crate) fn after_run(
    stored: &StoredRun,
    names: &[(SuiteId, String)],
    is_complete: impl Fn(&str) -> bool,
) -> Result<(GatesOfRun, CommandStatus)> {
    let run = RunData::read(stored.path())?.with_suite_names(names);
    let (mut checked, mut unchecked) = (Vec::new(), Vec::new());
    for gate in suite_gates(&run)? {
        let is_checked = gate.selected().iter().all(|(key, name)| *key != SliceKey::Suite || is_complete(name));
        if is_checked { checked.push(gate) } else { unchecked.push(gate.to_string()) }
    }
    let run = with_floors(without_running_suites(run, stored, is_complete)?, &checked)?;
    let gates = (!checked.is_empty()).then(|| check_gates(&run, &checked, GateOptions::new()));
    let status = exit(gates.as_ref().map(GateReport::verdict), None);
    Ok((GatesOfRun { gates, unchecked_gates: unchecked }, status))
}

/// Leaves out suites that this command does not run completely, if tests of the run are still running: another command may run them.
fn without_running_suites(mut run: RunData, stored: &StoredRun, is_complete: impl Fn(&str) -> bool) -> Result<RunData> {
    if !run.in_use {
        return Ok(run);
    }
    run.suites.retain(|suite| is_complete(&suite.name));
    let directories = run.suites.iter().filter_map(|suite| suite.directory.file_name()).map(OsStr::to_string_lossy);
    let directories: Vec<_> = directories.collect();
    let is_in_use =
        directories.iter().map(|directory| stored.is_suite_in_use(directory)).collect::<io::Result<Vec<_>>>()?;
    let of_others = |file: &str| {
        let suite = Path::new(file).strip_prefix(SUITES).ok().and_then(|rest| rest.components().next());
        suite.is_some_and(|suite| directories.iter().all(|own| suite.as_os_str() != OsStr::new(own.as_ref())))
    };
    run.problems.retain(|problem| !of_others(&problem.file));
    run.in_use = is_in_use.contains(&true);
    Ok(run)
}

/// The run with the floors of suites that were probed after it, if a gate needs them.
fn with_floors(run: RunData, gates: &[evalsuite_report::Gate]) -> Result<RunData> {
    let is_unknown = |suite: &SuiteData| suite.record.as_ref().is_some_and(|record| record.probe.is_none());
    if !gates.iter().any(evalsuite_report::Gate::is_above_floor) || !run.suites.iter().any(is_unknown) {
        return Ok(run);
    }
    let probes = stored_runs::read_probes(&run)?;
    Ok(run.with_probes(&probes))
}

/// 1 if one of them is certainly bad, 4 if one cannot be decided.
fn exit(gates: Option<GateVerdict>, comparison: Option<ComparisonVerdict>) -> CommandStatus {
    if gates == Some(GateVerdict::Missed) || comparison == Some(ComparisonVerdict::Regressed) {
        return CommandStatus::Problems;
    }
    let is_undecided = gates == Some(GateVerdict::Undecided) || comparison == Some(ComparisonVerdict::Undecided);
    if is_undecided { CommandStatus::Undecided } else { CommandStatus::Good }
}

/// A report about gates, beside which `gate` prints a comparison.
pub(crate) fn schema() -> serde_json::Result<Value> {
    let of = |kind: &str| JSON_SCHEMAS.iter().find(|(name, _)| *name == kind).map_or("null", |(_, text)| *text);
    let [mut gate, mut diff] =
        [evalsuite_schema::json::from_str::<Value>(of("gate"))?, evalsuite_schema::json::from_str(of("diff"))?];
    let mut definitions = diff["definitions"].take();
    for key in ["$schema", "title", "definitions"] {
        diff.as_object_mut().map(|schema| schema.remove(key));
    }
    definitions["Comparison"] = diff;
    let required = gate["required"].as_array_mut();
    required.into_iter().for_each(|names| names.push("comparison".into()));
    gate["properties"]["comparison"] = json!({
        "description": "The comparison that was asked for, as `diff` prints it; `null` without `--base` and `--baseline`.",
        "anyOf": [{ "$ref": "#/definitions/Comparison" }, { "type": "null" }],
    });
    for (name, definition) in definitions.as_object().into_iter().flatten() {
        gate["definitions"][name] = definition.clone();
    }
    Ok(gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_bad_or_undecided_is_not_good() {
        let good = [ComparisonVerdict::Same, ComparisonVerdict::Improved, ComparisonVerdict::Unchanged];
        for comparison in good {
            assert_eq!(exit(Some(GateVerdict::Met), Some(comparison)), CommandStatus::Good, "{comparison}");
            assert_eq!(exit(Some(GateVerdict::Undecided), Some(comparison)), CommandStatus::Undecided, "{comparison}");
        }
        assert_eq!(exit(None, Some(ComparisonVerdict::Undecided)), CommandStatus::Undecided);
        assert_eq!(exit(Some(GateVerdict::Met), Some(ComparisonVerdict::Regressed)), CommandStatus::Problems);
        assert_eq!(exit(Some(GateVerdict::Missed), Some(ComparisonVerdict::Undecided)), CommandStatus::Problems);
    }
}
