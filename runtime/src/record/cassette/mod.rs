//! Cassettes: recorded calls of agents and replies of models by request, to be replayed without calling either.

pub(crate) mod cassette_file;
pub(crate) mod recorded_input;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evalsuite_records::record::{Mode, Reason, ReasonCode, Stage};
use evalsuite_schema::Value;

use crate::model::cassette::{Asker, Cassette, CassetteError, LookUp, ReplyStore, Request};
use crate::platform::clock::timestamp;
use crate::platform::digest::{retain_entries, sha256_of_data};
use crate::platform::files::remove_abandoned;
use crate::record::cassette::cassette_file::{RequestReplies, StoredCassette};

pub(crate) use crate::record::cassette::cassette_file::{AgentCall, CassetteFile, cassette_directory, cassette_path};
pub(crate) use crate::record::cassette::recorded_input::{AgentInput, diff};
pub(crate) use crate::workspace::value_placeholders::Placeholders;

/// The cassette of one trial: the calls of its agent, and the replies of models.
#[derive(Debug, Clone)]
pub(crate) struct TrialCassette(Arc<SharedCassette>);

#[derive(Debug, Default)]
pub(crate) struct SharedCassette {
    mode: Mode,
    /// The file that is written while the trial runs; `None` unless the mode is record.
    path: Option<PathBuf>,
    placeholders: Placeholders,
    /// The trial, without what is recorded of it.
    about: Option<CassetteFile>,
    /// How to record the trial, for messages.
    hint: String,
    /// The recording that existed before the trial.
    earlier: Option<StoredCassette>,
    recorded: Mutex<RecordedSoFar>,
}

/// The calls and replies of the trial so far.
#[derive(Debug, Default)]
struct RecordedSoFar {
    /// Number of calls that were replayed from the earlier recording.
    replayed: usize,
    /// Calls that were made.
    calls: Vec<AgentCall>,
    replies: RecordedReplies,
    /// Why the agent's changes to its workspace cannot be replayed.
    lost_workspace: Option<String>,
}

/// How the cassette of a trial is opened.
#[derive(Debug)]
pub(crate) struct CassetteOptions {
    pub(crate) mode: Mode,
    /// The file of the recording; `None` in a live run, unless it replays the replies of absent judges.
    pub(crate) path: Option<PathBuf>,
    pub(crate) placeholders: Placeholders,
    /// The trial, without what is recorded of it.
    pub(crate) about: CassetteFile,
    /// How to record the trial, for messages.
    pub(crate) hint: String,
    /// Whether the trial calls an agent; a recording without its calls is incomplete.
    pub(crate) has_agent: bool,
}

impl TrialCassette {
    /// The cassette as agents and judges use it.
    pub(crate) fn replies(&self) -> Cassette {
        Cassette(Arc::<SharedCassette>::clone(&self.0))
    }

    /// A cassette that neither has a recording nor makes one.
    pub(crate) fn none() -> Self {
        Self(Arc::default())
    }

    /// Opens the cassette of a trial. The error is why the recording cannot be replayed.
    pub(crate) fn open(options: CassetteOptions) -> Result<Self, Reason> {
        let unusable = |code, message: String| Reason::new(Stage::Setup, code, message);
        let CassetteOptions { mode, path, placeholders, about, hint, has_agent } = options;
        let earlier = match path.as_ref().map_or(Ok(None), |path| CassetteFile::read(path, &placeholders)) {
            Ok(earlier) => earlier,
            // A file that is not a recording is replaced, as its error message promises.
            Err(error) if mode == Mode::Record && error.kind() == io::ErrorKind::InvalidData => None,
            Err(error) => {
                let is_invalid = error.kind() == io::ErrorKind::InvalidData;
                let message = if is_invalid { format!("{error}; {hint}") } else { error.to_string() };
                return Err(unusable(ReasonCode::RecordingMissing, message));
            }
        };
        // As it is read from a recording: a variable that a case names has its value there.
        let seen = placeholders.hide_in(&about.seen).and_then(|hidden| placeholders.decode(hidden.as_bytes()));
        let seen: AgentInput =
            seen.map_err(|error: serde_json::Error| unusable(ReasonCode::RecordingMissing, error.to_string()))?;
        let earlier = match mode {
            // A recording of different input is replaced.
            Mode::Record => earlier.filter(|earlier| earlier.file.seen.is_same(&seen)),
            Mode::Replay | Mode::Regrade => {
                let shown = path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
                let Some(earlier) = earlier.filter(|earlier| !has_agent || !earlier.file.calls.is_empty()) else {
                    let message = format!("there is no recording of this trial at {shown}; {hint}");
                    return Err(unusable(ReasonCode::RecordingMissing, message));
                };
                let file = &earlier.file;
                let is_same = file.seen.is_same(&seen) || mode == Mode::Regrade && file.seen.asks_the_same(&seen);
                if !is_same {
                    let difference = file.seen.difference(&seen);
                    let message = format!("the recording {shown} is of different input; {hint}{difference}");
                    return Err(unusable(ReasonCode::RecordingStale, message));
                }
                Some(earlier)
            }
            _ => earlier,
        };
        let path = path.filter(|_| mode == Mode::Record);
        if let Some(path) = &path {
            remove_abandoned(path).map_err(|error| unusable(ReasonCode::RecordingMissing, error.to_string()))?;
        }
        let shared =
            SharedCassette { mode, path, placeholders, about: Some(about), hint, earlier, recorded: Mutex::default() };
        Ok(Self(Arc::new(shared)))
    }

