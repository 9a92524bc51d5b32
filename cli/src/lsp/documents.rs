//! The files that are open in the editor, as they are while somebody types.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_loader::key_tables::{FILES, Type};
use evalsuite_loader::source::{Texts, plain_text};
use evalsuite_schema::discovery::SKILL_FILE;
use gen_lsp_types::Uri;

use super::key_types::{Spot, spot};
use super::positions;
use super::syntax::{self, Data, Node};

#[derive(Debug)]
struct OpenDocument {
    /// As the client writes it.
    uri: Uri,
    text: Arc<str>,
    version: i32,
}

/// The files that are open in the editor, by path.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<PathBuf, OpenDocument>);

impl Documents {
    pub(super) fn open(&mut self, path: PathBuf, uri: Uri, version: i32, text: String) {
        self.0.insert(path, OpenDocument { uri, text: text.into(), version });
    }

    /// Replaces the text of an open file; `false` if it is not open.
    pub(super) fn change(&mut self, path: &Path, version: i32, text: String) -> bool {
        let Some(document) = self.0.get_mut(path) else { return false };
        document.text = text.into();
        document.version = version;
        true
    }

    /// The text that the editor had.
    pub(super) fn close(&mut self, path: &Path) -> Option<Arc<str>> {
        self.0.remove(path).map(|document| document.text)
    }

    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    pub(super) fn version(&self, path: &Path) -> Option<i32> {
        self.0.get(path).map(|document| document.version)
    }

    pub(super) fn uri(&self, path: &Path) -> Uri {
        self.0.get(path).map_or_else(|| positions::of_path(path), |document| document.uri.clone())
    }

    /// The text of a file, open or not.
    pub(super) fn text(&self, path: &Path) -> Option<Arc<str>> {
        match self.0.get(path) {
            Some(document) => Some(Arc::clone(&document.text)),
            None => plain_text(path).map(Into::into),
        }
    }

    /// All of them, for the loader.
    pub(super) fn texts(&self) -> Texts {
        self.0.iter().map(|(path, document)| (path.clone(), Arc::clone(&document.text))).collect()
    }
}

/// The line before and after front matter.
const FENCE: &str = "---";

/// A file of a suite.
pub(super) struct FileTree {
    root: Node,
    kind: &'static Type,
    pub(super) is_json: bool,
}

impl FileTree {
    /// `None` for a file that is not one of a suite's.
    pub(super) fn read(path: &Path, text: &str) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let lower = name.to_ascii_lowercase();
        let (stem, ending) = lower.rsplit_once('.')?;
        let kind = if name == SKILL_FILE { "skill" } else { kind(path, stem, ending, text)? };
        let kind = FILES.iter().find(|(known, _)| *known == kind).map(|(_, root)| root)?;
        let root = match ending {
            // Every line is a value of its own.
            "jsonl" => syntax::read_lines(text),
            _ if name == SKILL_FILE => syntax::read(&front_matter(text)?),
            _ => syntax::read(text),
        };
        Some(Self { root, kind, is_json: matches!(ending, "json" | "jsonl") })
    }

    /// What is at a byte.
    pub(super) fn at(&self, offset: usize) -> Spot<'_> {
        spot(&self.root, self.kind, offset)
    }

    /// Every scalar of the file that names a case or is the id of one, by its text.
    pub(super) fn case_names(&self, id: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        collect(&self.root, &mut |node| {
            if node.scalar() == Some(id) || node.scalar().is_some_and(|text| unquoted(text) == id) {
                found.push(node.range.clone());
            }
        });
        found.retain(|range| {
            let spot = self.at(range.start);
            !spot.is_key && (spot.names_case() || spot.is_case_id())
        });
        found
    }
}

/// What the root of a file is, by its name and its place, else by its content.
fn kind(path: &Path, stem: &str, ending: &str, text: &str) -> Option<&'static str> {
    let is_in = |directory: &str| {
        path.parent().is_some_and(|parent| parent.components().any(|part| part.as_os_str() == directory))
    };
    Some(match (stem, ending) {
        (_, "jsonl") if stem.contains("calibration") => "samples",
        (_, "jsonl") => "cases",
        ("suite", "json") => "suite",
        ("evals", "json") if is_in("evals") => "evals",
        (_, "json") if is_in("tasks") => "task",
        _ if !matches!(ending, "yaml" | "yml") => return None,
        ("case", _) => "case",
        ("targets", _) => "targets",
        ("eval", _) => "eval",
        _ if stem.ends_with(".eval") => "eval",
        _ if stem == "calibration" || stem.ends_with(".calibration") => "calibration",
        _ if is_in("templates") => "template",
        _ => by_content(&syntax::read(text))?,
    })
}

/// A file that another one names: a list of cases or samples, or a template.
fn by_content(root: &Node) -> Option<&'static str> {
    let has = |node: &Node, key: &str| node.get(key).is_some();
    match &root.data {
        Data::Sequence(items) if items.iter().any(|item| has(item, "human_score")) => Some("samples"),
        Data::Sequence(items) if items.iter().any(|item| has(item, "input") || has(item, "id")) => Some("cases"),
        Data::Mapping(_) if has(root, "tests") => Some("eval"),
        Data::Mapping(_) if has(root, "assertions") => Some("template"),
        Data::Mapping(_) if has(root, "template") || has(root, "repos") => Some("workspace"),
        _ => None,
    }
}

/// The text up to the end of the front matter, with blanks in place of the line before it: bytes keep their places. While the line after
/// it is not written yet, it ends at a blank line.
fn front_matter(text: &str) -> Option<String> {
    let (fence, rest) = text.split_once('\n').filter(|(fence, _)| fence.trim_end() == FENCE)?;
    let lines = || rest.split_inclusive('\n');
    let is_fence = |line: &&str| line.trim_end() == FENCE;
    let length = |end: usize| lines().take(end).map(str::len).sum::<usize>();
    let end = lines().position(|line| is_fence(&line)).or_else(|| lines().position(|line| line.trim().is_empty()));
    let end = end.map_or(rest.len(), length);
    Some(format!("{}\n{}", " ".repeat(fence.len()), &rest[..end]))
}

fn collect(node: &Node, visit: &mut impl FnMut(&Node)) {
    visit(node);
    node.entries().iter().for_each(|entry| collect(&entry.value, visit));
    node.items().iter().for_each(|item| collect(item, visit));
}

/// A scalar whose escapes are resolved as far as ids need it.
pub(super) fn unquoted(text: &str) -> String {
    text.replace("''", "'").replace("\\\"", "\"").replace("\\\\", "\\")
}

/// How a text is written as a scalar; without quotes only where YAML needs none, also in a list in brackets.
pub(super) fn scalar(text: &str, has_quotes: bool) -> String {
    let is_word = |character: char| character.is_alphanumeric() || "-_./".contains(character);
    let words = ["true", "false", "null", "yes", "no", "on", "off"];
    let is_plain = text.chars().all(is_word)
        && text.starts_with(char::is_alphabetic)
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if has_quotes || !is_plain { serde_json::Value::from(text).to_string() } else { text.to_owned() }
}
