//! An answer that ends early.

use crate::run::made_up::MadeUpReply;
use crate::run::probe::mutants::{Broken, with_answer};

/// Fewest characters of an answer that has a half.
const FEWEST: usize = 4;

/// The reply without the second half of its answer.
pub(super) fn broken(reply: &MadeUpReply) -> Vec<Broken> {
    let count = reply.answer.chars().count();
    if count < FEWEST {
        return Vec::new();
    }
    let half: String = reply.answer.chars().take(count / 2).collect();
    vec![with_answer(reply, half, "the second half was cut".to_owned())]
}
