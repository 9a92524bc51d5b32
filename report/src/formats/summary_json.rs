//! The summary of a run as JSON.

use std::io::{self, Write};

use evalsuite_records::record::RunSummary;
use evalsuite_records::summary::summarize_run;
use serde::Serialize;

use super::{Destination, Format};
use crate::run_data::{Problem, RunData};
use crate::suite_text::{JudgedRate, judged_rates};

pub(super) const FORMAT: Format = Format::of_text(
    "json",
    Destination::File,
    summary_json,
    "Write the summary as JSON, as printed by `--format json`",
);

/// The summary of a run with what only its report says.
#[derive(Serialize)]
struct ReportedSummary {
    #[serde(flatten)]
    summary: RunSummary,
    judged_rates: Vec<JudgedRate>,
}

/// The summary as one JSON object, like `summary.json`.
pub(super) fn summary_json(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let summary = ReportedSummary { summary: summarize_run(&run.directory)?, judged_rates: judged_rates(run) };
    serde_json::to_writer_pretty(&mut *out, &summary)?;
    writeln!(out)?;
    Ok(Vec::new())
}
