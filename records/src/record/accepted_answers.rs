//! The accepted answers of a suite: a file next to its baseline, under version control.

use evalsuite_schema::json::{FromJson, ToJson};

use super::BaselineError;
use super::keyed_lines::{self, KeyedLine};

/// The answers of the trials that were accepted as a baseline.
///
/// Its text is JSON Lines: an [`AcceptedAnswersHeader`], then one [`AcceptedAnswer`] per case and target, sorted by them.
///
/// ```
/// use evalsuite_records::record::AcceptedAnswers;
///
/// let text = r#"{"schema":"evalsuite.accepted-answers/1","suite":"shop"}
/// {"case":"refund","target":"default","input":"5d","answer":"19.90 are on their way.\n"}
/// "#;
/// let answers = AcceptedAnswers::parse(text)?;
/// assert_eq!(answers.find("refund", "default").unwrap().answer, "19.90 are on their way.\n");
/// assert_eq!(answers.to_text(), text);
/// # Ok::<(), evalsuite_records::record::BaselineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcceptedAnswers {
    /// Suite of the answers.
    pub header: AcceptedAnswersHeader,
    /// The answers, by case and target.
    pub answers: Vec<AcceptedAnswer>,
}

/// The first line of a file with accepted answers. It does not change with the answers, so that branches can be merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(fill)]
#[non_exhaustive]
pub struct AcceptedAnswersHeader {
    /// [`AcceptedAnswersHeader::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub suite: String,
}

impl AcceptedAnswersHeader {
    /// Value of `schema` in files of this version.
    pub const SCHEMA: &'static str = "evalsuite.accepted-answers/1";
}

/// A line of such a file: the accepted answer to one case, of one target.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(fill)]
#[non_exhaustive]
pub struct AcceptedAnswer {
    /// Id of the case.
    pub case: String,
    /// Name of the target.
    pub target: String,
    /// SHA-256 of the input of the agent, hexadecimal.
    pub input: String,
    /// The recorded answer: at most 64 KiB, without secrets; for a conversation, all its messages.
    pub answer: String,
}

impl KeyedLine for AcceptedAnswer {
    fn key(&self) -> (&str, &str) {
        (&self.case, &self.target)
    }
}

impl AcceptedAnswers {
    /// A suite without answers.
    pub fn new(suite: impl Into<String>) -> Self {
        let header = AcceptedAnswersHeader { schema: AcceptedAnswersHeader::SCHEMA.to_owned(), suite: suite.into() };
        Self { header, answers: Vec::new() }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// If a line is not what it has to be, or two are about the same case and target.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let (header, answers) =
            keyed_lines::parse(text, AcceptedAnswersHeader::SCHEMA, |header: &AcceptedAnswersHeader| &header.schema)?;
        Ok(Self { header, answers })
    }

    /// The answer to a case, of a target.
    pub fn find(&self, case: &str, target: &str) -> Option<&AcceptedAnswer> {
        self.answers.iter().find(|answer| answer.key() == (case, target))
    }

    /// The text of the file, with the answers sorted.
    pub fn to_text(&self) -> String {
        keyed_lines::to_text(&self.header, &self.answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(case: &str, answer: &str) -> AcceptedAnswer {
        AcceptedAnswer { case: case.into(), target: "x".into(), answer: answer.into(), ..AcceptedAnswer::default() }
    }

    #[test]
    fn answers_are_the_same_after_a_round_trip_and_one_line_each() {
        let mut answers = AcceptedAnswers::new("shop");
        answers.answers = vec![answer("b", "two\nlines\r\n"), answer("a", "\u{2028} \"quoted\" \u{0} \u{202e}")];
        let text = answers.to_text();
        assert_eq!(text.lines().count(), 3, "{text}");
        answers.answers.reverse();
        assert_eq!(AcceptedAnswers::parse(&text), Ok(answers), "sorted by case");
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| AcceptedAnswers::parse(text).unwrap_err().to_string();
        let mut answers = AcceptedAnswers::new("shop");
        answers.answers = vec![answer("a", "1"), answer("a", "2")];
        assert_eq!(error(&answers.to_text()), "line 3: case `a` with target `x` is in line 2, too");
        let text = AcceptedAnswers::new("shop").to_text();
        assert!(error(&format!("{text}<<<<<<< ours\n")).starts_with("line 2: expected value"));
        assert_eq!(
            error(&text.replace("answers/1", "answers/9")),
            "line 1: the schema is `evalsuite.accepted-answers/9`, not `evalsuite.accepted-answers/1`"
        );
    }
}
