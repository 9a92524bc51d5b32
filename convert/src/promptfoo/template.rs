//! Templates of promptfoo, which are Jinja as nunjucks understands it.

use std::io;
use std::sync::{Arc, LazyLock};

use evalsuite_schema::json::{Object, Value, to_value_by_serde};
use fancy_regex::Regex;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Object as JinjaObject, Serde, Value as JinjaValue, ValueKind};
use minijinja::{Environment, Output, State, UndefinedBehavior};

use crate::report::{Place, Report};
use crate::yaml_writer::number;

/// Why a template may be filled in differently.
pub(super) const MAY_DIFFER: &str = "filters, operators and statements are those of Jinja, nunjucks' own may differ";

/// What a tag puts in that is the same in Jinja: a variable, or a value in it. Lists and texts have a `length` in JavaScript.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"^-?\s*(?!True\b|False\b|None\b)[\p{L}_]\w*(?:\.(?!length\b)[\p{L}_]\w*|\[\d+\]|\[(["'])[\p{L}_][^"'\\]*\1\])*\s*-?$"#;
    Regex::new(pattern).expect("the pattern is valid")
});

/// A text with its variables filled in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) text: String,
    /// Why the text may differ from promptfoo's.
    pub(super) difference: Option<&'static str>,
    /// A variable that has no value, and is left out.
    pub(super) undefined: Option<String>,
}

impl Rendered {
    /// Reports what is not as in the template.
    pub(super) fn report(&self, place: &Place, report: &mut Report) {
        if let Some(difference) = self.difference {
            report.different(place, difference);
        }
        if let Some(name) = &self.undefined {
            report.approximated(place, format!("the variable `{name}` has no value and is left out"));
        }
    }
}

/// Fills the variables into a prompt or a variable, of which promptfoo takes one with an unfinished tag as it is.
pub(super) fn render_or_keep(template: &str, variables: &Object) -> Result<Rendered, String> {
    let is_unfinished = [("{{", '}'), ("{%", '%'), ("{#", '#')].iter().any(|(start, end)| {
        template.match_indices(start).any(|(index, _)| {
            let rest = &template[index + start.len()..];
            let line = rest.find(*end).map_or(rest, |end| &rest[..end]);
            line.len() == rest.len() || line.contains('\n')
        })
    });
    let as_it_is = Rendered { text: template.to_owned(), ..Rendered::default() };
    if is_unfinished { Ok(as_it_is) } else { render(template, variables) }
}

/// Fills the variables into a template. One without braces is returned as it is; the error says why one cannot be filled in.
pub(super) fn render(template: &str, variables: &Object) -> Result<Rendered, String> {
    if !template.contains("{{") && !template.contains("{%") && !template.contains("{#") {
        return Ok(Rendered { text: template.to_owned(), ..Rendered::default() });
    }
    let mut context: Vec<(String, JinjaValue)> =
        variables.iter().map(|(name, value)| (name.clone(), JinjaValue::from(Serde(as_javascript(value))))).collect();
    context.push(("env".to_owned(), JinjaValue::from_object(EnvironmentVariables)));
    let context = JinjaValue::from_pairs(context);
    let text = rendered(template, context).map_err(|error| {
        let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        let line = error.line().filter(|line| *line > 1).map(|line| format!(", in line {line}")).unwrap_or_default();
        format!("its template cannot be filled in: {reason}{line}")
    })?;
    let is_plain = !template.contains("{%") && tags(template).all(|tag| VARIABLE.is_match(tag).unwrap_or_default());
    let undefined = if is_plain { undefined(template, variables) } else { None };
    Ok(Rendered { text, difference: (!is_plain).then_some(MAY_DIFFER), undefined })
}

/// Bytes of a text with its variables filled in, at most: each place of a variable holds all of its value.
const MAX_BYTES: usize = 16 << 20;

/// Steps of a template, at most: a template may have loops.
const MAX_STEPS: u64 = 1_000_000;

fn rendered(template: &str, context: JinjaValue) -> Result<String, minijinja::Error> {
    let environment = environment();
    let mut text = LimitedText(Vec::new());
    environment.template_from_str(template)?.render_captured_to(context, &mut text)?;
    String::from_utf8(text.0)
        .map_err(|_| minijinja::Error::new(minijinja::ErrorKind::WriteFailure, "the text is not UTF-8"))
}

/// A text of at most [`MAX_BYTES`].
struct LimitedText(Vec<u8>);

impl io::Write for LimitedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(io::Error::other(format!("it becomes larger than {} MiB", MAX_BYTES >> 20)));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Jinja that writes values as nunjucks does.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("load", |text: &str| {
        let value: Value = evalsuite_schema::json::from_str(text).map_err(|error| {
            minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, format!("`load` needs JSON: {error}"))
        })?;
        Ok::<_, minijinja::Error>(JinjaValue::from(Serde(as_javascript(&value))))
    });
    environment.add_filter("dump", |value: JinjaValue| serde_json::to_string(&value).unwrap_or_default());
    environment.set_formatter(|out: &mut Output<'_>, _: &mut State<'_, '_>, value: &JinjaValue| {
        let text = match value.kind() {
            ValueKind::Undefined | ValueKind::None => String::new(),
            ValueKind::Bool => value.is_true().to_string(),
            ValueKind::Map | ValueKind::Seq => {
                let json: Value = to_value_by_serde(value).unwrap_or_default();
                joined(&json)
            }
            ValueKind::Number => f64::try_from(value.clone()).map_or_else(|_| value.to_string(), number_text),
            _ => value.to_string(),
        };
        out.write_str(&text).map_err(minijinja::Error::from)
    });
    environment
}

