//! Where something that a file names is written, and the renaming of a case at all of these places.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use evalsuite_codegen::binding::NamedExpr;
use evalsuite_loader::CasePlace;
use evalsuite_loader::source::plain_text;
use evalsuite_schema::diagnostics::Code;
use proc_macro2::TokenTree;
use walkdir::{DirEntry, WalkDir};

use super::documents::{Documents, FileTree, scalar, unquoted};
use super::positions::{Encoding, Lines};
use super::workspace::OpenSuite;
use crate::locate::{includes, suite_search};

/// Directories of templates, and the endings of their names.
const TEMPLATES: &[&str] = &[".evalsuite/templates", ".agentv/templates"];
const ENDINGS: &[&str] = &["yaml", "yml"];

/// Deepest directory that is searched for the first file of a template.
const MAX_DEPTH: usize = 8;

/// Somewhere in a file: bytes of its text.
pub(super) type Target = (PathBuf, Range<usize>);

/// Where what is at a byte of a file is written.
pub(super) fn at(
    tree: &FileTree,
    path: &Path,
    offset: usize,
    suites: &[&OpenSuite],
    documents: &Documents,
) -> Vec<Target> {
    let spot = tree.at(offset);
    let Some(text) = spot.node.scalar().filter(|text| !spot.is_key && !text.is_empty()) else { return Vec::new() };
    let text = unquoted(text.trim());
    if spot.names_case() {
        return suites.iter().flat_map(|suite| case(suite, &text, documents)).collect();
    }
    if spot.is_grader_name() {
        return suites.iter().flat_map(|suite| grader(suite, &text)).collect();
    }
    let boundary = suites.first().map_or_else(|| path.parent().unwrap_or(path), |suite| &suite.request.package_root);
    let is_include = spot.keys.last() == Some(&"include");
    let found = if is_include && !text.contains(['/', '\\']) {
        let names = TEMPLATES.iter().flat_map(|directory| ENDINGS.iter().map(move |ending| (directory, ending)));
        names
            .map(|(directory, ending)| format!("{directory}/{text}.{ending}"))
            .find_map(|name| find(&name, path, boundary))
    } else {
        let name = text.strip_prefix("file://").unwrap_or(&text);
        // Not every word is meant as a path.
        name.contains(['/', '.']).then(|| find(name, path, boundary)).flatten()
    };
    found.map(|path| (path, 0..0)).into_iter().collect()
}

fn case(suite: &OpenSuite, id: &str, documents: &Documents) -> Vec<Target> {
    let cases = suite.session.cases().into_iter().filter(|case| case.id == id);
    let target = |case: CasePlace| {
        let text = documents.text(&case.file)?;
        let lines = Lines::new(&text, Encoding::Utf8);
        let (start, end) = case.id_range.unwrap_or((case.start, case.start));
        Some((case.file, lines.loader_offset(start)..lines.loader_offset(end)))
    };
    cases.filter_map(target).collect()
}

/// The function that is registered for the name of a grader.
fn grader(suite: &OpenSuite, name: &str) -> Option<Target> {
    let include = suite.include.as_ref()?;
    let folded = |name: &str| name.replace('_', "-");
    let registered = include.binding.graders.iter().find(|grader| folded(&grader.name.value()) == folded(name))?;
    let function = NamedExpr::from_path(registered.value.clone())?.name.value();
    let own = plain_text(&include.source).map(|text| (include.source.clone(), text));
    let others = includes::rust_files(&suite.request.package_root);
    let others = others.into_iter().filter(|path| *path != include.source);
    let texts = own.into_iter().chain(others.filter_map(|path| Some((path.clone(), plain_text(&path)?))));
    texts.into_iter().find_map(|(path, text)| Some((path, find_function(&text, &function)?)))
}

/// The bytes of the name of a function in Rust where it is defined.
fn find_function(text: &str, name: &str) -> Option<Range<usize>> {
    if !text.contains(name) {
        return None;
    }
    let mut found = None;
    includes::visit_tokens(text.parse().ok()?, &mut |tokens| match tokens {
        [TokenTree::Ident(keyword), TokenTree::Ident(ident), ..] if keyword == "fn" && ident == name => {
            found.get_or_insert_with(|| ident.span().byte_range());
        }
        _ => {}
    });
    found
}