    /// Whether the agent is called.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.0.mode, Mode::Live | Mode::Record)
    }

    pub(crate) fn placeholders(&self) -> &Placeholders {
        &self.0.placeholders
    }

    /// How to record the trial, for messages.
    pub(crate) fn hint(&self) -> &str {
        &self.0.hint
    }

    /// The next call of the agent in the recording.
    pub(crate) fn next_call(&self) -> Option<AgentCall> {
        let mut recorded = self.0.recorded();
        let call = self.0.earlier.as_ref()?.file.calls.get(recorded.replayed)?.clone();
        recorded.replayed += 1;
        Some(call)
    }

    /// Adds a call of the agent.
    pub(crate) fn keep_call(&self, call: AgentCall) -> Result<(), CassetteError> {
        if self.0.mode == Mode::Record
            && let Some(reason) = &call.workspace.left_out
        {
            return Err(CassetteError::new(format!("the trial cannot be recorded: {reason}")));
        }
        let mut recorded = self.0.recorded();
        recorded.calls.push(call);
        self.0.write(&recorded)
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
        !self.0.recorded().replies.by_key.is_empty()
    }

    /// Everything recorded so far, in the format of a cassette; `None` without a trial.
    pub(crate) fn evidence(&self) -> io::Result<Option<Vec<u8>>> {
        let recorded = self.0.recorded();
        if let Some(unchanged) = self.0.earlier_evidence(&recorded) {
            return Ok(Some(unchanged.to_vec()));
        }
        self.0.file(&recorded).map(|file| Ok(self.0.placeholders.hide_in(&file)?.into_bytes())).transpose()
    }
}

impl SharedCassette {
    /// The evidence of the earlier run that is graded again, if this trial adds nothing to it.
    fn earlier_evidence(&self, recorded: &RecordedSoFar) -> Option<&[u8]> {
        let StoredCassette { file, bytes } = self.earlier.as_ref().filter(|_| self.mode == Mode::Regrade)?;
        let is_same_input = self.about.as_ref()?.input_digest == file.input_digest;
        let is_all =
            recorded.replayed == file.calls.len() && file.entries.is_empty() && recorded.replies.by_key.is_empty();
        (is_same_input && is_all && self.placeholders.secret_in(bytes).is_none()).then_some(bytes)
    }

    fn file(&self, recorded: &RecordedSoFar) -> Option<CassetteFile> {
        let replayed = self.earlier.iter().flat_map(|earlier| &earlier.file.calls[..recorded.replayed]);
        Some(CassetteFile {
            recorded_at: timestamp(),
            calls: replayed.chain(&recorded.calls).cloned().collect(),
            entries: recorded.replies.by_key.clone(),
            ..self.about.clone()?
        })
    }

    /// Writes the recording in record mode. A complete earlier recording stays until the agent's first call has ended.
    fn write(&self, recorded: &RecordedSoFar) -> Result<(), CassetteError> {
        let Some(path) = &self.path else { return Ok(()) };
        let keeps_earlier = self.earlier.as_ref().is_some_and(|earlier| !earlier.file.calls.is_empty());
        if recorded.calls.is_empty() && keeps_earlier {
            return Ok(());
        }
        let Some(file) = self.file(recorded) else { return Ok(()) };
        file.write(path, &self.placeholders)
            .map_err(|error| CassetteError::new(format!("the recording {} cannot be written: {error}", path.display())))
    }

