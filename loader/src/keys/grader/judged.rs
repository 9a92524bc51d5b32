//! Graders that ask a judge.

use evalsuite_schema::grader::ComparedWith;

use super::grader;
use crate::diagnostic::Code;
use crate::keys::judged::{CRITERIA, JUDGE, PROMPT, SOME_CRITERIA};
use crate::keys::{Key, Table, Type, words};

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

pub(crate) const COMPARED_WITH: &[(&str, ComparedWith); 2] =
    &[("reference", ComparedWith::Reference), ("baseline", ComparedWith::Baseline)];

pub(crate) static COMPARE: Table = grader(
    "compare",
    "`compare`",
    r#"{ type: compare, reference: 19.90 is on its way., criteria: Is friendly }"#,
    "A judge says whether the answer is better than another one. It is asked twice, with each of the two answers first. The score is 1 if \
     the answer is better both times, 0 if the other one is, else 0.5: a tie. If the judge replies differently to the two orders, \
     `consistent` in the details of the result is false. An answer passes if it is no worse, or with a `min_score` above 0.5 only if it \
     is better.",
    &[
        Key::new(
            "reference",
            Type::Text,
            "The answer to compare with: text, or `file://` with its path. Required in the tasks layout, unless `against` is `baseline`.",
            "19.90 is on its way.",
        )
        .default("the case's `expected_output`")
        .codes(&[Code::MissingGraderSetting, Code::PathLikePrompt, Code::EmptyFile, Code::MissingPath]),
        Key::new(
            "against",
            Type::Choice(&words(COMPARED_WITH)),
            "With `baseline`, the answer is compared with the one that `cargo evalsuite accept --answers` wrote for this case and target. \
             Without one, the grader is undecided.",
            "baseline",
        )
        .default("`reference`")
        .codes(&[Code::SettingConflict]),
        Key::new("criteria", Type::Text, "What makes an answer the better one.", "Is friendly")
            .default("the case's `criteria`, else its `description`"),
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