/// The file that a relative path names: from the directory of the file with the path up to the package. Of a directory, its first file.
fn find(name: &str, from: &Path, boundary: &Path) -> Option<PathBuf> {
    if Path::new(name).is_absolute() || name.contains('\n') {
        return None;
    }
    let directories = from.parent()?.ancestors().take_while(|directory| directory.starts_with(boundary));
    let found = directories.map(|directory| directory.join(name)).find(|path| path.exists())?;
    let real = found.canonicalize().ok()?;
    let is_inside = boundary.canonicalize().is_ok_and(|boundary| real.starts_with(boundary));
    // Without `.` and `..`, as the client knows the file.
    let found = suite_search::absolute(&found).ok().filter(|_| is_inside)?;
    let walk = WalkDir::new(found).max_depth(MAX_DEPTH).follow_links(true).sort_by_file_name();
    walk.into_iter().flatten().find(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path)
}

/// New texts for bytes of files.
pub(super) type Edits = BTreeMap<PathBuf, Vec<(Range<usize>, String)>>;

/// The id at a byte of a file, without its quotes, and its bytes.
pub(super) fn id_at(tree: &FileTree, text: &str, offset: usize) -> Option<(String, Range<usize>)> {
    let spot = tree.at(offset);
    let id = spot.node.scalar().filter(|id| !id.is_empty() && !spot.is_key)?;
    if !spot.names_case() && !spot.is_case_id() {
        return None;
    }
    Some((unquoted(id), inner(text, spot.node.range.clone())))
}

/// The bytes between quotes.
fn inner(text: &str, range: Range<usize>) -> Range<usize> {
    let has_quotes = range.len() >= 2 && text[range.clone()].starts_with(['"', '\'']);
    if has_quotes { range.start + 1..range.end - 1 } else { range }
}

/// What has to be changed to call the case `id` of these suites `new`.
pub(super) fn edits(id: &str, new: &str, suites: &[&OpenSuite], documents: &Documents) -> Result<Edits, String> {
    if new.trim().is_empty() || new.chars().any(char::is_control) {
        return Err("an id cannot contain control characters".to_owned());
    }
    let is_syntax = |code: Code| matches!(code, Code::YamlSyntax | Code::JsonSyntax);
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for suite in suites {
        if let Some(found) = suite.found.iter().find(|found| is_syntax(found.diagnostic.code)) {
            return Err(format!("{} has a syntax error and may refer to the case", found.file.display()));
        }
        for case in suite.session.cases() {
            if case.id == new {
                return Err(format!("the suite already has a case `{new}`"));
            }
            if case.id == id && case.id_range.is_none() {
                let file = case.file.display();
                return Err(format!("the id is the name of the directory of {file}: rename it, or add an `id`"));
            }
            if case.id == id || case.dependencies.iter().any(|(dependency, _)| dependency == id) {
                files.insert(case.file);
            }
        }
        files.extend(suite.calibration_files());
    }
    let mut edits = Edits::new();
    for file in files {
        let Some(text) = documents.text(&file) else { continue };
        let Some(tree) = FileTree::read(&file, &text) else { continue };
        let is_json = tree.is_json;
        let of_file: Vec<(Range<usize>, String)> = tree
            .case_names(id)
            .into_iter()
            .map(|range| {
                let is_quoted = text[range.clone()].starts_with(['"', '\'']);
                (range, scalar(new, is_quoted || is_json))
            })
            .collect();
        if !of_file.is_empty() {
            edits.insert(file, of_file);
        }
    }
    Ok(edits)
}

#[cfg(test)]
mod tests {
    use super::find_function;

    #[test]
    fn the_definition_is_found_and_not_a_call() {
        let text = "// é\nfn other() { polite(1); }\nmod a { pub async fn polite(x: u8) {} }\n";
        let range = find_function(text, "polite").expect("the function");
        assert_eq!((range.start, &text[range]), (text.rfind("polite").expect("it"), "polite"));
        assert_eq!(find_function(text, "rude"), None);
        assert_eq!(find_function("fn polite( {", "polite"), None, "not Rust");
    }
}