    /// What was recorded before a panic elsewhere is still valid.
    fn recorded(&self) -> MutexGuard<'_, RecordedSoFar> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Key of a judge's reply: the model that was asked, which may answer under a longer name. Older recordings do not have it.
pub(crate) const ASKED_MODEL: &str = "asked_model";

/// Beginning of what is in place of the model of a judge that is a command: a digest of the command and of the files that it names follows.
pub(crate) const OF_COMMAND: &str = "command ";

const COMMAND_CHANGED: &str = "the command of the judge, or a file that it names, changed";

/// The replies of this trial so far.
#[derive(Debug, Default)]
pub(crate) struct RecordedReplies {
    pub(crate) by_key: BTreeMap<String, RequestReplies>,
    /// How often each request was made.
    asked: HashMap<String, usize>,
}

impl RecordedReplies {
    fn add(&mut self, request: Request, reply: Value) {
        let Request { key, request } = request;
        self.by_key.entry(key).or_insert_with(|| RequestReplies { request, replies: Vec::new() }).replies.push(reply);
    }
}

impl ReplyStore for SharedCassette {
    fn recorded_requests(&self) -> Vec<Value> {
        let recorded = self.earlier.iter().flat_map(|earlier| earlier.file.entries.values());
        recorded.map(|entry| entry.request.clone()).collect()
    }

    fn look_up(&self, asker: Asker<'_>, request: Value, earlier: u32) -> LookUp {
        let key = request_key(&request, &self.placeholders);
        let reuses = match (self.mode, asker) {
            (_, Asker::AbsentJudge(_)) => true,
            (Mode::Live, _) => false,
            (Mode::Record, asker) => asker == Asker::Agent,
            _ => true,
        };
        let mut so_far = self.recorded();
        let recorded = self.earlier.as_ref().filter(|_| reuses).and_then(|earlier| earlier.file.entries.get(&key));
        let times = so_far.replies.asked.entry(key.clone()).or_default();
        let again = |entry: &RequestReplies| match asker {
            Asker::Agent => entry.replies.last().cloned(),
            Asker::Judge(_) | Asker::AbsentJudge(_) => entry.replies.get(earlier as usize).cloned(),
        };
        let reply = recorded.and_then(|entry| entry.replies.get(*times).cloned().or_else(|| again(entry)));
        *times += 1;
        let is_command = matches!(asker, Asker::Judge(Some(model)) | Asker::AbsentJudge(Some(model)) if model.starts_with(OF_COMMAND));
        let other = match (&reply, asker) {
            (Some(reply), Asker::Judge(Some(model)) | Asker::AbsentJudge(Some(model))) => {
                let recorded = reply.get(ASKED_MODEL).and_then(Value::as_str).filter(|recorded| *recorded != model);
                recorded.map(|recorded| format!("`{recorded}`, now `{model}`"))
            }
            _ => None,
        };
        if let (Mode::Replay, Some(other)) = (self.mode, &other) {
            let what =
                if is_command { COMMAND_CHANGED.to_owned() } else { format!("the judge's model changed: {other}") };
            let message = format!("the recording is stale: {what}\n{}", self.hint);
            return LookUp::OtherModel(message);
        }
        let reply = reply.filter(|_| other.is_none());
        let request = Request { key, request };
        match reply {
            Some(reply) => {
                so_far.replies.add(request, reply.clone());
                LookUp::Found(reply)
            }
            None if self.mode == Mode::Replay || matches!(asker, Asker::AbsentJudge(_)) => {
                LookUp::Missing(format!("the cassette has no reply for this request; {}", self.hint))
            }
            None => LookUp::Ask(request),
        }
    }

    fn keep(&self, request: Request, reply: Value) -> Result<(), CassetteError> {
        let mut so_far = self.recorded();
        so_far.replies.add(request, reply);
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
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use evalsuite_schema::json::json;
    use evalsuite_schema::{Case, Location};

    use super::*;
    use crate::model::outcome::Outcome;
    use crate::model::recording::Recording;
    use crate::model::suite_location::SuiteLocation;
    use crate::platform::environment;
    use crate::record::cassette::cassette_file::{CassetteFile, StoredCassette};
    use crate::record::cassette::recorded_input::AgentInput;
    use crate::workspace::replayable_changes::ReplayableChanges;

    fn regraded(path: &Path, placeholders: Placeholders) -> TrialCassette {
        let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() };
        let seen = AgentInput::new(&Case::new("c", Location::new("f", 1, 1)), "t", None, &places);
        let digest = seen.digest();
        let about = CassetteFile::new("s", "c", "t", seen, digest);
        let mode = if path.exists() { Mode::Regrade } else { Mode::Live };
        let path = Some(path.to_owned());
        let hint = String::new();
        TrialCassette::open(CassetteOptions { mode, path, placeholders, about, hint, has_agent: true }).unwrap()
    }

    #[test]
    fn evidence_that_is_graded_again_stays_as_it_is_without_what_became_secret() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("evidence.json");
        let secret = environment::var("PATH").expect("a variable that every machine has");
        let live = regraded(&path, Placeholders::default());
        let outcome = Outcome::from(format!("it is {secret}"));
        let span = (timestamp(), timestamp());
        let call = AgentCall::new(&outcome, &Recording::default(), Duration::ZERO, span, ReplayableChanges::default());
        live.keep_call(call).unwrap();
        let evidence = live.evidence().unwrap().unwrap();
        fs::write(&path, &evidence).unwrap();

