//! Keys that graders share, and the objects around graders.

use super::answer_step::{ObjectStep, StepWord};
use crate::Examples;
use crate::keys::range::{NOT_NEGATIVE, PASS_MARK};
use crate::keys::{Key, Keys as _, SCHEMA_KEY, Table, Type};
use evalsuite_diagnostics::Code;

/// Old spellings of the key `assertions`.
pub const OLD_ASSERTIONS: &[&str] = &["assert", "evaluators"];

/// A list of assertions.
pub const ASSERTIONS: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(&INCLUDE), Type::Grader]));

/// An include.
pub static INCLUDE: Table = Table::new(
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

/// A template.
pub static TEMPLATE: Table = Table::new(
    "template",
    "a template",
    "A file of assertions that several cases include, at most 3 levels deep.",
    &[Key::new("assertions", ASSERTIONS, "The assertions.", "[Is polite, {type: is-json}]")
        .required()
        .codes(&[Code::InvalidExternalFile])],
)
.with(SCHEMA_KEY);

/// Steps of `transform`.
const TRANSFORM: Key = Key::new(
    "transform",
    Type::List(&Type::OneOf(&[Type::Choice(StepWord::WORDS), Type::Object(ObjectStep::TABLE)])),
    "Steps that change the answer before the grader sees it, in order: `trim` removes white space around it, `lowercase` and `uppercase` change its letters, `{json: PATH}` takes a value of an answer in JSON, `{replace: PATTERN, with: TEXT}` replaces what matches. Graders that do not look at the answer are not concerned.",
    "[trim, {json: total}]",
)
.default("the answer as it is");

const EXAMPLES: Key = Key::new(
    "examples",
    Type::Object(Examples::TABLE),
    "Results that the grader has to pass or to fail.",
    "{pass: [19.90 EUR], fail: [1990 EUR]}",
);

/// What every grader of the cases layout has.
pub static GRADER_KEYS: &[Key] = &[
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
    TRANSFORM,
    EXAMPLES,
    Key::new("id", Type::Any, "Name in results.", "amount").no_effect("write `name`"),
];

/// What every built-in grader of the tasks layout has in its `config`.
pub static TASK_GRADER_KEYS: &[Key] = &[
    Key::new("min_score", Type::Number(&PASS_MARK), "Pass mark: lowest score of a passing verdict.", "0.9")
        .default("1"),
    Key::new("negate", Type::Boolean, "Whether the result is inverted.", "true").default("`false`"),
    TRANSFORM,
];

/// A grader of a task.
pub static TASK_GRADER: Table = Table::new(
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
            "The settings of the type, with `min_score`, `negate` and `transform`; of a grader in Rust, what it takes.",
            "{\"value\": \"14.20\"}",
        )
        .codes(&[Code::GraderConfigRejected]),
        EXAMPLES,
    ],
);

/// A grader in a list of a task.
pub const A_TASK_GRADER: Type = Type::Object(&TASK_GRADER);

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
.with(GRADER_KEYS);

/// The table of a built-in type of graders with the keys of `settings`.
pub const fn grader_table(
    settings: &Table,
    id: &'static str,
    what: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Table {
    let is_open = settings.is_open;
    let table = Table::new(id, what, doc, settings.keys).with(GRADER_KEYS).missing(Code::MissingGraderSetting);
    Table { example, is_open, ..table }
}
