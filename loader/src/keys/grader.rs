//! Graders: what all of them have, and the settings of each type.

use evalsuite_schema::grader::{DateFormat, FieldAggregation};

use super::judged::{CRITERIA, JUDGE, PREPROCESSOR, PROMPT, SOME_CRITERIA};
use super::range::{FRACTION, NOT_NEGATIVE, PASS_MARK, POSITIVE};
use super::{Key, SCHEMA, Table, Type, words};
use crate::diagnostic::Code;

pub(crate) use super::trajectory::{SKILL_TRIGGER, TOOL_TRAJECTORY};

/// Old spellings of the key `assertions`.
pub(crate) const OLD_ASSERTIONS: &[&str] = &["assert", "evaluators"];

/// A list of assertions.
pub(crate) const ASSERTIONS: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(&INCLUDE), Type::Grader]));

pub(crate) static INCLUDE: Table = Table::new(
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

pub(crate) static TEMPLATE: Table = Table::new(
    "template",
    "a template",
    "A file of assertions that several cases include, at most 3 levels deep.",
    &[Key::new("assertions", ASSERTIONS, "The assertions.", "[Is polite, {type: is-json}]")
        .required()
        .codes(&[Code::InvalidExternalFile])],
)
.with(SCHEMA);

/// What every grader of the cases layout has.
pub static COMMON: &[Key] = &[
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
    Key::new("id", Type::Any, "Name in results.", "amount").no_effect("write `name`"),
];

/// What every built-in grader of the tasks layout has in its `config`.
pub static TASK_COMMON: &[Key] = &[
    Key::new("min_score", Type::Number(&PASS_MARK), "Pass mark: lowest score of a passing verdict.", "0.9")
        .default("1"),
    Key::new("negate", Type::Boolean, "Whether the result is inverted.", "true").default("`false`"),
];

pub(crate) static TASK_GRADER: Table = Table::new(
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
            "The settings of the type, with `min_score` and `negate`; of a grader in Rust, what it takes.",
            "{\"value\": \"14.20\"}",
        )
        .codes(&[Code::GraderConfigRejected]),
    ],
);

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
.with(COMMON);

/// The table of a built-in type.
pub(super) const fn grader(
    id: &'static str,
    what: &'static str,
    example: &'static str,
    doc: &'static str,
    keys: &'static [Key],
) -> Table {
    let mut table = Table::new(id, what, doc, keys).with(COMMON);
    table.example = example;
    table
}

static VALUE: &[Key] = &[Key::new("value", Type::NotEmpty, "The text.", "\"19.90\"").required()];
static VALUES: &[Key] = &[Key::new("value", Type::Some(&Type::NotEmpty), "The texts.", "[refund, reimburse]")
    .required()
    .codes(&[Code::BlankValue])];

