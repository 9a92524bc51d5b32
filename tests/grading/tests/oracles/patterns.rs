//! `regex`: a matcher of trees that follows every way at once, and the crate `regex` for patterns without look-around.

use evalsuite_schema::json::json;
use proptest::prelude::*;
use regex::RegexBuilder;

use crate::compared::{Expected, answered, compare, for_each, graded, grader};
use crate::pattern_syntax::{Flags, Pattern, flags, patterns};

/// A pattern, its flags, and the answer.
type Input = (Pattern, Flags, String);

fn inputs(looks: bool) -> impl Strategy<Value = Input> {
    (patterns(looks), flags(), "[abA1_ \né.]{0,6}")
}

fn check((pattern, flags, answer): &Input, expected: bool) -> Result<(), String> {
    let text = pattern.text();
    let grader = grader(json!({"regex": {"value": text, "flags": flags.text()}}));
    compare(&graded(&grader, answered(answer)), &Expected::passed(expected))
        .map_err(|error| format!("/{text}/{} in {answer:?}: {error}", flags.text()))
}

#[test]
fn patterns_match_what_their_tree_matches() {
    for_each("regex", inputs(true), |input| {
        let (pattern, flags, answer) = input;
        // The build refuses what the syntax has no meaning for, such as a repeated look-around.
        if fancy_regex::Regex::new(&pattern.text()).is_err() {
            return Ok(());
        }
        check(input, pattern.is_in(answer, *flags))
    });
}

#[test]
fn patterns_without_look_around_match_as_in_another_engine() {
    for_each("regex, another engine", inputs(false), |input| {
        let (pattern, flags, answer) = input;
        let other = RegexBuilder::new(&pattern.text())
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .build();
        let Ok(other) = other else { return Err(format!("{} does not compile", pattern.text())) };
        let expected = other.is_match(answer);
        if expected != pattern.is_in(answer, *flags) {
            return Err(format!("the oracles differ: {} in {answer:?}", pattern.text()));
        }
        check(input, expected)
    });
}
