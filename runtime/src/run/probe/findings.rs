//! Findings: what the results of a probe say about a case and its graders.

use evalsuite_records::record::{ProbedCase, ProbedGrader, ResultKind};
use evalsuite_schema::diagnostics::{Code, Diagnostic, counted};
use evalsuite_schema::{Case, EmptyProbe, Grader, GraderConfig, Location};

use crate::run::probe::advice::{Passing, advice, shown};
use crate::run::probe::empty_probes::{prompt, turns};
use crate::run::probe::probed_graders::{GraderClass, class, graders_by_path};

/// Most broken references that a finding names.
const SHOWN: usize = 3;

/// The findings of a case that depend on no other case.
pub(super) fn of_case(case: &Case, probed: &ProbedCase) -> Vec<Diagnostic> {
    let graders = graders_by_path(case);
    if !graders.is_empty() && graders.values().all(|grader| class(grader) == GraderClass::Limit) {
        let message = format!("case {} has only limits: nothing says what the answer has to be", shown(&case.id));
        let finding = Diagnostic::new(Code::OnlyLimits, message).at(case.location.clone());
        return vec![finding.help("add a grader of the answer, such as `contains` or `equals`")];
    }
    let passes = |probe: EmptyProbe| {
        let mut results = probed.results_of(ResultKind::of(probe));
        results.next().and_then(|result| result.passes)
    };
    let allowed = &case.probe.passes;
    let passing: Vec<EmptyProbe> =
        EmptyProbe::ALL.into_iter().filter(|probe| passes(*probe) == Some(true) && !allowed.contains(probe)).collect();
    let acts = [passes(EmptyProbe::Busy), passes(EmptyProbe::Hedge)];
    let mut findings = Vec::new();
    if !allowed.is_empty() && acts == [Some(true), Some(true)] {
        let message = format!("case {} may pass without work, and `busy` and `hedge` pass, too", shown(&case.id));
        findings.push(Diagnostic::new(Code::NothingFails, message).at(case.location.clone()).help(
            "add a grader that fails an agent that acts, such as `tool-trajectory` with `maximums`, or a `negate`d `contains`",
        ));
    } else if !passing.is_empty() {
        findings.push(passes_without_work(case, probed, &passing));
    }
    findings.extend(reference_fails(case, probed));
    findings.extend(broken_references_pass(case, probed));
    findings
}

fn passes_without_work(case: &Case, probed: &ProbedCase, passing: &[EmptyProbe]) -> Diagnostic {
    let list: Vec<String> = passing.iter().map(|probe| format!("`{}` ({})", probe.word(), meaning(*probe))).collect();
    let message = format!("case {} passes without work, for {}", shown(&case.id), list.join(", "));
    let prompts: Vec<String> = turns(case).map(|turn| prompt(case, turn)).collect();
    let known = Passing { probes: passing, prompt: &prompts.join("\n") };
    // Those that fail some empty probe are what stops an agent that does nothing, the heaviest first.
    let stops = |grader: &Grader| probed.graders.iter().any(|one| one.location == grader.location && one.failed > 0);
    let mut deciding: Vec<&Grader> = case.all_graders().filter(|grader| class(grader) != GraderClass::Limit).collect();
    deciding.sort_by(|one, other| stops(other).cmp(&stops(one)).then_with(|| other.weight.total_cmp(&one.weight)));
    let explained = deciding.iter().find_map(|grader| Some((grader, advice(grader, &known)?)));
    let place = explained.as_ref().map(|(grader, _)| **grader).or_else(|| deciding.first().copied());
    let mut help = explained.map(|(_, help)| help);
    if case.threshold.is_some_and(|threshold| threshold <= 0.0) {
        help = Some("a `threshold` of 0 is always met".to_owned());
    }
    let has_verdict = |location: &Location| {
        probed.graders.iter().any(|grader| grader.location == *location && grader.passed + grader.failed > 0)
    };
    if !deciding.iter().any(|grader| has_verdict(&grader.location)) {
        help = Some("no grader has a verdict on it: add a grader that decides".to_owned());
    }
    if passing.contains(&EmptyProbe::Silent) {
        let right = format!("if doing nothing is right, write `probe: {{passes: [{}]}}` in the case", words(passing));
        help = Some(help.map_or_else(|| right.clone(), |help| format!("{help}; {right}")));
    }
    let help = help.or_else(|| Some("add a grader that fails it, such as `equals` or `tool-trajectory`".to_owned()));
    let place = place.map_or(&case.location, |grader| &grader.location);
    Diagnostic::new(Code::PassesWithoutWork, message).at(place.clone()).help_if(help)
}

