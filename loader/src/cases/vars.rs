//! `vars` of a case: in its texts, `{{ name }}` and `{{ a.b }}` become their values.

use std::borrow::Cow;

use evalsuite_schema::placeholder::{Placeholder, Syntax};

use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::read::node::{Data, Node};
use crate::source::Span;

/// Keys of a case and of its turns in which variables are filled in.
const FILLED: [&str; 5] = ["input", "input_files", "criteria", "expected_output", "expected_outcome"];

/// The case with the values of its `vars` in their place.
pub(crate) fn fill<'n>(case: &'n Node, scope: Scope<'_>, d: &mut Diagnostics) -> Cow<'n, Node> {
    match case.entry("vars").map(|entry| &entry.value) {
        Some(vars) if vars.as_mapping().is_some() => {
            let mut filled = case.clone();
            Filler { vars, scope, d }.object(&mut filled);
            Cow::Owned(filled)
        }
        _ => Cow::Borrowed(case),
    }
}

struct Filler<'a> {
    vars: &'a Node,
    scope: Scope<'a>,
    d: &'a mut Diagnostics,
}

impl<'a> Filler<'a> {
    /// Fills the keys of a case or a turn.
    fn object(&mut self, node: &mut Node) {
        let Data::Mapping(entries) = &mut node.data else { return };
        for entry in entries {
            match &mut entry.value.data {
                Data::Sequence(turns) if entry.key == "turns" => turns.iter_mut().for_each(|turn| self.object(turn)),
                _ if FILLED.contains(&entry.key.as_str()) => self.value(&mut entry.value),
                _ => {}
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
            Data::Mapping(entries) => entries.iter_mut().for_each(|entry| self.value(&mut entry.value)),
            Data::Null | Data::Bool(_) | Data::Number(_) => {}
        }
    }

    /// What a text becomes: a value with its own place if the text is one reference, else text. `None`: it stays.
    fn text(&mut self, text: &str, span: Span) -> Option<Node> {
        let (mut filled, mut end) = (String::new(), 0);
        for Placeholder { name, range } in Syntax::Reference.placeholders(text) {
            let Some(value) = self.lookup(name, span) else { continue };
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
        (end > 0).then(|| Node { span, data: Data::String(filled + &text[end..]) })
    }

    /// The value at a path. Names of other template syntaxes are none.
    fn lookup(&mut self, path: &str, span: Span) -> Option<&'a Node> {
        let mut names = path.split('.');
        let first = &self.vars.entry(names.next()?)?.value;
        let found = names.try_fold(first, |value, name| match &value.data {
            Data::Sequence(items) => items.get(name.parse::<usize>().ok()?),
            _ => value.entry(name).map(|entry| &entry.value),
        });
        if found.is_none() {
            let message = format!("`{{{{ {path} }}}}` is not filled in: `vars` has no such value");
            self.d.report(Code::UnknownTemplateVariable, span, message, "write the path of a value below `vars`");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Package;

    /// The case with its variables filled in, as JSON, and the problems.
    fn filled(case: &str) -> (String, Vec<String>) {
        let package = Package::new(&[]);
        let mut d = Diagnostics::new();
        let node = package.node(case);
        let mut filled = fill(&node, package.scope(), &mut d).to_json();
        filled.as_object_mut().expect("a case").remove("vars");
        (filled.to_string(), package.lines(&d))
    }

    #[track_caller]
    fn check(case: &str, expected: &str) {
        assert_eq!(filled(case), (expected.to_owned(), Vec::new()));
    }

    #[test]
    fn a_text_that_is_one_reference_becomes_the_value() {
        check(
            "{vars: {order: {id: 1182, lines: [a, b]}, files: [x.txt]}, input: '{{order.id}}', input_files: '{{ files }}', \
             expected_output: {total: '{{ order }}', last: '{{ order.lines.1 }}'}}",
            "{\"input\":1182,\"input_files\":[\"x.txt\"],\
             \"expected_output\":{\"total\":{\"id\":1182,\"lines\":[\"a\",\"b\"]},\"last\":\"b\"}}",
        );
    }

    #[test]
    fn inside_of_text_other_values_are_json() {
        check(
            "{vars: {a: x, b: [1, two], c: null}, criteria: 'Says {{ a }}, {{b}} and {{ c }} ', expected_outcome: '{{ a }}{{ a }}'}",
            "{\"criteria\":\"Says x, [1,\\\"two\\\"] and null \",\"expected_outcome\":\"xx\"}",
        );
    }

    #[test]
    fn turns_are_filled_and_graders_are_not() {
        check(
            "{vars: {a: x}, turns: [{input: '{{ a }}', expected_output: '{{ a }}!', assertions: ['{{ a }}']}], \
             assertions: ['{{ a }}'], metadata: {a: '{{ a }}'}}",
            "{\"turns\":[{\"input\":\"x\",\"expected_output\":\"x!\",\"assertions\":[\"{{ a }}\"]}],\
             \"assertions\":[\"{{ a }}\"],\"metadata\":{\"a\":\"{{ a }}\"}}",
        );
    }

    #[test]
    fn names_of_other_templates_stay_and_values_are_not_searched() {
        check(
            "{vars: {a: '{{ b }}', b: x}, input: '{{ a }} {{ other }} ${{ b }} {{ 1 }}'}",
            "{\"input\":\"{{ b }} {{ other }} ${{ b }} {{ 1 }}\"}",
        );
        check(
            "{vars: {a: x}, input: [{role: user, content: 'a {{ c.d }}'}]}",
            "{\"input\":[{\"role\":\"user\",\"content\":\"a {{ c.d }}\"}]}",
        );
        check("{input: '{{ a }}'}", "{\"input\":\"{{ a }}\"}");
    }

    #[test]
    fn a_path_beside_the_values_is_a_warning() {
        let (case, problems) = filled("{vars: {a: {b: 1}}, criteria: 'Says {{ a.c }} and {{ a.b.c }}'}");
        assert_eq!(case, "{\"criteria\":\"Says {{ a.c }} and {{ a.b.c }}\"}");
        let says = |path: &str| format!("1:31 W007 `{{{{ {path} }}}}` is not filled in: `vars` has no such value");
        assert_eq!(problems, [says("a.b.c"), says("a.c")]);
    }

    #[test]
    fn values_that_multiply_are_refused() {
        let value = "x".repeat(1 << 20);
        let (case, problems) = filled(&format!("{{vars: {{a: {value}}}, input: '{}'}}", "{{ a }} ".repeat(1000)));
        assert!(case.len() < 1 << 24, "{}", case.len());
        assert!(problems[0].contains("E008"), "{problems:?}");
    }
}
