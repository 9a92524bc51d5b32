//! targets.yaml: agents that are commands.

use std::path::{Path, PathBuf};

use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{CliTarget, HealthCheck, Probe, Provider, TargetEntry, TargetsFile};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, resolve};
use crate::fields::Fields;
use crate::fields::paths::{Kind, Roots, Scope};
use crate::fields::shared_files::SharedFiles;
use crate::keys::targets::{CLI_TARGET, HEALTHCHECK, TARGET, TARGETS_FILE};
use crate::keys::{Status, placeholder};
use crate::read::node::{Entry, Node};
use crate::request::Request;
use crate::source::{Files, Span};
use crate::{fields, read, suggest};

/// Paths of a targets file, relative to each directory that is searched.
const NAMES: &[&str] =
    &["targets.yaml", "targets.yml", ".agentv/targets.yaml", ".agentv/targets.yml", ".evalsuite/targets.yaml"];

/// Longest chain of `use_target`.
const MAX_ALIASES: usize = 5;

/// The targets file nearest to a suite, from its directory up to the package root; of a suite outside of the package, the
/// one in its directory.
pub fn find_targets_file(suite_root: &Path, package_root: &Path) -> Option<PathBuf> {
    let boundary = if suite_root.starts_with(package_root) { package_root } else { suite_root };
    suite_root
        .ancestors()
        .take_while(|directory| directory.starts_with(boundary))
        .flat_map(|directory| NAMES.iter().map(move |name| directory.join(name)))
        .find(|path| path.is_file())
}

/// The result of [`load_targets`].
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedTargets {
    /// The entries; `None` if one of the diagnostics is an error.
    pub targets: Option<TargetsFile>,
    /// All problems, by position.
    pub diagnostics: evalsuite_schema::diagnostic::Diagnostics,
    /// The files that were looked at.
    pub files: Files,
}

/// Reads and checks the targets file at `path`. Only the package root and workspace root of `request` matter.
pub fn load_targets(path: &Path, request: &Request) -> LoadedTargets {
    let (files, shared) = (Files::new(&request.workspace_root), SharedFiles::default());
    let mut d = Diagnostics::new();
    let roots = Roots::of_file(path, &request.package_root);
    let dir = &roots.suite_root;
    let targets = read(path, Scope { request, roots: &roots, files: &files, shared: &shared, dir }, &mut d);
    let diagnostics = resolve(d, &files);
    LoadedTargets { targets: targets.filter(|_| !diagnostics.has_errors()), diagnostics, files }
}

fn invalid<T>(span: Span, message: impl Into<String>, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::TargetsFile, span, message, help, d)
}

fn read(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<TargetsFile> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_yaml(file, &text, d)?;
    if root.as_mapping().is_none() {
        return invalid(
            root.span,
            format!("a targets file must be a mapping, found {}", root.kind()),
            "write `targets:` and a list",
            d,
        );
    }
    let mut fields = Fields::new(&root, &TARGETS_FILE, d)?;
    fields.get("$schema");
    let entry = fields.get("targets");
    let problems = d.len();
    fields.finish(d);
    let Some(entry) = entry else {
        // An unknown key may be a misspelling of this one.
        if d.len() == problems {
            let help = "add `targets`, a list of `{name, provider, command}`";
            d.report(Code::TargetsFile, root.span, "no `targets`", help);
        }
        return None;
    };
    let mut file = TargetsFile::default();
    let mut spans: Vec<Span> = Vec::new();
    for node in fields::list(&entry.value, "`targets`", d)? {
        let Some(target) = target(node, scope, d) else { continue };
        match file.targets.iter().position(|other| other.name == target.name) {
            Some(first) => d.push(
                Diagnostic::new(Code::TargetsFile, format!("target `{}` is defined twice", target.name))
                    .at(node.span)
                    .related(spans[first], "first here")
                    .help("rename one"),
            ),
            None => {
                file.targets.push(target);
                spans.push(node.span);
            }
        }
    }
    aliases(&file, &spans, d);
    Some(file)
}

