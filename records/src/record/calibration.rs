//! `calibration.json`: how well judges agree with people.

use evalsuite_schema::json::{FromJsonOverDefault, ToJson};
use evalsuite_schema::{Bar, Location};

use super::{GraderRecord, ReasonCode, Usage};

/// `calibration.json`: how well the judges of a suite agree with people.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct CalibrationRecord {
    /// [`CalibrationRecord::SCHEMA`].
    #[json(read_with = "CalibrationRecord::read_schema")]
    pub schema: String,
    /// Id of the run.
    pub run_id: String,
    /// Name of the suite.
    pub suite: String,
    /// Location of the calibration.
    pub location: Location,
    /// Path of the Rust test, without the crate.
    pub test_name: String,
    /// When the calibration started, RFC 3339 UTC.
    pub started_at: String,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Names of the judges that were asked, sorted.
    pub judges: Vec<String>,
    /// Models that they reported, sorted.
    pub models: Vec<String>,
    /// SHA-256 over the prompts of all samples with `***` for secrets, hexadecimal.
    pub prompt_sha256: String,
    /// Tokens of all calls.
    pub usage: Option<Usage>,
    /// Cost of all calls in US dollars.
    pub cost_usd: Option<f64>,
    /// Largest difference at which two scores agree, 0 to 1.
    pub tolerance: f64,
    /// Lowest score of an answer that passes, 0 to 1.
    pub threshold: f64,
    /// Numbers of samples by result.
    pub counts: SampleCounts,
    /// `None` with fewer than two samples that were judged.
    pub statistics: Option<CalibrationStatistics>,
    /// The suite's requirements for its judges.
    pub bar: Bar,
    /// The requirements that are not met.
    pub shortfalls: Vec<Shortfall>,
    /// Ids of the samples with the largest differences, the largest first, at most 20.
    pub disagreements: Vec<String>,
    /// The samples, in order.
    pub samples: Vec<SampleRecord>,
}

/// Numbers of samples by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SampleCounts {
    /// All samples.
    pub samples: u32,
    /// Samples with a score of the judge. Only these count in the statistics.
    pub valid: u32,
    /// Samples that the judge could not decide.
    pub undecided: u32,
    /// Samples with an error.
    pub errors: u32,
    /// Samples with a score within the tolerance of the person's score.
    pub agreements: u32,
}

/// Agreement of judge and person.
#[derive(Debug, Clone, Copy, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct CalibrationStatistics {
    /// Share of samples whose scores differ by at most the tolerance, 0 to 1.
    pub agreement: f64,
    /// Cohen's κ of pass and fail at the threshold, -1 to 1.
    pub kappa: f64,
    /// Spearman's rank correlation, ties at their mean rank, -1 to 1; 0 where all scores of one side are the same.
    pub spearman: f64,
    /// Pearson's correlation, -1 to 1; 0 where all scores of one side are the same.
    pub pearson: f64,
    /// Mean absolute error, 0 to 1.
    pub mae: f64,
    /// Mean of judge minus person, -1 to 1.
    pub bias: f64,
}

/// A requirement for judges that is not met.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Shortfall {
    /// Key of the requirement: `kappa`, `spearman`, `pearson`, `agreement`, `mae`, or `valid` for the share of samples that were
    /// judged.
    pub measure: String,
    /// The required value.
    pub demanded: f64,
    /// The measured value; `None` if it could not be measured.
    pub measured: Option<f64>,
}

impl Shortfall {
    /// A requirement that is not met.
    pub fn new(measure: impl Into<String>, demanded: f64, measured: Option<f64>) -> Self {
        Self { measure: measure.into(), demanded, measured }
    }
}

impl CalibrationRecord {
    /// Whether the cost of some calls is not known, so that `cost_usd` is a lower bound.
    pub fn is_cost_partial(&self) -> bool {
        let mut judges = self.samples.iter().filter_map(|sample| sample.grader.as_ref()?.judge.as_ref());
        judges.any(|judge| !judge.is_cost_known())
    }
}

/// Result of one sample.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SampleRecord {
    /// Id of the sample.
    pub id: String,
    /// Location of the sample.
    pub location: Location,
    /// The person's score, 0 to 1.
    pub human_score: f64,
    /// The person's explanation.
    pub human_rationale: Option<String>,
    /// The judge's score, 0 to 1; `None` without one.
    pub judge_score: Option<f64>,
    /// Judge minus person.
    pub difference: Option<f64>,
    /// Why there is no score.
    pub error: Option<String>,
    /// Reason code of an error.
    pub code: Option<ReasonCode>,
    /// Result of the grader; `None` if it could not be run.
    pub grader: Option<GraderRecord>,
}
