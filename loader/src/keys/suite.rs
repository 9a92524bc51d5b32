//! The eval file and `suite.json`.

use evalsuite_schema::Kind;

use super::case::{CASE, EVALUATORS};
use super::execution::{SUITE_EXECUTION, SUITE_REQUIRES};
use super::message::INPUT;
use super::range::FRACTION;
use super::workspace::SUITE_WORKSPACE;
use super::{Key, Keys, SCHEMA_KEY, Table, Type, words};
use crate::diagnostic::Code;
use evalsuite_schema::keys::{ASSERTIONS, OLD_ASSERTIONS};

pub(crate) const KINDS: &[(&str, Kind); 3] =
    &[("capability", Kind::Capability), ("regression", Kind::Regression), ("mixed", Kind::Mixed)];

/// The key of the cases, and its old spellings.
pub(crate) const TESTS: &str = "tests";
pub(crate) const OLD_TESTS: &[&str] = &["eval_cases", "evalcases"];

const GATES: Key = Key::new(
    "gates",
    Type::Some(&Type::Literal),
    "What a run has to reach, which `cargo evalsuite gate` and `cargo evalsuite run` check: `[KEY:VALUE …] MEASURE OP NUMBER \
     [per KEY]`. The measure is `pass_rate`, `lower(pass_rate)` (the lower end of its 95 % interval), `score`, `cost`, `time`, \
     `p50(time)` or `p95(time)`; the key is `target`, `bucket`, `tag` or `metadata.KEY`.",
    "[\"pass_rate >= 90%\", \"cost <= $2.50\"]",
)
.codes(&[Code::InvalidGate]);

pub(crate) static EVAL_FILE: Table = Table::new(
    "eval-file",
    "an eval file",
    "`EVAL.yaml`, or any file whose name ends in `.eval.yaml`: what the cases of a suite share, and where they are.",
    &[
        Key::new("name", Type::Pattern("^[a-z0-9_-]{1,64}$", "1 to 64 characters out of a-z, 0-9, `-` and `_`"), "Name of the suite.", "shop")
            .default("the name of the directory; of a file `x.eval.yaml`, its stem")
            .codes(&[Code::InvalidSuiteName]),
        Key::new(
            "kind",
            Type::Choice(&words(KINDS)),
            "What the suite is for, which decides how several trials count. `capability`: one passed trial is enough. \
             `regression` and `mixed`: every trial has to pass.",
            "regression",
        )
        .default("`capability`"),
        Key::new("description", Type::Pattern(r"^(?=[\s\S]*\S)[\s\S]{1,1024}$", "text of at most 1024 characters"), "What the suite is about.", "Refunds of a shop.")
            .codes(&[Code::OutOfRange]),
        Key::new("version", Type::AnyText, "Version of the suite, shown in records.", "\"1.2\""),
        Key::new("author", Type::AnyText, "Author of the suite.", "Shop team"),
        Key::new("license", Type::AnyText, "License of the suite.", "MIT"),
        Key::new("tags", Type::List(&Type::Text), "Tags, by which `cargo evalsuite run --tag` selects.", "[nightly]"),
        Key::new("category", Type::Text, "Category in records.", "support/refunds")
            .default("the directories between package and eval file, without `evals`"),
        Key::new("requires", Type::Object(&SUITE_REQUIRES), "What every case needs.", "{env: [API_KEY]}"),
        Key::new("input", INPUT, "Messages that precede the input of every case.", "You are the support of a shop.")
            .codes(&[Code::MissingInput, Code::InvalidInput, Code::RoleMarker, Code::UnknownTemplateVariable]),
        Key::new("input_files", Type::List(&Type::File), "Input files of every case with a text `input`.", "[./terms.txt]")
            .codes(&[Code::InputFilesWithMessages, Code::EmptyFile]),
        Key::new("execution", Type::Object(&SUITE_EXECUTION), "How the cases run.", "{threshold: 0.9}"),
        Key::new("assertions", ASSERTIONS, "Graders of every case, after its own.", "[{type: latency, threshold: 5000}]")
            .old(OLD_ASSERTIONS),
        Key::new("evaluator", Type::Choice(&words(EVALUATORS)), "How cases are graded.", "llm-grader").replaced("assertions"),
        Key::new(
            "workspace",
            SUITE_WORKSPACE,
            "The directory agents work in; a mapping, or the path of a file with one.",
            "{template: ./workspace}",
        )
        .codes(&[Code::InvalidExternalFile]),
        Key::new(
            "preprocessors",
            Type::List(&Type::Object(evalsuite_schema::grader::Preprocessor::TABLE)),
            "Commands that turn files in an answer into text for graders.",
            "[{type: pdf, command: [./pdf_to_text.sh]}]",
        ),
        Key::new(
            TESTS,
            Type::OneOf(&[Type::Literal, Type::Some(&Type::OneOf(&[Type::Literal, Type::Object(&CASE)]))]),
            "The cases: a list, whose elements are cases or `file://` with the path or glob of lists of cases; a directory of \
             case directories; or the path of a list of cases (`.yaml`, `.yml`, `.jsonl`).",
            "./cases/",
        )
        .old(OLD_TESTS)
        .default("the directory `cases/`")
        .codes(&[Code::MissingTests, Code::InvalidTests, Code::NoCases, Code::MissingPath, Code::PathEscape, Code::MissingCaseFile, Code::TwoCaseFiles]),
        Key::new(
            "metadata",
            Type::Data,
            "Metadata of every case. In the metadata of a case, mappings are merged with these, lists are joined without \
             repeats, and another value replaces the one here.",
            "{team: refunds}",
        ),
        Key::new(
            "governance",
            Type::Data,
            "The risks and controls that the suite is evidence for: `metadata.governance` of every case, merged in the same way.",
            "{controls: [ISO-42001-2023:6.1.2], owner: security}",
        )
        .codes(&[Code::ConflictingKeys]),
        GATES,
        Key::new("target", Type::Literal, "The target.", "large").replaced("execution.target"),
        Key::new("dataset", Type::Any, "Name of the suite.", "shop").no_effect("write `name`"),
        Key::new("defaults", Type::Any, "A place for YAML anchors.", "{limit: 50}")
            .no_effect("cases get nothing from it; write `x-defaults` if the key is your own"),
    ],
)
.with(SCHEMA_KEY);

pub(crate) static SUITE_JSON: Table = Table::new(
    "suite-json",
    "suite.json",
    "`suite.json`, next to a directory `tasks/` with a JSON file per task, or `cases/` with a directory per case.",
    &[
        Key::new("name", Type::Text, "Name of the suite.", "Card agent").required(),
        Key::new(
            "agent_name",
            Type::Text,
            "Name of the agent: the macro calls the function of this name.",
            "card_agent",
        )
        .required(),
        Key::new(
            "kind",
            Type::Choice(&words(KINDS)),
            "What the suite is for, which decides how several trials count. `capability`: one passed trial is enough. \
             `regression` and `mixed`: every trial has to pass.",
            "capability",
        )
        .default("`mixed`"),
        Key::new("requireReferenceSolution", Type::Boolean, "Whether every task needs a `reference_solution`.", "true")
            .or("require_reference_solution")
            .default("`false`")
            .codes(&[Code::MissingReferenceSolution]),
        Key::new("taskPassThreshold", Type::Number(&FRACTION), "Lowest score of a trial that passes.", "0.8")
            .or("task_pass_threshold")
            .default("every grader has to pass"),
        GATES,
    ],
)
.with(SCHEMA_KEY);
