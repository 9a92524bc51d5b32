//! Messages, their content and tool calls.

use evalsuite_schema::Role;

use super::{Key, Table, Type, words};
use crate::diagnostic::Code;

pub(crate) const ROLES: &[(&str, Role); 4] =
    &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)];

/// The types of content parts.
pub(crate) const PARTS: &[&str] = &["text", "file", "image"];

/// Content of a message.
pub(crate) const CONTENT: Type =
    Type::OneOf(&[Type::AnyText, Type::Data, Type::List(&Type::OneOf(&[Type::AnyText, Type::Object(&CONTENT_PART)]))]);

/// Input of a turn.
pub(crate) const TURN_INPUT: Type =
    Type::OneOf(&[Type::NotEmpty, Type::Some(&Type::OneOf(&[Type::AnyText, Type::Object(&CONTENT_PART)]))]);

/// Input of a case or a suite.
pub(crate) const INPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Some(&Type::Object(&MESSAGE))]);

/// A reference answer.
pub(crate) const EXPECTED_OUTPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Data, Type::Some(&Type::Any)]);

pub(crate) static MESSAGE: Table = Table::new(
    "message",
    "a message",
    "One message of a conversation.",
    &[
        Key::new("role", Type::Choice(&words(ROLES)), "Who speaks.", "user").required().codes(&[Code::InvalidMessage]),
        Key::new(
            "tool_calls",
            Type::List(&Type::Object(&TOOL_CALL)),
            "Tools that the assistant called.",
            "[{tool: search}]",
        ),
        Key::new(
            "content",
            CONTENT,
            "Text, an object, or a list of parts. A message with `tool_calls` can do without.",
            "Where is my order?",
        )
        .codes(&[Code::InvalidMessage, Code::InvalidInput, Code::RoleMarker]),
        Key::new("name", Type::AnyText, "Name of the speaker.", "support"),
    ],
);

pub(crate) static CONTENT_PART: Table = Table::new(
    "content-part",
    "a content part",
    "One part of the content of a message. A plain text is a part, too.",
    &[
        Key::new("type", Type::Choice(PARTS), "What `value` is.", "file").required().codes(&[Code::InvalidContentPart]),
        Key::new(
            "value",
            Type::AnyText,
            "The text; or the path of a file, which is read when a trial runs; or the path of an image.",
            "./invoice.txt",
        )
        .required()
        .codes(&[
            Code::InvalidContentPart,
            Code::MissingPath,
            Code::PathEscape,
            Code::EmptyFile,
            Code::RoleMarker,
        ]),
    ],
);

pub(crate) static TOOL_CALL: Table = Table::new(
    "tool-call",
    "a tool call",
    "A call of a tool in a message of the assistant.",
    &[
        Key::new("tool", Type::Text, "Name of the tool.", "search").required(),
        Key::new("input", Type::Any, "Its arguments.", "{query: late orders}"),
        Key::new("output", Type::Any, "What it returned.", "no result"),
        Key::new("id", Type::AnyText, "Id of the call, which the tool's message repeats.", "call_1"),
    ],
);
