//! The replies of models in a cassette, by request.

use std::collections::{BTreeMap, HashMap};

use evalsuite_records::record::Mode;
use evalsuite_schema::Value;

use crate::model::cassette::{Asker, CassetteError, LookUp, ReplyStore, Request};
use crate::platform::digest::{retain_entries, sha256_of_data};
use crate::record::cassette::SharedCassette;
use crate::record::cassette::cassette_file::RequestReplies;
use crate::workspace::value_placeholders::Placeholders;

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

    fn look_up(&self, asker: Asker<'_>, request: Value) -> LookUp {
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
        let reply = recorded.and_then(|entry| entry.replies.get(*times).or(entry.replies.last()).cloned());
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
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Case, Location};

    use super::*;
    use crate::model::suite_location::SuiteLocation;
    use crate::record::cassette::cassette_file::{CassetteFile, StoredCassette};
    use crate::record::cassette::recorded_input::AgentInput;

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
            SharedCassette { mode, earlier, ..SharedCassette::default() }.look_up(asker, request.clone())
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
