//! Calibrations and their samples.

use super::range::{CORRELATION, FRACTION};
use super::{Key, SCHEMA_KEY, Table, Type};
use crate::diagnostic::Code;
use evalsuite_schema::keys::lists::{EXPECTED_OUTPUT, INPUT};

pub(crate) static CALIBRATION: Table = Table::new(
    "calibration",
    "a calibration",
    "`calibration.yaml` next to a suite: answers rated by people, by which judges are measured.",
    &[
        Key::new("tolerance", Type::Number(&FRACTION), "Largest difference of two scores that agree.", "0.1")
            .default("0.15"),
        Key::new("threshold", Type::Number(&FRACTION), "Lowest score of an answer that passes.", "0.7").default("0.8"),
        Key::new(
            "minimum",
            Type::Object(&MINIMUM),
            "What a judge has to reach; below it, its graders decide nothing.",
            "{kappa: 0.6}",
        ),
        Key::new("maximum", Type::Object(&MAXIMUM), "What a judge may not exceed.", "{mae: 0.2}"),
        Key::new(
            "grader",
            Type::Grader,
            "The grader of samples without `case`, of type `llm-grader` or `rubrics`.",
            "{type: rubrics, criteria: [Is polite]}",
        )
        .default("by the criteria or the reference of the sample")
        .codes(&[Code::InvalidChoice]),
        Key::new(
            "samples",
            Type::OneOf(&[Type::File, Type::List(&Type::Object(&SAMPLE))]),
            "The answers, 2 to 1000: a list, or the path of a `.yaml` or `.jsonl` file with one.",
            "./answers.jsonl",
        )
        .required()
        .codes(&[Code::TooFewSamples, Code::LimitExceeded, Code::InvalidExternalFile]),
    ],
)
.with(SCHEMA_KEY);

pub(crate) static MINIMUM: Table = Table::new(
    "minimum",
    "`minimum`",
    "Lowest values of a judge that is trusted.",
    &[
        Key::new("kappa", Type::Number(&CORRELATION), "Cohen's κ of pass and fail at the threshold.", "0.6"),
        Key::new("spearman", Type::Number(&CORRELATION), "Correlation of the ranks.", "0.7"),
        Key::new("pearson", Type::Number(&CORRELATION), "Correlation of the scores.", "0.7"),
        Key::new(
            "agreement",
            Type::Number(&FRACTION),
            "Share of samples whose scores differ by at most the tolerance.",
            "0.8",
        ),
    ],
);

pub(crate) static MAXIMUM: Table = Table::new(
    "maximum",
    "`maximum`",
    "Highest values of a judge that is trusted.",
    &[Key::new("mae", Type::Number(&FRACTION), "Mean absolute error of the scores.", "0.2")],
);

pub(crate) static SAMPLE: Table = Table::new(
    "sample",
    "a sample",
    "One answer and its human score.",
    &[
        Key::new("id", Type::Literal, "Identifies the sample in the calibration.", "rude")
            .required()
            .codes(&[Code::InvalidId, Code::DuplicateId]),
        Key::new("human_score", Type::Number(&FRACTION), "The person's score.", "0.4").required(),
        Key::new("output", Type::AnyText, "The answer.", "Should have packed it better.").required(),
        Key::new("rationale", Type::Text, "Why the person gave this score.", "no apology"),
        Key::new("case", Type::Literal, "Id of the case that is answered.", "refund-small")
            .codes(&[Code::UnknownSampleCase]),
        Key::new("grader", Type::Literal, "Name of the judge grader of the case, if it has several.", "tone")
            .codes(&[Code::UnknownSampleCase, Code::SettingConflict]),
        Key::new("input", INPUT, "The question, for a sample without `case`, which needs it.", "Thank you!")
            .codes(&[Code::MissingInput, Code::ConflictingKeys]),
        Key::new("criteria", Type::Text, "What a good answer does, for a sample without `case`.", "Answers politely.")
            .codes(&[Code::ConflictingKeys]),
        Key::new(
            "expected_output",
            EXPECTED_OUTPUT,
            "The reference answer, for a sample without `case`.",
            "You are welcome.",
        )
        .codes(&[Code::ConflictingKeys]),
    ],
);
