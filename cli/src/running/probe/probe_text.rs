//! The result of a probe as text.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::{env, fs};

use evalsuite_diagnostics::{Diagnostic, Excerpt, Position, SourceRange, counted, render, terminal};
use evalsuite_discovery::workspace_around;
use evalsuite_records::record::{ProbeRecord, Share};

/// Most cases that are named for one reason.
const SHOWN: usize = 5;

/// Longest line of a file that is shown, in characters.
const LONG: usize = 160;

/// Writes the findings of each suite, then a summary of each.
pub(super) fn write(out: &mut dyn Write, records: &[(&ProbeRecord, &str)]) -> io::Result<()> {
    let mut sources = SourceLines { root: workspace_around(&env::current_dir()?), texts: BTreeMap::new() };
    for (record, _) in records {
        for finding in record.findings() {
            writeln!(out, "{}\n", render::text(&sources.show(finding), render::Style::Colored))?;
        }
    }
    for (record, label) in records {
        write_summary(out, record, label)?;
    }
    Ok(())
}

fn write_summary(out: &mut dyn Write, record: &ProbeRecord, label: &str) -> io::Result<()> {
    let findings = record.findings().count();
    writeln!(out, "{label}: {} in {}", counted(findings, "finding"), counted(record.cases.len(), "case"))?;
    let line = |share: Option<Share>, what: &str, nothing: &str| match share {
        Some(share) => format!("{:.2}  {} of {} {what}", share.value(), share.count, share.decided),
        None => format!("   –  {nothing}"),
    };
    let floor = record.floor.map(|floor| (floor.share, format!("cases pass for `{}`", floor.probe.word())));
    let (share, what) = floor.map_or((None, String::new()), |(share, what)| (Some(share), what));
    writeln!(out, "  floor    {}", line(share, &what, "no probe was decided"))?;
    let ceiling = line(record.ceiling, "references pass", "no case has a reference that was decided");
    writeln!(out, "  ceiling  {ceiling}")?;
    writeln!(out, "  mutants  {}", line(record.mutants, "broken references fail", "no reference could be broken"))?;
    for (reason, cases) in not_probed(record) {
        let shown: Vec<&str> = cases.iter().take(SHOWN).map(String::as_str).collect();
        let more = cases.len().checked_sub(SHOWN).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
        writeln!(out, "  not probed: {reason}: {}{more}", shown.join(", "))?;
    }
    Ok(())
}

/// Cases with graders that were not run, by the grader and the reason.
fn not_probed(record: &ProbeRecord) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in &record.cases {
        for grader in &case.not_run {
            let help = if grader.reason == "asks a judge" { "; `--judge` asks it" } else { "" };
            // The lines after the first are details of an error, as JSON has them.
            let reason = grader.reason.lines().next().unwrap_or_default();
            let reason = format!("`{}` {reason}{help}", grader.path);
            let cases = found.entry(reason).or_default();
            if cases.last() != Some(&case.case_id) {
                cases.push(case.case_id.clone());
            }
        }
    }
    found
}

/// The files of a workspace, by their displayed paths: test programs know only the places of findings.
struct SourceLines {
    root: PathBuf,
    texts: BTreeMap<String, Vec<String>>,
}

impl SourceLines {
    /// The finding with the lines at its places.
    fn show(&mut self, finding: &Diagnostic) -> Diagnostic {
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
