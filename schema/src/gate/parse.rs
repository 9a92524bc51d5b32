//! The grammar of gates.

use std::fmt;
use std::str::FromStr;

use super::{Gate, Measure, Operator, SliceKey};
use evalsuite_diagnostics::suggest::{did_you_mean, listed};

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
                Some(self.key(&token.text, &token)?)
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
            _ if measure.is_share() => "a number from 0 to 1, or a percentage such as `90%`",
            _ if measure.is_time() => "a number of seconds, or one with a unit, such as `500ms`, `60s`, `5min`, `1h`",
            _ => "US dollars, such as `2.50` or `$2.50`",
        };
        let value = number.parse::<f64>().ok().map(|number| number * factor);
        let is_valid = |value: &f64| value.is_finite() && *value >= 0.0 && (!measure.is_share() || *value <= 1.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Gate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(text: &str) -> String {
        text.parse::<Gate>().expect_err(text).to_string()
    }

    #[test]
    fn a_gate_has_cases_a_measure_a_limit_and_groups() {
        let gate = parsed("suite:shop metadata.language:\"pt br\" lower(pass_rate)>=85% per bucket");
        let expected =
            [(SliceKey::Suite, "shop".to_owned()), (SliceKey::Metadata("language".into()), "pt br".to_owned())];
        assert_eq!(gate.selected, expected);
        assert_eq!((gate.measure, gate.operator, gate.limit), (Measure::LowerPassRate, Operator::AtLeast, 0.85));
        assert_eq!(gate.per, Some(SliceKey::Bucket));
    }

    #[test]
    fn a_gate_of_a_suite_is_about_its_cases_only() {
        let gate = parsed("score > 0.8 per bucket").of_suite("Card agent");
        assert_eq!(gate.to_string(), "suite:\"Card agent\" score > 0.8 per bucket");
        assert_eq!(parsed(&gate.to_string()), gate);
        assert_eq!(parsed("score > 0.8").of_suite("shop").to_string(), "suite:shop score > 0.8");
    }

    #[test]
    fn limits_have_the_units_of_their_measures() {
        let limits = [
            ("score > 0.8", 0.8),
            ("cost <= $2.50", 2.5),
            ("cost < 3", 3.0),
            ("time <= 5min", 300.0),
            ("p95(time) <= 500ms", 0.5),
            ("p50(time) <= 60s", 60.0),
            ("time <= 1h", 3600.0),
            ("time <= 90", 90.0),
        ];
        for (text, limit) in limits {
            assert_eq!(parsed(text).limit, limit, "{text}");
        }
    }

    #[test]
    fn a_pass_rate_can_be_compared_with_the_floor() {
        for (text, limit) in [
            ("pass_rate >= floor + 20%", 0.2),
            ("pass_rate>=floor+20%", 0.2),
            ("lower(pass_rate) > floor", 0.0),
            ("pass_rate >= floor +0.1 per bucket", 0.1),
        ] {
            let gate = parsed(text);
            assert_eq!((gate.limit, gate.is_above_floor), (limit, true), "{text}");
            assert_eq!(parsed(&gate.to_string()), gate);
        }
        assert!(!parsed("pass_rate >= 0.2").is_above_floor);
        for (text, message) in [
            ("score >= floor", "`score` cannot have `floor`, which is a pass rate"),
            ("pass_rate >= floor +", "expected a number"),
            ("pass_rate >= floor + 120%", "`120%` is not a valid limit"),
            ("pass_rate >= floors", "unexpected `floors`"),
        ] {
            assert!(error(text).starts_with(message), "{text}: {}", error(text));
        }
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        let expected = [
            (
                "suite:shop pas_rate >= 0.9",
                "unknown measure `pas_rate`\n  | suite:shop pas_rate >= 0.9\n  |            ^^^^^^^^\n  = help: did you mean `pass_rate`?",
            ),
            (
                "pass_rate <= 0.9",
                "`pass_rate` cannot have `<=`\n  | pass_rate <= 0.9\n  |           ^^\n  = help: use `>=` or `>`",
            ),
            ("cost >= 2", "`cost` cannot have `>=`\n  | cost >= 2\n  |      ^^\n  = help: use `<=` or `<`"),
            (
                "pass_rate >= 90",
                "`90` is not a valid limit of `pass_rate`\n  | pass_rate >= 90\n  |              ^^\n  = help: a number from 0 to 1, or a percentage such as `90%`",
            ),
            (
                "bukket:x score > 0",
                "unknown key `bukket`\n  | bukket:x score > 0\n  | ^^^^^^^^\n  = help: did you mean `bucket`?",
            ),
            (
                "suite:shop",
                "expected a measure\n  | suite:shop\n  |           ^\n  = help: known: `pass_rate`, `lower(pass_rate)`, `score`, `cost`, `time`, `p50(time)` and `p95(time)`",
            ),
            ("score", "expected an operator\n  | score\n  |      ^\n  = help: use `>=` or `>`"),
            ("score >=", "expected a number\n  | score >=\n  |         ^\n  = help: such as `0.9`"),
            (
                "score >= 0.9 by bucket",
                "unexpected `by`\n  | score >= 0.9 by bucket\n  |              ^^\n  = help: after the number, only `per KEY` can follow",
            ),
            ("suite: score >= 0.9", "`suite:` has no value\n  | suite: score >= 0.9\n  | ^^^^^^"),
            ("suite:\"a score >= 1", "`\"` is not closed\n  | suite:\"a score >= 1\n  |       ^"),
        ];
        for (text, message) in expected {
            assert_eq!(error(text), message, "{text}");
        }
        assert_eq!("é:x".parse::<Gate>().unwrap_err().column(), 1);
        assert_eq!("suite:ü x".parse::<Gate>().unwrap_err().column(), 9);
    }
}
