//! `vars` of a case: in its texts and graders, `{{ name }}` and `{{ a.b }}` become their values.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::placeholder::{OPEN_BRACES, Placeholder, Syntax};

use crate::diagnostic::{Code, Diagnostics, are_many};
use crate::fields::paths::Scope;
use crate::key_tables::{OF_AGGREGATORS, OF_PROMPTS, is_known};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// Keys of a case and of its turns in which variables are filled in.
const FILLED: [&str; 6] = ["input", "input_files", "criteria", "expected_output", "expected_outcome", "examples"];

/// Keys of a simulated user in which variables are filled in.
const FILLED_OF_USER: [&str; 4] = ["persona", "goal", "stops_when", "config"];

/// Keys of a case, of its turns and of its user with graders.
const GRADERS: [&str; 5] = ["assertions", "assert", "evaluators", "rubrics", "turn_assertions"];

/// Texts of graders that are not filled in, because they are read by somebody else: a judge's template and a line of the shell.
const TEMPLATES: [&str; 3] = ["prompt", "command", "script"];

/// Keys of graders with data, in which these names mean something else.
const DATA: [&str; 2] = ["args", "config"];

/// Keys of a case with names of their own between braces, or with the variables themselves.
const NOT_SEARCHED: [&str; 4] = ["id", "vars", "matrix", "workspace"];

/// What stands for the braces themselves.
const ESCAPE: &str = "`{{ '{{' }}` stands for the braces `{{` themselves";

/// The case with the values of its `vars` in their place. `scope` has the `vars`.
pub(crate) fn fill<'n>(case: &'n Node, scope: Scope<'_>, d: &mut Diagnostics) -> Cow<'n, Node> {
    let Some(vars) = scope.vars else { return Cow::Borrowed(case) };
    let mut filled = case.clone();
    Filler { vars, scope, d }.object(&mut filled);
    Cow::Owned(filled)
}

/// The graders of a template with the values of the `vars` of the case that includes it.
pub(crate) fn fill_graders<'n>(graders: &'n [Node], scope: Scope<'_>, d: &mut Diagnostics) -> Cow<'n, [Node]> {
    let Some(vars) = scope.vars else { return Cow::Borrowed(graders) };
    let mut filled = graders.to_vec();
    filled.iter_mut().for_each(|grader| Filler { vars, scope, d }.grader("", grader));
    Cow::Owned(filled)
}

/// The variables of a case, if it has any.
pub(crate) fn of(case: &Node) -> Option<&Node> {
    case.entry("vars").map(|entry| &entry.value).filter(|vars| vars.as_mapping().is_some())
}

/// The references in the texts of a grader that is read without variables.
pub(crate) fn references(key: &str, node: &Node, found: &mut Vec<(String, Span)>) {
    match &node.data {
        Data::String(text) if text.contains("{{") && !TEMPLATES.contains(&key) => {
            found.extend(Syntax::Reference.names(text).map(|name| (name.to_owned(), node.span)));
        }
        Data::Sequence(items) => items.iter().for_each(|item| references("", item, found)),
        Data::Mapping(entries) => {
            let keys_mean = !DATA.contains(&key);
            entries.iter().for_each(|entry| references(if keys_mean { &entry.key } else { key }, &entry.value, found));
        }
        _ => {}
    }
}

/// Reports references of the suite's graders to variables of the case: these graders are the same for every case, and would look for the
/// braces.
pub(crate) fn check_shared<'r>(
    references: impl IntoIterator<Item = &'r (String, Span)>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) {
    let Some(vars) = scope.vars else { return };
    for (name, span) in references {
        if vars.entry(first_word(name)).is_some() {
            let message =
                format!("`{{{{ {name} }}}}` is not filled in: graders of the suite are the same for every case");
            let help = "write the grader in the cases that have the variable, or in a template that they include";
            d.report(Code::UnknownVariable, *span, message, help);
        }
    }
}

/// The name at the start of an expression, up to a dot.
fn first_word(expression: &str) -> &str {
    let start = expression.trim_start_matches(|letter: char| letter.is_whitespace() || "-~#/^&".contains(letter));
    let end = start.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-'));
    &start[..end.unwrap_or(start.len())]
}

