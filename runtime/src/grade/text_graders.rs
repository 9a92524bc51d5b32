//! The graders `contains`, `contains-any`, `contains-all`, their case-insensitive forms, `starts-with`, `ends-with` and `equals`, and texts
//! without upper and lower case.

use std::borrow::Cow;

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::{TextList, TextValue};

use crate::grade::assertion_text::{in_text, shorten};
use crate::model::score::Score;
use crate::platform::excerpt::trim;

/// Selects the form of a grader that ignores case.
pub(crate) const IGNORE_CASE: bool = true;
/// Selects the form of a grader for which upper and lower case letters differ.
pub(crate) const MATCH_CASE: bool = false;

fn fold<const IGNORES_CASE: bool>(text: &str) -> Cow<'_, str> {
    if IGNORES_CASE { Cow::Owned(folded(text)) } else { Cow::Borrowed(text) }
}

/// Whether a text contains a value, or is the value but for white space around both: what `equals` passes, `contains` passes, too. Both are
/// folded.
fn is_in(text: &str, value: &str) -> bool {
    text.contains(value) || trim(text) == trim(value) && !trim(value).is_empty()
}

fn suffix<const IGNORES_CASE: bool>() -> &'static str {
    if IGNORES_CASE { " (case-insensitive)" } else { "" }
}

pub(crate) fn contains<const IGNORES_CASE: bool>(TextValue { value }: &TextValue, answer: &str) -> Score {
    let found = is_in(&fold::<IGNORES_CASE>(answer), &fold::<IGNORES_CASE>(value));
    let verb = if found { "contains" } else { "does not contain" };
    one(format!("Output {verb} \"{}\"{}", in_text(value), suffix::<IGNORES_CASE>()), found, value, answer)
}

pub(crate) fn contains_any<const IGNORES_CASE: bool>(config: &TextList, answer: &str) -> Score {
    let (folded, suffix) = (fold::<IGNORES_CASE>(answer), suffix::<IGNORES_CASE>());
    let list = quoted(&config.value);
    match config.value.iter().find(|value| is_in(&folded, &fold::<IGNORES_CASE>(value))) {
        Some(value) => one(format!("Output contains \"{}\"{suffix}", in_text(value)), true, value, answer),
        None => one(format!("Output does not contain any of: {list}{suffix}"), false, &list, answer),
    }
}

pub(crate) fn contains_all<const IGNORES_CASE: bool>(config: &TextList, answer: &str) -> Score {
    let (folded, suffix) = (fold::<IGNORES_CASE>(answer), suffix::<IGNORES_CASE>());
    let is_missing = |value: &&String| !is_in(&folded, &fold::<IGNORES_CASE>(value));
    let missing: Vec<String> = config.value.iter().filter(is_missing).cloned().collect();
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

/// The text with each letter folded, whatever its neighbours are: what a text contains, its folded form contains folded. Letters are the
/// same if they have the same upper or lower case letter: `Σ`, `σ` and `ς`, `ß` and `ẞ`, `s` and `ſ`, `K` and the sign of Kelvin. `ß` is not
/// `ss`, and the dotless `ı` is not `i`.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(folded_letter).collect()
}

/// The folded form of one letter.
pub(crate) fn folded_letter(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().map(|lower| if lower.is_ascii() || lower == 'ı' { lower } else { common_form(lower) })
}

