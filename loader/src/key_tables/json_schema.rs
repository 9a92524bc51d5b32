//! JSON Schemas of files, for editors: what can be said about a file without the files around it.

use evalsuite_schema::grader::common_keys::TaskGrader;
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{AcpTarget, CliTarget, TargetEntry};

use super::{FILES, GRADERS, Key, RUBRIC, RUST_GRADER, Range, Status, TASK_GRADER_KEYS, Table, Type};

/// A text that is not blank.
const TEXT: &str = r"\S";

/// A text that is not blank and contains no variable.
const LITERAL: &str = r"^(?=[\s\S]*\S)(?![\s\S]*\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\})";

/// Types of graders that were removed.
const REMOVED: &[&str] = &["code-judge", "code_judge", "llm-judge", "llm_judge"];

/// The JSON Schema (draft 7) of a kind of file, by its name in [`FILES`]; `None` for another name.
///
/// It describes what one file can say by itself: keys, types, ranges and words. Whatever needs other files (paths, ids of
/// other cases) or several keys at once is checked by the loader only.
pub fn json_schema(kind: &str) -> Option<Value> {
    let (_, root) = FILES.iter().find(|(name, _)| *name == kind)?;
    let mut writer = Writer::default();
    let Value::Object(root) = writer.value(root) else { return None };
    let mut schema = Object::new();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!(format!("evalsuite: {kind}")));
    schema.extend(root);
    writer.write_definitions();
    schema.insert("definitions".to_owned(), Value::Object(writer.definitions));
    Some(Value::Object(schema))
}

/// Collects the definitions that a schema refers to.
#[derive(Default)]
struct Writer {
    definitions: Object,
    /// What was referred to.
    wanted: Vec<Definition>,
}

