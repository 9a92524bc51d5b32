//! Workspaces and repositories.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::keys::{Keys as _, Type};
use crate::{Command, Hooks, PathRef, WrittenHooks};

/// `workspace` of a suite or a case.
pub(crate) const WORKSPACE: Type = Type::OneOf(&[Type::File, Type::Object(Workspace::TABLE)]);

/// The directory an agent works in, made anew for every trial. In a case, each key replaces the suite's, hooks hook by hook.
#[skip_empty(.., isolation, hooks, docker)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "workspace", common = keys::SCHEMA_KEY, by_hand)]
pub struct Workspace {
    /// Directory that is copied for every trial, without `.git`.
    #[key(Literal, "./workspace", by_hand)]
    #[key(codes(MissingPath, PathEscape, UnsupportedWorkspace, UnreadableFile, LimitExceeded))]
    pub template: Option<PathRef>,
    /// Tasks layout: directory copied before the template, which is laid over it.
    pub base_fixture: Option<PathRef>,
    /// Agent Skills: what is copied after the template.
    pub copies: Vec<WorkspaceCopy>,
    /// Whether every trial has its own copy, or all trials of the suite work in one, one at a time. `shared` is for suites
    /// with a `template`.
    #[key(Choice(Isolation::WORDS), "shared", default = "`per_test`")]
    #[key(codes(SettingConflict, UnsupportedWorkspace, NoEffect))]
    pub isolation: Isolation,
    /// Git repositories that are cloned into the workspace.
    #[also(mode: Choice(&["temp", "pooled"]), "temp", "Where the copies come from; both words have the same effect.",
        default = "`temp`", codes(NoEffect, UnsupportedWorkspace), by_hand)]
    #[also(path: Any, "./repo", "Working in place is not supported: every trial gets a copy of `template`.", refused(UnsupportedWorkspace,
        "`path`: working in place is not supported", "use `template`: every trial gets its own copy"))]
    #[also(static_path: Any, "./repo", "Working in place is not supported: every trial gets a copy of `template`.", refused(UnsupportedWorkspace,
        "`static_path`: working in place is not supported", "use `template`: every trial gets its own copy"))]
    #[also(pool: Any, "./repo", "Working in place is not supported: every trial gets a copy of `template`.", refused(UnsupportedWorkspace,
        "`pool`: working in place is not supported", "use `template`: every trial gets its own copy"))]
    #[also(static: Any, "./repo", "Working in place is not supported: every trial gets a copy of `template`.", refused(UnsupportedWorkspace,
        "`static`: working in place is not supported", "use `template`: every trial gets its own copy"))]
    #[key(
        List(&OneOf(&[Object(Repo::TABLE), Object(ShortRepo::TABLE)])),
        "[{path: shop, source: {type: git, url: https://example.com/shop.git}}]",
        codes(InvalidRepo),
        by_hand
    )]
    pub repos: Vec<Repo>,
    /// Commands that run around trials.
    #[key(Object(WrittenHooks::TABLE), "{before_each: ./seed.sh}", codes(InvalidHook), by_hand)]
    pub hooks: Hooks,
    /// Docker workspaces are not supported; with `allow = ["unsupported-docker"]` in the macro, the cases are skipped.
    #[key(Any, "{}", codes(UnsupportedDocker), by_hand)]
    pub docker: bool,
}

/// A file or directory that is copied into the workspace.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub struct WorkspaceCopy {
    /// The file or directory.
    pub from: PathRef,
    /// Where the copy is in the workspace, with `/` separators.
    pub to: String,
    /// Names in the directory that are left out.
    pub without: Vec<String>,
}

/// Whether trials share one workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Isolation {
    /// Every trial has its own copy.
    #[default]
    PerTest,
    /// One copy per run, used by one trial after another.
    Shared,
}

/// A git repository in the workspace.
#[skip_empty(.., checkout)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "repo", what = "a repo", by_hand)]
pub struct Repo {
    /// Directory in the workspace.
    #[key(Literal, "./shop", required, codes(InvalidRepo), by_hand)]
    pub path: String,
    /// What is cloned.
    #[key(Object(RepoSourceKeys::TABLE), "{type: git, url: https://example.com/shop.git}", required, by_hand)]
    #[key(codes(InvalidRepo, ConflictingKeys))]
    pub source: RepoSource,
    /// Which commit is checked out.
    #[also(clone: Object(WrittenClone::TABLE), "{depth: 1}", "How much is cloned.", codes(ConflictingKeys))]
    #[key(Object(Checkout::TABLE), "{ref: v1.2.0}", codes(ConflictingKeys))]
    pub checkout: Checkout,
    /// Number of commits of a shallow clone. `None`: all.
    pub depth: Option<u32>,
    /// Filter of a partial clone.
    pub filter: Option<String>,
    /// Directories of a cone sparse checkout.
    pub sparse: Vec<String>,
}

