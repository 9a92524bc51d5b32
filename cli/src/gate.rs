//! `cargo evalsuite gate`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite_report::{Comparison, ComparisonVerdict, GateOptions, GateReport, GateVerdict, RunData, check_gates};
use serde::Serialize;

use crate::command_line::{Gate, ReportFormat};
use crate::diff::{Standard, UNDECIDED};
use crate::{diff, json_output, stored_runs};

/// Both parts of the check as one JSON object.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    gates: &'a GateReport,
    comparison: Option<&'a Comparison>,
}

pub(crate) fn run(command: &Gate) -> io::Result<ExitCode> {
    let mut gates = Vec::new();
    for text in &command.gates {
        let gate = text.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        gates.push(gate);
    }
    let stored = match stored_runs::find(&command.run)? {
        Ok(run) => run,
        Err(code) => return Ok(code),
    };
    let standard = match &command.base {
        _ if command.baseline => Some(Standard::Baseline),
        Some(base) => Some(Standard::Run(base)),
        None => None,
    };
    let comparison = match standard.map(|standard| diff::compare(&stored, standard, &command.comparison)).transpose()? {
        Some(Ok(comparison)) => Some(comparison),
        Some(Err(code)) => return Ok(code),
        None => None,
    };
    let mut options = GateOptions::new();
    options.only_selected = command.selected;
    let report = check_gates(&RunData::read(stored.path())?, &gates, options);
    let mut out = anstream::stdout().lock();
    match command.format {
        ReportFormat::Json => {
            json_output::print(&mut out, &Checked { gates: &report, comparison: comparison.as_ref() })?;
        }
        ReportFormat::Text => {
            write!(out, "{report}")?;
            if let Some(comparison) = &comparison {
                write!(out, "{}{comparison}", if gates.is_empty() { "" } else { "\n" })?;
            }
        }
    }
    Ok(exit_code((!gates.is_empty()).then(|| report.verdict()), comparison.as_ref().map(Comparison::verdict)))
}

/// 1 if one of them is certainly bad, 4 if one cannot be decided.
fn exit_code(gates: Option<GateVerdict>, comparison: Option<ComparisonVerdict>) -> ExitCode {
    if gates == Some(GateVerdict::Missed) || comparison == Some(ComparisonVerdict::Regressed) {
        return ExitCode::FAILURE;
    }
    let is_met = gates.is_none_or(|verdict| verdict == GateVerdict::Met);
    let is_good =
        comparison.is_none_or(|verdict| matches!(verdict, ComparisonVerdict::Improved | ComparisonVerdict::Unchanged));
    if is_met && is_good { ExitCode::SUCCESS } else { ExitCode::from(UNDECIDED) }
}
