//! Commands: a command line for the shell, or a program and its arguments; what a sealed one may use; and `mcp` of a target with its
//! servers. Here is what tables do not state.

use std::path::{Path, PathBuf};

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::keys::{Keys, Parts, Status, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Argument, Command, Mcp, McpServer, Network, NetworkPorts, PathRef};

use super::paths::{self, PathKind, Scope, SearchFailure, is_absolute};
use super::{Fields, environment, label, list, reject, text, values, wrong_type};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, in_place_of};
use crate::fields;
use crate::read::node::{Data, Entry, Node};

/// Endings by which an argument is recognised as the script that an interpreter runs.
const SCRIPTS: &[&str] = &[".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1"];

/// Reads a command: text for the shell, or a list for no shell. `cwd` is searched before everything else.
///
/// `None`: a problem was reported.
pub(crate) fn read(
    node: &Node,
    what: &str,
    scope: Scope<'_>,
    cwd: Option<&Path>,
    d: &mut Diagnostics,
) -> Option<Command> {
    match &node.data {
        Data::String(text) if text.trim().is_empty() => empty(node, format!("{what} is empty"), d),
        Data::String(text) => Some(Command::Shell(text.clone())),
        Data::Sequence(_) => argv(node, what, scope, cwd, d),
        _ => fields::wrong_type(node, what, "text or a list of text", d),
    }
}

/// Reads a command that must be a list of program and arguments.
pub(crate) fn argv(
    node: &Node,
    what: &str,
    scope: Scope<'_>,
    cwd: Option<&Path>,
    d: &mut Diagnostics,
) -> Option<Command> {
    let items = fields::list(node, what, d)?;
    if items.is_empty() {
        return empty(node, format!("{what} is an empty list"), d);
    }
    let words = fields::all(items, |item| match item.as_str() {
        Some(word) if word.trim().is_empty() => empty(item, format!("an element of {what} is empty"), d),
        None => fields::wrong_type(item, &format!("an element of {what}"), "text", d),
        word => word,
    })?;
    let is_file = || search_places(scope, cwd).iter().any(|place| place.join(words[0]).is_file());
    if let Some(problem) = program_with_blanks(node, &words, what).filter(|_| !is_file()) {
        d.push(problem.at(items[0].span));
        return None;
    }
    let program = program(&words);
    let mut places = None;
    let argument = |(index, (&word, item)): (usize, (&&str, &Node))| {
        let is_program = Some(index) == program;
        if !(is_program || starts_with_dots(word) && may_be_path(word)) {
            return Some(Argument::Text(word.to_owned()));
        }
        let places = places.get_or_insert_with(|| search_places(scope, cwd));
        let kind = if is_program { PathKind::File } else { PathKind::Any };
        let miss = match scope.search(word, kind, places) {
            Ok(found) => return Some(Argument::Path(found.reference)),
            Err(miss) => miss,
        };
        let exists = || places.iter().any(|place| paths::normalize(&place.join(word)).symlink_metadata().is_ok());
        if !is_program && (matches!(miss, SearchFailure::Missing(_)) || !exists()) {
            let message = format!("`{word}` does not exist in the suite");
            d.report(Code::ArgumentNotFound, item.span, message, "it is passed unchanged");
            return Some(Argument::Text(word.to_owned()));
        }
        scope.report(miss, word, item, "the command", (Code::MissingPath, kind), d);
        None
    };
    words.iter().zip(items).enumerate().map(argument).collect::<Option<_>>().map(Command::Argv)
}

/// A list whose first element is a whole command line: the program would have this name.
fn program_with_blanks(node: &Node, words: &[&str], what: &str) -> Option<Diagnostic> {
    let first = words[0].trim();
    if !first.contains(char::is_whitespace) || first.contains("{{") || paths::is_absolute(first) {
        return None;
    }
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    let argv: Vec<String> = first.split_whitespace().chain(words[1..].iter().copied()).map(quoted).collect();
    let line = quoted(&words.join(" && "));
    let (argv, first) = (argv.join(", "), words[0]);
    let are_commands = words.iter().all(|word| word.trim().contains(char::is_whitespace));
    let help = match (words, are_commands) {
        ([_], _) => format!("write `{line}`, or `[{argv}]`"),
        (_, true) => format!("a list is one command: write `{line}` for several commands, or one word per element"),
        (_, false) => format!("write `[{argv}]`, or `{line}` for several commands"),
    };
    let fix = in_place_of(node.span, line).filter(|_| are_commands && node.is_flow());
    let message = format!("the program in {what} is `{first}`: a list is a program and its arguments");
    Some(Diagnostic::new(Code::InvalidCommand, message).help(help).fix_if(fix))
}

/// Drops the problems with files that a command names: they may be in its working directory, which has a problem itself.
pub(crate) fn forgive_paths(found: &mut Diagnostics) {
    found.retain(|problem| !matches!(problem.code, Code::MissingPath | Code::ArgumentNotFound));
}

