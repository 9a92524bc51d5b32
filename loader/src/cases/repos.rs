//! `workspace.repos`: git clones placed in the workspace.

use std::{
    collections::{HashMap, hash_map::Entry as MapEntry},
    path::{Component, Path, PathBuf},
};

use evalsuite_schema::{Checkout, PathRef, Repo, RepoSource, Resolve, placeholder::Syntax};

use crate::{
    diagnostic::{Code, Diagnostic, Diagnostics},
    fields::{
        self, Fields,
        paths::{self, Kind, Scope},
    },
    read::node::{Entry, Node},
    source::Span,
};

const RESOLVES: &[(&str, Resolve)] = &[("remote", Resolve::Remote), ("local", Resolve::Local)];

#[derive(Clone, Copy)]
enum SourceKind {
    Git,
    Local,
}

pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Repo> {
    let Some(items) = fields::list(&entry.value, "`repos`", d) else { return Vec::new() };
    let mut repos: Vec<Repo> = Vec::new();
    let mut places: HashMap<PathBuf, Span> = HashMap::new();
    for node in items {
        let Some(repo) = repo(node, scope, d) else { continue };
        match places.entry(paths::normalize(Path::new(&repo.path))) {
            MapEntry::Occupied(first) => d.push(
                Diagnostic::new(Code::InvalidRepo, format!("two repos at `{}`", repo.path))
                    .at(node.span)
                    .related(*first.get(), "first here")
                    .help("give each its own `path`"),
            ),
            MapEntry::Vacant(place) => {
                place.insert(node.span);
                repos.push(repo);
            }
        }
    }
    repos
}

fn invalid(place: Span, message: String, help: &str, d: &mut Diagnostics) {
    d.report(Code::InvalidRepo, place, message, help);
}

fn repo(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Repo> {
    let mut fields = Fields::new(node, "a repo", d)?;
    let path = match fields.get("path") {
        Some(entry) => place(&entry.value, d),
        None => {
            invalid(
                fields.place_without("path"),
                "a repo has no `path`".to_owned(),
                "add `path`, a directory inside the workspace",
                d,
            );
            None
        }
    };
    let source = match fields.get("source") {
        Some(entry) => source(&entry.value, scope, d),
        None => {
            invalid(
                fields.place_without("source"),
                "a repo has no `source`".to_owned(),
                "add `source: {type: git, url: …}`",
                d,
            );
            None
        }
    };
    let (depth, filter, sparse) = fields.get("clone").map(|entry| clone(&entry.value, d)).unwrap_or_default();
    let checkout =
        fields.get("checkout").map(|entry| checkout(&entry.value, source.as_ref(), depth, d)).unwrap_or_default();
    fields.finish(d);
    Some(Repo { path: path?, source: source?, checkout, depth, filter, sparse })
}

fn place(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = fields::literal_text(node, "`path` of a repo", d)?;
    let normal = paths::normalize(Path::new(&text));
    let inside = normal.components().all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        invalid(
            node.span,
            format!("`{text}` leaves the workspace"),
            "name a directory inside the workspace, such as `./repo`",
            d,
        );
        return None;
    }
    Some(text)
}

fn source(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<RepoSource> {
    let mut fields = Fields::new(node, "`source` of a repo", d)?;
    let (kind, url, path) = (fields.get("type"), fields.get("url"), fields.get("path"));
    let place_without = ["type", "url", "path"].map(|key| fields.place_without(key));
    fields.finish(d);
    let Some(kind) = kind else {
        invalid(place_without[0], "`source` has no `type`".to_owned(), "add `type: git` or `type: local`", d);
        return None;
    };
    let choices = [("git", SourceKind::Git), ("local", SourceKind::Local)];
    let word = fields::string(&kind.value, "`type`", d)?;
    let Some((_, source)) = choices.iter().find(|(name, _)| *name == word) else {
        invalid(kind.value.span, format!("`type` of a source is `{word}`"), "write `git` or `local`", d);
        return None;
    };
    let (name, entry, other, place) = match source {
        SourceKind::Git => ("url", url, path, place_without[1]),
        SourceKind::Local => ("path", path, url, place_without[2]),
    };
    if let Some(other) = other {
        invalid(other.value.span, format!("`{}` has no meaning with `type: {word}`", other.key), "delete it", d);
    }
    let Some(entry) = entry else {
        invalid(place, format!("`source` has no `{name}`"), &format!("add `{name}`"), d);
        return None;
    };
    let text = fields::text(&entry.value, &format!("`{name}`"), d)?;
    match source {
        SourceKind::Git => Some(RepoSource::Git(text)),
        // What a variable names is known only when a trial starts.
        SourceKind::Local if Syntax::Variable.is_in(&text) => {
            Some(RepoSource::Local(PathRef { written: text.clone(), path: text }))
        }
        SourceKind::Local => scope
            .find_text(&text, &entry.value, "`path`", (Code::InvalidRepo, Kind::Directory), d)
            .map(|found| RepoSource::Local(found.reference)),
    }
}

fn clone(node: &Node, d: &mut Diagnostics) -> (Option<u32>, Option<String>, Vec<String>) {
    let Some(mut fields) = Fields::new(node, "`clone`", d) else { return Default::default() };
    let depth = fields.get("depth").and_then(|entry| fields::count(&entry.value, "`depth`", 1, d));
    let filter = fields.get("filter").and_then(|entry| fields::text(&entry.value, "`filter`", d));
    let sparse = fields.get("sparse").and_then(|entry| fields::texts(&entry.value, "`sparse`", d));
    fields.finish(d);
    (depth, filter, sparse.unwrap_or_default())
}

fn checkout(node: &Node, source: Option<&RepoSource>, depth: Option<u32>, d: &mut Diagnostics) -> Checkout {
    let Some(mut fields) = Fields::new(node, "`checkout`", d) else { return Checkout::default() };
    let reference = fields
        .get_either("ref", "base_commit", d)
        .and_then(|entry| fields::text(&entry.value, &fields::label(entry), d));
    let resolve_entry = fields.get("resolve");
    let resolve = resolve_entry.and_then(|entry| fields::choice(&entry.value, "`resolve`", RESOLVES, d));
    let ancestor_entry = fields.get("ancestor");
    let ancestor = ancestor_entry.and_then(|entry| fields::count(&entry.value, "`ancestor`", 0, d)).unwrap_or(0);
    fields.finish(d);
    if let (Some(entry), Some(Resolve::Remote), Some(RepoSource::Local(_))) = (resolve_entry, resolve, source) {
        d.report(
            Code::NoEffect,
            entry.key_span,
            "`resolve: remote` has no effect with a local source",
            "delete it, or write `resolve: local`",
        );
    }
    if let (Some(entry), Some(depth)) = (ancestor_entry, depth)
        && ancestor >= depth
    {
        d.report(
            Code::ShallowAncestor,
            entry.value.span,
            format!("ancestor {ancestor} with a clone of depth {depth}"),
            format!("write `depth: {}` or more", u64::from(ancestor) + 1),
        );
    }
    Checkout { reference, resolve: resolve.unwrap_or_default(), ancestor }
}
