//! The result of a probe as text.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::path::Path;

use evalsuite_discovery::workspace_around;
use evalsuite_loader::source::{Files, Span, plain_text};
use evalsuite_records::record::{ProbeRecord, Share};
use evalsuite_schema::diagnostics::{Diagnostic, Position, counted, render};

/// Most cases that are named for one reason.
const SHOWN: usize = 5;

/// Writes the findings of each suite, then a summary of each.
pub(super) fn write(out: &mut dyn Write, records: &[(&ProbeRecord, &str)]) -> io::Result<()> {
    let workspace = workspace_around(&env::current_dir()?);
    for (record, _) in records {
        for finding in record.findings() {
            writeln!(out, "{}\n", render::text(&with_lines(finding, &workspace), render::Style::Colored))?;
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

/// The finding with the lines at its places up to their ends: test programs know only where they begin.
fn with_lines(finding: &Diagnostic, workspace: &Path) -> Diagnostic {
    finding.clone().map_places(|mut place| {
        // A file that cannot be read is shown by its name.
        let path = workspace.join(&place.file);
        if let (Some(start), None, Some(text)) = (place.start(), &place.excerpt, plain_text(&path)) {
            let files = Files::new(workspace);
            let next_line = Position { line: start.line.saturating_add(1), column: 1 };
            let span = Span::new(files.add_text(&path, text.into(), [0; 32]), start, next_line);
            place.excerpt = files.locate(span).excerpt;
        }
        place
    })
}
