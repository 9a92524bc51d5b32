//! The command of a hook with the values of its placeholders `{{ name }}`.

use std::borrow::Cow;
use std::{fmt, process};

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Argument, Command};

use crate::model::command::shell;
use crate::platform::shell_quoting::{is_quotable, quoted};
use crate::run::hooks::hook_facts::HookFacts;

/// A command with the values of all placeholders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FilledCommand {
    /// A line for a shell, in which values are quoted.
    Shell(String),
    /// Program and arguments.
    Argv(Vec<String>),
}

impl FilledCommand {
    /// Fills in the values. Unknown placeholders stay.
    pub(crate) fn new(command: &Command, facts: &HookFacts) -> Self {
        match command {
            Command::Shell(line) => Self::Shell(fill(line, |name| facts.placeholder(name).map(|value| quoted(&value)))),
            Command::Argv(arguments) => {
                let argument = |argument: &Argument| match argument {
                    Argument::Text(text) => fill(text, |name| facts.placeholder(name)),
                    Argument::Path(path) => facts.places().resolve(path).display().to_string(),
                };
                Self::Argv(arguments.iter().map(argument).collect())
            }
        }
    }

    /// The placeholder of a line for a shell whose value cannot be quoted, if there is one.
    pub(crate) fn unquotable(command: &Command, facts: &HookFacts) -> Option<String> {
        let Command::Shell(line) = command else { return None };
        let is_unquotable = |name: &&str| facts.placeholder(name).is_some_and(|value| !is_quotable(&value));
        Syntax::TemplateBesideVariables.names(line).find(is_unquotable).map(str::to_owned)
    }

    /// The program to start; `None` if there is none.
    pub(crate) fn program(&self) -> Option<process::Command> {
        match self {
            Self::Shell(line) => Some(shell(line)),
            Self::Argv(words) => {
                let (program, arguments) = words.split_first()?;
                let mut command = process::Command::new(program);
                command.args(arguments);
                Some(command)
            }
        }
    }
}

impl fmt::Display for FilledCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::Argv(words) => f.write_str(&words.join(" ")),
        }
    }
}

fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    Syntax::TemplateBesideVariables.fill(text, |name| value(name).map(Cow::Owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::hooks::hook_facts::tests::facts;

    fn text(text: &str) -> Argument {
        Argument::Text(text.to_owned())
    }

    #[test]
    fn arguments_get_the_plain_values() {
        let command = Command::Argv(vec![
            text("echo"),
            text("{{test_id}}/{{ target }}"),
            text("{{case_metadata}}"),
            text("{{unknown}} ${{ test_id }} {{{test_id}}} {{"),
        ]);
        let FilledCommand::Argv(words) = FilledCommand::new(&command, &facts()) else {
            panic!("arguments stay arguments")
        };
        assert_eq!(words, ["echo", "case/codex", "{\"k\":1}", "{{unknown}} ${{ test_id }} {case} {{"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_gets_every_value_as_one_word() {
        let line = Command::Shell("cd {{workspace_path}} && echo {{case_input}}".into());
        let line = FilledCommand::new(&line, &facts());
        assert_eq!(line, FilledCommand::Shell(r"cd '/w' && echo 'it'\''s'".into()));
    }

    #[test]
    fn what_does_not_apply_is_empty() {
        let facts = HookFacts { case: None, target: None, ..facts() };
        let command = Command::Argv(vec![text("<{{case_dir}}{{target}}>")]);
        assert_eq!(FilledCommand::new(&command, &facts), FilledCommand::Argv(vec!["<>".into()]));
    }
}
