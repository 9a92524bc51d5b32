//! Values of another type than their key needs, and what was probably meant.

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Edit, Fix, in_place_of};
use crate::keys::Table;
use crate::read::node::{Data, Node};
use crate::source::{Position, Span};

/// Keys of an object that are listed, at most.
const LISTED: usize = 6;

/// What was probably meant: the help, and the change that makes it so.
type Meant = (String, Option<Fix>);

/// Reports a value of another type: `` `criteria` must be text, found a list ``.
pub(crate) fn wrong_type<T>(node: &Node, what: &str, expected: &str, d: &mut Diagnostics) -> Option<T> {
    let meant = match (&node.data, expected) {
        (Data::Number(_) | Data::Bool(_), "text") => Some(("quote it".to_owned(), Some(Fix::Quote))),
        (Data::String(text), "`true` or `false`") => boolean(text, node),
        (Data::String(text), "a number") => number(text, what, node),
        (Data::String(_), "a list") if what == "`assertions`" => {
            Some(("write a list of graders, such as `- { type: contains, value: refund }`".to_owned(), None))
        }
        (Data::String(_) | Data::Number(_), "a list") => {
            Some((format!("write a list: `[{}]`", node.shown()), around(node.span, "[", "]")))
        }
        (Data::Sequence(_), "text") if what == "`criteria`" => {
            Some(("write one text, or the list in `assertions`: each text there is a criterion".to_owned(), None))
        }
        (Data::Mapping(entries), "text") if what == "`type`" && !entries.is_empty() => {
            let help = format!("write `type: {}`, and the settings of the grader next to it", entries[0].key);
            Some((help, None))
        }
        (Data::Mapping(_), "a list") if node.is_flow() => {
            Some(("write a list: put it between `[` and `]`".to_owned(), one_element(node)))
        }
        (Data::Mapping(_), "a list") => {
            Some(("write a list: begin each element with `- `".to_owned(), one_element(node)))
        }
        _ => None,
    };
    report(node, what, expected, meant, d)
}

/// Reports a value that is no mapping, where the keys of `object` are expected.
pub(super) fn not_an_object<T>(node: &Node, object: &'static Table, d: &mut Diagnostics) -> Option<T> {
    let required: Vec<&str> = object.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let without_blank = |text: &str| {
        let (key, value) = text.split_once(':')?;
        let is_key = object.all_keys().any(|known| known.name == key.trim()) && !value.starts_with([' ', '/']);
        is_key.then(|| instead(node.span, &format!("{key}: {value}")))
    };
    let meant = match (&node.data, &required[..]) {
        (Data::String(text), _) if !is_quoted(node) && without_blank(text).is_some() => without_blank(text),
        (Data::String(_), [key]) => {
            let quoted = if is_quoted(node) { format!("\"{key}\"") } else { (*key).to_owned() };
            let fix = around(node.span, &format!("{{ {quoted}: "), " }").filter(|_| is_quoted(node) || node.is_plain());
            Some((format!("write `{{ {key}: {} }}`", node.shown()), fix))
        }
        _ => {
            let keys: Vec<&str> = object.keys.iter().map(|key| key.name).collect();
            let keys = evalsuite_schema::diagnostics::suggest::quoted(&keys, "or");
            (object.keys.len() <= LISTED).then(|| (format!("write a mapping with {keys}"), None))
        }
    };
    report(node, object.what, "a mapping", meant.filter(|(help, _)| !help.ends_with(' ')), d)
}

fn report<T>(node: &Node, what: &str, expected: &str, meant: Option<Meant>, d: &mut Diagnostics) -> Option<T> {
    let (help, fix) = meant.unwrap_or_else(|| (format!("write {expected}"), None));
    let message = format!("{what} must be {expected}, found {}", node.kind());
    d.push(Diagnostic::new(Code::WrongType, message).at(node.span).help(help).fix_if(fix));
    None
}

/// The words of other readers of YAML for `true` and `false`.
fn boolean(text: &str, node: &Node) -> Option<Meant> {
    let value = match text.to_lowercase().as_str() {
        "true" | "yes" | "y" | "on" => "true",
        "false" | "no" | "n" | "off" => "false",
        _ => return None,
    };
    Some(instead(node.span, value))
}

/// A number in quotes, or with its unit.
fn number(text: &str, what: &str, node: &Node) -> Option<Meant> {
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%').map(str::trim).filter(|percent| is_number(percent)) {
        return Some(instead(node.span, &(percent.parse::<f64>().ok()? / 100.0).to_string()));
    }
    // Half of the world writes a comma there.
    let comma = text.replacen(',', ".", 1);
    if text.split_once(',').is_some_and(|(_, decimals)| decimals.len() != 3) && is_number(&comma) {
        return Some(instead(node.span, &comma));
    }
    let milliseconds = text.strip_suffix("ms").map(str::trim).filter(|_| what.contains("seconds"));
    if let Some(milliseconds) = milliseconds.filter(|number| is_number(number)) {
        return Some(instead(node.span, &(milliseconds.parse::<f64>().ok()? / 1000.0).to_string()));
    }
    let unit = if what.contains("_ms") {
        "ms"
    } else if what.contains("seconds") {
        "s"
    } else {
        ""
    };
    let number = text.strip_suffix(unit).map_or(text, str::trim).trim_start_matches('$');
    is_number(number).then(|| instead(node.span, number))
}

/// Another value in place of the one at `span`.
pub(super) fn instead(span: Span, value: &str) -> Meant {
    (format!("write `{value}`"), in_place_of(span, value))
}

/// What is at a span, in one line, between two texts.
pub(crate) fn around(span: Span, before: &str, after: &str) -> Option<Fix> {
    let (start, end) = span.range.filter(|(start, end)| start.line == end.line)?;
    Some(Fix::Edits(vec![Edit::new(start, start, before), Edit::new(end, end, after)]))
}

/// The mapping as the only element of a list.
fn one_element(node: &Node) -> Option<Fix> {
    if node.is_flow() {
        return around(node.span, "[", "]");
    }
    let (start, end) = node.span.range?;
    let mut edits = vec![Edit::new(start, start, "- ")];
    edits.extend(indented_after_first(start, end, "  ")?);
    Some(Fix::Edits(edits))
}

pub(super) fn is_quoted(node: &Node) -> bool {
    let (start, end) = (node.span.start(), node.span.end());
    let length = node.as_str().map_or(0, |text| text.chars().count());
    start.line == end.line && usize::try_from(end.column - start.column).is_ok_and(|columns| columns != length)
}

/// Lines that are indented, at most.
const MOST_LINES: u32 = 200;

/// The changes that put `indent` before each line but the first of what is written from `start` to `end`; `None` if it is too long.
pub(super) fn indented_after_first(start: Position, end: Position, indent: &str) -> Option<Vec<Edit>> {
    let last = if end.column == 1 { end.line - 1 } else { end.line };
    let edit = |line| {
        let at = Position { line, column: 1 };
        Edit::new(at, at, indent)
    };
    (last <= start.line + MOST_LINES).then(|| (start.line + 1..=last).map(edit).collect())
}
