//! A decision as people read it.

use std::fmt;

use evalsuite_records::record::DecisionRecord;
use evalsuite_schema::diagnostics::counted;

use super::decision::{DecisionVerdict, RunDecision, SuiteDecision};

/// The base of a decision in a sentence.
pub fn base_text(base: &str) -> String {
    if base == DecisionRecord::BASELINE { "the baseline".to_owned() } else { format!("run `{base}`") }
}

impl DecisionVerdict {
    /// The name used in reports of other formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::WithinMargin => "within_margin",
            Self::Undecided => "undecided",
        }
    }

    fn text(self, margin: f64) -> String {
        match self {
            Self::WithinMargin => format!("shown within the margin of {}", percent(margin)),
            Self::Regressed | Self::Undecided => self.as_str().to_owned(),
        }
    }
}

impl RunDecision {
    /// `regressed after 150 trials, 150 fewer than the 300 planned`.
    pub fn headline(&self) -> String {
        let verdict = self.verdict.text(self.margin);
        if self.trials == 0 && self.verdict != DecisionVerdict::Undecided {
            return format!("{verdict} by {}", self.earlier_runs());
        }
        format!("{verdict} after {}, {}", counted(self.trials, "trial"), self.savings())
    }

    /// What the looks saved.
    pub fn savings(&self) -> String {
        let Self { trials, planned, most, .. } = *self;
        let saved = if trials <= planned {
            format!("{} fewer than the {planned} planned", planned - trials)
        } else {
            format!("{} more than the {planned} planned", trials - planned)
        };
        format!("{saved}, at most {most}")
    }

    /// What another run of the agent adds.
    pub fn rerun(&self) -> String {
        if self.fixed {
            return "a rerun starts again: a fixed number of trials cannot be continued".to_owned();
        }
        let (is_baseline, base) = (self.base == DecisionRecord::BASELINE, base_text(&self.base));
        match (self.verdict, self.left) {
            (DecisionVerdict::Undecided, 0) => {
                let next = if is_baseline { "; then accept it" } else { "" };
                format!(
                    "a rerun of this agent adds nothing: no trial of {base} is left to compare with; a base with more trials: \
                     `EVALSUITE_RUN_ALL=1 EVALSUITE_TRIALS=N cargo evalsuite run` of the agent that it has{next}"
                )
            }
            (DecisionVerdict::Undecided, left) => format!(
                "a rerun of this agent continues with {} of {base} that {} left: its evidence is added to this",
                counted(left, "trial"),
                if left == 1 { "is" } else { "are" }
            ),
            _ => "a rerun of this agent adds nothing: it is decided".to_owned(),
        }
    }

    fn earlier_runs(&self) -> String {
        let runs: Vec<String> = self.continues.iter().map(|run| format!("`{run}`")).collect();
        format!("the earlier {} of this agent, {}", if runs.len() == 1 { "run" } else { "runs" }, runs.join(", "))
    }
}

impl fmt::Display for RunDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "until decided: {}", self.headline())?;
        for suite in &self.suites {
            writeln!(f, "  {suite}")?;
        }
        if !self.continues.is_empty() && self.trials > 0 {
            writeln!(f, "  counted with {}", self.earlier_runs())?;
        }
        writeln!(f, "  {}", self.rerun())
    }
}

impl fmt::Display for SuiteDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {}: {}", self.suite, self.target, self.verdict.as_str().replace('_', " the "))?;
        if let Some(difference) = self.difference {
            write!(f, ", difference {difference:+.3}")?;
        }
        write!(f, ", {} of at most {}", counted(self.trials, "trial"), self.most)?;
        if let Some([regressed, within]) = self.e_values {
            write!(f, ", e-values {} (regressed), {} (within)", e_value(regressed), e_value(within))?;
        }
        if self.errors > 0 {
            write!(f, ", {} ended in an error", counted(self.errors, "trial"))?;
        }
        if !self.left_out.is_empty() {
            write!(f, ", {} cannot be compared", counted(self.left_out.len(), "case"))?;
        }
        Ok(())
    }
}

fn e_value(value: f64) -> String {
    if (0.01..1000.0).contains(&value) { format!("{value:.2}") } else { format!("{value:.0e}") }
}

/// `10%`.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
