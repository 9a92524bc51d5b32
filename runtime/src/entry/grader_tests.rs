//! Grading without an agent: the generated test `grader_examples`, in which the examples of a suite get the verdicts they should, and
//! [`Evals::grade`].

use std::collections::BTreeSet;

use evalsuite_records::record::{GraderRecord, Mode, Status, Verdict};

use crate::entry::evals_run::on_thread;
use crate::entry::run_error::{RunError, fail, setup_error};
use crate::entry::{reload, suite_description};
use crate::model::evals::Evals;
use crate::model::outcome::Outcome;
use crate::model::suite::EvalCase;
use crate::platform::accessors::getters;
use crate::platform::notice;
use crate::platform::threads::map_on_threads;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::suite::MadeUpSuite;
use crate::run::made_up::{GradedResult, MadeUpResult};
use crate::run::settings::Settings;

/// Grades the examples of the suite as a test.
///
/// # Panics
///
/// If one has the wrong verdict, or cannot be graded.
pub fn grader_examples(evals: fn() -> Evals) {
    if suite_description::is_wanted() {
        return;
    }
    let evals = evals();
    let name = evals.suite().name;
    let report = Settings::from_environment()
        .map_err(RunError::from)
        .and_then(|settings| run(evals, settings))
        .unwrap_or_else(|error| fail(setup_error(&error)));
    for reason in &report.skipped {
        notice::say(&format!("SKIPPED {reason}"));
    }
    if !report.problems.is_empty() {
        let (wrong, all) = (report.problems.len(), report.examples);
        fail(format!("evaluation failed: {wrong} of {all} examples of {name}\n{}", report.problems.join("\n")));
    }
}

/// The result of all examples of a suite.
#[derive(Debug, Default)]
pub(crate) struct ExamplesReport {
    /// Number of examples.
    pub(crate) examples: usize,
    /// Examples with the wrong verdict, and those that could not be graded.
    pub(crate) problems: Vec<String>,
    /// Examples that ask a judge where there is none.
    pub(crate) skipped: Vec<String>,
}

/// Grades the examples of all cases.
fn run(evals: Evals, settings: &Settings) -> Result<ExamplesReport, RunError> {
    let evals = reload::whole_suite(evals, settings)?;
    let mut seen = BTreeSet::new();
    // In a matrix, a case is listed once per target.
    let cases: Vec<&'static EvalCase> =
        evals.suite().cases.iter().filter(|case| may_have_examples(case) && seen.insert(case.id)).collect();
    let workers = settings.workers;
    let suite = made_up_suite(evals, settings)?;
    let graded = map_on_threads(&cases, workers, |case| {
        suite.case(case).and_then(|mut grading| grading.grade_examples()).map_err(RunError::from)
    });
    let mut report = ExamplesReport::default();
    for (case, graded) in cases.iter().zip(graded) {
        let examples = graded.unwrap_or_else(|error| {
            report.problems.push(format!("case `{}`: {error}", case.id));
            Vec::new()
        });
        report.examples += examples.len();
        for example in examples {
            match example.is_right() {
                Some(true) => {}
                Some(false) => report.problems.push(example.problem(case.id)),
                None => match example.undecided(case.id) {
                    (true, text) if !settings.require && settings.mode != Mode::Replay => report.skipped.push(text),
                    (_, text) => report.problems.push(text),
                },
            }
        }
    }
    report.problems.extend(suite.end());
    Ok(report)
}

/// The suite, with judges that are asked unless the settings have them replayed.
fn made_up_suite(evals: Evals, settings: &Settings) -> Result<MadeUpSuite, RunError> {
    let judges = matches!(settings.judge_mode(), Mode::Live | Mode::Record);
    MadeUpSuite::new(evals, settings, AllowedGraders { judges, commands: true })
        .map_err(|error| RunError::records("no temporary directory can be made").with_source(error))
}

