//! `composite` and its aggregators.

use super::{ASSERTIONS, OLD_ASSERTIONS, grader};
use crate::diagnostic::Code;
use crate::keys::range::{FRACTION, NOT_NEGATIVE};
use crate::keys::{Key, Table, Type};

pub(crate) static COMPOSITE: Table = grader(
    "composite",
    "`composite`",
    r#"{ type: composite, aggregator: { type: threshold, threshold: 0.5 }, assertions: [{ type: is-json }, { type: contains, value: paid }] }"#,
    "Several graders in one, at most 4 levels deep.",
    &[
        Key::new(
            "assertions",
            ASSERTIONS,
            "The members, with different names.",
            "[{type: is-json}, {type: contains, value: paid}]",
        )
        .old(OLD_ASSERTIONS)
        .required()
        .codes(&[Code::InvalidComposite]),
        Key::new(
            "aggregator",
            Type::Object(&AGGREGATOR),
            "How they become one score.",
            "{type: threshold, threshold: 0.5}",
        )
        .required(),
    ],
);

/// The types of aggregators.
pub(crate) const AGGREGATORS: &[&str] = &["weighted_average", "threshold", "code-grader", "llm-grader"];

pub(crate) static AGGREGATOR: Table = Table::new(
    "aggregator",
    "`aggregator`",
    "How the members of a composite become one score.",
    &[
        Key::new(
            "type",
            Type::OneOf(&[Type::Choice(AGGREGATORS), Type::Choice(&["code_grader", "llm_grader"])]),
            "The weighted mean of the members; the share of passing members, compared with `threshold`; a command; or a judge. \
             `_` and `-` are the same in `code-grader` and `llm-grader`.",
            "threshold",
        )
        .required()
        .codes(&[Code::MissingGraderSetting, Code::InvalidComposite]),
        Key::new("weights", Type::Map(&Type::Number(&NOT_NEGATIVE)), "Weights of members by name, with `weighted_average`.", "{is-json: 2}")
            .default("the members' own")
            .codes(&[Code::InvalidComposite, Code::InvalidWeight, Code::SettingConflict]),
        Key::new("threshold", Type::Number(&FRACTION), "Lowest share of passing members, with `threshold`, which needs it.", "0.5")
            .codes(&[Code::MissingGraderSetting, Code::SettingConflict]),
        Key::new("command", Type::Command, "What runs, with `code-grader`, which needs it.", "[./combine.py]")
            .or("path")
            .codes(&[Code::MissingGraderSetting, Code::InvalidCommand, Code::SettingConflict]),
        Key::new("cwd", Type::Directory, "Working directory of the command.", "./graders")
            .default("the directory of the eval file")
            .codes(&[Code::SettingConflict]),
        Key::new("prompt", Type::Text, "Prompt with `{{EVALUATOR_RESULTS_JSON}}`, or `file://` with its path, with `llm-grader`.", "file://combine.md")
            .default("a built-in one")
            .codes(&[Code::SettingConflict, Code::UnknownTemplateVariable, Code::PathLikePrompt, Code::MissingPath]),
        Key::new("model", Type::Text, "Model that the judge is asked for, with `llm-grader`.", "gpt-5-mini").codes(&[Code::SettingConflict]),
    ],
);
