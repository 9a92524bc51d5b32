//! Gates: what a run has to reach, by the files of its suites and the command line.

mod check;
mod lift;
mod measure;

use std::collections::BTreeMap;
use std::fmt;

use evalsuite_schema::decimal::{at_least, at_most, shown_from};
use evalsuite_schema::diagnostics::{counted, terminal};
use evalsuite_schema::gate::{Gate, GateError, Measure};
use serde::Serialize;

use crate::run_data::{RunData, repeated_text};

pub use self::check::{GateChances, GateOptions, check_gates};

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
    /// Number of trials of the run that passed, failed or ended in an error.
    pub trials: u32,
    /// Number of them that ended in an error.
    pub trial_errors: u32,
    /// Number of cases that the test runner repeated: of each, the first attempt with a result is measured.
    pub repeated_cases: usize,
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
    /// The limit, in the same unit; `None` if it is relative to a floor that is not known.
    pub limit: Option<f64>,
    /// The floor in the limit, of a gate such as `pass_rate >= floor + 20%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The 95 % interval of a pass rate (Wilson's), a score or a lift; `None` of other measures.
    pub interval: Option<(f64, f64)>,
    /// Of a lift, whose `value` is the lower end of `interval`: the mean difference of the cases with the skill and without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// How often a gate on the pass rate is wrong about an agent near the limit.
    pub chances: Option<GateChances>,
    /// Number of cases, without skipped ones.
    pub cases: usize,
    /// Whether the value is within the limit.
    pub verdict: GateVerdict,
    /// Why it is undecided, what of the value is not known, or that no result of so few cases is within the limit.
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
    /// It cannot be decided: there are no cases, too many results are missing, or records are torn.
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

impl GateResult {
    /// What the chances of a plain gate on a rate are, if its verdict may be chance because the limit is in the interval:
    /// `note: interval 0.79-0.96; at 0.88, 44% of runs meet it; at 0.92, 21% miss it`.
    fn rate_note(&self) -> Option<String> {
        let ((lower, upper), limit) = self.interval.zip(self.limit)?;
        let chances = self.chances.filter(|_| self.measure == Measure::PassRate)?;
        let may_be_chance = at_most(lower, limit) && at_least(upper, limit);
        may_be_chance.then(|| format!("note: interval {lower:.2}-{upper:.2}; {chances}"))
    }
}

impl fmt::Display for GateVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::Undecided => "undecided",
            Self::Missed => "missed",
        })
    }
}

impl fmt::Display for GateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notes: BTreeMap<&str, (usize, usize, String)> = BTreeMap::new();
        for (index, result) in self.results.iter().enumerate() {
            let Some(note) = result.rate_note() else { continue };
            // Of a gate with `per`, of the group with the fewest cases.
            if notes.get(result.gate.as_str()).is_none_or(|(cases, ..)| result.cases < *cases) {
                notes.insert(&result.gate, (result.cases, index, note));
            }
        }
        for (index, result) in self.results.iter().enumerate() {
            writeln!(f, "{result}")?;
            if let Some((.., note)) = notes.get(result.gate.as_str()).filter(|(_, of, _)| *of == index) {
                writeln!(f, "{note}")?;
            }
        }
        repeated_text(self.repeated_cases).iter().try_for_each(|text| writeln!(f, "note: {text}"))?;
        match self.trial_errors {
            0 => Ok(()),
            errors => writeln!(f, "note: {errors} of {} trials ended in an error", self.trials),
        }
    }
}

/// `missed     pass_rate >= 0.9  [bucket:money]  0.750  4 cases`.
impl fmt::Display for GateResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<9}  {}", self.verdict, terminal::line(&self.gate))?;
        if let Some(slice) = &self.slice {
            write!(f, "  [{}]", terminal::short_line(slice))?;
        }
        if let Some(value) = self.value {
            let (before, places, after) = match self.measure {
                Measure::Cost => ("$", 4, ""),
                measure if measure.is_time() => ("", 1, " s"),
                _ => ("", 3, ""),
            };
            write!(f, "  {before}{}{after}", shown_from(places, value, self.limit.unwrap_or(f64::NAN)))?;
        }
        write!(f, "  {}", counted(self.cases, "case"))?;
        if let Some(floor) = self.floor {
            write!(f, "  floor {floor:.3}")?;
        }
        if let (Some(difference), Some((lower, upper))) = (self.difference, self.interval) {
            write!(f, "  difference {difference:+.2}, {lower:+.2} to {upper:+.2}")?;
        }
        self.why.as_ref().map_or(Ok(()), |why| write!(f, "  ({})", terminal::short_line(why)))
    }
}

/// The gates in the files of a run's suites, as they were when the run's tests were compiled. Each is about the cases of its suite.
///
/// # Errors
///
/// If a gate cannot be read: then another version of evalsuite has recorded it.
pub fn suite_gates(run: &RunData) -> Result<Vec<Gate>, GateError> {
    let mut gates = Vec::new();
    for suite in &run.suites {
        for text in suite.record.iter().flat_map(|record| &record.gates) {
            gates.push(text.parse::<Gate>()?.of_suite(&suite.name));
        }
    }
    Ok(gates)
}