#[derive(Clone, Copy)]
enum Definition {
    Table(&'static Table),
    /// A grader of any type.
    Grader,
    /// The settings of a grader of the tasks layout.
    Settings(&'static Table),
}

impl Definition {
    fn name(self) -> String {
        match self {
            Self::Table(table) => table.id.to_owned(),
            Self::Grader => "grader".to_owned(),
            Self::Settings(table) => format!("settings-of-{}", table.id),
        }
    }
}

impl Writer {
    fn reference(&mut self, definition: Definition) -> Value {
        self.wanted.push(definition);
        json!({ "$ref": format!("#/definitions/{}", definition.name()) })
    }

    fn write_definitions(&mut self) {
        while let Some(definition) = self.wanted.pop() {
            let name = definition.name();
            if self.definitions.contains_key(&name) {
                continue;
            }
            self.definitions.insert(name.clone(), Value::Null);
            let schema = match definition {
                Definition::Table(table) if std::ptr::eq(table, CliTarget::TABLE) => self.target(),
                Definition::Table(table) if std::ptr::eq(table, AcpTarget::TABLE) => self.acp_target(),
                Definition::Table(table) if std::ptr::eq(table, TaskGrader::TABLE) => self.task_grader(),
                Definition::Table(table) => self.table(table, table.common),
                Definition::Settings(table) => self.table(table, TASK_GRADER_KEYS),
                Definition::Grader => self.grader(),
            };
            self.definitions.insert(name, schema);
        }
    }

    fn table(&mut self, table: &'static Table, common: &'static [Key]) -> Value {
        let mut properties = Object::new();
        let (mut required, mut alternatives) = (Vec::new(), Vec::new());
        for key in common.iter().chain(table.keys) {
            if matches!(key.status, Status::Refused(..)) {
                properties.insert(key.name.to_owned(), json!(false));
                continue;
            }
            let property = self.property(key);
            let others: Vec<&str> = key.old.iter().copied().chain(key.or).collect();
            for other in &others {
                let mut property = property.clone();
                if key.old.contains(other) {
                    property["deprecated"] = json!(true);
                    property["description"] = json!(format!("Old spelling of `{}`.", key.name));
                }
                properties.insert((*other).to_owned(), property);
            }
            properties.insert(key.name.to_owned(), property);
            if key.required && others.is_empty() {
                required.push(key.name);
            } else if key.required {
                let spellings = std::iter::once(key.name).chain(others);
                alternatives
                    .push(json!({ "anyOf": spellings.map(|name| json!({ "required": [name] })).collect::<Vec<_>>() }));
            }
        }
        let mut schema = json!({
            "type": "object",
            "description": table.doc,
            "properties": properties,
            "patternProperties": { "^x-": {} },
            "required": required,
            "additionalProperties": table.is_open,
        });
        if !alternatives.is_empty() {
            schema["allOf"] = json!(alternatives);
        }
        schema
    }

    fn property(&mut self, key: &Key) -> Value {
        let value = self.value(&key.value);
        let mut property = if key.required { value } else { or_null(value) };
        let unit = key.unit.map(|unit| format!(" In {unit}.")).unwrap_or_default();
        let default = key.default.map(|default| format!(" Default: {default}.")).unwrap_or_default();
        property["description"] = json!(format!("{}{unit}{default}", key.doc));
        if key.status != Status::Current {
            property["deprecated"] = json!(true);
        }
        property
    }

    fn value(&mut self, value: &Type) -> Value {
        match value {
            Type::Any => json!({}),
            Type::AnyText => json!({ "type": "string" }),
            Type::NotEmpty => json!({ "type": "string", "minLength": 1 }),
            Type::Text => json!({ "type": "string", "pattern": TEXT }),
            Type::Literal | Type::File | Type::Directory => json!({ "type": "string", "pattern": LITERAL }),
            Type::Pattern(pattern, _) => json!({ "type": "string", "pattern": pattern }),
            Type::Boolean => json!({ "type": "boolean" }),
            Type::Number(range) => number(range),
            Type::Integer(low, high) => {
                let mut schema = json!({ "type": "integer", "minimum": low });
                if *high <= u64::from(u32::MAX) {
                    schema["maximum"] = json!(high);
                }
                schema
            }
            Type::Choice(words) => json!({ "enum": words }),
            Type::Command => json!({ "anyOf": [self.value(&Type::Text), self.value(&Type::Arguments)] }),
            Type::Arguments => {
                json!({ "type": "array", "minItems": 1, "items": { "type": "string", "pattern": TEXT } })
            }
            Type::Data | Type::GraderSettings => json!({ "type": "object" }),
            Type::List(of) => json!({ "type": "array", "items": self.value(of) }),
            Type::Some(of) => json!({ "type": "array", "minItems": 1, "items": self.value(of) }),
            Type::Map(of) => json!({ "type": "object", "additionalProperties": self.value(of) }),
            Type::OneOf(types) => json!({ "anyOf": types.iter().map(|of| self.value(of)).collect::<Vec<_>>() }),
            Type::Object(table) => self.reference(Definition::Table(table)),
            Type::Grader => self.reference(Definition::Grader),
        }
    }

    /// A grader: `type` selects the table.
    fn grader(&mut self) -> Value {
        let mut names: Vec<Value> = Vec::new();
        let mut types: Vec<Value> = Vec::new();
        for table in GRADERS.iter().copied().chain([&RUBRIC]) {
            let spellings = spellings(table.id);
            types.push(json!({
                "if": { "properties": { "type": { "enum": spellings } }, "required": ["type"] },
                "then": self.reference(Definition::Table(table)),
            }));
            names.extend(spellings.into_iter().map(Value::String));
        }
        types.push(json!({
            "if": { "properties": { "type": { "enum": names } }, "required": ["type"] },
            "else": self.reference(Definition::Table(RUST_GRADER)),
        }));
        let name = json!({ "type": "string", "pattern": LITERAL, "not": { "enum": REMOVED } });
        json!({
            "type": "object",
            "properties": { "type": { "anyOf": [{ "enum": names }, name] } },
            "required": ["type"],
            "allOf": types,
        })
    }

    /// A grader of a task: `name` selects the table of its `config`.
    fn task_grader(&mut self) -> Value {
        let mut schema = self.table(TaskGrader::TABLE, TaskGrader::TABLE.common);
        let mut types: Vec<Value> = Vec::new();
        for table in GRADERS {
            let config = self.reference(Definition::Settings(table));
            let needs_config = table.keys.iter().any(|key| key.required);
            types.push(json!({
                "if": { "properties": { "name": { "enum": spellings(table.id) } }, "required": ["name"] },
                "then": {
                    "properties": { "config": if needs_config { config } else { or_null(config) } },
                    "required": if needs_config { vec!["config"] } else { Vec::new() },
                },
            }));
        }
        schema["allOf"] = json!(types);
        schema
    }

    /// A target that speaks the Agent Client Protocol.
    fn acp_target(&mut self) -> Value {
        let mut schema = self.table(AcpTarget::TABLE, AcpTarget::TABLE.common);
        schema["allOf"] = json!([{ "properties": { "provider": { "const": "acp" } }, "required": ["provider"] }]);
        schema
    }

    /// A target: the keys of other providers than `cli` and `acp` are another tool's.
    fn target(&mut self) -> Value {
        let strict = self.table(CliTarget::TABLE, CliTarget::TABLE.common);
        let mut open = self.table(TargetEntry::TABLE, &[]);
        open["description"] = json!("A name for another target.");
        open["additionalProperties"] = json!(true);
        json!({
            "if": { "properties": { "provider": { "const": "cli" } }, "required": ["provider"] },
            "then": strict,
            "else": {
                "if": { "properties": { "provider": { "const": "acp" } }, "required": ["provider"] },
                "then": self.reference(Definition::Table(AcpTarget::TABLE)),
                "else": open,
            },
        })
    }
}

/// The name of a type, with `-` and with `_`.
fn spellings(id: &str) -> Vec<String> {
    let folded = id.replace('-', "_");
    if folded == id { vec![folded] } else { vec![id.to_owned(), folded] }
}

/// The schema, or null, which counts as absent.
fn or_null(mut schema: Value) -> Value {
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    } else if let Some(name @ Value::String(_)) = schema.get_mut("type") {
        *name = json!([name, "null"]);
    } else if let Some(Value::Array(types)) = schema.get_mut("anyOf") {
        types.push(json!({ "type": "null" }));
    } else if schema != json!({}) {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    schema
}

fn number(range: &Range) -> Value {
    let mut schema = json!({ "type": "number" });
    if range.low.is_finite() {
        schema[if range.above { "exclusiveMinimum" } else { "minimum" }] = json!(range.low);
    }
    if range.high.is_finite() {
        schema["maximum"] = json!(range.high);
    }
    if range.even {
        schema["multipleOf"] = json!(2);
    }
    schema
}
