//! Files below the case directories that nothing uses: a case that is not read looks like a case that passes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evalsuite_discovery::{Tree, data_files};
use evalsuite_schema::Value;

use crate::cases::PlacedCase;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{Scope, normalize};
use crate::source::{SourceFile, Span, plain_text};

/// Maximum number of files that are reported one by one.
const MAX_SHOWN: usize = 20;

/// Files up to this size, in bytes, are searched for the names of others.
const MAX_SEARCHED: u64 = 1 << 20;

/// Warns of YAML, JSON and JSONL files that no case, include, template, schema or script names. `watched` are the sources of
/// the suite, and `tree` is what is below it, as far as that was read. Whether there are such files that were not read.
pub(crate) fn report(
    watched: &[(String, String)],
    tree: Option<&Tree>,
    cases: &[PlacedCase],
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> bool {
    let mut has_unread = false;
    let root = &scope.roots.suite_root;
    let read = scope.files.latest();
    for (kind, source) in watched {
        let directory = root.join(source);
        let known = tree.and_then(|tree| tree.at(Path::new(source)));
        let tree = known.map_or_else(|| Cow::Owned(Tree::read(&directory)), Cow::Borrowed);
        let found = data_files(&directory, &tree, kind);
        let unread: Vec<&String> = found.data.iter().filter(|path| !read.contains_key(&directory.join(path))).collect();
        if unread.is_empty() {
            continue;
        }
        has_unread = true;
        let unused = unused(unread, cases, &directory, (&read, &found.others), scope);
        for below in unused.iter().take(MAX_SHOWN) {
            let path = directory.join(below);
            let message = format!("`{}` is used by no case", scope.files.shown(&path));
            let help = help(kind, &directory, below, scope);
            d.report(Code::UnusedFile, Span::whole(scope.files.add(&path)), message, help);
        }
        if let Some(more) = unused.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            let shown = scope.files.shown(&directory);
            let message = format!("{more} other files below `{shown}` are used by no case");
            let help = "move them to a directory whose name starts with `_`";
            d.report(Code::UnusedFile, Span::whole(scope.files.add(&directory)), message, help);
        }
    }
    has_unread
}

/// The name that the file should have.
fn help(kind: &str, directory: &Path, path: &str, scope: Scope<'_>) -> String {
    let file = Path::new(path);
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    let own = if kind == "tasks" {
        let name = format!("{stem}.json");
        scope.files.shown(&directory.join(file.with_file_name(name)))
    } else if extension == "jsonl" {
        return "name it in `tests`, `file://…`, or start its name with `_`".to_owned();
    } else {
        let parent = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let name = if stem.eq_ignore_ascii_case("case") { parent.unwrap_or_else(|| "NAME".to_owned()) } else { stem };
        scope.files.shown(&directory.join(name).join("case.yaml"))
    };
    format!("if it is a case, name it `{own}`; else start its name with `_`")
}

/// The files below `directory` that neither cases nor the files around them name.
fn unused<'f>(
    mut files: Vec<&'f String>,
    cases: &[PlacedCase],
    directory: &Path,
    (read, others): (&BTreeMap<PathBuf, SourceFile>, &[String]),
    scope: Scope<'_>,
) -> Vec<&'f String> {
    let mut paths = BTreeSet::new();
    for placed in cases {
        if let Ok(case) = evalsuite_schema::json::to_value(&*placed.checked.case) {
            collect(&case, &scope.roots.package_root, &mut paths);
        }
    }
    files.retain(|path| {
        let full = directory.join(path);
        !full.ancestors().take_while(|around| *around != directory).any(|around| paths.contains(around))
    });
    let mut files: Vec<(&String, Vec<String>)> = files.into_iter().map(|path| (path, names(path))).collect();
    let mut keep_unnamed =
        |text: &str| files.retain(|(_, names)| !names.iter().any(|name| text.contains(name.as_str())));
    // One text at a time: together they may be larger than the memory.
    for file in read.values() {
        if let Some(text) = scope.files.text(file) {
            keep_unnamed(&text);
        }
    }
    for other in others {
        let path = directory.join(other);
        let is_small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_SEARCHED);
        // What is not text names nothing.
        if let Some(text) = is_small.then(|| plain_text(&path)).flatten() {
            keep_unnamed(&text);
        }
    }
    files.into_iter().map(|(path, _)| path).collect()
}

/// How a text may name a file: by its name, or by a directory around it.
fn names(path: &str) -> Vec<String> {
    let mut parts = path.split('/');
    let file = parts.next_back().map(str::to_owned);
    // The first of the directories is that of the case.
    let folders = parts.skip(1).flat_map(|folder| [format!("{folder}/"), format!("/{folder}")]);
    file.into_iter().chain(folders).collect()
}

/// Adds every path of a compiled case, or a part of it, that is not the case's own directory.
pub(super) fn collect(value: &Value, package_root: &Path, paths: &mut BTreeSet<PathBuf>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, package_root, paths)),
        Value::Object(object) => {
            if let (Some(Value::String(path)), true) = (object.get("path"), object.contains_key("written")) {
                paths.insert(normalize(&package_root.join(path)));
            }
            object.values().for_each(|item| collect(item, package_root, paths));
        }
        _ => {}
    }
}
