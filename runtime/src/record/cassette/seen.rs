//! What an agent sees of its case: a recording made for something else is of no use.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs::{self, File},
    path::Path,
};

use evalsuite_schema::{Case, CliTarget, Content, Input, Location, Part};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    model::{
        messages::{file_parts, prompt},
        suite_location::Places,
    },
    platform::digest::{sha256, sha256_of},
    workspace::diff::unified,
};

/// Differences that are listed.
const SHOWN: usize = 10;
/// Lines of a changed input that are shown.
const SHOWN_LINES: usize = 30;

/// Everything an agent gets, as far as it does not differ between machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    target: String,
    /// As the files write it, with `${{ NAME }}` in place of values.
    input: Input,
    /// What the user says in a conversation, turn by turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<Value>,
    /// SHA-256 of input files by the path as it is written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// SHA-256 of the workspace's files before any hook, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    workspace: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repos: Vec<Value>,
    /// What is called, where the target is a command of a targets file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<Called>,
}

/// A command as the targets file writes it, with `${{ NAME }}` in place of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Called {
    command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    files_format: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
}

impl Seen {
    pub(crate) fn new(case: &Case, target: &str, command: Option<&CliTarget>, places: &Places) -> Self {
        let messages = match &case.input {
            Input::Messages(messages) => messages.as_slice(),
            Input::Data(_) => &[],
        };
        let said = case.conversation.iter().flat_map(|conversation| &conversation.turns).map(|turn| &turn.input);
        let files = file_parts(messages.iter().chain(said))
            .map(|file| (file.written.clone(), digest_of(&places.resolve(file))))
            .collect();
        let mut workspace = BTreeMap::new();
        let mut repos = Vec::new();
        if let Some(wanted) = &case.workspace {
            for layer in [&wanted.base_fixture, &wanted.template].into_iter().flatten() {
                list(&places.resolve(layer), "", &mut workspace);
            }
            repos.extend(wanted.repos.iter().filter_map(|repo| serde_json::to_value(repo).ok()));
        }
        let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
        let turns = turns.filter_map(|turn| serde_json::to_value(&turn.input).ok()).collect();
        let command = command.map(|target| Called {
            command: target.command.clone(),
            cwd: target.cwd.as_ref().map(|cwd| cwd.written.clone()),
            files_format: target.files_format.clone(),
            env: target.env.iter().cloned().collect(),
        });
        Self { target: target.to_owned(), input: as_written(&case.input), turns, files, workspace, repos, command }
    }

    /// Whether both were asked the same, by whatever command: what was answered can be graded as an answer to either.
    pub(crate) fn asks_the_same(&self, other: &Self) -> bool {
        let question = |seen: &Self| Self { command: None, ..seen.clone() }.digest();
        question(self) == question(other)
    }

    /// SHA-256 of everything; the order of keys does not matter.
    pub(crate) fn digest(&self) -> String {
        sha256(sorted(serde_json::to_value(self).unwrap_or_default()).to_string())
    }

    /// What is another one now, for people: the first differences, one a line.
    pub(crate) fn difference(&self, now: &Self) -> String {
        let mut text = String::new();
        let mut say = |line: String| {
            text.push_str("\n  ");
            text.push_str(&line);
        };
        if self.target != now.target {
            say(format!("target: `{}`, now `{}`", self.target, now.target));
        }
        if self.input != now.input {
            say(format!("the input is another one:{}", diff(&shown(&self.input), &shown(&now.input))));
        }
        if self.turns != now.turns {
            say("the turns of the conversation are others".to_owned());
        }
        for line in changed_files("input file", &self.files, &now.files) {
            say(line);
        }
        for line in changed_files("workspace", &self.workspace, &now.workspace) {
            say(line);
        }
        if self.repos != now.repos {
            say("the workspace's repositories are others".to_owned());
        }
        if self.command != now.command {
            let shown = |command: &Option<Called>| {
                serde_json::to_string_pretty(command).unwrap_or_default().trim_matches(['{', '}', '\n']).to_owned()
            };
            say(format!("the target's command is another one:{}", diff(&shown(&self.command), &shown(&now.command))));
        }
        text
    }
}

