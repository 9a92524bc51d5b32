//! The targets file.

use super::range::POSITIVE;
use super::{Key, SCHEMA_KEY, Table, Type};
use crate::diagnostic::Code;

pub(crate) static TARGETS_FILE: Table = Table::new(
    "targets-file",
    "a targets file",
    "`targets.yaml`, also below `.evalsuite/` or `.agentv/`: the nearest one from the suite's directory up to the package's.",
    &[Key::new(
        "targets",
        Type::List(&Type::Object(&CLI_TARGET)),
        "Agents and judges that are commands.",
        "[{name: default, provider: cli, command: \"my-agent {PROMPT_FILE}\"}]",
    )
    .required()
    .codes(&[Code::TargetsFile])],
)
.with(SCHEMA_KEY);

/// A key of another tool.
const fn of_another_tool(name: &'static str, doc: &'static str, example: &'static str) -> Key {
    Key::new(name, Type::Any, doc, example).no_effect("delete it")
}

static TARGET_KEYS: &[Key] = &[
    Key::new("name", Type::Text, "Name of the target.", "default").required().codes(&[Code::TargetsFile]),
    Key::new(
        "use_target",
        Type::Text,
        "Another entry that is used under this name, in at most 5 steps. Such an entry has no other keys.",
        "gpt",
    )
    .codes(&[Code::ConflictingKeys, Code::TargetsFile, Code::TargetNotRunnable]),
    Key::new(
        "provider",
        Type::Text,
        "`cli`: a command. Other providers need an agent in Rust, and their keys are not read.",
        "cli",
    )
    .codes(&[Code::MissingKey, Code::TargetNotRunnable]),
    of_another_tool("grader_target", "The judge.", "gpt"),
    of_another_tool("judge_target", "The judge.", "gpt"),
    of_another_tool("workers", "How many trials run at the same time.", "4"),
    of_another_tool("max_retries", "How often a call is repeated.", "2"),
    of_another_tool("fallback_targets", "Targets that are used after a failure.", "[gpt]"),
    of_another_tool("subagent_mode_allowed", "Whether the target may be a subagent.", "true"),
];

/// An entry that names another one.
pub(crate) static TARGET: Table = Table::new("target", "a target", "A name for another target.", &[]).with(TARGET_KEYS);

pub(crate) static CLI_TARGET: Table = Table::new(
    "cli-target",
    "a target",
    "A command that is an agent or a judge.",
    &[
        Key::new(
            "command",
            Type::NotEmpty,
            "A line for the shell. It holds placeholders such as `{PROMPT_FILE}` and `{OUTPUT_FILE}`.",
            "my-agent --prompt-file {PROMPT_FILE} --out {OUTPUT_FILE}",
        )
        .codes(&[Code::MissingKey, Code::InvalidCommand, Code::UnknownPlaceholder]),
        Key::new("cwd", Type::Directory, "Working directory of trials of cases without a workspace.", "./agent")
            .default("an empty workspace")
            .codes(&[Code::ConflictingKeys]),
        Key::new(
            "in_suite_directory",
            Type::Boolean,
            "Whether trials of cases without a workspace run in the suite's directory, in place of an empty workspace. A command \
             that writes there changes the suite.",
            "true",
        )
        .default("`false`")
        .codes(&[Code::ConflictingKeys]),
        Key::new("timeout_seconds", Type::Number(&POSITIVE), "Time limit of a call where the case sets none.", "120")
            .default("300")
            .unit("seconds"),
        Key::new(
            "files_format",
            Type::Text,
            "How an input file is written for `{FILES}`, with `{path}` and `{basename}`.",
            "\"--file {path}\"",
        )
        .old(&["attachments_format"])
        .default("`{path}`"),
        Key::new(
            "healthcheck",
            Type::Object(&HEALTHCHECK),
            "Asked once per run, before the first trial.",
            "{url: http://localhost:8080/health}",
        ),
        Key::new("env", Type::Map(&Type::AnyText), "Added to the environment of the command.", "{LOG: debug}"),
        Key::new("keep_temp_files", Type::Boolean, "Whether prompt and output files are kept.", "true")
            .old(&["keep_output_files"])
            .default("`false`"),
        Key::new("verbose", Type::Boolean, "Whether the command line is written to the log of the trial.", "true")
            .old(&["cli_verbose"])
            .default("`false`"),
        Key::new(
            "provider_batching",
            Type::Boolean,
            "Whether several cases go to one process. With `true` the target cannot run.",
            "false",
        )
        .default("`false`")
        .codes(&[Code::NoEffect, Code::TargetNotRunnable]),
    ],
)
.with(TARGET_KEYS);

pub(crate) static HEALTHCHECK: Table = Table::new(
    "healthcheck",
    "`healthcheck`",
    "How the health of a target is checked: by a URL that answers with a status from 200 to 299, or by a command that exits with 0.",
    &[
        Key::new("url", Type::Text, "The URL.", "http://localhost:8080/health")
            .codes(&[Code::ConflictingKeys, Code::TargetsFile]),
        Key::new("command", Type::Text, "A line for the shell.", "\"curl -f localhost:8080\"")
            .codes(&[Code::ConflictingKeys, Code::TargetsFile]),
        Key::new("cwd", Type::Directory, "Working directory of the command.", "./agent")
            .default("the directory of the eval file"),
        Key::new("timeout_seconds", Type::Number(&POSITIVE), "Time limit.", "5").default("30").unit("seconds"),
    ],
);
