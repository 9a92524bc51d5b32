//! The replies of models in a cassette, by request.

use std::collections::{BTreeMap, HashMap};

use evalsuite_records::record::Mode;
use evalsuite_schema::Value;

use crate::model::cassette::{Asker, CassetteError, LookUp, ReplyStore, Request};
use crate::record::cassette::SharedCassette;
use crate::record::cassette::cassette_file::RequestReplies;
use crate::record::cassette::request_key::request_key;

/// The replies of this trial so far.
#[derive(Debug, Default)]
pub(crate) struct RecordedReplies {
    by_key: BTreeMap<String, RequestReplies>,
    /// How often each request was made.
    asked: HashMap<String, usize>,
}

impl RecordedReplies {
    pub(crate) fn to_map(&self) -> BTreeMap<String, RequestReplies> {
        self.by_key.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

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

    fn look_up(&self, asker: Asker, request: Value) -> LookUp {
        let key = request_key(&request, &self.placeholders);
        let reuses = match (self.mode, asker) {
            (_, Asker::AbsentJudge) => true,
            (Mode::Live, _) => false,
            (Mode::Record, asker) => asker == Asker::Agent,
            _ => true,
        };
        let mut so_far = self.recorded();
        let recorded = self.earlier.as_ref().filter(|_| reuses).and_then(|earlier| earlier.file.entries.get(&key));
        let times = so_far.replies.asked.entry(key.clone()).or_default();
        let reply = recorded.and_then(|entry| entry.replies.get(*times).or(entry.replies.last()).cloned());
        *times += 1;
        let request = Request { key, request };
        match reply {
            Some(reply) => {
                so_far.replies.add(request, reply.clone());
                LookUp::Found(reply)
            }
            None if self.mode == Mode::Replay || asker == Asker::AbsentJudge => {
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
