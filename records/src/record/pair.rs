//! Answers of two runs, compared by a judge.

use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson};

use super::{JudgeRecord, ReasonCode};

/// One of two runs that are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Side {
    /// The earlier run.
    #[default]
    Base,
    /// The run that is compared with it.
    Run,
}

impl Side {
    /// Both, the base first.
    pub const BOTH: [Self; 2] = [Self::Base, Self::Run];
}

/// The answers to a case in two runs.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct AnswerPair {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Id of the case.
    pub case_id: String,
    /// What makes an answer the better one; empty: it does more of what the task asks for.
    pub criteria: String,
    /// What the agent was asked.
    pub input: String,
    /// The answer in the base and that in the run; `None`: there is none, and no judge is asked.
    pub answers: [Option<String>; 2],
    /// Why the base has no answer, if the record of the pair shall say more than that.
    pub why_no_base: Option<String>,
}

impl AnswerPair {
    /// A pair without answers.
    pub fn new(suite: impl Into<String>, target: impl Into<String>, case_id: impl Into<String>) -> Self {
        Self { suite: suite.into(), target: target.into(), case_id: case_id.into(), ..Self::default() }
    }
}

/// What judges said about the answers to a case in two runs.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct PairRecord {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Id of the case.
    pub case_id: String,
    /// The run whose answer is better; `None`: a tie, or no judgement, see `error`.
    pub better: Option<Side>,
    /// Whether every judge preferred the same answer in both orders, or none of them in both.
    pub consistent: bool,
    /// The replies of each judge that decided, to both orders.
    pub replies: Vec<PairReply>,
    /// Why there is no judgement.
    pub error: Option<String>,
    /// Reason code of `error`; `None` if the judge was undecided, or there was nothing to ask.
    pub code: Option<ReasonCode>,
    /// Calls of the judges; `None` if none was asked.
    pub judge: Option<JudgeRecord>,
}

/// The reply of a judge to two answers in one order.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct PairReply {
    /// Name of the judge.
    pub judge: String,
    /// The run whose answer was shown first.
    pub first: Side,
    /// The run whose answer is better; `None`: a tie.
    pub better: Option<Side>,
    /// The judge's reasoning.
    pub reasoning: Option<String>,
}

impl PairRecord {
    /// A record about a case, without judgement.
    pub fn new(suite: impl Into<String>, target: impl Into<String>, case_id: impl Into<String>) -> Self {
        Self { suite: suite.into(), target: target.into(), case_id: case_id.into(), ..Self::default() }
    }

    /// Whether there is a judgement; a tie is one.
    pub fn is_judged(&self) -> bool {
        self.error.is_none()
    }
}

impl PairReply {
    /// A reply without reasoning.
    pub fn new(judge: impl Into<String>, first: Side, better: Option<Side>) -> Self {
        Self { judge: judge.into(), first, better, reasoning: None }
    }
}
