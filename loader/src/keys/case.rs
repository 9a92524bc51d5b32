//! A case of the cases layout.

use evalsuite_schema::{Aggregation, OnDependencyFailure, OnTurnFailure};

use super::execution::{CASE_EXECUTION, CASE_REQUIRES};
use super::message::{EXPECTED_OUTPUT, INPUT, TURN_INPUT};
use super::workspace::CASE_WORKSPACE;
use super::{Key, SCHEMA_KEY, Table, Type, words};
use crate::diagnostic::Code;
use evalsuite_schema::grader::CRITERIA;
use evalsuite_schema::keys::{ASSERTIONS, OLD_ASSERTIONS};

pub(crate) const ON_DEPENDENCY_FAILURE: &[(&str, OnDependencyFailure); 3] =
    &[("skip", OnDependencyFailure::Skip), ("fail", OnDependencyFailure::Fail), ("run", OnDependencyFailure::Run)];
pub(crate) const MODES: &[(&str, ()); 1] = &[("conversation", ())];
pub(crate) const AGGREGATIONS: &[(&str, Aggregation); 3] =
    &[("mean", Aggregation::Mean), ("min", Aggregation::Min), ("max", Aggregation::Max)];
pub(crate) const ON_TURN_FAILURE: &[(&str, OnTurnFailure); 2] =
    &[("continue", OnTurnFailure::Continue), ("stop", OnTurnFailure::Stop)];
pub(crate) const EVALUATORS: &[(&str, ()); 1] = &[("llm-grader", ())];

const ID: Type =
    Type::Pattern(r"^(?=[\s\S]*\S)(?![\s\S]*\$\{\{)[^\u0000-\u001f\u007f-\u009f]+$", "text without control characters");

const ID_KEY: Key = Key::new(
    "id",
    ID,
    "Identifies the case in the suite and names its test. A case in a directory of its own is named by the directory.",
    "refund-small",
)
.codes(&[Code::InvalidId, Code::DuplicateId, Code::TestNameCollision]);

static IN_A_LIST: &[Key] = &[ID_KEY.required()];

static IN_A_FILE: &[Key] = &[SCHEMA_KEY[0], ID_KEY.default("the name of the case's directory")];

