//! Keys that graders share, and the objects around graders; among them `transform`, steps that change the answer before a grader sees it.

use evalsuite_derive::{Keys, Words};

use crate::Examples;
use crate::diagnostics::Code;
use crate::json::{Fields, FromJson, JsonWriter, Result, ToJson, Value, Variant, by_json};
use crate::keys::{Key, Keys as _, Table, Type};

/// A list of assertions.
pub const ASSERTIONS: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(Include::TABLE), Type::Grader]));

/// The assertions of a template, in place of this entry.
#[derive(Keys)]
#[keys(id = "include", what = "an include", by_hand)]
#[also(include: Literal, "politeness",
    "Path of a template, or the name of one in `.evalsuite/templates` or `.agentv/templates`.",
    required, codes(IncludeNotFound, IncludeCycle))]
pub struct Include;

/// A file of assertions that several cases include, at most 3 levels deep.
#[derive(Keys)]
#[keys(id = "template", what = "a template", common = keys::SCHEMA_KEY, by_hand)]
#[also(assertions: ASSERTIONS, "[Is polite, {type: is-json}]", "The assertions.", required, codes(InvalidExternalFile))]
pub struct Template;

#[derive(Keys)]
#[keys(by_hand)]
#[also(negate: Boolean, "true", "Whether the result is inverted.", default = "`false`")]
#[also(transform: List(&OneOf(&[Choice(StepWord::WORDS), Object(ObjectStep::TABLE)])), "[trim, {json: total}]",
    "Steps that change the answer before the grader sees it, in order: `trim`, `lowercase`, `uppercase`, `{json: PATH}`, which takes a value of an answer in JSON, or `{replace: PATTERN, with: TEXT}`.",
    default = "the answer as it is")]
struct Changes;

#[derive(Keys)]
#[keys(by_hand)]
#[also(examples: Object(Examples::TABLE), "{pass: [19.90 EUR], fail: [1990 EUR]}",
    "Results that the grader has to pass or to fail.")]
struct TestedBy;

/// What every grader of the cases layout has.
pub static GRADER_KEYS: &[Key] = CommonKeys::TABLE.keys;

#[derive(Keys)]
#[keys(by_hand)]
#[also(id: Any, "amount", "Name in results.", no_effect = "write `name`")]
struct CommonKeys {
    #[also(type: Literal, "contains",
        "The type: a built-in one, or the name of a grader in Rust. `_` and `-` are the same in names of built-in types.",
        required, codes(MissingGraderSetting, UnknownGrader, RemovedGraderType, DeprecatedKey))]
    #[also(name: Literal, "amount", "Name in results, unique in the case.", default = "made from the type and its settings",
        codes(RepeatedGraderName))]
    #[also(weight: Number(&NOT_NEGATIVE), "2", "Share in the weighted mean of the trial; with 0, the result is shown but not counted.",
        default = "1; plain texts together: their number", codes(InvalidWeight, ZeroTotalWeight))]
    #[also(required: OneOf(&[Boolean, Number(&PASS_MARK)]), "true",
        "Whether the trial fails if this grader does not pass. A number is an old spelling of `true` with this `min_score`.",
        default = "`false`", codes(DeprecatedValue, ConflictingKeys))]
    #[also(min_score: Number(&PASS_MARK), "0.9",
        "Lowest score that passes. A limit or a check of tool calls then gives partial credit, instead of failing the case.",
        default = "the threshold of the case; 1 for limits and checks of tool calls")]
    #[key(flatten)]
    _changes: Changes,
    #[key(flatten)]
    _tested_by: TestedBy,
}

/// What every built-in grader of the tasks layout has in its `config`.
pub static TASK_GRADER_KEYS: &[Key] = TaskKeys::TABLE.keys;

#[derive(Keys)]
#[keys(by_hand)]
struct TaskKeys {
    #[also(min_score: Number(&PASS_MARK), "0.9",
        "Lowest score that passes. A limit or a check of tool calls then gives partial credit, instead of failing the case.",
        default = "the threshold of the suite, which is 1 by default")]
    #[key(flatten)]
    _changes: Changes,
}

/// One grader of a task.
#[derive(Keys)]
#[keys(id = "task-grader", what = "a grader", by_hand)]
pub struct TaskGrader {
    #[also(name: Text, "contains", "A built-in type, or the name of a grader in Rust.", required, codes(UnknownGrader))]
    #[also(config: GraderSettings, "{\"value\": \"14.20\"}",
        "The settings of the type, with `min_score`, `negate` and `transform`; of a grader in Rust, what it takes.",
        codes(GraderConfigRejected))]
    #[key(flatten)]
    _tested_by: TestedBy,
}

