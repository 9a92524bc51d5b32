//! The made-up results of one case, its graders by their paths, and what these make of them.

use std::collections::BTreeMap;

use evalsuite_records::record::{
    GraderNotRun, GraderRecord, GraderState, ProbeResult, ProbedCase, ProbedGrader, ResultKind, TurnRecord,
};
use evalsuite_schema::{Case, EmptyProbe, Grader, GraderConfig};

use crate::grade::probed::GraderClass;
use crate::grade::to_probes::{class, probed};
use crate::run::made_up::grader_examples::GradedExample;
use crate::run::made_up::grading::{MadeUpGrading, graders_with_paths};
use crate::run::made_up::{GradedResult, MadeUpResult};
use crate::run::probe::empty_probes::{self, SuiteTools};
use crate::run::probe::mutants::mutants;
use crate::run::probe::reference::{Reference, reference};
use crate::run::selection::turn_folder;

/// Probes a case. The findings are still to come: some of them depend on other cases and on recorded trials.
pub(crate) fn probe_case(grading: &MadeUpGrading<'_>, tools: &SuiteTools, examples: &[GradedExample]) -> ProbedCase {
    let case = grading.case();
    let of_case = graders_by_path(case);
    let graders = of_case.iter().map(|(path, grader)| (path.clone(), blank(path, grader))).collect();
    let mut running = RunningProbe { grading, of_case, graders, probed: ProbedCase::default() };
    running.run_all(case, tools);
    examples.iter().for_each(|example| running.add_example(example));
    running.flood(case, tools);
    let RunningProbe { mut probed, graders, .. } = running;
    probed.case_id.clone_from(&case.id);
    probed.location.clone_from(&case.location);
    probed.graders = graders.into_values().collect();
    probed
}

fn blank(path: &str, grader: &Grader) -> ProbedGrader {
    let mut probed = ProbedGrader::default();
    probed.path = path.to_owned();
    probed.grader_type = grader.config.type_name().to_owned();
    probed.location = grader.location.clone();
    probed.is_judged = class(grader) != GraderClass::Limit;
    probed
}

/// A probe while it runs.
struct RunningProbe<'a> {
    grading: &'a MadeUpGrading<'a>,
    of_case: BTreeMap<String, &'a Grader>,
    graders: BTreeMap<String, ProbedGrader>,
    probed: ProbedCase,
}

