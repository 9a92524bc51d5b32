//! Settings of `llm-grader`, `rubrics` and `compare`.

use serde::{Deserialize, Serialize};

use super::PreparedCommand;
use crate::{Command, Object, PathRef};

/// Settings of `llm-grader`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LlmGrader {
    /// The prompt; `None`: the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompt>,
    /// Criteria judged one by one; empty: one grade for the whole answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Criterion>,
    /// What is handed to the judge.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub judge: JudgeSettings,
}

/// Settings of `rubrics`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rubrics {
    /// The criteria, at least one.
    pub criteria: Vec<Criterion>,
    /// What is handed to the judge.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub judge: JudgeSettings,
}

/// Settings of `compare`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// Which answer to compare with.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub against: ComparedWith,
    /// The answer to compare with; `None`: the reference of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceAnswer>,
    /// Criteria for the better answer; `None`: the criteria of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// What is handed to the judge.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub judge: JudgeSettings,
}

/// Which answer another one is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComparedWith {
    /// An answer in the suite.
    #[default]
    Reference,
    /// The accepted answer to the same case of the same target.
    Baseline,
}

/// An answer to compare with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceAnswer {
    /// Text written in the case.
    Text(String),
    /// A file, with its text at compile time.
    File {
        /// The file.
        file: PathRef,
        /// Its text.
        text: String,
    },
}

impl ReferenceAnswer {
    /// The answer.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::File { text, .. } => text,
        }
    }
}

/// What is handed to a judge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeSettings {
    /// Name of the judge; `None`: the default judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Temperature, 0 to 2; `None`: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum steps of an agentic judge, 1 to 50; `None`: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    /// Limit of one call in seconds; `None`: 120 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// Judgements after a failing one, an even number up to 10; `None`: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<u32>,
    /// Free-form data.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub config: Object,
    /// Commands that turn output files into text; they are tried before the suite's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preprocessors: Option<Vec<Preprocessor>>,
}

/// A prompt of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prompt {
    /// Text written in the case.
    Text(String),
    /// A file, with its text at compile time.
    File {
        /// The file.
        file: PathRef,
        /// Its text.
        text: String,
    },
    /// A command whose output is the prompt.
    Command {
        /// The command.
        run: PreparedCommand,
        /// Handed to the command.
        #[serde(default, skip_serializing_if = "Object::is_empty")]
        config: Object,
    },
}

/// One criterion of a judge grader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Id, unique in the grader.
    pub id: String,
    /// The criterion as text; `None` only with score ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Share in the mean, at least 0.
    pub weight: f64,
    /// Whether the grader fails if this criterion is not satisfied.
    pub required: bool,
    /// Lowest sufficient score, in (0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// Meanings of the scores 0 to 10; empty: satisfied or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub score_ranges: Vec<ScoreRange>,
}

/// The meaning of a range of scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreRange {
    /// Lowest score of the range, 0 to 10.
    pub low: u8,
    /// Highest score of the range, 0 to 10.
    pub high: u8,
    /// Description of an answer with such a score.
    pub outcome: String,
}

/// A command that turns files of a media type or extension into text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preprocessor {
    /// Media type or file extension.
    #[serde(rename = "type")]
    pub media_type: String,
    /// The command.
    pub command: Command,
}
