//! What the stored probes of suites say about their graders.

use evalsuite_diagnostics::Code;
use evalsuite_records::record::{ProbeRates, ProbeRecord};
use serde::Serialize;

use super::Health;

/// A suite that was probed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProbedSuite {
    /// Name of the suite.
    pub suite: String,
    /// Between which pass rates it says something.
    pub rates: ProbeRates,
    /// Graders that no made-up result and no recorded trial fails.
    pub vacuous: Vec<GraderFinding>,
    /// Graders that neither the reference nor a recorded trial passes.
    pub impossible: Vec<GraderFinding>,
}

/// What a probe found about a grader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraderFinding {
    /// Where the grader is: `file:line:column`.
    pub location: String,
    /// What is wrong with it.
    pub message: String,
}

impl Health {
    /// The same with what the probes of its suites say. Probes of other suites are left out.
    #[must_use]
    pub fn with_probes(mut self, probes: &[ProbeRecord]) -> Self {
        let is_known = |probe: &&ProbeRecord| self.suites.iter().any(|suite| suite.suite == probe.suite.name);
        self.probes = probes.iter().filter(is_known).map(probed).collect();
        self
    }
}

fn probed(probe: &ProbeRecord) -> ProbedSuite {
    let findings = |code: Code| {
        let found = probe.findings().filter(|finding| finding.code == code);
        let finding = found.map(|finding| GraderFinding {
            location: finding.place.as_ref().map(ToString::to_string).unwrap_or_default(),
            message: finding.message.clone(),
        });
        finding.collect()
    };
    ProbedSuite {
        suite: probe.suite.name.clone(),
        rates: ProbeRates::of(probe).unwrap_or_default(),
        vacuous: findings(Code::VacuousGrader),
        impossible: findings(Code::ImpossibleGrader),
    }
}