/// A list or an object as JavaScript puts it into a text.
fn joined(json: &Value) -> String {
    match json {
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(joined).collect::<Vec<_>>().join(","),
        Value::Object(_) => "[object Object]".to_owned(),
        other => javascript_text(other),
    }
}

/// What is between the braces of tags that put something in.
fn tags(template: &str) -> impl Iterator<Item = &str> {
    template.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap_or_default())
}

/// A variable that the template names and that has no value.
fn undefined(template: &str, variables: &Object) -> Option<String> {
    names(template).find(|name| !variables.contains_key(name))
}

/// The variables that a text puts into itself, without `env`.
pub(super) fn names(template: &str) -> impl Iterator<Item = String> {
    template.split("{{").skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches('-').trim_start();
        let name: String = rest.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        (is_name && name != "env").then_some(name)
    })
}

/// Numbers as JavaScript writes them: `1.0` is `1`.
fn as_javascript(value: &Value) -> Value {
    match value {
        Value::Number(written) if written.is_f64() => number(written.as_f64().unwrap_or_default()),
        Value::Array(items) => items.iter().map(as_javascript).collect(),
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.clone(), as_javascript(value))).collect())
        }
        other => other.clone(),
    }
}

/// A number as JavaScript writes it.
pub(super) fn number_text(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        1e21.. => format!("{number:e}").replace('e', "e+"),
        magnitude if magnitude > 0.0 && magnitude < 1e-6 => format!("{number:e}"),
        0.0 => "0".to_owned(),
        _ => number.to_string(),
    }
}

/// The text of `String(value)` in JavaScript.
pub(super) fn string(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        other => joined(other),
    }
}

/// The text that JavaScript makes of a value, as JSON if it has parts.
pub(super) fn javascript_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), number_text),
        other => as_javascript(other).to_string(),
    }
}

/// `env.NAME`, which a suite writes as `${{ NAME }}`.
#[derive(Debug)]
struct EnvironmentVariables;

impl JinjaObject for EnvironmentVariables {
    fn get_value(self: &Arc<Self>, key: &JinjaValue) -> Option<JinjaValue> {
        key.as_str().map(|name| JinjaValue::from(format!("${{{{ {name} }}}}")))
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn text(template: &str) -> (String, bool) {
        let variables =
            json!({"name": "Ana", "n": 1.0, "list": ["a"], "none": null, "yes": true, "o": {"x": [{"y": 2}]}});
        let rendered = render(template, variables.as_object().unwrap()).unwrap();
        (rendered.text, rendered.difference.is_some() || rendered.undefined.is_some())
    }

    #[test]
    fn variables_are_filled_in_as_javascript_writes_them() {
        assert_eq!(text("Hi {{name}}, {{ n }} {{yes}}{{none}}\n"), ("Hi Ana, 1 true\n".to_owned(), false));
        assert_eq!(text("{{ o.x[0].y }} <b> & '\""), ("2 <b> & '\"".to_owned(), false));
        assert_eq!(text("{{ list }}"), ("a".to_owned(), false));
        assert_eq!(text("{{ o }}"), ("[object Object]".to_owned(), false));
        assert_eq!(text("{{ env.HOME }}"), ("${{ HOME }}".to_owned(), false));
    }

    #[test]
    fn what_may_differ_is_named() {
        assert_eq!(text("{{ name | upper }}"), ("ANA".to_owned(), true));
        for expression in ["name.length", "list[-1]", "n + 1", "n == '1'", "True", "o.x[0].y if yes", "name[1:]"] {
            assert!(text(&format!("{{{{ {expression} }}}}")).1, "{expression}");
        }
        assert_eq!(text("{% for x in list %}{{ x }}{% endfor %}"), ("a".to_owned(), true));
        assert_eq!(text("a{{ missing.deep }}b"), ("ab".to_owned(), true));
        assert_eq!(text("{% set o = '{\"x\": 1}' | load %}{{ o.x }}"), ("1".to_owned(), true));
    }

    #[test]
    fn a_template_that_cannot_be_filled_in_has_no_text() {
        let variables = Object::new();
        for template in ["{{ name | allcaps }}", "{% for a, b in [1] %}{% endfor %}", "{{ }}", "{{ unclosed"] {
            let error = render(template, &variables).unwrap_err();
            assert!(error.starts_with("its template cannot be filled in: "), "{error}");
        }
        for template in ["{{ unclosed", "{% if", "a {{ b\n }}", "{# {{ c }}"] {
            let kept = render_or_keep(template, &variables).unwrap();
            assert_eq!(kept, Rendered { text: template.to_owned(), ..Rendered::default() });
        }
        assert_eq!(render_or_keep("a{{ b }}{# c #}", &variables).unwrap().text, "a");
    }
}
