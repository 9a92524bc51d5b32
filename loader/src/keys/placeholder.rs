//! Placeholders: names in braces that are filled with values of a trial.

/// A placeholder.
#[derive(Debug)]
#[non_exhaustive]
pub struct Placeholder {
    /// The name between the braces.
    pub name: &'static str,
    /// What it is filled with.
    pub doc: &'static str,
}

const fn placeholder(name: &'static str, doc: &'static str) -> Placeholder {
    Placeholder { name, doc }
}

/// Whether `name` is one of the placeholders.
pub(crate) fn is_known(known: &[Placeholder], name: &str) -> bool {
    known.iter().any(|placeholder| placeholder.name == name)
}

/// The names of placeholders.
pub(crate) fn names(known: &[Placeholder]) -> Vec<&'static str> {
    known.iter().map(|placeholder| placeholder.name).collect()
}

/// `{{ name }}` in the command of a hook.
pub static OF_HOOKS: &[Placeholder] = &[
    placeholder("workspace_path", "absolute path of the workspace"),
    placeholder("test_id", "id of the case; around all trials, a name in underscores"),
    placeholder("eval_run_id", "id of the run"),
    placeholder("case_input", "text of the input; empty around all trials"),
    placeholder("case_metadata", "`metadata` of the case as JSON; empty around all trials"),
    placeholder("suite_dir", "absolute path of the suite's directory"),
    placeholder("case_dir", "absolute path of the directory of the case's file; empty around all trials"),
    placeholder("target", "name of the target; empty without one"),
];

/// `{NAME}` in the command of a targets file.
pub static OF_COMMANDS: &[Placeholder] = &[
    placeholder("PROMPT", "the prompt, quoted for the shell"),
    placeholder("PROMPT_FILE", "path of a file with the prompt"),
    placeholder("EVAL_ID", "id of the case"),
    placeholder("ATTEMPT", "index of the trial, from 0"),
    placeholder("MCP_CONFIG", "path of a file with the servers of `mcp`, which is removed after the call"),
    placeholder("FILES", "the input files, each as `files_format` says"),
    placeholder(
        "OUTPUT_FILE",
        "path of the file to which the command has to write its answer; what it prints is only logged",
    ),
];

/// `{{ name }}` in a prompt of a judge.
pub static OF_PROMPTS: &[Placeholder] = &[
    placeholder("input", "what the agent was asked"),
    placeholder("output", "the answer"),
    placeholder("expected_output", "the reference answer"),
    placeholder("criteria", "`criteria` of the case"),
    placeholder("file_changes", "changes in the workspace, as a unified diff"),
    placeholder("tool_calls", "the tool calls of the agent"),
];

/// `{{ name }}` in the prompt of an aggregator.
pub static OF_AGGREGATORS: &[Placeholder] =
    &[placeholder("EVALUATOR_RESULTS_JSON", "the results of the members as JSON")];
