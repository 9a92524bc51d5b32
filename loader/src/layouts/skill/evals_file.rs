//! `evals/evals.json`, without its evals.

use std::path::Path;

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Object, SkillEvals};

use super::arms::{self, Arm};
use crate::cases::target_skill;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::read;
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// What the file says.
#[derive(Debug)]
pub(super) struct EvalsFile {
    pub(super) skill_name: Option<(String, Span)>,
    pub(super) version: Option<String>,
    pub(super) metadata: Object,
    pub(super) canary: Option<String>,
    pub(super) arms: Vec<Arm>,
    /// The directories of the workspace that the skill is put into.
    pub(super) directories: Vec<String>,
    pub(super) trials: u32,
    /// The gates, as far as they can be read without the arms.
    pub(super) gates: Option<Entry>,
    /// The evals.
    pub(super) nodes: Vec<Node>,
}

pub(super) fn read(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<EvalsFile> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let mut root = read::parse_json(file, &text, d)?;
    let help = "write `{\"skill_name\": …, \"evals\": […]}`";
    let mut fields = Fields::of_root(&root, SkillEvals::TABLE, help, d)?;
    fields.get("$schema");
    let skill_name = fields.get("skill_name").and_then(|entry| {
        let name = fields::text(&entry.value, "`skill_name`", d)?;
        Some((name, entry.value.span))
    });
    let canary = fields.get("canary").and_then(|entry| fields::canary(entry, d));
    let arms = fields.get("arms").map(|entry| arms::read(entry, scope, d)).unwrap_or_default();
    let directories = fields.get("skill_directories").map(|entry| target_skill::directories(entry, d));
    let gates = fields.get("gates").cloned();
    let written: SkillEvals = fields.parts(scope, d).into_value_of_rest()?;
    let evals = fields.require("evals", d);
    let key = evals.filter(|entry| fields::list(&entry.value, "`evals`", d).is_some()).map(|entry| entry.key_span);
    fields.finish(d);
    let evals = key.and_then(|key| root.take_entry(key));
    let nodes = match evals.map(|entry| (entry.value.span, entry.value.data)) {
        Some((span, Data::Sequence(nodes))) if nodes.is_empty() => {
            d.report(Code::NoCases, span, "`evals` is empty", "add an eval: `{\"id\": 1, \"prompt\": …}`");
            nodes
        }
        Some((_, Data::Sequence(nodes))) => nodes,
        _ => Vec::new(),
    };
    let SkillEvals { version, metadata, trials, .. } = written;
    let directories = directories.unwrap_or_else(target_skill::usual_directories);
    Some(EvalsFile { skill_name, version, metadata, canary, arms, directories, trials, gates, nodes })
}

impl Default for EvalsFile {
    /// A file that could not be read.
    fn default() -> Self {
        Self {
            skill_name: None,
            version: None,
            metadata: Object::default(),
            canary: None,
            arms: Vec::new(),
            directories: target_skill::usual_directories(),
            trials: 1,
            gates: None,
            nodes: Vec::new(),
        }
    }
}
