//! The files and folders of the repository, and what a path in a document stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::markdown::Document;
use super::repository_url;

#[derive(Default)]
pub(crate) struct Repository {
    /// Where it is published.
    pub(crate) url: String,
    /// Every file and every folder, with `/` separators.
    paths: BTreeSet<String>,
    /// The documents by their paths.
    pub(crate) documents: BTreeMap<String, Document>,
    /// The texts of the examples' Rust files by their paths.
    pub(crate) sources: BTreeMap<String, String>,
}

impl Repository {
    pub(crate) const URL_OF_FIXTURES: &str = "https://example.com/project";

    pub(crate) fn read(root: &Path) -> Self {
        let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("the manifest of the workspace");
        let url = repository_url::of_manifest(&manifest).expect("it names the repository").to_owned();
        let mut repository = Self { url, ..Self::default() };
        repository.read_folder(root, "");
        repository
    }

    fn read_folder(&mut self, root: &Path, folder: &str) {
        let entries = fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("cannot list {folder}: {error}"));
        for entry in entries {
            let entry = entry.unwrap_or_else(|error| panic!("cannot list {folder}: {error}"));
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !["target", ".git", "node_modules"].contains(&name.as_str()) {
                    self.read_folder(root, &path);
                    self.paths.insert(path);
                }
            } else {
                if is_document(&path) || is_source(&path) {
                    let text = fs::read_to_string(entry.path());
                    self.add(&path, text.unwrap_or_else(|error| panic!("cannot read {path}: {error}")));
                }
                self.paths.insert(path);
            }
        }
    }

    fn add(&mut self, path: &str, text: String) {
        if is_document(path) {
            self.documents.insert(path.to_owned(), Document::parse(&text));
        } else if is_source(path) {
            self.sources.insert(path.to_owned(), text);
        }
    }

    /// A repository with these files; the texts of others than documents and the examples' sources do not matter.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut repository = Self { url: Self::URL_OF_FIXTURES.to_owned(), ..Self::default() };
        for (path, text) in files {
            repository.paths.insert((*path).to_owned());
            repository.paths.extend(path.match_indices('/').map(|(end, _)| path[..end].to_owned()));
            repository.add(path, (*text).to_owned());
        }
        repository
    }

    /// Whether a path from the root exists. `*` and `<name>` stand for any part of a name.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path) || self.paths.iter().any(|existing| matches(path, existing))
    }

    /// Whether the path of a file ends with these names.
    pub(crate) fn has_ending(&self, path: &str) -> bool {
        self.has(path)
            || self.paths.iter().any(|existing| {
                let starts = existing.match_indices('/').map(|(slash, _)| &existing[slash + 1..]);
                starts.into_iter().any(|ending| ending == path || matches(path, ending))
            })
    }

    /// Whether a path starts with a folder at the root of the repository.
    pub(crate) fn starts_with_folder(&self, path: &str) -> bool {
        path.split_once('/').is_some_and(|(first, _)| self.paths.contains(first))
    }
}

/// What people read about the project. Suites have Markdown files of their own.
fn is_document(path: &str) -> bool {
    let is_of_suite = path.starts_with("suites/") || path.contains("/suites/") || path.starts_with("tests/ui/");
    let is_prose = !path.contains('/') || path.starts_with("docs/") || path.ends_with("/README.md");
    path.ends_with(".md") && is_prose && !is_of_suite
}

/// What READMEs of examples show.
fn is_source(path: &str) -> bool {
    path.starts_with("examples/") && path.ends_with(".rs")
}

fn matches(pattern: &str, path: &str) -> bool {
    if !pattern.contains(['*', '<']) {
        return false;
    }
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(pattern), Some(name)) if matches_name(pattern, name) => {}
            _ => return false,
        }
    }
}

fn matches_name(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once(['*', '<']) else { return pattern == name };
    let rest =
        if pattern[start.len()..].starts_with('<') { rest.split_once('>').map_or("", |(_, rest)| rest) } else { rest };
    let Some(name) = name.strip_prefix(start) else { return false };
    name.char_indices().map(|(index, c)| index + c.len_utf8()).any(|end| matches_name(rest, &name[end..]))
}
