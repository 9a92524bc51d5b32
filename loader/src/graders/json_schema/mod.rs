//! `json-schema` and `contains-json`, and whether its schema is one.
//!
//! The schema is checked here and not by the `jsonschema` crate: this knows the position of every mistake, finds misspelled
//! keywords, which a validator has to ignore, and adds nothing to what a suite's users compile for their macros.

mod keywords;
mod references;

use evalsuite_schema::Value;
use evalsuite_schema::grader::JsonSchema;

use self::keywords::Draft;
use super::Rules;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::{PathKind, Scope};
use crate::fields::pattern::CompiledPatterns;
use crate::read::node::{Data, Entry, Node};

pub(super) fn json_schema(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let found = rules.fields.require("schema", d).and_then(|entry| schema(entry, rules.cx.scope, d));
    rules.parts.make_object(found);
}

pub(super) fn contains_json(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    if let Some(entry) = rules.fields.get("schema") {
        rules.parts.make("schema", schema(entry, rules.cx.scope, d));
    }
}

fn schema(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<JsonSchema> {
    if let Data::Mapping(_) = &entry.value.data {
        return Some(JsonSchema { file: None, schema: checked(&entry.value, &scope.shared.patterns, d)? });
    }
    if entry.value.as_str().is_none() {
        return fields::wrong_type(&entry.value, "`schema`", "a path or a schema", d);
    }
    let found = scope.find(&entry.value, "`schema`", PathKind::File, d)?;
    let schema = scope.shared.schema(&found.path, checked, scope.files, d)?;
    Some(JsonSchema { file: Some(found.reference), schema: Value::clone(&schema) })
}

/// The schema of a file. `None`: a problem was reported.
pub(crate) fn checked(root: &Node, patterns: &CompiledPatterns, d: &mut Diagnostics) -> Option<Value> {
    let draft = Draft::of(root, d)?;
    let mut found = Diagnostics::new();
    let schemas = keywords::check(root, draft, patterns, &mut found);
    references::check(root, &schemas, &mut found);
    let is_valid = found.is_empty();
    d.append(found);
    is_valid.then(|| root.to_json())
}

/// Reports a mistake in a schema.
fn invalid(node: &Node, message: impl Into<String>, help: impl Into<String>, d: &mut Diagnostics) {
    d.report(Code::InvalidJsonSchema, node.span, message, help);
}

/// What a schema can be.
fn is_schema(node: &Node) -> bool {
    matches!(node.data, Data::Mapping(_) | Data::Bool(_))
}
