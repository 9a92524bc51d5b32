//! Workspaces, repos and hooks.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, Site, join, list, map, number, text};
use crate::project::File;
use crate::render::Part;
use crate::tree::{Body, Node, Rule, any_text, entry, name};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    workspaces(breaks);
    links(breaks);
    repos(breaks);
    hooks(breaks);
    workspace_files(breaks);
}

/// Every mapping that is a workspace.
fn objects<'p>(breaks: &Breaks<'p>) -> Vec<Site<'p>> {
    breaks.sites().into_iter().filter(|site| matches!(site.node.rule, Rule::Keys("`workspace`"))).collect()
}

fn workspaces(breaks: &mut Breaks<'_>) {
    for site in objects(breaks) {
        for key in ["path", "static_path", "pool", "static"] {
            breaks.insert(Code::UnsupportedWorkspace, format!("`workspace.{key}`"), &site, key, any_text("x"));
        }
        let docker = Node::new(map([("image", text("rust"))]));
        breaks.insert(Code::UnsupportedDocker, "`workspace.docker`", &site, "docker", docker);
        if site.node.tag != "workspace file root" {
            for bad in [number("3"), Body::Bool(true), list([])] {
                breaks.replace(Code::WrongType, "a workspace of another kind", &site, bad);
            }
        }
    }
    for site in breaks.tagged("workspace mode") {
        breaks.replace(Code::UnsupportedWorkspace, "`mode: static`", &site, text("static"));
        let path = site.path.clone();
        breaks.local(Code::NoEffect, "`mode: pooled`", &site, move |root| {
            root.at_mut(&path).body = text("pooled");
            (path.clone(), Part::Key)
        });
    }
    for site in breaks.tagged("template") {
        breaks.replace(
            Code::UnsupportedWorkspace,
            "a template of an editor",
            &site,
            text("_shared/all.code-workspace"),
        );
    }
    for site in breaks.tagged("isolation") {
        let Some(workspace) = breaks.around(&site) else { continue };
        if workspace.node.tag == "workspace" {
            breaks.replace(Code::SettingConflict, "a shared workspace of a case", &site, text("shared"));
        }
        if workspace.node.tag == "suite workspace" {
            let (path, workspace) = (site.path.clone(), workspace.path.clone());
            breaks.local(Code::UnsupportedWorkspace, "a shared workspace without template", &site, move |root| {
                root.at_mut(&path).body = text("shared");
                let entries = root.entries_at(&workspace);
                entries.retain(|entry| entry.key != "template");
                let index = entries.iter().position(|entry| entry.key == "isolation").unwrap_or_default();
                (join(&workspace, index), Part::Value)
            });
        }
    }
    shared(breaks);
}

/// The suite shares its workspace, cases with a template of their own do not take part.
fn shared(breaks: &mut Breaks<'_>) {
    let Some(root) = breaks.only("eval file") else { return };
    let Some(workspace) = breaks.only("suite workspace") else { return };
    let templates: Vec<Site<'_>> = breaks.tagged("template");
    let own: Vec<(String, Vec<usize>)> = templates
        .iter()
        .filter(|site| breaks.around(site).is_some_and(|workspace| workspace.node.tag != "suite workspace"))
        .map(|site| (site.file.to_owned(), site.path.clone()))
        .collect();
    if own.is_empty() {
        return;
    }
    let (file, path) = (root.file.to_owned(), workspace.path.clone());
    let files = std::iter::once(file.clone()).chain(own.iter().map(|(file, _)| file.clone())).collect();
    breaks.push(Code::NoEffect, "cases that do not share the suite's workspace", files, move |project| {
        let entries = project.data_mut(&file).root.entries_at(&path);
        match entries.iter_mut().find(|entry| entry.key == "isolation") {
            Some(entry) => entry.value.body = text("shared"),
            None => entries.push(entry("isolation", name("shared"))),
        }
        // At the end of the mapping nothing moves.
        let place = |(file, path): &(String, Vec<usize>)| Expected {
            code: Code::NoEffect,
            file: file.clone(),
            place: Place::At(path.clone(), Part::Key, 0),
        };
        own.iter().map(place).collect()
    });
}

/// A template with a link that leads out of it.
fn links(breaks: &mut Breaks<'_>) {
    if cfg!(not(unix)) {
        return;
    }
    for site in breaks.tagged("template") {
        for (what, target) in [("out of the template", "../brief.md"), ("nowhere", "nothing"), ("to itself", "link")] {
            let directory = breaks.project.inside("_shared/linked");
            let (file, path) = (site.file.to_owned(), site.path.clone());
            breaks.push(
                Code::PathEscape,
                format!("a link of a template {what}"),
                vec![file.clone(), directory.clone()],
                move |project| {
                    project.add_text(&format!("{directory}/README.md"), "A template.\n");
                    project.add(&format!("{directory}/link"), File::Link(target.to_owned()));
                    project.data_mut(&file).root.at_mut(&path).body = text("_shared/linked");
                    vec![Expected {
                        code: Code::PathEscape,
                        file: file.clone(),
                        place: Place::At(path.clone(), Part::Value, 0),
                    }]
                },
            );
        }
    }
}