impl Evals {
    /// Grades an outcome with the graders of a case, without calling the agent and without records of a run. The outcome may be made up, or
    /// come from a log of the agent.
    ///
    /// Graders see what they see in a trial: commands run in a fresh workspace with the template of the case, between `before_each` and
    /// `after_each`. What the outcome does not report is not known: a grader of tool calls needs [`Outcome::with_messages`], `latency` needs
    /// [`Outcome::with_duration`]. Judges are asked, or reply from the cassette of the case with `EVALSUITE_MODE=replay`.
    ///
    /// The returned future works on any runtime. Needs the feature `grader-tests`.
    ///
    /// ```
    /// use evalsuite::{Evals, Message, Outcome, Role, RunError, ToolCall, Verdict};
    ///
    /// async fn refunds_are_confirmed(evals: Evals) -> Result<(), RunError> {
    ///     let call = Message::empty(Role::Assistant).with_tool_call(ToolCall::new("refund"));
    ///     let outcome = Outcome::from("19.90 EUR are on their way.").with_messages(vec![call]);
    ///     let graded = evals.grade("refund", outcome).await?;
    ///     assert_eq!(graded.verdict(), Some(Verdict::Pass), "{:?}", graded.graders());
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the suite has no such case or the case is a conversation, if a number in the outcome is invalid, or if an environment variable is
    /// invalid. A grader without a result is not an error: see [`GradedOutcome::verdict`].
    pub async fn grade(&self, case_id: &str, outcome: impl Into<Outcome>) -> Result<GradedOutcome, RunError> {
        let (evals, case_id, outcome) = (self.clone(), case_id.to_owned(), outcome.into());
        on_thread("grades the outcome", move |_| grade(evals, &case_id, outcome)).await?
    }
}

fn grade(evals: Evals, case_id: &str, outcome: Outcome) -> Result<GradedOutcome, RunError> {
    let settings = Settings::from_environment()?;
    if let Some(defect) = outcome.defect(&[]) {
        return Err(RunError::setting(defect));
    }
    let of_suite = format!("suite `{}`", evals.suite().name());
    let unfit = |problem: &str| RunError::setting(format!("case `{case_id}` of {of_suite} {problem}"));
    let entry = evals.suite().find(case_id).ok_or_else(|| unfit("does not exist"))?;
    let suite = made_up_suite(evals, settings)?;
    let graded = suite.case(entry).map_err(RunError::from).and_then(|grading| {
        let is_conversation = grading.case().conversation.is_some();
        let result = MadeUpResult::new(vec![outcome.into()]);
        (!is_conversation)
            .then(|| grading.grade(&result))
            .ok_or_else(|| unfit("is a conversation, which has several outcomes"))
    });
    let problems = suite.end();
    Ok(GradedOutcome::new(graded?, problems))
}

/// What the graders of a case say about an outcome: the result of [`Evals::grade`].
///
/// ```
/// use evalsuite::GradedOutcome;
///
/// fn show(graded: &GradedOutcome) {
///     for grader in graded.graders() {
///         println!("{}: {:?}", grader.name, grader.value);
///     }
///     graded.unresolved().iter().for_each(|reason| println!("{reason}"));
/// }
/// ```
#[derive(Debug, Clone)]
pub struct GradedOutcome {
    verdict: Option<Verdict>,
    score: Option<f64>,
    graders: Vec<GraderRecord>,
    unresolved: Vec<String>,
}

impl GradedOutcome {
    fn new(graded: GradedResult, problems: Vec<String>) -> Self {
        let verdict = match (graded.passes, graded.worst.0) {
            (Some(true), Status::Passed) => Some(Verdict::Pass),
            (Some(false), Status::Failed) => Some(Verdict::Fail),
            _ => None,
        };
        let not_run = graded.not_run.into_iter().map(|grader| format!("grader `{}` {}", grader.path, grader.reason));
        Self { verdict, score: graded.score, graders: graded.graders, unresolved: not_run.chain(problems).collect() }
    }
}

getters! {
    impl GradedOutcome {
        /// Whether a trial with this outcome passes or fails; `None` if this depends on a grader without a result, or if nothing is graded.
        pub fn verdict(self) -> Option<Verdict> { self.verdict }

        /// The score, 0 to 1; `None` if it depends on a grader without a result, or if nothing is graded.
        pub fn score(self) -> Option<f64> { self.score }

        /// The results of the graders, in the order of the case. One without a result is undecided.
        pub fn graders(self) -> &[GraderRecord] { &self.graders }

        /// The graders that were not run or came to no result, and the problems of hooks and files, with their reasons.
        pub fn unresolved(self) -> &[String] { &self.unresolved }
    }
}

/// Whether a search for examples may find one. Most cases have none, and their text is faster to search than to decode.
fn may_have_examples(case: &EvalCase) -> bool {
    case.json.text().contains("\"examples\":")
}
