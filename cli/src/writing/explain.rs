//! `cargo evalsuite explain`.

use std::io::Write;

use evalsuite_diagnostics::render::SarifHelp;
use evalsuite_diagnostics::{Code, suggest};

use crate::command_line::Explain;
use crate::platform::cli_error::{CliError, Exit, Result};
use crate::platform::output::stdout;

/// The catalogue of diagnostics: a heading `### E019 unknown-key` and its section for every code.
const CATALOGUE: &str = include_str!("../../diagnostics.md");

/// Prints the section of a diagnostic, or the list of all.
pub(crate) fn run(command: &Explain) -> Result<Exit> {
    let mut out = stdout();
    let Some(asked) = &command.diagnostic else {
        for code in Code::ALL {
            writeln!(out, "{code}")?;
        }
        return Ok(Exit::Good);
    };
    match find(asked).and_then(Section::of) {
        Some(section) => {
            writeln!(out, "{}", section.plain())?;
            Ok(Exit::Good)
        }
        None => {
            let names = Code::ALL.iter().flat_map(|code| [code.as_str(), code.name()]);
            let meant = suggest::did_you_mean(asked, names);
            Err(CliError::with_suggestion(format!("`{asked}` is not a diagnostic"), meant))
        }
    }
}

/// A diagnostic by its code, in upper or lower case, or by its name.
fn find(asked: &str) -> Option<Code> {
    Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(asked) || code.name() == asked)
}

/// The section of a diagnostic in the catalogue.
struct Section {
    /// Markdown, from the code on.
    text: &'static str,
}

impl Section {
    fn of(code: Code) -> Option<Self> {
        let heading = format!("### {code}\n");
        let start = CATALOGUE.find(&heading)? + "### ".len();
        let rest = &CATALOGUE[start..];
        let end = rest.find("\n### ").or_else(|| rest.find("\n## ")).unwrap_or(rest.len());
        Some(Self { text: rest[..end].split("\n## ").next().unwrap_or_default() })
    }

    /// Without fences, which a terminal does not need.
    fn plain(&self) -> String {
        let lines = self.text.lines().filter(|line| !line.starts_with("```"));
        lines.map(|line| line.replace("**", "")).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// What follows the heading.
    fn markdown(&self) -> &str {
        self.text.split_once('\n').map_or("", |(_, rest)| rest).trim()
    }

    /// What the diagnostic means: the first paragraph, in one line.
    fn summary(&self) -> String {
        self.markdown().split("\n\n").next().unwrap_or_default().replace('\n', " ")
    }
}

/// What the catalogue says about a diagnostic, for a log in SARIF.
pub(crate) fn sarif_help(code: Code) -> SarifHelp {
    Section::of(code).map_or_else(SarifHelp::default, |section| SarifHelp {
        summary: section.summary(),
        text: section.plain(),
        markdown: section.markdown().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_section_is_empty() {
        for code in Code::ALL {
            let SarifHelp { summary, text, markdown } = sarif_help(*code);
            assert!([summary, text, markdown].iter().all(|part| !part.trim().is_empty()), "{code}");
        }
    }

    #[test]
    fn every_diagnostic_has_a_section_of_its_own() {
        for code in Code::ALL {
            let text = Section::of(*code).unwrap_or_else(|| panic!("{code} has no section")).plain();
            assert_eq!(text.lines().next(), Some(code.to_string().as_str()));
            assert_eq!(text.matches("\nFix: ").count(), 1, "{text}");
        }
    }
}