pub(crate) static CONTAINS: Table = grader(
    "contains",
    "`contains`",
    r#"{ type: contains, value: "19.90", required: true }"#,
    "The answer contains the text.",
    VALUE,
);
pub(crate) static CONTAINS_ANY: Table = grader(
    "contains-any",
    "`contains-any`",
    r#"{ type: contains-any, value: [refund, reimburse], weight: 2 }"#,
    "The answer contains at least one of the texts.",
    VALUES,
);
pub(crate) static CONTAINS_ALL: Table = grader(
    "contains-all",
    "`contains-all`",
    r#"{ type: contains-all, value: ["1182", "19.90"] }"#,
    "The answer contains all of the texts.",
    VALUES,
);
pub(crate) static ICONTAINS: Table = grader(
    "icontains",
    "`icontains`",
    r#"{ type: icontains, value: refund }"#,
    "Like `contains`, ignoring case.",
    VALUE,
);
pub(crate) static ICONTAINS_ANY: Table = grader(
    "icontains-any",
    "`icontains-any`",
    r#"{ type: icontains-any, value: [sorry, apologies] }"#,
    "Like `contains-any`, ignoring case.",
    VALUES,
);
pub(crate) static ICONTAINS_ALL: Table = grader(
    "icontains-all",
    "`icontains-all`",
    r#"{ type: icontains-all, value: [order, refund] }"#,
    "Like `contains-all`, ignoring case.",
    VALUES,
);
pub(crate) static STARTS_WITH: Table = grader(
    "starts-with",
    "`starts-with`",
    r#"{ type: starts-with, value: Dear }"#,
    "The trimmed answer starts with the text.",
    VALUE,
);
pub(crate) static ENDS_WITH: Table = grader(
    "ends-with",
    "`ends-with`",
    r#"{ type: ends-with, value: Your shop }"#,
    "The trimmed answer ends with the text.",
    VALUE,
);
pub(crate) static EQUALS: Table =
    grader("equals", "`equals`", r#"{ type: equals, value: approved }"#, "The trimmed answer is the text.", VALUE);

pub(crate) static REGEX: Table = grader(
    "regex",
    "`regex`", r#"{ type: regex, value: '\b19[.,]90\b', flags: i }"#,
    "The pattern matches anywhere in the answer.",
    &[
        Key::new("value", Type::NotEmpty, "The pattern, in the syntax of the crate `fancy-regex`.", "'\\b19[.,]90\\b'")
            .required()
            .codes(&[Code::InvalidRegex, Code::CheckedAtRunTime, Code::LimitExceeded]),
        Key::new("flags", Type::AnyText, "`i` ignores case, `m` lets `^` and `$` match at lines, `s` lets `.` match line ends, `x` allows blanks and comments, `u` has no effect on patterns, which are Unicode.", "i")
            .default("none")
            .codes(&[Code::InvalidRegex, Code::IgnoredRegexFlag]),
    ],
);

pub(crate) static SIMILAR: Table = grader(
    "similar",
    "`similar`",
    r#"{ type: similar, value: Refund approved., threshold: 0.9, ignore_case: true }"#,
    "The edit similarity of answer and text, 1 − edit distance / length of the longer text, reaches the pass mark. Insertions, \
     deletions and replacements of characters (Unicode scalar values) are counted after trimming both texts, and the count is exact. \
     If the product of the lengths of the differing parts exceeds 10^10 (two texts of 100 000 characters), the grader returns an error \
     rather than a guess. A runaway answer compared with a short `value` is well below that limit and scores close to 0. With \
     `max_distance` the score is 1 if the edit distance is at most that, else 0.",
    &[
        Key::new(
            "value",
            Type::NotEmpty,
            "The text to compare with. Required in the tasks layout.",
            "Refund approved.",
        )
        .default("the case's `expected_output`")
        .codes(&[Code::MissingGraderSetting]),
        Key::new("threshold", Type::Number(&PASS_MARK), "The pass mark: another spelling of `min_score`.", "0.9")
            .codes(&[Code::ConflictingKeys, Code::SettingConflict]),
        Key::new(
            "max_distance",
            Type::Integer(0, u64::MAX),
            "Largest edit distance that passes, in place of a pass mark.",
            "3",
        )
        .unit("characters")
        .codes(&[Code::SettingConflict]),
        Key::new("ignore_case", Type::Boolean, "Whether case is ignored.", "true").default("`false`"),
    ],
);

pub(crate) static IS_JSON: Table =
    grader("is-json", "`is-json`", r#"{ type: is-json }"#, "The answer is one JSON value.", &[]);

pub(crate) static CONTAINS_JSON: Table = grader(
    "contains-json",
    "`contains-json`",
    r#"{ type: contains-json, schema: ./refund.schema.json }"#,
    "The answer contains a JSON object, between any other text. With `schema`, one of its objects conforms to it, as with `json-schema`, \
     which also says how schemas are checked and which feature they need. An object inside an object is not looked at by itself.",
    &[Key::new(
        "schema",
        Type::File,
        "The schema: a JSON or YAML file of draft 6, 7, 2019-09 or 2020-12.",
        "./refund.schema.json",
    )
    .default("any object will do")
    .codes(&[Code::InvalidJsonSchema])],
);

pub(crate) static JSON_SCHEMA: Table = grader(
    "json-schema",
    "`json-schema`",
    r#"{ type: json-schema, schema: ./refund.schema.json }"#,
    "The answer, without code fences, is JSON that conforms to a JSON Schema. The schema is checked at compile time: misspelled \
     keywords, invalid patterns, references out of the file and reference cycles are reported with their location. `format` is enforced \
     in all drafts, and nothing is ever fetched. The validator takes a while to compile and is therefore a feature: \
     `cargo add --dev evalsuite --features json-schema`. Without it, the generated test `suite_check` reports that the feature is missing.",
    &[Key::new(
        "schema",
        Type::File,
        "The schema: a JSON or YAML file of draft 6, 7, 2019-09 or 2020-12.",
        "./refund.schema.json",
    )
    .required()
    .codes(&[Code::InvalidJsonSchema])],
);

pub(crate) static LATENCY: Table = grader(
    "latency",
    "`latency`",
    r#"{ type: latency, threshold: 5000 }"#,
    "The duration is at most `threshold`.",
    &[Key::new("threshold", Type::Number(&NOT_NEGATIVE), "Longest duration that passes.", "5000")
        .required()
        .unit("milliseconds")],
);

pub(crate) static COST: Table = grader(
    "cost",
    "`cost`",
    r#"{ type: cost, budget: 0.05 }"#,
    "The cost is at most `budget`.",
    &[Key::new("budget", Type::Number(&NOT_NEGATIVE), "Highest cost that passes.", "0.05")
        .required()
        .unit("US dollars")],
);

/// A limit, with its old spelling.
const fn limit(
    name: &'static str,
    old: &'static [&'static str],
    unit: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key::new(name, Type::Number(&NOT_NEGATIVE), doc, example).old(old).unit(unit).codes(&[Code::MissingGraderSetting])
}

pub(crate) static TOKEN_USAGE: Table = grader(
    "token-usage",
    "`token-usage`",
    r#"{ type: token-usage, max_total: 20000 }"#,
    "Token counts are within their limits, of which there is at least one.",
    &[
        limit("max_total", &["maxTotal"], "tokens", "Largest sum of input, output and cached tokens.", "20000"),
        limit("max_input", &["maxInput"], "tokens", "Largest number of input tokens.", "15000"),
        limit("max_output", &["maxOutput"], "tokens", "Largest number of output tokens.", "5000"),
    ],
);

pub(crate) static EXECUTION_METRICS: Table = grader(
    "execution-metrics",
    "`execution-metrics`",
    r#"{ type: execution-metrics, max_tool_calls: 10, max_duration_ms: 30000 }"#,
    "Several limits at once, of which there is at least one; the score is the share that is kept.",
    &[
        limit("min_tool_calls", &[], "calls", "Smallest number of tool calls.", "1"),
        limit("max_tool_calls", &["maxToolCalls"], "calls", "Largest number of tool calls.", "10"),
        limit("min_llm_calls", &[], "calls", "Smallest number of model calls.", "2"),
        limit("max_llm_calls", &["maxLlmCalls"], "calls", "Largest number of model calls.", "5"),
        limit("max_tokens", &["maxTokens"], "tokens", "Largest sum of input and output tokens.", "20000"),
        limit("max_cost_usd", &["maxCostUsd"], "US dollars", "Highest cost.", "0.05"),
        limit("max_duration_ms", &["maxDurationMs"], "milliseconds", "Longest duration.", "30000"),
        Key::new(
            "target_exploration_ratio",
            Type::Number(&FRACTION),
            "Wanted share of exploring calls among all tool calls.",
            "0.6",
        )
        .old(&["targetExplorationRatio"])
        .codes(&[Code::MissingGraderSetting]),
        Key::new("exploration_tolerance", Type::Number(&NOT_NEGATIVE), "Largest distance from that share.", "0.1")
            .old(&["explorationTolerance"])
            .default("0.2"),
    ],
);

/// How a field is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchName {
    Exact,
    NumericTolerance,
    Date,
}

