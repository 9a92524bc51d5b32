//! Replies of models by the request they answer.

use std::collections::{BTreeMap, HashMap};

use evalsuite_schema::record::Mode;
use serde_json::Value;

use crate::{
    model::cassette::{Asker, LookUp, ReplyStore, Request},
    record::cassette::{Inner, cassette_file::Entry, request_key::request_key},
};

/// The replies of this trial.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    entries: BTreeMap<String, Entry>,
    /// How often each request was made.
    asked: HashMap<String, usize>,
}

impl Entries {
    pub(crate) fn to_map(&self) -> BTreeMap<String, Entry> {
        self.entries.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn keep(&mut self, request: Request, reply: Value) {
        let Request { key, request } = request;
        self.entries.entry(key).or_insert_with(|| Entry { request, replies: Vec::new() }).replies.push(reply);
    }
}

impl ReplyStore for Inner {
    fn recorded_requests(&self) -> Vec<Value> {
        let recorded = self.earlier.iter().flat_map(|file| file.entries.values());
        recorded.map(|entry| entry.request.clone()).collect()
    }

    fn look_up(&self, asker: Asker, request: Value) -> LookUp {
        let inner = self;
        let key = request_key(&request, &inner.placeholders);
        let reuses = match (inner.mode, asker) {
            (_, Asker::AbsentJudge) => true,
            (Mode::Live, _) => false,
            (Mode::Record, asker) => asker == Asker::Agent,
            _ => true,
        };
        let mut state = self.state();
        let recorded = inner.earlier.as_ref().filter(|_| reuses).and_then(|file| file.entries.get(&key));
        let times = state.entries.asked.entry(key.clone()).or_default();
        let reply = recorded.and_then(|entry| entry.replies.get(*times).or(entry.replies.last()).cloned());
        *times += 1;
        let request = Request { key, request };
        match reply {
            Some(reply) => {
                state.entries.keep(request, reply.clone());
                LookUp::Found(reply)
            }
            None if inner.mode == Mode::Replay || asker == Asker::AbsentJudge => {
                LookUp::Missing(format!("the recording has no reply to this request; {}", inner.hint))
            }
            None => LookUp::Ask(request),
        }
    }

    fn keep(&self, request: Request, reply: Value) -> Result<(), String> {
        let mut state = self.state();
        state.entries.keep(request, reply);
        self.write(&state)
    }
}
