//! What a trial records, in the format of cassettes: the calls of its agent, and the replies of models. An earlier recording may replace
//! them.

pub(crate) mod cassette_file;
pub(crate) mod recorded_input;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fmt, io};

use evalsuite_schema::Value;

use crate::model::cassette::{Asker, Cassette, CassetteError, LookUp, ReplyStore, Request};
use crate::model::recorder::Recorded;
use crate::platform::clock::timestamp;
use crate::platform::digest::{retain_entries, sha256_of_data};
use crate::record::cassette::cassette_file::RequestReplies;

pub(crate) use crate::record::cassette::cassette_file::{AgentCall, CassetteFile, cassette_directory, cassette_path};
pub(crate) use crate::record::cassette::recorded_input::AgentInput;
pub(crate) use crate::workspace::value_placeholders::Placeholders;

/// The cassette of one trial: the calls of its agent, and the replies of models.
#[derive(Debug, Clone)]
pub(crate) struct TrialCassette(Arc<SharedCassette>);

#[derive(Debug, Default)]
struct SharedCassette {
    /// The trial, without what is recorded of it.
    about: Option<CassetteFile>,
    placeholders: Placeholders,
    earlier: OnceLock<Box<dyn EarlierRecording>>,
    recorded: Mutex<RecordedSoFar>,
}

/// A recording that replaces calls of a trial, or that the trial overwrites.
pub(crate) trait EarlierRecording: fmt::Debug + Send + Sync {
    /// The call of the agent with this index; the error says that there is none.
    fn call(&self, index: usize) -> Result<AgentCall, String>;

    /// The reply to a request that the trial has made `times` before; `None` if it has to be sent. `earlier` is that of [`ReplyStore::look_up`].
    fn reply(&self, asker: Asker<'_>, request: &Request, times: usize, earlier: u32) -> Result<Option<Value>, LookUp>;

    /// All recorded requests.
    fn requests(&self) -> Vec<Value>;

    /// The file that is written while the trial runs, if it is. `has_calls`: whether the agent's first call has ended.
    fn replaced_by(&self, has_calls: bool) -> Option<&Path>;

    /// The bytes of the recording, if a trial that has made this number of calls and asked no model has taken all of it, and adds nothing.
    fn unchanged(&self, about: &CassetteFile, calls: usize, placeholders: &Placeholders) -> Option<&[u8]>;
}

/// The calls and replies of the trial so far, made or taken from the earlier recording.
#[derive(Debug, Default)]
struct RecordedSoFar {
    calls: Vec<AgentCall>,
    replies: BTreeMap<String, RequestReplies>,
    /// How often each request was made.
    asked: HashMap<String, usize>,
    /// Why the agent's changes to its workspace cannot be replayed.
    lost_workspace: Option<String>,
}

impl TrialCassette {
    /// A cassette that is not replayed. `about` is the trial, without what is recorded of it.
    pub(crate) fn new(about: CassetteFile, placeholders: Placeholders) -> Self {
        Self(Arc::new(SharedCassette { about: Some(about), placeholders, ..SharedCassette::default() }))
    }

    /// A cassette that neither has a recording nor makes one.
    pub(crate) fn none() -> Self {
        Self(Arc::default())
    }

    /// Sets the recording that replaces calls.
    pub(crate) fn set_earlier(&self, earlier: impl EarlierRecording + 'static) {
        self.0.earlier.set(Box::new(earlier)).expect("a cassette is opened once");
    }

    /// The cassette as agents and judges use it.
    pub(crate) fn replies(&self) -> Cassette {
        Cassette(Arc::<SharedCassette>::clone(&self.0))
    }

    /// The trial, without what is recorded of it; `None` if nothing is.
    pub(crate) fn about(&self) -> Option<&CassetteFile> {
        self.0.about.as_ref()
    }

    pub(crate) fn placeholders(&self) -> &Placeholders {
        &self.0.placeholders
    }

    /// Takes the next call of the agent from the earlier recording; the error says that there is none.
    pub(crate) fn next_call(&self) -> Result<AgentCall, String> {
        let mut recorded = self.0.recorded();
        let earlier = self.0.earlier.get().ok_or("there is no recording")?;
        let call = earlier.call(recorded.calls.len())?;
        recorded.calls.push(call.clone());
        Ok(call)
    }

    /// Adds a call of the agent.
    pub(crate) fn keep_call(&self, call: AgentCall) -> Result<(), CassetteError> {
        if self.0.file_of_trial(true).is_some()
            && let Some(reason) = &call.workspace.left_out
        {
            return Err(CassetteError::new(format!("the trial cannot be recorded: {reason}")));
        }
        let mut recorded = self.0.recorded();
        recorded.calls.push(call);
        self.0.write(&recorded)
    }

    /// Adds what the agent recorded after its last call had ended; whether there is anything.
    pub(crate) fn add_lost(&self, lost: BTreeSet<Recorded>) -> Result<bool, CassetteError> {
        let mut recorded = self.0.recorded();
        let Some(call) = recorded.calls.last_mut().filter(|_| !lost.is_empty()) else { return Ok(false) };
        call.set_lost(lost);
        self.0.write(&recorded).map(|()| true)
    }

