//! `run.json` and `suite.json`: a run, and the suites in it.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};
use evalsuite_schema::{Layout, SuiteKind};

use super::{ProbeRates, SuiteId};

/// `run.json`: a run, and the environment it ran in.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct RunRecord {
    /// [`RunRecord::SCHEMA`].
    #[json(read_with = "RunRecord::read_schema")]
    pub schema: String,
    /// Id of the run.
    pub run_id: String,
    /// When its first test started.
    pub started_at: String,
    /// Package of its first test.
    pub package: String,
    /// Version of that package.
    pub package_version: String,
    /// State of the repository around the package.
    pub git: Option<GitState>,
    /// The run of the CI service.
    pub ci: Option<CiRun>,
    /// The `EVALSUITE_*` variables that are set; values of keys and other secrets are left out.
    pub env: BTreeMap<String, Option<String>>,
    /// Suites with at least one started test.
    pub suites: Vec<SuiteRun>,
    /// The runs this one was merged from.
    #[json(default, skip_if = "Vec::is_empty")]
    pub shards: Vec<RunRecord>,
}

impl RunRecord {
    /// The environment variable with the digest of the agent.
    pub const AGENT_DIGEST: &'static str = "EVALSUITE_AGENT_DIGEST";

    /// Whether two runs are of one agent: of one commit, without changed files, or with the same digest of the agent
    /// (`EVALSUITE_AGENT_DIGEST`, which `cargo evalsuite run` sets). Of a run outside of a repository this is not known.
    pub fn is_of_same_agent(&self, other: &Self) -> bool {
        let (Some(git), Some(others)) = (&self.git, &other.git) else { return false };
        let is_same = match (self.agent_digest(), other.agent_digest()) {
            (Some(digest), Some(others)) => digest == others,
            _ => !git.dirty && !others.dirty,
        };
        git.commit == others.commit && is_same
    }

    /// Digest of the agent, which `cargo evalsuite run` sets, if the run has it.
    pub fn agent_digest(&self) -> Option<&str> {
        self.env.get(Self::AGENT_DIGEST)?.as_deref()
    }

    /// Whether the trials of two runs are of one sample: both are of one agent, which was called.
    pub fn counts_with(&self, other: &Self) -> bool {
        self.is_of_same_agent(other) && self.has_called_agent() && other.has_called_agent()
    }

    /// Whether a later run may be compared with this one by default: they are of different agents, and the agent was called in this one, unless
    /// it was in neither. A replay has the results of the agent that was recorded, which may be any.
    pub fn is_base_of(&self, run: &Self) -> bool {
        !self.is_of_same_agent(run) && (self.has_called_agent() || !run.has_called_agent())
    }

    /// Whether the agent was called with models that answered, as far as the environment of the run says.
    pub(crate) fn has_called_agent(&self) -> bool {
        let value = |name: &str| self.env.get(name).and_then(Option::as_deref);
        let replays_models = value("EVALSUITE_MODEL_CALLS").is_some_and(|calls| calls.starts_with("replay"));
        value("EVALSUITE_REGRADE").is_none() && value("EVALSUITE_MODE") != Some("replay") && !replays_models
    }
}

/// State of a git repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct GitState {
    /// The commit that is checked out, hexadecimal.
    pub commit: String,
    /// Whether the working tree has changed or untracked files.
    pub dirty: bool,
}

impl GitState {
    /// A commit that is checked out, and whether files differ from it.
    pub fn new(commit: impl Into<String>, dirty: bool) -> Self {
        Self { commit: commit.into(), dirty }
    }
}

/// A run of a CI service.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct CiRun {
    /// `github`, `gitlab`, `buildkite`, `circleci`, `jenkins`, `azure`, else `unknown`.
    pub provider: String,
    /// URL of its page.
    pub url: Option<String>,
}

impl CiRun {
    /// A run of a provider, with its page.
    pub fn new(provider: impl Into<String>, url: Option<String>) -> Self {
        Self { provider: provider.into(), url }
    }
}

/// A suite of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SuiteRun {
    /// Name of the suite.
    pub name: String,
    /// Package it belongs to.
    pub package: String,
    /// Name of its directory in `suites`; empty in records of older versions.
    #[json(default)]
    pub directory: String,
    /// Number of its tests, selected or not: one per case and target, in every test program that includes the suite.
    pub tests: u32,
    /// Hooks before all tests.
    pub before_all: HookState,
    /// Hooks after all tests.
    pub after_all: HookState,
}

