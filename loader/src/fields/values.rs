//! Single values of each type, and ids of cases. For a value of another type than its key needs, what was probably meant.

use evalsuite_schema::Object;
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::placeholder::Syntax;

use super::reject;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Edit, Fix, in_place_of};
use crate::fields::{self, Fields};
use crate::key_tables::{Range, Table, range};
use crate::read::node::{Data, Entry, Node};
use crate::source::{Position, Span};

/// Text that is not blank, as written.
pub(crate) fn text(node: &Node, what: &str, d: &mut Diagnostics) -> Option<String> {
    let text = string(node, what, d)?;
    if text.trim().is_empty() {
        return reject(Code::BlankValue, node.span, format!("{what} is blank"), "write a value or delete the key", d);
    }
    Some(text)
}

/// Variables of an environment, whose values may be empty.
pub(crate) fn environment(entry: &Entry, d: &mut Diagnostics) -> Vec<(String, String)> {
    let Some(entries) = entry.value.as_mapping() else {
        return wrong_type(&entry.value, "`env`", "a mapping", d).unwrap_or_default();
    };
    let value = |entry: &Entry, d: &mut Diagnostics| {
        string(&entry.value, &format!("`{}` in `env`", entry.key), d).map(|text| (entry.key.clone(), text))
    };
    entries.iter().filter_map(|entry| value(entry, d)).collect()
}

/// Text that is not blank, with at most `longest` characters.
pub(crate) fn short_text(node: &Node, what: &str, longest: usize, d: &mut Diagnostics) -> Option<String> {
    let text = text(node, what, d)?;
    let length = text.chars().count();
    if length > longest {
        let message = format!("{what} has {length} characters");
        return reject(Code::OutOfRange, node.span, message, format!("write at most {longest} characters"), d);
    }
    Some(text)
}

/// A GUID that marks the files of a suite. A shorter text might turn up anywhere.
pub(crate) fn canary(entry: &Entry, d: &mut Diagnostics) -> Option<String> {
    let text = text(&entry.value, "`canary`", d)?;
    let lengths = text.split('-').map(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(part.len()));
    if !lengths.eq([8, 4, 4, 4, 12].map(Some)) {
        let help = "write a GUID, as `uuidgen` prints one";
        return reject(Code::OutOfRange, entry.value.span, format!("`canary` is `{text}`, not a GUID"), help, d);
    }
    Some(text)
}

/// Text that is not empty; it may be blank, since a grader can look for blanks.
pub(crate) fn not_empty(node: &Node, what: &str, d: &mut Diagnostics) -> Option<String> {
    let text = string(node, what, d)?;
    if text.is_empty() {
        return reject(Code::BlankValue, node.span, format!("{what} is empty"), "write the text to look for", d);
    }
    Some(text)
}

/// Any string.
pub(crate) fn string(node: &Node, what: &str, d: &mut Diagnostics) -> Option<String> {
    match &node.data {
        Data::String(text) => Some(text.clone()),
        _ => wrong_type(node, what, "text", d),
    }
}

/// Reports a control character in a text or pattern to look for, which is an escape that means something else; whether there is one.
pub(crate) fn control_character(node: &Node, what: &str, d: &mut Diagnostics) -> bool {
    let is_one =
        |letter: &char| letter.is_control() && !"\t\n\r".contains(*letter) || "\u{2028}\u{2029}".contains(*letter);
    let Some(letter) = node.as_str().and_then(|text| text.chars().find(is_one)) else { return false };
    let number = u32::from(letter);
    let escape = match letter {
        '\0' => "\\0".to_owned(),
        '\u{7}' => "\\a".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{b}' => "\\v".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\u{1b}' => "\\e".to_owned(),
        '\u{85}' => "\\N".to_owned(),
        '\u{2028}' => "\\L".to_owned(),
        '\u{2029}' => "\\P".to_owned(),
        _ => format!("\\x{number:02x}"),
    };
    let message = format!("{what} has the control character U+{number:04X}, which `{escape}` is between double quotes");
    let help = format!(
        "write `\\{escape}`, or the text between single quotes in YAML; the character itself is the pattern `\\x{{{number:x}}}` of `regex`"
    );
    d.report(Code::ControlCharacter, node.span, message, help);
    true
}

/// Text that is not blank and contains no `${{ }}`.
pub(crate) fn literal_text(node: &Node, what: &str, d: &mut Diagnostics) -> Option<String> {
    let text = text(node, what, d)?;
    literal(&text, node, what, d).then_some(text)
}

/// Whether a structural value contains no `${{ }}`; otherwise interpolation-not-allowed.
pub(crate) fn literal(text: &str, node: &Node, what: &str, d: &mut Diagnostics) -> bool {
    let variable = Syntax::Variable.names(text).next();
    if let Some(name) = variable {
        let help = "write the value out: it is needed while the suite compiles";
        d.report(Code::InterpolationNotAllowed, node.span, format!("{what} cannot contain `${{{{ {name} }}}}`"), help);
    }
    variable.is_none()
}