impl RunningProbe<'_> {
    fn run_all(&mut self, case: &Case, tools: &SuiteTools) {
        for probe in EmptyProbe::ALL {
            let forms = empty_probes::forms(probe, case, tools);
            let results: Vec<ProbeResult> =
                forms.iter().map(|form| self.grade(ResultKind::of(probe), None, form)).collect();
            // The form that gets furthest: one that passes, else one that is not decided.
            let rank = |result: &ProbeResult| (result.passes != Some(true), result.passes.is_some());
            self.probed.results.extend(results.into_iter().min_by_key(rank));
        }
        let Some(reference) = reference(case) else { return };
        let result = self.grade_reference(&reference);
        // A broken reference says something only if the whole one passes.
        let passes = result.passes == Some(true);
        self.probed.results.push(result);
        for mutant in mutants(&reference.result).into_iter().filter(|_| passes) {
            let result = self.grade(ResultKind::Mutant, Some(mutant.detail), &mutant.result);
            self.probed.results.push(result);
        }
    }

    fn grade_reference(&mut self, reference: &Reference) -> ProbeResult {
        let mut result = self.grade(ResultKind::Reference, None, &reference.result);
        let is_decided = match result.passes {
            // What code demands may be missing in the reference: it has neither files nor state.
            Some(false) => reference.is_answer && result.failed.iter().any(|path| !self.is_code(path)),
            // Data is an answer if a grader that may read data passes it, and not an empty answer.
            Some(true) => reference.is_answer || self.is_read(),
            None => true,
        };
        if !is_decided {
            (result.passes, result.score) = (None, None);
            result.failed.clear();
        }
        if !reference.is_answer {
            // A grader that fails it may look for what the agent says beside the data.
            let failing = self.graders.values_mut().filter(|grader| grader.reference == Some(false));
            failing.for_each(|grader| (grader.reference, grader.problem) = (None, None));
        }
        result
    }

    fn is_code(&self, path: &str) -> bool {
        self.of_case.get(path).is_some_and(|grader| class(grader) == GraderClass::Opaque)
    }

    fn is_read(&self) -> bool {
        let silent = self.probed.results_of(ResultKind::Silent).next();
        let fails_silence = |path: &String| silent.is_some_and(|silent| silent.failed.contains(path));
        let passes = |path: &String| self.graders.get(path).is_some_and(|grader| grader.reference == Some(true));
        let mut readers = self.of_case.iter().filter(|(_, grader)| may_read_data(grader)).map(|(path, _)| path);
        readers.any(|path| passes(path) && fails_silence(path))
    }

    /// Gives graders that have failed nothing an agent that does too much.
    fn flood(&mut self, case: &Case, tools: &SuiteTools) {
        let fails_nothing = |grader: &ProbedGrader| grader.is_judged && grader.failed == 0 && grader.passed > 0;
        let mut fails_nothing = self.graders.values().filter(|grader| fails_nothing(grader)).peekable();
        if fails_nothing.peek().is_some() {
            let mut flood = empty_probes::flood(case, tools);
            flood.spoils_workspace = fails_nothing.any(|grader| self.is_code(&grader.path));
            let graded = self.grading.grade(&flood);
            self.count(ResultKind::Busy, &graded, "");
        }
    }

    fn grade(&mut self, probe: ResultKind, detail: Option<String>, made_up: &MadeUpResult) -> ProbeResult {
        let graded = self.grading.grade(made_up);
        self.add(probe, detail, &graded, "")
    }

    /// Adds an example, which says what its graders have to decide.
    fn add_example(&mut self, example: &GradedExample) {
        let probe = if example.should_pass { ResultKind::Pass } else { ResultKind::Fail };
        // The name of a grader without the names of the composite and the turn around it.
        let name = example.graded.graders.first().map(|record| record.name.as_str()).unwrap_or_default();
        let around = example.grader.as_deref().and_then(|path| path.strip_suffix(name)).unwrap_or_default();
        let result = self.add(probe, None, &example.graded, around);
        self.probed.results.push(result);
    }

    /// Counts a graded result. `around` precedes the paths of its graders.
    fn add(&mut self, probe: ResultKind, detail: Option<String>, graded: &GradedResult, around: &str) -> ProbeResult {
        let failed = self.count(probe, graded, around);
        self.add_not_run(graded);
        let mut result = ProbeResult::default();
        (result.probe, result.detail) = (probe, detail);
        (result.passes, result.score, result.failed) = (graded.passes, graded.score, failed);
        result
    }

    /// Counts the verdicts of graders; returns the paths of those that fail.
    fn count(&mut self, probe: ResultKind, graded: &GradedResult, around: &str) -> Vec<String> {
        let mut failed = Vec::new();
        for mut verdict in verdicts(&graded.graders, graded.turns.as_deref()) {
            verdict.path.insert_str(0, around);
            let grader = self.graders.entry(verdict.path.clone()).or_insert_with(|| {
                // A judge of a case that names no grader.
                let mut probed = ProbedGrader::default();
                (probed.path, probed.is_judged) = (verdict.path.clone(), true);
                probed.grader_type.clone_from(&verdict.record.grader_type);
                probed.location.clone_from(&verdict.record.location);
                probed
            });
            let count = if verdict.passes { &mut grader.passed } else { &mut grader.failed };
            *count += 1;
            if probe == ResultKind::Reference {
                grader.reference = Some(verdict.passes);
                let problem = verdict.record.first_failed().map(|assertion| assertion.text.clone());
                grader.problem = problem.filter(|_| !verdict.passes);
            }
            if !verdict.passes {
                failed.push(verdict.path);
            }
        }
        failed
    }

    fn add_not_run(&mut self, graded: &GradedResult) {
        for grader in &graded.not_run {
            if self.probed.not_run.iter().all(|known| known.path != grader.path) {
                let mut not_run = GraderNotRun::default();
                (not_run.path, not_run.reason) = (grader.path.clone(), grader.reason.clone());
                self.probed.not_run.push(not_run);
            }
        }
    }
}

