//! The source lines of findings: test programs know only the places.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use evalsuite_diagnostics::{Diagnostic, Excerpt, Position, SourceRange, terminal};

/// Longest line that is shown, in characters.
const LONG: usize = 160;

/// The files of a workspace, by their displayed paths.
pub(super) struct SourceLines {
    pub(super) root: PathBuf,
    pub(super) texts: BTreeMap<String, Vec<String>>,
}

impl SourceLines {
    /// The finding with the lines at its places.
    pub(super) fn show(&mut self, finding: &Diagnostic) -> Diagnostic {
        finding.clone().map_places(|place| self.with_line(place))
    }

    fn with_line(&mut self, place: SourceRange) -> SourceRange {
        let Some(start) = place.start().filter(|_| place.excerpt.is_none()) else { return place };
        let lines = self.texts.entry(place.file.clone()).or_insert_with(|| {
            // A file that cannot be read is shown by its name.
            let text = fs::read_to_string(self.root.join(&place.file)).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        let index = start.line.saturating_sub(1) as usize;
        let Some(line) = lines.get(index).filter(|line| line.chars().count() <= LONG) else { return place };
        let before: String = line.chars().take(start.column.saturating_sub(1) as usize).collect();
        let (before, rest) = (terminal::line(&before), terminal::line(line[before.len()..].trim_end()));
        let columns = u32::try_from(rest.chars().count()).unwrap_or(u32::MAX);
        let end = Position { line: start.line, column: start.column.saturating_add(columns) };
        let excerpt = Excerpt {
            line: start.line,
            column: start.column,
            mark: before.len()..before.len() + rest.len(),
            text: before + &rest,
            next_line: lines.get(index + 1).map(|line| terminal::line(line)).unwrap_or_default(),
        };
        SourceRange::new(place.file, start, end, Some(excerpt))
    }
}
