//! `cargo evalsuite explain`.

use std::io::Write;

use clap::Args;
use evalsuite_schema::diagnostics::{Code, suggest};

use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::stdout;

/// Explain a diagnostic: its meaning and the fix
///
/// Exit status: 0 on success, 2 if there is no such diagnostic.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Code or name, such as `E019` or `unknown-key` [default: list all]
    pub(crate) diagnostic: Option<String>,
}

/// The catalogue of diagnostics: a heading `### E019 unknown-key` and its section for every code.
const CATALOGUE: &str = include_str!("../diagnostics.md");

/// Prints the section of a diagnostic, or the list of all.
pub(crate) fn run(command: &Explain) -> Result<CommandStatus> {
    let mut out = stdout();
    let Some(asked) = &command.diagnostic else {
        for code in Code::ALL {
            writeln!(out, "{code}")?;
        }
        return Ok(CommandStatus::Good);
    };
    let is_asked = |code: &Code| code.as_str().eq_ignore_ascii_case(asked) || code.name() == asked;
    match Code::ALL.iter().copied().find(is_asked).and_then(section) {
        Some(section) => {
            writeln!(out, "{}", plain(section))?;
            Ok(CommandStatus::Good)
        }
        None => {
            let names = Code::ALL.iter().flat_map(|code| [code.as_str(), code.name()]);
            let help = suggest::did_you_mean(asked, names)
                .unwrap_or_else(|| "`cargo evalsuite explain` lists the diagnostics".to_owned());
            Err(CliError::with_help(format!("`{asked}` is not a diagnostic"), help))
        }
    }
}

/// The section of a diagnostic in the catalogue: Markdown, from the code on.
pub(crate) fn section(code: Code) -> Option<&'static str> {
    let heading = format!("### {code}\n");
    let start = CATALOGUE.find(&heading)? + "### ".len();
    let rest = &CATALOGUE[start..];
    let end = rest.find("\n### ").or_else(|| rest.find("\n## ")).unwrap_or(rest.len());
    rest[..end].split("\n## ").next()
}

/// A section without fences, which a terminal does not need.
pub(crate) fn plain(section: &str) -> String {
    let lines = section.lines().filter(|line| !line.starts_with("```"));
    lines.map(|line| line.replace("**", "")).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_diagnostic_has_a_section_of_its_own() {
        for code in Code::ALL {
            let text = plain(section(*code).unwrap_or_else(|| panic!("{code} has no section")));
            assert_eq!(text.lines().next(), Some(code.to_string().as_str()));
            assert_eq!(text.matches("\nFix: ").count(), 1, "{text}");
        }
    }
}
