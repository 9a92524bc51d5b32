//! `json-schema` and `contains-json`, and whether its schema is one.
//!
//! The schema is checked here and not by the `jsonschema` crate: this knows the position of every mistake, finds misspelled
//! keywords, which a validator has to ignore, and adds nothing to what a suite's users compile for their macros.
//!
//! References of a schema: to schemas of the same file, without cycles.

mod keywords;

use std::collections::BTreeMap;

use evalsuite_schema::Value;
use evalsuite_schema::grader::{GraderConfig, JsonSchema};
use evalsuite_schema::json::key_of_step;

use self::keywords::Draft;
use super::{Constant, Family, Rules};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::{PathKind, Scope};
use crate::fields::pattern::CompiledPatterns;
use crate::read::node::{Data, Entry, Node};

pub(super) const FAMILY: Family =
    Family { rules: &[("contains-json", contains_json), ("json-schema", json_schema)], constant };

fn json_schema(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let found = rules.fields.require("schema", d).and_then(|entry| schema(entry, rules.cx.scope, d));
    rules.parts.make_object(found);
}

fn contains_json(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
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
fn checked(root: &Node, patterns: &CompiledPatterns, d: &mut Diagnostics) -> Option<Value> {
    let draft = Draft::of(root, d)?;
    let mut found = Diagnostics::new();
    let schemas = keywords::check(root, draft, patterns, &mut found);
    check(root, &schemas, &mut found);
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

const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords whose schemas apply to the same value as the schema around them.
const IN_PLACE: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];

/// Reports references of `schemas`, all those in `root`, that are broken, outside the file, or circular.
fn check(root: &Node, schemas: &[&Node], d: &mut Diagnostics) {
    let document = SchemaDocument {
        root,
        anchors: anchors(schemas),
        id: root.entry("$id").and_then(|entry| entry.value.as_str()),
    };
    let mut is_valid = true;
    for (reference, text) in schemas.iter().flat_map(|schema| references(schema)) {
        let Err((message, help)) = document.target(text) else { continue };
        invalid(reference, message, help, d);
        is_valid = false;
    }
    if is_valid {
        circles(&document, schemas, d);
    }
}

fn references(schema: &Node) -> impl Iterator<Item = (&Node, &str)> {
    REFERENCES
        .iter()
        .filter_map(|keyword| schema.entry(keyword))
        .filter_map(|entry| Some((&entry.value, entry.value.as_str()?)))
}

/// Schemas with names of their own.
fn anchors<'n>(schemas: &[&'n Node]) -> BTreeMap<&'n str, &'n Node> {
    let mut anchors = BTreeMap::new();
    for schema in schemas {
        for keyword in ["$anchor", "$dynamicAnchor", "$id"] {
            let Some(name) = schema.entry(keyword).and_then(|entry| entry.value.as_str()) else { continue };
            match name.strip_prefix('#') {
                Some(name) if keyword == "$id" => anchors.insert(name, *schema),
                None if keyword != "$id" => anchors.insert(name, *schema),
                _ => None,
            };
        }
    }
    anchors
}

struct SchemaDocument<'n> {
    root: &'n Node,
    anchors: BTreeMap<&'n str, &'n Node>,
    id: Option<&'n str>,
}

