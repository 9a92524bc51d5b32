//! Places in files as records and reports name them, and the range of a diagnostic with its source lines.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::diagnostics::terminal;
use crate::json::{Fields, FromJson, Result, Value, written_by_serde};

/// A place in a suite's file.
///
/// ```
/// use evalsuite_schema::diagnostics::Location;
///
/// let grader = Location::new("suites/shop/cases/refund.yaml", 9, 5);
/// assert_eq!(grader.to_string(), "suites/shop/cases/refund.yaml:9:5");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
// By this name the writer of canonical JSON knows what it leaves out.
#[serde(rename(serialize = "$evalsuite_schema::diagnostics::private::Location"))]
#[non_exhaustive]
pub struct Location {
    /// Path relative to the Cargo workspace root, with `/` separators.
    pub file: String,
    /// Line, counted from 1. 0 for a place that is a whole file or directory.
    pub line: u32,
    /// Column in characters, counted from 1. 0 for a place that is a whole file or directory.
    pub column: u32,
}

impl Location {
    /// A place at a line and column, both counted from 1.
    pub fn new(file: impl Into<String>, line: u32, column: u32) -> Self {
        Self { file: file.into(), line, column }
    }
}

written_by_serde!(Location);

impl FromJson for Location {
    fn from_json(value: Value) -> Result<Self> {
        let mut fields = Fields::of(value, "struct Location")?;
        Ok(Self::new(fields.required::<String>("file")?, fields.required("line")?, fields.required("column")?))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A range of a file, or a file or directory as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceRange {
    /// The displayed path: relative to the Cargo workspace root, with `/` separators.
    pub file: String,
    /// The first character and the one after the last; `None` for a file or directory as a whole.
    pub range: Option<(Position, Position)>,
    /// The line where the range starts; `None` if it cannot be shown.
    pub excerpt: Option<Excerpt>,
}

/// The line where a [`SourceRange`] starts, ready to be shown: without characters that disturb a terminal, a long line
/// is cut to the part around the range, with `...` for the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Number of the line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1, where the range starts in the file.
    pub column: u32,
    /// The line, or a part of it.
    pub text: String,
    /// The bytes of `text` that belong to the range.
    pub mark: Range<usize>,
    /// The line after it, which is shown if another place of the diagnostic is two lines further down.
    pub next_line: String,
}

impl Excerpt {
    /// Replaces the part of a long line that is left out.
    pub const CUT: &str = "...";

    /// Column in characters, counted from 1, where the range starts in `text`.
    pub fn column_in_text(&self) -> u32 {
        u32::try_from(self.text[..self.mark.start].chars().count()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Whether `text` is the whole line.
    pub fn is_whole(&self) -> bool {
        self.column == self.column_in_text() && !self.text.ends_with(Self::CUT)
    }
}

impl SourceRange {
    /// A file or directory as a whole.
    pub fn whole(file: impl Into<String>) -> Self {
        Self { file: file.into(), range: None, excerpt: None }
    }

    /// From `start` to before `end`, with the line to show.
    pub fn new(file: impl Into<String>, start: Position, end: Position, excerpt: Option<Excerpt>) -> Self {
        Self { file: file.into(), range: Some((start, end)), excerpt }
    }

    /// Where the range starts; `None` for a file or directory as a whole.
    pub fn start(&self) -> Option<Position> {
        self.range.map(|(start, _)| start)
    }
}

impl From<Location> for SourceRange {
    fn from(Location { file, line, column }: Location) -> Self {
        let start = Position { line, column };
        Self { file, range: (line > 0).then_some((start, start)), excerpt: None }
    }
}

/// `FILE:LINE:COLUMN`, or only the file.
impl fmt::Display for SourceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&terminal::short_line(&self.file))?;
        match self.start() {
            Some(start) => write!(f, ":{}:{}", start.line, start.column),
            None => Ok(()),
        }
    }
}

impl From<&Location> for SourceRange {
    fn from(location: &Location) -> Self {
        location.clone().into()
    }
}