/// `true` or `false`.
pub(crate) fn boolean(node: &Node, what: &str, d: &mut Diagnostics) -> Option<bool> {
    match node.data {
        Data::Bool(value) => Some(value),
        _ => wrong_type(node, what, "`true` or `false`", d),
    }
}

/// A finite number.
pub(crate) fn number(node: &Node, what: &str, d: &mut Diagnostics) -> Option<f64> {
    let Data::Number(number) = &node.data else { return wrong_type(node, what, "a number", d) };
    number.as_f64().filter(|value| value.is_finite()).or_else(|| {
        reject(Code::OutOfRange, node.span, format!("{what} is too large a number"), "write a finite number", d)
    })
}

/// A number in a range.
pub(crate) fn number_in(node: &Node, what: &str, range: &Range, d: &mut Diagnostics) -> Option<f64> {
    let value = number(node, what, d)?;
    if !range.contains(value) {
        let words = range.words;
        let message = format!("{what} is {value}, which is not {words}");
        // A share that is written as a percentage. A smaller number may be one of ten points.
        let (help, fix) =
            match range.contains(value / 100.0) && value > 10.0 && value.fract() == 0.0 && range.words.ends_with("1") {
                true => instead(node.span, &(value / 100.0).to_string()),
                false => (format!("write {words}"), None),
            };
        d.push(Diagnostic::new(Code::OutOfRange, message).at(node.span).help(help).fix_if(fix));
        return None;
    }
    Some(value)
}

/// A number greater than 0 and at most 1.
pub(crate) fn pass_mark(node: &Node, what: &str, d: &mut Diagnostics) -> Option<f64> {
    number_in(node, what, &range::PASS_MARK, d)
}

/// A whole number from `low` to `high`. `2.0` is whole, `2.5` is wrong-type.
pub(crate) fn integer(node: &Node, what: &str, low: u64, high: u64, d: &mut Diagnostics) -> Option<u64> {
    let value = number(node, what, d)?;
    if value.fract() != 0.0 {
        let message = format!("{what} must be a whole number, found {value}");
        return reject(Code::WrongType, node.span, message, "write a whole number", d);
    }
    /// The first float that 64 bits do not hold.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    let whole = match &node.data {
        // As it is written, since a float has fewer digits.
        Data::Number(number) if number.is_u64() => number.as_u64(),
        _ => (0.0..LIMIT).contains(&value).then_some(value as u64),
    };
    let is_large = whole.map_or(value > 0.0, |whole| whole > high);
    let whole = whole.filter(|whole| *whole >= low && !is_large);
    if whole.is_none() {
        let not = |range: String| (format!("not {range}"), format!("write {range}"));
        let (problem, help) = match high >= u64::from(u32::MAX) {
            true if is_large => (format!("more than {high}"), "write a smaller number".to_owned()),
            true => not(format!("a whole number of at least {low}")),
            false => not(format!("a whole number from {low} to {high}")),
        };
        let message = format!("{what} is {}, which is {problem}", node.number_or_kind());
        return reject(Code::OutOfRange, node.span, message, help, d);
    }
    whole
}

/// The one of `words` that is written.
pub(crate) fn word(node: &Node, what: &str, words: &[&'static str], d: &mut Diagnostics) -> Option<&'static str> {
    let text = string(node, what, d)?;
    if !literal(&text, node, what, d) {
        return None;
    }
    words.iter().find(|word| **word == text).copied().or_else(|| {
        let message = format!("{what} is `{text}`, which is not one of {}", suggest::quoted(words, "and"));
        let help = suggest::did_you_mean(&text, words.iter().copied());
        let help = help.unwrap_or_else(|| format!("write {}", suggest::quoted(words, "or")));
        let fix = suggest::certain(&text, words.iter().copied()).map(|meant| Fix::Replace(meant.to_owned()));
        d.push(Diagnostic::new(Code::InvalidChoice, message).at(node.span).help(help).fix_if(fix));
        None
    })
}

/// A list.
pub(crate) fn list<'n>(node: &'n Node, what: &str, d: &mut Diagnostics) -> Option<&'n [Node]> {
    node.as_sequence().or_else(|| wrong_type(node, what, "a list", d))
}

/// What is read from each element; `None` if there are problems with one of them.
pub(crate) fn all<'i, I, T>(items: &'i [I], read: impl FnMut(&'i I) -> Option<T>) -> Option<Vec<T>> {
    let values: Vec<T> = items.iter().filter_map(read).collect();
    (values.len() == items.len()).then_some(values)
}

/// A list of text; bad elements are reported and left out.
pub(crate) fn texts(node: &Node, what: &str, d: &mut Diagnostics) -> Option<Vec<String>> {
    let items = list(node, what, d)?;
    let item = format!("an element of {what}");
    Some(items.iter().filter_map(|node| text(node, &item, d)).collect())
}

/// An object of free-form data; null values inside are kept.
pub(crate) fn object(node: &Node, what: &str, d: &mut Diagnostics) -> Option<Object> {
    match node.to_json() {
        evalsuite_schema::Value::Object(object) => Some(object),
        _ => wrong_type(node, what, "a mapping", d),
    }
}

/// Keys of an object that are listed, at most.
const LISTED: usize = 6;

