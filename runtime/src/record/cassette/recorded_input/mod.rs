//! The input of an agent, as its cassette stores it: a recording can only be replayed for the same input.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::json::{FromJson, ToJson, json, skip_empty};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::sorting::{map, sort};
use evalsuite_schema::{
    AcpTarget, Argument, Case, CliTarget, Command, Content, Hook, Hooks, Input, Object, OutputForm, Sealing, Value,
    WorkspaceCopy,
};

use crate::model::messages::{file_parts, given_messages, pretty, prompt};
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::{sha256_of_data, sha256_of_source, sha256_with_key};
use crate::platform::environment;
use crate::platform::untrusted::EntryKind;
use crate::workspace::diff::unified;
use crate::workspace::snapshot::walk;

/// What a recording of this version knows of its input, and older ones do not. Version 1: hooks, values of variables, modes of files, and
/// empty directories. Version 2: hooks of the target, and the files that commands of hooks name. Version 3: the seal of the command, and
/// how its output is read. Version 4: the metadata of the case, how much of a conversation the agent gets, and the
/// files that commands of hooks name by a variable.
const KNOWN_FACTS: u32 = 4;
/// In place of the digest of a directory without files.
const EMPTY_DIRECTORY: &str = "empty directory";
/// After the digest of a file that can be executed.
const EXECUTABLE: &str = " executable";
/// Most changed files that are listed.
const SHOWN_FILES: usize = 10;
/// Most lines of a changed input that are shown.
const SHOWN_LINES: usize = 30;

/// Everything an outcome depends on that does not differ between machines, besides the agent, the graders and their judges.
#[skip_empty(.., metadata, user, files, variables, workspace, hooks, target_hooks, scripts, known_facts)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub(crate) struct AgentInput {
    target: String,
    /// As written in the case file, with `${{ NAME }}` for values.
    input: Input,
    /// The user's input of each turn of a conversation.
    turns: Vec<Value>,
    /// Pairs of messages of a conversation that the agent gets in a turn.
    window_size: Option<u32>,
    /// As written in the case file.
    metadata: Object,
    /// The simulated user, as far as what it says depends on it; null without one.
    user: Value,
    /// SHA-256 of input files by their path in the case file.
    files: BTreeMap<String, String>,
    /// HMAC-SHA-256 of the values of the variables in the input, by name: as far as they are set.
    variables: BTreeMap<String, String>,
    /// SHA-256 of the workspace's files before any hook, by path; also the directories without files.
    workspace: BTreeMap<String, String>,
    repos: Vec<Value>,
    /// The hooks of the workspace; null without any.
    hooks: Value,
    /// The hooks of the target; null without any.
    target_hooks: Value,
    /// SHA-256 of the files that the commands of these hooks name, by path as written.
    scripts: BTreeMap<String, String>,
    /// The command of the target, if it is one.
    command: Option<CommandInput>,
    /// [`KNOWN_FACTS`] when it was recorded.
    known_facts: u32,
}

/// A command as written in the targets file, with `${{ NAME }}` for values.
#[skip_empty(.., in_suite_directory, env, acp, mcp, sealing)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
struct CommandInput {
    command: String,
    cwd: Option<String>,
    in_suite_directory: bool,
    files_format: String,
    env: BTreeMap<String, String>,
    /// Of an agent that speaks the Agent Client Protocol: its authentication method, its permissions and whether it has files of the client. Null for a command.
    acp: Value,
    /// MCP servers of the agent, with the faults of their tools. Null without.
    mcp: Value,
    output: Option<OutputForm>,
    /// What a sealed command may use; null if neither the target nor the suite says so.
    sealing: Value,
}

impl CommandInput {
    fn new(target: &CliTarget) -> Self {
        Self {
            command: target.command.clone(),
            cwd: target.cwd.as_ref().map(|cwd| cwd.written.clone()),
            in_suite_directory: target.in_suite_directory,
            files_format: target.files_format.clone(),
            env: map(target.env.iter().cloned()),
            output: target.output,
            sealing: sealing(&target.sealing),
            acp: Value::Null,
            mcp: target.mcp.as_ref().and_then(|mcp| evalsuite_schema::json::to_value(mcp).ok()).unwrap_or_default(),
        }
    }
}