/// A function of the package, which the macro lists in `graders`.
#[derive(Keys)]
#[keys(id = "rust-grader", what = "a grader registered in Rust", common = GRADER_KEYS, by_hand)]
#[also(config: Data, "{needles: [refund]}", "What the grader takes. The generated test `suite_check` decodes it.",
    codes(GraderConfigRejected))]
pub struct RustGrader;

/// The table of a grader registered in Rust.
pub const RUST_GRADER: &Table = RustGrader::TABLE;

/// The table of a built-in type of graders with the keys of `settings`, and their doc if the type has none of its own.
pub const fn grader_table(
    settings: &Table,
    id: &'static str,
    what: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Table {
    let doc = if doc.is_empty() { settings.doc } else { doc };
    let table = Table::new(id, what, doc, settings.keys);
    Table { common: GRADER_KEYS, missing: Code::MissingGraderSetting, is_open: settings.is_open, example, ..table }
}

/// A step of `transform`, which makes another text of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerStep {
    /// Removes white space around the text, as `trim` of JavaScript does.
    Trim,
    /// Makes all letters small.
    Lowercase,
    /// Makes all letters capital.
    Uppercase,
    /// Reads the text as JSON, and takes the value at this path of keys and indices with dots between them; all of it if the path is
    /// empty. Text stays as it is, other values become JSON.
    Json(String),
    /// Replaces every match of a pattern.
    Replace {
        /// The pattern, in the syntax of the crate `fancy-regex`.
        replace: String,
        /// The text in place of a match, in which `${1}` is its first group.
        with: String,
    },
}

impl ToJson for AnswerStep {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        match self {
            Self::Trim => writer.word("trim"),
            Self::Lowercase => writer.word("lowercase"),
            Self::Uppercase => writer.word("uppercase"),
            Self::Json(path) => writer.variant("json", path),
            Self::Replace { replace, with } => {
                let mut object = writer.object()?;
                object.field("replace", replace);
                object.field("with", with);
                object.end()
            }
        }
    }
}

impl FromJson for AnswerStep {
    fn from_json(value: Value) -> Result<Self> {
        if value.get("replace").is_some() {
            let mut fields = Fields::of(value, "a step of `transform`")?;
            return Ok(Self::Replace { replace: fields.required("replace")?, with: fields.optional("with")? });
        }
        let variant = Variant::of(value)?;
        match &*variant.name {
            "json" => Ok(Self::Json(variant.value()?)),
            word => match StepWord::of_word(word) {
                Some(word) => variant.unit().map(|()| word.into()),
                None => Err(variant.unknown(&["trim", "lowercase", "uppercase", "json", "replace"])),
            },
        }
    }
}

by_json!(AnswerStep);

/// The steps that are written as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToJson, FromJson, Words)]
pub enum StepWord {
    /// [`AnswerStep::Trim`].
    Trim,
    /// [`AnswerStep::Lowercase`].
    Lowercase,
    /// [`AnswerStep::Uppercase`].
    Uppercase,
}

impl From<StepWord> for AnswerStep {
    fn from(word: StepWord) -> Self {
        match word {
            StepWord::Trim => Self::Trim,
            StepWord::Lowercase => Self::Lowercase,
            StepWord::Uppercase => Self::Uppercase,
        }
    }
}

/// A step that is written as an object: `json`, or `replace`.
#[derive(Debug, evalsuite_derive::Keys)]
#[keys(id = "answer-step", what = "a step of `transform`")]
pub struct ObjectStep {
    /// Path of a value in the answer, which is JSON: keys and indices with dots between them, or nothing for all of it. Text becomes the
    /// answer as it is, another value as JSON. An answer without such a value scores 0.
    #[key(AnyText, "items.0.name", default = "no step", codes(MissingKey, ConflictingKeys))]
    pub json: Option<String>,
    /// Pattern in the syntax of the crate `fancy-regex`, all matches of which are replaced.
    #[key(
        NotEmpty,
        "'\\A\\s*Answer: *'",
        default = "no step",
        codes(InvalidRegex, CheckedAtRunTime, LimitExceeded, ControlCharacter)
    )]
    pub replace: Option<String>,
    /// Text in place of each match, in which `${1}` is the first group, `${0}` the match, and `$$` a dollar sign.
    #[key(AnyText, "'${1}'", default = "nothing", codes(SettingConflict))]
    pub with: Option<String>,
}