/// The lower case of the upper case of a letter, if both are one letter.
fn common_form(letter: char) -> char {
    let (mut upper, mut lower) = (letter.to_uppercase(), [None, None]);
    if let (Some(only), None) = (upper.next(), upper.next()) {
        let mut forms = only.to_lowercase();
        lower = [forms.next(), forms.next()];
    }
    if let [Some(common), None] = lower { common } else { letter }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        check(contains::<MATCH_CASE>(&value("Paid"), "paid"), false, "Output does not contain \"Paid\"");
        let folded = contains::<IGNORE_CASE>(&value("PAID"), "it is Paid");
        check(folded, true, "Output contains \"PAID\" (case-insensitive)");
    }

    #[test]
    fn lists_name_what_is_missing() {
        let any = list(&["a", "b"]);
        check(contains_any::<MATCH_CASE>(&any, "xb"), true, "Output contains \"b\"");
        check(contains_any::<MATCH_CASE>(&any, "x"), false, "Output does not contain any of: \"a\", \"b\"");
        check(contains_all::<MATCH_CASE>(&any, "b"), false, "Output missing: \"a\"");
        check(
            contains_all::<IGNORE_CASE>(&any, "AB"),
            true,
            "Output contains all 2 expected strings (case-insensitive)",
        );
    }

    #[test]
    fn an_answer_that_is_the_value_contains_it() {
        check(contains::<MATCH_CASE>(&value(" paid\n"), "paid"), true, "Output contains \" paid\n\"");
        check(contains::<IGNORE_CASE>(&value("PAID "), "\tpaid"), true, "Output contains \"PAID \" (case-insensitive)");
        check(contains::<MATCH_CASE>(&value(" no "), "know"), false, "Output does not contain \" no \"");
        check(contains::<MATCH_CASE>(&value(" "), ""), false, "Output does not contain \" \"");
        check(contains_all::<MATCH_CASE>(&list(&["a ", "a"]), "a"), true, "Output contains all 2 expected strings");
    }

    /// Texts in which white space and letters with several lower case forms meet.
    const TEXT: &str = "[Σσςßẞ\u{212a}KkİIıi \t\n\u{a0}\u{feff}a-]{0,8}";

    fn passes(score: Score) -> bool {
        score.state == ScoreState::Decided(1.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn what_passes_a_strict_grader_passes_those_that_ask_for_less(text in TEXT, before in TEXT, after in TEXT, other in TEXT) {
            for (value, answer) in [(&text, format!("{before}{text}{after}")), (&text, other.clone()), (&other, text.clone())] {
                let (one, all) = (TextValue { value: value.clone() }, TextList { value: vec![value.clone()] });
                let exact = contains::<MATCH_CASE>(&one, &answer);
                prop_assert_eq!(passes(contains_any::<MATCH_CASE>(&all, &answer)), passes(exact.clone()));
                prop_assert_eq!(passes(contains_all::<MATCH_CASE>(&all, &answer)), passes(exact.clone()));
                // A blank value of `equals` is an error of the suite.
                let equal = passes(equals(&one, &answer)) && !trim(value).is_empty();
                prop_assert!(!equal || passes(exact.clone()));
                prop_assert!(!equal || passes(starts_with(&one, &answer)) && passes(ends_with(&one, &answer)));
                prop_assert!(!passes(exact) || passes(contains::<IGNORE_CASE>(&one, &answer)));
            }
            let same = TextValue { value: text.to_lowercase() };
            prop_assert!(text.is_empty() || passes(contains::<IGNORE_CASE>(&same, &text)));
        }
    }

    #[test]
    fn both_sides_are_trimmed_of_all_white_space() {
        check(equals(&value("42"), "\u{feff}\u{a0}42\u{2028}\n"), true, "Output equals \"42\"");
        check(starts_with(&value(" He"), "Hello"), true, "Output starts with \" He\"");
        check(ends_with(&value("lo"), "Hello\u{3000}"), true, "Output ends with \"lo\"");
        // A zero-width space is not a space separator.
        check(equals(&value("42"), "42\u{200b}"), false, "Output does not equal \"42\"");
    }

    #[test]
    fn letters_of_one_upper_case_form_are_the_same() {
        for group in [
            &["ΟΔΟΣ", "οδος", "οδοσ", "Οδος"][..],
            &["straße", "Straße", "STRAẞE"],
            &["K", "k", "\u{212a}"],
            &["S", "s", "ſ"],
            &["Å", "å", "\u{212b}"],
            &["İ", "i\u{307}"],
            &["ǆ", "ǅ", "Ǆ"],
            &["µ", "Μ", "μ"],
        ] {
            let forms: Vec<String> = group.iter().map(|text| folded(text)).collect();
            assert!(forms.iter().all(|form| *form == forms[0]), "{group:?}: {forms:?}");
        }
        for (one, other) in [("ı", "i"), ("é", "e"), ("ß", "ss"), ("ﬁ", "fi"), ("İ", "i")] {
            assert_ne!(folded(one), folded(other));
        }
    }

    #[test]
    fn every_letter_folds_to_letters_that_stay() {
        for letter in '\0'..=char::MAX {
            let once: String = folded_letter(letter).collect();
            assert_eq!(folded(&once), once, "{letter:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_of_one_lower_case_are_the_same_and_joining_does_not_matter(left in "[ΣσςaİıßẞK\u{212a} \\PC]{0,12}", right in "[Σσςa ]{0,6}") {
            prop_assert_eq!(folded(&left.to_lowercase()), folded(&left));
            prop_assert_eq!(folded(&format!("{left}{right}")), folded(&left) + &folded(&right));
        }
    }
}
