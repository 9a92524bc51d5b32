//! Pure functions that compute the outcome of a trial from grader records, and the outcome of a case from trials.

pub(crate) mod case_score;
pub(crate) mod conversation_score;
pub(crate) mod counted_score;
pub(crate) mod trial_score;

pub(crate) use self::case_score::{
    CaseStandard, TrialPoint, case_rule, decide_case, deciding, is_completed, is_settled,
};
pub(crate) use self::conversation_score::score_conversation;
pub(crate) use self::counted_score::{CountedScore, mean_passes, weighted_mean};
pub(crate) use self::trial_score::{TrialScore, decided, is_broken_guard, score_trial, with_verdict};
