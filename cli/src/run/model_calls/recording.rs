//! The format of recorded calls: one file per trial, as JSON for version control.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use base64::prelude::{BASE64_STANDARD, Engine};
use evalsuite::tooling::{BeginTrial, Placeholders};
use evalsuite_records::file_replacement::replace_file;
use evalsuite_records::package_file::{LARGEST_CASSETTE, read_package_file_if_exists};
use evalsuite_schema::Value;
use evalsuite_schema::json::written_by_serde;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calls of services that one trial made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recording {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.model_calls/1"))]
    schema: String,
    /// Name of the suite.
    suite: String,
    /// Id of the case.
    case_id: String,
    /// Name of the target.
    target: String,
    /// Index of the trial, from 0.
    trial: u32,
    /// Names of the variables whose values were sent as keys. A replay sets those that are not set.
    pub(super) keys: BTreeSet<String>,
    /// Paths of the base URLs that were called, by their variables. In a replay, base URLs have the same paths.
    pub(super) base_paths: BTreeMap<String, String>,
    /// The calls, in the order in which they began.
    pub(super) calls: Vec<RecordedCall>,
}

written_by_serde!(Recording);

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedCall {
    pub(super) request: RecordedRequest,
    pub(super) response: RecordedResponse,
}

/// What a replay compares: not the keys, and not what clients change from call to call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedRequest {
    /// The variable with the base URL that was called.
    pub(super) variable: String,
    /// Method, such as `POST`.
    pub(super) method: String,
    /// Path after the path of the base URL, with the query but without keys in it.
    pub(super) path: String,
    /// Headers that change the answer, such as `anthropic-beta`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// The body; absent if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<RecordedBody>,
}

written_by_serde!(RecordedRequest);

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordedBody {
    /// An object or a list.
    Json(#[schemars(with = "serde_json::Value")] Value),
    /// Any other text.
    Text(String),
    /// Bytes that are not UTF-8.
    Base64(String),
}

/// A response, which a replay sends again byte by byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedResponse {
    /// Status, such as 200.
    pub(super) status: u16,
    /// Headers that clients use.
    pub(super) headers: BTreeMap<String, String>,
    /// The parts of the body as they arrived.
    pub(super) parts: Vec<RecordedPart>,
    /// Whether the response broke off, or its client went away, before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_cut: bool,
}

/// A part of the body of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedPart {
    /// Time since the part before, or since the request, in milliseconds.
    pub(super) after_ms: u64,
    /// The bytes, if they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Recording {
    const SCHEMA: &'static str = "evalsuite.model_calls/1";

    pub(super) fn new(
        trial: &BeginTrial,
        keys: BTreeSet<String>,
        base_paths: BTreeMap<String, String>,
        calls: Vec<RecordedCall>,
    ) -> Self {
        let BeginTrial { suite, case_id, target, trial, .. } = trial.clone();
        Self { schema: Self::SCHEMA.to_owned(), suite, case_id, target, trial, keys, base_paths, calls }
    }

    /// Reads a recording; `None` if there is no file.
    pub(super) fn read(file: &Path) -> io::Result<Option<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}{what}", file.display()));
        let Some(bytes) = read_package_file_if_exists(file, LARGEST_CASSETTE)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?
        else {
            return Ok(None);
        };
        let recording: Self = evalsuite_schema::json::from_slice(&bytes)
            .map_err(|error| invalid(format!(" is not a recording of model calls: {error}")))?;
        if recording.schema != Self::SCHEMA {
            return Err(invalid(format!(": `schema` is {}, not {}", recording.schema, Self::SCHEMA)));
        }
        Ok(Some(recording))
    }

    /// Writes the recording without secrets. Readers see the old file or the new one.
    pub(super) fn write(&self, file: &Path, secrets: &Placeholders) -> io::Result<()> {
        let hidden: Value = evalsuite_schema::json::from_str(&secrets.hide_in(self)?)?;
        let mut json = serde_json::to_vec_pretty(&hidden)?;
        json.push(b'\n');
        if json.len() as u64 > LARGEST_CASSETTE {
            let message = format!("it would have more than {LARGEST_CASSETTE} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        replace_file(file, &json)
    }
}

impl RecordedRequest {
    /// The call for messages: `POST /chat/completions of OPENAI_BASE_URL`.
    pub(super) fn label(&self) -> String {
        format!("{} {} of {}", self.method, self.path, self.variable)
    }
}

impl RecordedBody {
    /// `None` of an empty body.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let Ok(text) = str::from_utf8(bytes) else { return Some(Self::Base64(BASE64_STANDARD.encode(bytes))) };
        Some(match evalsuite_schema::json::from_str(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => Self::Json(value),
            _ => Self::Text(text.to_owned()),
        })
    }
}

impl RecordedPart {
    pub(super) fn new(after_ms: u64, bytes: &[u8]) -> Self {
        let text = str::from_utf8(bytes).ok().map(str::to_owned);
        let base64 = text.is_none().then(|| BASE64_STANDARD.encode(bytes));
        Self { after_ms, text, base64 }
    }

    /// The bytes to send, with the values of variables for their placeholders.
    pub(super) fn bytes(&self, secrets: &Placeholders) -> io::Result<Vec<u8>> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Ok(secrets.restore(text).into_bytes()),
            (None, Some(base64)) => BASE64_STANDARD.decode(base64).map_err(io::Error::other),
            _ => Err(io::Error::other("a part of a response needs either `text` or `base64`")),
        }
    }
}
