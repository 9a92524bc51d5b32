//! What graders found, as events `gen_ai.evaluation.result`.

use evalsuite_records::record::{GraderRecord, GraderState, ReasonCode, Status};
use evalsuite_schema::json::{Value, json};

use super::spans::{identity, label};
use super::{Trace, attributes, nanoseconds};

/// Name of the result of the trial.
const TRIAL: &str = "evalsuite";
/// Severities of log records.
const INFO: u32 = 9;
const ERROR: u32 = 17;

/// The result of the trial, then those of its graders.
pub(super) fn results(trace: &Trace<'_>) -> Vec<Value> {
    let record = &trace.trial.record;
    let mut results = vec![trial_result(trace)];
    results.extend(record.graders.iter().zip(&trace.timeline.graders).map(|(grader, graded)| {
        let failed = grader.state == GraderState::Error;
        let code = grader.code.map_or("_OTHER", ReasonCode::as_str);
        let fields = json!({
            "gen_ai.evaluation.name": grader.name,
            "gen_ai.evaluation.score.value": grader.value,
            "gen_ai.evaluation.score.label": label(grader),
            "gen_ai.evaluation.explanation": explanation(grader),
            "error.type": failed.then_some(code),
        });
        let mut all = identity(record);
        all["evalsuite.threshold"] = grader.pass_mark.into();
        all["evalsuite.location"] = grader.location.to_string().into();
        event(trace, fields, all, graded.end, failed)
    }));
    results
}

fn trial_result(trace: &Trace<'_>) -> Value {
    let record = &trace.trial.record;
    let failed = record.outcome == Status::Error;
    let label = match record.outcome {
        Status::Passed => "pass",
        Status::Failed => "fail",
        Status::Error => "error",
        Status::Skipped => "skipped",
    };
    let fields = json!({
        "gen_ai.evaluation.name": TRIAL,
        "gen_ai.evaluation.score.value": record.score,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": record.reason.as_ref().map(|reason| reason.message.as_str()),
        "error.type": record.reason.as_ref().filter(|_| failed).map(|reason| reason.code.as_str()),
    });
    event(trace, fields, identity(record), trace.timeline.trial.end, failed)
}

fn event(trace: &Trace<'_>, fields: Value, identity: Value, at: u64, failed: bool) -> Value {
    let mut all = fields;
    if let (Some(all), Value::Object(identity)) = (all.as_object_mut(), identity) {
        all.extend(identity);
    }
    json!({
        "timeUnixNano": nanoseconds(at),
        "observedTimeUnixNano": nanoseconds(at),
        "severityNumber": if failed { ERROR } else { INFO },
        "eventName": "gen_ai.evaluation.result",
        "attributes": attributes(all),
        "traceId": trace.id,
        "spanId": trace.evaluated_span(),
    })
}

/// What went wrong, else what the grader says, else its first failed assertion.
fn explanation(grader: &GraderRecord) -> Option<&str> {
    let assertion = grader.first_failed().map(|assertion| assertion.text.as_str());
    grader.error.as_deref().or(grader.rationale.as_deref()).or(assertion)
}
