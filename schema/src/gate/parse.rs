//! The grammar of gates.

use std::fmt;
use std::str::FromStr;

use super::{Gate, Measure, Operator, SliceKey, WITH_SKILL};
use crate::diagnostics::suggest::{did_you_mean, listed};

/// Why a text is not a gate. It shows the text with the place marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateError {
    gate: String,
    /// Characters before the place.
    before: usize,
    /// Characters of the place.
    length: usize,
    message: String,
    help: String,
}

impl GateError {
    /// Column of the place, in characters from 1.
    pub fn column(&self) -> usize {
        self.before + 1
    }

    /// What is wrong, on one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to write instead; empty if the message says it.
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = "^".repeat(self.length.max(1));
        write!(f, "{}\n  | {}\n  | {}{marks}", self.message, self.gate, " ".repeat(self.before))?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "\n  = help: {}", self.help) }
    }
}

impl std::error::Error for GateError {}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The name of the pass rate of an agent that does nothing.
const FLOOR: &str = "floor";

/// A word or an operator of a gate, with the characters before it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    before: usize,
    length: usize,
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let text = text.trim().replace(['\n', '\r', '\t'], " ");
        Reader { tokens: tokens(&text)?.into_iter(), gate: &text }.gate()
    }
}

struct Reader<'a> {
    tokens: std::vec::IntoIter<Token>,
    gate: &'a str,
}

impl Reader<'_> {
    fn gate(mut self) -> Result<Gate, GateError> {
        let mut selected = Vec::new();
        let measure = loop {
            let token = self.next("a measure", &measures())?;
            match token.text.split_once(':') {
                Some((key, value)) if !value.is_empty() => selected.push((self.key(key, &token)?, value.to_owned())),
                Some((key, _)) => return Err(self.error(&token, format!("`{key}:` has no value"), String::new())),
                None => break self.measure(&token)?,
            }
        };
        self.check_compared_target(&selected, measure)?;
        let token = self.next("an operator", operators(measure))?;
        let operator = match (token.text.as_str(), measure.is_share()) {
            (">=", true) => Operator::AtLeast,
            (">", true) => Operator::MoreThan,
            ("<=", false) => Operator::AtMost,
            ("<", false) => Operator::LessThan,
            (found, _) => {
                let message = format!("`{}` cannot have `{found}`", measure.as_str());
                return Err(self.error(&token, message, operators(measure).to_owned()));
            }
        };
        let token = self.next("a number", "such as `0.9`")?;
        let (limit, is_above_floor) = match token.text.strip_prefix(FLOOR) {
            Some(rest) => (self.above_floor(rest, &token, measure)?, true),
            None => (self.limit(&token.text, &token, measure)?, false),
        };
        let per = match self.tokens.next() {
            None => None,
            Some(token) if token.text == "per" => {
                let token = self.next("a key", &listed(&SliceKey::NAMES))?;
                let key = self.key(&token.text, &token)?;
                if measure.is_lift() && key == SliceKey::Target {
                    let message = format!("`{}` compares targets, and has none of its own", measure.as_str());
                    let help = "name the target that it compares with before it, such as `target:old_skill`";
                    return Err(self.error(&token, message, help.to_owned()));
                }
                Some(key)
            }
            Some(token) => {
                let help = "after the number, only `per KEY` can follow".to_owned();
                return Err(self.error(&token, format!("unexpected `{}`", token.text), help));
            }
        };
        if let Some(token) = self.tokens.next() {
            return Err(self.error(&token, format!("unexpected `{}`", token.text), String::new()));
        }
        Ok(Gate { text: self.gate.to_owned(), selected, measure, operator, limit, is_above_floor, per })
    }

    /// A lift is compared with the target that it names.
    fn check_compared_target(&self, selected: &[(SliceKey, String)], measure: Measure) -> Result<(), GateError> {
        let mut targets = selected.iter().filter(|(key, _)| *key == SliceKey::Target).map(|(_, name)| name.as_str());
        let (first, second) = (targets.next(), targets.next());
        let message = match (measure.is_lift(), first, second) {
            (true, Some(WITH_SKILL), _) => {
                format!("`{}` compares `{WITH_SKILL}` with another target", measure.as_str())
            }
            (true, Some(_), Some(_)) => format!("`{}` compares with one target", measure.as_str()),
            _ => return Ok(()),
        };
        let (gate, help) = (self.gate.to_owned(), "write `target:without_skill` or `target:old_skill`".to_owned());
        Err(GateError { gate, before: 0, length: 1, message, help })
    }

    /// What is added to the floor: `rest` follows its name without a blank.
    fn above_floor(&mut self, rest: &str, token: &Token, measure: Measure) -> Result<f64, GateError> {
        if !matches!(measure, Measure::PassRate | Measure::LowerPassRate) {
            let message = format!("`{}` cannot have `{FLOOR}`, which is a pass rate", measure.as_str());
            return Err(self.error(token, message, "write a number".to_owned()));
        }
        let mut written = rest.to_owned();
        let is_sum = |token: &Token| token.text.starts_with('+');
        if written.is_empty() {
            match self.tokens.as_slice().first().filter(|next| is_sum(next)) {
                None => return Ok(0.0),
                Some(_) => written = self.next("`+`", "")?.text,
            }
        }
        let Some(number) = written.strip_prefix('+') else {
            let message = format!("unexpected `{}`", token.text);
            return Err(self.error(token, message, format!("write `{FLOOR} + 20%`")));
        };
        if number.is_empty() {
            let token = self.next("a number", "such as `20%`")?;
            return self.limit(&token.text, &token, measure);
        }
        self.limit(number, token, measure)
    }

    fn limit(&self, text: &str, token: &Token, measure: Measure) -> Result<f64, GateError> {
        let (number, factor) = if measure.is_share() {
            text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01))
        } else if measure.is_time() {
            let units = [("ms", 1e-3), ("min", 60.0), ("h", 3600.0), ("s", 1.0)];
            let unit = units.into_iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
            unit.unwrap_or((text, 1.0))
        } else {
            (text.strip_prefix('$').unwrap_or(text), 1.0)
        };
        let help = match measure {
            _ if measure.is_lift() => "a number from -1 to 1, or a percentage such as `5%`",
            _ if measure.is_share() => "a number from 0 to 1, or a percentage such as `90%`",
            _ if measure.is_time() => "a number of seconds, or one with a unit, such as `500ms`, `60s`, `5min`, `1h`",
            _ => "US dollars, such as `2.50` or `$2.50`",
        };
        let value = number.parse::<f64>().ok().map(|number| number * factor);
        let least = if measure.is_lift() { -1.0 } else { 0.0 };
        let is_valid = |value: &f64| value.is_finite() && *value >= least && (!measure.is_share() || *value <= 1.0);
        value.filter(is_valid).ok_or_else(|| {
            self.error(token, format!("`{text}` is not a valid limit of `{}`", measure.as_str()), help.to_owned())
        })
    }

    fn next(&mut self, expected: &str, help: &str) -> Result<Token, GateError> {
        self.tokens.next().ok_or_else(|| {
            let end = Token { text: String::new(), before: self.gate.chars().count(), length: 1 };
            self.error(&end, format!("expected {expected}"), help.to_owned())
        })
    }

    fn key(&self, key: &str, token: &Token) -> Result<SliceKey, GateError> {
        SliceKey::parse(key).ok_or_else(|| {
            let known = SliceKey::NAMES;
            let help = did_you_mean(key, known).unwrap_or_else(|| format!("known: {}", listed(&known)));
            self.error(token, format!("unknown key `{key}`"), help)
        })
    }

    fn measure(&self, token: &Token) -> Result<Measure, GateError> {
        if token.text == "lower(lift)" {
            let message = "`lift` is already the lower end of its interval".to_owned();
            return Err(self.error(token, message, "write `lift`".to_owned()));
        }
        let found = Measure::ALL.into_iter().find(|measure| measure.as_str() == token.text);
        found.ok_or_else(|| {
            let help = did_you_mean(&token.text, Measure::ALL.map(Measure::as_str)).unwrap_or_else(measures);
            self.error(token, format!("unknown measure `{}`", token.text), help)
        })
    }

    fn error(&self, token: &Token, message: String, help: String) -> GateError {
        GateError { gate: self.gate.to_owned(), before: token.before, length: token.length, message, help }
    }
}

