//! A task of the tasks layout.

use evalsuite_schema::ReferenceSource;

use super::range::POSITIVE;
use super::{Key, SCHEMA_KEY, Table, Type, words};
use crate::diagnostic::Code;

pub(crate) const SOURCES: &[(&str, ReferenceSource); 3] = &[
    ("manual", ReferenceSource::Manual),
    ("captured", ReferenceSource::Captured),
    ("synthesized", ReferenceSource::Synthesized),
];

pub(crate) static TASK: Table = Table::new(
    "task",
    "a task",
    "One task: a JSON file below `tasks/`.",
    &[
        Key::new("id", Type::Pattern(r"^(?=[\s\S]*\S)[^\u0000-\u001f\u007f-\u009f]+$", "text without control characters"), "Identifies the task in the suite.", "pos_invoice")
            .required()
            .codes(&[Code::InvalidId, Code::DuplicateId]),
        Key::new("description", Type::Text, "What the task is about; judges see it.", "An invoice becomes an expense card.")
            .required(),
        Key::new(
            "input",
            Type::Data,
            "What the agent gets. Text in `fixture_dir` and `base_fixture` names directories: the workspace is a copy of \
             `base_fixture` with `fixture_dir` over it, unless the macro says `fixtures = off`.",
            "{\"content\": \"Lunch, 14.20 EUR\"}",
        )
        .codes(&[Code::MissingFixture, Code::PathEscape]),
        Key::new("metadata", Type::Data, "Free-form data: graders, hooks and records get it.", "{\"failure_bucket\": \"amounts\"}"),
        Key::new(
            "trials_per_run",
            Type::Integer(1, u32::MAX as u64),
            "Number of trials. In a suite of kind `capability`, one passed trial passes the task: more trials make it easier. \
             In one of kind `mixed`, the kind of a `suite.json` that names none, or `regression`, every trial has to pass.",
            "3",
        )
        .default("1"),
        Key::new("timeout_seconds", Type::Number(&POSITIVE), "Time limit of one call of the agent.", "240")
            .default("the target's, else 300")
            .unit("seconds"),
        Key::new("reference_solution", Type::Object(&REFERENCE_SOLUTION), "The reference solution.", "{\"expected_outcome\": {\"total\": 14.2}}")
            .codes(&[Code::MissingReferenceSolution]),
        Key::new("graders", Type::Some(&Type::Object(&evalsuite_schema::keys::TASK_GRADER)), "The graders of the task.", "[{\"name\": \"is-json\"}]")
            .required()
            .codes(&[Code::NoGraders]),
    ],
)
.with(SCHEMA_KEY);

pub(crate) static REFERENCE_SOLUTION: Table = Table::new(
    "reference-solution",
    "`reference_solution`",
    "The reference solution of a task.",
    &[
        Key::new(
            "expected_outcome",
            Type::Data,
            "What the agent should bring about. `field-accuracy` compares with it, and judges see it.",
            "{\"total\": 14.2}",
        ),
        Key::new("source", Type::Choice(&words(SOURCES)), "Where the solution comes from.", "captured")
            .default("`manual`"),
    ],
);