fn empty<T>(node: &Node, message: String, d: &mut Diagnostics) -> Option<T> {
    let help = "write a shell command, or a list of program and arguments";
    fields::reject(Code::InvalidCommand, node.span, message, help, d)
}

fn search_places(scope: Scope<'_>, cwd: Option<&Path>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = cwd.map(Path::to_path_buf).into_iter().collect();
    places.extend(scope.roots.search(scope.dir));
    places
}

/// Index of the element that has to be a file of the suite.
fn program(words: &[&str]) -> Option<usize> {
    let first = words[0];
    if first.contains('/') && may_be_path(first) && !paths::is_absolute(first) {
        return Some(0);
    }
    let is_script = |word: &str| may_be_path(word) && (starts_with_dots(word) || ends_like_script(word));
    words[1..].iter().position(|word| is_script(word)).map(|index| index + 1)
}

/// Blanks and placeholders do not occur in the paths of a command.
fn may_be_path(word: &str) -> bool {
    !word.contains(char::is_whitespace) && !word.contains("{{")
}

fn starts_with_dots(word: &str) -> bool {
    word.starts_with("./") || word.starts_with("../")
}

/// Options (`--import=hook.mjs`) and URLs end like scripts, too, and are none.
fn ends_like_script(word: &str) -> bool {
    SCRIPTS.iter().any(|ending| word.ends_with(ending)) && !word.starts_with('-') && !word.contains("://")
}

/// Reads `network`, `read` and `write`.
pub(crate) fn read_sealing(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    read_with(fields, parts, scope, false, d);
}

/// Reads them of a target, whose paths may contain variables.
pub(crate) fn read_of_target(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    read_with(fields, parts, scope, true, d);
}

/// Reports keys of a sealed command that are written without a value. Elsewhere that is as if they were absent; here the command would do
/// without what they protect.
pub(crate) fn refuse_blank(fields: &Fields<'_>, d: &mut Diagnostics) {
    let is_blank = |entry: &&Entry| KEYS.contains(&entry.key.as_str()) && entry.value.is_null();
    for entry in fields.node.as_mapping().into_iter().flatten().filter(is_blank) {
        let message = format!("`{}` has no value", entry.key);
        d.report(Code::BlankValue, entry.key_span, message, "write a value or delete the key");
    }
}

const KEYS: [&str; 5] = ["sealed", "network", "unix_sockets", "read", "write"];

fn read_with(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, variables: bool, d: &mut Diagnostics) {
    refuse_blank(fields, d);
    if let Some(entry) = fields.get("network") {
        parts.make("network", network(entry, scope, d));
    }
    for key in ["read", "write"] {
        if let Some(entry) = fields.get(key) {
            parts.make(key, paths(entry, scope, variables, d));
        }
    }
}

