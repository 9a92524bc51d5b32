//! `arms` of the evals of a skill: targets with the skill, without it, and with an older copy.

use evalsuite_schema::discovery::SKILL_FILE;
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{OLD_SKILL, OldSkill, PathRef, Target, WITH_SKILL, WITHOUT_SKILL};

use super::skill_file;
use crate::cases::{target_skill, workspace};
use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields::paths::{FoundPath, PathKind, Scope};
use crate::fields::{self, Fields};
use crate::read::node::{Entry, Node};
use crate::source::Span;

/// The entry of a targets file whose command is the agent of every arm.
const DEFAULT_TARGET: &str = "default";

/// An arm, where it is written.
#[derive(Debug)]
pub(super) struct Arm {
    /// The name of its target.
    pub(super) name: &'static str,
    old_skill: Option<FoundPath>,
    span: Span,
}

/// The arms that are listed, each once.
pub(super) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Arm> {
    let Some(nodes) = fields::list(&entry.value, "`arms`", d) else { return Vec::new() };
    let mut arms: Vec<Arm> = Vec::new();
    let mut is_complete = true;
    for node in nodes {
        let Some(arm) = arm(node, scope, d) else {
            is_complete = false;
            continue;
        };
        match arms.iter().find(|known| known.name == arm.name) {
            Some(first) => {
                let message = format!("arm `{}` is listed twice", arm.name);
                report_both(Code::InvalidTarget, (arm.span, message), (first.span, "first here"), "keep one", d);
            }
            None => arms.push(arm),
        }
    }
    let has_skill = arms.iter().any(|arm| arm.name == WITH_SKILL);
    if is_complete && (!has_skill || arms.len() < 2) {
        let message = "`arms` compares nothing: it needs `with_skill` and another arm";
        let help = "write `[\"with_skill\", \"without_skill\"]`, or delete the key";
        d.report(Code::InvalidTarget, entry.value.span, message, help);
    }
    arms
}

fn arm(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Arm> {
    let known = |name: &'static str| Some(Arm { name, old_skill: None, span: node.span });
    match node.as_str() {
        Some(WITH_SKILL) => known(WITH_SKILL),
        Some(WITHOUT_SKILL) => known(WITHOUT_SKILL),
        Some(other) => {
            let message = format!("unknown arm `{other}`");
            let help = "write `\"with_skill\"`, `\"without_skill\"` or `{\"old_skill\": PATH}`";
            fields::reject(Code::InvalidTarget, node.span, message, help, d)
        }
        None => {
            let mut fields = Fields::new(node, OldSkill::TABLE, d)?;
            let found = fields.require("old_skill", d).and_then(|entry| old_skill(&entry.value, scope, d));
            fields.finish(d);
            Some(Arm { name: OLD_SKILL, old_skill: Some(found?), span: node.span })
        }
    }
}

fn old_skill(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<FoundPath> {
    let found = scope.find(node, "`old_skill`", PathKind::Directory, d)?;
    let written = &found.reference.written;
    let mut invalid = |message: String, help: &str| fields::reject(Code::InvalidTarget, node.span, message, help, d);
    if scope.roots.suite_root.starts_with(&found.path) {
        let message = format!("`{written}` is the directory of the skill itself");
        return invalid(message, "name a copy of an older version, such as `evals/old-skill`");
    }
    if !found.path.join(SKILL_FILE).is_file() {
        let message = format!("`{written}` is not a skill: it has no `{SKILL_FILE}`");
        return invalid(message, "copy the whole directory of the older version");
    }
    workspace::check_links(&found.path, node, scope, d);
    Some(found)
}

/// The targets of the arms of a skill: all of them call the agent of the suite.
pub(super) fn targets(
    arms: &[Arm],
    (name, skill): (&str, &PathRef),
    directories: &[String],
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Vec<Target> {
    let mut without = target_skill::without(scope.roots.suite_root == scope.request.package_root);
    // The older copy is not a part of the skill.
    without.extend(arms.iter().filter_map(|arm| Some(scope.roots.in_suite(&arm.old_skill.as_ref()?.path))));
    let target = |arm: &Arm| {
        let mut target = Target::new(arm.name);
        target.use_target = Some(DEFAULT_TARGET.to_owned());
        target.skill = match &arm.old_skill {
            None if arm.name == WITHOUT_SKILL => Vec::new(),
            None => target_skill::copies(skill, name, directories, &without),
            Some(old) => {
                check_name(old, name, arm.span, scope, d);
                target_skill::copies(&old.reference, name, directories, &target_skill::without(false))
            }
        };
        target
    };
    arms.iter().map(target).collect()
}

/// The older copy is put where the skill would be, and agents load a skill only from a directory with its name.
fn check_name(old: &FoundPath, name: &str, span: Span, scope: Scope<'_>, d: &mut Diagnostics) {
    let Some(old_name) = skill_file::read_name(&old.path.join(SKILL_FILE), scope, d) else { return };
    if old_name != name {
        let message = format!("`{}` is skill `{old_name}`, not an older copy of `{name}`", old.reference.written);
        d.report(Code::InvalidTarget, span, message, format!("write `name: {name}` in its `{SKILL_FILE}`"));
    }
}
