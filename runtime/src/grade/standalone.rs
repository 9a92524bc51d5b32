//! Built-in graders and the rules of scores without a run, for property tests and benchmarks.

use std::cell::RefCell;
use std::path::Path;

use evalsuite_records::record::{GraderRecord, ReasonCode, Status, Usage};
use evalsuite_schema::{Aggregation, Grader, Layout, Message, Strategy, SuiteKind};

use crate::grade::grade;
use crate::grade::grading_context::GradingContext;
use crate::grade::scoring::{
    CaseStandard, TrialPoint, TrialScore, case_rule, decide_case, score_conversation, score_trial,
};
use crate::judge::judge_choice::JudgeChoice;
use crate::model::command::CommandEnvironment;
use crate::model::evals::Registry;
use crate::model::evidence::{Evidence, Facts};
use crate::model::suite_location::SuiteLocation;
use crate::platform::redaction::Redactor;
use crate::record::cassette::TrialCassette;

/// The work of an agent.
#[derive(Debug, Default)]
pub struct AgentWork {
    /// The answer.
    pub answer: String,
    /// The messages of its work; `None`: not reported.
    pub transcript: Option<Vec<Message>>,
    /// Tokens used; `None`: not reported.
    pub usage: Option<Usage>,
    /// Cost in US dollars; `None`: not reported.
    pub cost_usd: Option<f64>,
    /// Duration in milliseconds.
    pub duration_ms: f64,
    /// The reference.
    pub expected_output: Vec<Message>,
}

/// Evidence that can be graded again and again.
#[derive(Debug)]
pub struct GradableEvidence(Evidence<'static>);

impl GradableEvidence {
    /// The evidence of an agent's work.
    pub fn new(work: AgentWork) -> Self {
        let AgentWork { answer, transcript, usage, cost_usd, duration_ms, expected_output } = work;
        let facts = Facts { answer, transcript, usage, cost_usd, duration_ms, expected_output, ..Facts::default() };
        Self(Evidence::new(facts))
    }

    /// The record of a built-in grader of a suite in the cases layout.
    pub fn grade(&self, grader: &Grader) -> GraderRecord {
        self.grade_at(grader, Layout::Cases.default_threshold(), Path::new(""))
    }

    /// The record of a built-in grader of a case with this threshold. Commands run in the directory, and their files are in it.
    pub fn grade_at(&self, grader: &Grader, threshold: f64, directory: &Path) -> GraderRecord {
        let context = GradingContext {
            evidence: &self.0,
            suite: "standalone",
            threshold,
            registry: &Registry::default(),
            places: &SuiteLocation { package_root: directory.to_owned(), suite_dir: directory.to_owned() },
            environment: &CommandEnvironment::default(),
            trial_dir: directory,
            cassette: &TrialCassette::none(),
            redactor: &Redactor::default(),
            notes: &RefCell::default(),
            judges: &JudgeChoice::default(),
            accepted_answer: None,
            preprocessors: &[],
        };
        grade(grader, None, &context)
    }
}

/// How a trial or a conversation ends.
#[derive(Debug)]
pub struct EndedTrial {
    /// The outcome.
    pub outcome: Status,
    /// The score.
    pub score: Option<f64>,
    /// Whether it fails because of a guard.
    pub has_broken_guard: bool,
}

impl From<TrialScore> for EndedTrial {
    fn from(TrialScore { outcome, score, reason, .. }: TrialScore) -> Self {
        let has_broken_guard = reason.is_some_and(|reason| reason.code == ReasonCode::RequiredGraderFailed);
        Self { outcome, score, has_broken_guard }
    }
}

/// How a trial with these graders ends.
pub fn end_trial(layout: Layout, graders: &[GraderRecord], threshold: f64) -> EndedTrial {
    score_trial(layout, graders, threshold).into()
}

/// How a conversation ends with these graders of its turns that have any, and of the whole.
pub fn end_conversation(
    aggregation: Aggregation,
    turns: &[Vec<GraderRecord>],
    whole: Option<&[GraderRecord]>,
    threshold: f64,
) -> EndedTrial {
    let score = |graders: &[GraderRecord]| score_trial(Layout::Cases, graders, threshold);
    let turns: Vec<TrialScore> = turns.iter().map(|turn| score(turn)).collect();
    score_conversation(aggregation, &turns, whole.map(score), threshold).into()
}

/// Outcome and score of a case from those of its trials.
pub fn end_case(
    (kind, strategy): (SuiteKind, Option<Strategy>),
    threshold: f64,
    tolerated_errors: u32,
    trials: &[(Status, Option<f64>)],
) -> (Status, Option<f64>) {
    let points: Vec<TrialPoint> = trials.iter().map(|&(outcome, score)| TrialPoint { outcome, score }).collect();
    decide_case(CaseStandard { rule: case_rule(kind, strategy), threshold, tolerated_errors }, &points)
}
