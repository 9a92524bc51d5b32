//! The summary of a target as text.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;

use evalsuite_schema::record::{Estimate, TargetSummary};

/// Writes the most important numbers of a target in a few short lines; nothing if no case was run.
pub(crate) fn show(summary: &TargetSummary, is_named: bool, f: &mut impl Write) -> fmt::Result {
    let Some(rate) = summary.case_pass_rate else { return Ok(()) };
    let name = if is_named { format!("{}: ", summary.target) } else { String::new() };
    write!(f, "  {name}pass rate {rate:.2} ({}/{} cases)", summary.cases.passed, summary.cases.run())?;
    if let (Some(mean), Some(lower), Some(upper)) = (summary.mean_score, summary.ci95_lower, summary.ci95_upper) {
        write!(f, ", mean score {mean:.2}")?;
        if summary.scored_cases > 1 {
            write!(f, " (95 % interval {lower:.2} to {upper:.2})")?;
        }
    }
    writeln!(f)?;
    let last = |estimates: &BTreeMap<u32, Estimate>| estimates.iter().next_back().map(|(k, e)| (*k, *e));
    if let (Some((k, at)), Some((_, hat))) = (last(&summary.pass_at_k), last(&summary.pass_hat_k))
        && k > 1
    {
        let of = format!("over {} of {} cases", at.cases, summary.cases.run());
        writeln!(f, "  {name}pass@{k} {:.2}, pass^{k} {:.2} ({of})", at.value, hat.value)?;
    }
    let mut spent = Vec::new();
    if let Some(usage) = summary.usage {
        spent.push(format!("{} tokens", usage.input.saturating_add(usage.output).saturating_add(usage.cached)));
    }
    if let Some(cost) = summary.cost_usd {
        spent.push(format!("{cost:.4} USD"));
    }
    if !spent.is_empty() {
        if let (Some(p50), Some(p95)) = (summary.duration_ms.p50, summary.duration_ms.p95) {
            spent.push(format!("trials took {p50} ms (p50), {p95} ms (p95)"));
        }
        writeln!(f, "  {name}{}", spent.join(", "))?;
    }
    Ok(())
}