/// With the written paths: where they lead differs between machines.
fn sealing(sealing: &Sealing) -> Value {
    if *sealing == Sealing::default() {
        return Value::Null;
    }
    let mut sealing = sealing.clone();
    for path in sealing.read.iter_mut().chain(&mut sealing.write) {
        path.path.clone_from(&path.written);
    }
    evalsuite_schema::json::to_value(&sealing).unwrap_or_default()
}

/// What differs in a part of what an outcome depends on, one line each.
type Differences = fn(&AgentInput, &AgentInput) -> Vec<String>;

/// Everything that makes a recording stale. The table in `docs/runs.md` has a row for each.
const PARTS: [Differences; 10] = [
    // Target: its name; of a command, the entry in the targets file as written, and the default of the suite for `sealed`.
    |then, now| {
        let other = (then.target != now.target).then(|| format!("target: `{}`, now `{}`", then.target, now.target));
        let command = (then.command != now.command).then(|| {
            format!(
                "the target's command changed:{}",
                diff(&shown_command(&then.command), &shown_command(&now.command))
            )
        });
        other.into_iter().chain(command).collect()
    },
    // Input, and turns of a conversation with its `window_size`: as written.
    |then, now| {
        let input = (then.input != now.input)
            .then(|| format!("the input changed:{}", diff(&shown(&then.input), &shown(&now.input))));
        let turns = (then.turns != now.turns).then(|| "the turns of the conversation changed".to_owned());
        let window = (then.window_size != now.window_size).then(|| "`window_size` changed".to_owned());
        input.into_iter().chain(turns).chain(window).collect()
    },
    // Metadata of the case: as written.
    |then, now| {
        let text = |metadata: &Object| pretty(&Value::Object(metadata.clone()));
        (then.metadata != now.metadata)
            .then(|| format!("the metadata changed:{}", diff(&text(&then.metadata), &text(&now.metadata))))
            .into_iter()
            .collect()
    },
    // Simulated user of a conversation: as written, without its time limit and its graders.
    |then, now| {
        let text = |user: &Value| if user.is_null() { String::new() } else { pretty(user) };
        (then.user != now.user)
            .then(|| format!("the simulated user changed:{}", diff(&text(&then.user), &text(&now.user))))
            .into_iter()
            .collect()
    },
    // Values of the variables in the input and the metadata, `${{ NAME }}`: a keyed digest of each, if the variable is set now; the values are
    // not in the recording.
    |then, now| {
        let others = then.variables.iter().filter(|(name, digest)| now.variables.get(*name) != Some(*digest));
        others.map(|(name, _)| format!("the variable `{name}` of the input has another value")).collect()
    },
    // Input files: their contents.
    |then, now| changed_files("input file", &then.files, &now.files),
    // Workspace before any hook, also if a template is a link: names and contents of files, which of them can be executed (on Unix), targets of
    // links, directories without files.
    |then, now| changed_files("workspace", &then.workspace, &now.workspace),
    // Repositories of the workspace: as written.
    |then, now| {
        (then.repos != now.repos).then(|| "the workspace's repositories changed".to_owned()).into_iter().collect()
    },
    // Hooks of the workspace and of the target: as written.
    |then, now| {
        let of = |what: &str, then: &Value, now: &Value| {
            (then != now).then(|| format!("{what} changed:{}", diff(&pretty(then), &pretty(now))))
        };
        let target = of("the hooks of the target", &then.target_hooks, &now.target_hooks);
        of("the hooks", &then.hooks, &now.hooks).into_iter().chain(target).collect()
    },
    // Files of the package that commands of hooks name: their contents.
    |then, now| changed_files("file of a hook", &then.scripts, &now.scripts),
];

