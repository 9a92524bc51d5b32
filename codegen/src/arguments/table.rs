//! The arguments of `include_eval_suite!`: the names that the parser knows, and what the reference says about them.

/// An argument.
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What its value can be; empty for a flag.
    pub value: &'static str,
    /// What holds without it; empty if that is nothing.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The argument as it is written.
    pub example: &'static str,
}

const fn argument(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Argument {
    Argument { name, value, default, doc, example }
}

/// Every argument.
pub static ARGUMENTS: &[Argument] = &[
    argument(
        "agent",
        "path or expression, `\"cli\"`, or `none`",
        "the function named after the suite's agent, else `agent`",
        "The agent. `\"cli\"`: the command in a targets file. `none`: only `SUITE`, no tests.",
        "agent = card_agent",
    ),
    argument(
        "agents",
        "names and paths",
        "",
        "One agent per target, before `agent`.",
        "agents = { \"small\" => small_agent, \"large\" => large_agent }",
    ),
    argument(
        "graders",
        "list of paths, or of names and paths",
        "",
        "Graders written in Rust. Every grader that the files name is built in or listed here.",
        "graders = [card_completion, \"tone\" => judged_tone]",
    ),
    argument(
        "judge",
        "path or expression, name, or list of names",
        "",
        "The judge of graders that name none. A name is one of `judges` or of a targets file; of several, the majority decides.",
        "judge = my_judge",
    ),
    argument(
        "judges",
        "names and paths",
        "",
        "Judges by the names that graders write as `target`.",
        "judges = { \"strict\" => strict_judge }",
    ),
    argument(
        "judge_confirm",
        "even number from 0 to 10",
        "2",
        "How many judgements follow a failing one; the majority decides.",
        "judge_confirm = 4",
    ),
    argument(
        "runtime",
        "expression",
        "one multi-thread runtime of the process",
        "The tokio runtime of async agents, graders and judges: the `Handle` of a multi-thread runtime that lives as long as the tests.",
        "runtime = RUNTIME.handle().clone()",
    ),
    argument(
        "targets",
        "list of names",
        "",
        "The target matrix, where the files of the suite have none: one test per target and case.",
        "targets = [\"small\", \"large\"]",
    ),
    argument(
        "require_env",
        "list of names",
        "",
        "Environment variables without which the cases are skipped.",
        "require_env = [\"API_KEY\"]",
    ),
    argument(
        "require_commands",
        "list of names",
        "",
        "Programs without which the cases are skipped.",
        "require_commands = [\"docker\"]",
    ),
    argument("name", "identifier", "the last component of the path", "Name of the module.", "name = nightly"),
    argument("ignore", "text", "", "Marks the tests `#[ignore]`, with this reason.", "ignore = \"needs a GPU\""),
    argument(
        "fixtures",
        "`on` or `off`",
        "`on`",
        "Whether a `workspace/` directory next to a task, and `fixture_dir` and `base_fixture` in its input, are its workspace.",
        "fixtures = off",
    ),
    argument(
        "embed",
        "`on` or `off`",
        "`on`",
        "Whether workspaces, fixtures, scripts and the targets file of commands are embedded in the test program, up to 32 MiB.",
        "embed = off",
    ),
    argument(
        "crate",
        "path",
        "`::evalsuite`",
        "Where generated code finds evalsuite, in a package that has it from a crate which re-exports it. The method of `generate` is `crate_path`.",
        "crate = my_facade::evalsuite",
    ),
    argument("deny_warnings", "", "", "Warnings about the suite fail the build.", "deny_warnings"),
    argument(
        "allow",
        "list of names of warnings",
        "",
        "Warnings that are not shown. `unsupported-docker` lets cases with a docker workspace be skipped.",
        "allow = [\"no-effect\"]",
    ),
];

/// The names of all arguments.
pub(super) fn names() -> Vec<&'static str> {
    ARGUMENTS.iter().map(|argument| argument.name).collect()
}
