//! One call of a judge by a grader, or the recorded reply of the cassette.

use std::path::PathBuf;

use evalsuite_records::record::ReasonCode;
use evalsuite_schema::json::{FromJson, Value, json, to_value};

use crate::judge::command_judge::JudgeSeal;
use crate::judge::judge_choice::ChosenJudge;
use crate::judge::judge_options::JudgeOptions;
use crate::model::cassette::{Asker, Cassette, LookUp};
use crate::model::command::CommandEnvironment;
use crate::model::judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest};
use crate::platform::isolated_call::Ended;
use crate::record::cassette::diff;
use crate::record::cassette::recorded_replies::ASKED_MODEL;
use crate::record::grader_files::GraderFiles;

/// A grader of a trial that asks judges.
pub(crate) struct AskingGrader {
    /// Name of the grader, below the names of the composites around it.
    pub(crate) path: String,
    pub(crate) case_id: String,
    /// Index of the trial.
    pub(crate) trial: u32,
    /// Where the files of the grader go.
    pub(crate) directory: PathBuf,
    pub(crate) files: GraderFiles,
    pub(crate) cassette: Cassette,
    pub(crate) workspace: PathBuf,
    pub(crate) environment: CommandEnvironment,
    pub(crate) seal: JudgeSeal,
}

impl AskingGrader {
    /// Asks a judge, or takes its reply from the cassette. Every call of every judge goes through here. `options` apply where the
    /// request sets nothing.
    pub(crate) fn ask(
        &self,
        judge: &ChosenJudge,
        mut request: JudgeRequest,
        options: &JudgeOptions,
    ) -> Result<JudgeReply, JudgeError> {
        request.case_id.clone_from(&self.case_id);
        request.trial = self.trial;
        request.temperature = request.temperature.or(options.temperature);
        request.limit = request.limit.or(options.limit);
        let mut key = request.to_key();
        // The requests of graders are told apart.
        key["grader"] = json!(self.path);
        // Replies of the default judge can be replayed without it; a named judge is recorded under its name.
        key["judge"] = json!(judge.is_named.then_some(&judge.name));
        // Without a name, the judge of the environment goes before the others.
        let model = options.endpoint.as_ref().filter(|_| !judge.is_named).map(|endpoint| endpoint.model.as_str());
        let model = judge.command.as_deref().or(model);
        let asker = if judge.is_absent { Asker::AbsentJudge(judge.command.as_deref()) } else { Asker::Judge(model) };
        match self.cassette.0.look_up(asker, key.clone()) {
            LookUp::Found(reply) => JudgeReply::from_json(reply)
                .map_err(|error| JudgeError::permanent(format!("the reply in the cassette cannot be read: {error}"))),
            LookUp::Ask(recorded) => {
                let reply = call(&judge.judge, request)?;
                let mut kept = to_value(&reply)
                    .map_err(|error| JudgeError::permanent(format!("the reply cannot be recorded: {error}")))?;
                if let Some(model) = model {
                    kept[ASKED_MODEL] = json!(model);
                }
                let is_kept = self.cassette.0.keep(recorded, kept);
                is_kept.map(|()| reply).map_err(|error| JudgeError::permanent(error.to_string()))
            }
            LookUp::OtherModel(message) => Err(JudgeError::permanent(message).with_code(ReasonCode::RecordingStale)),
            LookUp::Missing(message) => Err(match changed(&key, &self.cassette.0.recorded_requests()) {
                Some(what) => JudgeError::permanent(format!("the recording is stale: {what}\n{message}"))
                    .with_code(ReasonCode::RecordingStale),
                None => JudgeError::permanent(message).with_code(ReasonCode::RecordingMissing),
            }),
        }
    }
}

/// What differs between a request and the recorded one; `None` if no request of the grader was recorded.
fn changed(now: &Value, recorded: &[Value]) -> Option<String> {
    let same = |key: &str, then: &&Value| then.get(key) == now.get(key);
    let of_grader = || recorded.iter().filter(|then| same("grader", then));
    let then = of_grader().find(|then| same("judge", then)).or_else(|| of_grader().next())?;
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let part = |key: &str| (then.get(key).unwrap_or(&Value::Null), now.get(key).unwrap_or(&Value::Null));
    let named = [
        ("user", "the prompt changed"),
        ("system", "the system prompt changed"),
        ("model", "the model changed"),
        ("judge", "the judge changed"),
        ("temperature", "the temperature changed"),
        ("config", "`config` changed"),
        ("images", "the images changed"),
        ("response_schema", "the shape of replies changed"),
    ];
    let differing = named.iter().find(|(key, _)| part(key).0 != part(key).1);
    let (key, what) = differing?;
    let (then, now) = part(key);
    Some(format!("{what}{}", diff(&text(then), &text(now))))
}

/// Asks a judge once, within the request's limit.
fn call(judge: &BoundJudge, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
    let limit = request.limit();
    let reply = match judge.0.call_within(limit, move |judge, cancel| judge(request, cancel)) {
        Ok(Ended::Returned(result)) => result?,
        Ok(Ended::Panicked(message)) => return Err(JudgeError::permanent(format!("the judge panicked: {message}"))),
        Ok(Ended::TimedOut) => {
            return Err(JudgeError::new(format!("the judge did not reply within {} s", limit.as_secs_f64())));
        }
        Err(error) => {
            return Err(JudgeError::permanent(format!("the judge's thread cannot be started: {error}")));
        }
    };
    match reply.defect() {
        None => Ok(reply),
        Some(defect) => Err(JudgeError::permanent(defect)),
    }
}
