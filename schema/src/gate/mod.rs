//! Gates: thresholds of measures for runs or groups of their cases, in the files of suites and on the command line.

mod parse;

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

#[cfg(test)]
mod tests {
    use super::{Gate, Measure, Operator, SliceKey};

    fn parsed(text: &str) -> Gate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(text: &str) -> String {
        text.parse::<Gate>().expect_err(text).to_string()
    }

    #[test]
    fn a_gate_has_cases_a_measure_a_limit_and_groups() {
        let gate = parsed("suite:shop metadata.language:\"pt br\" lower(pass_rate)>=85% per bucket");
        let expected =
            [(SliceKey::Suite, "shop".to_owned()), (SliceKey::Metadata("language".into()), "pt br".to_owned())];
        assert_eq!(gate.selected, expected);
        assert_eq!((gate.measure, gate.operator, gate.limit), (Measure::LowerPassRate, Operator::AtLeast, 0.85));
        assert_eq!(gate.per, Some(SliceKey::Bucket));
    }

    #[test]
    fn a_gate_of_a_suite_is_about_its_cases_only() {
        let gate = parsed("score > 0.8 per bucket").of_suite("Card agent");
        assert_eq!(gate.to_string(), "suite:\"Card agent\" score > 0.8 per bucket");
        assert_eq!(parsed(&gate.to_string()), gate);
        assert_eq!(parsed("score > 0.8").of_suite("shop").to_string(), "suite:shop score > 0.8");
    }

    #[test]
    fn limits_have_the_units_of_their_measures() {
        let limits = [
            ("score > 0.8", 0.8),
            ("cost <= $2.50", 2.5),
            ("cost < 3", 3.0),
            ("time <= 5min", 300.0),
            ("p95(time) <= 500ms", 0.5),
            ("p50(time) <= 60s", 60.0),
            ("time <= 1h", 3600.0),
            ("time <= 90", 90.0),
        ];
        for (text, limit) in limits {
            assert_eq!(parsed(text).limit, limit, "{text}");
        }
    }

    #[test]
    fn a_pass_rate_can_be_compared_with_the_floor() {
        for (text, limit) in [
            ("pass_rate >= floor + 20%", 0.2),
            ("pass_rate>=floor+20%", 0.2),
            ("lower(pass_rate) > floor", 0.0),
            ("pass_rate >= floor +0.1 per bucket", 0.1),
        ] {
            let gate = parsed(text);
            assert_eq!((gate.limit, gate.is_above_floor), (limit, true), "{text}");
            assert_eq!(parsed(&gate.to_string()), gate);
        }
        assert!(!parsed("pass_rate >= 0.2").is_above_floor);
        for (text, message) in [
            ("score >= floor", "`score` cannot have `floor`, which is a pass rate"),
            ("pass_rate >= floor +", "expected a number"),
            ("pass_rate >= floor + 120%", "`120%` is not a valid limit"),
            ("pass_rate >= floors", "unexpected `floors`"),
        ] {
            assert!(error(text).starts_with(message), "{text}: {}", error(text));
        }
    }

    #[test]
    fn a_lift_is_a_difference_between_targets() {
        for (text, measure, limit) in [
            ("lift > 0", Measure::Lift, 0.0),
            ("target:old_skill lift >= -5%", Measure::Lift, -0.05),
            ("lift(score) > 0.1 per bucket", Measure::ScoreLift, 0.1),
        ] {
            let gate = parsed(text);
            assert_eq!((gate.measure, gate.limit), (measure, limit), "{text}");
            assert_eq!(parsed(&gate.to_string()), gate);
        }
        for (text, message) in [
            ("lift > 0 per target", "`lift` compares targets"),
            ("target:with_skill lift > 0", "`lift` compares `with_skill` with another target"),
            ("target:a target:b lift > 0", "`lift` compares with one target"),
            ("lift < 0", "`lift` cannot have `<`"),
            ("lift > -2", "`-2` is not a valid limit of `lift`"),
            ("lift > floor", "`lift` cannot have `floor`"),
            ("score > -0.1", "`-0.1` is not a valid limit of `score`"),
            ("lower(lift) > 0", "`lift` is already the lower end of its interval"),
        ] {
            assert!(error(text).starts_with(message), "{text}: {}", error(text));
        }
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        let expected = [
            (
                "suite:shop pas_rate >= 0.9",
                "unknown measure `pas_rate`\n  | suite:shop pas_rate >= 0.9\n  |            ^^^^^^^^\n  = help: did you mean `pass_rate`?",
            ),
            (
                "pass_rate <= 0.9",
                "`pass_rate` cannot have `<=`\n  | pass_rate <= 0.9\n  |           ^^\n  = help: use `>=` or `>`",
            ),
            ("cost >= 2", "`cost` cannot have `>=`\n  | cost >= 2\n  |      ^^\n  = help: use `<=` or `<`"),
            (
                "pass_rate >= 90",
                "`90` is not a valid limit of `pass_rate`\n  | pass_rate >= 90\n  |              ^^\n  = help: a number from 0 to 1, or a percentage such as `90%`",
            ),
            (
                "bukket:x score > 0",
                "unknown key `bukket`\n  | bukket:x score > 0\n  | ^^^^^^^^\n  = help: did you mean `bucket`?",
            ),
            (
                "suite:shop",
                "expected a measure\n  | suite:shop\n  |           ^\n  = help: known: `pass_rate`, `lower(pass_rate)`, `score`, `cost`, `time`, `p50(time)`, `p95(time)`, `lift` and `lift(score)`",
            ),
            ("score", "expected an operator\n  | score\n  |      ^\n  = help: use `>=` or `>`"),
            ("score >=", "expected a number\n  | score >=\n  |         ^\n  = help: such as `0.9`"),
            (
                "score >= 0.9 by bucket",
                "unexpected `by`\n  | score >= 0.9 by bucket\n  |              ^^\n  = help: after the number, only `per KEY` can follow",
            ),
            ("suite: score >= 0.9", "`suite:` has no value\n  | suite: score >= 0.9\n  | ^^^^^^"),
            ("suite:\"a score >= 1", "`\"` is not closed\n  | suite:\"a score >= 1\n  |       ^"),
        ];
        for (text, message) in expected {
            assert_eq!(error(text), message, "{text}");
        }
        assert_eq!("é:x".parse::<Gate>().unwrap_err().column(), 1);
        assert_eq!("suite:ü x".parse::<Gate>().unwrap_err().column(), 9);
    }
}
