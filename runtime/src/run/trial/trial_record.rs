//! The record of a trial: built once, from the results of its phases.

use std::io;
use std::path::Path;
use std::time::Duration;

use evalsuite_records::record::{GraderRecord, Status, Timings, TrialRecord, Usage, WorkspaceRecord};
use evalsuite_schema::Value;

use crate::grade::scoring::TrialScore;
use crate::model::messages::answer;
use crate::platform::clock::timestamp;
use crate::platform::files::RedactedFiles;
use crate::platform::redaction::Redactor;
use crate::record::run_directory::layout::TRIAL_RECORD;
use crate::record::trajectory::{self, DocumentParts, TrialResult};
use crate::run::trial::captured::AgentReport;
use crate::run::trial::graded::TrialEnd;
use crate::run::trial::trial_attempt::{LogEntries, TrialAttempt, whole_millis};
use crate::workspace::{self, WorkspaceBase};

/// Name of the file with the agent's work in the Agent Trajectory Interchange Format.
const TRAJECTORY: &str = "trajectory.json";

/// Time in which the workspace of a trial is removed.
const REMOVAL_LIMIT: Duration = Duration::from_secs(10);

/// Removes the workspace of a trial that needs no attention, and writes the trajectory and the record.
pub(crate) fn write_record(trial: TrialAttempt<'_>, end: TrialEnd, score: TrialScore) -> io::Result<TrialRecord> {
    let total_ms = whole_millis(trial.clock.elapsed());
    let ended_at = timestamp();
    let trajectory = write_trajectory(&trial, &end, &score)?;
    let (agent, workspace, graders, turns) = match end {
        TrialEnd::Unprepared(_) => (AgentReport::default(), None, Vec::new(), None),
        TrialEnd::NotCalled(_) => (AgentReport::default(), Some(trial.workspace_record()), Vec::new(), None),
        TrialEnd::NotGraded(found) => (found.report, Some(found.workspace), Vec::new(), found.turns),
        TrialEnd::Graded(found, graded) => (found.report, Some(found.workspace), graded.graders, graded.turns),
    };
    let workspace = workspace.map(|workspace| without_needless_workspace(&trial, workspace, score.outcome));
    let judges = {
        let of_turns = turns.iter().flatten().flat_map(|turn| &turn.graders);
        of_turns.chain(&graders).fold(JudgeTotals::default(), JudgeTotals::add)
    };
    let files = trial.files();
    let TrialAttempt { plan, index, number, started_at, log, .. } = trial;
    let LogEntries { notes, hooks, mut timings } = log.into_entries();
    timings.total_ms = total_ms;

    let mut record = TrialRecord::of_case(plan.case_record());
    record.trial = index;
    record.trials_planned = plan.planned;
    record.attempt = number;
    record.mode = plan.settings.mode;
    record.regraded_run = plan.regraded.as_ref().and_then(|found| Some(found.as_ref().ok()?.run_id.clone()));
    record.outcome = score.outcome;
    record.reason = score.reason;
    record.score = score.score;
    record.started_at = started_at;
    record.ended_at = ended_at;
    record.timings = timings;
    record.duration_ms = agent.duration_ms;
    record.usage = agent.usage;
    record.judge_usage = judges.usage;
    record.cost_usd = agent.cost_usd;
    record.judge_cost_usd = judges.cost_usd;
    record.model = agent.model;
    if let Some((answer, is_truncated)) = agent.answer {
        (record.answer, record.answer_truncated) = (Some(answer), is_truncated);
    }
    record.state = agent.state;
    record.agent_metadata = agent.metadata;
    record.graders = graders;
    record.turns = turns;
    record.workspace = workspace;
    record.hooks = hooks;
    record.notes = notes;
    record.trajectory = trajectory;
    let outcomes = plan.dependencies.results.iter().map(|(id, dependency)| (id.clone(), dependency.status()));
    record.dependencies = outcomes.collect();
    record.metadata = plan.source.case.metadata.clone();
    record.tags = plan.source.tags();
    record.category = plan.source.data.category.clone();
    record.conversation_id = plan.source.case.conversation_id.clone();
    record.failure_bucket = plan.source.case.metadata.get("failure_bucket").and_then(Value::as_str).map(str::to_owned);
    record.versions = plan.source.versions();

    plan.settings.echo.say(|| shown(&record));
    let record = plan.redactor.redacted(record)?;
    files.write_record(TRIAL_RECORD, &record, &Redactor::default())?;
    Ok(record)
}

