//! The context of graders, in addition to their settings, and `transform`: what a grader sees in place of the answer.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_records::record::Note;
use evalsuite_schema::Value;
use evalsuite_schema::grader::{AnswerStep, Preprocessor, trim};
use evalsuite_schema::json::from_str_with_unique_keys;

use crate::grade::patterns;
use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_choice::{AskingGrader, JudgeChoice, JudgeSeal};
use crate::model::command::CommandEnvironment;
use crate::model::evals::Registry;
use crate::model::evidence::Evidence;
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::file_key;
use crate::platform::process::Captured;
use crate::platform::redaction::Redactor;
use crate::record::cassette::TrialCassette;
use crate::record::grader_files::GraderFiles;

/// The context of graders, in addition to their settings.
pub(crate) struct GradingContext<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) suite: &'a str,
    /// Effective threshold of the trial: the pass mark of graders without one of their own.
    pub(crate) threshold: f64,
    pub(crate) registry: &'a Registry,
    pub(crate) places: &'a SuiteLocation,
    pub(crate) environment: &'a CommandEnvironment,
    pub(crate) trial_dir: &'a Path,
    /// Records the replies of judges, or replays them.
    pub(crate) cassette: &'a TrialCassette,
    pub(crate) redactor: &'a Redactor,
    pub(crate) notes: &'a RefCell<Vec<Note>>,
    pub(crate) judges: &'a JudgeChoice,
    /// The accepted answer to the case, if there is one and a grader compares with it.
    pub(crate) accepted_answer: Option<&'a io::Result<Option<String>>>,
    /// Commands that turn output files into text, where a grader has none of its own.
    pub(crate) preprocessors: &'a [Preprocessor],
}

impl GradingContext<'_> {
    /// Directory for the files of a grader. It exists once a file is written to it.
    pub(crate) fn grader_directory(&self, path: &str) -> PathBuf {
        self.trial_dir.join("graders").join(file_key(path))
    }

    /// Adds a note to the trial, once if several graders have it.
    pub(crate) fn add_note(&self, note: Option<Note>) {
        let mut notes = self.notes.borrow_mut();
        if let Some(note) = note
            && !notes.contains(&note)
        {
            notes.push(note);
        }
    }

    /// Writes the output of a command next to the record; returns its path relative to the trial's directory.
    pub(crate) fn write_output(&self, directory: &Path, file: &str, output: &Captured) -> Option<String> {
        if output.bytes.is_empty() {
            return None;
        }
        let written = self.grader_files().write(directory, file, &output.text());
        let written = written.map_err(|note| self.notes.borrow_mut().push(note)).ok()?;
        if output.truncated {
            let message = format!("{written}: only the first {} bytes are kept", output.bytes.len());
            self.notes.borrow_mut().push(Note::new("output_truncated", message));
        }
        Some(written)
    }

    /// The questions of the grader at `path` to judges.
    pub(crate) fn inquiry(&self, path: &str) -> GraderInquiry {
        let grader = AskingGrader {
            path: path.to_owned(),
            case_id: self.evidence.case_id().to_owned(),
            trial: self.evidence.trial(),
            directory: self.grader_directory(path),
            files: self.grader_files(),
            cassette: self.cassette.replies(),
            workspace: self.evidence.workspace().to_owned(),
            environment: self.environment.clone(),
            seal: JudgeSeal::default(),
            command_calls: Arc::default(),
        };
        GraderInquiry::new(grader, self.judges.clone())
    }

    /// Writes the files of graders.
    pub(crate) fn grader_files(&self) -> GraderFiles {
        GraderFiles::new(self.trial_dir, self.redactor)
    }
}

/// Why steps make no text of an answer.
#[derive(Debug)]
pub(crate) enum NoText {
    /// The answer is not what they need, which is its fault.
    Unfit(String),
    /// A step cannot be done with any answer.
    BrokenStep(String),
}

/// The text that the steps make of the answer.
pub(crate) fn apply(steps: &[AnswerStep], answer: &str) -> Result<String, NoText> {
    steps.iter().try_fold(answer.to_owned(), |text, step| match step {
        AnswerStep::Trim => Ok(trim(&text).to_owned()),
        AnswerStep::Lowercase => Ok(text.to_lowercase()),
        AnswerStep::Uppercase => Ok(text.to_uppercase()),
        AnswerStep::Json(path) => json(path, &text).map_err(NoText::Unfit),
        AnswerStep::Replace { replace, with } => patterns::replaced(replace, with, &text).map_err(NoText::BrokenStep),
        other => Err(NoText::BrokenStep(format!("the step {other:?} is not known"))),
    })
}

fn json(path: &str, text: &str) -> Result<String, String> {
    let root: Value = from_str_with_unique_keys(text).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let steps = path.split('.').filter(|_| !path.is_empty());
    let value = steps.into_iter().try_fold(&root, |value, step| match value {
        Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
        other => other.get(step),
    });
    match value {
        None => Err(format!("the answer has no `{path}`")),
        Some(Value::Null) if path.is_empty() => Err("the answer is null".to_owned()),
        Some(Value::Null) => Err(format!("`{path}` of the answer is null")),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Ok(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(steps: &[AnswerStep], answer: &str) -> String {
        apply(steps, answer).unwrap_or_else(|problem| match problem {
            NoText::Unfit(problem) => format!("! {problem}"),
            NoText::BrokenStep(problem) => format!("!! {problem}"),
        })
    }

    #[test]
    fn steps_change_the_answer_in_order() {
        use AnswerStep::{Json, Lowercase, Replace, Trim, Uppercase};

        let path = |path: &str| Json(path.to_owned());
        let replace = |pattern: &str, with: &str| Replace { replace: pattern.to_owned(), with: with.to_owned() };
        for (steps, answer, expected) in [
            (vec![Trim, Lowercase], "\u{feff} A \u{85}\n", "a \u{85}"),
            (vec![Uppercase], "Straße", "STRASSE"),
            (vec![path("a.0.b"), Uppercase], r#"{"a": [{"b": "x"}]}"#, "X"),
            (vec![path("a")], r#"{"a": [1, {"b": null}]}"#, r#"[1,{"b":null}]"#),
            (vec![path("")], " [1] ", "[1]"),
            (vec![path("a"), path("b")], r#"{"a": {"b": 2.5}}"#, "2.5"),
            (vec![replace("(?s)\\A.*?```(?:json)?\\n(.*?)```.*", "${1}"), Trim], "So:\n```json\n[1]\n```", "[1]"),
            (vec![replace("(a)(b)?", "<${1}${2}$$>")], "ab a", "<ab$> <a$>"),
            (vec![replace("x", "")], "y", "y"),
            (vec![path("a.1")], r#"{"a": [1]}"#, "! the answer has no `a.1`"),
            (vec![path("a")], r#"{"a": null}"#, "! `a` of the answer is null"),
        ] {
            assert_eq!(applied(&steps, answer), expected, "{steps:?} of {answer:?}");
        }
        for answer in ["no", r#"{"a": 1, "a": 2}"#] {
            assert!(applied(&[path("a")], answer).starts_with("! the answer is not JSON: "), "{answer}");
        }
        assert!(applied(&[replace("(", "")], "").starts_with("!! the pattern of `replace` does not compile: "));
    }
}
