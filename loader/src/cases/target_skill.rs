//! `skill` of a target: what only its trials have in their workspace.

use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::discovery::{SKILL_FILE, with_slashes};
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Isolation, PathRef, SKILL_DIRECTORIES, Suite, TargetSkill, WorkspaceCopy};

use super::{PlacedCase, workspace};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{self, PathKind, Scope};
use crate::fields::{self, Fields};
use crate::read::node::Entry;
use crate::source::Span;

/// The directory of the evals, which the agent does not get.
const EVALS: &str = "evals";

pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<WorkspaceCopy> {
    let (mut path, mut into) = (Some(&entry.value), usual_directories());
    if entry.value.as_mapping().is_some() {
        let Some(mut fields) = Fields::new(&entry.value, TargetSkill::TABLE, d) else { return Vec::new() };
        path = fields.require("path", d).map(|entry| &entry.value);
        into = fields.get("directories").map_or(into, |entry| directories(entry, d));
        fields.finish(d);
    }
    let found = path.and_then(|node| Some((node, scope.find(node, "`skill`", PathKind::Directory, d)?)));
    let Some((node, found)) = found else { return Vec::new() };
    if !found.path.join(SKILL_FILE).is_file() {
        let message = format!("`{}` is not a skill: it has no `{SKILL_FILE}`", found.reference.written);
        d.report(Code::MissingPath, node.span, message, "name the directory of a skill");
        return Vec::new();
    }
    workspace::check_links(&found.path, node, scope, d);
    let without = without(found.path == scope.request.package_root);
    copies(&found.reference, &paths::file_name(&found.path), &into, &without)
}

/// The directories of a workspace that skills are put into without a key.
pub(crate) fn usual_directories() -> Vec<String> {
    vec![SKILL_DIRECTORIES[0].to_owned()]
}

/// The directories of a workspace that a skill is put into.
pub(crate) fn directories(entry: &Entry, d: &mut Diagnostics) -> Vec<String> {
    let label = fields::label(entry);
    let mut directories: Vec<String> = Vec::new();
    let nodes = fields::list(&entry.value, &label, d).unwrap_or_default();
    if nodes.is_empty() {
        let message = format!("{label} is empty");
        d.report(Code::OutOfRange, entry.value.span, message, "name a directory, or delete the key");
    }
    for node in nodes {
        let Some(written) = fields::literal_text(node, &format!("an element of {label}"), d) else { continue };
        let path = paths::normalize(written.trim().as_ref());
        let reason = paths::not_relative(written.trim()).or_else(|| {
            let is_outside = path.as_os_str().is_empty() || path.starts_with("..") || path == *".";
            is_outside.then(|| format!("`{}` is not below the workspace", written.trim()))
        });
        match reason {
            Some(reason) => {
                let help = format!("write a path in the workspace, such as `{}`", SKILL_DIRECTORIES[1]);
                d.report(Code::PathEscape, node.span, reason, help);
            }
            None => directories.push(with_slashes(&path)),
        }
    }
    directories.dedup();
    directories
}

/// A skill in each of these directories of a workspace.
pub(crate) fn copies(from: &PathRef, name: &str, directories: &[String], without: &[String]) -> Vec<WorkspaceCopy> {
    let copy = |directory: &String| WorkspaceCopy {
        from: from.clone(),
        to: format!("{directory}/{name}"),
        without: without.to_vec(),
    };
    directories.iter().map(copy).collect()
}

/// What the agent does not get of a skill: the evals and, where it is the package too, what cargo and evalsuite write into it.
pub(crate) fn without(is_package: bool) -> Vec<String> {
    let names: &[&str] = if is_package { &[EVALS, "target", ".evalsuite"] } else { &[EVALS] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Reports skills of targets in a workspace that the trials of all targets share: they would all have them.
pub(crate) fn report_shared_workspace(suite: &Suite, cases: &[PlacedCase], place: Span, d: &mut Diagnostics) {
    let is_shared = |case: &&PlacedCase| {
        case.checked.case.workspace.as_ref().is_some_and(|workspace| workspace.isolation == Isolation::Shared)
    };
    let count = cases.iter().filter(is_shared).count();
    if count > 0 && suite.targets.iter().any(|target| !target.skill.is_empty()) {
        let message = format!(
            "{} in a workspace with `isolation: shared`, where the trials of every target have the skill of one",
            counted(count, "case")
        );
        d.report(Code::SettingConflict, place, message, "delete `isolation: shared`, or the `skill` of the targets");
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use crate::{Loaded, Request, load};

    /// Loads a suite with these targets, next to a skill.
    fn loaded_with(targets: &str, workspace: &str) -> (TempDir, Loaded) {
        let package = TempDir::new().unwrap();
        let suite =
            format!("execution: {{targets: {targets}}}\n{workspace}tests: [{{id: a, criteria: Good, input: Hi}}]\n");
        for (path, text) in [
            ("suites/shop/EVAL.yaml", suite.as_str()),
            ("suites/shop/template/a.txt", "a"),
            ("skills/csv/SKILL.md", "---\nname: csv\ndescription: Tables.\n---\n"),
        ] {
            let path = package.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut request = Request::new("suites/shop", package.path());
        request.workspace_root = package.path().to_owned();
        let loaded = load(&request);
        (package, loaded)
    }

    fn messages(targets: &str, workspace: &str) -> Vec<String> {
        let (_package, loaded) = loaded_with(targets, workspace);
        let shown = |problem: &evalsuite_schema::diagnostics::Diagnostic| {
            format!("{} {}", problem.code.as_str(), problem.message)
        };
        loaded.diagnostics.iter().map(shown).collect()
    }

    #[test]
    fn only_the_target_of_a_skill_has_it() {
        let targets = "[{name: with_skill, skill: ../../skills/csv}, without_skill]";
        let (_package, loaded) = loaded_with(targets, "");
        let suite = loaded.suite.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)).suite;
        let copy = &suite.targets[0].skill[0];
        assert_eq!((copy.to.as_str(), copy.from.path.as_str()), (".agents/skills/csv", "skills/csv"));
        assert_eq!(copy.without, ["evals"]);
        assert!(suite.targets[1].skill.is_empty() && suite.has_arms());
        let targets = "[{name: a, skill: {path: ../../skills/csv, directories: [.claude/skills, .codex/skills]}}]";
        let (_package, loaded) = loaded_with(targets, "");
        let suite = loaded.suite.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)).suite;
        let places: Vec<&str> = suite.targets[0].skill.iter().map(|copy| copy.to.as_str()).collect();
        assert_eq!(places, [".claude/skills/csv", ".codex/skills/csv"]);
    }

    #[test]
    fn a_skill_has_its_file_and_a_workspace_of_its_own() {
        let found = messages("[{name: a, skill: ./template}]", "");
        assert_eq!(found, ["E018 `./template` is not a skill: it has no `SKILL.md`"]);
        let found = messages("[{name: a, skill: {path: ../../skills/csv, directories: []}}]", "");
        assert_eq!(found, ["E024 `directories` is empty"]);
        let shared = "workspace: {template: ./template, isolation: shared}\n";
        let found = messages("[{name: a, skill: ../../skills/csv}, b]", shared);
        assert!(found.len() == 1 && found[0].contains("1 case in a workspace with `isolation: shared`"), "{found:?}");
    }
}
