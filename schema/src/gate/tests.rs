//! The grammar of gates.

use super::{Gate, Measure, Operator, SliceKey};

fn parsed(text: &str) -> Gate {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    text.parse::<Gate>().expect_err(text).to_string()
}

#[test]
fn a_gate_has_cases_a_measure_a_limit_and_groups() {
    let gate = parsed("suite:shop metadata.language:\"pt br\" lower(pass_rate)>=85% per bucket");
    let expected = [(SliceKey::Suite, "shop".to_owned()), (SliceKey::Metadata("language".into()), "pt br".to_owned())];
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
fn a_lift_is_a_difference_between_targets() {
    for (text, measure, limit) in [
        ("lift > 0", Measure::Lift, 0.0),
        ("target:old_skill lift >= -5%", Measure::Lift, -0.05),
        ("lift(score) > 0.1 per bucket", Measure::ScoreLift, 0.1),
    ] {
        let gate = parsed(text);
        assert_eq!((gate.measure, gate.limit), (measure, limit), "{text}");
        assert_eq!(parsed(&gate.to_string()), gate);
    }
    for (text, message) in [
        ("lift > 0 per target", "`lift` compares targets"),
        ("target:with_skill lift > 0", "`lift` compares `with_skill` with another target"),
        ("target:a target:b lift > 0", "`lift` compares with one target"),
        ("lift < 0", "`lift` cannot have `<`"),
        ("lift > -2", "`-2` is not a valid limit of `lift`"),
        ("lift > floor", "`lift` cannot have `floor`"),
        ("score > -0.1", "`-0.1` is not a valid limit of `score`"),
        ("lower(lift) > 0", "`lift` is already the lower end of its interval"),
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
            "expected a measure\n  | suite:shop\n  |           ^\n  = help: known: `pass_rate`, `lower(pass_rate)`, `score`, `cost`, `time`, `p50(time)`, `p95(time)`, `lift` and `lift(score)`",
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
