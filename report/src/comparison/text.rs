//! A comparison as people read it.

use std::fmt;

use super::{CaseChange, ChangeKind, Comparison, ComparisonVerdict, SliceComparison, SuiteComparison};
use crate::statistics::wilson_interval;

/// Most cases of one kind that are listed.
const LISTED: usize = 20;
/// Differences of scores below this one are counted and not listed, where equally many trials passed.
const SMALL_DIFFERENCE: f64 = 0.05;

impl fmt::Display for ComparisonVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Improved => "improved",
            Self::Unchanged => "no evidence of a change",
            Self::Undecided => "undecided",
            Self::Regressed => "regressed",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} compared with {}", self.run, self.base)?;
        for suite in &self.suites {
            write!(f, "\n{suite}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SuiteComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} @ {}: {}", self.suite, self.target, self.verdict)?;
        writeln!(f, "  passed   {} -> {}", rate(self.base_passed), rate(self.run_passed))?;
        write!(f, "  score    {:+.3}", self.difference)?;
        if let Some((lower, upper)) = self.interval {
            write!(f, " [{lower:+.3}, {upper:+.3}]")?;
        }
        write!(f, "  p {}", p_value(self.p_value, self.adjusted_p))?;
        write!(f, "  {} cases compared, {} differ", self.pairs, self.differing)?;
        if let Some(effect) = self.visible_effect {
            write!(f, ", effects from {effect:.3} visible")?;
        }
        writeln!(f)?;
        if self.missing > 0 {
            writeln!(
                f,
                "  missing  {} of {} cases have a result in only one run",
                self.missing,
                self.missing + self.pairs
            )?;
        }
        self.slices.iter().try_for_each(|slice| writeln!(f, "  {slice}"))?;
        for kind in [
            ChangeKind::Lost,
            ChangeKind::Regressed,
            ChangeKind::Quarantined,
            ChangeKind::Improved,
            ChangeKind::Changed,
            ChangeKind::Missing,
            ChangeKind::Redefined,
            ChangeKind::Added,
            ChangeKind::Removed,
        ] {
            let (small, cases): (Vec<&CaseChange>, Vec<&CaseChange>) =
                self.changes.iter().filter(|change| change.kind == kind).partition(|change| is_small(change));
            for change in cases.iter().take(LISTED) {
                writeln!(f, "  {:<18}  {}{}", kind.as_str(), change.case_id, numbers(change))?;
            }
            if cases.len() > LISTED {
                writeln!(f, "  {:<18}  and {} more", kind.as_str(), cases.len() - LISTED)?;
            }
            if !small.is_empty() {
                let scores = if small.len() == 1 { "1 score".to_owned() } else { format!("{} scores", small.len()) };
                writeln!(f, "  {:<18}  {scores} by less than {SMALL_DIFFERENCE}", kind.as_str())?;
            }
        }
        Ok(())
    }
}

/// `bucket:money: regressed  -0.250 [-0.400, -0.100]  p 0.004 (0.012 adjusted)  12 cases`.
impl fmt::Display for SliceComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}  {:+.3}", self.key, self.value, self.verdict, self.difference)?;
        if let Some((lower, upper)) = self.interval {
            write!(f, " [{lower:+.3}, {upper:+.3}]")?;
        }
        let cases = if self.pairs == 1 { "case" } else { "cases" };
        write!(f, "  p {}  {} {cases}", p_value(self.p_value, self.adjusted_p), self.pairs)
    }
}

fn p_value(p: f64, adjusted: f64) -> String {
    if adjusted > p { format!("{p:.3} ({adjusted:.3} adjusted)") } else { format!("{p:.3}") }
}

/// `18/20 (0.70-0.97)`.
fn rate((passed, ended): (u32, u32)) -> String {
    let interval = wilson_interval(passed, ended).map(|(lower, upper)| format!(" ({lower:.2}-{upper:.2})"));
    format!("{passed}/{ended}{}", interval.unwrap_or_default())
}

/// Whether only the score of a case differs, and little.
fn is_small(change: &CaseChange) -> bool {
    let scores = change.base_score.zip(change.run_score);
    change.kind == ChangeKind::Changed
        && u64::from(change.base.0) * u64::from(change.run.1) == u64::from(change.run.0) * u64::from(change.base.1)
        && scores.is_some_and(|(base, run)| (base - run).abs() < SMALL_DIFFERENCE)
}

/// `  1/1 -> 0/1  1.00 -> 0.25`, where both are known.
fn numbers(change: &CaseChange) -> String {
    if matches!(change.kind, ChangeKind::Added | ChangeKind::Removed) {
        return String::new();
    }
    let mut text = format!("  {}/{} -> {}/{}", change.base.0, change.base.1, change.run.0, change.run.1);
    if let (Some(base), Some(run)) = (change.base_score, change.run_score) {
        text.push_str(&format!("  {base:.2} -> {run:.2}"));
    }
    text
}
