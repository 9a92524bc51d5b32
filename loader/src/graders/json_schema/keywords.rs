//! The keywords of JSON Schema and their values.

use super::{invalid, is_schema};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::pattern::CompiledPatterns;
use crate::read::node::{Data, Entry, Node};
use evalsuite_diagnostics::suggest;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueShape {
    Anything,
    Boolean,
    Count,
    Dependencies,
    Enum,
    Format,
    Identifier,
    Number,
    Pattern,
    PositiveNumber,
    Schema,
    SchemaOrList,
    /// A list of schemas, not empty.
    Schemas,
    /// Schemas by name.
    NamedSchemas,
    /// Schemas by pattern.
    PatternSchemas,
    Text,
    /// A list of different texts.
    Texts,
    /// Lists of texts by name.
    NamedTexts,
    Type,
}

/// A keyword, and the first and the last draft that has it.
type Keyword = (&'static str, ValueShape, Draft, Draft);

const KEYWORDS: &[Keyword] = &[
    ("$anchor", ValueShape::Text, Draft201909, Draft202012),
    ("$comment", ValueShape::Text, Draft7, Draft202012),
    ("$defs", ValueShape::NamedSchemas, Draft201909, Draft202012),
    ("$dynamicAnchor", ValueShape::Text, Draft202012, Draft202012),
    ("$dynamicRef", ValueShape::Text, Draft202012, Draft202012),
    ("$id", ValueShape::Identifier, Draft6, Draft202012),
    ("$recursiveAnchor", ValueShape::Boolean, Draft201909, Draft201909),
    ("$recursiveRef", ValueShape::Text, Draft201909, Draft201909),
    ("$ref", ValueShape::Text, Draft6, Draft202012),
    ("$schema", ValueShape::Text, Draft6, Draft202012),
    ("$vocabulary", ValueShape::Anything, Draft201909, Draft202012),
    ("additionalItems", ValueShape::Schema, Draft6, Draft201909),
    ("additionalProperties", ValueShape::Schema, Draft6, Draft202012),
    ("allOf", ValueShape::Schemas, Draft6, Draft202012),
    ("anyOf", ValueShape::Schemas, Draft6, Draft202012),
    ("const", ValueShape::Anything, Draft6, Draft202012),
    ("contains", ValueShape::Schema, Draft6, Draft202012),
    ("contentEncoding", ValueShape::Text, Draft7, Draft202012),
    ("contentMediaType", ValueShape::Text, Draft7, Draft202012),
    ("contentSchema", ValueShape::Schema, Draft201909, Draft202012),
    ("default", ValueShape::Anything, Draft6, Draft202012),
    ("definitions", ValueShape::NamedSchemas, Draft6, Draft202012),
    ("dependencies", ValueShape::Dependencies, Draft6, Draft202012),
    ("dependentRequired", ValueShape::NamedTexts, Draft201909, Draft202012),
    ("dependentSchemas", ValueShape::NamedSchemas, Draft201909, Draft202012),
    ("deprecated", ValueShape::Boolean, Draft201909, Draft202012),
    ("description", ValueShape::Text, Draft6, Draft202012),
    ("else", ValueShape::Schema, Draft7, Draft202012),
    ("enum", ValueShape::Enum, Draft6, Draft202012),
    ("examples", ValueShape::Anything, Draft6, Draft202012),
    ("exclusiveMaximum", ValueShape::Number, Draft6, Draft202012),
    ("exclusiveMinimum", ValueShape::Number, Draft6, Draft202012),
    ("format", ValueShape::Format, Draft6, Draft202012),
    ("if", ValueShape::Schema, Draft7, Draft202012),
    ("items", ValueShape::SchemaOrList, Draft6, Draft201909),
    ("items", ValueShape::Schema, Draft202012, Draft202012),
    ("maxContains", ValueShape::Count, Draft201909, Draft202012),
    ("maxItems", ValueShape::Count, Draft6, Draft202012),
    ("maxLength", ValueShape::Count, Draft6, Draft202012),
    ("maxProperties", ValueShape::Count, Draft6, Draft202012),
    ("maximum", ValueShape::Number, Draft6, Draft202012),
    ("minContains", ValueShape::Count, Draft201909, Draft202012),
    ("minItems", ValueShape::Count, Draft6, Draft202012),
    ("minLength", ValueShape::Count, Draft6, Draft202012),
    ("minProperties", ValueShape::Count, Draft6, Draft202012),
    ("minimum", ValueShape::Number, Draft6, Draft202012),
    ("multipleOf", ValueShape::PositiveNumber, Draft6, Draft202012),
    ("not", ValueShape::Schema, Draft6, Draft202012),
    ("oneOf", ValueShape::Schemas, Draft6, Draft202012),
    ("pattern", ValueShape::Pattern, Draft6, Draft202012),
    ("patternProperties", ValueShape::PatternSchemas, Draft6, Draft202012),
    ("prefixItems", ValueShape::Schemas, Draft202012, Draft202012),
    ("properties", ValueShape::NamedSchemas, Draft6, Draft202012),
    ("propertyNames", ValueShape::Schema, Draft6, Draft202012),
    ("readOnly", ValueShape::Boolean, Draft7, Draft202012),
    ("required", ValueShape::Texts, Draft6, Draft202012),
    ("then", ValueShape::Schema, Draft7, Draft202012),
    ("title", ValueShape::Text, Draft6, Draft202012),
    ("type", ValueShape::Type, Draft6, Draft202012),
    ("unevaluatedItems", ValueShape::Schema, Draft201909, Draft202012),
    ("unevaluatedProperties", ValueShape::Schema, Draft201909, Draft202012),
    ("uniqueItems", ValueShape::Boolean, Draft6, Draft202012),
    ("writeOnly", ValueShape::Boolean, Draft7, Draft202012),
];

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

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
    check.schema(root, "a schema");
    check.found
}