/// What was probably meant: the help, and the change that makes it so.
type Meant = (String, Option<Fix>);

/// Reports a value of another type: `` `criteria` must be text, found a list ``.
pub(crate) fn wrong_type<T>(node: &Node, what: &str, expected: &str, d: &mut Diagnostics) -> Option<T> {
    let meant = match (&node.data, expected) {
        (Data::Number(_) | Data::Bool(_), "text") => Some(("quote it".to_owned(), Some(Fix::Quote))),
        (Data::String(text), "`true` or `false`") => meant_boolean(text, node),
        (Data::String(text), "a number") => meant_number(text, what, node),
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
fn meant_boolean(text: &str, node: &Node) -> Option<Meant> {
    let value = match text.to_lowercase().as_str() {
        "true" | "yes" | "y" | "on" => "true",
        "false" | "no" | "n" | "off" => "false",
        _ => return None,
    };
    Some(instead(node.span, value))
}

/// A number in quotes, or with its unit.
fn meant_number(text: &str, what: &str, node: &Node) -> Option<Meant> {
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

/// The id of a case and its span; without `id`, the name of its directory. `None`: a problem was reported.
pub(crate) fn read_id(fields: &mut Fields<'_>, directory: Option<&str>, d: &mut Diagnostics) -> (Option<String>, Span) {
    let whole = fields.node.span;
    let Some(entry) = fields.get("id") else {
        if directory.is_none() {
            fields.missing(Code::MissingKey, "id", d);
        }
        return (directory.and_then(|name| check(name, whole, d)), whole);
    };
    (parse(&entry.value, true, d), entry.value.span)
}

/// The id of a task, where nothing is interpolated.
pub(crate) fn read_task(fields: &mut Fields<'_>, d: &mut Diagnostics) -> (Option<String>, Span) {
    let Some(entry) = fields.require("id", d) else { return (None, fields.node.span) };
    (of_text(&entry.value, d), entry.value.span)
}

/// An id where nothing is interpolated.
pub(crate) fn of_text(node: &Node, d: &mut Diagnostics) -> Option<String> {
    parse(node, false, d)
}

fn parse(node: &Node, interpolated: bool, d: &mut Diagnostics) -> Option<String> {
    let what = match &node.data {
        Data::String(text) => {
            let literal = !interpolated || fields::literal(text, node, "`id`", d);
            return literal.then(|| check(text, node.span, d)).flatten();
        }
        Data::Number(number) => format!("`id` is the number {number}"),
        Data::Bool(value) => format!("`id` is the boolean {value}"),
        _ => {
            let message = format!("`id` must be text, found {}", node.kind());
            return fields::reject(Code::InvalidId, node.span, message, "write text", d);
        }
    };
    d.push(Diagnostic::new(Code::InvalidId, what).at(node.span).help("quote it").fix_if(Some(Fix::Quote)));
    None
}

fn check(id: &str, span: Span, d: &mut Diagnostics) -> Option<String> {
    if id.trim().is_empty() {
        return fields::reject(Code::InvalidId, span, "the id is blank", "write an id", d);
    }
    if let Some(character) = id.chars().find(|character| character.is_control()) {
        let shown = character.escape_unicode();
        let message = format!("the id contains the control character `{shown}`");
        return fields::reject(Code::InvalidId, span, message, "delete it", d);
    }
    Some(id.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostics;
    use crate::tests::Package;

    #[test]
    fn integers_are_read_with_all_their_digits() {
        let package = Package::new(&[]);
        let read = |yaml: &str| {
            let mut d = Diagnostics::new();
            (super::integer(&package.node(yaml), "`count`", 0, u64::MAX, &mut d), package.lines(&d).concat())
        };
        for (yaml, value) in [
            ("9007199254740993", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
            ("0xFFFFFFFFFFFFFFFF", u64::MAX),
            ("2.0", 2),
            ("-0", 0),
            ("1e3", 1000),
        ] {
            assert_eq!(read(yaml), (Some(value), String::new()), "{yaml}");
        }
        for (yaml, shown) in [("18446744073709551616", "18446744073709551616"), ("1.0e+30", "1e+30")] {
            let problem = format!("1:1 E024 `count` is {shown}, which is more than 18446744073709551615");
            assert_eq!(read(yaml), (None, problem), "{yaml}");
        }
        assert_eq!(read("-1").1, "1:1 E024 `count` is -1, which is not a whole number of at least 0");
    }

    #[test]
    fn a_count_that_is_too_large_is_not_called_too_small() {
        let package = Package::new(&[]);
        let problems = |yaml: &str| {
            let mut d = Diagnostics::new();
            super::integer(&package.node(yaml), "`count`", 1, u64::from(u32::MAX), &mut d);
            package.lines(&d)
        };
        assert_eq!(problems("0"), ["1:1 E024 `count` is 0, which is not a whole number of at least 1"]);
        assert_eq!(problems("4294967296"), ["1:1 E024 `count` is 4294967296, which is more than 4294967295"]);
        assert_eq!(problems("4294967295"), Vec::<String>::new());
    }
}
