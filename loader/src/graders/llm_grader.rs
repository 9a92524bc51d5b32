//! Rules of `llm-grader` and `rubrics`, and prompts of judges.

use std::sync::Arc;

use evalsuite_schema::PathRef;
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::grader::{PreparedCommand, Prompt, PromptCommand};
use evalsuite_schema::line_breaks::with_line_feeds;
use evalsuite_schema::placeholder::Syntax;

use super::{Family, GraderContext, Rules, criteria};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::PathKind;
use crate::fields::{self, label, settings};
use crate::key_tables::{OF_AGGREGATORS, OF_PROMPTS, Placeholder, is_known, placeholder_names};
use crate::read::node::{Data, Node};
use crate::source::{FileId, Position, Span, position_after};

pub(super) const FAMILY: Family = Family {
    rules: &[
        ("llm-grader", llm_grader),
        ("rubrics", |rules, d| criteria_under("criteria", rules, d)),
        ("rubric", |rules, d| criteria_under("rubrics", rules, d)),
    ],
    constant: |_| None,
};

fn llm_grader(mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, cx, notes } = rules;
    let prompt = fields.get("prompt").map(|entry| grader(&entry.value, cx, d));
    let rubrics = fields.get("rubrics").map(|entry| criteria::list(&entry.value, "`rubrics`", d));
    if prompt.is_none() && rubrics.as_ref().is_none_or(|rubrics| rubrics.as_ref().is_some_and(Vec::is_empty)) {
        notes.bare_judges.push(fields.node.span);
    }
    if let Some(prompt) = prompt {
        parts.make("prompt", prompt);
    }
    if let Some(rubrics) = rubrics {
        parts.make("rubrics", rubrics);
    }
}

fn criteria_under(key: &'static str, mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, .. } = rules;
    let Some(entry) = fields.require(key, d) else { return parts.mark_broken() };
    let criteria = criteria::one_or_list(&entry.value, &label(entry), d);
    if criteria.as_ref().is_some_and(Vec::is_empty) {
        let message = format!("{} is empty", label(entry));
        d.report(Code::MissingGraderSetting, entry.value.span, message, "add a criterion");
        return parts.mark_broken();
    }
    parts.make("criteria", criteria);
}

/// Maximum number of unknown variables that are reported for one file: a file with more is not a prompt.
const MOST_REPORTED: usize = 100;

/// Those that show what is graded.
const ANSWERS: &[&str] = &["output", "expected_output"];

/// Old and current names of variables.
const OLD_VARIABLES: &[(&str, &str)] =
    &[("input_text", "input"), ("output_text", "output"), ("expected_output_text", "expected_output")];

/// Extensions by which a text is recognised as the name of a file.
const ENDINGS: &[&str] = &[".md", ".txt", ".prompt", ".tmpl", ".jinja", ".j2", ".hbs", ".liquid"];

