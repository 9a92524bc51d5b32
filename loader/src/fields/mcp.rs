//! `mcp` of a target: its servers, and what only holds for all of its keys together.

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::keys::{Keys, Parts, Status, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Mcp, McpServer};

use super::paths::Scope;
use super::{Fields, environment, reject};
use crate::diagnostic::{Code, Diagnostics};
use crate::read::node::{Entry, Node};

/// The placeholder of the file with the servers.
const CONFIG: &str = "MCP_CONFIG";

/// Longest name of a server, in characters.
const LONGEST_NAME: usize = 64;

/// Reads `mcp`, and checks that the command names its file only where there is one.
pub(crate) fn read_of_target(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    let command = fields.written(fields.key("command"));
    match fields.get("mcp") {
        Some(entry) => parts.make("mcp", mcp(entry, scope, d)),
        None => {
            let names_file = |text: &str| Syntax::Command.names(text).any(|name| name == CONFIG);
            if let Some(entry) = command.filter(|entry| entry.value.as_str().is_some_and(names_file)) {
                let message = format!("`command` has `{{{CONFIG}}}`, but the target has no `mcp`");
                d.report(Code::UnknownPlaceholder, entry.value.span, message, "add `mcp` with `servers`");
            }
        }
    }
}

/// Reads `mcp` of an agent that gets its servers in a message.
pub(crate) fn read_of_session(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    if let Some(entry) = fields.get("mcp") {
        parts.make("mcp", mcp(entry, scope, d));
    }
}

fn mcp(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Mcp> {
    let mut fields = Fields::new(&entry.value, Mcp::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    let servers = fields.require("servers", d).and_then(|entry| servers(entry, scope, d));
    let keys = ["record", "replay", "faults"].map(|key| fields.get(key));
    fields.finish(d);
    if parts.is_broken() {
        return None;
    }
    let mcp = Mcp {
        servers: servers?,
        record: parts.take_or("record", true)?,
        replay: parts.take("replay")?,
        recorded_by: parts.take("recorded_by")?,
        only_tools: parts.take("only_tools")?,
        faults: parts.take("faults")?,
    };
    let [record, replay, faults] = keys;
    for needs in [replay.filter(|_| mcp.replay), faults.filter(|_| !mcp.faults.is_empty())].into_iter().flatten() {
        if let Some(record) = record.filter(|_| !mcp.record) {
            let message = format!("`record: false` and `{}` contradict each other", needs.key);
            d.report(
                Code::ConflictingKeys,
                record.key_span,
                message,
                "delete one: the proxy that records also does this",
            );
            return None;
        }
    }
    let names: Vec<&str> = mcp.servers.iter().map(|server| server.name.as_str()).collect();
    let unknown = mcp.faults.iter().filter_map(|fault| fault.server.as_deref()).find(|name| !names.contains(name));
    if let (Some(name), Some(entry)) = (unknown, faults) {
        let help = suggest::did_you_mean_or_known(name, &names);
        return reject(Code::TargetsFile, entry.value.span, format!("`faults` names the server `{name}`"), help, d);
    }
    Some(mcp)
}

fn servers(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<McpServer>> {
    let Some(entries) = entry.value.as_mapping() else {
        return super::wrong_type(&entry.value, "`servers`", "a mapping of names to servers", d);
    };
    if entries.is_empty() {
        return reject(Code::TargetsFile, entry.value.span, "`servers` is empty", "name a server, or delete `mcp`", d);
    }
    super::all(entries, |entry| server(entry, scope, d))
}

fn server(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<McpServer> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let name = &entry.key;
    let is_name = name.len() <= LONGEST_NAME && name.bytes().all(is_part) && !name.starts_with(['.', '-', '_']);
    if !is_name || name.is_empty() {
        let help =
            "use up to 64 letters, digits, `_`, `-` and `.`, a letter or digit first: it is a part of file names";
        d.report(Code::TargetsFile, entry.key_span, format!("`{name}` is not a valid name of an MCP server"), help);
    }
    let mut fields = Fields::new(&entry.value, McpServer::TABLE, d)?;
    let url = fields.key("url");
    if let (Some(entry), Status::Refused(code, message, help)) = (fields.written(url), url.status) {
        return reject(code, entry.key_span, message, help, d);
    }
    let mut parts = fields.parts(scope, d);
    if let Some(transport) = fields.get("type") {
        check_transport(&transport.value, d);
    }
    if let Some(entry) = fields.get("env") {
        parts.set("env", Written::made(environment(entry, d)));
    }
    fields.finish(d);
    let server: McpServer = parts.into_value()?;
    is_name.then(|| McpServer { name: name.clone(), ..server })
}

/// Clients name the transport in files that they share.
fn check_transport(node: &Node, d: &mut Diagnostics) {
    match node.as_str() {
        Some("stdio") => {}
        _ => {
            let message = "only MCP servers with `type: stdio` are supported";
            d.report(
                Code::UnsupportedKey,
                node.span,
                message,
                "name a command that speaks MCP on standard input and output",
            );
        }
    }
}
