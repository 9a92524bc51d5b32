//! The graders `contains`, `contains-any`, `contains-all`, their case-insensitive forms, `starts-with`, `ends-with` and `equals`.

use std::borrow::Cow;

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::{TextList, TextValue};

use crate::grade::assertion_text::{in_text, shorten};
use crate::model::score::Score;
use crate::platform::excerpt::trim;

/// Whether upper and lower case letters differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterCase {
    Matters,
    Ignored,
}

impl LetterCase {
    fn fold(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Matters => Cow::Borrowed(text),
            Self::Ignored => Cow::Owned(text.to_lowercase()),
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Matters => "",
            Self::Ignored => " (case-insensitive)",
        }
    }
}

pub(crate) fn contains(config: &TextValue, answer: &str) -> Score {
    text(config, answer, LetterCase::Matters)
}

pub(crate) fn icontains(config: &TextValue, answer: &str) -> Score {
    text(config, answer, LetterCase::Ignored)
}

fn text(config: &TextValue, answer: &str, case: LetterCase) -> Score {
    let TextValue { value } = config;
    let found = case.fold(answer).contains(case.fold(value).as_ref());
    let verb = if found { "contains" } else { "does not contain" };
    one(format!("Output {verb} \"{}\"{}", in_text(value), case.suffix()), found, value, answer)
}

pub(crate) fn contains_any(config: &TextList, answer: &str) -> Score {
    any_text(config, answer, LetterCase::Matters)
}

pub(crate) fn icontains_any(config: &TextList, answer: &str) -> Score {
    any_text(config, answer, LetterCase::Ignored)
}

fn any_text(config: &TextList, answer: &str, case: LetterCase) -> Score {
    let folded = case.fold(answer);
    let list = quoted(&config.value);
    match config.value.iter().find(|value| folded.contains(case.fold(value).as_ref())) {
        Some(value) => one(format!("Output contains \"{}\"{}", in_text(value), case.suffix()), true, value, answer),
        None => one(format!("Output does not contain any of: {list}{}", case.suffix()), false, &list, answer),
    }
}

pub(crate) fn contains_all(config: &TextList, answer: &str) -> Score {
    all_texts(config, answer, LetterCase::Matters)
}

pub(crate) fn icontains_all(config: &TextList, answer: &str) -> Score {
    all_texts(config, answer, LetterCase::Ignored)
}

fn all_texts(config: &TextList, answer: &str, case: LetterCase) -> Score {
    let folded = case.fold(answer);
    let missing: Vec<String> =
        config.value.iter().filter(|value| !folded.contains(case.fold(value).as_ref())).cloned().collect();
    let suffix = case.suffix();
    if missing.is_empty() {
        let text = format!("Output contains all {} expected strings{suffix}", config.value.len());
        return one(text, true, &quoted(&config.value), answer);
    }
    let missing = quoted(&missing);
    one(format!("Output missing{suffix}: {missing}"), false, &missing, answer)
}

pub(crate) fn starts_with(config: &TextValue, answer: &str) -> Score {
    let held = trim(answer).starts_with(trim(&config.value));
    let verb = if held { "starts" } else { "does not start" };
    one(format!("Output {verb} with \"{}\"", in_text(&config.value)), held, &config.value, answer)
}

pub(crate) fn ends_with(config: &TextValue, answer: &str) -> Score {
    let held = trim(answer).ends_with(trim(&config.value));
    let verb = if held { "ends" } else { "does not end" };
    one(format!("Output {verb} with \"{}\"", in_text(&config.value)), held, &config.value, answer)
}

pub(crate) fn equals(config: &TextValue, answer: &str) -> Score {
    let held = trim(answer) == trim(&config.value);
    let verb = if held { "equals" } else { "does not equal" };
    one(format!("Output {verb} \"{}\"", in_text(&config.value)), held, &config.value, answer)
}

fn one(text: String, held: bool, expected: &str, answer: &str) -> Score {
    let assertion = Assertion::new(text, held).with_expected(shorten(expected)).with_actual(shorten(answer));
    Score::from_assertions([assertion])
}

fn quoted(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("\"{}\"", in_text(value))).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::ScoreState;

    fn value(text: &str) -> TextValue {
        TextValue { value: text.into() }
    }

    fn list(texts: &[&str]) -> TextList {
        TextList { value: texts.iter().map(|text| (*text).to_owned()).collect() }
    }

    #[track_caller]
    fn check(score: Score, passed: bool, text: &str) {
        assert_eq!(score.state, ScoreState::Decided(f64::from(u8::from(passed))));
        assert_eq!((score.assertions[0].text.as_str(), score.assertions[0].passed), (text, passed));
    }

    #[test]
    fn case_matters_unless_it_is_ignored() {
        check(contains(&value("Paid"), "paid"), false, "Output does not contain \"Paid\"");
        let folded = icontains(&value("PAID"), "it is Paid");
        check(folded, true, "Output contains \"PAID\" (case-insensitive)");
    }

    #[test]
    fn lists_name_what_is_missing() {
        let any = list(&["a", "b"]);
        check(contains_any(&any, "xb"), true, "Output contains \"b\"");
        check(contains_any(&any, "x"), false, "Output does not contain any of: \"a\", \"b\"");
        check(contains_all(&any, "b"), false, "Output missing: \"a\"");
        check(icontains_all(&any, "AB"), true, "Output contains all 2 expected strings (case-insensitive)");
    }

    #[test]
    fn both_sides_are_trimmed_of_all_white_space() {
        check(equals(&value("42"), "\u{feff}\u{a0}42\u{2028}\n"), true, "Output equals \"42\"");
        check(starts_with(&value(" He"), "Hello"), true, "Output starts with \" He\"");
        check(ends_with(&value("lo"), "Hello\u{3000}"), true, "Output ends with \"lo\"");
        // A zero-width space is not a space separator.
        check(equals(&value("42"), "42\u{200b}"), false, "Output does not equal \"42\"");
    }
}
