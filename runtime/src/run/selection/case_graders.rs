//! The graders of a case before they run: those of the whole and of its turns, and what is wrong with the settings of graders written in Rust.

use std::borrow::Cow;

use evalsuite_schema::diagnostics::{Code, Diagnostic};
use evalsuite_schema::{Case, Grader, GraderConfig, Turn};

use crate::grade;
use crate::model::evals::Registry;

/// Graders of a whole case: its own, else a judge that compares the answer with what the case expects. A conversation is judged as a whole
/// only if it has a simulated user, of whose turns nothing is expected, and criteria.
pub(crate) fn case_graders(case: &Case) -> Cow<'_, [Grader]> {
    let is_judged = case.conversation.is_none() || case.user().is_some() && case.criteria.is_some();
    match case.graders.is_empty() && is_judged {
        true => Cow::Owned(vec![grade::llm_grader::implicit(case.location.clone())]),
        false => Cow::Borrowed(&case.graders),
    }
}

/// Graders of a turn: its own, else a judge that compares the reply with the turn's expected output. A turn with neither
/// is not graded.
pub(crate) fn turn_graders(turn: &Turn, case: &Case) -> Vec<Grader> {
    if turn.graders.is_empty() && !turn.expected_output.is_empty() {
        return vec![grade::llm_grader::implicit(case.location.clone())];
    }
    turn.graders.clone()
}

/// What the paths of the graders and the files of a turn begin with.
pub(crate) fn turn_folder(index: u32) -> String {
    format!("turn-{index:03}")
}

/// Graders of a case, its turns and its composites that are not registered, or that reject their settings.
pub(crate) fn grader_problems(case: &Case, registry: &Registry) -> Vec<Diagnostic> {
    case.all_graders().flat_map(Grader::with_members).filter_map(|grader| problem(grader, registry)).collect()
}

fn problem(grader: &Grader, registry: &Registry) -> Option<Diagnostic> {
    let GraderConfig::User { grader: name, config } = &grader.config else { return None };
    let problem = match registry.grader(name) {
        None => Diagnostic::new(Code::UnknownGrader, format!("no grader named `{name}` is registered")),
        Some(registered) => {
            let error = registered.check(config).err()?;
            Diagnostic::new(Code::GraderConfigRejected, format!("grader `{name}` rejects its config: {error}"))
        }
    };
    Some(problem.at(&grader.location))
}