impl SuiteRun {
    /// A suite with its name, its package and the number of its tests, before its hooks.
    pub fn new(name: impl Into<String>, package: impl Into<String>, tests: u32) -> Self {
        Self { name: name.into(), package: package.into(), tests, ..Self::default() }
    }
}

/// State of hooks that run once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub enum HookState {
    /// There are none, or none were needed yet.
    #[default]
    None,
    /// They have run.
    Done,
    /// They have run, and one failed.
    Failed,
    /// They have not run yet.
    Pending,
}

/// `suite.json`: a suite as it was compiled into the tests.
#[skip_empty(diagnostics, gates, probe)]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SuiteRecord {
    /// [`SuiteRecord::SCHEMA`].
    #[json(read_with = "SuiteRecord::read_schema")]
    pub schema: String,
    /// Name of the suite.
    pub name: String,
    /// Package that includes it; empty in records of older versions, as the next two.
    #[json(default)]
    pub package: String,
    /// Directory of that package, see [`SuiteId::package_directory`].
    #[json(default)]
    pub package_directory: String,
    /// Directory of the suite relative to the package, with `/` separators.
    #[json(default)]
    pub path: String,
    /// How trials decide a case.
    pub kind: SuiteKind,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// SHA-256 over all files of the suite, hexadecimal.
    pub digest: String,
    /// All its tests, selected or not.
    pub tests: Vec<SuiteTest>,
    /// The warnings about its files when it was compiled, except those that are silenced.
    pub diagnostics: Vec<SuiteDiagnostic>,
    /// The gates in its files, see [`Gate`](evalsuite_schema::gate::Gate).
    pub gates: Vec<String>,
    /// Between which pass rates the suite says something; `None` if it was not probed before the run.
    pub probe: Option<ProbeRates>,
}

impl SuiteRecord {
    /// Identity of the suite as included by a module.
    pub fn id(&self, module: impl Into<String>) -> SuiteId {
        let (name, package, path) = (self.name.clone(), self.package.clone(), self.path.clone());
        SuiteId { name, package, package_directory: self.package_directory.clone(), path, module: module.into() }
    }
}

/// A warning about the files of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SuiteDiagnostic {
    /// Its name, such as `no-effect`.
    pub name: String,
    /// Location, message and help on one line.
    pub message: String,
}

impl SuiteDiagnostic {
    /// A warning with its name and text.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into() }
    }
}

/// A test of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SuiteTest {
    /// File name of the test program.
    pub program: String,
    /// Path of the Rust test, without the crate.
    pub test_name: String,
    /// Id of the case.
    pub case_id: String,
    /// Its target in a matrix.
    pub target: Option<String>,
    /// Rust path of the module that includes the suite, such as `evals::shop`; empty in records of older versions.
    #[json(default)]
    pub module: String,
}

impl SuiteTest {
    /// A test in a program, with its path and the id of its case, without a target.
    pub fn new(program: impl Into<String>, test_name: impl Into<String>, case_id: impl Into<String>) -> Self {
        Self { program: program.into(), test_name: test_name.into(), case_id: case_id.into(), ..Self::default() }
    }
}

/// `chosen.json`: the tests of a run that `cargo evalsuite run` chose, by all its calls for this run. Written before the first of them starts.
/// Runs of `cargo test` and nextest do not have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct ChosenTests {
    /// [`ChosenTests::SCHEMA`].
    #[json(read_with = "ChosenTests::read_schema")]
    pub schema: String,
    /// Paths of the tests, by the package and the Rust path of the module that include their suite.
    pub tests: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl ChosenTests {
    /// Adds tests of a suite.
    pub fn add(&mut self, package: &str, module: &str, tests: impl IntoIterator<Item = String>) {
        let modules = self.tests.entry(package.to_owned()).or_default();
        modules.entry(module.to_owned()).or_default().extend(tests);
    }

    /// Adds those that others chose.
    pub fn extend(&mut self, others: Self) {
        for (package, modules) in others.tests {
            modules.into_iter().for_each(|(module, tests)| self.add(&package, &module, tests));
        }
    }

    /// The paths of the chosen tests of a suite.
    pub fn of(&self, suite: &SuiteId) -> BTreeSet<String> {
        self.tests.get(&suite.package).and_then(|modules| modules.get(&suite.module)).cloned().unwrap_or_default()
    }
}
