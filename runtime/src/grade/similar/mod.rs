//! The `similar` grader: edit similarity of the answer and a text (an extension, docs/grading-differences.md).

mod edit_distance;

use evalsuite_records::record::Assertion;
use evalsuite_schema::decimal::{at_least, shown_from};
use evalsuite_schema::grader::Similar;

use self::edit_distance::edit_distance;
use crate::grade::assertion_text::shorten;
use crate::grade::grader_call::GraderCall;
use crate::grade::grader_record::pass_mark;
use crate::grade::letter_case::folded_letter;
use crate::grade::number_format::show;
use crate::model::evidence::Evidence;
use crate::model::messages::reference_text;
use crate::model::score::Score;
use crate::platform::excerpt::trim;
use crate::record::statistics::ratio;

/// Largest product of the two lengths, in characters: a second of work, a few seconds without optimisation.
const LIMIT: u64 = 10_000_000_000;

pub(crate) fn grade(config: &Similar, call: &GraderCall<'_>) -> Result<Score, String> {
    similarity(config, call.context.evidence, pass_mark(call.grader, None, call.context.threshold))
}

/// `mark`: lowest value of a passing verdict.
fn similarity(config: &Similar, evidence: &Evidence<'_>, mark: f64) -> Result<Score, String> {
    let reference = || reference_text(&evidence.facts().reference());
    let expected = config.value.clone().or_else(reference).ok_or("the case has no reference to compare with")?;
    let (wanted, answer) =
        (characters(&expected, config.ignore_case), characters(evidence.answer(), config.ignore_case));
    let longest = wanted.len().max(answer.len());
    let distance = edit_distance(&wanted, &answer, LIMIT).ok_or_else(|| {
        format!(
            "the answer ({} characters) and the text to compare with ({} characters) are too long to compute their \
             similarity",
            answer.len(),
            wanted.len()
        )
    })?;
    let assertion = |text: String, held: bool| {
        Assertion::new(text, held).with_expected(shorten(&expected)).with_actual(shorten(evidence.answer()))
    };
    if let Some(limit) = config.max_distance {
        let held = distance as u64 <= limit;
        let sign = if held { "<=" } else { ">" };
        return Ok(Score::from_assertions([assertion(format!("Edit distance {distance} {sign} {limit}"), held)]));
    }
    let value = if longest == 0 { 1.0 } else { 1.0 - ratio(distance, longest) };
    let held = at_least(value, mark);
    let sign = if held { ">=" } else { "<" };
    let shown = shown_from(4, value, mark);
    let mark = show(mark);
    let text = format!("Similarity {shown} {sign} {mark} ({distance} edits in {longest} characters)");
    Ok(Score::new(value).with_assertion(assertion(text, held)))
}

fn characters(text: &str, ignore_case: bool) -> Vec<char> {
    let text = trim(text);
    if ignore_case { text.chars().flat_map(folded_letter).collect() } else { text.chars().collect() }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Message, Role};

    use super::*;
    use crate::model::evidence::Facts;
    use crate::model::score::ScoreState;

    fn run(value: Option<&str>, ignore_case: bool, reference: Option<&str>, answer: &str) -> Score {
        let evidence = Evidence::new(Facts {
            answer: answer.into(),
            expected_output: reference.map(|text| Message::text(Role::Assistant, text)).into_iter().collect(),
            ..Facts::default()
        });
        similarity(&Similar { value: value.map(str::to_owned), ignore_case, max_distance: None }, &evidence, 0.8).into()
    }

    #[test]
    fn the_value_is_the_share_of_characters_that_stay() {
        let score = run(Some("refund of 19.90"), false, None, " refund of 19,90\n");
        assert_eq!(score.state, ScoreState::Decided(1.0 - 1.0 / 15.0));
        assert_eq!(score.assertions[0].text, "Similarity 0.9333 >= 0.8 (1 edits in 15 characters)");
        assert!(score.assertions[0].passed);
        assert_eq!(run(Some("abc"), false, None, "").state, ScoreState::Decided(0.0));
        assert_eq!(run(Some(" "), false, None, "\n").state, ScoreState::Decided(1.0));
        assert_eq!(run(Some("größe"), false, None, "große").state, ScoreState::Decided(0.8));
    }

    #[test]
    fn a_largest_distance_counts_characters() {
        let with = |max_distance| {
            let evidence = Evidence::new(Facts { answer: "Hello World".into(), ..Facts::default() });
            let value = Some("Hello Wurld!".to_owned());
            similarity(&Similar { value, ignore_case: false, max_distance: Some(max_distance) }, &evidence, 0.8)
                .unwrap()
        };
        assert_eq!(with(2).state, ScoreState::Decided(1.0));
        assert_eq!(with(1).state, ScoreState::Decided(0.0));
        assert_eq!(with(1).assertions[0].text, "Edit distance 2 > 1");
    }

    #[test]
    fn case_matters_unless_it_is_ignored() {
        assert_eq!(run(Some("AB"), false, None, "ab").state, ScoreState::Decided(0.0));
        assert_eq!(run(Some("ÄB"), true, None, "äb").state, ScoreState::Decided(1.0));
        assert_eq!(run(Some("ΟΔΟΣ STRAẞE"), true, None, "οδος Straße").state, ScoreState::Decided(1.0));
    }

    #[test]
    fn without_a_value_the_answer_is_compared_with_the_reference() {
        assert_eq!(run(None, false, Some("yes"), "yes").state, ScoreState::Decided(1.0));
        assert!(matches!(run(None, false, None, "yes").state, ScoreState::Error(_)));
    }

    #[test]
    fn a_long_answer_scores_low_and_texts_above_the_limit_are_an_error() {
        let long = "x".repeat(1 << 20);
        assert!(
            matches!(run(Some("a short answer"), false, None, &long).state, ScoreState::Decided(value) if value < 0.01)
        );
        assert!(matches!(run(Some(&"y".repeat(1 << 20)), false, None, &long).state, ScoreState::Error(_)));
    }
}
