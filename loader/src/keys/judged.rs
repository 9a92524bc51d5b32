//! Criteria, prompts and preprocessors of graders that ask a judge.

use super::range::NOT_NEGATIVE;
use super::range::PASS_MARK;
use super::{Key, Table, Type};
use crate::diagnostic::Code;

/// A list of criteria.
pub(crate) const CRITERIA: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(&CRITERION)]));

/// As [`CRITERIA`], at least one.
pub(crate) const SOME_CRITERIA: Type = Type::Some(&Type::OneOf(&[Type::Text, Type::Object(&CRITERION)]));

pub(crate) static CRITERION: Table = Table::new(
    "criterion",
    "a criterion",
    "One criterion. A plain text is a required criterion, too.",
    &[
        Key::new("id", Type::Literal, "Identifies the criterion in the grader.", "tone")
            .default("`rubric-n`, with its position")
            .codes(&[Code::InvalidRubric]),
        Key::new("outcome", Type::Text, "What a good answer does. Only a criterion with `score_ranges` can do without.", "Is polite.")
            .codes(&[Code::InvalidRubric]),
        Key::new("weight", Type::Number(&NOT_NEGATIVE), "Share in the mean of the criteria.", "2")
            .default("1")
            .codes(&[Code::InvalidWeight, Code::ZeroTotalWeight]),
        Key::new(
            "score_ranges",
            Type::OneOf(&[Type::Some(&Type::Object(&SCORE_RANGE)), Type::Map(&Type::Text)]),
            "What the scores from 0 to 10 mean: a list of ranges, or a mapping from the lowest score of each range to its \
             meaning. Every score is covered once.",
            "{0: rude, 5: neutral, 8: friendly}",
        )
        .default("satisfied or not")
        .codes(&[Code::InvalidScoreRanges]),
        Key::new("required", Type::Boolean, "Whether the grader fails if the criterion is not satisfied.", "false")
            .default("`true`; `false` with `score_ranges`"),
        Key::new("min_score", Type::Number(&PASS_MARK), "Lowest score that satisfies the criterion, where a criterion has `score_ranges`.", "0.7")
            .codes(&[Code::InvalidRubric, Code::SettingConflict, Code::ConflictingKeys]),
        Key::new("required_min_score", Type::Integer(0, super::range::TOP as u64), "`min_score` out of 10: the old way to write it.", "7")
            .codes(&[Code::DeprecatedValue, Code::InvalidRubric]),
    ],
);

pub(crate) static SCORE_RANGE: Table = Table::new(
    "score-range",
    "a score range",
    "What a range of scores means.",
    &[
        Key::new(
            "score_range",
            Type::List(&Type::Integer(0, super::range::TOP as u64)),
            "The lowest and the highest score.",
            "[0, 4]",
        )
        .required()
        .codes(&[Code::InvalidScoreRanges]),
        Key::new("outcome", Type::Text, "What an answer with such a score looks like.", "Rude or dismissive.")
            .required()
            .codes(&[Code::InvalidScoreRanges]),
    ],
);

/// `prompt` of an `llm-grader`.
pub(crate) const PROMPT: Type = Type::OneOf(&[Type::Text, Type::Object(&PROMPT_COMMAND)]);

pub(crate) static PROMPT_COMMAND: Table = Table::new(
    "prompt-command",
    "`prompt`",
    "A command that prints the prompt.",
    &[
        Key::new("command", Type::Arguments, "Program and arguments.", "[./prompt.py]")
            .old(&["script"])
            .required()
            .codes(&[Code::MissingGraderSetting, Code::InvalidCommand, Code::MissingPath, Code::ArgumentNotFound]),
        Key::new("config", Type::Data, "Free-form data that the command gets.", "{strict: true}"),
    ],
);

pub(crate) static PREPROCESSOR: Table = Table::new(
    "preprocessor",
    "a preprocessor",
    "A command that turns files of a type into text.",
    &[
        Key::new("type", Type::Literal, "Media type, or ending of the file's name.", "pdf").required(),
        Key::new(
            "command",
            Type::Arguments,
            "Program and arguments; the path of the file is added.",
            "[pdftotext, -layout]",
        )
        .required()
        .codes(&[Code::InvalidCommand, Code::MissingPath, Code::ArgumentNotFound]),
    ],
);

/// Settings of every grader that asks a judge.
pub(crate) static JUDGE: [Key; 8] = [
    Key::new("target", Type::Literal, "Name of the judge.", "strict")
        .default("the default judge")
        .codes(&[Code::UnknownJudge]),
    Key::new("model", Type::Text, "Model that the judge is asked for.", "gpt-5-mini").default("the judge's own"),
    Key::new("temperature", Type::Number(&super::range::TEMPERATURE), "Temperature.", "0.5")
        .default("`EVALSUITE_JUDGE_TEMPERATURE`, else 0"),
    Key::new("timeout_seconds", Type::Number(&super::range::POSITIVE), "Time limit of one call.", "60")
        .default("`EVALSUITE_JUDGE_TIMEOUT_SECONDS`, else 120")
        .unit("seconds"),
    Key::new(
        "confirm",
        Type::Number(&super::range::CONFIRM),
        "How many judgements follow a failing one; the majority decides.",
        "4",
    )
    .default("`EVALSUITE_JUDGE_CONFIRM`, else `judge_confirm` of the macro, else 2"),
    Key::new("config", Type::Data, "Free-form data that the judge gets.", "{strict: true}"),
    Key::new(
        "preprocessors",
        Type::List(&Type::Object(&PREPROCESSOR)),
        "Commands that turn files in the answer into text, tried before the suite's.",
        "[{type: pdf, command: [./pdf_to_text.sh]}]",
    ),
    Key::new("max_steps", Type::Integer(1, 50), "How many steps a judge that acts may take.", "5")
        .old(&["maxSteps"])
        .default("10"),
];