pub(crate) const MATCHES: &[(&str, MatchName); 3] =
    &[("exact", MatchName::Exact), ("numeric_tolerance", MatchName::NumericTolerance), ("date", MatchName::Date)];

pub(crate) const AGGREGATIONS: &[(&str, FieldAggregation); 2] =
    &[("weighted_average", FieldAggregation::WeightedAverage), ("all_or_nothing", FieldAggregation::AllOrNothing)];

pub(crate) const DATE_FORMATS: &[(&str, DateFormat); 8] = &[
    ("YYYY-MM-DDTHH:mm:ssZ", DateFormat::DateTimeOffset),
    ("YYYY-MM-DDTHH:mm:ss", DateFormat::DateTime),
    ("YYYY-MM-DD", DateFormat::Date),
    ("DD-MMM-YYYY", DateFormat::DayMonthName),
    ("MM/DD/YYYY", DateFormat::MonthDaySlash),
    ("DD/MM/YYYY", DateFormat::DayMonthSlash),
    ("MM-DD-YYYY", DateFormat::MonthDayDash),
    ("DD-MM-YYYY", DateFormat::DayMonthDash),
];

pub(crate) static FIELD_ACCURACY: Table = grader(
    "field-accuracy",
    "`field-accuracy`",
    r#"{ type: field-accuracy, fields: [{ path: total, match: numeric_tolerance, tolerance: 0.01 }] }"#,
    "Fields of a JSON answer match the reference answer.",
    &[
        Key::new("fields", Type::Some(&Type::Object(&FIELD)), "The fields.", "[{path: total, match: exact}]")
            .required()
            .codes(&[Code::ZeroTotalWeight, Code::FieldNotInExpected]),
        Key::new(
            "aggregation",
            Type::Choice(&words(AGGREGATIONS)),
            "The weighted mean of the fields, or 1 only if all of them match.",
            "all_or_nothing",
        )
        .default("`weighted_average`"),
    ],
);

