//! The `is-json` grader: the whole answer is one JSON value.

use evalsuite_records::record::Assertion;
use serde::de::IgnoredAny;

use crate::grade::assertion_text::shorten;
use crate::model::score::Score;

pub(crate) fn grade(answer: &str) -> Score {
    Score::from_assertions([match serde_json::from_str::<IgnoredAny>(answer) {
        Ok(_) => Assertion::new("Output is valid JSON", true),
        Err(error) => Assertion::new("Output is not valid JSON", false)
            .with_expected("one JSON value")
            .with_actual(shorten(answer))
            .with_evidence(error.to_string()),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::ScoreState;

    #[test]
    fn the_whole_answer_is_one_value() {
        for json in ["{}", " [1, 2]\n", "\"x\"", "null", "-1e3"] {
            assert_eq!(grade(json).state, ScoreState::Decided(1.0), "{json}");
        }
        for other in ["", "{} {}", "\u{feff}{}", "```json\n{}\n```", "{'a': 1}", "[1,]", "NaN"] {
            assert_eq!(grade(other).state, ScoreState::Decided(0.0), "{other}");
        }
    }
}
