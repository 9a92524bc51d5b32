//! The texts that the graders of a case look for, and those of its reference.

use evalsuite_schema::{Grader, GraderConfig, Message, Object, Value};

use crate::model::messages::reference_text;
use crate::run::probe::pattern_sample::{forbidden_texts, matching_text};

/// Most texts of one grader in Rust.
const MOST_OF_CONFIG: usize = 32;

/// Texts in the order of the answer that lists them: what it has to start with, the others, what it has to end with.
#[derive(Debug, Default)]
pub(super) struct ExpectedTexts {
    starts: Vec<String>,
    middle: Vec<String>,
    ends: Vec<String>,
}

impl ExpectedTexts {
    pub(super) fn of<'g>(graders: impl IntoIterator<Item = &'g Grader>, reference: Option<&str>) -> Self {
        let mut texts = Self::default();
        for grader in graders.into_iter().flat_map(Grader::with_members) {
            match &grader.config {
                GraderConfig::StartsWith(config) => texts.starts.push(config.value.clone()),
                GraderConfig::EndsWith(config) => texts.ends.push(config.value.clone()),
                _ => texts.middle.extend(of_grader(grader)),
            }
        }
        texts.middle.extend(reference.map(str::to_owned));
        texts
    }

    /// Every text once, each followed by its opposite.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut add = |line: String| {
            if !line.trim().is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        };
        self.starts.iter().for_each(|text| add(text.clone()));
        for text in self.starts.iter().chain(&self.middle).chain(&self.ends) {
            add(text.clone());
            add(opposite(text));
        }
        // Once more, since the answer has to end with it.
        lines.extend(self.ends.iter().cloned());
        lines
    }
}

/// The texts that a grader itself looks for, or forbids.
pub(super) fn of_grader(grader: &Grader) -> Vec<String> {
    match &grader.config {
        GraderConfig::Contains(config)
        | GraderConfig::Icontains(config)
        | GraderConfig::StartsWith(config)
        | GraderConfig::EndsWith(config)
        | GraderConfig::Equals(config) => vec![config.value.clone()],
        GraderConfig::ContainsAny(config)
        | GraderConfig::ContainsAll(config)
        | GraderConfig::IcontainsAny(config)
        | GraderConfig::IcontainsAll(config) => config.value.clone(),
        GraderConfig::Regex(config) => matching_text(config).into_iter().chain(forbidden_texts(config)).collect(),
        GraderConfig::Similar(config) => config.value.iter().cloned().collect(),
        GraderConfig::Rubrics(config) => config.criteria.iter().filter_map(|one| one.outcome.clone()).collect(),
        GraderConfig::LlmGrader(config) => config.rubrics.iter().filter_map(|one| one.outcome.clone()).collect(),
        GraderConfig::User { config, .. } => leaves(config).take(MOST_OF_CONFIG).collect(),
        _ => Vec::new(),
    }
}

/// The text of a reference.
pub(super) fn of_reference(expected_output: &[Message]) -> Option<String> {
    reference_text(expected_output).filter(|text| !text.trim().is_empty())
}

/// Texts and numbers in an object, such as the settings of a grader.
pub(super) fn leaves(config: &Object) -> impl Iterator<Item = String> {
    let mut waiting: Vec<&Value> = config.values().rev().collect();
    std::iter::from_fn(move || {
        loop {
            match waiting.pop()? {
                Value::String(text) => return Some(text.clone()),
                Value::Number(number) => return Some(number.to_string()),
                Value::Array(items) => waiting.extend(items.iter().rev()),
                Value::Object(object) => waiting.extend(object.values().rev()),
                Value::Null | Value::Bool(_) => {}
            }
        }
    })
}

/// Words with an opposite of their own.
const OPPOSITES: &[(&str, &str)] = &[
    ("yes", "no"),
    ("true", "false"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("positive", "negative"),
    ("approved", "rejected"),
    ("accept", "reject"),
    ("valid", "invalid"),
    ("success", "failure"),
];

fn opposite(text: &str) -> String {
    let folded = text.to_lowercase();
    let of_word = OPPOSITES.iter().find_map(|(one, other)| match folded.as_str() {
        word if word == *one => Some(*other),
        word if word == *other => Some(*one),
        _ => None,
    });
    of_word.map_or_else(|| format!("not {text}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Location;
    use evalsuite_schema::grader::TextValue;
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn the_lines_start_and_end_as_graders_expect() {
        let grader = |config| Grader::new("g", Location::new("f", 1, 1), config);
        let text = |value: &str| TextValue { value: value.to_owned() };
        let graders = [
            grader(GraderConfig::EndsWith(text("Your shop"))),
            grader(GraderConfig::StartsWith(text("Dear"))),
            grader(GraderConfig::Contains(text("yes"))),
        ];
        let lines = ExpectedTexts::of(&graders, Some("19.90")).lines();
        assert_eq!(
            lines,
            ["Dear", "not Dear", "yes", "no", "19.90", "not 19.90", "Your shop", "not Your shop", "Your shop"]
        );
    }

    #[test]
    fn the_settings_of_a_grader_in_rust_have_texts() {
        let Value::Object(config) = json!({ "substrings": ["14:30", { "room": 3 }], "strict": true }) else {
            panic!("an object")
        };
        let user = GraderConfig::User { grader: "must_contain".into(), config };
        let texts = of_grader(&Grader::new("g", Location::new("f", 1, 1), user));
        assert_eq!(texts, ["14:30", "3"]);
    }
}
