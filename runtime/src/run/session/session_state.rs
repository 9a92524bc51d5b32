//! `session.json`: the state of a session between its tests.

use std::collections::BTreeMap;

use evalsuite_records::record::HookState;
use serde::{Deserialize, Serialize};

use crate::run::hooks::HookCall;

/// The state of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SessionState {
    /// [`SessionState::SCHEMA`].
    schema: String,
    pub(crate) suite: String,
    pub(crate) label: String,
    /// Number of times it was begun.
    pub(crate) epoch: u32,
    /// Number of times it was ended.
    #[serde(default)]
    pub(crate) ended: u32,
    /// The inclusions with tests in it since it was last ended, and whether all of their tests are done.
    #[serde(default)]
    pub(crate) inclusions: BTreeMap<String, bool>,
    /// Whether there is something to undo.
    pub(crate) open: bool,
    /// Whether a shared workspace stays.
    pub(crate) keep: bool,
    pub(crate) before_all: HookState,
    pub(crate) after_all: HookState,
    /// Hooks to run at the end. Their variables are not filled in, so that no secret is written.
    #[serde(rename = "owed")]
    pub(crate) pending: Vec<HookCall>,
}

impl SessionState {
    /// Value of `schema` in files of this version.
    const SCHEMA: &'static str = "evalsuite.session/1";

    pub(crate) fn new(suite: &str, label: &str) -> Self {
        let (suite, label) = (suite.to_owned(), label.to_owned());
        Self { schema: Self::SCHEMA.to_owned(), suite, label, ..Self::default() }
    }

    pub(crate) fn begin(&mut self, keep: bool) {
        self.epoch += 1;
        self.open = true;
        self.keep = keep;
        (self.before_all, self.after_all) = (HookState::None, HookState::None);
        self.pending.clear();
    }

    /// The next test begins it again.
    pub(crate) fn end(&mut self) {
        self.open = false;
        self.ended += 1;
        self.inclusions.clear();
    }

    /// Adds a hook that has to run at the end. It is already there if a process died while the hook's counterpart ran.
    pub(crate) fn add_pending(&mut self, call: HookCall) {
        let is_same = |pending: &HookCall| pending.scope == call.scope && pending.facts.target == call.facts.target;
        if !self.pending.iter().any(is_same) {
            self.pending.push(call);
        }
        self.after_all = HookState::Pending;
    }
}
