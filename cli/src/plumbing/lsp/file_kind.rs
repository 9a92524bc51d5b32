//! What the root of a file is, by its name and its place.

use std::path::Path;

use evalsuite_discovery::SKILL_FILE;
use evalsuite_loader::keys::{FILES, Type};

use super::syntax;
use super::syntax::{Data, Node};

/// What a file holds.
pub(super) struct FileKind {
    pub(super) root: &'static Type,
    pub(super) form: Form,
}

/// How values are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Yaml,
    Json,
    /// Every line is a value of its own.
    Lines,
    /// YAML at the start of a Markdown file.
    FrontMatter,
}

/// The kind of a file, by its path, and by its content where the path does not say it.
pub(super) fn of(path: &Path, text: &str) -> Option<FileKind> {
    let name = path.file_name()?.to_str()?;
    if name == SKILL_FILE {
        return Some(FileKind { root: root("skill")?, form: Form::FrontMatter });
    }
    let name = name.to_ascii_lowercase();
    let (stem, ending) = name.rsplit_once('.')?;
    let is_yaml = matches!(ending, "yaml" | "yml");
    let is_in = |directory: &str| {
        path.parent().is_some_and(|parent| parent.components().any(|part| part.as_os_str() == directory))
    };
    let kind = match stem {
        _ if ending == "jsonl" => {
            if stem.contains("calibration") {
                "samples"
            } else {
                "cases"
            }
        }
        "suite" if ending == "json" => "suite",
        "evals" if ending == "json" && is_in("evals") => "evals",
        _ if ending == "json" && is_in("tasks") => "task",
        _ if !is_yaml => return None,
        "case" => "case",
        "targets" => "targets",
        "eval" => "eval",
        _ if stem.ends_with(".eval") => "eval",
        _ if stem == "calibration" || stem.ends_with(".calibration") => "calibration",
        _ if is_in("templates") => "template",
        _ => by_content(&syntax::read(text))?,
    };
    let form = match ending {
        "jsonl" => Form::Lines,
        "json" => Form::Json,
        _ => Form::Yaml,
    };
    Some(FileKind { root: root(kind)?, form })
}

fn root(kind: &str) -> Option<&'static Type> {
    FILES.iter().find(|(known, _)| *known == kind).map(|(_, root)| root)
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
