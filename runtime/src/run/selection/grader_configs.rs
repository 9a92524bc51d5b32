//! The settings of graders written in Rust, checked by the graders before the agent is called.

use evalsuite_diagnostics::{Code, Diagnostic};
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::model::evals::Registry;

/// Graders of a case, its turns and its composites that are not registered, or that reject their settings.
pub(crate) fn problems(case: &Case, registry: &Registry) -> Vec<Diagnostic> {
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
