//! `execution`, `trials`, targets of a matrix and `requires`.

use evalsuite_schema::Strategy;

use super::range::{FRACTION, POSITIVE};
use super::workspace::HOOKS;
use super::{Key, Table, Type, words};
use crate::diagnostic::Code;
use evalsuite_schema::keys::{ASSERTIONS, OLD_ASSERTIONS};

pub(crate) const STRATEGIES: &[(&str, Strategy); 3] = &[
    ("pass_at_k", Strategy::PassAtK),
    ("mean", Strategy::Mean),
    ("confidence_interval", Strategy::ConfidenceInterval),
];

/// Keys of `execution` of a suite and of a case.
static COMMON: &[Key] = &[
    Key::new("target", Type::Literal, "The target the cases run against, where there is no matrix.", "large")
        .default("`default`")
        .codes(&[Code::ConflictingKeys, Code::InvalidTarget]),
    Key::new(
        "trials",
        Type::Object(&TRIALS),
        "How often a case runs, and how its trials decide it. The object of a case replaces the suite's.",
        "{count: 3}",
    )
    .default("one trial"),
    Key::new("threshold", Type::Number(&FRACTION), "Lowest score of a trial that passes.", "0.9").default("0.8"),
    Key::new("timeout_seconds", Type::Number(&POSITIVE), "Time limit of one call of the agent.", "60")
        .default("the target's, else 300")
        .unit("seconds"),
    Key::new("assertions", ASSERTIONS, "Graders.", "[{type: is-json}]").old(OLD_ASSERTIONS).replaced("assertions"),
];

pub(crate) static SUITE_EXECUTION: Table = Table::new(
    "suite-execution",
    "`execution`",
    "How the cases of a suite run. Each setting of a case's own `execution` takes precedence.",
    &[
        Key::new(
            "targets",
            Type::Some(&Type::OneOf(&[Type::Literal, Type::Object(&SUITE_TARGET)])),
            "The target matrix: every case runs once against each of these targets, as a test of its own.",
            "[small, {name: large}]",
        )
        .codes(&[Code::ConflictingKeys, Code::InvalidTarget, Code::OutOfRange]),
        Key::new("budget_usd", Type::Number(&POSITIVE), "What the suite may cost in one run.", "2.50")
            .old(&["budgetUsd"])
            .default("no limit")
            .unit("US dollars"),
        Key::new(
            "workers",
            Type::Integer(1, 50),
            "How many trials run at the same time at most, over all processes.",
            "4",
        )
        .default("no limit"),
        Key::new("fail_on_error", Type::Boolean, "Whether the run of the suite stops after the first error.", "true")
            .old(&["failOnError"])
            .default("`false`"),
        Key::new("cache", Type::Boolean, "Whether answers are cached.", "true").no_effect(CACHE),
        Key::new("cache_path", Type::AnyText, "Where answers are cached.", ".cache")
            .old(&["cachePath"])
            .no_effect(CACHE),
        Key::new("total_budget_usd", Type::Any, "The old name of `budget_usd`.", "5")
            .refused(Code::UnsupportedKey, "`total_budget_usd` was replaced", "use `budget_usd`")
            .codes(&[Code::UnsupportedKey]),
        Key::new("totalBudgetUsd", Type::Any, "The old name of `budget_usd`.", "5")
            .refused(Code::UnsupportedKey, "`totalBudgetUsd` was replaced", "use `budget_usd`")
            .codes(&[Code::UnsupportedKey]),
        Key::new("skip_defaults", Type::Any, "A key of cases.", "true")
            .refused(
                Code::SettingConflict,
                "`skip_defaults` has no meaning in a suite",
                "write it in the `execution` of a case",
            )
            .codes(&[Code::SettingConflict]),
    ],
)
.with(COMMON);

const CACHE: &str = "record and replay answers with `EVALSUITE_MODE=record` and `EVALSUITE_MODE=replay`";