fn words(probes: &[EmptyProbe]) -> String {
    probes.iter().map(|probe| probe.word()).collect::<Vec<_>>().join(", ")
}

fn meaning(probe: EmptyProbe) -> &'static str {
    match probe {
        EmptyProbe::Silent => "an empty answer",
        EmptyProbe::Echo => "the prompt as the answer",
        EmptyProbe::Refusal => "a refusal",
        EmptyProbe::Hedge => "every expected text and its opposite",
        EmptyProbe::Busy => "every tool called, and an empty answer",
    }
}

fn reference_fails(case: &Case, probed: &ProbedCase) -> Option<Diagnostic> {
    let result = probed.results_of(ResultKind::Reference).find(|result| result.passes == Some(false))?;
    let failing = failing_reference(case, probed);
    let message = match failing.first() {
        Some(grader) => format!("the reference of case {} fails {}", shown(&case.id), shown(&grader.path)),
        None => format!("the reference of case {} does not pass", shown(&case.id)),
    };
    let place = failing.first().map_or(&case.location, |grader| &grader.location);
    let problem = failing.iter().find_map(|grader| grader.problem.as_deref());
    let help = match (problem, result.score) {
        (Some(problem), _) => format!("{}: correct the reference or the grader", first_line(problem)),
        (None, Some(score)) => format!("its score is {score:.2}: correct the reference, the graders or the threshold"),
        (None, None) => "correct the reference or the grader".to_owned(),
    };
    let mut finding = Diagnostic::new(Code::ReferenceFails, message).at(place.clone()).help(help);
    for grader in failing.iter().skip(1).take(SHOWN) {
        finding = finding.related(grader.location.clone(), format!("it fails {}, too", shown(&grader.path)));
    }
    Some(finding)
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    evalsuite_schema::diagnostics::terminal::shortened(line).into_owned()
}

/// The graders that fail the reference and that a reference can satisfy: those that only look at the answer and the calls.
fn failing_reference<'p>(case: &Case, probed: &'p ProbedCase) -> Vec<&'p ProbedGrader> {
    let graders = graders_by_path(case);
    let is_plain = |path: &str| graders.get(path).is_none_or(|grader| class(grader) == GraderClass::Plain);
    let is_composite =
        |path: &str| graders.get(path).is_some_and(|grader| matches!(grader.config, GraderConfig::Composite(_)));
    let failing = probed.graders.iter().filter(|grader| grader.reference == Some(false) && is_plain(&grader.path));
    let (composites, others): (Vec<_>, Vec<_>) = failing.partition(|grader| is_composite(&grader.path));
    others.into_iter().chain(composites).collect()
}

fn broken_references_pass(case: &Case, probed: &ProbedCase) -> Option<Diagnostic> {
    let mutants: Vec<_> = probed.results_of(ResultKind::Mutant).filter(|result| result.passes.is_some()).collect();
    let survivors: Vec<_> = mutants.iter().filter(|result| result.passes == Some(true)).collect();
    if mutants.len() < 2 || survivors.len() < mutants.len() {
        return None;
    }
    let (case_id, count) = (shown(&case.id), counted(mutants.len(), "broken reference"));
    let message = format!("case {case_id} passes for its reference however it is broken: {count}");
    let details: Vec<&str> = survivors.iter().filter_map(|result| result.detail.as_deref()).take(SHOWN).collect();
    let help = format!("it passes although {}: compare more of the answer with the reference", details.join(", or "));
    let place = case.graders.first().map_or(&case.location, |grader| &grader.location);
    Some(Diagnostic::new(Code::BrokenReferencesPass, message).at(place.clone()).help(help))
}
