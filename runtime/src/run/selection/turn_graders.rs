//! The graders of a turn.

use evalsuite_schema::{Case, Grader, Turn};

use crate::grade;

/// Graders of a turn: its own, else a judge that compares the reply with the turn's expected output. A turn with neither
/// is not graded.
pub(crate) fn turn_graders(turn: &Turn, case: &Case) -> Vec<Grader> {
    if turn.graders.is_empty() && !turn.expected_output.is_empty() {
        return vec![grade::llm_grader::implicit(case.location.clone())];
    }
    turn.graders.clone()
}
