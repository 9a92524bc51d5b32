//! Built-in graders, one file per family, and what happens to the result of any grader.

pub(crate) mod code_grader;
pub(crate) mod composite;
pub(crate) mod direct;
pub(crate) mod edit_distance;
pub(crate) mod field_accuracy;
pub(crate) mod is_json;
pub(crate) mod json_equality;
#[cfg(feature = "json-schema")]
pub(crate) mod json_schema;
pub(crate) mod judge;
pub(crate) mod kept;
pub(crate) mod metrics;
pub(crate) mod number;
pub(crate) mod regex;
pub(crate) mod scoring;
pub(crate) mod settle;
pub(crate) mod similar;
pub(crate) mod skill_trigger;
pub(crate) mod text;
pub(crate) mod tool_trajectory;

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use evalsuite_schema::{
    Grader, GraderConfig, Layout, Object,
    record::{CommandRecord, GraderKind, GraderRecord, JudgeRecord, Note, ReasonCode},
};

use crate::{
    grade::{kept::KeptFiles, text::Case},
    model::{command::CommandEnvironment, evals::Registry, evidence::Evidence, score::Score, suite_location::Places},
    platform::{
        cancel::Cancel,
        digest::file_key,
        excerpt::{escaped, middle_out},
        isolated_call::{Ended, call_within},
        process::Captured,
        redaction::Redactor,
    },
    record::cassette::TrialCassette,
};

pub(crate) use crate::grade::judge::{GraderInquiry, Judging};

/// Limit of one call of a grader written in Rust.
const RUST_GRADER_LIMIT: Duration = Duration::from_secs(300);

/// Why a grader of type `json-schema` cannot work, where the feature of this name is off.
pub(crate) const NO_JSON_SCHEMA: &str = "`evalsuite` was built without its feature `json-schema`\n\
     help: write `features = [\"json-schema\"]` at the dependency in Cargo.toml";

/// What graders need beside their settings.
pub(crate) struct Context<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) suite: &'a str,
    pub(crate) layout: Layout,
    /// Effective threshold of the trial.
    pub(crate) threshold: f64,
    pub(crate) registry: &'a Registry,
    pub(crate) places: &'a Places,
    pub(crate) environment: &'a CommandEnvironment,
    pub(crate) trial_dir: &'a Path,
    /// Replies of judges go through it.
    pub(crate) cassette: &'a TrialCassette,
    pub(crate) redactor: &'a Redactor,
    pub(crate) notes: &'a RefCell<Vec<Note>>,
    pub(crate) judging: Judging<'a>,
}

impl Context<'_> {
    /// Directory for the files of a grader; it is not made before there is one.
    fn grader_directory(&self, name: &str) -> PathBuf {
        self.trial_dir.join("graders").join(file_key(name))
    }

    /// Keeps the output of a command beside the record; returns its path relative to the trial's directory.
    fn keep_output(&self, directory: &Path, file: &str, output: &Captured) -> Option<String> {
        if output.bytes.is_empty() {
            return None;
        }
        let kept = self.keep_text(directory, file, &output.text())?;
        if output.truncated {
            let message = format!("{kept}: only the first {} bytes are kept", output.bytes.len());
            self.notes.borrow_mut().push(Note::new("output_truncated", message));
        }
        Some(kept)
    }

    /// Keeps a text beside the record; returns its path relative to the trial's directory.
    fn keep_text(&self, directory: &Path, file: &str, text: &str) -> Option<String> {
        let kept = self.kept_files().keep(directory, file, text);
        kept.map_err(|note| self.notes.borrow_mut().push(note)).ok()
    }

    /// Where the files of graders go.
    fn kept_files(&self) -> KeptFiles {
        KeptFiles::new(self.trial_dir, self.redactor)
    }
}

/// What a grader says, before pass mark and negation.
#[derive(Debug)]
pub(crate) struct Graded {
    score: Score,
    /// The verdict is `fail` whatever the value.
    forced_fail: bool,
    /// Who decided, if not code.
    kind: Option<GraderKind>,
    /// The grader's own pass mark.
    pass_mark: Option<f64>,
    command: Option<CommandRecord>,
    members: Vec<GraderRecord>,
    /// What a judge was asked.
    judge: Option<JudgeRecord>,
    /// What happened where a judge broke the grader.
    code: Option<ReasonCode>,
}

impl From<Score> for Graded {
    fn from(score: Score) -> Self {
        Self {
            score,
            forced_fail: false,
            kind: None,
            pass_mark: None,
            command: None,
            members: Vec::new(),
            judge: None,
            code: None,
        }
    }
}

/// Runs one grader and settles its result. `folder` keeps its files apart from those of graders with its name.
pub(crate) fn grade(grader: &Grader, folder: Option<&str>, context: &Context<'_>) -> GraderRecord {
    match folder {
        None => grade_as(&grader.name, grader, context),
        Some(folder) => grade_as(&format!("{folder}/{}", grader.name), grader, context),
    }
}

