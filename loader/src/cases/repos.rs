//! `workspace.repos`: git clones placed in the workspace.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use evalsuite_schema::keys::{Keys, Parts, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Checkout, PathRef, Repo, RepoSource, RepoSourceKeys, Resolve, ShortRepo, WrittenClone};

use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields::paths::{PathKind, Scope};
use crate::fields::{self, Fields, paths};
use crate::read::node::{Entry, Node};
use crate::source::Span;

/// Keys of the two ways to write a repo.
const FULL: [&str; 3] = ["source", "checkout", "clone"];
const SHORT: [&str; 5] = ["repo", "commit", "base_commit", "ancestor", "sparse"];

pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Repo> {
    let Some(items) = fields::list(&entry.value, "`repos`", d) else { return Vec::new() };
    let mut repos: Vec<Repo> = Vec::new();
    let mut places: HashMap<PathBuf, Span> = HashMap::new();
    for node in items {
        let Some(repo) = repo(node, scope, d) else { continue };
        let first = *places.entry(paths::normalize(Path::new(&repo.path))).or_insert(node.span);
        if first == node.span {
            repos.push(repo);
        } else {
            let place = (node.span, format!("two repos at `{}`", repo.path));
            report_both(Code::InvalidRepo, place, (first, "first here"), "give each its own `path`", d);
        }
    }
    repos
}

fn invalid<T>(place: Span, message: impl Into<String>, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidRepo, place, message, help, d)
}

fn repo(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Repo> {
    match (first_of(&FULL, node), first_of(&SHORT, node)) {
        (Some(full), Some(short)) => {
            let message = format!("`{}` and `{}` belong to different forms of a repo", full.key, short.key);
            let help = "write `repo` with `commit`, `ancestor` and `sparse`, or `source` with `checkout` and `clone`";
            let other = (full.key_span, format!("`{}` is here", full.key));
            report_both(Code::ConflictingKeys, (short.key_span, message), other, help, d);
            None
        }
        (None, Some(_)) => short_form(node, scope, d),
        _ => full_form(node, scope, d),
    }
}

/// The first of `keys` that has a value.
fn first_of<'n>(keys: &[&str], node: &'n Node) -> Option<&'n Entry> {
    keys.iter().find_map(|key| node.entry(key).filter(|entry| !entry.value.is_null()))
}

fn full_form(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Repo> {
    let mut fields = Fields::new(node, Repo::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    let path = path(&mut fields, d);
    let help = "add `repo`, a URL or `org/name` at GitHub, or `source: {type: git, url: …}`";
    let source = required("source", help, &mut fields, d).and_then(|entry| source(&entry.value, scope, d));
    fields.finish(d);
    check_checkout(node, source.as_ref(), &parts, d);
    let checkout = parts.take_or("checkout", Checkout::default())?;
    let WrittenClone { depth, filter, sparse } = parts.take_or("clone", WrittenClone::default())?;
    Some(Repo { path: path?, source: source?, checkout, depth, filter, sparse })
}

fn short_form(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Repo> {
    let mut fields = Fields::new(node, ShortRepo::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    parts.make("path", path(&mut fields, d));
    let repo = required("repo", "add `repo`, a URL or `org/name` at GitHub", &mut fields, d);
    parts.make("repo", repo.and_then(|entry| remote(&entry.value, d)));
    fields.finish(d);
    let ShortRepo { path, repo: source, commit, base_commit, ancestor, sparse } = parts.into_value()?;
    if let (Some(first), Some(second)) = (node.entry("commit"), node.entry("base_commit"))
        && commit.is_some()
        && base_commit.is_some()
        && commit != base_commit
    {
        let message = "`commit` and `base_commit` name different commits";
        let other = (first.value.span, "`commit` is here");
        report_both(Code::ConflictingKeys, (second.value.span, message), other, "keep one", d);
    }
    let checkout = Checkout { reference: commit.or(base_commit), ancestor, ..Checkout::default() };
    Some(Repo { path, source, checkout, depth: None, filter: None, sparse })
}

fn path(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<String> {
    let entry = required("path", "add `path`, a directory inside the workspace", fields, d)?;
    place(&entry.value, d)
}

/// The value of a key that a repo needs.
fn required<'n>(key: &'static str, help: &str, fields: &mut Fields<'n>, d: &mut Diagnostics) -> Option<&'n Entry> {
    let place = fields.place_without(key);
    fields.get(key).or_else(|| invalid(place, format!("a repo has no `{key}`"), help, d))
}

/// What `repo` names: a URL, or a repository at GitHub.
fn remote(node: &Node, d: &mut Diagnostics) -> Option<RepoSource> {
    let text = fields::text(node, "`repo`", d)?;
    // `git@example.com:shop.git` is a URL for git.
    if text.contains(':') || Syntax::Variable.is_in(&text) {
        return Some(RepoSource::Git(text));
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    match text.split_once('/') {
        Some((owner, name)) if is_name(owner) && is_name(name) => {
            Some(RepoSource::Git(format!("https://github.com/{owner}/{}.git", name.trim_end_matches(".git"))))
        }
        _ => {
            let help = "write a URL, or for a directory `source: {type: local, path: …}`";
            invalid(node.span, format!("`{text}` is neither a URL nor `org/name`"), help, d)
        }
    }
}

fn place(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = fields::literal_text(node, "`path` of a repo", d)?;
    let normal = paths::normalize(Path::new(&text));
    if normal.components().all(|part| matches!(part, Component::Normal(_))) {
        return Some(text);
    }
    let help = "name a directory inside the workspace, such as `./repo`";
    invalid(node.span, format!("`{text}` leaves the workspace"), help, d)
}

fn source(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<RepoSource> {
    let mut fields = Fields::new(node, RepoSourceKeys::TABLE, d)?;
    let (kind, url, path) = (fields.get("type"), fields.get("url"), fields.get("path"));
    let place_without = ["type", "url", "path"].map(|key| fields.place_without(key));
    fields.finish(d);
    let Some(kind) = kind else {
        return invalid(place_without[0], "`source` has no `type`", "add `type: git` or `type: local`", d);
    };
    let word =
        fields::string(&kind.value, "`type`", d).filter(|word| fields::literal(word, &kind.value, "`type`", d))?;
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
    let found = scope.find_text(&text, &entry.value, "`path`", (Code::InvalidRepo, PathKind::Directory), d)?;
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
        let message = "`resolve: remote` has no effect with a local source";
        d.report(Code::NoEffect, entry.key_span, message, "delete it, or write `resolve: local`");
    }
    if let (Some(entry), Some(Written::Integer(ancestor)), Some(Written::Integer(depth))) =
        (place("ancestor"), value("checkout", "ancestor"), value("clone", "depth"))
        && ancestor >= depth
    {
        let message = format!("ancestor {ancestor} with a clone of depth {depth}");
        let help = format!("write `depth: {}` or more", ancestor + 1);
        d.report(Code::ShallowAncestor, entry.value.span, message, help);
    }
}
