//! The keys of a task that its verifier and its steps do not have, with their lines in the TOML file.

use std::ops::Range;
use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::Number;
use toml_edit::{Document, Item, Key, TableLike};

use super::Task;
use crate::error::ConvertError;
use crate::report::{Outcome, Place, Report};
use crate::source::SourceFiles;

/// What becomes of a key whose meaning a case keeps.
pub(super) const MAPPED: (Outcome, &str) = (Outcome::Mapped, "");

/// Why settings of containers are dropped.
pub(super) const CONTAINER: &str =
    "it needs a container: the agent works in a directory, only the verifier runs in one";

/// Why other keys are dropped.
pub(super) const NO_KEY: &str = "Harbor has no such key, and ignores it";

impl Task<'_> {
    /// Reports every key that is not one of a verifier or a step.
    pub(super) fn settings(&mut self) {
        for (table, value, place) in self.file.entries(self.document) {
            let (outcome, reason) = match (table, &value.data) {
                ("schema_version" | "version" | "steps" | "verifier", _) => MAPPED,
                ("multi_step_reward_strategy", Data::Text(strategy)) if ["mean", "final"].contains(&&**strategy) => {
                    MAPPED
                }
                ("multi_step_reward_strategy", _) => {
                    refused(&place, "`mean` or `final`", self.report);
                    continue;
                }
                ("task" | "metadata" | "agent" | "environment" | "solution", Data::Mapping(_)) => {
                    for (key, value, place) in place.entries(value) {
                        let (outcome, reason) = setting(table, key, value);
                        self.report.add(&place, outcome, reason);
                    }
                    continue;
                }
                ("artifacts", _) if is_empty(value) => MAPPED,
                ("artifacts", _) => (Outcome::Dropped, "the changes of the workspace are recorded"),
                ("source", _) => (Outcome::Dropped, "a case has no such setting"),
                _ => (Outcome::Dropped, NO_KEY),
            };
            self.report.add(&place, outcome, reason);
        }
        let name = self.document.get("task").and_then(|task| task.get("name"));
        if let Some(name) = name.filter(|name| !name.as_text().is_some_and(is_package_name)) {
            let line = self.document.get("task").map_or(1, |task| task.position.line);
            let place = self.file.below(line, "task").below(name.position.line, "name");
            refused(&place, "`organisation/name`", self.report);
        }
    }
}

/// What becomes of a key of a table that has no keys of verifiers and steps.
pub(super) fn setting(table: &str, key: &str, value: &Value) -> (Outcome, &'static str) {
    let text = value.as_text();
    match (table, key) {
        ("task" | "metadata", _) | ("environment", "workdir") => MAPPED,
        ("agent", "timeout_sec") => {
            (Outcome::Different, "Harbor grades what the agent left at its time limit; here the trial is an error")
        }
        ("environment", "docker_image") => (Outcome::Approximated, "only the verifier runs in it"),
        ("environment", "os") if text.is_some_and(|os| os.eq_ignore_ascii_case("linux")) => MAPPED,
        ("environment", "os") => (Outcome::Dropped, "verifiers run in containers of Linux only: the task is no case"),
        ("environment", "build_timeout_sec") => {
            (Outcome::Approximated, "the time limit of the grader includes the build")
        }
        // What is empty says nothing.
        _ if is_empty(value) => MAPPED,
        ("environment", "env") => (Outcome::Different, "the verifier gets the variables, the agent does not"),
        ("environment" | "agent", "network_mode") if text == Some("public") => MAPPED,
        ("environment", "allow_internet") if value.data == Data::Bool(true) => MAPPED,
        ("environment", "network_mode" | "allow_internet") if text != Some("allowlist") => {
            (Outcome::Different, "the verifier has no network, the agent has that of the machine")
        }
        ("environment", "mcp_servers") => {
            (Outcome::Dropped, "start servers in a hook, and tell the agent where they are")
        }
        ("environment", "skills_dir") => (Outcome::Dropped, "give skills to the agent itself"),
        ("solution", "env") => (Outcome::Dropped, "nothing runs the solution"),
        (
            "environment",
            "network_mode" | "allowed_hosts" | "cpus" | "memory" | "memory_mb" | "storage" | "storage_mb" | "gpus"
            | "gpu_types" | "tpu" | "healthcheck",
        )
        | ("agent", "user" | "network_mode" | "allowed_hosts") => (Outcome::Dropped, CONTAINER),
        _ => (Outcome::Dropped, NO_KEY),
    }
}

/// `organisation/name`, each of letters, digits, `-`, `_` and `.`.
fn is_package_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric())
            && part.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character))
    };
    !name.contains("..")
        && name.split_once('/').is_some_and(|(organisation, name)| is_part(organisation) && is_part(name))
}

pub(super) fn is_empty(value: &Value) -> bool {
    [Data::Null, Data::List(Vec::new()), Data::Mapping(Vec::new())].contains(&value.data)
}

/// Reads a TOML file. An entry whose line is not known is in the first one.
pub(super) fn read_toml(path: &Path, files: &SourceFiles) -> Result<Value, ConvertError> {
    let shown = files.shown(path);
    let text = files.text(path, &shown, &Place::new(shown.clone(), 0, ""))?;
    let document = Document::parse(&*text)
        .map_err(|error| ConvertError::unsupported(format!("{} is not TOML: {error}", path.display())))?;
    Ok(Value::new(table(document.as_table(), &text)))
}

/// A value that is written at a place of the text.
fn at(span: Option<Range<usize>>, text: &str, data: Data) -> Value {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    let mut value = Value::new(data);
    value.position.line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(1);
    value
}

fn table(table: &dyn TableLike, text: &str) -> Data {
    let entry = |(name, item): (&str, &Item)| {
        let data = match item {
            Item::None => Data::Null,
            Item::Table(inner) => self::table(inner, text),
            Item::ArrayOfTables(tables) => {
                Data::List(tables.iter().map(|inner| at(inner.span(), text, self::table(inner, text))).collect())
            }
            Item::Value(value) => plain(value, text),
        };
        (name.to_owned(), at(table.key(name).and_then(Key::span), text, data))
    };
    Data::Mapping(table.iter().map(entry).collect())
}

fn plain(value: &toml_edit::Value, text: &str) -> Data {
    match value {
        toml_edit::Value::String(text) => Data::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Data::Number((*number.value()).into()),
        toml_edit::Value::Float(number) => Number::from_f64(*number.value()).map_or(Data::Null, Data::Number),
        toml_edit::Value::Boolean(value) => Data::Bool(*value.value()),
        toml_edit::Value::Datetime(date) => Data::Text(date.value().to_string()),
        toml_edit::Value::Array(items) => {
            Data::List(items.iter().map(|item| at(item.span(), text, plain(item, text))).collect())
        }
        toml_edit::Value::InlineTable(inner) => table(inner, text),
    }
}

/// Reports a value that is not what Harbor expects.
pub(super) fn refused(place: &Place, expected: &str, report: &mut Report) {
    report.add(place, Outcome::Different, format!("Harbor refuses the task: it expects {expected}"));
}
