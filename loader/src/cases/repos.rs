//! `workspace.repos`: git clones placed in the workspace.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::path::{Component, Path, PathBuf};

use evalsuite_schema::keys::{Keys, Parts, RepoSourceKeys, Written, WrittenClone};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Checkout, PathRef, Repo, RepoSource, Resolve};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::{Kind, Scope};
use crate::fields::{Fields, paths};
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
    let mut fields = Fields::new(node, Repo::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
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
    fields.finish(d);
    check_checkout(node, source.as_ref(), &parts, d);
    let checkout = parts.take_or("checkout", Checkout::default())?;
    let WrittenClone { depth, filter, sparse } = parts.take_or("clone", WrittenClone::default())?;
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
    let mut fields = Fields::new(node, RepoSourceKeys::TABLE, d)?;
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

/// The rules between `checkout` and the other keys of a repo, which is `node`.
fn check_checkout(node: &Node, source: Option<&RepoSource>, parts: &Parts, d: &mut Diagnostics) {
    let value = |object, key| match parts.get(object) {
        Some(Written::Parts(keys)) => keys.get(key),
        _ => None,
    };
    let place = |key| node.entry("checkout").and_then(|checkout| checkout.value.entry(key));
    let resolve = value("checkout", "resolve").and_then(Written::word).and_then(Resolve::of_word);
    if let (Some(entry), Some(Resolve::Remote), Some(RepoSource::Local(_))) = (place("resolve"), resolve, source) {
        d.report(
            Code::NoEffect,
            entry.key_span,
            "`resolve: remote` has no effect with a local source",
            "delete it, or write `resolve: local`",
        );
    }
    if let (Some(entry), Some(Written::Integer(ancestor)), Some(Written::Integer(depth))) =
        (place("ancestor"), value("checkout", "ancestor"), value("clone", "depth"))
        && ancestor >= depth
    {
        d.report(
            Code::ShallowAncestor,
            entry.value.span,
            format!("ancestor {ancestor} with a clone of depth {depth}"),
            format!("write `depth: {}` or more", ancestor + 1),
        );
    }
}
