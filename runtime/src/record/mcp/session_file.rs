//! The directory of a session: the file that says what proxies do in a trial, and what is beside it.

use std::path::Path;
use std::{fs, io};

use evalsuite_schema::McpFault;
use evalsuite_schema::json::{FromJson, ToJson};

/// Name of the file that says what proxies do.
pub(crate) const SESSION: &str = "session.json";
/// Name of the file that the agent reads, `{"mcpServers": …}`.
pub(crate) const CONFIG: &str = "config.json";
/// Name of the recording from which proxies answer in a replay, with the paths of this trial.
pub const RECORDING: &str = "recording.json";
/// Name of the directory in which each proxy writes a trace.
pub const TRACES: &str = "traces";
/// Name of the directory with a file for each recorded answer and each call with a fault that was counted: proxies of one trial share them.
pub const CLAIMS: &str = "claims";

/// What proxies do in a trial.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(fill)]
pub struct McpSessionFile {
    /// [`McpSessionFile::SCHEMA`].
    pub schema: String,
    /// Whether the recording answers, and no server is started.
    pub replay: bool,
    /// Which calls fail.
    pub faults: Vec<McpFault>,
}

impl McpSessionFile {
    /// Name and version of the format, and of everything else in the directory.
    pub const SCHEMA: &'static str = "evalsuite.mcp_session/1";

    /// Reads the file in a directory.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or belongs to another version of evalsuite.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let bytes = fs::read(directory.join(SESSION))?;
        let file: Self = evalsuite_schema::json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if file.schema != Self::SCHEMA {
            return Err(invalid(format!("`schema` is {}, not {}", file.schema, Self::SCHEMA)));
        }
        Ok(file)
    }
}
