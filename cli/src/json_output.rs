//! JSON for programs, and the JSON Schemas of what commands print.

use std::io;
use std::io::Write;

use evalsuite_report::JSON_SCHEMAS;
use evalsuite_schema::json::{Value, json};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::clean::CleanedRuns;
use crate::convert::ConvertedSuite;
use crate::expand::ExpandedSuite;
use crate::finish::EndedRun;
use crate::list::Listing;
use crate::merge::MergedRun;
use crate::regrade::RegradedRun;
use crate::run::RunResult;

/// What is printed by one command only: the name of the command, and what makes the schema.
const PRINTED: &[(&str, MakeSchema)] = &[
    ("check", check_schema),
    ("clean", schema::<CleanedRuns>),
    ("convert", schema::<ConvertedSuite>),
    ("expand", schema::<ExpandedSuite>),
    ("finish", schema::<EndedRun>),
    ("list", schema::<Listing>),
    ("merge", schema::<MergedRun>),
    ("regrade", schema::<RegradedRun>),
    ("run", schema::<RunResult>),
];

type MakeSchema = fn() -> serde_json::Result<Schema>;

/// Prints a value as indented JSON.
///
/// # Errors
///
/// If it cannot be printed.
pub(crate) fn print(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// The kinds of outputs that have a schema.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    JSON_SCHEMAS.iter().map(|(kind, _)| *kind).chain(PRINTED.iter().map(|(kind, _)| *kind))
}

/// The schema of a kind of output as JSON; `None` if there is no such kind.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub(crate) fn schema_of(kind: &str) -> serde_json::Result<Option<String>> {
    if kind == "gate" {
        return gate_schema().and_then(|schema| text(&schema)).map(Some);
    }
    if let Some((_, text)) = JSON_SCHEMAS.iter().find(|(name, _)| *name == kind) {
        return Ok(Some((*text).to_owned()));
    }
    let Some((_, schema)) = PRINTED.iter().find(|(name, _)| *name == kind) else { return Ok(None) };
    let mut schema = schema()?;
    schema.insert("title".to_owned(), format!("evalsuite: {kind}").into());
    text(&schema).map(Some)
}

fn text(schema: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(schema).map(|text| text + "\n")
}

fn schema<T: JsonSchema>() -> serde_json::Result<Schema> {
    Ok(SchemaSettings::draft07().for_serialize().into_generator().into_root_schema_for::<T>())
}

/// The lines of `check`, which the loader writes.
fn check_schema() -> serde_json::Result<Schema> {
    serde_json::from_str(include_str!("../schemas/check.schema.json"))
}

/// A report about gates, beside which `gate` prints a comparison.
fn gate_schema() -> serde_json::Result<Value> {
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
