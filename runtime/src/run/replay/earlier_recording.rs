//! Recordings that replace calls: cassettes of the package, and what an earlier run recorded of a trial. A recording is stale if it is of
//! other input than the trial, or of another judge.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{Mode, Reason, ReasonCode, Stage};
use evalsuite_schema::Value;

use crate::model::cassette::{ASKED_MODEL, Asker, LookUp, OF_COMMAND, Request};
use crate::platform::files::remove_abandoned;
use crate::record::cassette::cassette_file::{RequestReplies, StoredCassette};
use crate::record::cassette::recorded_input::diff;
use crate::record::cassette::{AgentCall, AgentInput, CassetteFile, EarlierRecording, Placeholders, TrialCassette};

/// How the recording of a trial is used.
#[derive(Debug)]
pub(crate) struct RecordingOptions {
    pub(crate) mode: Mode,
    /// The file of the recording; `None` in a live run, unless it replays the replies of absent judges.
    pub(crate) path: Option<PathBuf>,
    /// How to record the trial, for messages.
    pub(crate) hint: String,
    /// Whether the trial calls an agent; a recording without its calls is incomplete.
    pub(crate) has_agent: bool,
}

/// The recording of a trial, if there is one.
#[derive(Debug, Default)]
struct TrialRecording {
    mode: Mode,
    /// The file that is written while the trial runs; `None` unless the mode is record.
    path: Option<PathBuf>,
    hint: String,
    stored: Option<StoredCassette>,
}

/// Opens the recording of replies that judges gave where no agent was called.
#[cfg(any(feature = "calibration", feature = "grader-tests"))]
pub(crate) fn open_replies(
    cassette: &TrialCassette,
    mode: Mode,
    path: Option<PathBuf>,
    hint: String,
) -> Result<(), Reason> {
    open(cassette, RecordingOptions { mode, path, hint, has_agent: false })
}

