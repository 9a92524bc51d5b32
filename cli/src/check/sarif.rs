//! Problems for code scanning.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use evalsuite_schema::diagnostics::render::{self, SarifHelp};
use evalsuite_schema::diagnostics::{Code, Diagnostics};

use crate::explain::{plain, section};

/// Writes a log with every place. `roots` are the directories that paths are shown relative to.
pub(super) fn write(out: &mut impl Write, places: &Diagnostics, roots: &BTreeSet<PathBuf>) -> io::Result<()> {
    let log = render::sarif(places, &path_in_repository(roots), help);
    writeln!(out, "{log}")
}

/// The path from the root of the repository to the directory that paths are shown relative to, with a `/` at its end if there is one.
fn path_in_repository(roots: &BTreeSet<PathBuf>) -> String {
    // Suites of several workspaces at once are seldom, and then in one repository at its root.
    let [root] = roots.iter().collect::<Vec<_>>()[..] else { return String::new() };
    let repository = root.ancestors().find(|directory| directory.join(".git").exists());
    let path = repository.and_then(|repository| root.strip_prefix(repository).ok());
    match path.map(|path| path.to_string_lossy().replace('\\', "/")) {
        Some(path) if !path.is_empty() => path + "/",
        _ => String::new(),
    }
}

/// What the catalogue says about a diagnostic.
fn help(code: Code) -> SarifHelp {
    let Some(section) = section(code) else { return SarifHelp::default() };
    // What follows the heading.
    let markdown = section.split_once('\n').map_or("", |(_, rest)| rest).trim();
    // What the diagnostic means: the first paragraph, in one line.
    let summary = markdown.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    SarifHelp { summary, text: plain(section), markdown: markdown.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_section_is_empty() {
        for code in Code::ALL {
            let SarifHelp { summary, text, markdown } = help(*code);
            assert!([summary, text, markdown].iter().all(|part| !part.trim().is_empty()), "{code}");
        }
    }
}
