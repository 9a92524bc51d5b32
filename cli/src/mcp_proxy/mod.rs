//! `cargo evalsuite mcp-proxy`: a proxy between an agent and one of its MCP servers. What they send is passed on as it is, and written to a
//! trace; in a replay, the recording answers.

mod faults;
mod passed_lines;
mod replayed_server;
mod server_process;

use std::ffi::OsString;
use std::io::{BufReader, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use evalsuite::tooling::{McpSessionFile, TraceEvent, variable};

use self::faults::{Claims, Faults};
use self::passed_lines::{Outbox, TraceFile};
use self::replayed_server::ReplayedServer;
use crate::platform::exit_status::{CliError, CommandStatus, Result};

/// Pass on the messages between an agent and an MCP server, and record them
///
/// A run of a target with `mcp` starts this command in place of each server. In an agent's own configuration, write it before the command of
/// the server. In a trial, the session is that of the trial; without a session, messages are passed on and not recorded. Exit status: 0 or
/// another one, as the server ends; 2 if it cannot be started.
#[derive(Debug, Args)]
pub(crate) struct McpProxy {
    /// Directory of the session of a trial [default: EVALSUITE_MCP_SESSION]
    #[arg(long, value_name = "DIR")]
    session: Option<PathBuf>,
    /// Name of the server in the trace
    #[arg(long, value_name = "NAME", default_value = "server", value_parser = server_name)]
    server: String,
    /// Print the version of sessions that this command accepts
    #[arg(long)]
    protocol: bool,
    /// The command of the server
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "protocol")]
    command: Vec<OsString>,
}

/// A name that can be a part of the names of files.
fn server_name(text: &str) -> std::result::Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_name = (1..=64).contains(&text.len()) && text.bytes().all(is_part) && !text.starts_with(['.', '-', '_']);
    is_name
        .then(|| text.to_owned())
        .ok_or_else(|| "use letters, digits, `_`, `-` and `.`, a letter or digit first".to_owned())
}

pub(crate) fn run(command: &McpProxy) -> Result<CommandStatus> {
    if command.protocol {
        println!("{}", McpSessionFile::SCHEMA);
        return Ok(CommandStatus::Good);
    }
    let named = || variable("EVALSUITE_MCP_SESSION").filter(|value| !value.is_empty()).map(PathBuf::from);
    let session = command.session.clone().or_else(named);
    let (trace, faults, replays) = match &session {
        None => (TraceFile::none(), Faults::default(), false),
        Some(directory) => {
            let invalid = |error| CliError::new(format!("the session {}: {error}", directory.display()));
            let file = McpSessionFile::read(directory).map_err(invalid)?;
            let trace = TraceFile::create(directory, &command.server).map_err(invalid)?;
            (trace, Faults::new(file.faults, &command.server, Claims::of(directory)), file.replay)
        }
    };
    let trace = Arc::new(trace);
    let shown = command.command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    trace.write(TraceEvent::Started(shown));
    let outbox = Arc::new(Outbox::new(Arc::clone(&trace)));
    if let Some(directory) = session.filter(|_| replays) {
        return replay(&directory, &command.server, outbox, faults);
    }
    server_process::run(&command.command, outbox, faults)
}

/// Answers from the recording until the agent leaves.
fn replay(directory: &Path, server: &str, outbox: Arc<Outbox>, faults: Faults) -> Result<CommandStatus> {
    let server = ReplayedServer::open(directory, server, outbox, faults)
        .map_err(|error| CliError::new(format!("the recording in {}: {error}", directory.display())))?;
    server.serve(BufReader::new(stdin().lock()))?;
    Ok(CommandStatus::Good)
}
