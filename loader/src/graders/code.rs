//! Rules of `code-grader`.

use evalsuite_schema::Object;
use evalsuite_schema::grader::PreparedCommand;
use evalsuite_schema::keys::Written;

use super::{Family, Rules};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::{PathKind, Scope};
use crate::fields::{command, label, sealing};
use crate::read::node::Entry;

/// Keys so close to a known one are typing errors rather than settings of the command.
const NEAR: usize = 2;

pub(super) const FAMILY: Family = Family { rules: &[("code-grader", code_grader)], constant: |_| None };

fn code_grader(mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, cx, .. } = rules;
    sealing::read(fields, parts, cx.scope, d);
    let command = fields.require("command", d);
    let cwd = fields.get("cwd");
    let run = command.and_then(|command| prepared(command, cwd, cx.scope, d));
    let config_entry = fields.get("config");
    let mut config = config_entry.and_then(|entry| fields::object(&entry.value, "`config`", d)).unwrap_or_default();
    for entry in fields.rest() {
        surplus_key(entry, config_entry, &fields.known(), &mut config, d);
    }
    parts.make("command", run);
    parts.set("config", Written::Data(config.into()));
}

/// A command and its working directory, which is searched first for the files the command names.
pub(super) fn prepared(
    command: &Entry,
    cwd: Option<&Entry>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<PreparedCommand> {
    let directory = match cwd {
        Some(entry) => scope.find(&entry.value, "`cwd`", PathKind::Directory, d).map(Some),
        None => Some(None),
    };
    let path = directory.as_ref().and_then(Option::as_ref).map(|found| found.path.as_path());
    let mut found = Diagnostics::new();
    let command = command::read(&command.value, &label(command), scope, path, &mut found);
    if directory.is_none() {
        command::forgive_paths(&mut found);
    }
    d.append(found);
    Some(PreparedCommand { command: command?, cwd: directory?.map(|found| found.reference) })
}

/// A key that belongs to the command.
fn surplus_key(entry: &Entry, written: Option<&Entry>, known: &[&str], config: &mut Object, d: &mut Diagnostics) {
    let near = known.iter().find(|known| strsim::osa_distance(&entry.key, known) <= NEAR);
    if let Some(near) = near {
        let message = format!("`{}` is close to `{near}`, a key of `code-grader`", entry.key);
        let help = format!("did you mean `{near}`? else put it under `config`");
        d.report(Code::NearMissKey, entry.key_span, message, help);
        return;
    }
    if config.contains_key(&entry.key) {
        let first =
            written.and_then(|config| config.value.entry(&entry.key)).map_or(entry.key_span, |first| first.key_span);
        let problem = Diagnostic::new(Code::ConflictingKeys, format!("`{}` is also in `config`", entry.key));
        d.push(problem.at(entry.key_span).related(first, "also here").help("keep one"));
        return;
    }
    config.insert(entry.key.clone(), entry.value.to_json());
}
