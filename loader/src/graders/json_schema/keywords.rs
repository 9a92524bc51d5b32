//! The keywords of JSON Schema and their values.

use super::{invalid, is_schema};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::pattern::CompiledPatterns;
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;
use evalsuite_schema::diagnostics::suggest;

/// A version of JSON Schema; later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

use Draft::{Draft6, Draft7, Draft201909, Draft202012};

const DRAFTS: &[(&str, Draft)] = &[
    ("http://json-schema.org/draft-06/schema", Draft6),
    ("http://json-schema.org/draft-07/schema", Draft7),
    ("https://json-schema.org/draft/2019-09/schema", Draft201909),
    ("https://json-schema.org/draft/2020-12/schema", Draft202012),
];

impl Draft {
    /// The draft that `$schema` names; the newest one without it.
    pub(super) fn of(root: &Node, d: &mut Diagnostics) -> Option<Self> {
        let Some(entry) = root.entry("$schema") else { return Some(Draft202012) };
        let written = entry.value.as_str().map(|text| text.trim_end_matches('#'));
        let found = DRAFTS.iter().find(|(name, _)| Some(*name) == written).map(|(_, draft)| *draft);
        if found.is_none() {
            let names: Vec<&str> = DRAFTS.iter().map(|(name, _)| *name).collect();
            let help = format!("name one of {}, or leave it out for the last of them", suggest::quoted(&names, "and"));
            invalid(&entry.value, "`$schema` is not a known draft", help, d);
        }
        found
    }
}

/// The value of a keyword.
#[derive(Clone, Copy)]
enum ValueShape {
    /// What passes the check; the words say what that is.
    Simple(fn(&Node) -> bool, &'static str),
    /// What a function checks, which reports problems.
    Checked(for<'n> fn(&mut SchemaCheck<'n, '_>, &'n Node, &str)),
}

use ValueShape::{Checked, Simple};

const ANYTHING: ValueShape = Simple(|_| true, "");
const BOOLEAN: ValueShape = Simple(|node| matches!(node.data, Data::Bool(_)), "`true` or `false`");
const COUNT: ValueShape = Simple(
    |node| node.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
    "a whole number of at least 0",
);
const ENUM: ValueShape =
    Simple(|node| node.as_sequence().is_some_and(|values| !values.is_empty()), "a list of at least one value");
const NUMBER: ValueShape = Simple(|node| matches!(node.data, Data::Number(_)), "a number");
const TEXT: ValueShape = Simple(|node| node.as_str().is_some(), "text");

/// The value of keywords, the first and the last draft that has them, and their names.
type Keywords = (ValueShape, Draft, Draft, &'static [&'static str]);

const KEYWORDS: &[Keywords] = &[
    (ANYTHING, Draft6, Draft202012, &["const", "default", "examples"]),
    (BOOLEAN, Draft6, Draft202012, &["uniqueItems"]),
    (Checked(dependencies), Draft6, Draft202012, &["dependencies"]),
    (Checked(format), Draft6, Draft202012, &["format"]),
    (Checked(identifier), Draft6, Draft202012, &["$id"]),
    (Checked(named_schemas), Draft6, Draft202012, &["definitions", "properties"]),
    (Checked(pattern), Draft6, Draft202012, &["pattern"]),
    (Checked(pattern_schemas), Draft6, Draft202012, &["patternProperties"]),
    (Checked(schema), Draft6, Draft202012, &["additionalProperties", "contains", "not", "propertyNames"]),
    (Checked(schemas), Draft6, Draft202012, &["allOf", "anyOf", "oneOf"]),
    (Checked(texts), Draft6, Draft202012, &["required"]),
    (Checked(types), Draft6, Draft202012, &["type"]),
    (COUNT, Draft6, Draft202012, &["maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"]),
    (ENUM, Draft6, Draft202012, &["enum"]),
    (NUMBER, Draft6, Draft202012, &["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"]),
    (Checked(divisor), Draft6, Draft202012, &["multipleOf"]),
    (TEXT, Draft6, Draft202012, &["$comment", "$ref", "$schema", "description", "title"]),
    (Checked(schema), Draft6, Draft201909, &["additionalItems"]),
    (Checked(schema_or_list), Draft6, Draft201909, &["items"]),
    (BOOLEAN, Draft7, Draft202012, &["readOnly", "writeOnly"]),
    (Checked(schema), Draft7, Draft202012, &["else", "if", "then"]),
    (TEXT, Draft7, Draft202012, &["contentEncoding", "contentMediaType"]),
    (ANYTHING, Draft201909, Draft202012, &["$vocabulary"]),
    (BOOLEAN, Draft201909, Draft202012, &["deprecated"]),
    (Checked(named_schemas), Draft201909, Draft202012, &["$defs", "dependentSchemas"]),
    (Checked(named_texts), Draft201909, Draft202012, &["dependentRequired"]),
    (Checked(schema), Draft201909, Draft202012, &["contentSchema", "unevaluatedItems", "unevaluatedProperties"]),
    (COUNT, Draft201909, Draft202012, &["maxContains", "minContains"]),
    (TEXT, Draft201909, Draft202012, &["$anchor"]),
    (BOOLEAN, Draft201909, Draft201909, &["$recursiveAnchor"]),
    (TEXT, Draft201909, Draft201909, &["$recursiveRef"]),
    (Checked(schema), Draft202012, Draft202012, &["items"]),
    (Checked(schemas), Draft202012, Draft202012, &["prefixItems"]),
    (TEXT, Draft202012, Draft202012, &["$dynamicAnchor", "$dynamicRef"]),
];

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// The formats of strings, with blanks between them.
const FORMATS: &str = "date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex relative-json-pointer time uri uri-reference uri-template uuid";