/// Whether an expression is written like a name, a path or several words.
fn is_like_name(expression: &str) -> bool {
    expression.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && expression.chars().all(|letter| letter.is_alphanumeric() || " _-.[]".contains(letter))
}

struct Filler<'a, 'd> {
    vars: &'a Node,
    scope: Scope<'a>,
    d: &'d mut Diagnostics,
}

impl<'a> Filler<'a, '_> {
    /// Fills the keys of a case or a turn.
    fn object(&mut self, node: &mut Node) {
        let Data::Mapping(entries) = &mut node.data else { return };
        for Entry { key, value, .. } in entries {
            match (key.as_str(), &mut value.data) {
                ("turns", Data::Sequence(turns)) => turns.iter_mut().for_each(|turn| self.object(turn)),
                // Graders were written there, too.
                ("execution", Data::Mapping(_)) => self.object(value),
                ("conversation", Data::Mapping(_)) => self.object(value),
                ("user", Data::Mapping(_)) => self.object(value),
                (key, _) if FILLED_OF_USER.contains(&key) => self.value(value),
                (key, Data::Sequence(graders)) if GRADERS.contains(&key) => {
                    graders.iter_mut().for_each(|grader| self.grader("", grader));
                }
                (key, _) if FILLED.contains(&key) => self.value(value),
                (key, _) if NOT_SEARCHED.contains(&key) => {}
                _ => self.not_filled(value),
            }
        }
    }

    fn value(&mut self, node: &mut Node) {
        match &mut node.data {
            Data::String(text) => {
                if let Some(filled) = self.text(text, node.span) {
                    *node = filled;
                }
            }
            Data::Sequence(items) => items.iter_mut().for_each(|item| self.value(item)),
            Data::Mapping(entries) => entries.iter_mut().for_each(|entry| {
                self.key(entry);
                self.value(&mut entry.value);
            }),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Foreign(_) => {}
        }
    }

    /// Fills a grader, or the value of one of its keys.
    fn grader(&mut self, key: &str, node: &mut Node) {
        match &mut node.data {
            _ if DATA.contains(&key) => self.value(node),
            Data::String(text) if TEMPLATES.contains(&key) => self.template(key, text, node.span),
            Data::Sequence(items) => items.iter_mut().for_each(|item| self.grader("", item)),
            Data::Mapping(entries) => entries.iter_mut().for_each(|entry| {
                self.key(entry);
                self.grader(&entry.key, &mut entry.value);
            }),
            _ => self.value(node),
        }
    }

    /// What a text becomes: a value with its own place if the text is one reference, else text. `None`: it stays.
    fn text(&mut self, text: &str, span: Span) -> Option<Node> {
        let (mut filled, mut end) = (String::new(), 0);
        let mut rest = 0;
        for Placeholder { name, range } in Syntax::Reference.placeholders(text) {
            self.check_closed(&text[rest..range.start], span);
            rest = range.end;
            let value = match self.lookup(name) {
                Ok(value) => value,
                _ if OPEN_BRACES.contains(&name) => &Node { span, data: Data::String("{{".to_owned()) },
                Err(known) => {
                    self.check_name(name, &known, span);
                    continue;
                }
            };
            if !self.scope.shared.may_copy(value.size(), span, self.d) {
                return None;
            }
            if range == (0..text.len()) {
                return Some(value.clone());
            }
            filled.push_str(&text[end..range.start]);
            match value.as_str() {
                Some(text) => filled.push_str(text),
                None => filled.push_str(&value.to_json().to_string()),
            }
            end = range.end;
        }
        self.check_closed(&text[rest..], span);
        (end > 0).then(|| Node { span, data: Data::String(filled + &text[end..]) })
    }

    /// The value at a path, or what could have been written in its place.
    fn lookup(&self, path: &str) -> Result<&'a Node, Vec<String>> {
        // The name of a column may have dots.
        if let Some(entry) = self.vars.entry(path) {
            return Ok(&entry.value);
        }
        let (mut value, mut before) = (self.vars, String::new());
        for name in path.split('.') {
            let next = match &value.data {
                Data::Sequence(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => value.entry(name).map(|entry| &entry.value),
            };
            let Some(next) = next else { return Err(names_below(value, &before)) };
            value = next;
            before = format!("{before}{name}.");
        }
        Ok(value)
    }

    /// Reports a name that is not a variable, unless it is something else for certain.
    fn check_name(&mut self, name: &str, known: &[String], span: Span) {
        if !is_like_name(name) && !self.uses_variable(name) {
            return;
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let near = if are_many(self.d) { None } else { suggest::did_you_mean(name, known.iter().copied()) };
        let near = near.map(|near| format!("{near} ")).unwrap_or_default();
        let listed = if known.is_empty() { "nothing".to_owned() } else { suggest::listed(&known) };
        let message = format!("`{{{{ {name} }}}}` is not a variable of this case");
        self.d.report(Code::UnknownVariable, span, message, format!("{near}known: {listed}; {ESCAPE}"));
    }

    /// Whether an expression, such as `amount | upper`, begins with a variable. `{{color: 'red'}}` is code.
    fn uses_variable(&self, expression: &str) -> bool {
        let word = first_word(expression);
        let Some((_, rest)) = expression.split_once(word).filter(|_| !word.is_empty()) else { return false };
        self.vars.entry(word).is_some() && !rest.trim_start().starts_with([':', ',', ';', '='])
    }

    /// Reports a variable with two braces before it and one after it, in a text without complete references.
    fn check_closed(&mut self, text: &str, span: Span) {
        for (start, _) in text.match_indices("{{").filter(|(start, _)| !text[..*start].ends_with('$')) {
            let after = &text[start + 2..];
            let Some(name) = after.find(['{', '}']).map(|end| &after[..end]) else { return };
            if after[name.len()..].starts_with('}') && self.lookup(name.trim()).is_ok() {
                let message = format!("`{{{{{name}}}` is not closed with `}}}}`");
                self.d.report(Code::UnknownVariable, span, message, format!("write `{{{{{name}}}}}`; {ESCAPE}"));
            }
        }
    }

    /// Reports variables in the text of a judge's prompt or in a line of the shell.
    fn template(&mut self, key: &str, text: &str, span: Span) {
        for name in Syntax::Reference.names(text) {
            let word = first_word(name);
            if self.vars.entry(word).is_none() || is_known(OF_PROMPTS, name) || is_known(OF_AGGREGATORS, name) {
                continue;
            }
            let message = format!("`{{{{ {name} }}}}` is not filled in: `{key}` is not a text of the case");
            let help = match key {
                "prompt" => "write it in `criteria` or in `rubrics`, and `{{ criteria }}` in the prompt",
                _ => "write the command as a list, whose elements are filled in",
            };
            self.d.report(Code::UnknownVariable, span, message, help);
        }
    }

    /// Reports variables in the name of a key, which stays as it is: a maximum of `{{ tool }}` would be one of a tool with that name.
    fn key(&mut self, entry: &Entry) {
        for name in Syntax::Reference.names(&entry.key).filter(|name| self.vars.entry(first_word(name)).is_some()) {
            let message = format!("`{{{{ {name} }}}}` is not filled in: it is in the name of a key");
            self.d.report(Code::UnknownVariable, entry.key_span, message, "write the name out");
        }
    }

    /// Warns of variables in the value of a key in which they stay as they are.
    fn not_filled(&mut self, node: &Node) {
        match &node.data {
            Data::String(text) if text.contains("{{") => {
                for name in Syntax::Reference.names(text).filter(|name| self.vars.entry(first_word(name)).is_some()) {
                    let message = format!("`{{{{ {name} }}}}` is not filled in here, and is left as it is");
                    let help = "`vars` are filled in in `input`, `input_files`, `criteria`, `expected_output`, `examples` and graders";
                    self.d.report(Code::UnknownTemplateVariable, node.span, message, help);
                }
            }
            Data::Sequence(items) => items.iter().for_each(|item| self.not_filled(item)),
            Data::Mapping(entries) => entries.iter().for_each(|entry| self.not_filled(&entry.value)),
            _ => {}
        }
    }
}

/// The paths of the values of a mapping or list, which itself has the path `before`.
fn names_below(node: &Node, before: &str) -> Vec<String> {
    match &node.data {
        Data::Mapping(entries) => entries.iter().map(|entry| format!("{before}{}", entry.key)).collect(),
        Data::Sequence(items) => (0..items.len()).map(|index| format!("{before}{index}")).collect(),
        _ => vec![before.trim_end_matches('.').to_owned()],
    }
}
