//! Grading without a run, for property tests and benchmarks.

use std::{cell::RefCell, path::PathBuf};

use evalsuite_schema::{
    Grader, Layout, Message,
    record::{GraderRecord, Usage},
};

use crate::{
    grade::{Context, Judging, grade},
    judge::{Choice, JudgeOptions},
    model::{
        command::CommandEnvironment,
        evals::Registry,
        evidence::{Evidence, Facts},
        judge::Judges,
        suite_location::SuiteLocation,
    },
    platform::redaction::Redactor,
    record::cassette::TrialCassette,
};

/// What an agent left behind.
#[derive(Debug, Default)]
pub struct Given {
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
pub struct Direct(Evidence<'static>);

impl Direct {
    /// The evidence of what was left behind.
    pub fn new(given: Given) -> Self {
        let Given { answer, transcript, usage, cost_usd, duration_ms, expected_output } = given;
        let facts = Facts { answer, transcript, usage, cost_usd, duration_ms, expected_output, ..Facts::default() };
        Self(Evidence::new(facts))
    }

    /// What a grader of a suite in the cases layout records. Graders written in Rust are not known here.
    pub fn grade(&self, grader: &Grader) -> GraderRecord {
        let nowhere = PathBuf::new();
        let context = Context {
            evidence: &self.0,
            suite: "direct",
            layout: Layout::Cases,
            threshold: 0.8,
            registry: &Registry::default(),
            places: &SuiteLocation { package_root: nowhere.clone(), suite_dir: nowhere.clone() },
            environment: &CommandEnvironment::default(),
            trial_dir: &nowhere,
            cassette: &TrialCassette::none(),
            redactor: &Redactor::default(),
            notes: &RefCell::default(),
            judging: Judging {
                choice: Choice {
                    judges: &Judges::default(),
                    options: &JudgeOptions::default(),
                    is_recorded: false,
                    commands: None,
                },
                preprocessors: &[],
            },
        };
        grade(grader, None, &context)
    }
}