/// Opens the recording of the trial that a cassette is of. The error is why it cannot replace calls.
pub(crate) fn open(cassette: &TrialCassette, options: RecordingOptions) -> Result<(), Reason> {
    let Some(about) = cassette.about() else { return Ok(()) };
    let unusable = |code, message: String| Reason::new(Stage::Setup, code, message);
    let (placeholders, RecordingOptions { mode, path, hint, has_agent }) = (cassette.placeholders(), options);
    let stored = match path.as_ref().map_or(Ok(None), |path| CassetteFile::read(path, placeholders)) {
        Ok(stored) => stored,
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
    let stored = match mode {
        // A recording of different input is replaced.
        Mode::Record => stored.filter(|stored| stored.file.seen.is_same(&seen)),
        Mode::Replay | Mode::Regrade => {
            let shown = path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
            let Some(stored) = stored.filter(|stored| !has_agent || !stored.file.calls.is_empty()) else {
                let message = format!("there is no recording of this trial at {shown}; {hint}");
                return Err(unusable(ReasonCode::RecordingMissing, message));
            };
            let file = &stored.file;
            let is_same = file.seen.is_same(&seen) || mode == Mode::Regrade && file.seen.asks_the_same(&seen);
            if !is_same {
                let difference = file.seen.difference(&seen);
                let message = format!("the recording {shown} is of different input; {hint}{difference}");
                return Err(unusable(ReasonCode::RecordingStale, message));
            }
            Some(stored)
        }
        _ => stored,
    };
    let path = path.filter(|_| mode == Mode::Record);
    if let Some(path) = &path {
        remove_abandoned(path).map_err(|error| unusable(ReasonCode::RecordingMissing, error.to_string()))?;
    }
    cassette.set_earlier(TrialRecording { mode, path, hint, stored });
    Ok(())
}

impl EarlierRecording for TrialRecording {
    fn call(&self, index: usize) -> Result<AgentCall, String> {
        let call = self.stored.as_ref().and_then(|stored| stored.file.calls.get(index));
        call.cloned().ok_or_else(|| format!("the recording has fewer calls of the agent than the case; {}", self.hint))
    }

    fn reply(&self, asker: Asker<'_>, request: &Request, times: usize, earlier: u32) -> Result<Option<Value>, LookUp> {
        let reuses = match (self.mode, asker) {
            (_, Asker::AbsentJudge(_)) => true,
            (Mode::Live, _) => false,
            (Mode::Record, asker) => asker == Asker::Agent,
            _ => true,
        };
        let stored = self.stored.as_ref().filter(|_| reuses).and_then(|stored| stored.file.entries.get(&request.key));
        let again = |entry: &RequestReplies| match asker {
            Asker::Agent => entry.replies.last().cloned(),
            Asker::Judge(_) | Asker::AbsentJudge(_) => entry.replies.get(earlier as usize).cloned(),
        };
        let reply = stored.and_then(|entry| entry.replies.get(times).cloned().or_else(|| again(entry)));
        let model = match asker {
            Asker::Agent => None,
            Asker::Judge(model) | Asker::AbsentJudge(model) => model,
        };
        let recorded = reply.as_ref().and_then(|reply| reply.get(ASKED_MODEL)?.as_str());
        let other = recorded.zip(model).filter(|(recorded, model)| recorded != model);
        match (&reply, other) {
            (Some(_), None) => Ok(reply),
            (_, Some((recorded, model))) if self.mode == Mode::Replay => Err(self.of_other_model(recorded, model)),
            _ if self.mode == Mode::Replay || matches!(asker, Asker::AbsentJudge(_)) => {
                Err(self.missing(asker, request))
            }
            _ => Ok(None),
        }
    }

    fn requests(&self) -> Vec<Value> {
        let stored = self.stored.iter().flat_map(|stored| stored.file.entries.values());
        stored.map(|entry| entry.request.clone()).collect()
    }

    /// A complete earlier recording stays until the agent's first call has ended.
    fn replaced_by(&self, has_calls: bool) -> Option<&Path> {
        let keeps_earlier = self.stored.as_ref().is_some_and(|stored| !stored.file.calls.is_empty());
        self.path.as_deref().filter(|_| has_calls || !keeps_earlier)
    }

    /// The evidence of an earlier run that is graded again.
    fn unchanged(&self, about: &CassetteFile, calls: usize, placeholders: &Placeholders) -> Option<&[u8]> {
        let StoredCassette { file, bytes } = self.stored.as_ref().filter(|_| self.mode == Mode::Regrade)?;
        let is_all = calls == file.calls.len() && file.entries.is_empty();
        let is_same = is_all && about.input_digest == file.input_digest;
        (is_same && placeholders.secret_in(bytes).is_none()).then_some(bytes)
    }
}

impl TrialRecording {
    /// There is no reply to a request; if another request of the grader was recorded, what differs.
    fn missing(&self, asker: Asker<'_>, request: &Request) -> LookUp {
        let message = format!("the cassette has no reply for this request; {}", self.hint);
        let changed = if asker == Asker::Agent { None } else { changed(&request.request, &self.requests()) };
        match changed {
            Some(what) => stale(&what, &message),
            None => LookUp::Missing(message),
        }
    }

    fn of_other_model(&self, recorded: &str, model: &str) -> LookUp {
        let what = match model.starts_with(OF_COMMAND) {
            true => COMMAND_CHANGED.to_owned(),
            false => format!("the judge's model changed: `{recorded}`, now `{model}`"),
        };
        stale(&what, &self.hint)
    }
}

const COMMAND_CHANGED: &str = "the command of the judge, or a file that it names, changed";

fn stale(what: &str, help: &str) -> LookUp {
    LookUp::Stale(format!("the recording is stale: {what}\n{help}"))
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
        ("max_steps", "`max_steps` changed"),
        ("config", "`config` changed"),
        ("images", "the images changed"),
        ("response_schema", "the shape of replies changed"),
    ];
    let differing = named.iter().find(|(key, _)| part(key).0 != part(key).1);
    let (key, what) = differing?;
    let (then, now) = part(key);
    Some(format!("{what}{}", diff(&text(then), &text(now))))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use evalsuite_schema::json::json;
    use evalsuite_schema::{Case, Location};

    use super::*;
    use crate::model::agent_report::Recording;
    use crate::model::cassette::Cassette;
    use crate::model::outcome::Outcome;
    use crate::model::suite_location::SuiteLocation;
    use crate::platform::clock::timestamp;
    use crate::platform::environment;
    use crate::record::cassette::request_key;
    use crate::workspace::replayable_changes::ReplayableChanges;

    fn regraded(path: &Path, placeholders: Placeholders) -> TrialCassette {
        let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() };
        let seen = AgentInput::new(&Case::new("c", Location::new("f", 1, 1)), "t", None, &places);
        let digest = seen.digest();
        let about = CassetteFile::new("s", "c", "t", seen, digest);
        let mode = if path.exists() { Mode::Regrade } else { Mode::Live };
        let (path, hint) = (Some(path.to_owned()), String::new());
        let cassette = TrialCassette::new(about, placeholders);
        open(&cassette, RecordingOptions { mode, path, hint, has_agent: true }).unwrap();
        cassette
    }

    /// The replies of a recording.
    fn replies(mode: Mode, file: CassetteFile) -> Cassette {
        let cassette = TrialCassette::none();
        let stored = Some(StoredCassette { file, bytes: Vec::new() });
        cassette.set_earlier(TrialRecording { mode, stored, ..TrialRecording::default() });
        cassette.replies()
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
        assert!(again.next_call().is_ok());
        assert_eq!(again.evidence().unwrap().unwrap(), evidence);

        let secretive = regraded(&path, Placeholders::new(["PATH"], []));
        assert!(secretive.next_call().is_ok());
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
            let two = vec![json!({"text": "1"}), json!({"text": "2"})];
            let entry = RequestReplies { request: request.clone(), replies: two };
            file.entries.insert(request_key(&request, &Placeholders::default()), entry);
            replies(mode, file)
        };
        let replayed = cassette(Mode::Replay);
        let asker = Asker::Judge(None);
        let text = |earlier| match replayed.0.look_up(asker, request.clone(), earlier) {
            LookUp::Found(reply) => Some(reply["text"].clone()),
            LookUp::Missing(_) => None,
            other => panic!("{other:?}"),
        };
        let recorded = [Some(json!("1")), Some(json!("2")), None];
        assert_eq!([text(0), text(1), text(2)], recorded);
        assert_eq!([text(0), text(1), text(2)], recorded, "asked again for another purpose");
        let graded_again = cassette(Mode::Regrade);
        for earlier in 0..2 {
            assert!(matches!(graded_again.0.look_up(asker, request.clone(), earlier), LookUp::Found(_)));
        }
        assert!(
            matches!(graded_again.0.look_up(asker, request.clone(), 2), LookUp::Ask(_)),
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
            replies(mode, file).0.look_up(asker, request.clone(), 0)
        };
        let (of_a, older) = (json!({"text": "", "asked_model": "a"}), json!({"text": ""}));
        for asker in
            [Asker::Judge(Some("a")), Asker::Judge(None), Asker::AbsentJudge(None), Asker::AbsentJudge(Some("a"))]
        {
            assert!(matches!(look_up(Mode::Replay, &of_a, asker), LookUp::Found(_)), "{asker:?}");
        }
        assert!(matches!(look_up(Mode::Replay, &older, Asker::Judge(Some("b"))), LookUp::Found(_)));
        assert!(matches!(look_up(Mode::Regrade, &of_a, Asker::Judge(Some("b"))), LookUp::Ask(_)));
        let LookUp::Stale(message) = look_up(Mode::Replay, &of_a, Asker::Judge(Some("b"))) else { panic!() };
        assert_eq!(message, "the recording is stale: the judge's model changed: `a`, now `b`\n");
        let of_command = json!({"text": "", "asked_model": "command 1"});
        assert!(matches!(look_up(Mode::Replay, &of_command, Asker::AbsentJudge(Some("command 1"))), LookUp::Found(_)));
        let asker = Asker::AbsentJudge(Some("command 2"));
        let LookUp::Stale(message) = look_up(Mode::Replay, &of_command, asker) else { panic!() };
        assert!(message.starts_with(&format!("the recording is stale: {COMMAND_CHANGED}")), "{message}");
    }
}