fn network(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Network> {
    let (node, what) = (&entry.value, label(entry));
    match &node.data {
        Data::String(_) => {
            let word = values::word(node, &what, Network::WORDS, d)?;
            Some(if word == "none" { Network::None } else { Network::All })
        }
        Data::Mapping(_) => {
            let mut fields = Fields::new(node, NetworkPorts::TABLE, d)?;
            let written_ports = fields.get("ports").map_or(node.span, |entry| entry.value.span);
            let written: Option<NetworkPorts> = fields.parts(scope, d).into_value();
            fields.finish(d);
            let ports = written?.ports;
            if ports.is_empty() {
                let help = "name the ports, or write `network: none`";
                return reject(Code::OutOfRange, written_ports, "`ports` is empty", help, d);
            }
            Some(Network::Ports(ports.into_iter().filter_map(|port| port.try_into().ok()).collect()))
        }
        _ => wrong_type(node, &what, "`all`, `none` or `{ports: [443]}`", d),
    }
}

fn paths(entry: &Entry, scope: Scope<'_>, variables: bool, d: &mut Diagnostics) -> Option<Vec<PathRef>> {
    let what = label(entry);
    let items = list(&entry.value, &what, d)?;
    values::all(items, |item| path(item, &format!("an element of {what}"), scope, variables, d))
}

/// A path. Those outside of the package differ between machines, and are looked for when the command runs.
fn path(node: &Node, what: &str, scope: Scope<'_>, variables: bool, d: &mut Diagnostics) -> Option<PathRef> {
    if node.is_null() {
        let message = format!("{what} must be text, found nothing");
        return reject(
            Code::WrongType,
            node.span,
            message,
            "write a path; the home directory is `\"~\"`, with quotes",
            d,
        );
    }
    let written = text(node, what, d)?;
    let later = is_absolute(&written) || written == "~" || written.starts_with("~/");
    match later && !Syntax::Variable.is_in(&written) || variables && Syntax::Variable.is_in(&written) {
        true => Some(PathRef::new(written)),
        false => scope.find(node, what, PathKind::Any, d).map(|found| found.reference),
    }
}

/// The placeholder of the file with the servers.
const CONFIG: &str = "MCP_CONFIG";

/// Longest name of a server, in characters.
const LONGEST_NAME: usize = 64;

/// Reads `mcp`, and checks that the command names its file only where there is one.
pub(crate) fn read_mcp_of_target(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
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

#[cfg(test)]
mod tests {
    use evalsuite_schema::Command;

    use super::read;
    use crate::diagnostic::Diagnostics;
    use crate::tests::Package;

    /// The arguments, files of the suite in angle brackets, and the problems.
    fn argv(files: &[(&str, &str)], yaml: &str) -> (Vec<String>, Vec<String>) {
        let package = Package::new(files);
        let mut d = Diagnostics::new();
        let command = read(&package.node(yaml), "`command`", package.scope(), None, &mut d);
        let words = match command {
            Some(Command::Argv(arguments)) => arguments
                .into_iter()
                .map(|argument| match argument {
                    evalsuite_schema::Argument::Text(text) => text,
                    evalsuite_schema::Argument::Path(path) => format!("<{}>", path.path),
                })
                .collect(),
            Some(Command::Shell(line)) => vec![line],
            None => Vec::new(),
        };
        (words, package.lines(&d))
    }

    const NONE: &[&str] = &[];

    #[test]
    fn a_shell_command_is_not_looked_into() {
        assert_eq!(argv(&[], "' ./missing.sh | wc '"), (vec![" ./missing.sh | wc ".to_owned()], vec![]));
    }

    #[test]
    fn the_program_is_a_file_of_the_suite() {
        let files = &[("suite/grade.py", ""), ("tools/run.sh", ""), ("suite/data.csv", ""), ("suite/my script.py", "")];
        let table: &[(&str, &[&str])] = &[
            ("[python3, grade.py]", &["python3", "<suite/grade.py>"]),
            ("[python3, -u, ./grade.py, other.py]", &["python3", "-u", "<suite/grade.py>", "other.py"]),
            ("[tools/run.sh, ./data.csv, data.csv]", &["<tools/run.sh>", "<suite/data.csv>", "data.csv"]),
            ("[/usr/bin/env, python3, grade.py]", &["/usr/bin/env", "python3", "<suite/grade.py>"]),
            ("[node, --import=hook.mjs, -e, '1']", &["node", "--import=hook.mjs", "-e", "1"]),
            (
                "[echo, 'my script.py', 'a{{ x }}.py', '${{ DIR }}.sh']",
                &["echo", "my script.py", "a{{ x }}.py", "${{ DIR }}.sh"],
            ),
            ("[grade.py, a]", &["grade.py", "a"]),
            ("['./my script.py', a]", &["./my script.py", "a"]),
        ];
        for (yaml, expected) in table {
            let (words, problems) = argv(files, yaml);
            assert_eq!(problems, NONE, "{yaml}");
            assert_eq!(words, *expected, "{yaml}");
        }
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert_eq!(argv(&[], "[python3, grade.py]").1, ["1:11 E018 the command: file `grade.py` not found"]);
        assert_eq!(argv(&[], "[bin/run]").1, ["1:2 E018 the command: file `bin/run` not found"]);
        assert_eq!(
            argv(&[("suite/tools/x", "")], "[./tools]").1,
            ["1:2 E018 the command: `suite/tools` is not a file"]
        );
        assert_eq!(
            argv(&[], "[python3, /opt/grade.py]").1,
            ["1:11 E017 the command: `/opt/grade.py` is an absolute path"]
        );
    }

    #[test]
    fn another_argument_may_be_missing() {
        let (words, problems) = argv(&[("suite/run.sh", "")], "[./run.sh, ../marketplace, ../../no-such-place]");
        assert_eq!(words, ["<suite/run.sh>", "../marketplace", "../../no-such-place"]);
        assert_eq!(
            problems,
            [
                "1:12 W009 `../marketplace` does not exist in the suite",
                "1:28 W009 `../../no-such-place` does not exist in the suite",
            ]
        );
    }

    #[test]
    fn an_argument_outside_the_package_is_an_error() {
        let (_, problems) = argv(&[("suite/run.sh", "")], "[./run.sh, ../../..]");
        assert_eq!(problems, ["1:12 E017 the command: `../../..` leaves the package"]);
    }

    #[test]
    fn empty_commands_are_errors() {
        for (yaml, expected) in [
            ("'  '", "1:1 E058 `command` is empty"),
            ("[]", "1:1 E058 `command` is an empty list"),
            ("[echo, '']", "1:8 E058 an element of `command` is empty"),
            ("[echo, 5]", "1:8 E020 an element of `command` must be text, found a number"),
            ("5", "1:1 E020 `command` must be text or a list of text, found a number"),
        ] {
            assert_eq!(argv(&[], yaml).1, [expected], "{yaml}");
        }
    }
}