struct SchemaCheck<'n, 'd> {
    draft: Draft,
    found: Vec<&'n Node>,
    patterns: &'d CompiledPatterns,
    d: &'d mut Diagnostics,
}

impl<'n> SchemaCheck<'n, '_> {
    fn schema(&mut self, node: &'n Node, what: &str) {
        self.found.push(node);
        let is_root = self.found.len() == 1;
        let Some(entries) = node.as_mapping() else {
            if !is_schema(node) {
                self.kind(node, what, "a mapping, `true` or `false`");
            }
            return;
        };
        for entry in entries {
            let has_name = |keyword: &&Keyword| keyword.0 == entry.key;
            let has_draft = |keyword: &&Keyword| keyword.2 <= self.draft && self.draft <= keyword.3;
            match KEYWORDS.iter().filter(has_name).find(has_draft) {
                Some((_, shape, ..)) => self.value(entry, *shape, is_root),
                None if KEYWORDS.iter().any(|keyword| has_name(&keyword)) => {
                    let message = format!("`{}` has no meaning in the draft of this schema", entry.key);
                    let help = "use the keyword of the draft, or name another draft with `$schema`";
                    self.d.report(Code::InvalidJsonSchema, entry.key_span, message, help);
                }
                None => self.unknown(entry),
            }
        }
    }

    /// Unknown keywords are allowed and have no effect; one that is close to a known keyword is a misspelling.
    fn unknown(&mut self, entry: &Entry) {
        if NO_MISTAKES.contains(&entry.key.as_str()) || fields::is_own(&entry.key) {
            return;
        }
        let near = suggest::nearest(&entry.key, KEYWORDS.iter().map(|keyword| keyword.0));
        if let Some(near) = near.first() {
            let message = format!("unknown keyword `{}` in a schema", entry.key);
            self.d.report(Code::InvalidJsonSchema, entry.key_span, message, format!("did you mean `{near}`?"));
        }
    }

    fn value(&mut self, entry: &'n Entry, shape: ValueShape, is_root: bool) {
        let (node, what) = (&entry.value, format!("`{}`", entry.key));
        match shape {
            ValueShape::Anything => {}
            ValueShape::Boolean => self.expect(matches!(node.data, Data::Bool(_)), node, &what, "`true` or `false`"),
            ValueShape::Text => self.expect(node.as_str().is_some(), node, &what, "text"),
            ValueShape::Number => self.expect(matches!(node.data, Data::Number(_)), node, &what, "a number"),
            ValueShape::PositiveNumber => {
                self.expect(node.as_f64().is_some_and(|n| n > 0.0), node, &what, "a number above 0")
            }
            ValueShape::Count => {
                let is_count = node.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0);
                self.expect(is_count, node, &what, "a whole number of at least 0");
            }
            ValueShape::Identifier => self.identifier(node, &what, is_root),
            ValueShape::Format => self.format(node, &what),
            ValueShape::Pattern => match node.as_str() {
                Some(text) => self.pattern(text, node),
                None => self.kind(node, &what, "text"),
            },
            ValueShape::Enum => {
                let has_values = node.as_sequence().is_some_and(|values| !values.is_empty());
                self.expect(has_values, node, &what, "a list of at least one value");
            }
            ValueShape::Type => self.types(node, &what),
            ValueShape::Texts => self.texts(node, &what),
            ValueShape::Schema => self.schema(node, &what),
            ValueShape::Schemas => self.schemas(node, &what),
            ValueShape::SchemaOrList if node.as_sequence().is_some() => {
                node.as_sequence().unwrap_or_default().iter().for_each(|item| self.schema(item, &what));
            }
            ValueShape::SchemaOrList => self.schema(node, &what),
            ValueShape::NamedSchemas
            | ValueShape::PatternSchemas
            | ValueShape::NamedTexts
            | ValueShape::Dependencies => {
                let Some(entries) = node.as_mapping() else { return self.kind(node, &what, "a mapping") };
                entries.iter().for_each(|entry| self.named(entry, shape));
            }
        }
    }

    fn named(&mut self, entry: &'n Entry, shape: ValueShape) {
        let what = format!("`{}`", entry.key);
        match shape {
            ValueShape::NamedTexts => return self.texts(&entry.value, &what),
            ValueShape::Dependencies if entry.value.as_sequence().is_some() => return self.texts(&entry.value, &what),
            ValueShape::PatternSchemas => {
                if let Err(problem) = self.patterns.check(&entry.key, "") {
                    let help = problem.help("the keys of `patternProperties` are patterns");
                    self.d.report(schema_code(problem.code), entry.key_span, problem.message, help);
                }
            }
            _ => {}
        }
        self.schema(&entry.value, &what);
    }

    fn schemas(&mut self, node: &'n Node, what: &str) {
        match node.as_sequence() {
            Some(items @ [_, ..]) => items.iter().for_each(|item| self.schema(item, &format!("an element of {what}"))),
            _ => self.kind(node, what, "a list of at least one schema"),
        }
    }

    /// The root may have an `$id`; a schema inside it with its own would be another document.
    fn identifier(&mut self, node: &Node, what: &str, is_root: bool) {
        match node.as_str() {
            None => self.kind(node, what, "text"),
            Some(text) if !is_root && !text.starts_with('#') => invalid(
                node,
                "a schema inside the schema has an `$id` of its own",
                "delete it, and refer to the schema by its place: `#/$defs/NAME`",
                self.d,
            ),
            Some(_) => {}
        }
    }

    /// Unknown formats are allowed, and check nothing.
    fn format(&mut self, node: &Node, what: &str) {
        let Some(text) = node.as_str() else { return self.kind(node, what, "text") };
        if FORMATS.contains(&text) {
            return;
        }
        if let Some(near) = suggest::nearest(text, FORMATS.iter().copied()).first() {
            invalid(node, format!("unknown format `{text}`"), format!("did you mean `{near}`?"), self.d);
        }
    }

    fn pattern(&mut self, text: &str, node: &Node) {
        if let Err(problem) = self.patterns.check(text, "") {
            let help = problem.help("write a regular expression");
            self.d.report(schema_code(problem.code), node.span, problem.message, help);
        }
    }

    fn types(&mut self, node: &Node, what: &str) {
        let items = match &node.data {
            Data::String(_) => std::slice::from_ref(node),
            Data::Sequence(items) if !items.is_empty() => items,
            _ => return self.kind(node, what, "the name of a type, or a list of them"),
        };
        for (index, item) in items.iter().enumerate() {
            let Some(name) = item.as_str() else {
                self.kind(item, what, "the name of a type");
                continue;
            };
            if !TYPES.contains(&name) {
                let help = suggest::did_you_mean(name, TYPES.iter().copied())
                    .unwrap_or_else(|| format!("write {}", suggest::quoted(TYPES, "or")));
                invalid(item, format!("`type` is `{name}`, which is not a JSON type"), help, self.d);
            }
            self.repeated(&items[..index], item, name);
        }
    }

    fn texts(&mut self, node: &Node, what: &str) {
        let Some(items) = node.as_sequence() else { return self.kind(node, what, "a list of names") };
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(name) => self.repeated(&items[..index], item, name),
                None => self.kind(item, what, "a list of names"),
            }
        }
    }

    fn repeated(&mut self, before: &[Node], item: &Node, name: &str) {
        if before.iter().any(|other| other.as_str() == Some(name)) {
            invalid(item, format!("`{name}` is named twice"), "delete one", self.d);
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
        let found = match &node.data {
            Data::Number(number) => number.to_string(),
            _ => node.kind().to_owned(),
        };
        invalid(node, format!("{what} must be {expected}, found {found}"), help, self.d);
    }
}

/// The code of a problem of a pattern in a schema.
fn schema_code(of_pattern: Code) -> Code {
    if of_pattern == Code::LimitExceeded { of_pattern } else { Code::InvalidJsonSchema }
}
