//! `similar`: the full matrix of edit distances.

use evalsuite_schema::json::json;
use proptest::option;
use proptest::prelude::*;

use crate::compared::{Expected, answered, compare, for_each, graded, grader};
use crate::decimal::{Decimal, mark, ratio, whole};
use crate::text::trimmed;

/// A text, the answer, and the settings.
#[derive(Debug, Clone)]
struct Input {
    value: String,
    answer: String,
    ignore_case: bool,
    max_distance: Option<u64>,
    min_score: Option<Decimal>,
}

fn inputs() -> impl Strategy<Value = Input> {
    let text = || "[abA\u{df}İ \u{feff}é\u{301}\n]{0,10}";
    let settings = (any::<bool>(), option::weighted(0.3, 0..6_u64), option::of(mark()));
    ("[abA\u{df}İ é]{1,10}", text(), any::<bool>(), settings).prop_map(
        |(value, other, is_copy, (ignore_case, max_distance, min_score))| {
            let answer = if is_copy { format!("{}{other}", value.replace('a', "")) } else { other };
            let min_score = if max_distance.is_some() { None } else { min_score };
            Input { value, answer, ignore_case, max_distance, min_score }
        },
    )
}

fn characters(text: &str, ignore_case: bool) -> Vec<char> {
    let text = trimmed(text);
    if ignore_case { text.into_iter().flat_map(char::to_lowercase).collect() } else { text }
}

/// The number of insertions, deletions and replacements, for all prefixes.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
    for row in 0..=left.len() {
        for column in 0..=right.len() {
            table[row][column] = if row == 0 || column == 0 {
                row + column
            } else {
                let replaced = table[row - 1][column - 1] + usize::from(left[row - 1] != right[column - 1]);
                replaced.min(table[row - 1][column] + 1).min(table[row][column - 1] + 1)
            };
        }
    }
    table[left.len()][right.len()]
}

#[test]
fn similarity_is_that_of_the_full_matrix() {
    for_each("similar", inputs(), |input| {
        let mut config = json!({"value": input.value, "ignore_case": input.ignore_case});
        if let Some(limit) = input.max_distance {
            config["max_distance"] = json!(limit);
        }
        let mut grader = grader(json!({"similar": config}));
        grader.min_score = input.min_score.map(Decimal::float);
        let wanted = characters(&input.value, input.ignore_case);
        let found = characters(&input.answer, input.ignore_case);
        let (edits, longest) = (distance(&wanted, &found), wanted.len().max(found.len()));
        let expected = match input.max_distance {
            Some(limit) => Expected::passed(edits as u64 <= limit),
            None => {
                let score = if longest == 0 { whole(1) } else { ratio(longest - edits, longest) };
                let mark = input.min_score.unwrap_or(Decimal { units: 8, places: 1 });
                let passes = score >= mark.exact();
                Expected::Decided(score, passes)
            }
        };
        compare(&graded(&grader, answered(&input.answer)), &expected)
    });
}
