//! `trajectory.json`: the agent's work in the Agent Trajectory Interchange Format.

use std::io;

use evalsuite_schema::record::{CaseOutcome, GraderRecord, Verdict};
use serde_json::{Value, json};

use crate::grade::scoring::TrialScore;
use crate::model::messages::answer;
use crate::record::trajectory;
use crate::record::trajectory::DocumentParts;
use crate::run::trial::trial_attempt::TrialAttempt;
use crate::run::trial::trial_end::TrialEnd;

/// Name of the file in the trial's directory.
const FILE: &str = "trajectory.json";

/// Writes the trajectory of a trial whose agent was called; gives the name of the file.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn write_trajectory(
    trial: &TrialAttempt<'_>,
    end: &TrialEnd,
    score: &TrialScore,
) -> io::Result<Option<String>> {
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
    let document = trajectory::document(
        &DocumentParts {
            session: format!("{}/{}", plan.run.run_id, plan.case_key),
            trial: &directory.file_name().unwrap_or_default().to_string_lossy(),
            agent: &plan.agent_name,
            agent_version: plan.suite.package_version,
            model: report.model.as_deref(),
            tools,
            transcript,
            answer: &text,
            turns,
            usage: report.usage,
            cost_usd: report.cost_usd,
            verdict: verdict(score, graders),
            reward: reward(score, graders),
        },
        &plan.redactor,
    );
    trial.files().write_json(FILE, &document, &plan.redactor)?;
    Ok(Some(FILE.to_owned()))
}

/// The results of the graders, for those who read only the trajectory.
fn verdict(score: &TrialScore, graders: &[GraderRecord]) -> Value {
    let graders: Vec<Value> = graders
        .iter()
        .map(|grader| {
            json!({"name": grader.name, "state": grader.state, "verdict": grader.verdict, "value": grader.value})
        })
        .collect();
    json!({"outcome": score.outcome, "score": score.score, "reason": score.reason, "graders": graders})
}

/// The same as `reward`, by which other tools know whether a trajectory is a good one.
fn reward(score: &TrialScore, graders: &[GraderRecord]) -> Option<Value> {
    if !matches!(score.outcome, CaseOutcome::Passed | CaseOutcome::Failed) {
        return None;
    }
    let decided = graders.iter().filter(|grader| grader.verdict.is_some());
    let scorers: Vec<Value> = decided
        .map(|grader| {
            let pass = grader.verdict.is_some_and(Verdict::is_pass);
            json!({"name": grader.name, "value": grader.value, "pass": pass, "reason": grader.rationale})
        })
        .collect();
    Some(json!({"pass": score.outcome == CaseOutcome::Passed, "score": score.score, "scorers": scorers}))
}
