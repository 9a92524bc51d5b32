//! The examples of a case and of its graders, graded.

use evalsuite_records::record::{GraderRecord, Verdict};
use evalsuite_schema::{Example, Examples, Location, Value};

use crate::grade::scoring::is_completed;
use crate::run::case_report::CaseError;
use crate::run::made_up::grading::{Graders, JudgeReplies, MadeUpGrading, graders_with_paths, user_graders_with_paths};
use crate::run::made_up::{GradedResult, MadeUpReply, MadeUpResult};

/// An example that was graded.
#[derive(Debug, Clone)]
pub(crate) struct GradedExample {
    /// Where it is written.
    pub(crate) location: Location,
    /// Path of the grader that it belongs to; `None`: it is graded by the whole case.
    pub(crate) grader: Option<String>,
    /// Whether it should pass.
    pub(crate) should_pass: bool,
    pub(crate) graded: GradedResult,
}

impl GradedExample {
    /// Whether it passes or fails as it should; `None`: not decided.
    pub(crate) fn is_right(&self) -> Option<bool> {
        // A case that ends in an error does not pass, and has no verdict.
        let has_verdict = self.grader.is_some() || is_completed(self.graded.worst.0);
        self.graded.passes.filter(|_| has_verdict).map(|passes| passes == self.should_pass)
    }

    /// What is wrong with it, in one line that begins with its place.
    pub(crate) fn problem(&self, case: &str) -> String {
        let by = self.graded_by(case);
        let (should, does) = if self.should_pass { ("pass", "fails it") } else { ("fail", "passes it") };
        let mut text = format!("{}: the example should {should}, and {by} {does}", self.place());
        if self.should_pass {
            let failed = self.graded.graders.iter().filter(|grader| grader.verdict == Some(Verdict::Fail));
            text.extend(failed.filter_map(reason).map(|reason| format!("\n  {reason}")));
        }
        text
    }

    /// Whether all that is missing is a judge, and the line that says why the example is not decided.
    pub(crate) fn undecided(&self, case: &str) -> (bool, String) {
        let not_run = &self.graded.not_run;
        let asks_judge = !not_run.is_empty() && not_run.iter().all(|grader| grader.asks_judge);
        let mut reasons: Vec<String> =
            not_run.iter().map(|grader| format!("`{}` {}", grader.path, grader.reason)).collect();
        if reasons.is_empty() {
            reasons.extend(self.graded.graders.iter().filter_map(|grader| grader.rationale.clone()));
        }
        let reasons = reasons.join("; ");
        (asks_judge, format!("{}: the example is not decided by {}: {reasons}", self.place(), self.graded_by(case)))
    }

    /// Where it is written: `file:line:column`.
    pub(crate) fn place(&self) -> String {
        let Location { file, line, column, .. } = &self.location;
        format!("{file}:{line}:{column}")
    }

    fn graded_by(&self, case: &str) -> String {
        match &self.grader {
            Some(grader) => format!("grader `{grader}` of case `{case}`"),
            None => format!("case `{case}`"),
        }
    }
}

/// Why a grader failed.
fn reason(grader: &GraderRecord) -> Option<String> {
    let assertion = grader.assertions.iter().find(|assertion| !assertion.passed).map(|assertion| &assertion.text);
    Some(format!("{}: {}", grader.name, assertion.or(grader.rationale.as_ref())?))
}

impl MadeUpGrading<'_> {
    /// Grades the examples of the case and of its graders, with the recording of the examples' judges.
    pub(crate) fn grade_examples(&mut self) -> Result<Vec<GradedExample>, CaseError> {
        let of_examples = JudgeReplies::of_examples(self.suite, &self.plan, &self.nowhere.files)?;
        let of_trials = std::mem::replace(&mut self.replies, of_examples);
        let mut graded = Vec::new();
        let case = self.case();
        self.grade_all(&case.examples, Graders::All, &mut graded);
        for (path, grader, turn) in graders_with_paths(case).into_iter().chain(user_graders_with_paths(case)) {
            self.grade_all(&grader.examples, Graders::One { path: &path, grader, turn }, &mut graded);
        }
        self.replies = of_trials;
        Ok(graded)
    }

    fn grade_all(&self, examples: &Examples, graders: Graders<'_>, graded: &mut Vec<GradedExample>) {
        let grader = match graders {
            Graders::All => None,
            Graders::One { path, .. } => Some(path),
        };
        for (should_pass, list) in [(true, &examples.pass), (false, &examples.fail)] {
            graded.extend(list.iter().map(|example| GradedExample {
                location: example.location.clone(),
                grader: grader.map(str::to_owned),
                should_pass,
                graded: self.grade_by(graders, &result_of(example)),
            }));
        }
    }
}

/// The result that an example describes.
pub(crate) fn result_of(example: &Example) -> MadeUpResult {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let written = example.files.iter().map(|(path, value)| (path.clone(), Some(text(value))));
    let removed = example.removed_files.iter().map(|path| (path.clone(), None));
    MadeUpResult {
        replies: vec![MadeUpReply::new(example.answer.clone(), example.tool_calls.clone())],
        files: written.chain(removed).collect(),
        spoils_workspace: false,
    }
}
