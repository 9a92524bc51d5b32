//! The `similar` grader: edit similarity of the answer and a text (an extension, docs/grading-differences.md).
//!
//! The Levenshtein distance of two texts: the number of characters to insert, delete or replace.
//!
//! Hand-written: for two texts of 10,000 characters, without optimisation, strsim takes 15 s, rapidfuzz 0.22 s and this
//! file 0.13 s; rapidfuzz uses the same algorithm, and every user would compile it.

use std::collections::HashMap;

use evalsuite_records::record::Assertion;
use evalsuite_schema::decimal::{at_least, shown_from};
use evalsuite_schema::grader::Similar;

use crate::grade::assertion_text::{shorten, show};
use crate::grade::grader_record::pass_mark;
use crate::grade::text_graders::folded_letter;
use crate::grade::user_grader::GraderCall;
use crate::model::evidence::Evidence;
use crate::model::messages::reference_text;
use crate::model::score::Score;
use crate::platform::excerpt::trim;
use crate::record::trial_statistics::ratio;

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

/// Number of rows in one machine word.
const WORD: usize = 64;

/// The Levenshtein distance of two texts, exactly; `None` if they are too long to compute it.
///
/// The work grows with the product of their lengths, each without the beginning and the end both have in common; a
/// product above `limit` is refused. Memory grows with the sum of the lengths.
fn edit_distance(left: &[char], right: &[char], limit: u64) -> Option<usize> {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let head = short.iter().zip(long).take_while(|(short, long)| short == long).count();
    let (short, long) = (&short[head..], &long[head..]);
    let tail = short.iter().rev().zip(long.iter().rev()).take_while(|(short, long)| short == long).count();
    let (short, long) = (&short[..short.len() - tail], &long[..long.len() - tail]);
    if short.is_empty() {
        return Some(long.len());
    }
    if (short.len() as u64).checked_mul(long.len() as u64).is_none_or(|product| product > limit) {
        return None;
    }
    Some(bit_parallel(short, long))
}

/// Hyyrö's form of Myers' algorithm: the table of distances has a row per character of `rows` and a column per character
/// of `columns`; a word holds how 64 rows of a column differ from the rows above them. Rows are done in stripes of 64, so
/// that the only thing to keep is how the last row of the stripe above differs from column to column.
fn bit_parallel(rows: &[char], columns: &[char]) -> usize {
    let mut numbers = HashMap::new();
    for character in rows {
        let next = numbers.len() + 1;
        numbers.entry(*character).or_insert(next);
    }
    // 0: a character that no row has.
    let columns: Vec<usize> = columns.iter().map(|character| numbers.get(character).copied().unwrap_or(0)).collect();
    let mut rows_with = vec![0u64; numbers.len() + 1];
    // The row above the first counts the columns.
    let mut above: Vec<i8> = vec![1; columns.len()];
    for stripe in rows.chunks(WORD) {
        for (row, character) in stripe.iter().enumerate() {
            rows_with[numbers[character]] |= 1 << row;
        }
        let last = 1u64 << (stripe.len() - 1);
        // The column before the first counts the rows.
        let (mut up, mut down) = (u64::MAX, 0u64);
        for (column, step) in columns.iter().zip(&mut above) {
            let mut same = rows_with[*column];
            let vertical = same | down;
            same |= u64::from(*step < 0);
            let diagonal = ((same & up).wrapping_add(up) ^ up) | same;
            let mut right_up = down | !(diagonal | up);
            let mut right_down = up & diagonal;
            let below = i8::from(right_up & last != 0) - i8::from(right_down & last != 0);
            right_up = right_up << 1 | u64::from(*step > 0);
            right_down = right_down << 1 | u64::from(*step < 0);
            up = right_down | !(vertical | right_up);
            down = right_up & vertical;
            *step = below;
        }
        for character in stripe {
            rows_with[numbers[character]] = 0;
        }
    }
    let change: i64 = above.iter().map(|step| i64::from(*step)).sum();
    rows.len().saturating_add_signed(isize::try_from(change).unwrap_or(isize::MAX))
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{Passing, Probed};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        if let GraderConfig::Similar(config) = config { Some(config) } else { None }
    }

    impl Probed for Similar {
        fn advice(&self, grader: &Grader, passing: &Passing<'_>) -> Option<String> {
            match (self.max_distance, grader.min_score) {
                (Some(distance), _) => Some(format!(
                    "a `max_distance` of {distance} is too far for a text of this length: other texts are as close"
                )),
                (None, Some(mark)) => Some(format!("a similarity of {mark} is too low: other texts are as similar")),
                (None, None) => passing.by_listing(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Message, Role};
    use proptest::prelude::*;

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

    /// The definition, a table of two rows.
    fn by_definition(left: &[char], right: &[char]) -> usize {
        let mut above: Vec<usize> = (0..=right.len()).collect();
        for (row, a) in left.iter().enumerate() {
            let mut current = vec![row + 1];
            for (column, b) in right.iter().enumerate() {
                let replaced = above[column] + usize::from(a != b);
                current.push(replaced.min(above[column + 1] + 1).min(current[column] + 1));
            }
            above = current;
        }
        above[right.len()]
    }

    fn distance(left: &str, right: &str) -> Option<usize> {
        let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
        edit_distance(&left, &right, 1 << 20)
    }

    #[test]
    fn known_distances() {
        for (left, right, expected) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("Straße", "Strasse", 2), ("ab", "ba", 2)]
        {
            assert_eq!(distance(left, right), Some(expected), "{left} {right}");
        }
    }

    #[test]
    fn the_limit_counts_what_differs() {
        let same = "x".repeat(5000);
        assert_eq!(distance(&format!("{same}a{same}"), &format!("{same}b{same}")), Some(1));
        assert_eq!(distance(&"a".repeat(2000), &"b".repeat(2000)), None);
    }

    proptest! {
        #[test]
        fn the_distance_is_that_of_the_definition(left in "[ab\\PC]{0,150}", right in "[ab\\PC]{0,150}") {
            let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
            prop_assert_eq!(edit_distance(&left, &right, u64::MAX), Some(by_definition(&left, &right)));
        }

        #[test]
        fn and_also_where_texts_are_alike(left in "[abc]{0,300}", right in "[abc]{0,300}") {
            let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
            prop_assert_eq!(edit_distance(&left, &right, u64::MAX), Some(by_definition(&left, &right)));
        }
    }
}
