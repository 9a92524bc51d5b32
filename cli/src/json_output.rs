//! JSON for programs, and the JSON Schemas of what commands print.

use std::io;
use std::io::Write;

use evalsuite_report::JSON_SCHEMAS;
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
    ("clean", schema::<CleanedRuns>),
    ("convert", schema::<ConvertedSuite>),
    ("expand", schema::<ExpandedSuite>),
    ("finish", schema::<EndedRun>),
    ("list", schema::<Listing>),
    ("merge", schema::<MergedRun>),
    ("regrade", schema::<RegradedRun>),
    ("run", schema::<RunResult>),
];

type MakeSchema = fn() -> Schema;

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
    if let Some((_, text)) = JSON_SCHEMAS.iter().find(|(name, _)| *name == kind) {
        return Ok(Some((*text).to_owned()));
    }
    let Some((_, schema)) = PRINTED.iter().find(|(name, _)| *name == kind) else { return Ok(None) };
    let mut schema = schema();
    schema.insert("title".to_owned(), format!("evalsuite: {kind}").into());
    serde_json::to_string_pretty(&schema).map(|text| Some(text + "\n"))
}

fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft07().for_serialize().into_generator().into_root_schema_for::<T>()
}
