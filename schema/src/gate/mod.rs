//! Gates: thresholds of measures for runs or groups of their cases, in the files of suites and on the command line.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::decimal::{at_least, at_most};

pub use self::parse::GateError;

/// The target whose trials have a skill: what a lift compares with another target.
pub const WITH_SKILL: &str = "with_skill";

/// A threshold that a run meets or misses: `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`.
///
/// | part | is |
/// |---|---|
/// | `KEY:VALUE` | only cases with this value: `suite:`, `target:`, `bucket:`, `tag:`, `metadata.KEY:`; values with blanks in `"` |
/// | `MEASURE` | `pass_rate`, `lower(pass_rate)`, `score`, `cost`, `time`, `p50(time)`, `p95(time)`, `lift`, `lift(score)`, see [`Measure`] |
/// | `OP` | `>=` or `>` for rates, scores and lifts, `<=` or `<` for cost and time |
/// | `NUMBER` | such as `0.9`, `90%`, `$2.50`, `500ms`, `60s`, `5min`; of a pass rate also `floor` and `floor + 20%` |
/// | `per KEY` | every value of the key has to meet the gate |
///
/// ```
/// use evalsuite_schema::gate::Gate;
///
/// let gate: Gate = "suite:shop lower(pass_rate) >= 85% per bucket".parse()?;
/// assert_eq!(gate.to_string(), "suite:shop lower(pass_rate) >= 85% per bucket");
/// let error = "pas_rate >= 0.9".parse::<Gate>().unwrap_err();
/// assert_eq!(error.column(), 1);
/// let gate: Gate = "pass_rate >= floor + 20%".parse()?;
/// assert!(gate.is_above_floor() && gate.holds(0.7, 0.5) && !gate.holds(0.6, 0.5));
/// # Ok::<(), evalsuite_schema::gate::GateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// As it was written.
    text: String,
    selected: Vec<(SliceKey, String)>,
    measure: Measure,
    operator: Operator,
    limit: f64,
    is_above_floor: bool,
    per: Option<SliceKey>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

impl Gate {
    /// The values that its cases must have.
    pub fn selected(&self) -> &[(SliceKey, String)] {
        &self.selected
    }

    /// The target that a lift is compared with, if the gate names it: `target:old_skill lift >= 0`.
    pub fn compared_target(&self) -> Option<&str> {
        let is_lift = self.measure.is_lift();
        let mut targets = self.selected.iter().filter(|(key, _)| is_lift && *key == SliceKey::Target);
        targets.next().map(|(_, name)| name.as_str())
    }

    /// What it measures.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The limit, in the unit of the measure: a share from 0 to 1, US dollars, or seconds. Of a gate
    /// [above the floor](Self::is_above_floor), what is added to the floor.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Whether the limit is relative to the floor: the pass rate of an agent that does nothing, as `cargo evalsuite probe` has found it.
    pub fn is_above_floor(&self) -> bool {
        self.is_above_floor
    }

    /// The key of `per`: each of its values is checked separately.
    pub fn per(&self) -> Option<&SliceKey> {
        self.per.as_ref()
    }

    /// The gate for only the cases of one suite.
    #[must_use]
    pub fn of_suite(mut self, suite: &str) -> Self {
        let quote = if suite.contains(|character: char| character.is_whitespace() || "<>=".contains(character)) {
            "\""
        } else {
            ""
        };
        self.text = format!("suite:{quote}{suite}{quote} {}", self.text);
        self.selected.insert(0, (SliceKey::Suite, suite.to_owned()));
        self
    }

    /// Whether a value, in the unit of the measure, is within the limit. `floor` is that of the cases; it has no effect on a gate that is not
    /// [above the floor](Self::is_above_floor).
    pub fn holds(&self, value: f64, floor: f64) -> bool {
        let limit = self.limit + if self.is_above_floor { floor } else { 0.0 };
        match self.operator {
            Operator::AtLeast => at_least(value, limit),
            Operator::MoreThan => value > limit && !at_most(value, limit),
            Operator::AtMost => at_most(value, limit),
            Operator::LessThan => value < limit && !at_least(value, limit),
        }
    }
}

/// The measure of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// `pass_rate`: share of the cases that passed, 0 to 1. A case with an error did not pass; skipped cases do not count.
    PassRate,
    /// `lower(pass_rate)`: lower end of Wilson's 95 % interval of that rate.
    LowerPassRate,
    /// `score`: mean over the cases of the mean score of their trials, 0 to 1.
    Score,
    /// `cost`: US dollars of agents and judges together, of all trials.
    Cost,
    /// `time`: seconds that agents worked, of all trials.
    Time,
    /// `p50(time)`: seconds that half of the trials do not exceed.
    MedianTime,
    /// `p95(time)`: seconds that 95 % of the trials do not exceed.
    P95Time,
    /// `lift`: lower end of the 95 % interval of the mean difference between the pass rates of cases with a skill and without it, −1 to 1.
    Lift,
    /// `lift(score)`: the same of their scores.
    ScoreLift,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::PassRate,
        Self::LowerPassRate,
        Self::Score,
        Self::Cost,
        Self::Time,
        Self::MedianTime,
        Self::P95Time,
        Self::Lift,
        Self::ScoreLift,
    ];

    /// As it is written in gates.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PassRate => "pass_rate",
            Self::LowerPassRate => "lower(pass_rate)",
            Self::Score => "score",
            Self::Cost => "cost",
            Self::Time => "time",
            Self::MedianTime => "p50(time)",
            Self::P95Time => "p95(time)",
            Self::Lift => "lift",
            Self::ScoreLift => "lift(score)",
        }
    }

    /// Whether it is a rate or a score from 0 to 1, or a difference of them; higher is better.
    pub fn is_share(self) -> bool {
        matches!(self, Self::PassRate | Self::LowerPassRate | Self::Score | Self::Lift | Self::ScoreLift)
    }

    /// Whether it is a difference between two targets, from −1 to 1.
    pub fn is_lift(self) -> bool {
        matches!(self, Self::Lift | Self::ScoreLift)
    }

    /// Whether it is in seconds; lower is better.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::MedianTime | Self::P95Time)
    }
}

/// A key that groups cases.
///
/// ```
/// use evalsuite_schema::gate::SliceKey;
///
/// assert_eq!(SliceKey::parse("metadata.language").map(|key| key.to_string()).as_deref(), Some("metadata.language"));
/// assert_eq!(SliceKey::parse("language"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SliceKey {
    /// Name of the suite.
    Suite,
    /// Name of the target.
    Target,
    /// `failure_bucket` in the metadata.
    Bucket,
    /// A tag. A case may have several.
    Tag,
    /// A key of the metadata: texts, numbers, booleans, and the elements of lists.
    Metadata(String),
}

impl SliceKey {
    /// The names that [`parse`](Self::parse) knows.
    pub(crate) const NAMES: [&'static str; 5] = ["suite", "target", "bucket", "tag", "metadata.KEY"];

    /// `suite`, `target`, `bucket`, `tag` or `metadata.KEY`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "suite" => Self::Suite,
            "target" => Self::Target,
            "bucket" => Self::Bucket,
            "tag" => Self::Tag,
            other => Self::Metadata(other.strip_prefix("metadata.").filter(|key| !key.is_empty())?.to_owned()),
        })
    }
}

impl fmt::Display for SliceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suite => f.write_str("suite"),
            Self::Target => f.write_str("target"),
            Self::Bucket => f.write_str("bucket"),
            Self::Tag => f.write_str("tag"),
            Self::Metadata(key) => write!(f, "metadata.{key}"),
        }
    }
}
