//! Settings of `code-grader`.

use serde::{Deserialize, Serialize};

use super::Preprocessor;
use crate::{Command, Object, PathRef};

/// Settings of `code-grader`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeGrader {
    /// The command and where it runs.
    pub run: PreparedCommand,
    /// Limit in seconds; `None`: 60 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// Passed through to the command.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub config: Object,
    /// Commands that turn output files into text; they are tried before the suite's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preprocessors: Option<Vec<Preprocessor>>,
}

/// A command and its working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedCommand {
    /// What runs.
    pub command: Command,
    /// Working directory; `None`: the directory of the eval file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathRef>,
}