/// Writes the trajectory of a trial whose agent was called; gives the name of the file.
fn write_trajectory(trial: &TrialAttempt<'_>, end: &TrialEnd, score: &TrialScore) -> io::Result<Option<String>> {
    let TrialAttempt { plan, directory, .. } = trial;
    let (transcript, text, tools, turns, report, graders) = match end {
        TrialEnd::Unprepared(_) | TrialEnd::NotCalled(_) => return Ok(None),
        TrialEnd::NotGraded(found) => {
            let transcript = found.recording.transcript();
            let reported = found.recording.outcome.text.clone();
            let text = reported.unwrap_or_else(|| answer(transcript.unwrap_or_default()));
            (transcript, text, &found.recording.captured.tools, [].as_slice(), &found.report, [].as_slice())
        }
        TrialEnd::Graded(found, graded) => {
            let evidence = &found.evidence;
            let turns = evidence.facts().turns.as_slice();
            let text = evidence.answer().to_owned();
            (evidence.transcript(), text, &found.tools, turns, &found.report, graded.graders.as_slice())
        }
    };
    let trial_name = directory.file_name().unwrap_or_default().to_string_lossy();
    let document = trajectory::document(
        &DocumentParts {
            session: format!("{}/{}", plan.run.run_id, plan.records.case_key),
            trial: &trial_name,
            agent: &plan.tested.agent_name,
            agent_version: plan.source.suite.package_version,
            model: report.model.as_deref(),
            tools,
            transcript,
            answer: &text,
            turns,
            usage: report.usage,
            cost_usd: report.cost_usd,
            result: TrialResult { outcome: score.outcome, score: score.score, reason: score.reason.as_ref(), graders },
        },
        &plan.redactor,
    );
    trial.files().write_json(TRAJECTORY, &document, &plan.redactor)?;
    Ok(Some(TRAJECTORY.to_owned()))
}

/// How a trial ended and how long its steps took, as `EVALSUITE_VERBOSE` shows it.
fn shown(record: &TrialRecord) -> String {
    let Timings { setup_ms, agent_ms, capture_ms, grading_ms, teardown_ms, total_ms, .. } = record.timings;
    format!(
        "{} trial {}: {}; setup {setup_ms} ms, agent {agent_ms} ms, capture {capture_ms} ms, grading {grading_ms} ms, \
         teardown {teardown_ms} ms, total {total_ms} ms",
        record.test_name,
        record.trial,
        record.outcome.as_str(),
    )
}

/// Tokens and cost of all calls of judges; `None` where no call reported any.
#[derive(Default)]
struct JudgeTotals {
    usage: Option<Usage>,
    cost_usd: Option<f64>,
}

impl JudgeTotals {
    fn add(mut self, grader: &GraderRecord) -> Self {
        if let Some(judge) = &grader.judge {
            if let Some(usage) = judge.usage {
                *self.usage.get_or_insert_default() += usage;
            }
            if let Some(cost) = judge.cost_usd {
                *self.cost_usd.get_or_insert_default() += cost;
            }
        }
        grader.members.iter().fold(self, Self::add)
    }
}

/// Removes the workspace, unless people may want to look at it or other trials use it. What takes longer stays until the run is removed.
fn without_needless_workspace(
    trial: &TrialAttempt<'_>,
    mut workspace: WorkspaceRecord,
    outcome: Status,
) -> WorkspaceRecord {
    let keep = trial.plan.settings.keep_workspaces;
    if matches!(trial.base, WorkspaceBase::Shared { .. }) {
        // It is removed with the bases of the run.
        workspace.kept = keep;
    } else if !keep && matches!(outcome, Status::Passed | Status::Skipped) {
        match workspace::remove_directory_within(Path::new(&workspace.path), REMOVAL_LIMIT) {
            Ok(()) => workspace.kept = false,
            Err(error) => trial.log.note("workspace_not_removed", format!("{}: {error}", workspace.path)),
        }
    }
    workspace
}
