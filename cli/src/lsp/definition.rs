//! Where something that a file names is written: cases, graders in Rust, templates, files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use evalsuite_codegen::binding::NamedExpr;
use evalsuite_loader::CasePlace;
use evalsuite_loader::source::plain_text;
use proc_macro2::TokenTree;
use walkdir::{DirEntry, WalkDir};

use super::documents::Documents;
use super::file_tree::{FileTree, unquoted};
use super::open_suite::OpenSuite;
use super::text_lines::{Encoding, Lines};
use crate::locate::{includes, suite_request};

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
    let found = suite_request::absolute(&found).ok().filter(|_| is_inside)?;
    let walk = WalkDir::new(found).max_depth(MAX_DEPTH).follow_links(true).sort_by_file_name();
    walk.into_iter().flatten().find(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path)
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
