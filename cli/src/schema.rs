//! `cargo evalsuite schema`.

use std::io::Write;

use clap::Args;
use evalsuite_loader::key_tables::{FILES, json_schema};
use evalsuite_report::JSON_SCHEMAS;
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::json::Value;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use crate::clean::CleanedRuns;
#[cfg(feature = "convert")]
use crate::convert::ConvertedSuite;
use crate::expand::ExpandedSuite;
use crate::finish::EndedRun;
use crate::list::Listing;
use crate::merge::MergedRun;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::stdout;
use crate::regrade::RegradedRun;
use crate::run::RunResult;
#[cfg(feature = "record")]
use crate::run::model_calls::recorded_calls::Recording;

/// Print the JSON Schema of a file of a suite, or of the output of a command
///
/// The output of a command with `--format json` has the schema with its name; `summary` is the schema of summary.json and of `report
/// --format json`. Exit status: 0 on success, 2 if the kind does not exist.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Kind of file, such as `eval`, `case` or `summary` [default: list all]
    pub(crate) kind: Option<String>,
}

/// What is printed by one command only: the name of the command, and what makes the schema. And the recordings of `run --record`.
const PRINTED: &[(&str, MakeSchema)] = &[
    #[cfg(feature = "record")]
    ("calls", schema::<Recording>),
    // The loader writes the lines of `check`.
    ("check", || serde_json::from_str(include_str!("../schemas/check.schema.json"))),
    ("clean", schema::<CleanedRuns>),
    #[cfg(feature = "convert")]
    ("convert", schema::<ConvertedSuite>),
    ("expand", schema::<ExpandedSuite>),
    ("finish", schema::<EndedRun>),
    ("list", schema::<Listing>),
    ("merge", schema::<MergedRun>),
    // The test programs write the records of `probe`.
    ("probe", || serde_json::from_str(include_str!("../schemas/probe.schema.json"))),
    ("regrade", schema::<RegradedRun>),
    ("run", schema::<RunResult>),
];

/// What a command adds to one of the schemas of reports: the name of the command, and what makes the schema.
const EXTENDED: &[(&str, MakeValue)] = &[("gate", crate::gate::schema)];

type MakeSchema = fn() -> serde_json::Result<schemars::Schema>;
type MakeValue = fn() -> serde_json::Result<Value>;

/// Prints the schema of a kind of file or output, or the list of kinds.
pub(crate) fn run(command: &Schema) -> Result<CommandStatus> {
    let mut out = stdout();
    let printed = JSON_SCHEMAS.iter().map(|(kind, _)| *kind).chain(PRINTED.iter().map(|(kind, _)| *kind));
    let kinds: Vec<&str> = FILES.iter().map(|(kind, _)| *kind).chain(printed).collect();
    let Some(kind) = &command.kind else {
        for kind in kinds {
            writeln!(out, "{kind}")?;
        }
        return Ok(CommandStatus::Good);
    };
    let Some(schema) = schema_of(kind)? else {
        let known = suggest::did_you_mean_or_known(kind, &kinds);
        return Err(CliError::with_help(format!("`{kind}` is not a kind of file"), known));
    };
    write!(out, "{schema}")?;
    Ok(CommandStatus::Good)
}

/// The schema of a kind of file or output as JSON; `None` if there is no such kind.
fn schema_of(kind: &str) -> serde_json::Result<Option<String>> {
    if let Some((_, schema)) = EXTENDED.iter().find(|(name, _)| *name == kind) {
        return schema().and_then(|schema| text(&schema)).map(Some);
    }
    if let Some((_, text)) = JSON_SCHEMAS.iter().find(|(name, _)| *name == kind) {
        return Ok(Some((*text).to_owned()));
    }
    let Some((_, schema)) = PRINTED.iter().find(|(name, _)| *name == kind) else {
        return Ok(json_schema(kind).map(|schema| format!("{schema:#}\n")));
    };
    let mut schema = schema()?;
    schema.insert("title".to_owned(), format!("evalsuite: {kind}").into());
    text(&schema).map(Some)
}

fn text(schema: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(schema).map(|text| text + "\n")
}

fn schema<T: JsonSchema>() -> serde_json::Result<schemars::Schema> {
    Ok(SchemaSettings::draft07().for_serialize().into_generator().into_root_schema_for::<T>())
}
