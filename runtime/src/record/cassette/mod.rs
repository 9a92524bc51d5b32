//! Cassettes: recorded calls of agents and replies of models, to be replayed without calling either.

pub(crate) mod cassette_file;
pub(crate) mod cassette_path;
pub(crate) mod named_files;
pub(crate) mod recorded_input;
pub(crate) mod recorded_replies;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evalsuite_records::record::{Mode, Reason, ReasonCode, Stage};

use crate::model::cassette::{Cassette, CassetteError};
use crate::platform::clock::timestamp;
use crate::platform::files::remove_abandoned;
use crate::record::cassette::cassette_file::StoredCassette;
use crate::record::cassette::recorded_replies::RecordedReplies;

pub(crate) use crate::record::cassette::cassette_file::{AgentCall, CassetteFile};
pub(crate) use crate::record::cassette::cassette_path::{cassette_directory, cassette_path};
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
        let earlier = match mode {
            // A recording of different input is replaced.
            Mode::Record => earlier.filter(|earlier| earlier.file.seen.is_same(&about.seen)),
            Mode::Replay | Mode::Regrade => {
                let shown = path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
                let Some(earlier) = earlier.filter(|earlier| !has_agent || !earlier.file.calls.is_empty()) else {
                    let message = format!("there is no recording of this trial at {shown}; {hint}");
                    return Err(unusable(ReasonCode::RecordingMissing, message));
                };
                let file = &earlier.file;
                let is_same =
                    file.seen.is_same(&about.seen) || mode == Mode::Regrade && file.seen.asks_the_same(&about.seen);
                if !is_same {
                    let difference = file.seen.difference(&about.seen);
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use evalsuite_schema::{Case, Location};

    use super::*;
    use crate::model::outcome::Outcome;
    use crate::model::recording::Recording;
    use crate::model::suite_location::SuiteLocation;
    use crate::platform::environment;
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
}