/// Words of other vocabularies that are close to a keyword and mean something else.
const NO_MISTAKES: &[&str] = &["example", "optional"];

/// Reports problems with the schema `root` and all schemas in it, and returns all of them.
pub(super) fn check<'n>(
    root: &'n Node,
    draft: Draft,
    patterns: &CompiledPatterns,
    d: &mut Diagnostics,
) -> Vec<&'n Node> {
    let mut check = SchemaCheck { draft, found: Vec::new(), patterns, d };
    schema(&mut check, root, "a schema");
    check.found
}

struct SchemaCheck<'n, 'd> {
    draft: Draft,
    /// The schemas so far, the root first.
    found: Vec<&'n Node>,
    patterns: &'d CompiledPatterns,
    d: &'d mut Diagnostics,
}

fn schema<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    check.found.push(node);
    let Some(entries) = node.as_mapping() else {
        return check.expect(is_schema(node), node, what, "a mapping, `true` or `false`");
    };
    for entry in entries {
        let mut named = KEYWORDS.iter().filter(|(.., names)| names.contains(&entry.key.as_str())).peekable();
        let is_known = named.peek().is_some();
        let what = format!("`{}`", entry.key);
        match named.find(|(_, first, last, _)| (*first..=*last).contains(&check.draft)) {
            Some((Simple(is_valid, expected), ..)) => {
                check.expect(is_valid(&entry.value), &entry.value, &what, expected);
            }
            Some((Checked(value), ..)) => value(check, &entry.value, &what),
            None if is_known => {
                let message = format!("{what} has no meaning in the draft of this schema");
                let help = "use the keyword of the draft, or name another draft with `$schema`";
                check.d.report(Code::InvalidJsonSchema, entry.key_span, message, help);
            }
            None => check.unknown(entry),
        }
    }
}

fn schemas<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    match node.as_sequence() {
        Some(items @ [_, ..]) => items.iter().for_each(|item| schema(check, item, &format!("an element of {what}"))),
        _ => check.kind(node, what, "a list of at least one schema"),
    }
}

fn schema_or_list<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    node.as_sequence().unwrap_or(std::slice::from_ref(node)).iter().for_each(|item| schema(check, item, what));
}

/// Calls `value` with each entry of a mapping, and its key as messages name it.
fn entries<'n, 'd>(
    check: &mut SchemaCheck<'n, 'd>,
    node: &'n Node,
    what: &str,
    value: fn(&mut SchemaCheck<'n, 'd>, &'n Entry, &str),
) {
    let Some(entries) = node.as_mapping() else { return check.kind(node, what, "a mapping") };
    entries.iter().for_each(|entry| value(check, entry, &format!("`{}`", entry.key)));
}

fn named_schemas<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    entries(check, node, what, |check, entry, what| schema(check, &entry.value, what));
}

fn pattern_schemas<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    entries(check, node, what, |check, entry, what| {
        check.pattern(&entry.key, entry.key_span, "the keys of `patternProperties` are patterns");
        schema(check, &entry.value, what);
    });
}

/// Lists of texts by name.
fn named_texts<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    entries(check, node, what, |check, entry, what| texts(check, &entry.value, what));
}

fn dependencies<'n>(check: &mut SchemaCheck<'n, '_>, node: &'n Node, what: &str) {
    entries(check, node, what, |check, entry, what| match entry.value.as_sequence() {
        Some(_) => texts(check, &entry.value, what),
        None => schema(check, &entry.value, what),
    });
}

/// The root may have an `$id`; a schema inside it with its own would be another document.
fn identifier(check: &mut SchemaCheck<'_, '_>, node: &Node, what: &str) {
    let is_of_root = check.found[0].entry("$id").is_some_and(|entry| std::ptr::eq(&entry.value, node));
    match node.as_str() {
        None => check.kind(node, what, "text"),
        Some(text) if !is_of_root && !text.starts_with('#') => {
            let help = "delete it, and refer to the schema by its place: `#/$defs/NAME`";
            invalid(node, "a schema inside the schema has an `$id` of its own", help, check.d);
        }
        Some(_) => {}
    }
}

