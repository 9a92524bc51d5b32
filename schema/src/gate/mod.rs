//! Gates: thresholds for runs, in the files of suites and on the command line.

mod measure;
mod parse;
mod slice_key;
#[cfg(test)]
mod tests;

pub use self::measure::Measure;
pub use self::parse::GateError;
pub use self::slice_key::SliceKey;

use crate::decimal::{at_least, at_most};

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
