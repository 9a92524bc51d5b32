//! What documents have to get right. Each rule returns its problems as lines `document:line: problem`.

use std::collections::BTreeSet;

use super::repository::Repository;

/// The documents that describe the repository. Others show paths of their readers' packages.
const MAPS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The document that leads to all others, by way of [`CONTENTS`].
const README: &str = "README.md";

/// The list of all pages. A link to it leads to no other page of its folder.
const CONTENTS: &str = "docs/README.md";

/// The size of [`README`], at most.
const MOST_README_BYTES: usize = 9 * 1024;

/// The document with the sections `### Add a …`.
const GUIDE: &str = "CONTRIBUTING.md";

/// Documents whose code is that of examples, with the folder of these.
const EXAMPLE_GUIDES: &[(&str, &str)] = &[("docs/agents.md", "examples/clients/")];

/// How many files the list below `### Add a …` may name.
const MOST_FILES: usize = 6;

/// Pages of the repository's address whose rest is a path.
const OWN_PAGES: &[&str] = &["/blob/main/", "/tree/main/"];

/// Lines of the README of a crate, at most.
const MOST_README_LINES: usize = 20;

/// Links to files, folders and headings of the repository that do not exist.
pub(crate) fn broken_links(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, document) in &repository.documents {
        for link in &document.links {
            let Some((target, anchor)) = link_target(repository, path, &link.what) else { continue };
            let at = format!("{path}:{}", link.line);
            if !target.is_empty() && !repository.has(&target) {
                problems.push(format!("{at}: the link leads to `{target}`, which does not exist"));
            } else if let Some(anchor) = anchor
                && let Some(document) = repository.documents.get(&target)
                && !document.anchors.contains(anchor)
            {
                problems.push(format!("{at}: `{target}` has no heading for `#{anchor}`"));
            }
        }
    }
    problems
}

/// Documents that neither the README nor the contents link to, neither to them nor to the `README.md` of their folder. The READMEs of
/// crates are read where crates are published.
pub(crate) fn unlinked_documents(repository: &Repository, crates: &[&str]) -> Vec<String> {
    let targets_of = |path: &'static str| {
        let links = repository.documents.get(path).map_or(&[][..], |document| &document.links);
        links.iter().filter_map(move |link| link_target(repository, path, &link.what)).map(|(target, _)| target)
    };
    let of_readme: BTreeSet<String> = targets_of(README).collect();
    let of_contents = targets_of(CONTENTS).filter(|_| of_readme.contains(CONTENTS));
    let linked: BTreeSet<String> = of_contents.chain(of_readme.clone()).collect();
    let is_linked = |path: &str| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let page_of_folder = format!("{folder}/{README}");
        let of_folder = [folder, &page_of_folder].iter().any(|path| linked.contains(*path));
        linked.contains(path) || of_folder && page_of_folder != CONTENTS
    };
    let is_of_crate = |path: &str| crates.iter().any(|folder| path.strip_prefix(folder) == Some("/README.md"));
    let unlinked = repository.documents.keys().filter(|path| *path != README && !is_of_crate(path) && !is_linked(path));
    unlinked.map(|path| format!("neither {README} nor {CONTENTS} has a link to `{path}`")).collect()
}

/// Crates without a README, and READMEs with relative links, which lead nowhere on a registry, without a link to the repository, or with
/// too many lines.
pub(crate) fn crate_readmes(repository: &Repository, crates: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for folder in crates {
        let path = format!("{folder}/{README}");
        let Some(document) = repository.documents.get(&path) else {
            problems.push(format!("{path} does not exist"));
            continue;
        };
        let relative = document.links.iter().filter(|link| !link.what.starts_with("https://"));
        problems.extend(relative.map(|link| format!("{path}:{}: `{}` is not absolute", link.line, link.what)));
        if !document.links.iter().any(|link| link.what.starts_with(&repository.url)) {
            problems.push(format!("{path}: no link to `{}`", repository.url));
        }
        if document.lines > MOST_README_LINES {
            problems.push(format!("{path} has {} lines, more than {MOST_README_LINES}", document.lines));
        }
    }
    problems
}

/// A README of the repository that is longer than its first screens.
pub(crate) fn long_readme(readme: &str) -> Vec<String> {
    let size = readme.len();
    let is_long = size > MOST_README_BYTES;
    is_long.then(|| format!("{README} has {size} bytes, more than {MOST_README_BYTES}")).into_iter().collect()
}

/// Sections that the contents at the top of the README do not list.
pub(crate) fn unlisted_sections(repository: &Repository) -> Vec<String> {
    let Some(readme) = repository.documents.get(README) else { return Vec::new() };
    let first = readme.sections.first().map_or(0, |section| section.line);
    let listed: BTreeSet<&str> =
        readme.links.iter().filter(|link| link.line < first).filter_map(|link| link.what.strip_prefix('#')).collect();
    let unlisted = readme.sections.iter().filter(|section| !listed.contains(&*section.what));
    unlisted.map(|section| format!("{README}:{}: the contents do not list `#{}`", section.line, section.what)).collect()
}

