//! `tool-trajectory` and `skill-trigger`.

use evalsuite_schema::grader::{Args, ArgsMatch, GraderConfig, SkillTrigger, TrajectoryMode};

use super::{check, config};

#[test]
fn minimums_keep_their_order() {
    let GraderConfig::ToolTrajectory(trajectory) =
        config("{type: tool-trajectory, mode: any_order, minimums: {search: 2, read: 0}}")
    else {
        panic!("another type")
    };
    assert_eq!(trajectory.mode, TrajectoryMode::AnyOrder);
    assert_eq!(trajectory.minimums, [("search".to_owned(), 2), ("read".to_owned(), 0)]);
}

#[test]
fn maximums_stand_alone_or_beside_minimums() {
    let entry = "{type: tool-trajectory, mode: any_order, maximums: {'delete_*': 0}}";
    let GraderConfig::ToolTrajectory(trajectory) = config(entry) else { panic!("another type") };
    assert_eq!((trajectory.minimums.len(), &*trajectory.maximums), (0, &[("delete_*".to_owned(), 0)][..]));
    check(&[
        (
            "{type: tool-trajectory, mode: any_order, minimums: {a: 2}, maximums: {a: 1}}",
            &["1:76 E028 the maximum of `a` is 1, and its minimum is 2"],
        ),
        ("{type: tool-trajectory, mode: any_order, maximums: {}}", &["1:54 E052 `maximums` is empty"]),
        (
            "{type: tool-trajectory, mode: any_order, maximums: [a]}",
            &["1:54 E020 `maximums` must be a mapping of tools to numbers, found a list"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [], maximums: {a: 1}}",
            &["1:54 E028 `maximums` has no meaning with `mode: exact`"],
        ),
    ]);
}

#[test]
fn an_expected_call_says_what_its_arguments_are() {
    let entry = "{type: tool-trajectory, mode: in_order, args_match: [id], expected: [
        {tool: a, args: any}, {tool: b, args: {x: {y: 1}}, args_match: ['x.y'], max_duration_ms: 5},
        {tool: c, args: {id: 1}, ignore_args: ['request_*']}]}";
    let GraderConfig::ToolTrajectory(trajectory) = config(entry) else { panic!("another type") };
    assert_eq!(trajectory.args_match, ArgsMatch::Paths(vec!["id".into()]));
    assert_eq!(trajectory.expected[0].args, Some(Args::Any));
    assert_eq!(trajectory.expected[1].args_match, Some(ArgsMatch::Paths(vec!["x.y".into()])));
    assert_eq!(trajectory.expected[1].max_duration_ms, Some(5.0));
    assert_eq!(trajectory.expected[2].args_match, None);
    assert_eq!(trajectory.expected[2].ignore_args, ["request_*"]);
}

#[test]
fn a_mode_needs_its_own_list() {
    check(&[
        ("{type: tool-trajectory, expected: []}", &["1:3 E052 missing key `mode` in `tool-trajectory`"]),
        (
            "{type: tool-trajectory, mode: in-order, expected: []}",
            &[
                "1:33 E023 `mode` is `in-order`, which is not one of `any_order`, `in_order`, `exact`, `superset` and `subset`",
            ],
        ),
        ("{type: tool-trajectory, mode: any_order}", &["1:3 E052 missing key `minimums` in `tool-trajectory`"]),
        ("{type: tool-trajectory, mode: any_order, minimums: {}}", &["1:54 E052 `minimums` is empty"]),
        (
            "{type: tool-trajectory, mode: any_order, minimums: {a: 1}, expected: []}",
            &["1:62 E028 `expected` has no meaning with `mode: any_order`"],
        ),
        (
            "{type: tool-trajectory, mode: exact, minimums: {a: 1}}",
            &["1:40 E028 `minimums` has no meaning with `mode: exact`"],
        ),
        ("{type: tool-trajectory, mode: in_order, expected: []}", &["1:53 E052 `expected` is empty"]),
        (
            "{type: tool-trajectory, mode: any_order, minimums: {a: 1.5}}",
            &["1:58 E020 the minimum of `a` must be a whole number, found 1.5"],
        ),
    ]);
    assert!(matches!(config("{type: tool-trajectory, mode: subset, expected: []}"), GraderConfig::ToolTrajectory(_)));
}

#[test]
fn bad_calls_are_errors() {
    check(&[
        (
            "{type: tool-trajectory, mode: exact, expected: [{args: {}}]}",
            &["1:51 E052 missing key `tool` in an expected call"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, args: [1]}]}",
            &["1:67 E020 `args` must be a mapping or `any`, found a list"],
        ),
        (
            "{type: tool-trajectory, mode: subset, expected: [{tool: a, max_duration_ms: 1}]}",
            &["1:62 E028 `max_duration_ms` has no meaning with `mode: subset`"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, args: {x: 1}, args_match: [x, y]}]}",
            &["1:91 E028 `args` of this call have no `y`"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, args_match: []}]}",
            &["1:73 E052 `args_match` is an empty list"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, argsMatch: partial}]}",
            &[
                "1:61 W001 `argsMatch` is now `args_match`",
                "1:72 E023 `argsMatch` is `partial`, which is not one of `exact`, `superset`, `subset` and `ignore`",
            ],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, ignore_args: [x]}]}",
            &["1:61 E028 `ignore_args` has no meaning without `args`"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, args: {x: 1}, ignore_args: []}]}",
            &["1:88 E052 `ignore_args` is an empty list"],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, arg: 1}]}",
            &["1:61 E019 unknown key `arg` in an expected call"],
        ),
    ]);
}

#[test]
fn every_path_and_every_argument_is_compared() {
    let paths = "{type: tool-trajectory, mode: exact, args_match: [id], expected: ";
    let shared = |calls: &str| format!("{paths}{calls}}}");
    check(&[
        (
            &shared("[{tool: a, args: {x: 1}}]"),
            &[
                "1:53 E028 no call in `expected` has `args` with `id` that are compared",
                "1:69 E028 `args` of this call are not compared: none of the paths of `args_match` is in them",
            ],
        ),
        (
            &shared("[{tool: a, args: {id: 1}}, {tool: b, args: {x: 1}}]"),
            &["1:95 E028 `args` of this call are not compared: none of the paths of `args_match` is in them"],
        ),
        (
            &shared("[{tool: a, args: {id: 1, x: 2}, ignore_args: ['i*']}]"),
            &[
                "1:53 E028 no call in `expected` has `args` with `id` that are compared",
                "1:69 E028 `args` of this call are not compared: none of the paths of `args_match` is in them",
            ],
        ),
        (
            "{type: tool-trajectory, mode: exact, expected: [{tool: a, args: {x: 1}, args_match: [x], ignore_args: [x]}]}",
            &["1:88 E028 `ignore_args` names `x`"],
        ),
    ]);
    config(&shared(
        "[{tool: a, args: {id: 1}}, {tool: b}, {tool: c, args: any}, {tool: d, args: {x: 1}, args_match: exact}]",
    ));
}

#[test]
fn a_skill_is_expected_to_be_used() {
    assert_eq!(
        config("{type: skill-trigger, skill: csv}"),
        GraderConfig::SkillTrigger(SkillTrigger { skill: "csv".into(), should_trigger: true })
    );
    check(&[
        ("{type: skill-trigger, should_trigger: false}", &["1:3 E052 missing key `skill` in `skill-trigger`"]),
        ("{type: skill-trigger, skill: ''}", &["1:32 E022 `skill` is blank"]),
    ]);
}
