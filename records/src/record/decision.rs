//! `decision.json`: how a run decides whether it is worse than its base while its trials run.

use evalsuite_schema::json::{FromJsonOverDefault, ToJson, skip_empty};

/// `decision.json`: the plan of a run that ends as soon as its comparison with a base is decided. Written before its first trial. Together
/// with the records of the run, it says what was decided: nothing else is needed to look again.
#[skip_empty(cluster_by, fixed, continues)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// [`DecisionRecord::SCHEMA`].
    #[json(read_with = "DecisionRecord::read_schema")]
    pub schema: String,
    /// Id of the run that this one is compared with, or [`DecisionRecord::BASELINE`].
    pub base: String,
    /// SHA-256 of the digest of the agent, hexadecimal: runs of the same agent continue each other.
    pub agent: String,
    /// How much worse the run may be, as a share of the score, above 0, at most 1.
    pub margin: f64,
    /// Key of the cases' metadata whose values say which cases belong together.
    pub cluster_by: Option<String>,
    /// Whether the number of trials is fixed: then looks spend a part of the error each (O'Brien and Fleming), else bets decide.
    pub fixed: bool,
    /// Ids of the earlier runs of this agent whose evidence counts, the oldest first.
    pub continues: Vec<String>,
    /// What is decided, by suite and target.
    pub suites: Vec<DecisionSuite>,
}

impl DecisionRecord {
    /// The base that is the baseline of the suites.
    pub const BASELINE: &'static str = "baseline";
}

/// The plan of a suite and target.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct DecisionSuite {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Trials of a case that the files plan.
    pub planned: u32,
    /// Most trials of a case.
    pub rounds: u32,
    /// Looks per round of trials.
    pub batches: u32,
    /// Probability that it is called regressed if it is not worse, 0 to 1.
    pub level: f64,
    /// Number of trials of each case of the base that earlier runs have used.
    #[json(default)]
    pub used: u32,
    /// Logarithms of the e-values of earlier runs: for *regressed* and for *within the margin*.
    #[json(default)]
    pub before: [f64; 2],
    /// The cases, by id.
    pub cases: Vec<DecisionCase>,
}

/// A case of the base.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct DecisionCase {
    /// Id of the case.
    pub case_id: String,
    /// SHA-256 of the input of the agent in the base, hexadecimal.
    pub input: String,
    /// SHA-256 of the graders in the base, hexadecimal.
    pub graders: String,
    /// The cases with the same text belong together; without any, the case is by itself.
    #[json(default, skip_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Scores of the base's trials that the trials of the run are compared with, one by one, 0 to 1.
    pub base: Vec<f64>,
}
