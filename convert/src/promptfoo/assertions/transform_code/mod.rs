//! Code of a `transform` in JavaScript, as steps that graders execute themselves. What a method does to a part of a text is a `replace`
//! that matches all of it, once.

#[cfg(test)]
mod tests;

use evalsuite_schema::grader::AnswerStep;

use crate::promptfoo::javascript_regex::{Translated, escaped, groups, is_sometimes_empty, translate};

/// The steps of code that is read, and where they differ from it.
#[derive(Debug, Default)]
pub(super) struct Parser<'a> {
    rest: &'a str,
    pub(super) steps: Vec<AnswerStep>,
    pub(super) differences: Vec<&'static str>,
    /// Whether they make an empty text where the code has no value, which is an error in promptfoo.
    pub(super) can_be_missing: bool,
    /// Whether they make a value of JSON, whose text graders see.
    is_value: bool,
}

/// The steps of one transform after another; `None` if steps cannot do what one of them does.
pub(super) fn steps(codes: &[String]) -> Option<Parser<'_>> {
    let mut parser = Parser::default();
    for code in codes {
        // Lines are the body of a function.
        (!code.contains('\n')).then_some(())?;
        parser.rest = code.trim().trim_end_matches(';').trim_end();
        parser.expression()?;
        parser.rest.is_empty().then_some(())?;
    }
    Some(parser)
}

