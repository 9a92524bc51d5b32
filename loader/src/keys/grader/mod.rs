//! Graders: what all of them have, and the settings of each type.

mod command;
pub(crate) mod composite;
pub(crate) mod field_accuracy;
mod json;
pub(crate) mod judged;
mod metrics;
mod text;
pub(crate) mod trajectory;

use super::range::{NOT_NEGATIVE, PASS_MARK};
use super::{Key, SCHEMA, Table, Type};
use crate::diagnostic::Code;

pub(crate) use command::CODE_GRADER;
pub(crate) use composite::COMPOSITE;
pub(crate) use field_accuracy::FIELD_ACCURACY;
pub(crate) use json::{CONTAINS_JSON, IS_JSON, JSON_SCHEMA};
pub(crate) use judged::{COMPARE, LLM_GRADER, RUBRIC, RUBRICS};
pub(crate) use metrics::{COST, EXECUTION_METRICS, LATENCY, TOKEN_USAGE};
pub(crate) use text::{
    CONTAINS, CONTAINS_ALL, CONTAINS_ANY, ENDS_WITH, EQUALS, ICONTAINS, ICONTAINS_ALL, ICONTAINS_ANY, REGEX, SIMILAR,
    STARTS_WITH,
};
pub(crate) use trajectory::{SKILL_TRIGGER, TOOL_TRAJECTORY};

/// Old spellings of the key `assertions`.
pub(crate) const OLD_ASSERTIONS: &[&str] = &["assert", "evaluators"];

/// A list of assertions.
pub(crate) const ASSERTIONS: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(&INCLUDE), Type::Grader]));

pub(crate) static INCLUDE: Table = Table::new(
    "include",
    "an include",
    "The assertions of a template, in place of this entry.",
    &[Key::new(
        "include",
        Type::Literal,
        "Path of a template, or the name of one in `.evalsuite/templates` or `.agentv/templates`.",
        "politeness",
    )
    .required()
    .codes(&[Code::IncludeNotFound, Code::IncludeCycle])],
);

pub(crate) static TEMPLATE: Table = Table::new(
    "template",
    "a template",
    "A file of assertions that several cases include, at most 3 levels deep.",
    &[Key::new("assertions", ASSERTIONS, "The assertions.", "[Is polite, {type: is-json}]")
        .required()
        .codes(&[Code::InvalidExternalFile])],
)
.with(SCHEMA);

/// What every grader of the cases layout has.
pub static COMMON: &[Key] = &[
    Key::new("type", Type::Literal, "The type: a built-in one, or the name of a grader in Rust. `_` and `-` are the same in names of built-in types.", "contains")
        .required()
        .codes(&[Code::MissingGraderSetting, Code::UnknownGrader, Code::RemovedGraderType, Code::DeprecatedKey]),
    Key::new("name", Type::Literal, "Name in results, unique in the case.", "amount")
        .default("made from the type and its settings")
        .codes(&[Code::RepeatedGraderName]),
    Key::new("weight", Type::Number(&NOT_NEGATIVE), "Share in the weighted mean of the trial; 0 is shown and not counted.", "2")
        .default("1; plain texts together: their number")
        .codes(&[Code::InvalidWeight, Code::ZeroTotalWeight]),
    Key::new("required", Type::OneOf(&[Type::Boolean, Type::Number(&PASS_MARK)]), "Whether the trial fails if this grader does not pass. A number is an old way to write `min_score`, too.", "true")
        .default("`false`")
        .codes(&[Code::DeprecatedValue, Code::ConflictingKeys]),
    Key::new("min_score", Type::Number(&PASS_MARK), "Pass mark: lowest score of a passing verdict.", "0.9").default("0.8; in the tasks layout 1"),
    Key::new("negate", Type::Boolean, "Whether the result is inverted.", "true").default("`false`"),
    Key::new("id", Type::Any, "Name in results.", "amount").no_effect("write `name`"),
];

/// What every built-in grader of the tasks layout has in its `config`.
pub static TASK_COMMON: &[Key] = &[
    Key::new("min_score", Type::Number(&PASS_MARK), "Pass mark: lowest score of a passing verdict.", "0.9")
        .default("1"),
    Key::new("negate", Type::Boolean, "Whether the result is inverted.", "true").default("`false`"),
];

pub(crate) static TASK_GRADER: Table = Table::new(
    "task-grader",
    "a grader",
    "One grader of a task.",
    &[
        Key::new("name", Type::Text, "A built-in type, or the name of a grader in Rust.", "contains")
            .required()
            .codes(&[Code::UnknownGrader]),
        Key::new(
            "config",
            Type::GraderSettings,
            "The settings of the type, with `min_score` and `negate`; of a grader in Rust, what it takes.",
            "{\"value\": \"14.20\"}",
        )
        .codes(&[Code::GraderConfigRejected]),
    ],
);

/// A grader registered in Rust.
pub static RUST_GRADER: Table = Table::new(
    "rust-grader",
    "a grader registered in Rust",
    "A function of the package, which the macro lists in `graders`.",
    &[Key::new(
        "config",
        Type::Data,
        "What the grader takes. The generated test `suite_check` decodes it.",
        "{needles: [refund]}",
    )
    .codes(&[Code::GraderConfigRejected])],
)
.with(COMMON);

/// The table of a built-in type.
const fn grader(
    id: &'static str,
    what: &'static str,
    example: &'static str,
    doc: &'static str,
    keys: &'static [Key],
) -> Table {
    let mut table = Table::new(id, what, doc, keys).with(COMMON);
    table.example = example;
    table
}

/// The built-in types of graders, in the order of the table of graders.
pub static GRADERS: &[&Table] = &[
    &CONTAINS,
    &CONTAINS_ANY,
    &CONTAINS_ALL,
    &ICONTAINS,
    &ICONTAINS_ANY,
    &ICONTAINS_ALL,
    &STARTS_WITH,
    &ENDS_WITH,
    &EQUALS,
    &REGEX,
    &SIMILAR,
    &IS_JSON,
    &CONTAINS_JSON,
    &JSON_SCHEMA,
    &LATENCY,
    &COST,
    &TOKEN_USAGE,
    &EXECUTION_METRICS,
    &TOOL_TRAJECTORY,
    &SKILL_TRIGGER,
    &FIELD_ACCURACY,
    &CODE_GRADER,
    &COMPOSITE,
    &LLM_GRADER,
    &RUBRICS,
    &COMPARE,
];