pub(crate) static FIELD: Table = Table::new(
    "field",
    "a field",
    "One field to compare.",
    &[
        Key::new("path", Type::Text, "Names and `[n]` joined by dots.", "items[0].price")
            .required()
            .codes(&[Code::FieldNotInExpected]),
        Key::new(
            "match",
            Type::Choice(&words(MATCHES)),
            "How the values are compared: equal as JSON, as numbers within a tolerance, or as dates.",
            "numeric_tolerance",
        )
        .required(),
        Key::new("required", Type::Boolean, "Whether a missing field is a miss; otherwise it is left out.", "false")
            .default("`true`"),
        Key::new("weight", Type::Number(&NOT_NEGATIVE), "Share in the mean of the fields.", "2")
            .default("1")
            .codes(&[Code::InvalidWeight]),
        Key::new(
            "tolerance",
            Type::Number(&NOT_NEGATIVE),
            "Largest difference, with `match: numeric_tolerance`.",
            "0.01",
        )
        .default("0")
        .codes(&[Code::SettingConflict]),
        Key::new("relative", Type::Boolean, "Whether the tolerance is relative to the expected number.", "true")
            .default("`false`")
            .codes(&[Code::SettingConflict]),
        Key::new(
            "formats",
            Type::List(&Type::Choice(&words(DATE_FORMATS))),
            "Formats that decide the order of day and month, with `match: date`.",
            "[DD/MM/YYYY]",
        )
        .default("all of them")
        .codes(&[Code::SettingConflict]),
    ],
);

pub(crate) static CODE_GRADER: Table = grader(
    "code-grader",
    "`code-grader`", r#"{ type: code-grader, command: [python3, ./graders/totals.py] }"#,
    "A command decides, by its exit status or with a JSON object on standard output (see the protocols). Keys that are not in \
     this table are added to `config`.",
    &[
        Key::new("command", Type::Command, "What runs.", "[python3, ./graders/totals.py]")
            .old(&["script"])
            .required()
            .codes(&[Code::InvalidCommand, Code::MissingPath, Code::ArgumentNotFound]),
        Key::new("cwd", Type::Directory, "Working directory.", "./graders").default("the directory of the eval file"),
        Key::new("timeout_seconds", Type::Number(&POSITIVE), "Time limit.", "10").default("60").unit("seconds"),
        Key::new(
            "preprocessors",
            Type::List(&Type::Object(&PREPROCESSOR)),
            "Commands that turn files in the answer into text, tried before the suite's.",
            "[{type: pdf, command: [./pdf_to_text.sh]}]",
        ),
        Key::new("target", Type::Any, "There is no proxy to a model: let the command call the model itself.", "gpt")
            .refused()
            .codes(&[Code::UnsupportedKey]),
        Key::new("config", Type::Data, "Free-form data that the command gets.", "{currency: EUR}").codes(&[Code::NearMissKey, Code::ConflictingKeys]),
    ],
)
.open();

