//! Tables of aligned text.
//!
//! Written by hand: `comfy-table` would be a dependency of every test program for one loop over column widths.

use std::fmt;
use std::fmt::Write;

/// Shown in cells without a value.
const NO_VALUE: &str = "–";

/// A table with one line per row: the first column is aligned to the left, all others to the right.
#[derive(Debug, Clone, Default)]
pub struct TextTable {
    headings: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
}

impl TextTable {
    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        Self { headings: headings.iter().map(|heading| (*heading).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row with one cell per heading; `None` where there is no value.
    pub fn add(&mut self, cells: Vec<Option<String>>) {
        self.rows.push(cells);
    }

    /// Writes the table, indented by two spaces, without the columns in which no row has a value; nothing without rows.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write(&self, out: &mut impl Write) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let cell = |row: &Vec<Option<String>>, column: usize| row.get(column).cloned().flatten();
        let shown: Vec<usize> = (0..self.headings.len())
            .filter(|column| self.rows.iter().any(|row| cell(row, *column).is_some()))
            .collect();
        let headings = shown.iter().filter_map(|column| self.headings.get(*column)).cloned();
        let mut lines: Vec<Vec<String>> = vec![headings.collect()];
        lines.extend(
            self.rows.iter().map(|row| {
                shown.iter().map(|column| cell(row, *column).unwrap_or_else(|| NO_VALUE.to_owned())).collect()
            }),
        );
        let width =
            |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|text| text.chars().count()).max();
        let widths: Vec<usize> = (0..shown.len()).filter_map(width).collect();
        for line in &lines {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(text, "  {cell:<width$}")?,
                    _ => write!(text, "  {cell:>width$}")?,
                }
            }
            writeln!(out, "{}", text.trim_end())?;
        }
        Ok(())
    }
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
        table.write(&mut text).unwrap();
        assert_eq!(text, "  grader   mean  score\n  is-json     1   0.25\n  a           –   1.00\n");
    }

    #[test]
    fn a_table_without_rows_has_no_headings() {
        let mut text = String::new();
        TextTable::new(&["grader"]).write(&mut text).unwrap();
        assert_eq!(text, "");
    }
}
