//! Code of a `transform` in JavaScript, as steps that graders execute themselves.

#[cfg(test)]
mod tests;
mod text_method;

use evalsuite_schema::grader::AnswerStep;

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
