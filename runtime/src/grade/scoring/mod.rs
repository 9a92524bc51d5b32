//! From grader records to the outcome of a trial, and from trials to the outcome of a case: pure functions.

pub(crate) mod case;
pub(crate) mod conversation;
pub(crate) mod trial;

pub(crate) use crate::grade::scoring::{
    case::{TrialPoint, case_rule, decide_case, is_settled},
    conversation::score_conversation,
    trial::{TrialScore, gate_is_closed, score_trial, weighted_mean},
};