/// Blocks of Rust in the README of an example, or in a guide to examples, that none of their sources has.
pub(crate) fn changed_examples(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, document) in &repository.documents {
        let of_guide = EXAMPLE_GUIDES.iter().find(|(guide, _)| guide == path).map(|(_, folder)| *folder);
        let of_readme = || path.strip_suffix(README).filter(|folder| folder.starts_with("examples/"));
        let Some(folder) = of_guide.or_else(of_readme) else { continue };
        let sources: Vec<&String> =
            repository.sources.iter().filter(|(source, _)| source.starts_with(folder)).map(|(_, text)| text).collect();
        let missing = document.rust.iter().filter(|block| !sources.iter().any(|source| source.contains(&block.what)));
        problems.extend(missing.map(|block| format!("{path}:{}: no source of the example has this code", block.line)));
    }
    problems
}

/// The path from the root and the anchor of a link into the repository.
fn link_target<'a>(repository: &Repository, document: &str, link: &'a str) -> Option<(String, Option<&'a str>)> {
    let page = link.strip_prefix(repository.url.as_str());
    let own = page.and_then(|page| OWN_PAGES.iter().find_map(|own| page.strip_prefix(own)));
    if own.is_none() && (link.contains("://") || link.starts_with("mailto:")) {
        return None;
    }
    let (path, anchor) = own.unwrap_or(link).split_once('#').map_or((own.unwrap_or(link), None), |(a, b)| (a, Some(b)));
    let target = match own {
        Some(_) => path.trim_end_matches('/').to_owned(),
        None if path.is_empty() => document.to_owned(),
        None => relative(document, path),
    };
    Some((target, anchor))
}

/// A path relative to the folder of a document, as a path from the root.
fn relative(document: &str, path: &str) -> String {
    let mut names: Vec<&str> = document.split('/').collect();
    names.pop();
    for name in path.trim_end_matches('/').split('/') {
        match name {
            "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Paths in [`MAPS`] that do not exist: all that start with a folder of the repository, and in backticks also names that
/// end in `.md`, `.rs` or `.toml`.
pub(crate) fn missing_paths(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, document) in repository.documents.iter().filter(|(path, _)| MAPS.contains(&path.as_str())) {
        let code = document.code.iter().map(|code| (code, true));
        for (text, in_backticks) in code.chain(document.blocks.iter().map(|block| (block, false))) {
            for named in paths_in(repository, &text.what, in_backticks) {
                if !exists(repository, &named) {
                    problems.push(format!("{path}:{}: `{named}` does not exist", text.line));
                }
            }
        }
    }
    problems
}

fn exists(repository: &Repository, path: &str) -> bool {
    repository.has(path) || !repository.starts_with_folder(path) && repository.has_ending(path)
}

/// The words of a text that are paths of the repository, with braces expanded.
fn paths_in(repository: &Repository, text: &str, in_backticks: bool) -> Vec<String> {
    let is_source =
        |word: &str| [".md", ".rs", ".toml"].iter().any(|end| word.len() > end.len() && word.ends_with(end));
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c| "\"'(),;.:`".contains(c) && c != '.').trim_end_matches('.');
        let word = word.trim_start_matches("./").trim_end_matches('/');
        // `file.rs:12` and `file.rs:12:5` are places in a file.
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
        let is_elsewhere = word.contains("://") || word.starts_with(['/', '~', '$', '-']) || word.starts_with("..");
        if !is_elsewhere && (repository.starts_with_folder(word) || in_backticks && is_source(word)) {
            found.extend(expand_braces(word));
        }
    }
    found
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expand_braces(path: &str) -> Vec<String> {
    let Some((start, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((choices, end)) = rest.split_once('}') else { return vec![path.to_owned()] };
    choices.split(',').flat_map(|choice| expand_braces(&format!("{start}{choice}{end}"))).collect()
}

/// Sections `### Add a …` of [`GUIDE`] whose lists name no file or more than [`MOST_FILES`], and a guide without any.
pub(crate) fn long_additions(repository: &Repository) -> Vec<String> {
    let Some(document) = repository.documents.get(GUIDE) else { return Vec::new() };
    let mut problems = Vec::new();
    if document.additions().next().is_none() {
        problems.push(format!("{GUIDE}: no section `### Add a …` says which files an addition touches"));
    }
    for addition in document.additions() {
        let texts = addition.what.listed.iter();
        let files: BTreeSet<String> = texts.flat_map(|text| paths_in(repository, text, true)).collect();
        if files.is_empty() || files.len() > MOST_FILES {
            problems.push(format!(
                "{GUIDE}:{}: the list below `### {}` names {} files; it has to name 1 to {MOST_FILES}",
                addition.line,
                addition.what.heading,
                files.len()
            ));
        }
    }
    problems
}
