//! The commands with which an agent starts its servers, and the file with them.

use std::path::Path;

use evalsuite_schema::json::json;
use evalsuite_schema::{McpServer, Object, Value};

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

#[cfg(test)]
mod tests {
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
