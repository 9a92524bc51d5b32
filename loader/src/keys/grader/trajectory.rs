//! `tool-trajectory` and `skill-trigger`.

use evalsuite_schema::grader::{ArgsMatch, TrajectoryMode};

use super::grader;
use crate::diagnostic::Code;
use crate::keys::range::NOT_NEGATIVE;
use crate::keys::{Key, Table, Type, words};

pub(crate) const MODES: &[(&str, TrajectoryMode); 5] = &[
    ("any_order", TrajectoryMode::AnyOrder),
    ("in_order", TrajectoryMode::InOrder),
    ("exact", TrajectoryMode::Exact),
    ("superset", TrajectoryMode::Superset),
    ("subset", TrajectoryMode::Subset),
];

pub(crate) const ARGS_MATCHES: &[(&str, ArgsMatch); 4] = &[
    ("exact", ArgsMatch::Exact),
    ("superset", ArgsMatch::Superset),
    ("subset", ArgsMatch::Subset),
    ("ignore", ArgsMatch::Ignore),
];

const ARGS_MATCH: Type = Type::OneOf(&[Type::Choice(&words(ARGS_MATCHES)), Type::Some(&Type::Text)]);

const ARGS_MATCH_DOC: &str = "How arguments are compared: `exact`, the call has every expected key (`superset`), every key of \
                              the call is expected (`subset`), not at all (`ignore`), or equal at the dotted paths of a list.";

pub(crate) static TOOL_TRAJECTORY: Table = grader(
    "tool-trajectory",
    "`tool-trajectory`", r#"{ type: tool-trajectory, mode: in_order, expected: [{ tool: find_order, args: { id: 1182 } }, { tool: refund }] }"#,
    "The agent called the expected tools. In names of tools `*` matches any characters and `?` one. A transcript without tool calls is judged only if the agent reports that it is complete.",
    &[
        Key::new(
            "mode",
            Type::Choice(&words(MODES)),
            "`any_order`: each tool of `minimums` was called often enough, and none of `maximums` too often. `in_order`: the expected calls occur in this order, \
             possibly with others in between. `exact`: these calls and no others, in this order. `superset`: every expected call \
             occurs. `subset`: every call is an expected one.",
            "in_order",
        )
        .required(),
        Key::new("minimums", Type::Map(&Type::Integer(0, u64::MAX)), "How often each tool has to be called, with `mode: any_order`, which needs `minimums` or `maximums`.", "{search: 1}")
            .codes(&[Code::MissingGraderSetting, Code::SettingConflict]),
        Key::new("maximums", Type::Map(&Type::Integer(0, u64::MAX)), "How often each tool may be called, with `mode: any_order`.", "{\"delete_*\": 0}")
            .codes(&[Code::MissingGraderSetting, Code::SettingConflict]),
        Key::new(
            "expected",
            Type::List(&Type::Object(&EXPECTED_CALL)),
            "The expected calls, with every other mode.",
            "[{tool: find_order, args: {id: 1182}}, {tool: refund}]",
        )
        .codes(&[Code::MissingGraderSetting, Code::SettingConflict]),
        Key::new("args_match", ARGS_MATCH, ARGS_MATCH_DOC, "superset")
            .old(&["argsMatch"])
            .default("`exact`")
            .codes(&[Code::InvalidChoice, Code::MissingGraderSetting]),
    ],
);

pub(crate) static EXPECTED_CALL: Table = Table::new(
    "expected-call",
    "an expected call",
    "One expected call of a tool.",
    &[
        Key::new("tool", Type::Text, "Name of the tool, or a pattern with `*` and `?`.", "refund")
            .required()
            .codes(&[Code::MissingGraderSetting]),
        Key::new(
            "args",
            Type::OneOf(&[Type::Choice(&["any"]), Type::Data]),
            "Expected arguments, or `any`.",
            "{id: 1182}",
        )
        .default("not compared"),
        Key::new("args_match", ARGS_MATCH, ARGS_MATCH_DOC, "[id]")
            .old(&["argsMatch"])
            .default("as set for the grader")
            .codes(&[Code::InvalidChoice, Code::MissingGraderSetting, Code::SettingConflict]),
        Key::new(
            "ignore_args",
            Type::Some(&Type::Text),
            "Names of arguments, or patterns with `*` and `?`, that are not compared.",
            "[request_id]",
        )
        .codes(&[Code::SettingConflict, Code::MissingGraderSetting]),
        Key::new(
            "max_duration_ms",
            Type::Number(&NOT_NEGATIVE),
            "Longest duration of the call, with `in_order` or `exact`.",
            "500",
        )
        .old(&["maxDurationMs"])
        .unit("milliseconds")
        .codes(&[Code::SettingConflict]),
        Key::new("input", Type::Any, "The arguments, as another tool writes them.", "{id: 1182}")
            .no_effect("write `args`"),
        Key::new("output", Type::Any, "The result of the call, as another tool writes it.", "found")
            .no_effect("delete it: results of calls are not compared"),
    ],
);

pub(crate) static SKILL_TRIGGER: Table = grader(
    "skill-trigger",
    "`skill-trigger`",
    r#"{ type: skill-trigger, skill: refunds, should_trigger: false }"#,
    "The agent used a skill, or left it alone.",
    &[
        Key::new("should_trigger", Type::Boolean, "Whether the skill should be used.", "false").default("`true`"),
        Key::new("skill", Type::Text, "Name of the skill.", "refunds").required(),
    ],
);