fn measures() -> String {
    format!("known: {}", listed(&Measure::ALL.map(Measure::as_str)))
}

fn operators(measure: Measure) -> &'static str {
    if measure.is_share() { "use `>=` or `>`" } else { "use `<=` or `<`" }
}

/// Words are separated by blanks and operators; in quotation marks, both are part of a word.
fn tokens(gate: &str) -> Result<Vec<Token>, GateError> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut word: Option<Token> = None;
    let mut quote: Option<usize> = None;
    let mut characters = gate.chars().enumerate().peekable();
    while let Some((index, character)) = characters.next() {
        let is_quote = character == '"';
        if quote.is_none() && (character.is_whitespace() || matches!(character, '<' | '>' | '=')) {
            tokens.extend(word.take());
            if !character.is_whitespace() {
                let mut text = character.to_string();
                text.extend(characters.next_if(|(_, next)| *next == '=').map(|(_, next)| next));
                let length = text.len();
                tokens.push(Token { text, before: index, length });
            }
            continue;
        }
        let word = word.get_or_insert(Token { text: String::new(), before: index, length: 0 });
        word.length += 1;
        if is_quote {
            quote = if quote.is_some() { None } else { Some(index) };
        } else {
            word.text.push(character);
        }
    }
    tokens.extend(word);
    match quote {
        None => Ok(tokens),
        Some(before) => {
            let (message, help) = ("`\"` is not closed".to_owned(), String::new());
            Err(GateError { gate: gate.to_owned(), before, length: 1, message, help })
        }
    }
}
