//! `{{ name }}` in the commands of hooks.

use std::{fmt, process};

use evalsuite_schema::{Argument, Command};

use crate::{
    model::{command::shell, suite_location::SuiteLocation},
    platform::shell_quoting::quoted,
    run::hooks::HookFacts,
};

/// A command with every placeholder filled in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// A line for a shell, in which values are quoted.
    Line(String),
    /// Program and arguments.
    Words(Vec<String>),
}

pub(crate) fn filled(command: &Command, facts: &HookFacts, places: &SuiteLocation) -> Filled {
    match command {
        Command::Shell(line) => Filled::Line(fill(line, |name| facts.placeholder(name).map(|value| quoted(&value)))),
        Command::Argv(arguments) => {
            let word = |argument: &Argument| match argument {
                Argument::Text(text) => fill(text, |name| facts.placeholder(name)),
                Argument::Path(path) => places.resolve(path).display().to_string(),
            };
            Filled::Words(arguments.iter().map(word).collect())
        }
    }
}

impl Filled {
    /// The program to start; `None` if there is none.
    pub(crate) fn program(&self) -> Option<process::Command> {
        match self {
            Self::Line(line) => Some(shell(line)),
            Self::Words(words) => {
                let (program, arguments) = words.split_first()?;
                let mut command = process::Command::new(program);
                command.args(arguments);
                Some(command)
            }
        }
    }
}

impl fmt::Display for Filled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => f.write_str(line),
            Self::Words(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// Unknown placeholders stay as they are; what is filled in is not looked at again.
fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, behind) = rest.split_at(start);
        filled.push_str(before);
        let found = behind[2..].find("}}").and_then(|end| {
            let value = value(behind[2..2 + end].trim())?;
            (!before.ends_with('$')).then_some((value, 2 + end + 2))
        });
        match found {
            Some((value, end)) => {
                filled.push_str(&value);
                rest = &behind[end..];
            }
            None => {
                filled.push('{');
                rest = &behind[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::hooks::facts::tests::facts;

    fn text(text: &str) -> Argument {
        Argument::Text(text.to_owned())
    }

    #[test]
    fn arguments_hold_the_plain_values() {
        let command = Command::Argv(vec![
            text("echo"),
            text("{{test_id}}/{{ target }}"),
            text("{{case_metadata}}"),
            text("{{unknown}} ${{ test_id }} {{{test_id}}} {{"),
        ]);
        let Filled::Words(words) = filled(&command, &facts(), &facts().places()) else { panic!("words stay words") };
        assert_eq!(words, ["echo", "case/codex", "{\"k\":1}", "{{unknown}} ${{ test_id }} {case} {{"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_gets_every_value_as_one_word() {
        let line = Command::Shell("cd {{workspace_path}} && echo {{case_input}}".into());
        let line = filled(&line, &facts(), &facts().places());
        assert_eq!(line, Filled::Line(r"cd '/w' && echo 'it'\''s'".into()));
    }

    #[test]
    fn what_does_not_apply_is_empty() {
        let facts = HookFacts { case: None, target: None, ..facts() };
        let command = Command::Argv(vec![text("<{{case_dir}}{{target}}>")]);
        assert_eq!(filled(&command, &facts, &facts.places()), Filled::Words(vec!["<>".into()]));
    }
}
