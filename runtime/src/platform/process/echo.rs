//! Command lines on standard error (`EVALSUITE_VERBOSE`).

use std::process::Command;

use crate::platform::notice;
use crate::platform::redaction::without_secrets;
use crate::platform::shell_quoting::quoted_if_needed;

/// Whether programs are shown on standard error when they start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Echo {
    #[default]
    Off,
    On,
}

impl Echo {
    /// Writes a line.
    pub(crate) fn say(self, text: impl FnOnce() -> String) {
        if self == Self::On {
            notice::say(&text());
        }
    }

    /// Shows the command line and the working directory.
    pub(crate) fn show(self, command: &Command) {
        self.say(|| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let line: Vec<String> =
                words.map(|word| quoted_if_needed(&without_secrets(&word.to_string_lossy()))).collect();
            let directory = command.get_current_dir().map(|directory| format!("  (in {})", directory.display()));
            format!("$ {}{}", line.join(" "), directory.unwrap_or_default())
        });
    }
}
