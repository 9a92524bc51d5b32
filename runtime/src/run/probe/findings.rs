//! Findings: what the results of a probe, and trials of the last runs, say about a case and its graders, also those that nothing fails, or
//! nothing passes.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::Path;

use evalsuite_records::record::{ProbedCase, ProbedGrader, ResultKind, Status, TrialRecord};
use evalsuite_schema::diagnostics::{Code, Diagnostic, counted};
use evalsuite_schema::{Case, EmptyProbe, Grader, Location};

use crate::grade::probed::{GraderClass, Passing, shown};
use crate::grade::to_probes::class;
use crate::platform::files::read_json;
use crate::record::earlier_trials::newest_of_case;
use crate::record::run_directory::layout::{CASES, SUITES, TRIAL_RECORD};
use crate::record::run_directory::{OutputDirectory, StoredRun};
use crate::run::probe::advice::advice;
use crate::run::probe::case_probe::{graders_by_path, verdicts};
use crate::run::probe::empty_probes::{prompt, turns};

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
        |path: &str| graders.get(path).is_some_and(|grader| !grader.config.settings().members().is_empty());
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
pub(super) fn add_grader_findings(
    cases: &[&Case],
    probed: &mut [ProbedCase],
    recorded: &dyn Fn(usize) -> RecordedVerdicts,
) {
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

/// How many of the last runs are read.
const LAST_RUNS: usize = 10;

/// Numbers of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct VerdictCounts {
    pub(super) passed: u32,
    pub(super) failed: u32,
    /// How many of those that passed are of a trial that failed.
    pub(super) in_failed_trials: u32,
}

impl AddAssign for VerdictCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.in_failed_trials += other.in_failed_trials;
    }
}

/// The verdicts of recorded trials of a case, by the paths of graders.
pub(super) type RecordedVerdicts = BTreeMap<String, VerdictCounts>;

/// The last runs of an output directory; none if it cannot be read, which its own commands report.
pub(super) fn last_runs(output: &Path) -> Vec<StoredRun> {
    let mut runs = OutputDirectory::new(output).runs_newest_first().unwrap_or_default();
    runs.truncate(LAST_RUNS);
    runs
}

/// The verdicts on trials of a case in these runs. A damaged record says nothing about a grader.
pub(super) fn recorded_verdicts(runs: &[StoredRun], suite_key: &str, case_key: &str, test: &str) -> RecordedVerdicts {
    let mut found = RecordedVerdicts::new();
    let cases = runs
        .iter()
        .filter_map(|run| newest_of_case(&run.path().join(SUITES).join(suite_key).join(CASES), case_key, test));
    for trial in cases.flat_map(|case| case.last_attempts.into_values()) {
        let Ok(Some(record)) = read_json::<TrialRecord>(&trial.join(TRIAL_RECORD)) else { continue };
        for verdict in verdicts(&record.graders, record.turns.as_deref()) {
            let passes = verdict.passes;
            *found.entry(verdict.path).or_default() += VerdictCounts {
                passed: u32::from(passes),
                failed: u32::from(!passes),
                in_failed_trials: u32::from(passes && record.outcome == Status::Failed),
            };
        }
    }
    found
}
