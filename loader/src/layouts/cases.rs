//! The eval file (`EVAL.yaml`), with its cases in `tests` or in `cases/`.

use std::path::{Component, Path};

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Layout, Suite};

use super::{Outline, SuiteEntry, outline_of};
use crate::cases::case::{self, Defaults};
use crate::cases::sources::{self, CaseSources};
use crate::cases::workspace::{self, SettingsOwner};
use crate::cases::{execution, input};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Edit, Fix, report_both};
use crate::fields::paths::{self, Scope};
use crate::fields::{self, Fields};
use crate::graders::{self, assertions};
use crate::layouts::new_suite;
use crate::read;
use crate::read::node::Node;
use crate::source::Span;
use crate::suite::cross_check;

pub(super) fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let path = entry.file.as_deref()?;
    let mut root = parse(path, scope, d)?;
    let mut eval = read(&root, path, scope, d)?;
    eval.defaults.targets.extend(scope.request.targets.iter().cloned());
    let directory = scope.roots.suite_root.join("cases");
    let mut sources = CaseSources { defaults: eval.defaults, ..CaseSources::default() };
    if let Some(entry) = eval.tests.and_then(|key| root.take_entry(key)) {
        let place = entry.value.span;
        sources::read(entry, scope, &mut sources, d);
        // Other eval files may share the directory with the one whose cases these are.
        if paths::file_stem(path).eq_ignore_ascii_case("eval") {
            sources::check_directory(place, &sources, scope, d);
        }
    } else if directory.is_dir() {
        sources::directory(&directory, Span::whole(scope.files.add(&directory)), scope, &mut sources, d);
    } else {
        missing_tests(&root, d);
    }
    Some(outline_of(Some(eval.suite), sources, eval.targets_span))
}

/// The key of the cases, and its old spellings.
const TESTS: &str = "tests";
const OLD_TESTS: &[&str] = &["eval_cases", "evalcases"];

/// An eval file without its cases.
struct EvalFile {
    suite: Suite,
    defaults: Defaults,
    /// Where the matrix is written; the root without one.
    targets_span: Span,
    /// The key of the cases.
    tests: Option<Span>,
}

/// The tree of an eval file; its root is a mapping.
fn parse(path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Node> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_yaml(file, &text, d)?;
    if root.as_mapping().is_some() {
        return is_of_this_format(&root, path, scope, d).then_some(root);
    }
    if root.as_sequence().is_some() && evalsuite_schema::discovery::SuiteFile::named(&paths::file_name(path)).is_none()
    {
        let help = format!("write an EVAL.yaml with `tests: ./{}`", paths::file_name(path));
        d.report(Code::UnsupportedSuiteFile, root.span, "a list of cases is not a suite file", help);
    } else {
        let help = "write `tests:` and what all cases share";
        d.report(Code::RootNotMapping, root.span, format!("expected a mapping, found {}", root.kind()), help);
    }
    None
}

/// Keys at the top of files of AgentV 5, most of which promptfoo has too, and keys that such files and their cases do not have.
const KEYS_OF_PROMPTFOO: [&str; 7] =
    ["prompts", "providers", "environment", "default_test", "defaultTest", "evaluate_options", "evaluateOptions"];
const KEYS_OF_THIS_FORMAT: [&str; 5] = ["input", "turns", "assertions", "execution", "evaluators"];

