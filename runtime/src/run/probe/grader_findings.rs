//! Findings about graders: those that nothing fails, and those that nothing passes.

use std::collections::BTreeMap;

use evalsuite_records::record::ProbedCase;
use evalsuite_schema::diagnostics::{Code, Diagnostic, counted};
use evalsuite_schema::{Case, EmptyProbe, Location};

use crate::run::probe::advice::{Passing, advice, shown};
use crate::run::probe::probed_graders::{GraderClass, class, graders_by_path};
use crate::run::probe::recorded_trials::{RecordedVerdicts, VerdictCounts};

/// Most cases whose recorded trials are asked about one grader.
const MOST_CASES: usize = 50;

/// Fewest recorded trials that say something about a grader that is code.
const FEWEST_TRIALS: u32 = 5;

/// A grader of a suite, which may be a grader of many cases.
#[derive(Default)]
struct SuiteGrader {
    location: Location,
    path: String,
    /// Indexes of its cases.
    cases: Vec<usize>,
    results: VerdictCounts,
    passes_reference: bool,
    fails_reference: bool,
    problem: Option<String>,
}

/// Adds the findings about graders to the first case of each. `recorded` has the verdicts of recorded trials of a case.
pub(super) fn add(cases: &[&Case], probed: &mut [ProbedCase], recorded: &dyn Fn(usize) -> RecordedVerdicts) {
    let mut graders: BTreeMap<(Location, String), SuiteGrader> = BTreeMap::new();
    for (index, case) in probed.iter().enumerate() {
        for grader in case.graders.iter().filter(|grader| grader.is_judged) {
            let known = graders.entry((grader.location.clone(), grader.path.clone())).or_default();
            (known.location, known.path) = (grader.location.clone(), grader.path.clone());
            known.cases.push(index);
            known.results += VerdictCounts { passed: grader.passed, failed: grader.failed, ..VerdictCounts::default() };
            known.passes_reference |= grader.reference == Some(true);
            known.fails_reference |= grader.reference == Some(false);
            known.problem = known.problem.take().or_else(|| grader.problem.clone());
        }
    }
    let mut trials: BTreeMap<usize, RecordedVerdicts> = BTreeMap::new();
    let mut reported: Vec<(usize, String)> = Vec::new();
    for grader in graders.into_values() {
        let Some(first) = grader.cases.first().copied() else { continue };
        let is_vacuous = grader.results.failed == 0 && grader.results.passed > 0;
        let is_impossible = grader.fails_reference && !grader.passes_reference;
        if !is_vacuous && !is_impossible {
            continue;
        }
        let is_known = grader.cases.iter().any(|case| is_at(&probed[*case], &grader.location));
        let is_member =
            reported.iter().any(|(case, around)| *case == first && grader.path.starts_with(&format!("{around}/")));
        if is_known || is_member {
            continue;
        }
        let mut in_trials = VerdictCounts::default();
        for case in grader.cases.iter().take(MOST_CASES) {
            in_trials +=
                trials.entry(*case).or_insert_with(|| recorded(*case)).get(&grader.path).copied().unwrap_or_default();
        }
        let finding = if is_vacuous {
            vacuous(cases[first], &grader, in_trials)
        } else {
            impossible(cases[first], &grader, in_trials)
        };
        if let Some(finding) = finding {
            probed[first].findings.push(finding);
            reported.push((first, grader.path));
        }
    }
}

/// Whether a finding of the case is about the grader already.
fn is_at(case: &ProbedCase, location: &Location) -> bool {
    let place = location.clone().into();
    case.findings.iter().any(|finding| {
        let is_whole_case = matches!(finding.code, Code::OnlyLimits | Code::NothingFails);
        is_whole_case || finding.place.as_ref() == Some(&place) || finding.related.iter().any(|one| one.place == place)
    })
}

fn is_opaque(case: &Case, path: &str) -> bool {
    graders_by_path(case).get(path).is_some_and(|grader| class(grader) == GraderClass::Opaque)
}

fn vacuous(case: &Case, grader: &SuiteGrader, in_trials: VerdictCounts) -> Option<Diagnostic> {
    // Code may look at what no made-up result has; trials of an agent have it. Code that forbids fails none of a good agent.
    let is_undecided = in_trials.passed < FEWEST_TRIALS || in_trials.in_failed_trials == 0;
    let is_opaque = is_opaque(case, &grader.path);
    if in_trials.failed > 0 || is_opaque && is_undecided {
        return None;
    }
    let (path, results) = (shown(&grader.path), grader.results.passed);
    let mut message = format!("nothing fails {path}: it passes all {results} results of the probe");
    if in_trials.passed > 0 {
        message.push_str(&format!(" and {}", counted(in_trials.passed, "recorded trial")));
    }
    let passing = Passing { probes: &EmptyProbe::ALL, prompt: "" };
    let help = graders_by_path(case).get(&grader.path).and_then(|grader| advice(grader, &passing));
    let mut help = help.unwrap_or_else(|| "delete it, or compare more of the answer".to_owned());
    if is_opaque {
        help.push_str(", or add an example that it has to fail");
    }
    Some(Diagnostic::new(Code::VacuousGrader, message).at(grader.location.clone()).help(help))
}

fn impossible(case: &Case, grader: &SuiteGrader, in_trials: VerdictCounts) -> Option<Diagnostic> {
    // A reference may lack what code demands; trials of an agent do not.
    if in_trials.passed > 0 || is_opaque(case, &grader.path) && in_trials.failed == 0 {
        return None;
    }
    let mut message = format!("nothing passes {}: it fails the reference", shown(&grader.path));
    if in_trials.failed > 0 {
        message.push_str(&format!(" and {}", counted(in_trials.failed, "recorded trial")));
    }
    let help = match &grader.problem {
        Some(problem) => format!("{}: correct the grader or the reference", problem.lines().next().unwrap_or_default()),
        None => "correct the grader or the reference".to_owned(),
    };
    Some(Diagnostic::new(Code::ImpossibleGrader, message).at(grader.location.clone()).help(help))
}