impl AgentInput {
    pub(crate) fn new(case: &Case, target: &str, command: Option<&CliTarget>, location: &SuiteLocation) -> Self {
        let files = file_parts(given_messages(case)).into_iter();
        let files = map(files.map(|file| (file.written.clone(), digest_of(&location.resolve(file)))));
        let mut workspace = BTreeMap::new();
        let (mut repos, mut hooks, mut scripts) = (Vec::new(), Value::Null, BTreeMap::new());
        if let Some(wanted) = &case.workspace {
            for layer in [&wanted.base_fixture, &wanted.template].into_iter().flatten() {
                add_digests(&location.resolve(layer), &mut workspace);
            }
            wanted.copies.iter().for_each(|copy| add_copy(copy, location, &mut workspace));
            if wanted.hooks != Hooks::default() {
                hooks = evalsuite_schema::json::to_value(&wanted.hooks).unwrap_or_default();
                add_files_of_hooks(&wanted.hooks, case, location, &mut scripts);
            }
            repos.extend(wanted.repos.iter().filter_map(|repo| evalsuite_schema::json::to_value(repo).ok()));
        }
        let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
        let turns: Vec<Value> = turns.filter_map(|turn| evalsuite_schema::json::to_value(&turn.input).ok()).collect();
        let input = with_written_paths(&case.input);
        let mut user =
            case.user().and_then(|user| evalsuite_schema::json::to_value(&user.as_asked()).ok()).unwrap_or_default();
        if let Value::Object(user) = &mut user {
            user.remove("location");
        }
        let command = command.map(CommandInput::new);
        Self {
            target: target.to_owned(),
            variables: variables(&case.id, &json!([input, turns, user, case.metadata])),
            input,
            turns,
            window_size: case.conversation.as_ref().and_then(|conversation| conversation.window_size),
            metadata: case.metadata.clone(),
            user,
            files,
            workspace,
            repos,
            hooks,
            target_hooks: Value::Null,
            scripts,
            command,
            known_facts: KNOWN_FACTS,
        }
    }

    /// The same with the hooks of the target.
    pub(crate) fn with_target_hooks(mut self, hooks: Option<&Hooks>, case: &Case, location: &SuiteLocation) -> Self {
        if let Some(hooks) = hooks.filter(|hooks| **hooks != Hooks::default()) {
            self.target_hooks = evalsuite_schema::json::to_value(hooks).unwrap_or_default();
            add_files_of_hooks(hooks, case, location, &mut self.scripts);
        }
        self
    }

    /// The same of an agent that speaks the Agent Client Protocol.
    pub(crate) fn with_acp(mut self, target: Option<&AcpTarget>) -> Self {
        if let (Some(target), Some(command)) = (target, &mut self.command) {
            let permissions = evalsuite_schema::json::to_value(&target.permissions).unwrap_or_default();
            command.acp = json!({
                "authenticate": target.authenticate,
                "client_files": target.client_files,
                "permissions": permissions,
            });
            // Without the key, recordings are those of before it.
            if let (Some(tokens), Some(acp)) = (target.tokens, command.acp.as_object_mut()) {
                acp.insert("tokens".to_owned(), tokens.word().into());
            }
        }
        self
    }

    /// The same with the skill of the target.
    pub(crate) fn with_target_skill(mut self, skill: &[WorkspaceCopy], location: &SuiteLocation) -> Self {
        skill.iter().for_each(|copy| add_copy(copy, location, &mut self.workspace));
        self
    }

    /// Whether both ask the agent the same, by whatever command: an answer to one can be graded as an answer to the other.
    pub(crate) fn asks_the_same(&self, other: &Self) -> bool {
        let question = |seen: &Self| Self { command: None, ..seen.clone() };
        question(self).is_same(&question(other))
    }

    /// Whether what was recorded for one is a recording for the other: they agree in what both know.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (own, others) = (self.known_to(other), other.known_to(self));
        PARTS.iter().all(|differences| differences(&own, &others).is_empty())
    }

    /// What `other` knows, too.
    fn known_to(&self, other: &Self) -> Self {
        let mut known = self.clone();
        let facts = self.known_facts.min(other.known_facts);
        if let Some(command) = known.command.as_mut().filter(|_| facts < 3) {
            (command.output, command.sealing) = (None, Value::Null);
        }
        if facts < 4 {
            (known.window_size, known.metadata) = (None, Object::new());
            known.scripts.retain(|word, _| below_variable(word).is_none());
        }
        if facts < 2 {
            (known.target_hooks, known.scripts) = (Value::Null, BTreeMap::new());
        }
        let is_older = facts < 1;
        if is_older {
            known.hooks = Value::Null;
            known.workspace.retain(|_, digest| digest != EMPTY_DIRECTORY);
        }
        // Only Unix knows which files can be executed.
        if is_older || cfg!(not(unix)) {
            for digest in known.workspace.values_mut() {
                digest.truncate(digest.strip_suffix(EXECUTABLE).unwrap_or(digest).len());
            }
        }
        known.variables.retain(|name, _| other.variables.contains_key(name));
        known
    }

    /// Whether all files were read. Otherwise an equal digest may be that of another input.
    pub(crate) fn is_readable(&self) -> bool {
        let mut digests = self.files.values().chain(self.workspace.values()).chain(self.scripts.values());
        digests.all(|digest| digest != UNREADABLE)
    }

    /// SHA-256 of everything but the values of variables, independent of the order of keys.
    pub(crate) fn digest(&self) -> String {
        sha256_of_data(&Self { variables: BTreeMap::new(), known_facts: 0, ..self.clone() })
    }

    /// The first differences to the input now, one per line, as text for people.
    pub(crate) fn difference(&self, now: &Self) -> String {
        self.known_to(now).difference_of_known(&now.known_to(self))
    }

    fn difference_of_known(&self, now: &Self) -> String {
        let lines = PARTS.iter().flat_map(|differences| differences(self, now));
        lines.map(|line| format!("\n  {line}")).collect()
    }
}