fn target(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<TargetEntry> {
    let mut fields = Fields::new(node, &TARGET, d)?;
    let name = fields.read_required("name", fields::text, d);
    let alias = fields.get("use_target");
    let provider = match (alias, fields.get("provider")) {
        (Some(entry), provider) => {
            if let Some(provider) = provider {
                let message = "`use_target` and `provider` contradict each other";
                d.report(Code::ConflictingKeys, provider.key_span, message, "keep one");
            }
            fields.finish(d);
            Provider::Alias(fields::text(&entry.value, "`use_target`", d)?)
        }
        (None, Some(entry)) => {
            let word = fields::text(&entry.value, "`provider`", d)?;
            if word == "cli" {
                Provider::Cli(Box::new(cli(fields, scope, d)?))
            } else {
                // Settings of another provider are another tool's business.
                Provider::Other(word)
            }
        }
        (None, None) => {
            fields.missing(Code::MissingKey, "provider", d);
            return None;
        }
    };
    let location = scope.files.location(node.span);
    Some(TargetEntry { name: name?, location, provider })
}

fn cli(mut fields: Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) -> Option<CliTarget> {
    fields.narrow(&CLI_TARGET);
    let command = fields.require("command", d).and_then(|entry| command(&entry.value, d));
    let cwd = fields.get("cwd").and_then(|entry| scope.find(&entry.value, "`cwd`", Kind::Directory, d));
    let timeout_seconds = fields.read("timeout_seconds", fields::positive, d);
    let files_format =
        fields.get_renamed("files_format", d).and_then(|entry| fields::text(&entry.value, &fields::label(entry), d));
    let healthcheck = fields.get("healthcheck").and_then(|entry| healthcheck(entry, scope, d));
    let env = fields.get("env").map(|entry| env(entry, d)).unwrap_or_default();
    let mut flag = |key, d: &mut Diagnostics| {
        fields.get_renamed(key, d).and_then(|entry| fields::boolean(&entry.value, &fields::label(entry), d))
    };
    let keep_temp_files = flag("keep_temp_files", d).unwrap_or(false);
    let verbose = flag("verbose", d).unwrap_or(false);
    if let Some(entry) = fields.get("provider_batching")
        && fields::boolean(&entry.value, "`provider_batching`", d) == Some(true)
    {
        let message = "`provider_batching` is not supported";
        d.report(Code::TargetNotRunnable, entry.key_span, message, "delete it: one process runs per case");
    }
    for key in CLI_TARGET.keys.iter().filter(|key| matches!(key.status, Status::NoEffect(_))) {
        fields.no_effect(key.name, d);
    }
    fields.finish(d);
    Some(CliTarget {
        command: command?,
        cwd: cwd.map(|found| found.reference),
        timeout_seconds,
        files_format: files_format.unwrap_or_else(|| "{path}".to_owned()),
        healthcheck,
        env,
        keep_temp_files,
        verbose,
    })
}

fn command(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = fields::string(node, "`command`", d)?;
    if text.trim().is_empty() {
        return fields::reject(Code::InvalidCommand, node.span, "`command` is empty", "write a shell command", d);
    }
    let is_upper_case = |name: &&str| !name.bytes().any(|byte| byte.is_ascii_lowercase());
    for name in Syntax::Command
        .names(&text)
        .filter(is_upper_case)
        .filter(|name| !placeholder::is_known(placeholder::OF_COMMANDS, name))
    {
        let help = suggest::did_you_mean_or_known(name, &placeholder::names(placeholder::OF_COMMANDS));
        d.report(Code::UnknownPlaceholder, node.span, format!("unknown placeholder `{{{name}}}`"), help);
    }
    Some(text)
}

fn healthcheck(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<HealthCheck> {
    let mut fields = Fields::new(&entry.value, &HEALTHCHECK, d)?;
    let (url, command) = (fields.get("url"), fields.get("command"));
    let cwd = fields.get("cwd").and_then(|entry| scope.find(&entry.value, "`cwd`", Kind::Directory, d));
    let timeout_seconds = fields.read("timeout_seconds", fields::positive, d);
    fields.finish(d);
    let probe = match (url, command) {
        (Some(url), None) => Probe::Url(fields::text(&url.value, "`url`", d)?),
        (None, Some(command)) => {
            let command = fields::text(&command.value, "`command`", d)?;
            Probe::Command { command, cwd: cwd.map(|found| found.reference) }
        }
        (Some(_), Some(command)) => {
            return fields::reject(
                Code::ConflictingKeys,
                command.key_span,
                "`url` and `command` are one setting",
                "keep one",
                d,
            );
        }
        (None, None) => {
            return invalid(entry.value.span, "`healthcheck` has neither `url` nor `command`", "add one", d);
        }
    };
    Some(HealthCheck { probe, timeout_seconds })
}

fn env(entry: &Entry, d: &mut Diagnostics) -> Vec<(String, String)> {
    let Some(entries) = entry.value.as_mapping() else {
        return fields::wrong_type(&entry.value, "`env`", "a mapping", d).unwrap_or_default();
    };
    let value = |entry: &Entry, d: &mut Diagnostics| {
        fields::string(&entry.value, &format!("`{}` in `env`", entry.key), d).map(|text| (entry.key.clone(), text))
    };
    entries.iter().filter_map(|entry| value(entry, d)).collect()
}

/// Every alias refers to an entry, in a few steps.
fn aliases(file: &TargetsFile, spans: &[Span], d: &mut Diagnostics) {
    let find = |name: &str| file.targets.iter().find(|target| target.name == name);
    for (target, span) in file.targets.iter().zip(spans) {
        let mut current = target;
        let mut steps = 0;
        while let Provider::Alias(next) = &current.provider {
            steps += 1;
            if steps > MAX_ALIASES {
                let message =
                    format!("`use_target` of `{}` is circular, or longer than {MAX_ALIASES} steps", target.name);
                d.report(Code::TargetsFile, *span, message, "name a target that runs");
                break;
            }
            let Some(found) = find(next) else {
                if steps == 1 {
                    let names: Vec<&str> = file.targets.iter().map(|target| target.name.as_str()).collect();
                    let help = suggest::did_you_mean_or_known(next, &names);
                    d.report(
                        Code::TargetNotRunnable,
                        *span,
                        format!("`use_target` names `{next}`, which is not defined"),
                        help,
                    );
                }
                break;
            };
            current = found;
        }
    }
}
