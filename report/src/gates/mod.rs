//! Gates: what a run has to reach.

mod check;
mod measure;
mod parse;
mod text;

use serde::Serialize;

pub use self::check::{GateOptions, check_gates};
pub use self::measure::Measure;
pub use self::parse::GateError;
use crate::slice::SliceKey;

/// A requirement that a run meets or misses: `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`.
///
/// | part | is |
/// |---|---|
/// | `KEY:VALUE` | only cases with this value: `suite:`, `target:`, `bucket:`, `tag:`, `metadata.KEY:`; values with blanks in `"` |
/// | `MEASURE` | `pass_rate`, `lower(pass_rate)`, `score`, `cost`, `time`, `p50(time)`, `p95(time)`, see [`Measure`] |
/// | `OP` | `>=` or `>` for rates and scores, `<=` or `<` for cost and time |
/// | `NUMBER` | such as `0.9`, `90%`, `$2.50`, `500ms`, `60s`, `5min` |
/// | `per KEY` | the gate holds for every value of the key by itself |
///
/// ```
/// use evalsuite_report::Gate;
///
/// let gate: Gate = "suite:shop lower(pass_rate) >= 85% per bucket".parse()?;
/// assert_eq!(gate.to_string(), "suite:shop lower(pass_rate) >= 85% per bucket");
/// let error = "pas_rate >= 0.9".parse::<Gate>().unwrap_err();
/// assert_eq!(error.column(), 1);
/// # Ok::<(), evalsuite_report::GateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// As it was written.
    text: String,
    selected: Vec<(SliceKey, String)>,
    measure: Measure,
    operator: Operator,
    limit: f64,
    per: Option<SliceKey>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// What the gates say about a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateReport {
    /// [`GateReport::SCHEMA`].
    pub schema: &'static str,
    /// Id of the run.
    pub run: String,
    /// The gates in their order, one for each value of a gate with `per`.
    pub results: Vec<GateResult>,
}

/// What a gate says about the cases it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateResult {
    /// The gate as it was written.
    pub gate: String,
    /// The group of cases of a gate with `per`, such as `bucket:money`.
    pub slice: Option<String>,
    /// What was measured, in the unit of its measure; `None` if it cannot be.
    pub value: Option<f64>,
    /// The limit, in the same unit.
    pub limit: f64,
    /// Number of cases, without skipped ones.
    pub cases: usize,
    /// Whether the value is within the limit.
    pub verdict: GateVerdict,
    /// Why it is undecided, or what of the value is not known.
    pub why: Option<String>,
    #[serde(skip)]
    measure: Measure,
}

/// Whether a run is within a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GateVerdict {
    /// It is.
    Met,
    /// Nobody knows: there are no cases, too many results are missing, or records are torn.
    Undecided,
    /// It is not.
    Missed,
}

impl GateReport {
    /// Value of `schema` in reports of this version.
    pub const SCHEMA: &'static str = "evalsuite.gates/1";

    /// The worst verdict; [`GateVerdict::Undecided`] without gates.
    pub fn verdict(&self) -> GateVerdict {
        self.results.iter().map(|result| result.verdict).max().unwrap_or(GateVerdict::Undecided)
    }
}

impl Operator {
    fn holds(self, value: f64, limit: f64) -> bool {
        // Sums of the same numbers in another order differ by rounding.
        let rounding = 1e-9 * limit.abs().max(1.0);
        match self {
            Self::AtLeast => value >= limit - rounding,
            Self::MoreThan => value > limit + rounding,
            Self::AtMost => value <= limit + rounding,
            Self::LessThan => value < limit - rounding,
        }
    }
}