impl<'n> SchemaDocument<'n> {
    /// The schema that a reference refers to, or what is wrong with the reference and what to do.
    fn target(&self, written: &str) -> Result<&'n Node, (String, String)> {
        let (file, fragment) = written.split_once('#').unwrap_or((written, ""));
        if !file.is_empty() && Some(file) != self.id.map(|id| id.trim_end_matches('#')) {
            return Err((
                format!("`{written}` refers outside the file, and nothing is fetched"),
                "copy the schema into this file below `$defs`, and refer to `#/$defs/NAME`".to_owned(),
            ));
        }
        let fragment = percent_decoded(fragment);
        let found = match fragment.strip_prefix('/') {
            _ if fragment.is_empty() => Some(self.root),
            Some(pointer) => self.at(pointer),
            None => self.anchors.get(fragment.as_str()).copied(),
        };
        found.filter(|node| is_schema(node)).ok_or_else(|| {
            (
                format!("`{written}` does not refer to a schema in this file"),
                "name the path of a schema: `#/$defs/NAME`".to_owned(),
            )
        })
    }

    fn at(&self, pointer: &str) -> Option<&'n Node> {
        pointer.split('/').try_fold(self.root, |node, step| {
            let step = key_of_step(step);
            match &node.data {
                Data::Mapping(_) => node.entry(&step).map(|entry| &entry.value),
                Data::Sequence(items) => items.get(step.parse::<usize>().ok()?),
                _ => None,
            }
        })
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let decoded = match tail {
            [high, low, ..] if *first == b'%' => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reports each schema that asks itself about the same value, at the reference that closes the circle: no validator
/// ends there.
fn circles(document: &SchemaDocument<'_>, schemas: &[&Node], d: &mut Diagnostics) {
    // The schemas that were visited, and whether each is on the way that is being walked.
    let mut is_open: BTreeMap<*const Node, bool> = BTreeMap::new();
    for schema in schemas {
        if is_open.contains_key(&std::ptr::from_ref(*schema)) {
            continue;
        }
        is_open.insert(*schema, true);
        let mut way = vec![(*schema, in_place(document, schema))];
        while let Some((node, next)) = way.last_mut() {
            let Some((place, target)) = next.pop() else {
                is_open.insert(*node, false);
                way.pop();
                continue;
            };
            match is_open.get(&std::ptr::from_ref(target)) {
                Some(false) => {}
                Some(true) => {
                    invalid(place, "the schema refers to itself for the same value", "remove the reference", d);
                }
                None => {
                    is_open.insert(target, true);
                    way.push((target, in_place(document, target)));
                }
            }
        }
    }
}

/// The schemas that apply to the same value as this one, and where they are written.
fn in_place<'n>(document: &SchemaDocument<'n>, schema: &'n Node) -> Vec<(&'n Node, &'n Node)> {
    let mut found: Vec<(&Node, &Node)> = references(schema)
        .filter_map(|(place, text)| document.target(text).ok().map(|target| (place, target)))
        .collect();
    for entry in IN_PLACE.iter().filter_map(|keyword| schema.entry(keyword)) {
        match &entry.value.data {
            Data::Sequence(items) => found.extend(items.iter().map(|item| (item, item))),
            Data::Mapping(entries) if entry.key.starts_with("dependen") => {
                found.extend(entries.iter().map(|entry| (&entry.value, &entry.value)));
            }
            _ => found.push((&entry.value, &entry.value)),
        }
    }
    found
}

fn constant(config: &GraderConfig) -> Option<Constant> {
    let schema = config.settings().json_schema()?;
    if is_unsatisfiable(schema) {
        let reason = "the schema allows no value".to_owned();
        return Some(Constant {
            passes: false,
            key: "schema",
            reason,
            help: "write what the value has to be".to_owned(),
        });
    }
    let looks_for_objects = matches!(config, GraderConfig::ContainsJson(_));
    let reason = "it looks for JSON objects, and the schema allows none".to_owned();
    let help = "write `type: json-schema` for an answer that is another value".to_owned();
    (looks_for_objects && excludes_objects(schema)).then_some(Constant { passes: false, key: "schema", reason, help })
}

/// Whether a schema has keywords that some drafts ignore, because it refers to another one.
fn has_reference(schema: &Value) -> bool {
    schema.get("$ref").is_some()
}

/// Whether a schema is `false`, or the opposite of one that allows everything.
fn is_unsatisfiable(schema: &Value) -> bool {
    let allows_all =
        |schema: &Value| *schema == Value::Bool(true) || schema.as_object().is_some_and(|keys| keys.is_empty());
    *schema == Value::Bool(false)
        || !has_reference(schema) && schema.get("not").is_some_and(allows_all)
        || !has_reference(schema)
            && schema.get("allOf").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_unsatisfiable))
}

/// Whether a schema allows only values that are not objects.
fn excludes_objects(schema: &Value) -> bool {
    if has_reference(schema) {
        return false;
    }
    let by_type = match schema.get("type") {
        Some(Value::String(name)) => name != "object",
        Some(Value::Array(names)) => names.iter().all(|name| name.as_str() != Some("object")),
        _ => false,
    };
    let by_values =
        schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.iter().all(|one| !one.is_object()));
    by_type || by_values || schema.get("const").is_some_and(|value| !value.is_object())
}
