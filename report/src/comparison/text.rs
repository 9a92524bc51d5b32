//! A comparison as people read it, on a terminal and as Markdown.

use std::fmt;

use evalsuite_records::record::{PairRecord, Side};
use evalsuite_records::summary::lower_bound;
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::diagnostics::{counted, terminal};
use evalsuite_statistics::{shown_p, wilson_interval};

use super::ChangeKind::{self, Added, Changed, Error, Improved, Missing, Quarantined, Redefined, Regressed, Removed};
use super::{
    CaseChange, Comparison, ComparisonUnit, ComparisonVerdict, JudgedAnswers, SliceComparison, SuiteComparison,
    UnknownTrials,
};
use crate::markdown_text::{escape, limited};
use crate::run_data::repeated_text;
use crate::sequential::RunDecision;

/// Most cases of one kind that are listed.
const LISTED: usize = 20;
/// Differences of scores below this one are counted and not listed, where equally many trials passed.
const SMALL_DIFFERENCE: f64 = 0.05;

/// Kinds of changes in the order in which they are listed.
const LISTED_KINDS: [ChangeKind; 9] =
    [Error, Regressed, Quarantined, Improved, Changed, Missing, Redefined, Added, Removed];

impl fmt::Display for ComparisonVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
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
        self.notes().iter().try_for_each(|note| writeln!(f, "{note}"))?;
        if let Some(decision) = &self.decision {
            write!(f, "{decision}")?;
            writeln!(f, "  the p-values and intervals below do not account for the looks at this run")?;
        }
        self.suites.iter().try_for_each(|suite| write!(f, "\n{suite}"))
    }
}

impl Comparison {
    /// The runs that are counted together, of the run first, and whether the test runner repeated cases.
    pub(crate) fn notes(&self) -> Vec<String> {
        let counted = self.runs.iter().chain(&self.base_runs).map(ToString::to_string);
        counted.chain(repeated_text(self.repeated_cases)).collect()
    }
}

impl fmt::Display for SuiteComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [suite, target] = [&self.suite, &self.target].map(|name| terminal::short_line(name));
        writeln!(f, "{suite} @ {target}: {}", self.verdict)?;
        let now = (self.errors > 0).then(|| {
            let end = if self.errors == 1 { "ends" } else { "end" };
            format!("{} {end} in an error, and had a result before", counted(self.errors, "case"))
        });
        let errors: Vec<String> = now.into_iter().chain(self.unknown_text()).collect();
        if !errors.is_empty() {
            writeln!(f, "  errors   {}", errors.join("; "))?;
        }
        writeln!(f, "  passed   {} -> {}", rate(self.base_passed), rate(self.run_passed))?;
        writeln!(f, "  score    {}  p {}", signed(self.difference, self.interval), self.p_text())?;
        let noise = if self.noise > 0.0 { format!("; noise ±{:.3}", self.noise) } else { String::new() };
        writeln!(f, "  cases    {} compared, {} differ{noise}", self.pairs, self.differing)?;
        if let Some(text) = self.unit_text() {
            writeln!(f, "  unit     {text}")?;
        }
        if self.first_trials > 0 {
            let cases = counted(self.first_trials, "case");
            writeln!(f, "  trials   only the first trial of {cases} whose trials stop early")?;
        }
        if self.missing > 0 {
            let all = self.missing + self.pairs;
            writeln!(f, "  missing  {} of {all} cases have no result in one of the runs, or in both", self.missing)?;
        }
        self.slices.iter().try_for_each(|slice| writeln!(f, "  {slice}"))?;
        if let Some(judged) = &self.judged {
            write!(f, "{judged}")?;
        }
        self.lines_of_changes()
            .iter()
            .try_for_each(|(label, text)| writeln!(f, "  {label:<18}  {}", terminal::short_line(text)))
    }
}

impl SuiteComparison {
    /// `0.031 (a change below 0.020)`; where it is one, without the level.
    pub(super) fn p_text(&self) -> String {
        let is_near = self.p_value < 0.1 && self.p_value > self.level;
        let level = if is_near { format!(" (a change from {} down)", shown_p(self.level)) } else { String::new() };
        format!("{}{level}", shown_p(self.p_value))
    }