        let again = regraded(&path, Placeholders::default());
        assert_ne!(again.evidence().unwrap().unwrap(), evidence, "its call is still to come");
        assert!(again.next_call().is_some());
        assert_eq!(again.evidence().unwrap().unwrap(), evidence);

        let secretive = regraded(&path, Placeholders::new(["PATH"], []));
        assert!(secretive.next_call().is_some());
        let hidden = String::from_utf8(secretive.evidence().unwrap().unwrap()).unwrap();
        assert!(hidden.contains("it is ${{ PATH }}") && !hidden.contains(&secret), "{hidden}");
    }

    #[test]
    fn a_recorded_reply_is_one_vote() {
        let request = json!({"user": "rate this"});
        let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() };
        let seen = AgentInput::new(&Case::new("c", Location::new("f", 1, 1)), "t", None, &places);
        let cassette = |mode| {
            let mut file = CassetteFile::new("s", "c", "t", seen.clone(), String::new());
            let replies = vec![json!({"text": "1"}), json!({"text": "2"})];
            let entry = RequestReplies { request: request.clone(), replies };
            file.entries.insert(request_key(&request, &Placeholders::default()), entry);
            let earlier = Some(StoredCassette { file, bytes: Vec::new() });
            SharedCassette { mode, earlier, ..SharedCassette::default() }
        };
        let replayed = cassette(Mode::Replay);
        let asker = Asker::Judge(None);
        let text = |earlier| match replayed.look_up(asker, request.clone(), earlier) {
            LookUp::Found(reply) => Some(reply["text"].clone()),
            LookUp::Missing(_) => None,
            other => panic!("{other:?}"),
        };
        let recorded = [Some(json!("1")), Some(json!("2")), None];
        assert_eq!([text(0), text(1), text(2)], recorded);
        assert_eq!([text(0), text(1), text(2)], recorded, "asked again for another purpose");
        let graded_again = cassette(Mode::Regrade);
        for earlier in 0..2 {
            assert!(matches!(graded_again.look_up(asker, request.clone(), earlier), LookUp::Found(_)));
        }
        assert!(
            matches!(graded_again.look_up(asker, request.clone(), 2), LookUp::Ask(_)),
            "a further vote is asked for"
        );
    }

    #[test]
    fn a_reply_of_another_model_is_stale_and_is_not_graded_again() {
        let request = json!({"user": "rate this"});
        let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() };
        let seen = AgentInput::new(&Case::new("c", Location::new("f", 1, 1)), "t", None, &places);
        let look_up = |mode, reply: &Value, asker| {
            let mut file = CassetteFile::new("s", "c", "t", seen.clone(), String::new());
            let entry = RequestReplies { request: request.clone(), replies: vec![reply.clone()] };
            file.entries.insert(request_key(&request, &Placeholders::default()), entry);
            let earlier = Some(StoredCassette { file, bytes: Vec::new() });
            SharedCassette { mode, earlier, ..SharedCassette::default() }.look_up(asker, request.clone(), 0)
        };
        let (of_a, older) = (json!({"text": "", "asked_model": "a"}), json!({"text": ""}));
        for asker in
            [Asker::Judge(Some("a")), Asker::Judge(None), Asker::AbsentJudge(None), Asker::AbsentJudge(Some("a"))]
        {
            assert!(matches!(look_up(Mode::Replay, &of_a, asker), LookUp::Found(_)), "{asker:?}");
        }
        assert!(matches!(look_up(Mode::Replay, &older, Asker::Judge(Some("b"))), LookUp::Found(_)));
        assert!(matches!(look_up(Mode::Regrade, &of_a, Asker::Judge(Some("b"))), LookUp::Ask(_)));
        let LookUp::OtherModel(message) = look_up(Mode::Replay, &of_a, Asker::Judge(Some("b"))) else { panic!() };
        assert_eq!(message, "the recording is stale: the judge's model changed: `a`, now `b`\n");
        let of_command = json!({"text": "", "asked_model": "command 1"});
        assert!(matches!(look_up(Mode::Replay, &of_command, Asker::AbsentJudge(Some("command 1"))), LookUp::Found(_)));
        let asker = Asker::AbsentJudge(Some("command 2"));
        let LookUp::OtherModel(message) = look_up(Mode::Replay, &of_command, asker) else { panic!() };
        assert!(message.starts_with(&format!("the recording is stale: {COMMAND_CHANGED}")), "{message}");
    }

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
