//! The commands with which an agent starts its servers, the file with them, and the program that is the proxy: `cargo-evalsuite` of this
//! version, with the feature `mcp`.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use evalsuite_schema::json::json;
use evalsuite_schema::{McpServer, Object, Value};

use crate::platform::process::Echo;
use crate::platform::{environment, process};
use crate::record::mcp::McpSessionFile;

/// The command with which an agent starts a server: that of the proxy in front of it, or of the server itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProxiedServer {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    /// What the agent adds to the environment.
    pub(crate) env: Vec<(String, String)>,
    /// Further keys of the server for the agent.
    pub(crate) config: Object,
}

impl ProxiedServer {
    /// A server without a proxy.
    pub(super) fn direct(server: &McpServer) -> Self {
        let McpServer { name, command, args, env, config } = server.clone();
        Self { name, command, args, env, config }
    }

    /// A server behind the proxy `program`, in a session.
    pub(super) fn behind(program: &Path, session: &Path, server: &McpServer) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let options = ["mcp-proxy", "--session"].map(str::to_owned).into_iter();
        let options = options.chain([text(session), "--server".to_owned(), server.name.clone(), "--".to_owned()]);
        let args = options.chain([server.command.clone()]).chain(server.args.iter().cloned()).collect();
        Self { command: text(program), args, ..Self::direct(server) }
    }

    /// The server in `session/new` of the Agent Client Protocol, which has no place for further keys.
    #[cfg(feature = "acp")]
    pub(super) fn session_entry(&self) -> Value {
        let env: Value = self.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        json!({"name": self.name, "command": self.command, "args": self.args, "env": env})
    }

    fn entry(&self) -> Value {
        let mut entry = self.config.clone();
        entry.insert("command".to_owned(), self.command.clone().into());
        entry.insert("args".to_owned(), self.args.iter().cloned().map(Value::from).collect());
        if !self.env.is_empty() {
            let env: Object = self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            entry.insert("env".to_owned(), env.into());
        }
        entry.into()
    }
}

/// The servers in the form that agents read.
pub(super) fn config_file(servers: &[ProxiedServer]) -> Value {
    let servers: Object = servers.iter().map(|server| (server.name.clone(), server.entry())).collect();
    json!({ "mcpServers": servers })
}

/// The variable in which `cargo evalsuite run` passes its own program.
pub(crate) const PROGRAM: &str = "EVALSUITE_MCP_PROXY";

/// Longest time to ask a program for its version.
const LIMIT: Duration = Duration::from_secs(20);

/// How many directories above that of the test program may have the one of a command line from the same build.
const ABOVE: usize = 3;

/// The first program that can be the proxy; the error says what was looked for.
pub(super) fn proxy_program() -> Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(|| find(candidates())).clone()
}

fn find(candidates: Vec<PathBuf>) -> Result<PathBuf, String> {
    let mut problems = Vec::new();
    for program in candidates {
        match check(&program) {
            Ok(()) => return Ok(program),
            Err(problem) => problems.push(format!("{}: {problem}", program.display())),
        }
    }
    let seen = if problems.is_empty() { String::new() } else { format!(" ({})", problems.join("; ")) };
    Err(format!(
        "the proxy between the agent and its MCP servers is `cargo evalsuite mcp-proxy`, which was not found{seen}\nhelp: `cargo install \
         cargo-evalsuite --version {} --features mcp`",
        env!("CARGO_PKG_VERSION")
    ))
}

/// Where the program may be: what a variable names, then the build of this program, then what cargo finds.
fn candidates() -> Vec<PathBuf> {
    let file = format!("cargo-evalsuite{}", env::consts::EXE_SUFFIX);
    let named = environment::var_os(PROGRAM).filter(|value| !value.is_empty());
    if let Some(named) = named {
        return vec![named.into()];
    }
    let own = env::current_exe().unwrap_or_default();
    let built = own.ancestors().skip(1).take(ABOVE).map(Path::to_owned);
    let path = environment::var_os("PATH").unwrap_or_default();
    let cargo = environment::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).map(|home| home.join("bin"));
    let directories = built.chain(env::split_paths(&path).collect::<Vec<_>>()).chain(cargo);
    let mut found: Vec<PathBuf> =
        directories.map(|directory| directory.join(&file)).filter(|path| path.is_file()).collect();
    found.dedup();
    found
}

/// Whether a program speaks the same version of the session; the error says why not.
fn check(program: &Path) -> Result<(), String> {
    static CHECKED: Mutex<BTreeMap<PathBuf, Result<(), String>>> = Mutex::new(BTreeMap::new());
    let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    checked.entry(program.to_owned()).or_insert_with(|| ask(program)).clone()
}

fn ask(program: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(["mcp-proxy", "--protocol"]);
    let finished = process::run(command, Vec::new(), LIMIT, Echo::Off).map_err(|error| error.to_string())?;
    match finished.stdout.text().trim() {
        McpSessionFile::SCHEMA => Ok(()),
        _ if finished.timed_out => Err("it does not end".to_owned()),
        "" => Err(finished.stderr.text().lines().next().unwrap_or("it prints no version").to_owned()),
        other => Err(format!("it speaks {other}, not {}", McpSessionFile::SCHEMA)),
    }
}

#[cfg(test)]
mod proxied_server_tests {
    use super::*;

    #[test]
    fn the_file_has_the_form_that_agents_read() {
        let server = McpServer {
            name: "notes".into(),
            command: "notes-server".into(),
            args: vec!["--root".into(), ".".into()],
            env: vec![("KEY".into(), "secret".into())],
            config: [("trust", true)].into_iter().collect(),
        };
        let direct =
            json!({"trust": true, "command": "notes-server", "args": ["--root", "."], "env": {"KEY": "secret"}});
        assert_eq!(config_file(&[ProxiedServer::direct(&server)]), json!({"mcpServers": {"notes": direct}}));
        let behind = ProxiedServer::behind(Path::new("/bin/cargo-evalsuite"), Path::new("/t/mcp"), &server);
        let args = ["mcp-proxy", "--session", "/t/mcp", "--server", "notes", "--", "notes-server", "--root", "."];
        assert_eq!(
            (behind.command.as_str(), behind.args.as_slice()),
            ("/bin/cargo-evalsuite", args.map(str::to_owned).as_slice())
        );
    }
}

#[cfg(all(test, unix))]
mod proxy_program_tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn another_version_is_passed_over_and_named_if_there_is_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let program = |name: &str, script: &str| {
            let path = directory.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let old = program("old", "echo evalsuite.mcp_session/0");
        let bare = program("bare", "echo 'error: requires the feature `mcp`' >&2; exit 2");
        let good = program("good", "echo evalsuite.mcp_session/1");
        assert_eq!(find(vec![old.clone(), bare.clone(), good.clone()]), Ok(good));
        let error = find(vec![old, bare]).unwrap_err();
        assert!(
            error.contains("it speaks evalsuite.mcp_session/0") && error.contains("requires the feature"),
            "{error}"
        );
        assert!(error.contains("--features mcp"), "{error}");
    }
}