/// The graders of a case by their paths.
pub(super) fn graders_by_path(case: &Case) -> BTreeMap<String, &Grader> {
    graders_with_paths(case).into_iter().map(|(path, grader, _)| (path, grader)).collect()
}

/// A verdict of a grader.
pub(super) struct PathVerdict<'r> {
    pub(super) path: String,
    pub(super) record: &'r GraderRecord,
    pub(super) passes: bool,
}

/// The verdicts in the records of a trial, members of composites after them; graders without one are left out.
pub(super) fn verdicts<'r>(graders: &'r [GraderRecord], turns: Option<&'r [TurnRecord]>) -> Vec<PathVerdict<'r>> {
    let mut found = Vec::new();
    graders.iter().for_each(|record| add_verdicts(record.name.clone(), record, &mut found));
    let turns = turns.unwrap_or_default();
    // All turns of a simulated user have the same graders.
    let first_simulated = turns.iter().position(|turn| turn.simulated).unwrap_or(turns.len());
    for (index, turn) in turns.iter().enumerate() {
        let index = u32::try_from(index.min(first_simulated)).unwrap_or(u32::MAX);
        for record in &turn.graders {
            add_verdicts(format!("{}/{}", turn_folder(index), record.name), record, &mut found);
        }
    }
    found
}

fn add_verdicts<'r>(path: String, record: &'r GraderRecord, found: &mut Vec<PathVerdict<'r>>) {
    if let (GraderState::Decided, Some(verdict)) = (record.state, record.verdict) {
        found.push(PathVerdict { path: path.clone(), record, passes: verdict.is_pass() });
    }
    record.members.iter().for_each(|member| add_verdicts(format!("{path}/{}", member.name), member, found));
}

/// Whether a grader may take the answer for data.
fn may_read_data(grader: &Grader) -> bool {
    matches!(grader.config, GraderConfig::User { .. }) || probed(&grader.config).reads_data()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Aggregator, Composite, ExecutionMetrics, Latency, TextValue};
    use evalsuite_schema::{Location, Object};

    use super::*;

    fn grader(config: GraderConfig) -> Grader {
        Grader::new("g", Location::new("f", 1, 1), config)
    }

    fn composite(members: Vec<GraderConfig>) -> Grader {
        let aggregator = Aggregator::Threshold { threshold: 0.5 };
        let members = members.into_iter().map(grader).collect();
        grader(GraderConfig::Composite(Composite { members, aggregator }))
    }

    #[test]
    fn a_composite_is_what_its_members_are() {
        let limit = || GraderConfig::Latency(Latency { threshold: 1.0 });
        let text = || GraderConfig::Contains(TextValue { value: "a".into() });
        let user = || GraderConfig::User { grader: "g".into(), config: Object::new() };
        assert_eq!(class(&composite(vec![limit(), limit()])), GraderClass::Limit);
        assert_eq!(class(&composite(vec![limit(), text()])), GraderClass::Plain);
        assert_eq!(class(&composite(vec![text(), user()])), GraderClass::Opaque);
    }

    #[test]
    fn a_minimum_is_no_limit() {
        let metrics = |least| {
            class(&grader(GraderConfig::ExecutionMetrics(ExecutionMetrics {
                min_tool_calls: least,
                max_tool_calls: Some(9.0),
                ..ExecutionMetrics::default()
            })))
        };
        assert_eq!([metrics(None), metrics(Some(0.0))], [GraderClass::Limit; 2]);
        assert_eq!(metrics(Some(1.0)), GraderClass::Opaque);
    }
}
