//! targets.yaml: agents that are commands or speak the Agent Client Protocol, with the command line, directory, health check and
//! environment of their processes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::discovery::SuiteFile;
use evalsuite_schema::keys::{Keys, Parts, Written};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{
    AcpTarget, CliTarget, HealthCheck, HealthProbe, Location, PathRef, PermissionDecision, Permissions, Provider,
    TargetEntry, TargetsFile,
};
use walkdir::WalkDir;

use crate::diagnostic::{Code, Diagnostics, report_both, resolve};
use crate::fields::paths::{PathKind, Roots, Scope, SharedFiles, normalize};
use crate::fields::{self, Fields, mcp, sealing, settings};
use crate::key_tables::{self, Status};
use crate::read;
use crate::read::node::{Data, Entry, Node};
use crate::request::Request;
use crate::source::{Files, Span};

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
        // A broken link and a device are reported when they are read.
        .find(|path| path.is_file() || path.is_symlink() && !path.is_dir())
}

/// The result of [`load_targets`].
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedTargets {
    /// The entries without errors; `None` if the file itself has one.
    pub targets: Option<TargetsFile>,
    /// The problems that belong to no entry, by position.
    pub file_problems: evalsuite_schema::diagnostics::Diagnostics,
    /// The files that were looked at.
    pub files: Files,
    entries: Vec<ReadEntry>,
}

impl LoadedTargets {
    /// The problems of the file, and of the entries that the targets and judges `names` lead to. Other entries are never used.
    pub fn problems_of<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> evalsuite_schema::diagnostics::Diagnostics {
        let mut problems = self.file_problems.clone();
        for entry in self.reached(names) {
            problems.append(resolve(entry.problems.clone(), &self.files));
        }
        problems.sort();
        problems
    }

    /// Where the entries that the targets and judges `names` lead to are defined, of those that ask for a seal: they need a feature of
    /// evalsuite.
    pub fn sealed(&self, names: impl IntoIterator<Item = String>) -> BTreeSet<Location> {
        let names: Vec<String> = names.into_iter().collect();
        let targets =
            self.reached(names.iter().map(String::as_str)).into_iter().filter_map(|entry| entry.target.as_ref());
        let asks = |entry: &&TargetEntry| match &entry.provider {
            Provider::Cli(target) => target.sealing.asks(),
            Provider::Acp(target) => target.sealing.asks(),
            Provider::Alias(_) | Provider::Other(_) => false,
        };
        targets.filter(asks).map(|entry| entry.location.clone()).collect()
    }

    /// The entries that names lead to.
    fn reached<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&ReadEntry> {
        let mut reached = BTreeSet::new();
        for name in names {
            let mut next = Some(name);
            while let Some(entry) = next.and_then(|name| self.entries.iter().find(|entry| entry.name == name)) {
                next = entry.alias_of().filter(|_| reached.insert(entry.name.as_str()));
                reached.insert(&entry.name);
            }
        }
        self.entries.iter().filter(|entry| reached.contains(entry.name.as_str())).collect()
    }

    /// Names of all entries, in order, also of those with errors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }
}

/// Reads and checks the targets file at `path`. Only the package root and workspace root of `request` matter.
pub fn load_targets(path: &Path, request: &Request) -> LoadedTargets {
    let (files, shared) = (Files::new(&request.workspace_root).with_texts(&request.texts), SharedFiles::default());
    let mut d = Diagnostics::new();
    let roots = Roots::of_file(path, &request.package_root);
    let dir = &roots.suite_root;
    let entries = read(path, Scope { request, roots: &roots, files: &files, shared: &shared, dir, vars: None }, &mut d);
    let (entries, file_problems) = (entries.unwrap_or_default(), resolve(d, &files));
    let valid = entries.iter().filter(|entry| !entry.problems.has_errors());
    let targets = TargetsFile { targets: valid.filter_map(|entry| entry.target.clone()).collect() };
    let targets = Some(targets).filter(|_| !file_problems.has_errors());
    LoadedTargets { targets, file_problems, files, entries }
}

/// An entry with its problems.
#[derive(Debug)]
struct ReadEntry {
    name: String,
    span: Span,
    /// `None` if it cannot be decoded.
    target: Option<TargetEntry>,
    problems: Diagnostics,
}

