//! `trajectory.json`: the agent's work in the Agent Trajectory Interchange Format.

use std::io;

use crate::grade::scoring::TrialScore;
use crate::model::messages::answer;
use crate::platform::files::RedactedFiles;
use crate::record::trajectory::{self, DocumentParts, TrialResult};
use crate::run::trial::graded::TrialEnd;
use crate::run::trial::trial_attempt::TrialAttempt;

/// Name of the file in the trial's directory.
const FILE: &str = "trajectory.json";

/// Writes the trajectory of a trial whose agent was called; gives the name of the file.
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
    trial.files().write_json(FILE, &document, &plan.redactor)?;
    Ok(Some(FILE.to_owned()))
}