/// The short form of a repo, without the keys of the other one.
#[derive(Debug, Keys)]
#[keys(id = "short-repo", what = "a repo")]
pub struct ShortRepo {
    /// Directory in the workspace.
    #[key(Literal, "./shop", required, codes(InvalidRepo), by_hand)]
    pub path: String,
    /// What is cloned: a URL, or `org/name` for a repository at GitHub.
    #[key(
        Pattern(
            r"^([\s\S]*(:|\$\{\{)[\s\S]*|[A-Za-z0-9_-][A-Za-z0-9._-]*/[A-Za-z0-9_-][A-Za-z0-9._-]*)$",
            "a URL or `org/name`"
        ),
        "shop/orders",
        required,
        codes(InvalidRepo, ConflictingKeys),
        by_hand
    )]
    pub repo: RepoSource,
    /// Commit, tag or branch.
    #[key(Text, "v1.2.0", default = "`HEAD`", codes(ConflictingKeys))]
    pub commit: Option<String>,
    /// Another name of `commit`. If both are written, they have to be equal.
    #[key(Text, "v1.2.0", default = "`commit`", codes(ConflictingKeys))]
    pub base_commit: Option<String>,
    /// How many first parents to go back from there.
    #[key(Integer(0, u32::MAX as u64), "1", default = "0", unit = "commits", codes(ConflictingKeys), init = 0)]
    pub ancestor: u32,
    /// Directories of a sparse checkout.
    #[key(List(&Text), "[src]", default = "all", codes(ConflictingKeys))]
    pub sparse: Vec<String>,
}

crate::keys::made!(RepoSource, Command);

/// How much of a repository is cloned.
#[derive(Debug, Default, Keys)]
#[keys(id = "clone")]
pub struct WrittenClone {
    /// Number of commits of a shallow clone.
    #[key(Integer(1, u32::MAX as u64), "1", default = "all")]
    pub depth: Option<u32>,
    /// Filter of the clone in which `ref` is looked up. All content of the commit and its history is then fetched.
    #[key(Text, "\"blob:none\"")]
    pub filter: Option<String>,
    /// Directories of a sparse checkout.
    #[key(List(&Text), "[src]")]
    pub sparse: Vec<String>,
}

/// Where a repository comes from.
#[derive(Keys)]
#[keys(id = "repo-source", what = "`source` of a repo", by_hand)]
#[also(type: Choice(RepoSource::WORDS), "git", "`git`: a URL. `local`: a directory on this machine.",
    required, codes(InvalidRepo), by_hand)]
#[also(url: Text, "https://example.com/shop.git", "URL that git understands, with `type: git`.", codes(InvalidRepo), by_hand)]
#[also(path: Text, "../shop", "Directory, with `type: local`.", codes(InvalidRepo), by_hand)]
pub struct RepoSourceKeys;

/// Where a [`Repo`] comes from.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum RepoSource {
    /// A URL git understands.
    Git(String),
    /// A directory on this machine. A path with an interpolation is resolved when the trial starts.
    Local(PathRef),
}

impl RepoSource {
    /// The words that select a source, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["git", "local"];
}

/// Which commit of a repository is checked out.
#[skip_empty(.., resolve, ancestor)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "checkout")]
pub struct Checkout {
    /// Commit, tag or branch.
    #[key(Text, "v1.2.0", name = "ref", or = "base_commit", default = "`HEAD`")]
    #[json(rename = "ref")]
    pub reference: Option<String>,
    /// Where `ref` is looked up: at the source, or in the clone.
    #[key(Choice(Resolve::WORDS), "local", default = "`remote`", codes(NoEffect), init = Resolve::Remote)]
    pub resolve: Resolve,
    /// How many first parents to go back from there.
    #[key(Integer(0, u32::MAX as u64), "1", default = "0", unit = "commits", codes(ShallowAncestor), init = 0)]
    pub ancestor: u32,
}

/// Where a reference is resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Resolve {
    /// The remote repository.
    #[default]
    Remote,
    /// The clone.
    Local,
}
