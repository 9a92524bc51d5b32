//! The front matter of `SKILL.md`.

use std::path::Path;

use evalsuite_schema::Skill;
use evalsuite_schema::keys::Keys;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::Scope;
use crate::fields::{Fields, paths};
use crate::read;
use crate::read::node::{Data, Node};
use crate::source::{FileId, Position, Span};

/// The line before and after the front matter.
const FENCE: &str = "---";

const LONGEST_NAME: usize = 64;

const LONGEST_DESCRIPTION: usize = 1024;

const LONGEST_COMPATIBILITY: usize = 500;

/// What the suite takes from the front matter, as far as it could be read.
#[derive(Debug, Default)]
pub(super) struct SkillFile {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) license: Option<String>,
}

pub(super) fn read(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> SkillFile {
    front_matter(path, scope, d).and_then(|root| of_front_matter(&root, scope, d)).unwrap_or_default()
}

fn of_front_matter(root: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<SkillFile> {
    let mut fields = Fields::of_root(root, Skill::TABLE, "write `name: …` and `description: …`", d)?.at_top();
    let name = fields.require("name", d).and_then(|entry| name(&entry.value, scope, d));
    let description = fields
        .require("description", d)
        .and_then(|entry| fields::short_text(&entry.value, "`description`", LONGEST_DESCRIPTION, d));
    if let Some(entry) = fields.get("compatibility") {
        fields::short_text(&entry.value, "`compatibility`", LONGEST_COMPATIBILITY, d);
    }
    if let Some(entry) = fields.get("metadata") {
        metadata(&entry.value, d);
    }
    if let Some(entry) = fields.get("allowed-tools") {
        allowed_tools(&entry.value, d);
    }
    let written: Option<Skill> = fields.parts(scope, d).into_value_of_rest();
    fields.finish(d);
    Some(SkillFile { name, description, license: written.and_then(|written| written.license) })
}

/// The tree of the front matter, whose places are those in the file.
fn front_matter(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Node> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        let help = "start the file with a line `---`, then `name: …`, `description: …` and another line `---`";
        return fields::reject(Code::RootNotMapping, first_line(file), "the file has no front matter", help, d);
    };
    // A line without content in place of the first: the lines below keep their places.
    let mut yaml = " ".repeat(FENCE.len());
    yaml.push_str(&first[FENCE.len()..]);
    for line in lines {
        if is_fence(line) {
            return read::parse_yaml(file, &yaml, d);
        }
        yaml.push_str(line);
    }
    let help = "add a line `---` after the last key";
    fields::reject(Code::RootNotMapping, first_line(file), "the front matter has no end", help, d)
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

fn first_line(file: FileId) -> Span {
    let end = Position { column: 1 + 3, ..Position::START };
    Span::new(file, Position::START, end)
}

/// The name, which is that of the directory.
fn name(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<String> {
    let name = fields::string(node, "`name`", d)?;
    let directory = paths::file_name(&scope.roots.suite_root);
    let is_allowed = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    let reason = if name.is_empty() || name.chars().count() > LONGEST_NAME || !name.chars().all(is_allowed) {
        format!("which is not 1 to {LONGEST_NAME} characters out of a-z, 0-9 and `-`")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        "which has a `-` at an end or next to another".to_owned()
    } else if name != directory {
        let message = format!("`name` is `{name}`, but the directory of the skill is `{directory}`");
        // A clone may have any name.
        let (code, help) = if scope.roots.suite_root.join(".git").exists() {
            let reason = "agents load a skill only from a directory with its name";
            (Code::SkillNameMismatch, format!("clone it into a directory `{name}`: {reason}"))
        } else {
            (Code::InvalidSuiteName, format!("rename the directory to `{name}`, or write its name"))
        };
        d.report(code, node.span, message, help);
        return Some(name);
    } else {
        return Some(name);
    };
    let message = format!("`name` is `{name}`, {reason}");
    fields::reject(Code::InvalidSuiteName, node.span, message, format!("write `{}`", proposal(&name)), d)
}

/// A name that is valid.
fn proposal(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| !character.is_ascii_lowercase() && !character.is_ascii_digit());
    let proposal = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let proposal: String = proposal.chars().take(LONGEST_NAME).collect();
    if proposal.is_empty() { "my-skill".to_owned() } else { proposal.trim_matches('-').to_owned() }
}

fn metadata(node: &Node, d: &mut Diagnostics) {
    if fields::object(node, "`metadata`", d).is_some() {
        for entry in node.as_mapping().unwrap_or_default() {
            fields::string(&entry.value, &format!("`metadata.{}`", entry.key), d);
        }
    }
}

/// Text, or what some agents read, too: a list.
fn allowed_tools(node: &Node, d: &mut Diagnostics) {
    match &node.data {
        Data::String(_) => {}
        Data::Sequence(_) => drop(fields::texts(node, "`allowed-tools`", d)),
        _ => drop(fields::wrong_type::<()>(node, "`allowed-tools`", "text or a list of texts", d)),
    }
}
