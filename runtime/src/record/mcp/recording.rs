//! The format of recorded servers: one file per trial, as JSON for version control.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use evalsuite_records::package_file::{LARGEST_CASSETTE, read_package_file_if_exists};
use evalsuite_records::user_file::replace_user_text;
use evalsuite_schema::Value;
use evalsuite_schema::json::{FromJson, ToJson};

use crate::platform::redaction::Redactor;
use crate::workspace::value_placeholders::Placeholders;

/// End of the names of files with recorded servers.
pub(crate) const MCP_FILE: &str = "mcp.json";

/// What the MCP servers of one trial answered.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(fill)]
pub struct McpRecording {
    /// [`McpRecording::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Name of the target.
    pub target: String,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// The servers, by name.
    pub servers: BTreeMap<String, RecordedServer>,
}

/// What one server answered.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(fill)]
pub struct RecordedServer {
    /// Requests of the agent with their answers, in the order in which they were made.
    pub exchanges: Vec<RecordedExchange>,
}

/// A request of the agent, and its answer.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(fill)]
pub struct RecordedExchange {
    /// The method, such as `tools/call`.
    pub method: String,
    /// The parameters, without `_meta`.
    #[json(default, skip_if = "Option::is_none")]
    pub params: Option<Value>,
    /// The result; without a result and an error, the request was not answered.
    #[json(default, skip_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error of the protocol.
    #[json(default, skip_if = "Option::is_none")]
    pub error: Option<Value>,
    /// Notifications of the server between the request and the next one, except for those after the answer; those of progress without their
    /// token.
    #[json(default, skip_if = "Vec::is_empty")]
    pub notifications: Vec<Value>,
    /// Notifications after the answer.
    #[json(default, skip_if = "Vec::is_empty")]
    pub then: Vec<Value>,
}

impl McpRecording {
    /// Name and version of the format.
    pub const SCHEMA: &'static str = "evalsuite.mcp_calls/1";

    /// Reads a recording, with the values of this machine for placeholders; `None` if there is no file.
    pub(crate) fn read(path: &Path, placeholders: &Placeholders) -> io::Result<Option<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}{what}", path.display()));
        let Some(bytes) = read_package_file_if_exists(path, LARGEST_CASSETTE)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?
        else {
            return Ok(None);
        };
        let recording: Self = placeholders
            .decode(&bytes)
            .map_err(|error| invalid(format!(" is not a recording of MCP servers: {error}")))?;
        if recording.schema != Self::SCHEMA {
            return Err(invalid(format!(": `schema` is {}, not {}", recording.schema, Self::SCHEMA)));
        }
        Ok(Some(recording))
    }

    /// Writes it as a file of the user, without secrets. Readers see the old file or the new one.
    pub(crate) fn write(&self, path: &Path, placeholders: &Placeholders) -> io::Result<()> {
        let hidden: Value = evalsuite_schema::json::from_str(&placeholders.hide_in(self)?)?;
        let json = Redactor::default().to_pretty_json(&hidden)? + "\n";
        if json.len() as u64 > LARGEST_CASSETTE {
            let message = format!("it would have more than {LARGEST_CASSETTE} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace_user_text(path, &json)
    }
}