/// Reads `prompt` of an `llm-grader`: text, a file or a command.
fn grader(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<Prompt> {
    match &node.data {
        Data::Mapping(_) => {
            let PromptCommand { command, config } = settings::object(node, cx.scope, d)?;
            Some(Prompt::Command { run: PreparedCommand { command, cwd: None }, config })
        }
        Data::String(text) => from_text(text, node, cx, OF_PROMPTS, d),
        _ => fields::wrong_type(node, "`prompt`", "text or `{command: […]}`", d),
    }
}

/// Reads `prompt` of a composite's aggregator: text or a file.
pub(super) fn aggregator(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<Prompt> {
    let text = fields::string(node, "`prompt`", d)?;
    from_text(&text, node, cx, OF_AGGREGATORS, d)
}

fn from_text(
    text: &str,
    node: &Node,
    cx: GraderContext<'_>,
    known: &'static [Placeholder],
    d: &mut Diagnostics,
) -> Option<Prompt> {
    if let Some(path) = text.trim().strip_prefix("file://") {
        return from_file(path, node, cx, known, d);
    }
    let text = fields::text(node, "`prompt`", d)?;
    check_for_path(&text, node, "prompt", d);
    let syntax = if cx.interpolates() { Syntax::TemplateBesideVariables } else { Syntax::Template };
    for name in syntax.names(&text) {
        check(name, node.span, known, d);
    }
    Some(Prompt::Text(text))
}

/// Reports a text that looks like the name of a file.
pub(super) fn check_for_path(text: &str, node: &Node, key: &str, d: &mut Diagnostics) {
    let path = text.trim();
    let is_word = !path.contains(char::is_whitespace) && !path.contains("{{");
    let is_like_path =
        path.starts_with("./") || path.starts_with("../") || ENDINGS.iter().any(|end| path.ends_with(end));
    if is_word && is_like_path {
        let message = format!("`{path}` is used as the text of the {key}");
        d.report(Code::PathLikePrompt, node.span, message, format!("write `file://{path}` to name a file"));
    }
}

fn from_file(
    path: &str,
    node: &Node,
    cx: GraderContext<'_>,
    known: &'static [Placeholder],
    d: &mut Diagnostics,
) -> Option<Prompt> {
    let (reference, file, text) = file_text(path, node, "`prompt`", cx, d)?;
    let mut shows_answer = false;
    let (mut offset, mut position) = (0, Position::START);
    let mut position_of = |next: usize| {
        position = position_after(&text[offset..next], position);
        offset = next;
        position
    };
    let mut reported = 0;
    for variable in Syntax::Template.placeholders(&text) {
        shows_answer |= ANSWERS.contains(&variable.name);
        if !is_known(known, variable.name) && reported < MOST_REPORTED {
            reported += 1;
            let span = Span::new(file, position_of(variable.range.start), position_of(variable.range.end));
            shows_answer |= ANSWERS.contains(&check(variable.name, span, known, d));
        }
    }
    if !shows_answer && std::ptr::eq(known, OF_PROMPTS) {
        return fields::reject(
            Code::PromptWithoutAnswer,
            Span::new(file, Position::START, Position::START),
            "the template never shows the answer",
            "insert `{{ output }}`",
            d,
        );
    }
    Some(Prompt::File { file: reference, text: with_line_feeds(&text).into_owned() })
}

/// The text of the file that a text names, after `file://`. An empty file is a warning.
pub(super) fn file_text(
    path: &str,
    node: &Node,
    what: &str,
    cx: GraderContext<'_>,
    d: &mut Diagnostics,
) -> Option<(PathRef, FileId, Arc<str>)> {
    let scope = cx.scope;
    if !fields::literal(path, node, what, d) {
        return None;
    }
    let found = scope.find_text(path, node, what, (Code::MissingPath, PathKind::File), d)?;
    let (file, text) = scope.shared.text(&found.path, scope.files, d)?;
    if text.is_empty() {
        let message = format!("`{}` is empty", scope.files.shown(&found.path));
        d.push(Diagnostic::new(Code::EmptyFile, message).at(node.span));
    }
    let reference = PathRef::found(format!("file://{path}"), found.reference.path);
    scope.shared.may_copy(text.len(), node.span, d).then_some((reference, file, text))
}

/// Reports an old or unknown variable, and returns its current name.
fn check<'v>(name: &'v str, span: Span, known: &'static [Placeholder], d: &mut Diagnostics) -> &'v str {
    if is_known(known, name) {
        return name;
    }
    if let Some((old, new)) = OLD_VARIABLES.iter().find(|(old, new)| *old == name && is_known(known, new)) {
        let message = format!("`{{{{ {old} }}}}` is now `{{{{ {new} }}}}`");
        d.report(Code::DeprecatedKey, span, message, format!("rename it to `{new}`"));
        return new;
    }
    let message = format!("`{{{{ {name} }}}}` is not a variable of this prompt, and is left as it is");
    d.report(
        Code::UnknownTemplateVariable,
        span,
        message,
        suggest::did_you_mean_or_known(name, &placeholder_names(known)),
    );
    name
}