/// Whether the keys are those of an eval file. For a file of another format, one diagnostic says what to do.
fn is_of_this_format(root: &Node, path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> bool {
    // Other tools have the key `environment`, too, but no `tests`.
    let is_sign = |key: &str| key != "environment" || root.entry(TESTS).is_some();
    let mut keys = KEYS_OF_PROMPTFOO.into_iter().filter(|key| is_sign(key));
    let Some(sign) = keys.find_map(|key| root.entry(key)) else { return true };
    let is_ours = |node: &Node| KEYS_OF_THIS_FORMAT.iter().any(|key| node.entry(key).is_some());
    let cases = root.entry("tests").and_then(|entry| entry.value.as_sequence()).unwrap_or_default();
    if is_ours(root) || cases.iter().any(is_ours) {
        return true;
    }
    let shown = scope.files.shown(path);
    let message = format!("`{}` belongs to the format of promptfoo, which AgentV uses since version 5", sign.key);
    let help = format!(
        "`cargo evalsuite convert {shown} DIRECTORY --from promptfoo` converts what promptfoo has, and lists what has to be \
         rewritten by hand"
    );
    d.report(Code::UnsupportedSuiteFile, sign.key_span, message, help);
    false
}

/// Reads everything but `tests`.
fn read(root: &Node, path: &Path, scope: Scope<'_>, d: &mut Diagnostics) -> Option<EvalFile> {
    let copied_before = scope.shared.copied();
    let mut fields = Fields::new(root, Suite::TABLE, d)?.at_top();
    fields.get("$schema");
    let name = fields.get("name").and_then(|entry| name(&entry.value, d)).unwrap_or_else(|| default_name(path));
    let mut suite = new_suite(name, Layout::Cases, root.span, scope);
    suite.fill(&mut fields.parts(scope, d));
    let description = fields.get("description");
    suite.description = description.and_then(|entry| fields::short_text(&entry.value, "`description`", 1024, d));
    suite.category.get_or_insert_with(|| default_category(scope));
    let kind = suite.kind;

    let mut defaults = Defaults { kind, ..Defaults::default() };
    if let Some(entry) = fields.get("requires") {
        defaults.requires = execution::of_suite(entry, scope, d);
    }
    if let Some(entry) = fields.get("input") {
        defaults.messages = input::read(entry, &[], scope, d).unwrap_or_default();
    }
    if let Some(entry) = fields.get("input_files") {
        defaults.input_files = input::files(entry, scope, d);
    }
    let execution = fields.get("execution").map(|entry| execution::suite(&entry.value, scope, d)).unwrap_or_default();
    let assertions_entry = fields.get_renamed("assertions", d);
    if let Some(entry) = case::one_of(assertions_entry, execution.common.assertions, d) {
        defaults.graders = assertions::read(&entry.value, scope, d);
    }
    case::evaluator(&mut fields, d);
    if let Some(entry) = fields.get("workspace") {
        defaults.workspace = workspace::read(entry, SettingsOwner::Suite, scope, d);
        suite.workspace = workspace::merge(defaults.workspace.as_ref(), None, d);
    }
    if let Some(entry) = fields.get("preprocessors") {
        defaults.preprocessors = graders::preprocessors(entry, scope, d);
    }
    defaults.tags.clone_from(&suite.tags);
    defaults.metadata = case::of_suite(&mut fields, d);
    suite.canary = fields.get("canary").and_then(|entry| fields::canary(entry, d));
    let gates = fields.get("gates");
    let tests = fields.get_renamed(TESTS, d);
    target(&mut fields, &execution, &mut defaults, d);
    fields.finish(d);

    if let (Some(trials), Some(span)) = (&execution.common.trials, execution.common.strategy_span) {
        case::check_strategy(trials, span, kind, d);
    }
    defaults.trials = execution.common.trials;
    defaults.threshold = execution.common.threshold;
    defaults.timeout_seconds = execution.common.timeout_seconds;
    suite.budget_usd = execution.budget_usd;
    suite.workers = execution.workers;
    suite.fail_on_error = execution.fail_on_error;
    suite.sealed = execution.sealed;
    let targets_span = execution.targets.as_ref().map_or(root.span, |(_, span)| *span);
    suite.targets = execution.targets.map(|(targets, _)| targets).unwrap_or_default();
    suite.gates = gates.map(|entry| cross_check::read_gates(entry, &suite.targets, d)).unwrap_or_default();
    let copied = scope.shared.copied() - copied_before;
    defaults.size = Some((own_size(root) + copied, root.span));
    defaults.targets = suite.targets.iter().map(|target| target.name.clone()).collect();
    Some(EvalFile { suite, defaults, targets_span, tests: tests.map(|entry| entry.key_span) })
}

/// About how many bytes an eval file takes without its cases.
fn own_size(root: &Node) -> usize {
    let is_of_cases = |key: &str| key == TESTS || OLD_TESTS.contains(&key);
    let entries = root.as_mapping().unwrap_or_default().iter();
    entries.filter(|entry| !is_of_cases(&entry.key)).map(|entry| entry.value.size()).sum()
}

/// `execution.target`, or the old key `target`.
fn target(fields: &mut Fields<'_>, execution: &execution::Suite<'_>, defaults: &mut Defaults, d: &mut Diagnostics) {
    let old = fields.get_replaced("target", d);
    let old_name = old.and_then(|entry| fields::literal_text(&entry.value, "`target`", d));
    let current = execution.common.target.clone();
    if let (Some(entry), Some((_, span))) = (old, &current) {
        let message = "`target` and `execution.target` are one setting";
        let other = (*span, "`execution.target` is here");
        report_both(Code::ConflictingKeys, (entry.key_span, message), other, "keep `execution.target`", d);
    }
    defaults.target = current.map(|(name, _)| name).or(old_name);
}

fn name(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let name = fields::string(node, "`name`", d)?;
    if !fields::literal(&name, node, "`name`", d) {
        return None;
    }
    let allowed =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "-_".contains(character);
    if name.is_empty() || name.chars().count() > 64 || !name.chars().all(allowed) {
        let mut proposal = String::new();
        for character in name.to_lowercase().chars() {
            if allowed(character) {
                proposal.push(character);
            } else if !proposal.is_empty() && !proposal.ends_with('-') {
                proposal.push('-');
            }
        }
        let proposal: String = proposal.chars().take(64).collect();
        let proposal = proposal.trim_matches('-');
        let message = format!("`name` is `{name}`, which is not 1 to 64 characters out of a-z, 0-9, `-` and `_`");
        let help = format!("write `{}`", if proposal.is_empty() { "my-suite" } else { proposal });
        let fix = node.span.range.filter(|_| !proposal.is_empty());
        let fix = fix.map(|(start, end)| Fix::Edits(vec![Edit::new(start, end, proposal)]));
        d.push(Diagnostic::new(Code::InvalidSuiteName, message).at(node.span).help(help).fix_if(fix));
        return None;
    }
    Some(name)
}

/// The directory's name for `EVAL.yaml`, else the stem.
fn default_name(path: &Path) -> String {
    let lower = paths::file_name(path).to_ascii_lowercase();
    if matches!(lower.as_str(), "eval.yaml" | "eval.yml") {
        path.parent().map(paths::file_name).unwrap_or_default()
    } else {
        paths::file_stem(path)
    }
}

/// The directories between package root and eval file, without `evals`.
fn default_category(scope: Scope<'_>) -> String {
    let below = scope.roots.eval_dir.strip_prefix(&scope.roots.package_root).unwrap_or(Path::new(""));
    let parts: Vec<String> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) if name != "evals" => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    if parts.is_empty() { "Uncategorized".to_owned() } else { parts.join("/") }
}

/// Reports a suite without cases.
fn missing_tests(root: &Node, d: &mut Diagnostics) {
    let entries = root.as_mapping().unwrap_or_default();
    // `tests` without a value.
    let written = entries.iter().find(|entry| entry.key == TESTS);
    // The report of the unknown key says what to write.
    let is_meant = |key: &str| !fields::is_own(key) && !suggest::nearest(key, [TESTS]).is_empty();
    if written.is_none() && entries.iter().any(|entry| is_meant(&entry.key)) {
        return;
    }
    let span = written.map_or(root.span, |entry| entry.key_span);
    let message = if written.is_some() {
        "`tests` has no value, and there is no directory `cases`"
    } else {
        "no `tests` and no directory `cases`"
    };
    let help = "add `tests: ./cases/`, or a list of cases";
    d.report(Code::MissingTests, span, message, help);
}
