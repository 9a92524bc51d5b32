//! The format and the paths of cassettes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use evalsuite_records::file_replacement::replace_user_text;
use evalsuite_records::record::{Reason, ReasonCode, Stage, Usage};
use evalsuite_schema::json::{Fields, FromJson, JsonWriter, Result as JsonResult, ToJson};
use evalsuite_schema::{Message, PathRef, Value};

use crate::model::agent_report::{Captured, Recording};
use crate::model::outcome::Outcome;
use crate::model::recorder::Recorded;
use crate::model::suite::EvalSuite;
use crate::model::suite_location::{SuiteLocation, package_directory};
use crate::platform::digest::file_key;
use crate::platform::files::error_at;
use crate::platform::json;
use crate::platform::package_file::{LARGEST_CASSETTE, read_package_file};
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{OpenError, UntrustedDirectory};
use crate::record::cassette::AgentInput;
use crate::record::run_directory::layout::{EVIDENCE, trial_directory_name};
use crate::workspace::replayable_changes::ReplayableChanges;
use crate::workspace::value_placeholders::Placeholders;

/// Everything that is needed to replay a trial without its agent.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct CassetteFile {
    /// [`CassetteFile::SCHEMA`].
    pub(crate) schema: String,
    pub(crate) suite: String,
    pub(crate) case_id: String,
    pub(crate) target: String,
    pub(crate) trial: u32,
    pub(crate) recorded_at: String,
    /// SHA-256 of `seen`, hexadecimal.
    pub(crate) input_digest: String,
    pub(crate) seen: AgentInput,
    /// The agent's calls in order: one, or one per turn of a conversation.
    pub(crate) calls: Vec<AgentCall>,
    /// Replies by [`request_key`](crate::record::cassette::request_key) of the request.
    #[json(default)]
    pub(crate) entries: BTreeMap<String, RequestReplies>,
}

/// A cassette, and the bytes it was read from.
#[derive(Debug)]
pub(crate) struct StoredCassette {
    pub(crate) file: CassetteFile,
    pub(crate) bytes: Vec<u8>,
}

/// One call of an agent.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct AgentCall {
    pub(crate) started_at: String,
    pub(crate) ended_at: String,
    /// Measured duration.
    pub(crate) took_ms: u64,
    /// What the agent returned.
    pub(crate) returned: Outcome,
    /// What the agent reported while it ran.
    pub(crate) reported: Reported,
    /// The agent's changes to its workspace.
    pub(crate) workspace: ReplayableChanges,
}

#[doc(hidden)]
impl ToJson for Outcome {
    fn write(&self, writer: &mut JsonWriter<'_>) -> JsonResult<()> {
        let Self { text, messages, state, usage, cost_usd, duration_ms, model, metadata } = self;
        let mut object = writer.object()?;
        object.field("text", text);
        object.field("messages", messages);
        object.field("state", state);
        object.field("usage", usage);
        object.field("cost_usd", cost_usd);
        object.field("duration_ms", duration_ms);
        object.field("model", model);
        object.field("metadata", metadata);
        object.end()
    }
}

#[doc(hidden)]
impl FromJson for Outcome {
    fn from_json(value: Value) -> JsonResult<Self> {
        let mut fields = Fields::of(value, "the outcome of an agent")?;
        Ok(Self {
            text: fields.optional("text")?,
            messages: fields.optional("messages")?,
            state: fields.optional("state")?,
            usage: fields.optional("usage")?,
            cost_usd: fields.optional("cost_usd")?,
            duration_ms: fields.optional("duration_ms")?,
            model: fields.optional("model")?,
            metadata: fields.optional("metadata")?,
        })
    }
}

/// A [`Recording`] in a cassette.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(default)]
pub(crate) struct Reported {
    messages: Vec<Message>,
    #[json(skip_if = "Vec::is_empty")]
    files: Vec<PathRef>,
    usage: Option<Usage>,
    log: String,
    complete: bool,
    #[json(skip_if = "is_empty")]
    captured: Captured,
    /// What the agent recorded after its call had ended, which is not in the other fields.
    #[json(skip_if = "Vec::is_empty")]
    lost: Vec<Recorded>,
}

fn is_empty(captured: &Captured) -> bool {
    *captured == Captured::default()
}

/// A request and its replies: the same request may get a different reply the next time.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct RequestReplies {
    pub(crate) request: Value,
    /// In order.
    pub(crate) replies: Vec<Value>,
}

/// What a file says about its format.
#[derive(FromJson)]
struct Version {
    schema: Option<String>,
}

impl CassetteFile {
    /// Value of `schema` in cassettes of this version.
    pub(crate) const SCHEMA: &'static str = "evalsuite.cassette/1";

