//! The command of a hook with the values of its placeholders `{{ name }}`.

use std::borrow::Cow;
use std::process;

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Argument, Command};

use crate::model::command::shell;
use crate::platform::shell_quoting::{is_quotable, quoted};
use crate::run::hooks::hook_facts::HookFacts;

/// The program to start, and its text, in which a shell gets quoted values; unknown placeholders stay. The error is why it cannot run.
pub(crate) fn filled_command(command: &Command, facts: &HookFacts) -> Result<(process::Command, String), String> {
    let fill = |text: &str, written: fn(String) -> String| {
        Syntax::TemplateBesideVariables.fill(text, |name| facts.placeholder(name).map(written).map(Cow::Owned))
    };
    match command {
        Command::Shell(line) => {
            let is_unquotable = |name: &&str| facts.placeholder(name).is_some_and(|value| !is_quotable(&value));
            if let Some(name) = Syntax::TemplateBesideVariables.names(line).find(is_unquotable) {
                return Err(format!(
                    "cannot run: the value of `{name}` has several lines, of which `cmd` reads only the first"
                ));
            }
            let line = fill(line, |value| quoted(&value));
            Ok((shell(&line), line))
        }
        Command::Argv(arguments) => {
            let word = |argument: &Argument| match argument {
                Argument::Text(text) => fill(text, |value| value),
                Argument::Path(path) => facts.places().resolve(path).display().to_string(),
            };
            let words: Vec<String> = arguments.iter().map(word).collect();
            let (program, arguments) = words.split_first().ok_or("has an empty command")?;
            let mut command = process::Command::new(program);
            command.args(arguments);
            Ok((command, words.join(" ")))
        }
    }
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
        let (_, shown) = filled_command(&command, &facts()).unwrap();
        assert_eq!(shown, "echo case/codex {\"k\":1} {{unknown}} ${{ test_id }} {case} {{");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_gets_every_value_as_one_word() {
        let line = Command::Shell("cd {{workspace_path}} && echo {{case_input}}".into());
        let (_, line) = filled_command(&line, &facts()).unwrap();
        assert_eq!(line, r"cd '/w' && echo 'it'\''s'");
    }

    #[test]
    fn what_does_not_apply_is_empty() {
        let facts = HookFacts { case: None, target: None, ..facts() };
        let command = Command::Argv(vec![text("echo"), text("<{{case_dir}}{{target}}>")]);
        assert_eq!(filled_command(&command, &facts).unwrap().1, "echo <>");
    }
}
