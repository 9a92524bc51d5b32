//! Files below the case directories that nothing uses: a case that is not read looks like a case that passes.
//!
//! Answers that a suite itself puts before its agents: files of cases and graders in a workspace, and the canary in an input.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evalsuite_schema::discovery::{Tree, data_files};
use evalsuite_schema::json::{json, to_value};
use evalsuite_schema::{Case, Suite, Value};

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

/// Maximum number of files that are reported one by one.
const MAX_IN_REACH: usize = 20;

/// Warns of files with answers in the directories that workspaces are copied from, each once, and of inputs with the canary. `suite_file`
/// is the file of the suite.
pub(crate) fn report_answers_in_reach(
    suite: &Suite,
    suite_file: Span,
    cases: &[PlacedCase],
    scope: Scope<'_>,
    d: &mut Diagnostics,
) {
    let calibration = scope.roots.suite_root.join("calibration.yaml");
    let of_suite = [(scope.files.get(suite_file.file).path, "file of the suite"), (calibration, "calibration")];
    let mut found = BTreeMap::new();
    for placed in cases {
        let case = &*placed.checked.case;
        if let Some(canary) = &suite.canary
            && to_value(&json!([case.input, case.conversation, case.metadata]))
                .is_ok_and(|given| given.to_string().to_ascii_lowercase().contains(&canary.to_ascii_lowercase()))
        {
            let message = format!("the agent of case `{}` is given the canary of the suite", case.id);
            let help = "delete it from the input: it shows that an agent saw the answers";
            d.report(Code::AnswersInReach, placed.checked.span, message, help);
        }
        let given = given_directories(case, &scope.roots.package_root);
        if given.is_empty() {
            continue;
        }
        let own = (scope.files.get(placed.checked.span.file).path, "file of the case");
        let of_graders = files_of_graders(case, &scope.roots.package_root);
        let of_graders = of_graders.into_iter().map(|path| (path, "file that its graders use"));
        for (path, what) in of_suite.iter().cloned().chain([own]).chain(of_graders).filter(|(path, _)| path.is_file()) {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if let Some(directory) = given.iter().find(|directory| directory.has(&path) || directory.has(&real)) {
                found.entry(path).or_insert((directory.path.clone(), what, placed));
            }
        }
    }
    for (path, (directory, what, placed)) in found.into_iter().take(MAX_IN_REACH) {
        let [shown, around] = [&path, &directory].map(|path| scope.files.shown(path));
        let id = &placed.checked.case.id;
        let message = format!("the workspace of case `{id}` is a copy of `{around}`, with `{shown}`, the {what}");
        let help = "move one of them: an agent can read all of its workspace";
        d.report(Code::AnswersInReach, placed.checked.span, message, help);
    }
}

/// A directory that is copied into a workspace.
struct GivenDirectory {
    path: PathBuf,
    real: PathBuf,
    without: Vec<String>,
}

impl GivenDirectory {
    fn has(&self, file: &Path) -> bool {
        [&self.path, &self.real].into_iter().any(|directory| {
            let below = file.strip_prefix(directory);
            below.is_ok_and(|below| !self.without.iter().any(|without| below.starts_with(without)))
        })
    }
}

fn given_directories(case: &Case, package_root: &Path) -> Vec<GivenDirectory> {
    let Some(workspace) = &case.workspace else { return Vec::new() };
    let directories = [&workspace.base_fixture, &workspace.template].into_iter().flatten();
    let directories = directories.map(|directory| (directory, Vec::new()));
    let copies = workspace.copies.iter().map(|copy| (&copy.from, copy.without.clone()));
    let given = directories.chain(copies).map(|(directory, without)| {
        let path = normalize(&package_root.join(&directory.path));
        GivenDirectory { real: path.canonicalize().unwrap_or_else(|_| path.clone()), path, without }
    });
    given.filter(|given| given.path.is_dir()).collect()
}

/// Scripts, prompts, schemas and expected answers that are files.
fn files_of_graders(case: &Case, package_root: &Path) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    let turns: Vec<_> = turns.map(|turn| json!([turn.graders, turn.expected_output])).collect();
    let answers = json!([case.graders, case.expected_output, case.reference_solution, case.examples, turns]);
    collect(&answers, package_root, &mut paths);
    paths
}