/// `path` tells the grader's files apart from those of others: its name, below the names of the composites around it.
fn grade_as(path: &str, grader: &Grader, context: &Context<'_>) -> GraderRecord {
    let started = Instant::now();
    let mut record = match (&grader.config, judge::Asked::by(grader)) {
        (_, Some(asked)) => judge::grade(path, grader, &asked, context),
        (GraderConfig::Composite(config), None) => composite::grade(path, grader, config, context),
        _ => settle::settle(grader, run(path, grader, context), context.layout),
    };
    record.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    record
}

fn run(path: &str, grader: &Grader, context: &Context<'_>) -> Graded {
    let answer = context.evidence.answer();
    if looks_at_workspace(&grader.config)
        && let Some(reason) = context.cassette.lost_workspace()
    {
        return Score::error(reason).into();
    }
    match &grader.config {
        GraderConfig::Contains(config) => text::contains(config, answer, Case::Matters).into(),
        GraderConfig::ContainsAny(config) => text::contains_any(config, answer, Case::Matters).into(),
        GraderConfig::ContainsAll(config) => text::contains_all(config, answer, Case::Matters).into(),
        GraderConfig::Icontains(config) => text::contains(config, answer, Case::Ignored).into(),
        GraderConfig::IcontainsAny(config) => text::contains_any(config, answer, Case::Ignored).into(),
        GraderConfig::IcontainsAll(config) => text::contains_all(config, answer, Case::Ignored).into(),
        GraderConfig::StartsWith(config) => text::starts_with(config, answer).into(),
        GraderConfig::EndsWith(config) => text::ends_with(config, answer).into(),
        GraderConfig::Equals(config) => text::equals(config, answer).into(),
        GraderConfig::Regex(config) => regex::grade(config, answer).into(),
        GraderConfig::Similar(config) => {
            similar::grade(config, context.evidence, settle::pass_mark(grader, None, context.layout)).into()
        }
        GraderConfig::IsJson => is_json::grade(answer).into(),
        #[cfg(feature = "json-schema")]
        GraderConfig::JsonSchema(config) => json_schema::grade(config, answer).into(),
        #[cfg(not(feature = "json-schema"))]
        GraderConfig::JsonSchema(_) => Score::error(NO_JSON_SCHEMA).into(),
        GraderConfig::Latency(config) => metrics::latency(config, context.evidence).into(),
        GraderConfig::Cost(config) => metrics::cost(config, context.evidence).into(),
        GraderConfig::TokenUsage(config) => metrics::token_usage(config, context.evidence).into(),
        GraderConfig::ExecutionMetrics(config) => metrics::execution_metrics(config, context.evidence).into(),
        GraderConfig::ToolTrajectory(config) => tool_trajectory::grade(config, context.evidence),
        GraderConfig::SkillTrigger(config) => skill_trigger::grade(config, context.evidence).into(),
        GraderConfig::FieldAccuracy(config) => field_accuracy::grade(config, context.evidence).into(),
        GraderConfig::CodeGrader(config) => code_grader::grade(path, config, context),
        GraderConfig::User { grader, config } => user(path, grader, config, context),
        other => Score::error(format!("graders of type `{}` are not supported yet", other.type_name())).into(),
    }
}

/// Whether a grader may look at the files an agent left.
fn looks_at_workspace(config: &GraderConfig) -> bool {
    use GraderConfig::{CodeGrader, LlmGrader, Rubrics, User};
    matches!(config, CodeGrader(_) | LlmGrader(_) | Rubrics(_) | User { .. })
}

fn user(path: &str, name: &str, config: &Object, context: &Context<'_>) -> Graded {
    let Some(grader) = context.registry.grader(name) else {
        return Score::error(format!("no grader named `{name}` is registered")).into();
    };
    let inquiry = Arc::new(GraderInquiry::new(path, context));
    let (function, evidence, config) = (grader.clone(), context.evidence.detached(inquiry.clone()), config.clone());
    let cancel = Cancel::default();
    let inner = cancel.clone();
    let ended = call_within(
        RUST_GRADER_LIMIT,
        &cancel,
        grader.is_cooperative(),
        || (),
        move || function.grade(&config, &evidence, &inner),
    );
    let score = match ended {
        Ok(Ended::Returned(score)) => score,
        Ok(Ended::Panicked(message)) => Score::error(format!("the grader panicked: {message}")),
        Ok(Ended::TimedOut) => Score::error(format!("the grader did not end within {} s", RUST_GRADER_LIMIT.as_secs())),
        Err(error) => Score::error(format!("the grader's thread cannot be started: {error}")),
    };
    let graded = Graded { kind: Some(grader.kind), pass_mark: grader.pass_mark, ..score.into() };
    inquiry.conclude(graded, context)
}

/// Characters of a value shown in an assertion.
const SHOWN: usize = 200;
/// Characters of a value that is part of an assertion's text.
const SHOWN_IN_TEXT: usize = 10_000;

/// A value as assertions show what was expected and what was found: its beginning and its end, on one line.
fn shorten(text: &str) -> String {
    escaped(&middle_out(text, SHOWN), &[])
}

/// A value as it stands in the text of an assertion, where line breaks are kept as they are written.
fn in_text(text: &str) -> String {
    escaped(&middle_out(text, SHOWN_IN_TEXT), &['\n', '\r', '\t'])
}
