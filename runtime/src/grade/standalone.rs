//! Built-in graders without a run, for property tests and benchmarks.

use std::cell::RefCell;
use std::path::PathBuf;

use evalsuite_records::record::{GraderRecord, Usage};
use evalsuite_schema::{Grader, Layout, Message};

use crate::grade::grade;
use crate::grade::grading_context::GradingContext;
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
        let no_directory = PathBuf::new();
        let context = GradingContext {
            evidence: &self.0,
            suite: "standalone",
            threshold: Layout::Cases.default_threshold(),
            registry: &Registry::default(),
            places: &SuiteLocation { package_root: no_directory.clone(), suite_dir: no_directory.clone() },
            environment: &CommandEnvironment::default(),
            trial_dir: &no_directory,
            cassette: &TrialCassette::none(),
            redactor: &Redactor::default(),
            notes: &RefCell::default(),
            judges: &JudgeChoice::default(),
            accepted_answer: &|| Ok(None),
            preprocessors: &[],
        };
        grade(grader, None, &context)
    }
}
