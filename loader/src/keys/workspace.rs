//! `workspace`, its repositories and hooks.

use evalsuite_schema::{Isolation, Reset, Resolve};

use super::{Key, SCHEMA_KEY, Table, Type, words};
use crate::diagnostic::Code;

pub(crate) const ISOLATIONS: &[(&str, Isolation); 2] =
    &[("per_test", Isolation::PerTest), ("shared", Isolation::Shared)];
pub(crate) const WORKSPACE_MODES: &[(&str, ()); 2] = &[("temp", ()), ("pooled", ())];
pub(crate) const RESETS: &[(&str, Reset); 3] =
    &[("none", Reset::None), ("fast", Reset::Fast), ("strict", Reset::Strict)];
pub(crate) const RESOLVES: &[(&str, Resolve); 2] = &[("remote", Resolve::Remote), ("local", Resolve::Local)];
pub(crate) const SOURCE_TYPES: &[&str] = &["git", "local"];

/// `workspace` of a suite.
pub(crate) const SUITE_WORKSPACE: Type = Type::OneOf(&[Type::File, Type::Object(&WORKSPACE)]);

/// `workspace` of a case.
pub(crate) const CASE_WORKSPACE: Type = SUITE_WORKSPACE;

/// A key that asks to work in place.
const fn in_place(name: &'static str, message: &'static str) -> Key {
    Key::new(name, Type::Any, "Working in place is not supported: every trial gets a copy of `template`.", "./repo")
        .refused(Code::UnsupportedWorkspace, message, "use `template`: every trial gets its own copy")
        .codes(&[Code::UnsupportedWorkspace])
}

pub(crate) static WORKSPACE: Table = Table::new(
    "workspace",
    "`workspace`",
    "The directory an agent works in, made anew for every trial. In a case, each key replaces the suite's, hooks hook by hook.",
    &[
        Key::new("template", Type::Literal, "Directory that is copied for every trial, without `.git`.", "./workspace")
            .codes(&[Code::MissingPath, Code::PathEscape, Code::UnsupportedWorkspace, Code::UnreadableFile, Code::LimitExceeded]),
        Key::new(
            "isolation",
            Type::Choice(&words(ISOLATIONS)),
            "Whether every trial has its own copy, or all trials of the suite work in one, one at a time. `shared` is for suites \
             with a `template`.",
            "shared",
        )
        .default("`per_test`")
        .codes(&[Code::SettingConflict, Code::UnsupportedWorkspace, Code::NoEffect]),
        Key::new("mode", Type::Choice(&words(WORKSPACE_MODES)), "Where the copies come from; both words have the same effect.", "temp")
            .default("`temp`")
            .codes(&[Code::NoEffect, Code::UnsupportedWorkspace]),
        in_place("path", "`path`: working in place is not supported"),
        in_place("static_path", "`static_path`: working in place is not supported"),
        in_place("pool", "`pool`: working in place is not supported"),
        in_place("static", "`static`: working in place is not supported"),
        Key::new(
            "repos",
            Type::List(&Type::Object(&REPO)),
            "Git repositories that are cloned into the workspace.",
            "[{path: shop, source: {type: git, url: https://example.com/shop.git}}]",
        )
        .codes(&[Code::InvalidRepo]),
        Key::new("hooks", Type::Object(&HOOKS), "Commands that run around trials.", "{before_each: ./seed.sh}")
            .codes(&[Code::InvalidHook]),
        Key::new("docker", Type::Any, "Docker workspaces are not supported; with `allow = [\"unsupported-docker\"]` in the macro, the cases are skipped.", "{}")
            .codes(&[Code::UnsupportedDocker]),
    ],
)
.with(SCHEMA_KEY);

pub(crate) static HOOKS: Table = Table::new(
    "hooks",
    "`hooks`",
    "Commands that run around trials. A hook is a command, or a mapping with more settings.",
    &[
        Key::new("enabled", Type::Boolean, "Whether the hooks run.", "false").default("`true`"),
        Key::new(
            "before_all",
            HOOK_TYPE,
            "Runs once per run and suite, before the first trial.",
            "{command: [./start_database]}",
        ),
        Key::new("before_each", HOOK_TYPE, "Runs before every trial.", "\"psql -f {{case_dir}}/seed.sql\""),
        Key::new(
            "after_each",
            HOOK_TYPE,
            "Runs after every trial, also after an error.",
            "{command: [./collect_logs], timeout_ms: 10000}",
        ),
        Key::new("after_all", HOOK_TYPE, "Runs once, after the last trial of the suite.", "[./stop_database]"),
        Key::new("on_reuse", Type::Any, "Runs where another tool uses a workspace again.", "{command: [./reset]}")
            .no_effect("delete it: every trial gets a workspace of its own"),
        Key::new("on_finish", Type::Any, "Runs where another tool is done with a workspace.", "{command: [./reset]}")
            .no_effect("delete it: every trial gets a workspace of its own"),
    ],
);