pub(crate) static CASE_EXECUTION: Table = Table::new(
    "case-execution",
    "`execution` of a case",
    "How a case runs.",
    &[
        Key::new(
            "targets",
            Type::List(&Type::Literal),
            "The targets of the suite's matrix this case runs against.",
            "[large]",
        )
        .default("all of them")
        .codes(&[Code::ConflictingKeys, Code::InvalidTarget]),
        Key::new(
            "skip_defaults",
            Type::Boolean,
            "Leaves out the suite's `input`, `input_files` and `assertions`.",
            "true",
        )
        .default("`false`"),
    ],
)
.with(COMMON);

pub(crate) static TRIALS: Table = Table::new(
    "trials",
    "`trials`",
    "Repetition of a case. **In a suite of kind `capability`, the kind of an `EVAL.yaml` that names none, one passed trial \
     passes the case: more trials make the case *easier*.** To ask more of the agent, write `kind: regression` in the suite \
     (every trial has to pass), `strategy: mean` (the mean score has to reach the threshold) or `strategy: confidence_interval`.",
    &[
        Key::new(
            "count",
            Type::Integer(1, u32::MAX as u64),
            "Number of trials. Trials that can no longer change the verdict are not run, unless `EVALSUITE_RUN_ALL=1`.",
            "3",
        )
        .required(),
        Key::new(
            "strategy",
            Type::Choice(&words(STRATEGIES)),
            "How the trials decide the case. `pass_at_k`: one passed trial is enough. `mean`: the mean of the scores reaches \
             the threshold. `confidence_interval`: the lower bound of the 95 % interval of the mean reaches it.",
            "mean",
        )
        .default("by the suite's `kind`: `capability` asks for one passed trial, `regression` and `mixed` for all")
        .codes(&[Code::SettingConflict]),
        Key::new(
            "cost_limit_usd",
            Type::Number(&POSITIVE),
            "No further trial of the case starts once its trials have cost this much.",
            "0.50",
        )
        .old(&["costLimitUsd"])
        .default("no limit")
        .unit("US dollars"),
        Key::new(
            "errors",
            Type::Integer(0, u32::MAX as u64),
            "How many trials may end in an error, after their retries, without the case ending in one. They count as if they had not \
             run. With more of them, the case ends in an error, even if other trials passed.",
            "1",
        )
        .default("`0`"),
    ],
);

pub(crate) static SUITE_TARGET: Table = Table::new(
    "suite-target",
    "a target",
    "One target of the matrix.",
    &[
        Key::new("name", Type::Literal, "Name of the target, part of the names of its tests.", "large")
            .required()
            .codes(&[Code::InvalidTarget]),
        Key::new("use_target", Type::Text, "Entry of the targets file that is used under this name.", "gpt")
            .default("the entry named `name`"),
        Key::new(
            "hooks",
            Type::Object(&HOOKS),
            "Hooks of this target, around those of the workspace.",
            "{before_all: ./start}",
        ),
    ],
);

static REQUIRES: &[Key] = &[
    Key::new("env", Type::List(&Type::Text), "Environment variables that have to be set and not empty.", "[API_KEY]"),
    Key::new("commands", Type::List(&Type::Text), "Programs that have to be on the `PATH`.", "[cargo]"),
];

pub(crate) static CASE_REQUIRES: Table = Table::new(
    "case-requires",
    "`requires`",
    "What a case needs. A case whose requirements are not met is skipped; the message names what is missing.",
    REQUIRES,
);

pub(crate) static SUITE_REQUIRES: Table = Table::new(
    "suite-requires",
    "`requires`",
    "What every case of a suite needs. A case whose requirements are not met is skipped.",
    &[
        Key::new(
            "evalsuite",
            Type::Literal,
            "Versions of evalsuite that read the suite, as in a Cargo.toml.",
            "\">=0.1\"",
        )
        .codes(&[Code::OutOfRange]),
        Key::new("agentv", Type::AnyText, "Versions of another tool.", "\">=4\"")
            .no_effect("say which evalsuite is needed with `evalsuite: \">=0.1\"`"),
    ],
)
.with(REQUIRES);
