//! The front matter of `SKILL.md`, read as `skills-ref` 0.1.1 reads it: all scalars are text. What that refuses is at least a warning.

use std::path::Path;

use evalsuite_schema::Skill;
use evalsuite_schema::keys::Keys;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::paths::Scope;
use crate::fields::{Fields, paths};
use crate::read;
use crate::read::node::{Data, Node};
use crate::source::{FileId, Position, Span};

/// The line before and after the front matter.
const FENCE: &str = "---";

/// The keys of the specification.
const KEYS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

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

/// The name in a front matter of which nothing else is checked; `None` if a problem was reported.
pub(super) fn read_name(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<String> {
    let root = front_matter(path, scope, d)?;
    match root.entry("name").and_then(|entry| entry.value.as_str()) {
        Some(name) => Some(name.trim().to_owned()),
        None => fields::reject(Code::MissingKey, root.span, "the front matter has no `name`", "write `name: …`", d),
    }
}

fn of_front_matter(root: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<SkillFile> {
    let mut fields = Fields::of_root(root, Skill::TABLE, "write `name: …` and `description: …`", d)?.at_top();
    let name = fields.require("name", d).and_then(|entry| name(&entry.value, scope, d));
    let description = fields
        .require("description", d)
        .and_then(|entry| fields::short_text(&entry.value, "`description`", LONGEST_DESCRIPTION, d))
        .map(|description| description.trim().to_owned());
    if let Some(entry) = fields.get("compatibility") {
        compatibility(&entry.value, d);
    }
    if let Some(entry) = fields.get("metadata") {
        metadata(&entry.value, d);
    }
    if let Some(entry) = fields.get("allowed-tools") {
        allowed_tools(&entry.value, d);
    }
    let written: Option<Skill> = fields.parts(scope, d).into_value_of_rest();
    fields.finish(d);
    for entry in root.as_mapping().unwrap_or_default() {
        let is_extension = entry.key.starts_with("x-") || Skill::TABLE.keys.iter().any(|key| key.name == entry.key);
        if is_extension && !KEYS.contains(&entry.key.as_str()) {
            let message =
                format!("`{}` is an extension, which the reference reader of Agent Skills refuses", entry.key);
            d.report(Code::UnportableSkill, entry.key_span, message, "write it below `metadata`, if no agent reads it");
        }
    }
    Some(SkillFile { name, description, license: written.and_then(|written| written.license) })
}

/// The tree of the front matter, whose places are those in the file.
fn front_matter(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Node> {
    let (file, text, has_byte_order_mark) = read::read_marked_text(path, scope.files, d)?;
    if has_byte_order_mark {
        let message = "the file starts with a byte order mark, which the reference reader of Agent Skills refuses";
        d.report(Code::UnportableSkill, first_line(file), message, "save the file as UTF-8 without it");
    }
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_opening_fence(line)) else {
        let help = "start the file with a line `---`, then `name: …`, `description: …` and another line `---`";
        return fields::reject(Code::RootNotMapping, first_line(file), "the file has no front matter", help, d);
    };
    // A line without content in place of the first: the lines below keep their places.
    let mut yaml = " ".repeat(FENCE.len());
    yaml.push_str(&first[FENCE.len()..]);
    let mut early_ends = Vec::new();
    for (line, number) in lines.zip(2..) {
        if is_fence(line) {
            let message = "`---` in a line of the front matter, where it ends for the reference reader of Agent Skills";
            for place in early_ends {
                let span = Span::new(file, place, Position { column: place.column + 3, ..place });
                d.report(Code::UnportableSkill, span, message, "write other characters, such as `–`");
            }
            return read::parse_texts(file, &yaml, d);
        }
        if let Some((before, _)) = line.split_once(FENCE) {
            let column = u32::try_from(before.chars().count()).unwrap_or_default() + 1;
            early_ends.push(Position { line: number, column });
        }
        yaml.push_str(line);
    }
    let help = "add a line `---` after the last key";
    fields::reject(Code::RootNotMapping, first_line(file), "the front matter has no end", help, d)
}

/// The first line may end in a comment.
fn is_opening_fence(line: &str) -> bool {
    let comment = line.strip_prefix(FENCE).filter(|rest| rest.starts_with([' ', '\t']));
    is_fence(line) || comment.is_some_and(|rest| rest.trim_start().starts_with('#'))
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
    let name = fields::string(node, "`name`", d)?.trim().to_owned();
    let directory = paths::file_name(&scope.roots.suite_root);
    let composed: String = name.nfkc().collect();
    let is_valid =
        composed == composed.to_lowercase() && composed.chars().all(|letter| is_alphanumeric(letter) || letter == '-');
    let reason = if composed.is_empty() || composed.chars().count() > LONGEST_NAME || !is_valid {
        format!("which is not 1 to {LONGEST_NAME} lowercase letters, digits and `-`")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        "which has a `-` at an end or next to another".to_owned()
    } else if composed != directory.nfkc().collect::<String>() {
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

/// Whether Python's `str.isalnum` accepts the character: a letter or a number, but no mark and no letter in a black circle or square.
fn is_alphanumeric(character: char) -> bool {
    character.is_alphanumeric()
        && !is_combining_mark(character)
        && !matches!(character, '\u{24B6}'..='\u{24E9}' | '\u{1F130}'..='\u{1F149}' | '\u{1F150}'..='\u{1F169}' | '\u{1F170}'..='\u{1F189}')
}

/// A name that is valid.
fn proposal(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| !is_alphanumeric(character));
    let proposal = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let proposal: String = proposal.chars().take(LONGEST_NAME).collect();
    if proposal.is_empty() { "my-skill".to_owned() } else { proposal.trim_matches('-').to_owned() }
}

fn compatibility(node: &Node, d: &mut Diagnostics) {
    if node.as_str().is_none_or(|text| !text.trim().is_empty()) {
        fields::short_text(node, "`compatibility`", LONGEST_COMPATIBILITY, d);
    }
}

fn metadata(node: &Node, d: &mut Diagnostics) {
    // A key without a value is empty text.
    if node.as_str() == Some("") {
        return;
    }
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
