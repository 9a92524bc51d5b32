//! The listing as text.

use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table};

use evalsuite_schema::diagnostics::counted;

use super::{ListedCase, ListedRun, ListedSuite, Listing, SuiteResults};
use crate::platform::output;

/// Maximum number of runs that are listed.
const RUNS: usize = 20;

/// Minimum width of the graders of a case that are on its line.
const GRADERS: usize = 20;

pub(super) fn write(out: &mut dyn Write, listing: &Listing) -> io::Result<()> {
    for suite in listing.suites.iter().flatten() {
        print_suite(out, suite)?;
    }
    if listing.suites.as_ref().is_some_and(Vec::is_empty) {
        writeln!(out, "no suites")?;
    }
    listing.runs.as_ref().map_or(Ok(()), |runs| print_runs(out, runs))
}

fn print_runs(out: &mut dyn Write, runs: &[ListedRun]) -> io::Result<()> {
    if runs.is_empty() {
        return writeln!(out, "no runs");
    }
    const HEADER: [&str; 6] = ["run", "suite", "passed", "failed", "error", "skipped"];
    let shown = runs.iter().take(RUNS).flat_map(|run| run.suites.iter().map(move |suite| run_cells(run, suite)));
    let rows: Vec<[String; 6]> = shown.collect();
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([HEADER[column].len()]).max().unwrap_or_default() + 2
    };
    let width = output::width();
    if (0..HEADER.len()).map(widest).sum::<usize>() <= width {
        let mut table = table(width);
        table.set_header(HEADER);
        table.add_rows(&rows);
        print_table(out, table, |_| true)?;
    } else {
        for [run, suite, passed, failed, error, skipped] in &rows {
            writeln!(out, "{run}  {suite}")?;
            writeln!(out, "  {passed} passed, {failed} failed, {error} error, {skipped} skipped")?;
        }
    }
    match runs.len().saturating_sub(RUNS) {
        0 => Ok(()),
        more => writeln!(out, "and {}", counted(more, "older run")),
    }
}

/// A row of the table of runs.
fn run_cells(run: &ListedRun, suite: &SuiteResults) -> [String; 6] {
    let rate = suite.pass_rate.map(|rate| format!(" ({:.0} %)", 100.0 * rate)).unwrap_or_default();
    [
        run.run_id.clone(),
        format!("{}@{}", suite.suite, suite.target),
        format!("{}{rate}", suite.passed),
        suite.failed.to_string(),
        suite.error.to_string(),
        suite.skipped.to_string(),
    ]
}

fn print_suite(out: &mut dyn Write, suite: &ListedSuite) -> io::Result<()> {
    let Some(name) = &suite.name else {
        let (path, errors) = (&suite.shown, counted(suite.errors, "error"));
        return writeln!(out, "{path}: {errors}, see `cargo evalsuite check {path}`\n");
    };
    write!(out, "{name} ({})", suite.path)?;
    for (what, names) in [("tags", &suite.tags), ("targets", &suite.targets)] {
        if !names.is_empty() {
            write!(out, "  {what}: {}", names.join(", "))?;
        }
    }
    writeln!(out)?;
    let width = output::width();
    let place = |case: &ListedCase| format!("{}:{}", case.file, case.line);
    let graders =
        |case: &ListedCase| case.graders.iter().map(|grader| grader.name.as_str()).collect::<Vec<_>>().join(", ");
    let widest_id = suite.cases.iter().map(|case| case.id.chars().count()).max().unwrap_or_default();
    let widest_place = suite.cases.iter().map(|case| place(case).chars().count()).max().unwrap_or_default();
    let names = widest_id + widest_place + 6;
    if names + GRADERS <= width {
        let mut table = table(width);
        for case in &suite.cases {
            table.add_row([format!("  {}", case.id), place(case), graders(case)]);
        }
        print_table(out, table, |column| column < 2)?;
    } else {
        // Paths are not broken: editors and terminals open them.
        for case in &suite.cases {
            let gap = if names <= width { "  " } else { "\n    " };
            writeln!(out, "  {}{gap}{}", case.id, place(case))?;
            let mut below = table(width.saturating_sub(2));
            below.add_row([graders(case)]);
            for line in below.lines().filter(|line| !line.trim().is_empty()) {
                writeln!(out, "    {}", line.trim())?;
            }
        }
    }
    writeln!(out)
}

fn table(width: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width.try_into().unwrap_or(u16::MAX));
    table
}

/// The lines of a table without the spaces that fill its last column. The cells of some columns stay on one line.
fn print_table(out: &mut dyn Write, mut table: Table, is_whole: impl Fn(usize) -> bool) -> io::Result<()> {
    for column in table.column_iter_mut().filter(|column| is_whole(column.index)) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    for line in table.lines() {
        let line = line.strip_prefix(' ').unwrap_or(&line);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
