//! An Agent Skill: `SKILL.md`, with its cases in `evals/evals.json`.

mod evals_file;
mod skill_file;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub(super) use evalsuite_schema::discovery::is_skill as is_in;
use evalsuite_schema::discovery::{SKILL_EVALS, SKILL_FILE};
use evalsuite_schema::{Layout, Object, PathRef, SuiteKind, WITHOUT_SKILL, WorkspaceCopy};

use super::{Found, Outline, SuiteEntry, new_suite};
use crate::cases::{CaseFiles, ReadCases, by_id, target_skill};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{self, Scope};
use crate::read::node::Node;
use crate::source::Span;
use crate::suite::cross_check;

/// The skill that a file belongs to.
pub(super) fn with_file(path: &Path) -> Option<Found> {
    evalsuite_schema::discovery::skill_directory(path).map(found)
}

/// The skill in a directory.
pub(super) fn found(root: &Path) -> Found {
    Found { layout: Layout::Skill, outline, root: root.to_path_buf(), file: Some(root.join(SKILL_EVALS)) }
}

fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let root = &scope.roots.suite_root;
    let (skill_file, evals_file) = (root.join(SKILL_FILE), entry.file.clone()?);
    let skill = is_there(&skill_file, scope, d).then(|| skill_file::read(&skill_file, scope, d));
    let evals = is_there(&evals_file, scope, d).then(|| evals_file::read(&evals_file, scope, d)).flatten();
    let place = Span::whole(scope.files.add(&evals_file));
    let skill = skill.unwrap_or_default();
    let skill_name = evals.as_ref().and_then(|evals| evals.skill_name.as_ref());
    if let (Some(name), Some((written, span))) = (&skill.name, skill_name)
        && written != name
    {
        let message = format!("`skill_name` is `{written}`, but the skill is `{name}`");
        d.report(Code::SkillNameMismatch, *span, message, format!("write `{name}`, or delete it"));
    }
    let name = skill.name.unwrap_or_else(|| paths::file_name(root));
    let mut suite = new_suite(name.clone(), Layout::Skill, place, scope);
    suite.kind = SuiteKind::Capability;
    suite.description = skill.description;
    suite.license = skill.license;
    let evals = evals.unwrap_or_default();
    suite.version = evals.version;
    suite.canary = evals.canary;
    let skill = PathRef::found(".", scope.roots.compiled(root));
    suite.targets = evals_file::targets_of(&evals.arms, (&name, &skill), &evals.directories, scope, d);
    suite.gates = evals.gates.map(|gates| cross_check::read_gates(&gates, &suite.targets, d)).unwrap_or_default();
    let copies = match evals.arms.is_empty() {
        true => target_skill::copies(
            &skill,
            &name,
            &evals.directories,
            &target_skill::without(root == &scope.request.package_root),
        ),
        false => Vec::new(),
    };
    let with_skill = suite.targets.iter().filter(|target| target.name != WITHOUT_SKILL);
    let with_skill = with_skill.map(|target| target.name.clone()).collect();
    let (nodes, metadata, trials) = (evals.nodes, evals.metadata, evals.trials);
    let cases = Box::new(SkillCases { nodes, skill: name, copies, with_skill, metadata, trials });
    Some(Outline { suite: Some(suite), cases, watched: Vec::new(), place })
}

/// Whether a file of the skill can be read. Anything else is reported.
fn is_there(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> bool {
    let shown = scope.files.shown(path);
    let problem = if path.symlink_metadata().is_err() {
        let help = format!("an Agent Skill has `{SKILL_FILE}` in its directory, and its evals in `{SKILL_EVALS}`");
        Some((Code::MissingPath, format!("`{shown}` not found"), help))
    } else {
        let reason = scope.roots.escape(path, &shown);
        reason.map(|reason| (Code::PathEscape, reason, "copy the file into the skill".to_owned()))
    };
    let Some((code, message, help)) = problem else { return true };
    d.report(code, Span::whole(scope.files.add(path)), message, help);
    false
}

/// The evals of a skill, and what each of them gets.
#[derive(Debug)]
struct SkillCases {
    nodes: Vec<Node>,
    /// Name of the skill.
    skill: String,
    /// The skill itself in the workspace, if all trials have it.
    copies: Vec<WorkspaceCopy>,
    /// The targets whose trials have the skill or an older copy; without arms, there are none.
    with_skill: Vec<String>,
    metadata: Object,
    trials: u32,
}

impl CaseFiles for SkillCases {
    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn read_one(&self, index: usize, scope: Scope<'_>, read: &mut ReadCases, d: &mut Diagnostics) {
        let node = &self.nodes[index];
        if read.takes(evals_file::id_of(node).as_deref(), "", scope.request) {
            read.cases.extend(evals_file::read_eval(node, self, scope, d).map(|checked| by_id(checked, "")));
        }
    }

    fn path(&self, _: usize, _: &Path) -> Option<PathBuf> {
        None
    }
}