    /// What counts as one observation, if it is not a trial, and why.
    pub(crate) fn unit_text(&self) -> Option<String> {
        if let (ComparisonUnit::Run, Some(p)) = (self.unit, self.between_runs_p) {
            return Some(format!(
                "each run counts as one: runs of the base differ by more than their trials do (p {})",
                shown_p(p)
            ));
        }
        let why = match self.is_unit_chosen {
            true => "as requested".to_owned(),
            false if self.is_correlated => "its trials are correlated, as the suite says".to_owned(),
            false => format!("its trials within one run resemble each other (p {})", shown_p(self.alike_p)),
        };
        (self.unit == ComparisonUnit::Case).then(|| format!("each case counts as one: {why}"))
    }

    /// Whether errors matter.
    pub(crate) fn unknown_text(&self) -> Option<String> {
        let UnknownTrials { trials, if_failed, if_passed, .. } = self.unknown?;
        let (trials, they) = (counted(trials, "trial"), if trials == 1 { "it" } else { "they" });
        Some(match self.unknown?.agree() {
            true => format!("{trials}: the verdict is the same whether {they} failed or passed"),
            false => format!("{trials}: {if_failed} if {they} failed, {if_passed} if {they} passed"),
        })
    }

    /// A line for each case that changed: what happened to it, its id and its numbers. Of many of one kind, the first ones.
    pub(super) fn lines_of_changes(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        for kind in LISTED_KINDS {
            let (small, cases): (Vec<&CaseChange>, Vec<&CaseChange>) =
                self.changes.iter().filter(|change| change.kind == kind).partition(|change| is_small(change));
            let line = |change: &&CaseChange| format!("{}{}", change.case_id, numbers(change));
            let mut texts: Vec<String> = cases.iter().take(LISTED).map(line).collect();
            if cases.len() > LISTED {
                texts.push(format!("and {} more", cases.len() - LISTED));
            }
            if !small.is_empty() {
                texts.push(format!("{} by less than {SMALL_DIFFERENCE}", counted(small.len(), "score")));
            }
            lines.extend(texts.into_iter().map(|text| (kind.as_str(), text)));
        }
        lines
    }
}

impl fmt::Display for JudgedAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wins, losses, inconsistent, .. } = self;
        let ties = counted(self.ties, "tie");
        writeln!(f, "  judged   {}: {wins} better, {losses} worse, {ties}", self.verdict)?;
        if let Some(rate) = self.win_rate {
            writeln!(f, "  win rate {}  p {}", share(rate, self.win_interval), p_value(self.p_value, self.adjusted_p))?;
        }
        if let Some(rate) = self.first_rate {
            writeln!(f, "  position first answer preferred {}", share(rate, self.first_interval))?;
            writeln!(f, "  orders   {} inconsistent{}", counted(*inconsistent, "case"), self.remark())?;
        }
        writeln!(f, "  judge    {}", self.judge_text())?;
        let line = |(label, text): &(&str, String)| writeln!(f, "  {label:<18}  {}", terminal::short_line(text));
        self.lines_of_cases().iter().try_for_each(line)
    }
}

impl JudgedAnswers {
    /// A line for each case that is not a plain tie. Cases without a judgement are all named, of others the first ones.
    pub(super) fn lines_of_cases(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        let mut add = |label: &'static str, most: usize, fits: &dyn Fn(&PairRecord) -> bool| {
            let cases: Vec<&PairRecord> = self.cases.iter().filter(|case| fits(case)).collect();
            lines.extend(cases.iter().take(most).map(|case| (label, format!("{}{}", case.case_id, problem(case)))));
            if cases.len() > most {
                lines.push((label, format!("and {} more", cases.len() - most)));
            }
        };
        add("judged worse", LISTED, &|case| case.is_judged() && case.better == Some(Side::Base));
        add("judged better", LISTED, &|case| case.is_judged() && case.better == Some(Side::Run));
        add("inconsistent", LISTED, &|case| case.is_judged() && !case.consistent && case.better.is_none());
        add("not judged", usize::MAX, &|case| !case.is_judged());
        lines
    }

    /// What is said of a judge whose preferences mean nothing.
    pub(super) fn remark(&self) -> &'static str {
        if self.count() > 0 && self.is_position_bound() { ": no better than a coin" } else { "" }
    }

    /// `small (model-1)  40 calls, 1200 + 80 tokens, $0.0040`.
    pub(super) fn judge_text(&self) -> String {
        let mut text = if self.judge.is_empty() { "none was asked".to_owned() } else { printable(&self.judge) };
        if let Some(model) = self.model.as_ref().filter(|model| **model != self.judge) {
            text.push_str(&format!(" ({})", printable(model)));
        }
        text.push_str(&format!("  {}", counted(self.calls, "call")));
        if let Some(usage) = self.usage {
            let tokens = format!("{} + {} tokens", usage.input.saturating_add(usage.cached), usage.output);
            text.push_str(&format!(", {}", lower_bound(self.is_usage_partial, &tokens)));
        }
        if let Some(cost) = self.cost_usd {
            text.push_str(&format!(", {}", lower_bound(self.is_cost_partial, &format!("${cost:.4}"))));
        }
        text
    }
}