fn shown_command(command: &Option<CommandInput>) -> String {
    let text = evalsuite_schema::json::to_string_pretty(command).unwrap_or_default();
    text.trim_matches(['{', '}', '\n']).to_owned()
}

/// The input with the written paths of files: where they were found differs between machines.
fn with_written_paths(input: &Input) -> Input {
    let mut input = input.clone();
    if let Input::Messages(messages) = &mut input {
        for message in messages {
            let Some(Content::Parts(parts)) = &mut message.content else { continue };
            for part in parts {
                if let Some(file) = part.file_mut() {
                    file.path.clone_from(&file.written);
                }
            }
        }
    }
    input
}

fn shown(input: &Input) -> String {
    prompt(input, |file| file.written.clone().into())
}

pub(crate) fn diff(old: &str, new: &str) -> String {
    if old == new {
        // The same text, split into other messages.
        return String::new();
    }
    let unified = unified("recorded", "now", &format!("{old}\n"), &format!("{new}\n"));
    let lines: Vec<&str> = unified.lines().filter(|line| !line.starts_with("@@")).collect();
    let mut text: String = lines.iter().take(SHOWN_LINES).map(|line| format!("\n    {line}")).collect();
    if lines.len() > SHOWN_LINES {
        text.push_str(&format!("\n    … and {} more lines", lines.len() - SHOWN_LINES));
    }
    text
}

fn changed_files(what: &str, then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let gone = then.keys().filter(|path| !now.contains_key(*path)).map(|path| (path, "was deleted"));
    let other = now.iter().filter_map(|(path, digest)| match then.get(path) {
        _ if digest == UNREADABLE => Some((path, "cannot be read")),
        None => Some((path, "was added")),
        Some(old) if old != digest => Some((path, "changed")),
        Some(_) => None,
    });
    let mut changes: Vec<(&String, &str)> = gone.chain(other).collect();
    sort(&mut changes);
    let mut lines: Vec<String> =
        changes.iter().take(SHOWN_FILES).map(|(path, change)| format!("{what}: `{path}` {change}")).collect();
    if changes.len() > SHOWN_FILES {
        lines.push(format!("{what}: … and {} more", changes.len() - SHOWN_FILES));
    }
    lines
}

/// Digests of the values of the variables in the input of a case. The name of the variable and the id of the case are in the key, so that
/// equal values cannot be recognized.
fn variables(case: &str, seen: &Value) -> BTreeMap<String, String> {
    let text = seen.to_string();
    let names: BTreeSet<&str> = Syntax::Variable.names(&text).collect();
    let values = names.into_iter().filter_map(|name| Some((name, environment::var(name)?)));
    map(values.map(|(name, value)| (name.to_owned(), sha256_with_key(&format!("{case}/{name}"), &value))))
}

