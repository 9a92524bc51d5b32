//! Files below the case directories that nothing uses: cases that nobody reads look like cases that pass.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cases::PlacedCase;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::{Scope, normalize};
use crate::source::{SourceFile, Span};

/// Maximum number of files that are reported one by one.
const MAX_SHOWN: usize = 20;

/// Files up to this size, in bytes, are searched for the names of others.
const MAX_SEARCHED: u64 = 1 << 20;

/// Warns of YAML, JSON and JSONL files that no case, include, template, schema or script names. `watched` are the sources of
/// the suite.
pub(crate) fn report(watched: &[(String, String)], cases: &[PlacedCase], scope: Scope<'_>, d: &mut Diagnostics) {
    let root = &scope.roots.suite_root;
    let read: BTreeSet<PathBuf> = scope.files.all().into_iter().map(|file| file.path).collect();
    for (kind, source) in watched {
        let directory = root.join(source);
        let found = evalsuite_discovery::data_files(&directory, kind);
        let unread: Vec<&String> = found.data.iter().filter(|path| !read.contains(&directory.join(path))).collect();
        if unread.is_empty() {
            continue;
        }
        let named = NamedFiles::of(cases, &directory, &found.others, scope);
        let unused: Vec<&String> = unread.into_iter().filter(|path| !named.contain(&directory, path)).collect();
        for below in unused.iter().take(MAX_SHOWN) {
            let path = directory.join(below);
            let shown = scope.files.shown(&path);
            d.push(
                Diagnostic::new(Code::UnusedFile, format!("`{shown}` is used by no case"))
                    .at(Span::whole(scope.files.add(&path)))
                    .help(help(kind, &directory, below, scope)),
            );
        }
        if let Some(more) = unused.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            let shown = scope.files.shown(&directory);
            let message = format!("{more} other files below `{shown}` are used by no case");
            let help = "move them to a directory whose name starts with `_`";
            d.report(Code::UnusedFile, Span::whole(scope.files.add(&directory)), message, help);
        }
    }
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

/// What cases and the files around them name.
struct NamedFiles {
    /// Files and directories that cases refer to.
    paths: BTreeSet<PathBuf>,
    texts: Vec<String>,
}

impl NamedFiles {
    fn of(cases: &[PlacedCase], directory: &Path, others: &[String], scope: Scope<'_>) -> Self {
        let mut paths = BTreeSet::new();
        for placed in cases {
            if let Ok(case) = serde_json::to_value(&placed.checked.case) {
                collect(&case, &scope.roots.package_root, &mut paths);
            }
        }
        let mut texts: Vec<String> =
            scope.files.all().into_iter().filter_map(|SourceFile { text, .. }| Some(text?.to_string())).collect();
        for other in others {
            let path = directory.join(other);
            let is_small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_SEARCHED);
            // What is not text names nothing.
            texts.extend(is_small.then(|| std::fs::read_to_string(&path).ok()).flatten());
        }
        Self { paths, texts }
    }

    /// Whether the file at `path`, below `directory`, or a directory around it is named.
    fn contain(&self, directory: &Path, path: &str) -> bool {
        let full = directory.join(path);
        let mut around = full.ancestors().take_while(|around| *around != directory);
        if around.any(|around| self.paths.contains(around)) {
            return true;
        }
        let mut parts = path.split('/');
        let name = parts.next_back().unwrap_or_default();
        // The first of the directories is that of the case.
        let folders: Vec<String> =
            parts.skip(1).flat_map(|folder| [format!("{folder}/"), format!("/{folder}")]).collect();
        self.texts.iter().any(|text| text.contains(name) || folders.iter().any(|folder| text.contains(folder)))
    }
}

/// Adds every path of a compiled case that is not the case's own directory.
fn collect(value: &Value, package_root: &Path, paths: &mut BTreeSet<PathBuf>) {
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
