//! `EVALSUITE_VERBOSE`: shows each program when it starts.

use std::process::Command;

use crate::platform::{notice, redaction};

/// Whether programs are shown on standard error when they start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Echo {
    #[default]
    Off,
    On,
}

impl Echo {
    /// Writes a line with the secrets of this process hidden.
    pub(crate) fn say(self, text: impl FnOnce() -> String) {
        if self == Self::On {
            notice::say(&redaction::without_secrets(&text()));
        }
    }

    /// Shows the command line and the working directory.
    pub(crate) fn show(self, command: &Command) {
        self.say(|| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let line: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
            let directory = command.get_current_dir().map(|directory| format!("  (in {})", directory.display()));
            format!("$ {}{}", line.join(" "), directory.unwrap_or_default())
        });
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./=:,@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("a/b.py"), "a/b.py");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
