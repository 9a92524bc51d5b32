//! Reports of [evalsuite](https://docs.rs/evalsuite) runs.
//!
//! [`RunData`] reads a run directory, [`HtmlReport`] writes it as one self-contained HTML file. Neither needs the sources of the
//! suites, and both work while a run is incomplete.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.
//!
//! ```no_run
//! use evalsuite_report::{HtmlReport, RunData};
//!
//! let run = RunData::read("target/evalsuite/runs/20261122T142550Z-57153b")?;
//! let written = HtmlReport::new(run).write_file("report.html".as_ref())?;
//! println!("{} bytes", written.bytes);
//! # Ok::<(), std::io::Error>(())
//! ```

mod accept;
pub mod baseline_as_run;
mod comparison;
mod failure_text;
mod formats;
mod gates;
mod health;
mod html;
pub mod lift;
mod markdown_text;
mod run_data;
mod sequential;
mod suite_text;

pub use self::suite_text::{JudgedRate, first_of, judged_rates};
pub use accept::{
    Accepted, AcceptedCase, Decision, RedBuilds, accept, accept_answers, write_accepted_answers, write_baseline,
};
pub use comparison::{
    CaseChange, ChangeKind, CompareOptions, Comparison, ComparisonUnit, ComparisonVerdict, CountedRuns, JudgedAnswers,
    SliceComparison, SuiteComparison, UnknownTrials, answer_pairs, judges_of, pooled, retain_cases_of,
};
pub use evalsuite_records::run_data::{
    comparable_of_commit, comparable_of_same_agent, earlier_comparable, earlier_runs, newest_outcomes,
    runs_of_same_agent,
};
pub use evalsuite_schema::gate::{Gate, GateError, Measure, SliceKey};
pub use evalsuite_statistics::{CorrectedRate, corrected_rate, wilson_interval};
pub use formats::otel;
pub use formats::{Destination, Exported, FORMATS, Format, content_text};
pub use formats::{InspectFormat, InspectLog, inspect_logs};
pub use gates::{GateChances, GateOptions, GateReport, GateResult, GateVerdict, check_gates, suite_gates};
pub use health::*;
pub use html::{Details, HtmlReport, LARGE_FILE, Transcript, TranscriptError, Written, write_transcripts};
pub use markdown_text::MARKDOWN_LIMIT;
pub use run_data::{CaseData, Problem, RunData, SuiteData, TrialData};
pub use sequential::{
    ChosenCase, DecisionOptions, DecisionVerdict, NextTrials, RunDecision, SuiteDecision, base_text, plan_decision,
    usual_trials,
};
pub use suite_text::SuiteText;

/// JSON Schemas of what evalsuite writes as JSON for other programs, by name: `summary` is that of `summary.json` and of
/// `cargo evalsuite report --format json` ([`RunSummary`](evalsuite_records::record::RunSummary)), `diff` that of
/// `cargo evalsuite diff --format json` ([`Comparison`]), `calibrate` that of `calibration.json` and of
/// `cargo evalsuite calibrate --format json` ([`CalibrationRecord`](evalsuite_records::record::CalibrationRecord)), `gate` that of a
/// [`GateReport`], `health` that of `cargo evalsuite health --format json` ([`Health`]), `lift` that of
/// `cargo evalsuite lift --format json` ([`RunLifts`](crate::lift::RunLifts)). They are JSON Schemas of draft 7. Fields that a schema does
/// not name may be added in later versions; readers have to ignore them.
pub const JSON_SCHEMAS: &[(&str, &str)] = &[
    ("summary", include_str!("../schemas/summary.schema.json")),
    ("diff", include_str!("../schemas/diff.schema.json")),
    ("calibrate", include_str!("../schemas/calibrate.schema.json")),
    ("gate", include_str!("../schemas/gate.schema.json")),
    ("health", include_str!("../schemas/health.schema.json")),
    ("lift", include_str!("../schemas/lift.schema.json")),
];
