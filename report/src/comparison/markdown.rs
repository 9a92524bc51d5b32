//! A comparison as Markdown.

use super::text::{p_value, rate, share, signed};
use super::{Comparison, JudgedAnswers, SuiteComparison};
use crate::formats::{escape, limited};
use crate::sequential::RunDecision;

impl Comparison {
    /// The comparison as GitHub-flavoured Markdown: a table of suites and targets, one of judged answers if there are any, then the cases
    /// that changed. Cut at [`MARKDOWN_LIMIT`](crate::MARKDOWN_LIMIT) bytes with a line that says so.
    pub fn markdown(&self) -> String {
        let decided = |decision: &RunDecision| {
            let lines: Vec<String> =
                decision.to_string().lines().map(|line| format!("- {}\n", escape(line.trim()))).collect();
            format!("{}\n", lines.concat())
        };
        let mut sections: Vec<String> = self.decision.iter().map(decided).collect();
        sections.push(self.score_table());
        if self.suites.iter().any(|suite| suite.judged.is_some()) {
            sections.push(self.judged_table());
        }
        sections.extend(self.suites.iter().map(listed));
        let counted: String = self.counted_runs().map(|runs| format!("{}\n\n", escape(&runs.to_string()))).collect();
        let head = format!("## Comparison: {} with {}\n\n{counted}", escape(&self.run), escape(&self.base));
        limited(head, &sections, |_| "Some entries are omitted".to_owned())
    }

    fn score_table(&self) -> String {
        let mut text =
            "| suite | target | scores | passed in base | passed in run | difference | p | cases | missing | errors |\n"
                .to_owned();
        text.push_str("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
        for suite in &self.suites {
            text.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                escape(&suite.suite),
                escape(&suite.target),
                suite.verdict,
                rate(suite.base_passed),
                rate(suite.run_passed),
                escape(&signed(suite.difference, suite.interval)),
                suite.p_text(),
                suite.pairs,
                suite.missing,
                suite.errors,
            ));
        }
        text
    }

    fn judged_table(&self) -> String {
        let mut text = "\n### Judged answers\n\n".to_owned();
        text.push_str("| suite | target | verdict | better | worse | ties | win rate | p | first preferred | inconsistent | not judged | judge |\n");
        text.push_str("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n");
        let row = |suite: &SuiteComparison| {
            let judged = suite.judged.as_ref()?;
            Some(format!("| {} | {} | {} |\n", escape(&suite.suite), escape(&suite.target), cells(judged)))
        };
        self.suites.iter().filter_map(row).for_each(|row| text.push_str(&row));
        text
    }
}

fn cells(judged: &JudgedAnswers) -> String {
    let shown = |rate: Option<f64>, interval| rate.map_or("–".to_owned(), |rate| escape(&share(rate, interval)));
    [
        judged.verdict.to_string(),
        judged.wins.to_string(),
        judged.losses.to_string(),
        judged.ties.to_string(),
        shown(judged.win_rate, judged.win_interval),
        p_value(judged.p_value, judged.adjusted_p),
        shown(judged.first_rate, judged.first_interval),
        format!("{}{}", judged.inconsistent, judged.remark()),
        judged.missing.to_string(),
        escape(&judged.judge_text()),
    ]
    .join(" | ")
}

/// Errors and the unit of a suite, and its cases that were judged or changed.
fn listed(suite: &SuiteComparison) -> String {
    let notes = [("errors", suite.unknown_text()), ("unit", suite.unit_text())];
    let notes = notes.into_iter().filter_map(|(label, text)| Some((label, text?)));
    let judged = suite.judged.iter().flat_map(JudgedAnswers::lines_of_cases);
    let lines: Vec<String> = notes
        .chain(judged)
        .chain(suite.lines_of_changes())
        .map(|(label, text)| format!("- {label}: {}\n", escape(&text)))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\n### {} @ {}\n\n{}", escape(&suite.suite), escape(&suite.target), lines.concat())
}