    /// The first trial of a case and target, or of what is recorded in their place, before anything is recorded.
    pub(crate) fn new(suite: &str, case_id: &str, target: &str, seen: AgentInput, input_digest: String) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            suite: suite.to_owned(),
            case_id: case_id.to_owned(),
            target: target.to_owned(),
            trial: 0,
            recorded_at: String::new(),
            input_digest,
            seen,
            calls: Vec::new(),
            entries: BTreeMap::new(),
        }
    }

    /// Reads a cassette, with the values of this machine for placeholders; `None` if the file does not exist.
    pub(crate) fn read(path: &Path, placeholders: &Placeholders) -> io::Result<Option<StoredCassette>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}{what}", path.display()));
        let broken = |error: serde_json::Error| invalid(format!(" is not a recording: {error}"));
        // Evidence is a file of a run. A cassette belongs to the package, and may be a link.
        let read = match path.file_name() {
            Some(name) if name == EVIDENCE => {
                UntrustedDirectory::new(path.parent().unwrap_or(Path::new(""))).read_record(name)
            }
            _ => read_package_file(path, LARGEST_CASSETTE).map_err(OpenError::from),
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(OpenError::Missing) => return Ok(None),
            Err(error) => return Err(error_at(path, &error.into())),
        };
        let decoded: serde_json::Result<Self> = placeholders.decode(&bytes);
        let schema = match &decoded {
            Ok(file) => Some(file.schema.clone()),
            Err(_) => json::decode::<Version>(&bytes).map_err(broken)?.schema,
        };
        if schema.as_deref() != Some(Self::SCHEMA) {
            let found = schema.as_deref().unwrap_or("missing");
            return Err(invalid(format!(": `schema` is {found}, not {}", Self::SCHEMA)));
        }
        Ok(Some(StoredCassette { file: decoded.map_err(broken)?, bytes }))
    }

    /// Writes it as a file of the user, who may have linked it: readers see the old file or the new one, which keeps its mode, its owner
    /// and its line ends.
    pub(crate) fn write(&self, path: &Path, placeholders: &Placeholders) -> io::Result<()> {
        let hidden: Value = evalsuite_schema::json::from_str(&placeholders.hide_in(self)?)?;
        let json = Redactor::default().to_pretty_json(&hidden)? + "\n";
        if json.len() as u64 > LARGEST_CASSETTE {
            let message = format!("{}: it would have more than {LARGEST_CASSETTE} bytes", path.display());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace_user_text(path, &json)
    }
}

impl AgentCall {
    pub(crate) fn new(
        outcome: &Outcome,
        recording: &Recording,
        took: Duration,
        (started_at, ended_at): (String, String),
        workspace: ReplayableChanges,
    ) -> Self {
        let Recording { messages, files, outcome: Outcome { usage, .. }, log, complete, captured } = recording.clone();
        let reported = Reported { messages, files, usage, log, complete, captured, lost: Vec::new() };
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { started_at, ended_at, took_ms, returned: outcome.clone(), reported, workspace }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome { usage: self.returned.usage.or(self.reported.usage), ..self.returned.clone() }
    }

    /// What was recorded too late.
    pub(crate) fn lost(&self) -> &[Recorded] {
        &self.reported.lost
    }

    pub(crate) fn set_lost(&mut self, lost: impl IntoIterator<Item = Recorded>) {
        self.reported.lost = lost.into_iter().collect();
    }

    pub(crate) fn recording(&self) -> Recording {
        let Reported { messages, files, usage, log, complete, captured, lost: _ } = self.reported.clone();
        Recording { messages, files, outcome: Outcome { usage, ..Outcome::default() }, log, complete, captured }
    }
}

/// The file of a trial's cassette.
pub(crate) fn cassette_path(
    suite: &EvalSuite,
    case_key: &str,
    index: u32,
    cassettes: Option<&Path>,
    location: &SuiteLocation,
) -> Result<PathBuf, Reason> {
    let file = Path::new(&file_key(suite.name)).join(case_key).join(format!("{}.json", trial_directory_name(index, 0)));
    Ok(cassette_directory(&package_directory(suite), cassettes, location)?.join(file))
}

/// The directory of all cassettes: the one that is named, else that of the package.
pub(crate) fn cassette_directory(
    package: &Path,
    named: Option<&Path>,
    location: &SuiteLocation,
) -> Result<PathBuf, Reason> {
    let invalid = |message: String| Reason::new(Stage::Setup, ReasonCode::InvalidSetting, message);
    let root = match named {
        Some(directory) => std::path::absolute(directory).map_err(|error| {
            invalid(format!("EVALSUITE_CASSETTES is {}, which is not a valid path: {error}", directory.display()))
        })?,
        None => package.join(".evalsuite").join("cassettes"),
    };
    match location.rebuild_trigger_around(&root) {
        Some(tracked) => Err(invalid(format!(
            "the directory of cassettes {} is in {tracked}; set EVALSUITE_CASSETTES to another directory",
            root.display()
        ))),
        None => Ok(root),
    }
}
