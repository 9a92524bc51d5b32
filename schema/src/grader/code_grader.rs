//! Settings of `code-grader`.

use evalsuite_derive::{Keys, Words, skip_empty};

use super::{GraderSettings, PreparedCommand, Preprocessor};
use crate::json::{FromJson, ToJson};
use crate::{Command, Object, Sealing};

/// A command decides, with a score, `pass`, `fail` or a JSON object on standard output (see the protocols), or without output by its exit
/// status. Keys that are not in this table are added to `config`.
#[skip_empty(.., result, sealing)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(open)]
pub struct CodeGrader {
    /// What runs.
    #[key(Command, "[python3, ./graders/totals.py]", name = "command", old("script"), required, by_hand)]
    #[key(codes(InvalidCommand, MissingPath, ArgumentNotFound))]
    pub run: PreparedCommand,
    /// `output`: standard output is the result, or with nothing on it the exit status (see the protocols). `status`: only the exit status counts.
    #[key(Choice(ResultSource::WORDS), "status", default = "`output`", init = ResultSource::Output)]
    pub result: ResultSource,
    /// Time limit.
    #[also(cwd: Directory, "./graders", "Working directory.", default = "the directory of the eval file", by_hand)]
    #[key(Number(&POSITIVE), "10", default = "60", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// What the command may use.
    #[key(flatten)]
    pub sealing: Sealing,
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

impl GraderSettings for CodeGrader {
    fn command(&self) -> Option<&Command> {
        Some(&self.run.command)
    }

    fn sealing(&self) -> Option<&Sealing> {
        Some(&self.sealing)
    }
}

/// Where the result of a command is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum ResultSource {
    /// On standard output; without output, the exit status decides.
    #[default]
    Output,
    /// The exit status alone.
    Status,
}