    /// Sets why the agent's changes to its workspace cannot be replayed.
    pub(crate) fn lose_workspace(&self, reason: String) {
        self.0.recorded().lost_workspace = Some(reason);
    }

    /// Why graders cannot look at the workspace.
    pub(crate) fn lost_workspace(&self) -> Option<String> {
        self.0.recorded().lost_workspace.clone()
    }

    /// Whether a model was asked through this cassette.
    pub(crate) fn has_replies(&self) -> bool {
        !self.0.recorded().replies.is_empty()
    }

    /// Everything recorded so far, in the format of a cassette; `None` without a trial.
    pub(crate) fn evidence(&self) -> io::Result<Option<Vec<u8>>> {
        let (recorded, placeholders) = (self.0.recorded(), &self.0.placeholders);
        let earlier = self.0.earlier.get().zip(self.about()).filter(|_| recorded.replies.is_empty());
        let unchanged =
            earlier.and_then(|(earlier, about)| earlier.unchanged(about, recorded.calls.len(), placeholders));
        if let Some(unchanged) = unchanged {
            return Ok(Some(unchanged.to_vec()));
        }
        self.0.file(&recorded).map(|file| Ok(placeholders.hide_in(&file)?.into_bytes())).transpose()
    }
}

impl SharedCassette {
    fn file(&self, recorded: &RecordedSoFar) -> Option<CassetteFile> {
        let (calls, entries) = (recorded.calls.clone(), recorded.replies.clone());
        Some(CassetteFile { recorded_at: timestamp(), calls, entries, ..self.about.clone()? })
    }

    /// The file that is written while the trial runs.
    fn file_of_trial(&self, has_calls: bool) -> Option<&Path> {
        self.earlier.get()?.replaced_by(has_calls)
    }

    /// Writes that file, if there is one.
    fn write(&self, recorded: &RecordedSoFar) -> Result<(), CassetteError> {
        let Some(path) = self.file_of_trial(!recorded.calls.is_empty()) else { return Ok(()) };
        let Some(file) = self.file(recorded) else { return Ok(()) };
        file.write(path, &self.placeholders)
            .map_err(|error| CassetteError::new(format!("the recording {} cannot be written: {error}", path.display())))
    }

    /// What was recorded before a panic elsewhere is still valid.
    fn recorded(&self) -> MutexGuard<'_, RecordedSoFar> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedSoFar {
    fn add(&mut self, Request { key, request }: Request, reply: Value) {
        self.replies.entry(key).or_insert_with(|| RequestReplies { request, replies: Vec::new() }).replies.push(reply);
    }
}

impl ReplyStore for SharedCassette {
    fn recorded_requests(&self) -> Vec<Value> {
        self.earlier.get().map(|earlier| earlier.requests()).unwrap_or_default()
    }

    fn look_up(&self, asker: Asker<'_>, request: Value, earlier: u32) -> LookUp {
        let request = Request { key: request_key(&request, &self.placeholders), request };
        let mut so_far = self.recorded();
        let asked = so_far.asked.entry(request.key.clone()).or_default();
        let times = *asked;
        *asked += 1;
        let recorded = match (self.earlier.get(), asker) {
            (Some(recording), _) => recording.reply(asker, &request, times, earlier),
            (None, Asker::AbsentJudge(_)) => Err(LookUp::Missing("there is no recording".to_owned())),
            (None, _) => Ok(None),
        };
        match recorded {
            Ok(Some(reply)) => {
                so_far.add(request, reply.clone());
                LookUp::Found(reply)
            }
            Ok(None) => LookUp::Ask(request),
            Err(unusable) => unusable,
        }
    }

    fn keep(&self, request: Request, reply: Value) -> Result<(), CassetteError> {
        let mut so_far = self.recorded();
        so_far.add(request, reply);
        self.write(&so_far)
    }
}

/// Fields with the time of a request, which differs from run to run.
const TIME_FIELDS: [&str; 6] = ["timestamp", "created_at", "start_time", "end_time", "started_at", "ended_at"];

/// SHA-256 of a request with placeholders for values, independent of the order of keys and of times.
pub(crate) fn request_key(request: &Value, placeholders: &Placeholders) -> String {
    let hidden = placeholders.hide_in(request).and_then(|json| evalsuite_schema::json::from_str(&json));
    let mut counted = hidden.unwrap_or_else(|_| request.clone());
    retain_entries(&mut counted, &|field, value| !is_time(field, value));
    sha256_of_data(&counted)
}

fn is_time(field: &str, value: &Value) -> bool {
    TIME_FIELDS.contains(&field) && (value.is_string() || value.is_number() || value.is_null())
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn order_and_time_do_not_matter() {
        let key = |request| request_key(&request, &Placeholders::default());
        assert_eq!(
            key(json!({"model": "m", "messages": [{"role": "user", "timestamp": "2026-01-01T00:00:00Z"}]})),
            key(json!({"messages": [{"timestamp": 7, "role": "user"}], "model": "m"})),
        );
        assert_ne!(key(json!({"model": "m"})), key(json!({"model": "n"})));
        assert_ne!(key(json!(["a", "b"])), key(json!(["b", "a"])));
        assert_ne!(key(json!({"timestamp": {"a": 1}})), key(json!({"timestamp": {"a": 2}})), "not a time");
    }
}