/// A difference with its interval.
fn signed(difference: f64, interval: Option<(f64, f64)>) -> String {
    let interval = interval.map(|(lower, upper)| format!(" [{lower:+.3}, {upper:+.3}]"));
    format!("{difference:+.3}{}", interval.unwrap_or_default())
}

/// `0.725 [0.512, 0.871]`.
pub(super) fn share(rate: f64, interval: Option<(f64, f64)>) -> String {
    let interval = interval.map(|(lower, upper)| format!(" [{lower:.3}, {upper:.3}]"));
    format!("{rate:.3}{}", interval.unwrap_or_default())
}

/// `  the reason why there is no judgement`, its first line.
fn problem(case: &PairRecord) -> String {
    let line = case.error.as_ref().and_then(|error| error.lines().next());
    line.map(|line| format!("  {}", printable(line))).unwrap_or_default()
}

/// A text of a judge without characters that a terminal acts on.
fn printable(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control() || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// `bucket:money: regressed  -0.250 [-0.400, -0.100]  p 0.004 (0.012 adjusted)  12 cases`.
impl fmt::Display for SliceComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = signed(self.difference, self.interval);
        write!(f, "{}:{}: {}  {difference}", self.key, terminal::short_line(&self.value), self.verdict)?;
        write!(f, "  p {}  {}", p_value(self.p_value, self.adjusted_p), counted(self.pairs, "case"))
    }
}

pub(super) fn p_value(p: f64, adjusted: f64) -> String {
    let [shown, adjusted_p] = [p, adjusted].map(shown_p);
    if adjusted > p { format!("{shown} ({adjusted_p} adjusted)") } else { shown }
}

/// `18/20 (0.70-0.97)`.
pub(super) fn rate((passed, ended): (u32, u32)) -> String {
    let interval = wilson_interval(passed, ended).map(|(lower, upper)| format!(" ({lower:.2}-{upper:.2})"));
    format!("{passed}/{ended}{}", interval.unwrap_or_default())
}

/// Whether only the score of a case differs, and little.
fn is_small(change: &CaseChange) -> bool {
    let scores = change.base_score.zip(change.run_score);
    change.kind == Changed
        && u64::from(change.base.0) * u64::from(change.run.1) == u64::from(change.run.0) * u64::from(change.base.1)
        && scores.is_some_and(|(base, run)| !at_least((base - run).abs(), SMALL_DIFFERENCE))
}

/// `  1/1 -> 0/1, repeated 0/10  1.00 -> 0.25  p 0.032`, as far as it is known. Equal rates are written once.
fn numbers(change: &CaseChange) -> String {
    if matches!(change.kind, Added | Removed) {
        return String::new();
    }
    let trials = |(passed, ended): (u32, u32)| format!("{passed}/{ended}");
    let mut text = if change.base == change.run {
        format!("  {}", trials(change.run))
    } else {
        format!("  {} -> {}", trials(change.base), trials(change.run))
    };
    if change.confirming.1 > 0 {
        text.push_str(&format!(", repeated {}", trials(change.confirming)));
    }
    if let (Some(base), Some(run)) = (change.base_score, change.run_score) {
        // Two places may hide what differs.
        let places = if (base - run).abs() < 0.005 { 4 } else { 2 };
        text.push_str(&format!("  {base:.places$} -> {run:.places$}"));
    }
    if let Some(p_value) = change.p_value {
        text.push_str(&format!("  p {}", shown_p(p_value)));
    }
    text
}

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
        let notes: String = self.notes().iter().map(|note| format!("{}\n\n", escape(note))).collect();
        let head = format!("## Comparison: {} with {}\n\n{notes}", escape(&self.run), escape(&self.base));
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