pub(crate) static COMPOSITE: Table = grader(
    "composite",
    "`composite`",
    r#"{ type: composite, aggregator: { type: threshold, threshold: 0.5 }, assertions: [{ type: is-json }, { type: contains, value: paid }] }"#,
    "Several graders in one, at most 4 levels deep.",
    &[
        Key::new(
            "assertions",
            ASSERTIONS,
            "The members, with different names.",
            "[{type: is-json}, {type: contains, value: paid}]",
        )
        .old(OLD_ASSERTIONS)
        .required()
        .codes(&[Code::InvalidComposite]),
        Key::new(
            "aggregator",
            Type::Object(&AGGREGATOR),
            "How they become one score.",
            "{type: threshold, threshold: 0.5}",
        )
        .required(),
    ],
);

/// The types of aggregators.
pub(crate) const AGGREGATORS: &[&str] = &["weighted_average", "threshold", "code-grader", "llm-grader"];

pub(crate) static AGGREGATOR: Table = Table::new(
    "aggregator",
    "`aggregator`",
    "How the members of a composite become one score.",
    &[
        Key::new(
            "type",
            Type::OneOf(&[Type::Choice(AGGREGATORS), Type::Choice(&["code_grader", "llm_grader"])]),
            "The weighted mean of the members; the share of passing members, compared with `threshold`; a command; or a judge. \
             `_` and `-` are the same in `code-grader` and `llm-grader`.",
            "threshold",
        )
        .required()
        .codes(&[Code::MissingGraderSetting, Code::InvalidComposite]),
        Key::new("weights", Type::Map(&Type::Number(&NOT_NEGATIVE)), "Weights of members by name, with `weighted_average`.", "{is-json: 2}")
            .default("the members' own")
            .codes(&[Code::InvalidComposite, Code::InvalidWeight, Code::SettingConflict]),
        Key::new("threshold", Type::Number(&FRACTION), "Lowest share of passing members, with `threshold`, which needs it.", "0.5")
            .codes(&[Code::MissingGraderSetting, Code::SettingConflict]),
        Key::new("command", Type::Command, "What runs, with `code-grader`, which needs it.", "[./combine.py]")
            .or("path")
            .codes(&[Code::MissingGraderSetting, Code::InvalidCommand, Code::SettingConflict]),
        Key::new("cwd", Type::Directory, "Working directory of the command.", "./graders")
            .default("the directory of the eval file")
            .codes(&[Code::SettingConflict]),
        Key::new("prompt", Type::Text, "Prompt with `{{EVALUATOR_RESULTS_JSON}}`, or `file://` with its path, with `llm-grader`.", "file://combine.md")
            .default("a built-in one")
            .codes(&[Code::SettingConflict, Code::UnknownTemplateVariable, Code::PathLikePrompt, Code::MissingPath]),
        Key::new("model", Type::Text, "Model that the judge is asked for, with `llm-grader`.", "gpt-5-mini").codes(&[Code::SettingConflict]),
    ],
);

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

/// The built-in types of graders, in the order of the table of graders.
pub static GRADERS: &[&Table] = &[
    &CONTAINS,
    &CONTAINS_ANY,
    &CONTAINS_ALL,
    &ICONTAINS,
    &ICONTAINS_ANY,
    &ICONTAINS_ALL,
    &STARTS_WITH,
    &ENDS_WITH,
    &EQUALS,
    &REGEX,
    &SIMILAR,
    &IS_JSON,
    &CONTAINS_JSON,
    &JSON_SCHEMA,
    &LATENCY,
    &COST,
    &TOKEN_USAGE,
    &EXECUTION_METRICS,
    &TOOL_TRAJECTORY,
    &SKILL_TRIGGER,
    &FIELD_ACCURACY,
    &CODE_GRADER,
    &COMPOSITE,
    &LLM_GRADER,
    &RUBRICS,
];