impl ReadEntry {
    /// The entry that it is an alias of.
    fn alias_of(&self) -> Option<&str> {
        match &self.target.as_ref()?.provider {
            Provider::Alias(next) => Some(next),
            Provider::Cli(_) | Provider::Acp(_) | Provider::Other(_) => None,
        }
    }
}

fn read(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<ReadEntry>> {
    if path.is_symlink()
        && let Some(reason) = scope.roots.escape(path, &scope.files.shown(path))
    {
        let place = Span::whole(scope.files.add(path));
        return fields::reject(Code::PathEscape, place, reason, "copy the file into the package", d);
    }
    let (file, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_yaml(file, &text, d)?;
    if root.as_mapping().is_none() {
        let message = format!("a targets file must be a mapping, found {}", root.kind());
        return fields::reject(Code::TargetsFile, root.span, message, "write `targets:` and a list", d);
    }
    let mut fields = Fields::new(&root, TargetsFile::TABLE, d)?.at_top();
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
    let mut entries: Vec<ReadEntry> = Vec::new();
    for node in fields::list(&entry.value, "`targets`", d)? {
        let mut problems = Diagnostics::new();
        let Some((name, target)) = target(node, scope, &mut problems) else {
            // Without a name it may be the target that a suite means.
            d.append(problems);
            continue;
        };
        match entries.iter_mut().find(|other| other.name == name) {
            Some(first) => {
                let place = (node.span, format!("target `{name}` is defined twice"));
                report_both(Code::TargetsFile, place, (first.span, "first here"), "rename one", &mut first.problems);
                first.problems.append(problems);
            }
            None => entries.push(ReadEntry { name, span: node.span, target, problems }),
        }
    }
    aliases(&mut entries);
    Some(entries)
}

/// The name of an entry, and the entry if it can be decoded.
fn target(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<(String, Option<TargetEntry>)> {
    let mut fields = Fields::new(node, TargetEntry::TABLE, d)?;
    let name: Option<String> = fields.parts(scope, d).take("name");
    let provider = provider(fields, scope, d);
    let (name, location) = (name?, scope.files.location(node.span));
    Some((name.clone(), provider.map(|provider| TargetEntry { name, location, provider })))
}

fn provider(mut fields: Fields<'_>, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Provider> {
    match (fields.get("use_target"), fields.get("provider")) {
        (Some(entry), provider) => {
            if let Some(provider) = provider {
                let message = "`use_target` and `provider` contradict each other";
                d.report(Code::ConflictingKeys, provider.key_span, message, "keep one");
            }
            without_effect(&mut fields, d);
            fields.finish(d);
            fields::text(&entry.value, "`use_target`", d).map(Provider::Alias)
        }
        (None, Some(entry)) => {
            let word = fields::text(&entry.value, "`provider`", d)?;
            match word.as_str() {
                "cli" => cli(fields.node, scope, d).map(|target| Provider::Cli(Box::new(target))),
                "acp" => read_acp_target(fields.node, scope, d).map(|target| Provider::Acp(Box::new(target))),
                // Settings of another provider are another tool's business.
                _ => {
                    if let Some(sealed) = fields.node.entry("sealed") {
                        let message = format!("`sealed` of a target with provider `{word}`");
                        let help = "only commands are sealed: write `provider: cli` and `command`, or delete it";
                        d.report(Code::UnsupportedKey, sealed.key_span, message, help);
                    }
                    Some(Provider::Other(word))
                }
            }
        }
        (None, None) => {
            fields.missing(Code::MissingKey, "provider", d);
            None
        }
    }
}

/// Reports the keys of another tool.
fn without_effect(fields: &mut Fields<'_>, d: &mut Diagnostics) {
    for key in TargetEntry::TABLE.keys.iter().filter(|key| matches!(key.status, Status::NoEffect(_))) {
        fields.no_effect(key.name, d);
    }
}

fn cli(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<CliTarget> {
    let mut fields = Fields::new(node, CliTarget::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    parts.make("command", fields.require("command", d).and_then(|entry| command(&entry.value, d)));
    if let (Some(entry), Some(Written::Boolean(true))) =
        (fields.get("in_suite_directory"), parts.get("in_suite_directory"))
    {
        warn_of_answers(entry.key_span, "the directory of the suite", d);
    }
    read_process(&mut fields, &mut parts, scope, d);
    mcp::read_of_target(&mut fields, &mut parts, scope, d);
    if let (Some(entry), Some(Written::Boolean(true))) = (fields.get("cwd"), parts.get("in_suite_directory")) {
        let message = "`cwd` and `in_suite_directory` contradict each other";
        d.report(Code::ConflictingKeys, entry.key_span, message, "keep one");
    }
    if let (Some(entry), Some(Written::Boolean(true))) =
        (fields.get("provider_batching"), parts.get("provider_batching"))
    {
        // Whether the target runs as a command is not known here.
        let message = "`provider_batching` has no effect";
        d.report(Code::NoEffect, entry.key_span, message, "delete it: one process runs per case");
    }
    without_effect(&mut fields, d);
    fields.finish(d);
    parts.into_value_of_rest()
}

fn command(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = command_line(node, d)?;
    for name in placeholder_names(&text).filter(|name| !key_tables::is_known(key_tables::OF_COMMANDS, name)) {
        let help = suggest::did_you_mean_or_known(name, &key_tables::placeholder_names(key_tables::OF_COMMANDS));
        d.report(Code::UnknownPlaceholder, node.span, format!("unknown placeholder `{{{name}}}`"), help);
    }
    Some(text)
}

/// Every alias refers to an entry, in a few steps. What an alias with variables refers to is known when the tests run.
fn aliases(entries: &mut [ReadEntry]) {
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    let next = |entry: &ReadEntry| entry.alias_of().filter(|next| !Syntax::Variable.is_in(next)).map(str::to_owned);
    let next: Vec<Option<String>> = entries.iter().map(next).collect();
    for (index, entry) in entries.iter_mut().enumerate() {
        let mut current = index;
        let mut steps = 0;
        while let Some(wanted) = &next[current] {
            steps += 1;
            if steps > MAX_ALIASES {
                let message =
                    format!("`use_target` of `{}` is circular, or longer than {MAX_ALIASES} steps", entry.name);
                entry.problems.report(Code::TargetsFile, entry.span, message, "name a target that runs");
                break;
            }
            let Some(found) = names.iter().position(|name| name == wanted) else {
                if steps == 1 {
                    let known: Vec<&str> = names.iter().map(String::as_str).collect();
                    let message = format!("`use_target` names `{wanted}`, which is not defined");
                    let help = suggest::did_you_mean_or_known(wanted, &known);
                    entry.problems.report(Code::TargetNotRunnable, entry.span, message, help);
                }
                break;
            };
            current = found;
        }
    }
}

fn read_acp_target(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<AcpTarget> {
    let mut fields = Fields::new(node, AcpTarget::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    parts.make("command", fields.require("command", d).and_then(|entry| acp_command(&entry.value, d)));
    read_process(&mut fields, &mut parts, scope, d);
    mcp::read_of_session(&mut fields, &mut parts, scope, d);
    if let Some(entry) = fields.get("permissions") {
        parts.make("permissions", permissions(entry, scope, d));
    }
    without_effect(&mut fields, d);
    fields.finish(d);
    parts.into_value_of_rest()
}

fn acp_command(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = command_line(node, d)?;
    for name in placeholder_names(&text).filter(|name| key_tables::is_known(key_tables::OF_COMMANDS, name)) {
        let message = format!("`{{{name}}}` is not replaced in the command of an ACP agent");
        let help = "delete it: the agent gets the prompt and its files in a message; variables such as EVALSUITE_CASE_ID are in its \
                    environment";
        d.report(Code::UnknownPlaceholder, node.span, message, help);
    }
    Some(text)
}

fn permissions(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Permissions> {
    let (node, what) = (&entry.value, fields::label(entry));
    match &node.data {
        Data::String(_) => {
            let word = fields::word(node, &what, PermissionDecision::WORDS, d)?;
            Some(if word == "allow" { Permissions::Allow } else { Permissions::Deny })
        }
        Data::Sequence(_) => {
            let rules = fields::list(node, &what, d)?;
            if rules.is_empty() {
                let help = "write a rule, or `permissions: deny`";
                return fields::reject(Code::OutOfRange, node.span, "`permissions` is an empty list", help, d);
            }
            fields::all(rules, |rule| settings::object(rule, scope, d)).map(Permissions::Rules)
        }
        _ => fields::wrong_type(node, &what, "`allow`, `deny` or a list of rules", d),
    }
}

/// How far below a targets file its suites are looked for.
const SUITE_DEPTH: usize = 4;

/// Reads how a process of a target runs: `cwd`, what it may use, `healthcheck` and `env`.
fn read_process(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    if let Some(entry) = fields.get("cwd") {
        let directory = directory(&entry.value, scope, d);
        if let Some(found) = &directory
            && has_suite(&normalize(&scope.roots.package_root.join(&found.path)), scope)
        {
            warn_of_answers(entry.key_span, &format!("`{}`, which contains a suite", found.written), d);
        }
        parts.make("cwd", directory);
    }
    sealing::read_of_target(fields, parts, scope, d);
    if let Some(entry) = fields.get("healthcheck") {
        parts.make("healthcheck", healthcheck(entry, scope, d));
    }
    if let Some(entry) = fields.get("env") {
        parts.set("env", Written::made(fields::environment(entry, d)));
    }
}

/// Warns of a command that runs in a directory with a suite.
fn warn_of_answers(key: Span, what: &str, d: &mut Diagnostics) {
    let message = format!("the command runs in {what}: the agent is given the answers of its cases");
    let help = "give the cases a workspace, or the target a directory without suites";
    d.report(Code::AnswersInReach, key, message, help);
}

/// Whether a working directory contains the targets file and a suite next to it or below.
fn has_suite(cwd: &Path, scope: Scope<'_>) -> bool {
    let directory = scope.dir;
    let is_suite = |entry: &walkdir::DirEntry| {
        entry.file_type().is_file() && SuiteFile::named(&entry.file_name().to_string_lossy()).is_some()
    };
    directory.starts_with(cwd)
        && WalkDir::new(directory)
            .max_depth(SUITE_DEPTH)
            .into_iter()
            .filter_map(Result::ok)
            .any(|entry| is_suite(&entry))
}

/// A directory; one with variables is looked for when the command runs.
fn directory(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PathRef> {
    match node.as_str().filter(|text| Syntax::Variable.is_in(text)) {
        Some(text) => Some(PathRef::new(text)),
        None => scope.find(node, "`cwd`", PathKind::Directory, d).map(|found| found.reference),
    }
}

/// A command line for the shell.
fn command_line(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = fields::string(node, "`command`", d)?;
    if text.trim().is_empty() {
        return fields::reject(Code::InvalidCommand, node.span, "`command` is empty", "write a shell command", d);
    }
    Some(text)
}

/// The names that are meant as placeholders. Shells have braces, too.
fn placeholder_names(command: &str) -> impl Iterator<Item = &str> {
    Syntax::Command.names(command).filter(|name| !name.bytes().any(|byte| byte.is_ascii_lowercase()))
}

fn healthcheck(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<HealthCheck> {
    let mut fields = Fields::new(&entry.value, HealthCheck::TABLE, d)?;
    let timeout_seconds = fields.parts(scope, d).take("timeout_seconds")?;
    let (url, command) = (fields.get("url"), fields.get("command"));
    let cwd = fields.get("cwd").and_then(|entry| directory(&entry.value, scope, d));
    fields.finish(d);
    let probe = match (url, command) {
        (Some(url), None) => HealthProbe::Url(fields::text(&url.value, "`url`", d)?),
        (None, Some(command)) => {
            let command = fields::text(&command.value, "`command`", d)?;
            HealthProbe::Command { command, cwd }
        }
        (Some(_), Some(command)) => {
            let message = "`url` and `command` are one setting";
            return fields::reject(Code::ConflictingKeys, command.key_span, message, "keep one", d);
        }
        (None, None) => {
            let message = "`healthcheck` has neither `url` nor `command`";
            return fields::reject(Code::TargetsFile, entry.value.span, message, "add one", d);
        }
    };
    Some(HealthCheck { probe, timeout_seconds })
}
