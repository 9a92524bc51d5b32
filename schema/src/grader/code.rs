//! Settings of `code-grader`.

use evalsuite_derive::{Keys, skip_empty};
use serde::{Deserialize, Serialize};

use super::Preprocessor;
use crate::{Command, Object, PathRef};

/// Settings of `code-grader`.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Keys)]
#[keys(open)]
pub struct CodeGrader {
    /// What runs.
    #[key(Command, "[python3, ./graders/totals.py]", name = "command", old("script"), required, by_hand)]
    #[key(codes(InvalidCommand, MissingPath, ArgumentNotFound))]
    pub run: PreparedCommand,
    /// Time limit.
    #[also(cwd: Directory, "./graders", "Working directory.", default = "the directory of the eval file", by_hand)]
    #[key(Number(&POSITIVE), "10", default = "60", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// Free-form data that the command gets.
    #[also(target: Any, "gpt", "There is no proxy to a model: let the command call the model itself.",
        refused(UnsupportedKey, "`target` of a `code-grader` is not supported: there is no proxy to a model",
            "delete it, and let the command call the model itself"))]
    #[key(Data, "{currency: EUR}", codes(NearMissKey, ConflictingKeys), by_hand)]
    pub config: Object,
    /// Commands that turn files in the answer into text, tried before the suite's.
    #[key(List(&Object(Preprocessor::TABLE)), "[{type: pdf, command: [./pdf_to_text.sh]}]", by_hand)]
    pub preprocessors: Option<Vec<Preprocessor>>,
}

/// A command and its working directory.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedCommand {
    /// What runs.
    pub command: Command,
    /// Working directory; `None`: the directory of the eval file.
    pub cwd: Option<PathRef>,
}

crate::keys::made!(PreparedCommand);
