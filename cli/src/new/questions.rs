//! Answers that the command line does not give: asked on a terminal, else defaults.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::platform::cli_error::{CliError, Result};

/// A question about an argument that was not given.
pub(super) struct Question<'q> {
    /// What is asked, without a question mark.
    pub(super) text: &'q str,
    /// The argument that answers it.
    pub(super) argument: &'q str,
    /// What an empty answer and the end of the input mean, and the answer without a terminal.
    pub(super) default: Option<&'q str>,
}

impl Question<'_> {
    /// The given answer, else that of the user.
    pub(super) fn answer(&self, given: Option<&str>) -> Result<String> {
        if let Some(given) = given {
            return Ok(given.to_owned());
        }
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            return self.ask(&mut io::stdin().lock(), &mut anstream::stderr().lock());
        }
        self.default.map(str::to_owned).ok_or_else(|| self.without_answer())
    }

    fn ask(&self, input: &mut impl BufRead, out: &mut impl Write) -> Result<String> {
        loop {
            let default = self.default.map(|default| format!(" [{default}]")).unwrap_or_default();
            write!(out, "{}{default}: ", self.text)?;
            out.flush()?;
            let mut line = String::new();
            let is_end = input.read_line(&mut line)? == 0;
            match (line.trim(), self.default) {
                ("", Some(default)) => return Ok(default.to_owned()),
                ("", None) if is_end => return Err(self.without_answer()),
                ("", None) => {}
                (answer, _) => return Ok(answer.to_owned()),
            }
        }
    }

    fn without_answer(&self) -> CliError {
        let mut text = self.text.chars();
        let first = text.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
        let message = format!("`{}` is missing: {first}{}", self.argument, text.as_str());
        CliError::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(default: Option<&str>, typed: &str) -> (Option<String>, String) {
        let question = Question { text: "Name of the suite", argument: "NAME", default };
        let mut out = Vec::new();
        let answer = question.ask(&mut typed.as_bytes(), &mut out);
        (answer.ok(), String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn an_empty_answer_is_the_default() {
        assert_eq!(ask(Some("basics"), "\n"), (Some("basics".into()), "Name of the suite [basics]: ".into()));
        assert_eq!(ask(Some("basics"), " shop \n").0, Some("shop".into()));
        assert_eq!(ask(Some("basics"), "").0, Some("basics".into()), "the input has ended");
    }

    #[test]
    fn without_a_default_the_question_is_repeated() {
        let (answer, shown) = ask(None, "\n\nshop\n");
        assert_eq!(answer, Some("shop".into()));
        assert_eq!(shown.matches("Name of the suite: ").count(), 3);
        assert_eq!(ask(None, "\n").0, None, "the input has ended");
    }
}
