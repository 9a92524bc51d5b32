//! `workspace.repos`: git clones placed in the workspace.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::path::{Component, Path, PathBuf};

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Checkout, PathRef, Repo, RepoSource, Resolve};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::{Kind, Scope};
use crate::fields::{Fields, paths};
use crate::keys::workspace::{CHECKOUT, CLONE, REPO, RESOLVES, SOURCE};
use crate::read::node::{Entry, Node};
use crate::source::Span;

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

fn invalid<T>(place: Span, message: impl Into<String>, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidRepo, place, message, help, d)
}

fn repo(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Repo> {
    let mut fields = Fields::new(node, &REPO, d)?;
    let path = match fields.get("path") {
        Some(entry) => place(&entry.value, d),
        None => invalid(
            fields.place_without("path"),
            "a repo has no `path`",
            "add `path`, a directory inside the workspace",
            d,
        ),
    };
    let source = match fields.get("source") {
        Some(entry) => source(&entry.value, scope, d),
        None => {
            invalid(fields.place_without("source"), "a repo has no `source`", "add `source: {type: git, url: …}`", d)
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
        return invalid(
            node.span,
            format!("`{text}` leaves the workspace"),
            "name a directory inside the workspace, such as `./repo`",
            d,
        );
    }
    Some(text)
}

fn source(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<RepoSource> {
    let mut fields = Fields::new(node, &SOURCE, d)?;
    let (kind, url, path) = (fields.get("type"), fields.get("url"), fields.get("path"));
    let place_without = ["type", "url", "path"].map(|key| fields.place_without(key));
    fields.finish(d);
    let Some(kind) = kind else {
        return invalid(place_without[0], "`source` has no `type`", "add `type: git` or `type: local`", d);
    };
    let word = fields::string(&kind.value, "`type`", d)?;
    let (name, entry, other, place) = match word.as_str() {
        "git" => ("url", url, path, place_without[1]),
        "local" => ("path", path, url, place_without[2]),
        _ => {
            return invalid(kind.value.span, format!("`type` of a source is `{word}`"), "write `git` or `local`", d);
        }
    };
    if let Some(other) = other {
        let message = format!("`{}` has no meaning with `type: {word}`", other.key);
        d.report(Code::InvalidRepo, other.value.span, message, "delete it");
    }
    let Some(entry) = entry else {
        return invalid(place, format!("`source` has no `{name}`"), &format!("add `{name}`"), d);
    };
    let text = fields::text(&entry.value, &format!("`{name}`"), d)?;
    if name == "url" {
        return Some(RepoSource::Git(text));
    }
    // What a variable names is known only when a trial starts.
    if Syntax::Variable.is_in(&text) {
        return Some(RepoSource::Local(PathRef::new(text)));
    }
    let found = scope.find_text(&text, &entry.value, "`path`", (Code::InvalidRepo, Kind::Directory), d)?;
    Some(RepoSource::Local(found.reference))
}

fn clone(node: &Node, d: &mut Diagnostics) -> (Option<u32>, Option<String>, Vec<String>) {
    let Some(mut fields) = Fields::new(node, &CLONE, d) else { return Default::default() };
    let depth = fields.get("depth").and_then(|entry| fields::count(&entry.value, "`depth`", 1, d));
    let filter = fields.read("filter", fields::text, d);
    let sparse = fields.read("sparse", fields::texts, d);
    fields.finish(d);
    (depth, filter, sparse.unwrap_or_default())
}

fn checkout(node: &Node, source: Option<&RepoSource>, depth: Option<u32>, d: &mut Diagnostics) -> Checkout {
    let Some(mut fields) = Fields::new(node, &CHECKOUT, d) else { return Checkout::default() };
    let reference = fields.get_either("ref", d).and_then(|entry| fields::text(&entry.value, &fields::label(entry), d));
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