fn repos(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("repo path") {
        for bad in ["..", "../x", "/abs", "a/../.."] {
            breaks.replace(Code::InvalidRepo, format!("a repo at {bad}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("repos") {
        let [first, second, ..] = site.node.items() else { continue };
        let place = first.get("path").and_then(Node::text).unwrap_or_default().to_owned();
        let Some((at, _)) = second.find("path") else { continue };
        let path = join(&site.path, 1);
        breaks.local(Code::InvalidRepo, "two repos at one place", &site, move |root| {
            root.at_mut(&join(&path, at)).body = text(&format!("./{place}"));
            (path.clone(), Part::Value)
        });
    }
    for site in breaks.tagged("repo name") {
        for bad in ["./shop", "shop", "a/b/c", "../shop/orders"] {
            breaks.replace(Code::InvalidRepo, format!("the repo {bad}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("base commit") {
        if breaks.around(&site).is_some_and(|repo| repo.node.get("commit").is_some()) {
            breaks.replace(Code::ConflictingKeys, "another `base_commit`", &site, text("main"));
        }
    }
    for site in breaks.tagged("repo") {
        for (key, value) in [("repo", any_text("shop/orders")), ("ancestor", crate::tree::number(1))] {
            breaks.insert(Code::ConflictingKeys, "a repo in two ways", &site, key, value);
        }
    }
    for site in breaks.tagged("source type") {
        for bad in ["svn", "Git", ""] {
            breaks.replace(Code::InvalidRepo, format!("a source of type {bad:?}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("repo source") {
        let is_git = site.node.get("url").is_some();
        let (key, value) = if is_git { ("path", "_shared/repo") } else { ("url", "https://example.org/x.git") };
        breaks.insert_bad_value(Code::InvalidRepo, "a source of two types", &site, key, any_text(value));
    }
    for site in breaks.tagged("shallow ancestor") {
        for ancestor in ["3", "4", "70000"] {
            breaks.replace(Code::ShallowAncestor, "an ancestor that is not cloned", &site, number(ancestor));
        }
    }
    for site in breaks.tagged("resolve") {
        if site.node.text() == Some("local") {
            let path = site.path.clone();
            breaks.local(Code::NoEffect, "`resolve: remote` of a local source", &site, move |root| {
                root.at_mut(&path).body = text("remote");
                (path.clone(), Part::Key)
            });
        }
    }
}

fn hooks(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("hooks") {
        for bad in [text("make"), number("1"), list([])] {
            breaks.replace(Code::InvalidHook, "hooks of another kind", &site, bad);
        }
        for key in ["after_everything", "before_al", "setup"] {
            breaks.insert(Code::InvalidHook, format!("the hook {key}"), &site, key, any_text("make"));
        }
        for (index, hook) in site.node.entries().iter().enumerate().filter(|(_, entry)| entry.key != "enabled") {
            let value = Site { path: join(&site.path, index), node: &hook.value, ..site.clone() };
            breaks.replace(Code::InvalidHook, "a hook of another kind", &value, number("1"));
            breaks.replace(Code::InvalidHook, "a hook without a command", &value, map([("timeout_ms", number("5"))]));
            breaks.replace(Code::InvalidCommand, "a hook with an empty command", &value, text(" "));
            breaks.replace(Code::InvalidCommand, "a hook with an empty argv", &value, list([]));
            breaks.replace(
                Code::UnknownTemplateVariable,
                "an unknown placeholder of a hook",
                &value,
                text("rm -r {{ workspace_pth }}"),
            );
            if hook.key.ends_with("_all") {
                let place = join(&value.path, 0);
                let path = value.path.clone();
                breaks.local(Code::SettingConflict, "`reset` of another hook", &value, move |root| {
                    root.at_mut(&path).body = map([("reset", text("fast")), ("command", text("make"))]);
                    (place.clone(), Part::Key)
                });
            }
        }
    }
}

fn workspace_files(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("workspace file root") {
        for bad in [list([]), text("_shared/template")] {
            breaks.replace(Code::InvalidExternalFile, "a workspace file of another kind", &site, bad);
        }
        let inner = site.node.body.clone();
        breaks.replace(Code::InvalidExternalFile, "a workspace in a workspace", &site, map([("workspace", inner)]));
    }
}