/// Files by the path that is written: the one where they were found differs between machines.
fn as_written(input: &Input) -> Input {
    let mut input = input.clone();
    if let Input::Messages(messages) = &mut input {
        for message in messages {
            let Some(Content::Parts(parts)) = &mut message.content else { continue };
            for part in parts {
                if let Part::File(file) | Part::Image { file, .. } = part {
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
        // The same words in other messages.
        return String::new();
    }
    let unified = unified("recorded", "now", &format!("{old}\n"), &format!("{new}\n"));
    let lines: Vec<&str> = unified.lines().filter(|line| !line.starts_with("@@")).collect();
    let mut text = String::new();
    for line in lines.iter().take(SHOWN_LINES) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n    {line}");
    }
    if lines.len() > SHOWN_LINES {
        let _ = write!(text, "\n    … and {} more lines", lines.len() - SHOWN_LINES);
    }
    text
}

fn changed_files(what: &str, then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let gone = then.keys().filter(|path| !now.contains_key(*path)).map(|path| (path, "is gone"));
    let other = now.iter().filter_map(|(path, digest)| match then.get(path) {
        None => Some((path, "is new")),
        Some(old) if old != digest => Some((path, "has changed")),
        Some(_) => None,
    });
    let mut changes: Vec<(&String, &str)> = gone.chain(other).collect();
    changes.sort_unstable();
    let mut lines: Vec<String> =
        changes.iter().take(SHOWN).map(|(path, change)| format!("{what}: `{path}` {change}")).collect();
    if changes.len() > SHOWN {
        lines.push(format!("{what}: … and {} more", changes.len() - SHOWN));
    }
    lines
}

/// What cannot be read is no error here: making the workspace reports it.
fn list(directory: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let path = format!("{prefix}{}", name.to_string_lossy());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if name != ".git" {
                list(&entry.path(), &format!("{path}/"), files);
            }
        } else if kind.is_symlink() {
            let destination = fs::read_link(entry.path()).unwrap_or_default();
            files.insert(path, format!("link to {}", destination.display()));
        } else {
            files.insert(path, digest_of(&entry.path()));
        }
    }
}

fn digest_of(file: &Path) -> String {
    File::open(file).and_then(sha256_of).unwrap_or_else(|_| "unreadable".to_owned())
}

/// Keys sorted, and without places in files: a case that only moved is the same case.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(object) => {
            let is_place = |value: &Value| serde_json::from_value::<Location>(value.clone()).is_ok();
            let mut entries: Vec<(String, Value)> =
                object.into_iter().filter(|(key, value)| key != "location" || !is_place(value)).collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Message, PathRef, Role, Workspace};

    use super::*;

    fn reference(path: &str) -> PathRef {
        PathRef { written: path.into(), path: path.into() }
    }

    fn case(text: &str) -> Case {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        let parts = vec![Part::File(reference("note.txt")), Part::Text(text.into())];
        case.input = Input::Messages(vec![Message::new(Role::User, Content::Parts(parts))]);
        case.workspace = Some(Workspace { template: Some(reference("template")), ..Workspace::default() });
        case
    }

    #[test]
    fn what_an_agent_sees_is_told_apart() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("note.txt", "a");
        write("template/kept", "a");
        write("template/d/changed", "a");
        write("template/.git/HEAD", "a");
        let places = Places { package_root: root.path().to_owned(), suite_dir: root.path().to_owned() };
        let then = Seen::new(&case("say hello"), "default", None, &places);
        let kept: Seen = serde_json::from_value(serde_json::to_value(&then).unwrap()).unwrap();
        assert_eq!((&kept, kept.digest()), (&then, then.digest()));
        write("template/.git/HEAD", "b");
        assert_eq!(Seen::new(&case("say hello"), "default", None, &places).digest(), then.digest());

        write("note.txt", "b");
        write("template/d/changed", "b");
        write("template/new", "b");
        let now = Seen::new(&case("say goodbye"), "codex", None, &places);
        assert_ne!(now.digest(), then.digest());
        assert_eq!(
            then.difference(&now),
            "\n  target: `default`, now `codex`\n  the input is another one:\
             \n    --- recorded\n    +++ now\n     <file: path=\"note.txt\">\n     \n    -say hello\n    +say goodbye\
             \n  input file: `note.txt` has changed\
             \n  workspace: `d/changed` has changed\n  workspace: `new` is new"
        );
    }
}