impl<'a> Parser<'a> {
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes the characters that fit.
    fn takes_all(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|character| !fits(character)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes a text between blanks, or is no expression that steps can do.
    fn expects(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.trim_start();
        let is_next = self.takes(text);
        self.rest = self.rest.trim_start();
        is_next.then_some(())
    }

    fn expression(&mut self) -> Option<()> {
        if self.takes("JSON.parse(") {
            self.expression()?;
            self.expects(")")?;
            self.steps.push(AnswerStep::Json(String::new()));
            self.is_value = true;
        } else if self.takes("String(") {
            self.expression()?;
            self.expects(")")?;
            self.only_text()?;
        } else if self.takes("`${output}`") {
            self.only_text()?;
        } else {
            self.expects("output")?;
        }
        while !self.rest.is_empty() && !self.rest.starts_with(')') {
            self.member()?;
        }
        Some(())
    }

    /// `.name`, `[0]`, `["name"]` or `.call(…)`, with `?.` as well.
    fn member(&mut self) -> Option<()> {
        let is_optional = self.takes("?.");
        let is_index = self.takes("[");
        let name = if is_index {
            let name = match self.string() {
                Some(name) => name,
                None => self.word()?,
            };
            self.expects("]")?;
            name
        } else {
            if !is_optional && !self.takes(".") {
                return None;
            }
            self.word()?
        };
        if !is_index && self.takes("(") {
            return self.call(&name);
        }
        self.value_at(&name)
    }

    /// A name or number.
    fn word(&mut self) -> Option<String> {
        let word = self.takes_all(|c| c.is_alphanumeric() || "_$".contains(c));
        (!word.is_empty()).then(|| word.to_owned())
    }

    /// A text between quotes, if one comes next that has neither placeholders nor rare escapes.
    fn string(&mut self) -> Option<String> {
        let mut characters = self.rest.chars();
        let quote = characters.next().filter(|first| matches!(first, '\'' | '"' | '`'))?;
        let mut text = String::new();
        loop {
            match characters.next()? {
                end if end == quote => break,
                '\\' => text.push(match characters.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other if other.is_alphanumeric() || other == '\n' => return None,
                    other => other,
                }),
                '$' if quote == '`' && characters.as_str().starts_with('{') => return None,
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Some(text)
    }

    /// A pattern between slashes and its flags, if one comes next.
    fn pattern(&mut self) -> Option<(&'a str, &'a str)> {
        let inside = self.rest.strip_prefix('/')?;
        let (mut is_class, mut is_escaped) = (false, false);
        let end = inside.find(|character| {
            let is_end = character == '/' && !is_class && !is_escaped;
            if !is_escaped {
                is_class = character == '[' || is_class && character != ']';
            }
            is_escaped = character == '\\' && !is_escaped;
            is_end
        })?;
        self.rest = &inside[end + 1..];
        Some((&inside[..end], self.takes_all(|c| c.is_ascii_alphabetic())))
    }

    /// A whole number, if one comes next.
    fn integer(&mut self) -> Option<i64> {
        let sign = if self.takes("-") { -1 } else { 1 };
        self.takes_all(|c| c.is_ascii_digit()).parse().ok().map(|number: i64| sign * number)
    }

    fn integer_before(&mut self, end: &str) -> Option<i64> {
        let number = self.integer()?;
        self.expects(end).map(|()| number)
    }

    /// The value of a key. The length of a list or text is not one of its values.
    fn value_at(&mut self, name: &str) -> Option<()> {
        if !self.is_value || name == "length" || name.is_empty() || name.contains('.') {
            return None;
        }
        let Some(AnswerStep::Json(path)) = self.steps.last_mut() else { return None };
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        Some(())
    }

    fn only_text(&self) -> Option<()> {
        (!self.is_value).then_some(())
    }

    /// The value as text, which has methods.
    fn text(&mut self) -> Option<()> {
        if self.is_value {
            if !matches!(self.steps.last(), Some(AnswerStep::Json(path)) if !path.is_empty()) {
                return None;
            }
            self.differs("a value that is not text is not an error, but its JSON");
            self.is_value = false;
        }
        Some(())
    }

    fn differs(&mut self, reason: &'static str) {
        if !self.differences.contains(&reason) {
            self.differences.push(reason);
        }
    }
}

/// Most characters that are counted in a pattern.
const MOST_COUNTED: i64 = 2000;

const COUNTS: &str = "characters such as emoji count as one, not as two";
const IGNORES_CASE: &str = "`ſ` and the Kelvin sign are `s` and `k` where case is ignored";

/// What a method looks for.
struct Sought {
    /// In the syntax of steps, with its groups.
    pattern: String,
    groups: usize,
    is_global: bool,
}

impl Parser<'_> {
    /// The rest of a call after its `(`.
    fn call(&mut self, method: &str) -> Option<()> {
        self.text()?;
        match method {
            "trim" => self.without_arguments(Some(AnswerStep::Trim)),
            "toLowerCase" => self.without_arguments(Some(AnswerStep::Lowercase)),
            "toUpperCase" => self.without_arguments(Some(AnswerStep::Uppercase)),
            "toString" => self.without_arguments(None),
            "replace" | "replaceAll" => self.replace(method == "replaceAll"),
            "split" => self.split(),
            "slice" | "substring" => self.slice(method == "slice"),
            "match" => self.first_match(),
            _ => None,
        }
    }

    fn without_arguments(&mut self, step: Option<AnswerStep>) -> Option<()> {
        self.expects(")")?;
        self.steps.extend(step);
        Some(())
    }

    fn push(&mut self, replace: String, with: impl Into<String>) {
        self.steps.push(AnswerStep::Replace { replace, with: with.into() });
    }

    /// A text or a pattern.
    fn sought(&mut self) -> Option<Sought> {
        self.rest = self.rest.trim_start();
        if let Some(text) = self.string() {
            let sought = Sought { pattern: escaped(&text), groups: 0, is_global: false };
            return (!text.is_empty()).then_some(sought);
        }
        let (source, flags) = self.pattern()?;
        if flags.contains(|flag| !"gims".contains(flag)) {
            return None;
        }
        let Translated { text, counts } = translate(source, flags).ok()?;
        if counts {
            self.differs(COUNTS);
        }
        let ignores_case = flags.contains('i');
        if ignores_case {
            self.differs(IGNORES_CASE);
        }
        let pattern = if ignores_case { format!("(?i:{text})") } else { text };
        Some(Sought { pattern, groups: groups(source).0, is_global: flags.contains('g') })
    }

    /// The first match is replaced, or all.
    fn replace(&mut self, all: bool) -> Option<()> {
        let sought = self.sought()?;
        self.expects(",")?;
        let with = self.string()?;
        self.expects(")")?;
        if all || sought.is_global {
            // After a match, JavaScript replaces an empty one at its end as well.
            if is_sometimes_empty(&sought.pattern) {
                return None;
            }
            let with = replacement(&with, sought.groups, 0)?;
            self.push(sought.pattern, with);
        } else {
            let with = format!("${{1}}{}", replacement(&with, sought.groups, 2)?);
            self.push(format!(r"\A((?s:.*?))({})", sought.pattern), with);
        }
        Some(())
    }

    /// A part of the text between separators.
    fn split(&mut self) -> Option<()> {
        let Sought { pattern, groups: 0, .. } = self.sought()? else { return None };
        self.expects(")")?;
        if is_sometimes_empty(&pattern) {
            return None;
        }
        let index = match () {
            () if self.takes("[") => self.integer_before("]").filter(|index| *index >= 0)?,
            () if self.takes(".at(") => self.integer_before(")").filter(|index| *index >= -1)?,
            () if self.takes(".pop()") => -1,
            () if self.takes(".shift()") => 0,
            () => return None,
        };
        let part = format!("(?s:(?!{pattern}).)*");
        match index {
            -1 => self.push(format!(r"\A(?:{part}(?:{pattern}))*"), ""),
            0 => self.push(format!("(?:{pattern})(?s:.*)"), ""),
            index if index > MOST_COUNTED => return None,
            // A text with fewer parts has nothing there.
            index => {
                self.can_be_missing = true;
                self.push(format!(r"\A(?:{part}(?:{pattern})){{{index}}}({part})(?s:.*)|\A(?s:.+)"), "${1}");
            }
        }
        Some(())
    }

    /// The characters from one place to another; places below 0 count from the end in `slice`, and are 0 in `substring`.
    fn slice(&mut self, from_end: bool) -> Option<()> {
        self.rest = self.rest.trim_start();
        let mut from = self.integer()?;
        let mut to = None;
        if self.expects(",").is_some() {
            to = Some(self.integer()?);
        }
        self.expects(")")?;
        if !from_end {
            from = from.max(0);
            to = to.map(|to| to.max(0));
            if let Some(end) = to.filter(|to| *to < from) {
                (from, to) = (end, Some(from));
            }
        }
        if from.abs() > MOST_COUNTED || to.is_some_and(|to| to.abs() > MOST_COUNTED) {
            return None;
        }
        self.differs(COUNTS);
        match (from, to) {
            (0.., None) => self.push(format!(r"(?s)\A.{{0,{from}}}"), ""),
            (0.., Some(to @ 0..)) => {
                self.push(format!(r"(?s)\A.{{0,{from}}}(.{{0,{}}}).*", (to - from).max(0)), "${1}");
            }
            (0.., Some(to)) => self.push(format!(r"(?s)\A.{{0,{from}}}(.*?).{{0,{}}}\z", -to), "${1}"),
            (_, None) => self.push(format!(r"(?s)\A.*?(.{{0,{}}})\z", -from), "${1}"),
            (_, Some(_)) => return None,
        }
        Some(())
    }

    /// The first match, or one of its groups.
    fn first_match(&mut self) -> Option<()> {
        let sought = self.sought().filter(|sought| !sought.is_global)?;
        self.expects(")")?;
        self.takes("?.");
        self.takes("[").then_some(())?;
        let group = usize::try_from(self.integer_before("]")?).ok().filter(|group| *group <= sought.groups)?;
        // A text without a match has nothing there.
        self.can_be_missing = true;
        self.push(format!(r"\A(?s:.*?)({})(?s:.*)|\A(?s:.+)", sought.pattern), format!("${{{}}}", group + 1));
        Some(())
    }
}

/// The text in place of a match in the notation of steps. `before` is the number of groups that come before those of the pattern; the last
/// of these is the whole match.
fn replacement(with: &str, groups: usize, before: usize) -> Option<String> {
    let mut written = String::new();
    let mut rest = with;
    while let Some(start) = rest.find('$') {
        written.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let group = |digits: usize| {
            let number: usize =
                rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
            (1..=groups).contains(&number).then_some((number, digits))
        };
        match rest.chars().next() {
            Some('$') => {
                written.push_str("$$");
                rest = &rest[1..];
            }
            Some('&') => {
                written.push_str(&format!("${{{before}}}"));
                rest = &rest[1..];
            }
            Some('`' | '\'' | '<') => return None,
            _ => match group(2).or_else(|| group(1)) {
                Some((number, digits)) => {
                    written.push_str(&format!("${{{}}}", number + before));
                    rest = &rest[digits..];
                }
                None => written.push_str("$$"),
            },
        }
    }
    written.push_str(rest);
    Some(written)
}
