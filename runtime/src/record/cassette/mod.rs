//! Recordings: what an agent did and what models replied, kept so that it can be had again without calling them.

pub(crate) mod cassette_file;
pub(crate) mod cassette_path;
pub(crate) mod recorded_input;
pub(crate) mod recorded_replies;
pub(crate) mod request_key;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use evalsuite_schema::record::{Mode, ReasonCode};

use crate::{model::cassette::Cassette, platform::clock::timestamp, record::cassette::recorded_replies::Entries};

pub(crate) use crate::{
    record::cassette::{
        cassette_file::{AgentCall, CassetteFile},
        cassette_path::cassette_path,
        recorded_input::{AgentInput, diff, digest_without_locations},
    },
    workspace::value_placeholders::Placeholders,
};

/// The recording of one trial: what its agent did, and the replies of models.
#[derive(Debug, Clone)]
pub(crate) struct TrialCassette(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    mode: Mode,
    /// Where it is written while the trial runs; only when recording.
    path: Option<PathBuf>,
    placeholders: Placeholders,
    about: Option<About>,
    /// How the recording can be made.
    hint: String,
    /// What there was before the trial.
    earlier: Option<CassetteFile>,
    state: Mutex<State>,
}

/// What a recording says beside what was recorded.
#[derive(Debug, Clone)]
pub(crate) struct About {
    pub(crate) suite: String,
    pub(crate) case_id: String,
    pub(crate) target: String,
    pub(crate) trial: u32,
    pub(crate) seen: AgentInput,
}

/// What the trial has brought so far.
#[derive(Debug, Default)]
struct State {
    calls: Vec<AgentCall>,
    /// Calls of the earlier recording that were taken from it.
    replayed: usize,
    entries: Entries,
    /// Why what the agent did to its workspace cannot be had again.
    lost_workspace: Option<String>,
}

/// Why a trial cannot be had from a recording.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    pub(crate) code: ReasonCode,
    pub(crate) message: String,
}

/// What a trial needs of its recording.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) mode: Mode,
    /// Where the recording is, or goes; `None` in a live run, unless judges are absent in it.
    pub(crate) path: Option<PathBuf>,
    pub(crate) placeholders: Placeholders,
    pub(crate) about: About,
    /// How the recording can be made.
    pub(crate) hint: String,
    /// Whether an agent is called, without whose calls the recording is not whole.
    pub(crate) has_agent: bool,
}

impl TrialCassette {
    /// The part of it that agents and judges use.
    pub(crate) fn replies(&self) -> Cassette {
        Cassette::new(Arc::<Inner>::clone(&self.0))
    }

    /// Nothing is recorded and nothing was.
    pub(crate) fn none() -> Self {
        Self(Arc::new(Inner {
            mode: Mode::Live,
            path: None,
            placeholders: Placeholders::default(),
            about: None,
            hint: String::new(),
            earlier: None,
            state: Mutex::default(),
        }))
    }

    /// # Errors
    ///
    /// If the trial has to be had from a recording, and there is none or it was made for something else.
    pub(crate) fn open(opening: Opening) -> Result<Self, Unusable> {
        let Opening { mode, path, placeholders, about, hint, has_agent } = opening;
        let earlier = match &path {
            Some(path) => CassetteFile::read(path, &placeholders).map_err(|message| Unusable {
                code: ReasonCode::RecordingMissing,
                message: format!("{message}; {hint}"),
            })?,
            None => None,
        };
        let digest = about.seen.digest();
        let earlier = match mode {
            Mode::Live => earlier,
            // What was recorded for another input is recorded anew.
            Mode::Record => earlier.filter(|file| file.input_digest == digest),
            Mode::Replay | Mode::Regrade => {
                let place = path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
                let Some(file) = earlier.filter(|file| !has_agent || !file.calls.is_empty()) else {
                    let message = format!("there is no recording of this trial at {place}; {hint}");
                    return Err(Unusable { code: ReasonCode::RecordingMissing, message });
                };
                let is_same =
                    file.input_digest == digest || mode == Mode::Regrade && file.seen.asks_the_same(&about.seen);
                if !is_same {
                    let difference = file.seen.difference(&about.seen);
                    let message = format!("the recording {place} was made for something else; {hint}{difference}");
                    return Err(Unusable { code: ReasonCode::RecordingStale, message });
                }
                Some(file)
            }
            _ => earlier,
        };
        let path = path.filter(|_| mode == Mode::Record);
        let inner = Inner { mode, path, placeholders, about: Some(about), hint, earlier, state: Mutex::default() };
        Ok(Self(Arc::new(inner)))
    }

    /// Whether the agent is called.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.0.mode, Mode::Live | Mode::Record)
    }

    pub(crate) fn placeholders(&self) -> &Placeholders {
        &self.0.placeholders
    }

    /// The agent's next call, from the recording.
    pub(crate) fn next_call(&self) -> Option<AgentCall> {
        let mut state = self.0.state();
        let call = self.0.earlier.as_ref()?.calls.get(state.replayed)?.clone();
        state.replayed += 1;
        state.calls.push(call.clone());
        Some(call)
    }

    /// Keeps what the agent did.
    ///
    /// # Errors
    ///
    /// Why it cannot be recorded.
    pub(crate) fn keep_call(&self, call: AgentCall) -> Result<(), String> {
        if self.0.mode == Mode::Record
            && let Some(reason) = &call.workspace.left_out
        {
            return Err(format!("the trial cannot be recorded: {reason}"));
        }
        let mut state = self.0.state();
        state.calls.push(call);
        self.0.write(&state)
    }

    /// Notes why what the agent did to its workspace cannot be had again.
    pub(crate) fn lose_workspace(&self, reason: String) {
        self.0.state().lost_workspace = Some(reason);
    }

    /// Why graders that look at the workspace have nothing to look at.
    pub(crate) fn lost_workspace(&self) -> Option<String> {
        self.0.state().lost_workspace.clone()
    }

    /// Whether anybody asked a model through this.
    pub(crate) fn has_replies(&self) -> bool {
        !self.0.state().entries.is_empty()
    }

    /// Everything known so far, in the form of a recording.
    pub(crate) fn to_file(&self) -> Option<CassetteFile> {
        self.0.file(&self.0.state())
    }
}

impl Inner {
    fn file(&self, state: &State) -> Option<CassetteFile> {
        let About { suite, case_id, target, trial, seen } = self.about.clone()?;
        Some(CassetteFile {
            schema: CassetteFile::SCHEMA.to_owned(),
            suite,
            case_id,
            target,
            trial,
            recorded_at: timestamp(),
            input_digest: seen.digest(),
            seen,
            calls: state.calls.clone(),
            entries: state.entries.to_map(),
        })
    }

    /// Writes the recording if this is one. A whole recording of before is not given up for what an agent asked that has
    /// not come to an end yet.
    fn write(&self, state: &State) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let keeps_earlier = self.earlier.as_ref().is_some_and(|file| !file.calls.is_empty());
        if state.calls.is_empty() && keeps_earlier {
            return Ok(());
        }
        let Some(file) = self.file(state) else { return Ok(()) };
        file.write(path, &self.placeholders)
            .map_err(|error| format!("the recording {} cannot be written: {error}", path.display()))
    }

    /// A panic elsewhere does not spoil what was recorded before.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