const HOOK_TYPE: Type = Type::OneOf(&[Type::Command, Type::Object(&HOOK)]);

pub(crate) static HOOK: Table = Table::new(
    "hook",
    "a hook",
    "A hook with settings. It gets a JSON object on standard input (see the protocols).",
    &[
        Key::new("cwd", Type::Directory, "Working directory.", "./scripts").default("the suite's directory; in a workspace file, its directory"),
        Key::new(
            "command",
            Type::Command,
            "What runs. A hook with `reset` can do without.",
            "[./scripts/seed.sh, \"{{test_id}}\"]",
        )
        .old(&["script"])
        .codes(&[Code::InvalidHook, Code::InvalidCommand, Code::MissingPath, Code::ArgumentNotFound, Code::UnknownTemplateVariable]),
        Key::new(
            "reset",
            Type::Choice(&words(RESETS)),
            "Returns the workspace to its state before the trials: `fast` leaves files that git ignores alone, `strict` removes \
             them, too. Only in `before_each` and `after_each`.",
            "fast",
        )
        .default("`none`")
        .codes(&[Code::SettingConflict]),
        Key::new("timeout_ms", Type::Integer(1, u64::MAX), "Time limit.", "10000")
            .old(&["timeoutMs"])
            .default("60000 before, 30000 after trials")
            .unit("milliseconds"),
    ],
);

pub(crate) static REPO: Table = Table::new(
    "repo",
    "a repo",
    "A git repository in the workspace. It is cloned once per run, and every trial gets a copy.",
    &[
        Key::new("path", Type::Literal, "Directory in the workspace.", "./shop").required().codes(&[Code::InvalidRepo]),
        Key::new("source", Type::Object(&SOURCE), "What is cloned.", "{type: git, url: https://example.com/shop.git}")
            .required()
            .codes(&[Code::InvalidRepo]),
        Key::new("clone", Type::Object(&CLONE), "How much is cloned.", "{depth: 1}"),
        Key::new("checkout", Type::Object(&CHECKOUT), "Which commit is checked out.", "{ref: v1.2.0}"),
    ],
);

pub(crate) static SOURCE: Table = Table::new(
    "repo-source",
    "`source` of a repo",
    "Where a repository comes from.",
    &[
        Key::new("type", Type::Choice(SOURCE_TYPES), "`git`: a URL. `local`: a directory on this machine.", "git")
            .required()
            .codes(&[Code::InvalidRepo]),
        Key::new("url", Type::Text, "URL that git understands, with `type: git`.", "https://example.com/shop.git")
            .codes(&[Code::InvalidRepo]),
        Key::new("path", Type::Text, "Directory, with `type: local`.", "../shop").codes(&[Code::InvalidRepo]),
    ],
);

pub(crate) static CLONE: Table = Table::new(
    "clone",
    "`clone`",
    "How much of a repository is cloned.",
    &[
        Key::new("depth", Type::Integer(1, u32::MAX as u64), "Number of commits of a shallow clone.", "1")
            .default("all"),
        Key::new("filter", Type::Text, "Filter of a partial clone.", "\"blob:none\""),
        Key::new("sparse", Type::List(&Type::Text), "Directories of a sparse checkout.", "[src]"),
    ],
);

pub(crate) static CHECKOUT: Table = Table::new(
    "checkout",
    "`checkout`",
    "Which commit of a repository is checked out.",
    &[
        Key::new("ref", Type::Text, "Commit, tag or branch.", "v1.2.0").or("base_commit").default("`HEAD`"),
        Key::new(
            "resolve",
            Type::Choice(&words(RESOLVES)),
            "Where `ref` is looked up: at the source, or in the clone.",
            "local",
        )
        .default("`remote`")
        .codes(&[Code::NoEffect]),
        Key::new("ancestor", Type::Integer(0, u32::MAX as u64), "How many first parents to go back from there.", "1")
            .default("0")
            .unit("commits")
            .codes(&[Code::ShallowAncestor]),
    ],
);
