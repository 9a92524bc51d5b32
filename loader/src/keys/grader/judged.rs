//! Graders that ask a judge.

use super::grader;
use crate::diagnostic::Code;
use crate::keys::judged::{CRITERIA, JUDGE, PROMPT, SOME_CRITERIA};
use crate::keys::{Key, Table, Type};

pub(crate) static LLM_GRADER: Table = grader(
    "llm-grader",
    "`llm-grader`", r#"{ type: llm-grader, prompt: Is the tone of the answer friendly? }"#,
    "A judge passes the answer. Without `prompt` and `rubrics`, it grades by the case's `criteria` and reference answer.",
    &[
        Key::new(
            "prompt",
            PROMPT,
            "The prompt: text, `file://` with its path, or a command that prints it. A prompt with `{{ output }}` is sent as it \
             is; any other text is what the built-in prompt asks for.",
            "Is the tone of the answer friendly?",
        )
        .default("a built-in one")
        .codes(&[Code::PromptWithoutAnswer, Code::UnknownTemplateVariable, Code::PathLikePrompt, Code::EmptyFile, Code::MissingPath]),
        Key::new("rubrics", CRITERIA, "Criteria that are judged one by one.", "[Names the order number]").codes(&[Code::InvalidRubric]),
        JUDGE[0],
        JUDGE[1],
        JUDGE[2],
        JUDGE[3],
        JUDGE[4],
        JUDGE[5],
        JUDGE[6],
        JUDGE[7],
    ],
);

pub(crate) static RUBRICS: Table = grader(
    "rubrics",
    "`rubrics`",
    r#"{ type: rubrics, criteria: [Names the order number, { id: tone, outcome: Polite, weight: 2 }] }"#,
    "A judge checks the answer criterion by criterion. Plain texts among assertions are one such grader.",
    &[
        Key::new(
            "criteria",
            Type::OneOf(&[Type::Text, SOME_CRITERIA]),
            "The criteria, at least one; a single one may be written as text.",
            "[Names the order number, {id: tone, outcome: Polite, weight: 2}]",
        )
        .required()
        .codes(&[Code::InvalidRubric]),
        JUDGE[0],
        JUDGE[1],
        JUDGE[2],
        JUDGE[3],
        JUDGE[4],
        JUDGE[5],
        JUDGE[6],
        JUDGE[7],
    ],
);

/// The old type `rubric`.
pub(crate) static RUBRIC: Table = grader(
    "rubric",
    "`rubric`",
    r#"{ type: rubrics, criteria: [Names the order number] }"#,
    "The old name of `rubrics`.",
    &[
        Key::new(
            "rubrics",
            Type::OneOf(&[Type::Text, SOME_CRITERIA]),
            "The criteria, at least one.",
            "[Names the order number]",
        )
        .or("criteria")
        .required(),
        JUDGE[0],
        JUDGE[1],
        JUDGE[2],
        JUDGE[3],
        JUDGE[4],
        JUDGE[5],
        JUDGE[6],
        JUDGE[7],
    ],
);