/// The validator divides by the nearest float.
fn divisor(check: &mut SchemaCheck<'_, '_>, node: &Node, what: &str) {
    /// Integers up to here are floats.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = node.as_f64().filter(|number| *number > 0.0);
    check.expect(number.is_some(), node, what, "a number above 0");
    if number.is_some_and(|number| number >= EXACT) {
        let message = format!("{what} is {}, which the validator would round", node.number_or_kind());
        invalid(node, message, "write a number below 2^53, 9007199254740992", check.d);
    }
}

/// Unknown formats are allowed, and check nothing.
fn format(check: &mut SchemaCheck<'_, '_>, node: &Node, what: &str) {
    let Some(text) = node.as_str() else { return check.kind(node, what, "text") };
    let nearest = suggest::nearest(text, FORMATS.split(' '));
    if let Some(near) = nearest.first().filter(|_| FORMATS.split(' ').all(|known| known != text)) {
        invalid(node, format!("unknown format `{text}`"), format!("did you mean `{near}`?"), check.d);
    }
}

fn pattern(check: &mut SchemaCheck<'_, '_>, node: &Node, what: &str) {
    match node.as_str() {
        Some(_) if fields::control_character(node, "the pattern", check.d) => {}
        Some(text) => check.pattern(text, node.span, "write a regular expression"),
        None => check.kind(node, what, "text"),
    }
}

fn types(check: &mut SchemaCheck<'_, '_>, node: &Node, what: &str) {
    let items = match &node.data {
        Data::String(_) => std::slice::from_ref(node),
        Data::Sequence(items) if !items.is_empty() => items,
        _ => return check.kind(node, what, "the name of a type, or a list of them"),
    };
    for item in items.iter().filter(|item| item.as_str().is_none_or(|name| !TYPES.contains(&name))) {
        let Some(name) = item.as_str() else {
            check.kind(item, what, "the name of a type");
            continue;
        };
        let help = suggest::did_you_mean(name, TYPES.iter().copied());
        let help = help.unwrap_or_else(|| format!("write {}", suggest::quoted(TYPES, "or")));
        invalid(item, format!("`type` is `{name}`, which is not a JSON type"), help, check.d);
    }
    check.repeated(items);
}

/// A list of different texts.
fn texts(check: &mut SchemaCheck<'_, '_>, node: &Node, what: &str) {
    let Some(items) = node.as_sequence() else { return check.kind(node, what, "a list of names") };
    items.iter().filter(|item| item.as_str().is_none()).for_each(|item| check.kind(item, what, "a list of names"));
    check.repeated(items);
}

impl SchemaCheck<'_, '_> {
    /// Unknown keywords are allowed and have no effect; one that is close to a known keyword is a misspelling.
    fn unknown(&mut self, entry: &Entry) {
        if NO_MISTAKES.contains(&entry.key.as_str()) || fields::is_own(&entry.key) {
            return;
        }
        let near = suggest::nearest(&entry.key, KEYWORDS.iter().flat_map(|(.., names)| *names).copied());
        if let Some(near) = near.first() {
            let message = format!("unknown keyword `{}` in a schema", entry.key);
            self.d.report(Code::InvalidJsonSchema, entry.key_span, message, format!("did you mean `{near}`?"));
        }
    }

    fn pattern(&mut self, text: &str, place: Span, help: &'static str) {
        if let Err(problem) = self.patterns.check(text, "") {
            let is_limit = problem.code == Code::LimitExceeded;
            let code = if is_limit { problem.code } else { Code::InvalidJsonSchema };
            let help = problem.help(help);
            self.d.report(code, place, problem.message_with_offset(), help);
        }
    }

    fn repeated(&mut self, items: &[Node]) {
        for (index, item) in items.iter().enumerate() {
            if let Some(name) = item.as_str()
                && items[..index].iter().any(|other| other.as_str() == Some(name))
            {
                invalid(item, format!("`{name}` is named twice"), "delete one", self.d);
            }
        }
    }

    fn expect(&mut self, fits: bool, node: &Node, what: &str, expected: &str) {
        if !fits {
            self.kind(node, what, expected);
        }
    }

    fn kind(&mut self, node: &Node, what: &str, expected: &str) {
        let help = match (&node.data, what) {
            (Data::Sequence(_), "`items`") => "schemas by position belong under `prefixItems`".to_owned(),
            (Data::Bool(_), "`required`") => "list the names of required properties next to `properties`".to_owned(),
            _ => format!("write {expected}"),
        };
        invalid(node, format!("{what} must be {expected}, found {}", node.number_or_kind()), help, self.d);
    }
}