/// The files and links below a directory, and the directories without any, without `.git`. The directory may be a link. Making the workspace
/// reports what cannot be read; here it is [`UNREADABLE`].
fn add_digests(directory: &Path, files: &mut BTreeMap<String, String>) {
    let root = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let mut directories = BTreeSet::new();
    let mut walk = walk(&root, |name| name == ".git");
    for found in walk.by_ref() {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                files.insert(error.to_string(), UNREADABLE.to_owned());
                continue;
            }
        };
        let digest = match found.kind {
            EntryKind::Link => format!("link to {}", with_slashes(&found.destination().unwrap_or_default())),
            EntryKind::Directory => {
                directories.insert(found.name());
                continue;
            }
            EntryKind::File | EntryKind::Other => {
                let digest = found.open().map_err(io::Error::from).and_then(|file| {
                    let ending = if is_executable(&file)? { EXECUTABLE } else { "" };
                    Ok(sha256_of_source(file)? + ending)
                });
                digest.unwrap_or_else(|_| UNREADABLE.to_owned())
            }
        };
        files.insert(found.name(), digest);
    }
    if walk.is_cut() {
        files.insert("…".to_owned(), UNREADABLE.to_owned());
    }
    for directory in directories {
        let below = format!("{directory}/");
        if files.range(below.clone()..).next().is_none_or(|(name, _)| !name.starts_with(&below)) {
            files.insert(below, EMPTY_DIRECTORY.to_owned());
        }
    }
}

#[cfg(unix)]
fn is_executable(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// The files of a copy under their paths in the workspace.
fn add_copy(copy: &WorkspaceCopy, location: &SuiteLocation, files: &mut BTreeMap<String, String>) {
    let source = location.resolve(&copy.from);
    if !source.is_dir() {
        files.insert(copy.to.clone(), digest_of(&source));
        return;
    }
    let mut found = BTreeMap::new();
    add_digests(&source, &mut found);
    let is_copied = |name: &str| !copy.without.iter().any(|without| Path::new(name).starts_with(without));
    let copied = found.into_iter().filter(|(name, _)| is_copied(name));
    files.extend(copied.map(|(name, digest)| (format!("{}/{name}", copy.to), digest)));
}

/// In place of the digest of a file that cannot be read. It differs from everything, also from itself: the file may have changed.
pub(crate) const UNREADABLE: &str = "unreadable";

/// SHA-256 of a file, whatever its line ends.
pub(crate) fn digest_of(file: &Path) -> String {
    File::open(file).and_then(sha256_of_source).unwrap_or_else(|_| UNREADABLE.to_owned())
}

/// Adds the digests of the files that the words of a command line name, by word. They are looked for in these directories, in order, also if a
/// variable stands for the directory. The files of absolute paths differ between machines.
pub(crate) fn add_named_files(line: &str, directories: &[PathBuf], found: &mut BTreeMap<String, String>) {
    let is_between = |character: char| character.is_whitespace() || "'\"`;|&<>()=".contains(character);
    for word in line.split(is_between).filter(|word| word.contains(['.', '/'])) {
        let path = Path::new(below_variable(word).unwrap_or(word));
        let mut files = directories.iter().map(|directory| directory.join(path));
        if let Some(file) = files.find(|file| path.is_relative() && file.is_file()) {
            found.insert(word.to_owned(), digest_of(&file));
        }
    }
}

/// The rest of a path that begins with a variable: `$NAME/`, `${NAME}/` or `{{name}}/`.
fn below_variable(word: &str) -> Option<&str> {
    let parts = if word.starts_with('$') { word.split_once('/') } else { word.split_once("}}/") };
    parts.map(|(_, rest)| rest)
}

/// The same for the commands of hooks.
fn add_files_of_hooks(hooks: &Hooks, case: &Case, location: &SuiteLocation, found: &mut BTreeMap<String, String>) {
    let Hooks { before_all, before_each, after_each, after_all } = hooks;
    for hook in [before_all, before_each, after_each, after_all].into_iter().flatten() {
        let Hook { command: Some(command), cwd, .. } = hook else { continue };
        let cwd = cwd.as_ref().map(|cwd| location.resolve(cwd));
        let of_suite = [location.suite_dir.clone(), location.package_root.clone(), location.join(&case.dir)];
        let directories: Vec<PathBuf> = cwd.into_iter().chain(of_suite).collect();
        match command {
            Command::Shell(line) => add_named_files(line, &directories, found),
            Command::Argv(arguments) => arguments.iter().for_each(|argument| match argument {
                Argument::Text(text) => add_named_files(text, &directories, found),
                Argument::Path(path) => {
                    found.insert(path.written.clone(), digest_of(&location.resolve(path)));
                }
            }),
        }
    }
}
