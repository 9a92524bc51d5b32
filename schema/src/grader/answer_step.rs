//! Steps that change the answer before a grader sees it.

use evalsuite_derive::Words;

use crate::json::{Fields, FromJson, JsonWriter, Result, ToJson, Value, Variant, by_json};

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
#[json(rename_all = "lowercase")]
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
