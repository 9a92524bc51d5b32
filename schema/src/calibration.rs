//! Calibrations of judges.

use evalsuite_derive::{Keys, skip_empty};

use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::keys::{Keys as _, Table};
use crate::message::{EXPECTED_OUTPUT, INPUT};
use crate::{Case, Location, is_default};

/// `calibration.yaml` next to a suite: answers rated by people, used to measure judges.
///
/// ```
/// use evalsuite_schema::Calibration;
///
/// fn worst_answer(calibration: &Calibration) -> Option<&str> {
///     let rated = calibration.samples.iter();
///     rated.min_by(|one, other| one.human_score.total_cmp(&other.human_score)).map(|sample| sample.id.as_str())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "calibration", what = "a calibration", common = keys::SCHEMA_KEY, fill)]
#[non_exhaustive]
pub struct Calibration {
    /// Where it is defined.
    pub location: Location,
    /// Largest difference of two scores that agree.
    #[key(Number(&FRACTION), "0.1", default = "0.15")]
    pub tolerance: f64,
    /// Lowest score of an answer that passes.
    #[key(Number(&FRACTION), "0.7", default = "0.8")]
    pub threshold: f64,
    /// Required values. If a judge misses them, the suite's judge graders are reported but do not count.
    #[also(minimum: Object(&MINIMUM), "{kappa: 0.6}", "Required values. If a judge misses one, graders that ask it are ignored.")]
    #[also(maximum: Object(&MAXIMUM), "{mae: 0.2}", "Limits that a judge may not exceed.")]
    #[json(default, skip_if = "is_default")]
    pub bar: Bar,
    /// The answers, 2 to 1000: a list, or the path of a `.yaml` or `.jsonl` file with one.
    #[also(grader: Grader, "{type: rubrics, criteria: [Is polite]}",
        "The grader of samples without `case`, of type `llm-grader` or `rubrics`.",
        default = "by the criteria or the reference of the sample", codes(InvalidChoice), by_hand)]
    #[key(OneOf(&[File, List(&Object(Sample::TABLE))]), "./answers.jsonl", required, by_hand)]
    #[key(codes(TooFewSamples, LimitExceeded, InvalidExternalFile))]
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

/// Required values of a judge: the highest `mae`, and the lowest of all others. `None` means no requirement.
#[skip_empty]
#[derive(Debug, Clone, Copy, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(fill)]
pub struct Bar {
    /// Cohen's κ of pass and fail at the threshold.
    #[key(Number(&CORRELATION), "0.6")]
    pub kappa: Option<f64>,
    /// Correlation of the ranks.
    #[key(Number(&CORRELATION), "0.7")]
    pub spearman: Option<f64>,
    /// Correlation of the scores.
    #[key(Number(&CORRELATION), "0.7")]
    pub pearson: Option<f64>,
    /// Share of samples whose scores differ by at most the tolerance.
    #[key(Number(&FRACTION), "0.8")]
    pub agreement: Option<f64>,
    /// Mean absolute error of the scores.
    #[key(Number(&FRACTION), "0.2")]
    pub mae: Option<f64>,
}

/// The number of keys of [`Bar`] that are minimums; those after them are maximums.
const MINIMUMS: usize = 4;

static MINIMUM: Table = {
    let keys = Bar::TABLE.keys.split_at(MINIMUMS).0;
    Table::new("minimum", "`minimum`", "Lowest values of a judge that is trusted.", keys)
};

static MAXIMUM: Table = {
    let keys = Bar::TABLE.keys.split_at(MINIMUMS).1;
    Table::new("maximum", "`maximum`", "Highest values of a judge that is trusted.", keys)
};

impl Bar {
    /// Whether there is a requirement.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

/// One answer and its human score.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "sample", what = "a sample", by_hand)]
#[also(case: Literal, "refund-small", "Id of the case that is answered.", codes(UnknownSampleCase), by_hand)]
#[also(grader: Literal, "tone", "Name of the judge grader of the case, if it has several.",
    codes(UnknownSampleCase, SettingConflict), by_hand)]
#[also(input: INPUT, "Thank you!", "The question, for a sample without `case`, which needs it.",
    codes(MissingInput, ConflictingKeys), by_hand)]
#[also(criteria: Text, "Answers politely.", "What a good answer does, for a sample without `case`.",
    codes(ConflictingKeys), by_hand)]
#[also(expected_output: EXPECTED_OUTPUT, "You are welcome.", "The reference answer, for a sample without `case`.",
    codes(ConflictingKeys), by_hand)]
#[non_exhaustive]
pub struct Sample {
    /// Identifies the sample in the calibration.
    #[key(Literal, "rude", required, codes(InvalidId, DuplicateId), by_hand)]
    pub id: String,
    /// Where it is defined.
    pub location: Location,
    /// The answered case, with the judge grader that rates the answer.
    pub case: Case,
    /// The answer.
    #[key(AnyText, "Should have packed it better.", required)]
    pub output: String,
    /// The person's score.
    #[key(Number(&FRACTION), "0.4", required)]
    pub human_score: f64,
    /// Why the person gave this score.
    #[key(Text, "no apology")]
    pub rationale: Option<String>,
}

impl Sample {
    /// An answer to a case with a person's score, 0 to 1.
    pub fn new(id: String, location: Location, case: Case, output: String, human_score: f64) -> Self {
        Self { id, location, case, output, human_score, rationale: None }
    }
}
