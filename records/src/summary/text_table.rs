//! Tables of aligned text.
//!
//! Hand-written: `comfy-table` would be a dependency of every test program for one loop over column widths.

use std::fmt::Write;
use std::ops::Range;
use std::{fmt, iter};

use evalsuite_schema::diagnostics::terminal;

/// Shown in cells without a value.
const NO_VALUE: &str = "–";

/// A table with one line per row: the first column is aligned to the left, all others to the right. Columns that do not fit beside the
/// others follow below, with the first column again.
#[derive(Debug, Clone, Default)]
pub struct TextTable {
    headings: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
}

/// Spaces before each column.
const GAP: usize = 2;

impl TextTable {
    /// Width in columns if the output is not a terminal.
    pub const USUAL_WIDTH: usize = 80;

    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        Self { headings: headings.iter().map(|heading| (*heading).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row with one cell per heading; `None` where there is no value. Each cell is shown on one line, without characters that affect
    /// the terminal; of a very long one, only the ends.
    pub fn add(&mut self, cells: Vec<Option<String>>) {
        self.rows.push(cells);
    }

    /// Writes the table, indented by two spaces, without the columns in which no row has a value; nothing without rows. Only a cell that
    /// is wider by itself makes a line longer than `width` columns.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write(&self, width: usize, out: &mut impl Write) -> fmt::Result {
        let columns = self.columns();
        let Some((names, values)) = columns.split_first() else { return Ok(()) };
        let widths: Vec<usize> = values.iter().map(|column| widest(column)).collect();
        // A long name has a line of its own, with the values of its row below.
        let most = (width / 2).saturating_sub(GAP);
        let own = widest(names);
        let is_wide = GAP + own + widths.iter().map(|width| GAP + width).sum::<usize>() > width;
        let first = if is_wide { own.min(most) } else { own };
        for block in blocks(&widths, width.saturating_sub(GAP + first)) {
            for (line, name) in names.iter().enumerate() {
                let mut text = format!("  {name:<first$}");
                if length(name) > first {
                    writeln!(out, "{}", text.trim_end())?;
                    text = " ".repeat(GAP + first);
                }
                for (column, width) in values.iter().zip(&widths).take(block.end).skip(block.start) {
                    write!(text, "  {:>width$}", column[line])?;
                }
                writeln!(out, "{}", text.trim_end())?;
            }
        }
        Ok(())
    }

    /// The columns that are shown, each with its heading; none without rows.
    fn columns(&self) -> Vec<Vec<String>> {
        let cell = |row: &Vec<Option<String>>, column: usize| row.get(column).cloned().flatten();
        let is_shown = |column: usize| self.rows.iter().any(|row| cell(row, column).is_some());
        let mut columns = Vec::new();
        for (column, heading) in self.headings.iter().enumerate() {
            if is_shown(column) {
                let cells = self.rows.iter().map(|row| cell(row, column).unwrap_or_else(|| NO_VALUE.to_owned()));
                columns
                    .push(iter::once(heading.clone()).chain(cells).map(|text| terminal::short_line(&text)).collect());
            }
        }
        columns
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn widest(column: &[String]) -> usize {
    column.iter().map(|text| length(text)).max().unwrap_or_default()
}

/// The columns of as few blocks as possible, about equally wide, none wider than `room` unless it has one column only.
fn blocks(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    let fewest = filled(widths, room).len();
    let narrowest = (0..=room).find(|width| filled(widths, *width).len() == fewest);
    filled(widths, narrowest.unwrap_or(room))
}

/// As many columns as fit in each block.
fn filled(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (column, width) in widths.iter().enumerate() {
        used += GAP + width;
        match blocks.last_mut() {
            Some(block) if used <= room => block.end = column + 1,
            _ => {
                used = GAP + width;
                blocks.push(column..column + 1);
            }
        }
    }
    // A table of one column.
    if blocks.is_empty() {
        blocks.push(0..0);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let cell = |text: &str| Some(text.to_owned());
        let mut table = TextTable::new(&["grader", "mean", "errors", "score"]);
        table.add(vec![cell("is-json"), cell("1"), None, cell("0.25")]);
        table.add(vec![cell("a"), None, None, cell("1.00")]);
        let mut text = String::new();
        table.write(80, &mut text).unwrap();
        assert_eq!(text, "  grader   mean  score\n  is-json     1   0.25\n  a           –   1.00\n");
    }

    #[test]
    fn a_table_without_rows_has_no_headings() {
        let mut text = String::new();
        TextTable::new(&["grader"]).write(80, &mut text).unwrap();
        assert_eq!(text, "");
    }

    #[test]
    fn what_does_not_fit_in_a_line_follows_below() {
        let cell = |text: &str| Some(text.to_owned());
        let mut table = TextTable::new(&["target", "passed", "failed", "score", "time"]);
        table.add(vec![cell("small"), cell("10"), cell("1"), cell("0.91"), cell("1.5 s")]);
        let written = |width: usize| {
            let mut text = String::new();
            table.write(width, &mut text).unwrap();
            text
        };
        let line = "  target  passed  failed  score   time\n  small       10       1   0.91  1.5 s\n";
        assert_eq!(written(38), line);
        let two =
            "  target  passed  failed\n  small       10       1\n  target  score   time\n  small    0.91  1.5 s\n";
        assert_eq!(written(37), two);
        assert!(written(0).contains("  0.91\n"), "a column that is too wide by itself is written");
    }

    #[test]
    fn a_cell_is_one_line_that_does_not_affect_the_terminal() {
        let mut table = TextTable::new(&["metadata.a\nb"]);
        table.add(vec![Some("red \u{1b}[31m\r\nor not".to_owned())]);
        table.add(vec![Some("x".repeat(300_000))]);
        let mut text = String::new();
        table.write(80, &mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["  metadata.a b", "  red \u{241b}[31m  or not"]);
        assert!(lines.len() == 4 && lines[2].len() < 1100, "{text}");
    }

    #[test]
    fn a_long_name_has_a_line_of_its_own() {
        let cell = |text: &str| Some(text.to_owned());
        let mut table = TextTable::new(&["slowest", "time"]);
        table.add(vec![cell("shop::a_case_with_a_long_name"), cell("1.5 s")]);
        table.add(vec![cell("shop::short"), cell("0.5 s")]);
        let mut text = String::new();
        table.write(30, &mut text).unwrap();
        let expected =
            "  slowest         time\n  shop::a_case_with_a_long_name\n                 1.5 s\n  shop::short    0.5 s\n";
        assert_eq!(text, expected);
    }
}
