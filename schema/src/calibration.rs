//! Calibrations of judges.

use serde::{Deserialize, Serialize};

use crate::{Case, Location, is_default};

/// Answers rated by people, to measure judges.
///
/// ```
/// use evalsuite_schema::Calibration;
///
/// fn worst_answer(calibration: &Calibration) -> Option<&str> {
///     let rated = calibration.samples.iter();
///     rated.min_by(|one, other| one.human_score.total_cmp(&other.human_score)).map(|sample| sample.id.as_str())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Calibration {
    /// Where it is defined.
    pub location: Location,
    /// Largest difference of two scores that agree, 0 to 1.
    pub tolerance: f64,
    /// Lowest score of an answer that passes, 0 to 1.
    pub threshold: f64,
    /// Required values. If a judge misses them, the suite's judge graders are reported but do not count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bar: Bar,
    /// The answers, at least two.
    pub samples: Vec<Sample>,
}

impl Calibration {
    /// No samples yet, with the usual tolerance and threshold.
    pub fn new(location: Location) -> Self {
        let (tolerance, threshold) = (Self::TOLERANCE, Self::THRESHOLD);
        Self { location, tolerance, threshold, bar: Bar::default(), samples: Vec::new() }
    }

    /// Default of the tolerance.
    pub const TOLERANCE: f64 = 0.15;
    /// Default of the threshold.
    pub const THRESHOLD: f64 = 0.8;
}

/// Required values of a judge; `None` means no requirement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// Least Cohen's κ, -1 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Least rank correlation, -1 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spearman: Option<f64>,
    /// Least linear correlation, -1 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pearson: Option<f64>,
    /// Least share of samples on which person and judge agree, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Largest mean absolute error, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
}

impl Bar {
    /// Whether there is a requirement.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

/// An answer and a person's rating.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sample {
    /// Id, unique in the calibration.
    pub id: String,
    /// Where it is defined.
    pub location: Location,
    /// The answered case, with the judge grader that rates the answer.
    pub case: Case,
    /// The answer.
    pub output: String,
    /// The person's score, 0 to 1.
    pub human_score: f64,
    /// Why the person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

impl Sample {
    /// An answer to a case with a person's score, 0 to 1.
    pub fn new(id: String, location: Location, case: Case, output: String, human_score: f64) -> Self {
        Self { id, location, case, output, human_score, rationale: None }
    }
}