static CASE_KEYS: &[Key] = &[
    Key::new("execution", Type::Object(&CASE_EXECUTION), "How the case runs.", "{timeout_seconds: 60}"),
    Key::new(
        "criteria",
        Type::Text,
        "What a good answer does. Judges see it. In a case without `assertions`, a judge grades the answer by it; \
         beside `assertions` it is not checked unless one of them asks a judge.",
        "Approves the refund and states the amount.",
    )
    .old(&["expected_outcome"]),
    Key::new(
        "expected_output",
        EXPECTED_OUTPUT,
        "The reference answer: text, an object, or a list of messages. `field-accuracy` and `similar` compare with it, and \
         judges see it.",
        "{total: 19.90}",
    )
    .codes(&[Code::InvalidExpectedOutput, Code::MissingReferenceSolution, Code::FieldNotInExpected]),
    Key::new("mode", Type::Choice(&words(MODES)), "Makes the case a conversation of several `turns`.", "conversation")
        .codes(&[Code::ConversationMismatch]),
    Key::new(
        "turns",
        Type::Some(&Type::Object(&TURN)),
        "The turns of a conversation: the agent is called once for each of them.",
        "[{input: Hello}, {input: And my refund?}]",
    )
    .codes(&[Code::ConversationMismatch]),
    Key::new("aggregation", Type::Choice(&words(AGGREGATIONS)), "How the scores of the turns are combined.", "min")
        .default("`mean`")
        .codes(&[Code::ConversationMismatch]),
    Key::new(
        "on_turn_failure",
        Type::Choice(&words(ON_TURN_FAILURE)),
        "What follows a turn below the threshold: the next turn, or none; turns that are not run score 0.",
        "stop",
    )
    .default("`continue`")
    .codes(&[Code::ConversationMismatch]),
    Key::new(
        "window_size",
        Type::Integer(1, u32::MAX as u64),
        "History that the agent gets with a turn: system messages and the last 2·n other messages.",
        "2",
    )
    .default("the whole conversation")
    .unit("turns")
    .codes(&[Code::ConversationMismatch]),
    Key::new(
        "input",
        INPUT,
        "What the agent gets: text, which becomes a message of the user, or a list of messages. Required, except in a conversation.",
        "Order 1182 arrived broken.",
    )
    .codes(&[Code::MissingInput, Code::InvalidInput, Code::RoleMarker, Code::UnknownTemplateVariable]),
    Key::new(
        "input_files",
        Type::List(&Type::File),
        "Files that precede a text `input` in the message of the user. They replace those of the suite.",
        "[./invoice.txt]",
    )
    .codes(&[Code::InputFilesWithMessages, Code::EmptyFile]),
    Key::new("assertions", ASSERTIONS, "The graders of the case, before those of the suite.", "[{type: contains, value: \"19.90\"}]")
        .old(OLD_ASSERTIONS)
        .codes(&[
            Code::NothingToGrade,
            Code::UngradedCase,
            Code::GraderLikeCriterion,
            Code::ZeroTotalWeight,
            Code::RepeatedGraderName,
        ]),
    Key::new("rubrics", CRITERIA, "Criteria of a judge.", "[Names the order]").replaced("assertions` with `type: rubrics"),
    Key::new("evaluator", Type::Choice(&words(EVALUATORS)), "How the case is graded.", "llm-grader").replaced("assertions"),
    Key::new(
        "workspace",
        CASE_WORKSPACE,
        "The directory the agent works in, key by key instead of the suite's; a mapping, or the path of a file with one.",
        "{template: ./workspace}",
    )
    .default("`workspace/` next to a `case.yaml` if it exists, else the suite's")
    .codes(&[Code::InvalidExternalFile]),
    Key::new("requires", Type::Object(&CASE_REQUIRES), "What the case needs; without it, the case is skipped.", "{env: [API_KEY]}"),
    Key::new(
        "metadata",
        Type::Data,
        "Free-form data: graders, hooks and records get it, with the suite's. `cargo evalsuite run --bucket` selects by `failure_bucket`.",
        "{failure_bucket: amounts}",
    ),
    Key::new("conversation_id", Type::Text, "Label in records.", "support-42"),
    Key::new(
        "depends_on",
        Type::List(&Type::Literal),
        "Ids of cases of the suite that run before this one.",
        "[open-account]",
    )
    .codes(&[Code::UnknownDependency, Code::DependencyCycle]),
    Key::new(
        "on_dependency_failure",
        Type::Choice(&words(ON_DEPENDENCY_FAILURE)),
        "Outcome of the case if a dependency did not pass: skipped, failed, or as if it had passed.",
        "fail",
    )
    .default("`skip`")
    .codes(&[Code::NoEffect]),
    Key::new("suite", Type::AnyText, "Suite of the case.", "shop").no_effect("delete it: a case belongs to the suite it is found in"),
    Key::new("reference_answer", Type::Any, "The reference answer.", "Refund approved.").no_effect("write `expected_output`"),
    Key::new("vars", Type::Any, "Values of template variables.", "{order: 1182}").refused(Code::UnsupportedKey, "`vars` of a case is not supported: they are not filled in where `{{ name }}` stands", "write the values where they are used").codes(&[Code::UnsupportedKey]),
];

pub(crate) static CASE: Table = Table::new(
    "case",
    "a case",
    "One case: an element of `tests`, of a list of cases, or a line of a JSONL file.",
    CASE_KEYS,
)
.with(IN_A_LIST);

pub(crate) static CASE_FILE: Table =
    Table::new("case-file", "a case", "One case in a file of its own, `cases/<name>/case.yaml`.", CASE_KEYS)
        .with(IN_A_FILE);

pub(crate) static TURN: Table = Table::new(
    "turn",
    "a turn",
    "One turn of a conversation.",
    &[
        Key::new("input", TURN_INPUT, "The user's message: text, or a list of parts.", "And my refund?")
            .required()
            .codes(&[Code::ConversationMismatch]),
        Key::new("expected_output", EXPECTED_OUTPUT, "The reference answer of this turn.", "It is on its way.")
            .codes(&[Code::InvalidExpectedOutput]),
        Key::new("assertions", ASSERTIONS, "Graders of the reply of this turn.", "[{type: contains, value: refund}]")
            .old(OLD_ASSERTIONS),
    ],
);
