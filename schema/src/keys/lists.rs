//! Types that several keys have, and the objects that are written in two ways.

use super::{Key, Keys, SCHEMA_KEY, TASK_GRADER, Table, Type};
use crate::grader::Criterion;
use crate::message::ContentPart;
use crate::{Case, Example, Message};
use evalsuite_diagnostics::Code;

pub use crate::grader::keys::ASSERTIONS;
pub use crate::workspace::{WORKSPACE, WrittenHooks};

/// A list of criteria.
pub const CRITERIA: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(Criterion::TABLE)]));

/// As [`CRITERIA`], at least one.
pub const SOME_CRITERIA: Type = Type::Some(&Type::OneOf(&[Type::Text, Type::Object(Criterion::TABLE)]));

/// An id: text that is not blank, without control characters and `${{ }}`.
pub const ID: Type =
    Type::Pattern(r"^(?=[\s\S]*\S)(?![\s\S]*\$\{\{)[^\u0000-\u001f\u007f-\u009f]+$", "text without control characters");

/// Input of a case or a suite.
pub const INPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Some(&Type::Object(Message::TABLE))]);

/// Content of a message.
pub const CONTENT: Type =
    Type::OneOf(&[Type::AnyText, Type::Data, Type::List(&Type::OneOf(&[Type::AnyText, CONTENT_PART]))]);

/// Input of a turn.
pub const TURN_INPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Some(&Type::OneOf(&[Type::AnyText, CONTENT_PART]))]);

const CONTENT_PART: Type = Type::Object(ContentPart::TABLE);

/// A reference answer.
pub const EXPECTED_OUTPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Data, Type::Some(&Type::Any)]);

/// A result by which graders are tested.
pub const EXAMPLE: Type = Type::OneOf(&[Type::AnyText, Type::Object(Example::TABLE)]);

/// A grader of a task.
pub const A_TASK_GRADER: Type = Type::Object(&TASK_GRADER);

/// A case in a list.
pub const A_CASE: Type = Type::Object(&CASE);

const CASE_ID: Key = Key::new(
    "id",
    ID,
    "Identifies the case in the suite and names its test. A case in a directory of its own is named by the directory.",
    "refund-small",
)
.codes(&[Code::InvalidId, Code::DuplicateId, Code::TestNameCollision]);

/// A case in a list.
pub static CASE: Table = Table::new(
    "case",
    "a case",
    "One case: an element of `tests`, of a list of cases, or a line of a JSONL file.",
    Case::TABLE.keys,
)
.with({
    const KEYS: &[Key] = &[CASE_ID.required()];
    KEYS
});

/// A case in a file of its own.
pub static CASE_FILE: Table =
    Table::new("case-file", "a case", "One case in a file of its own, `cases/<name>/case.yaml`.", Case::TABLE.keys)
        .with({
            const KEYS: &[Key] = &[SCHEMA_KEY[0], CASE_ID.default("the name of the case's directory")];
            KEYS
        });
