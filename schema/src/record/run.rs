//! Records of runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Kind, Layout};

/// `run.json`: what a run is, and where it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`RunRecord::SCHEMA`].
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
    /// The build server's run.
    pub ci: Option<CiRun>,
    /// The `EVALSUITE_*` variables that are set; keys and other secrets have no value here.
    pub env: BTreeMap<String, Option<String>>,
    /// Suites of which a test has started.
    pub suites: Vec<SuiteRun>,
    /// The runs this one was merged from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<RunRecord>,
}

impl RunRecord {
    /// Value of `schema` in records of this version.
    pub const SCHEMA: &'static str = "evalsuite.run/1";
}

/// State of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitState {
    /// The commit that is checked out, hexadecimal.
    pub commit: String,
    /// Whether files differ from it, or are not in it.
    pub dirty: bool,
}

/// A run of a build server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CiRun {
    /// `github`, `gitlab`, `buildkite`, `circleci`, `jenkins`, `azure`, else `unknown`.
    pub provider: String,
    /// Its page.
    pub url: Option<String>,
}

/// A suite of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRun {
    /// Name of the suite.
    pub name: String,
    /// Package it belongs to.
    pub package: String,
    /// Number of its tests, chosen or not: one per case and target, in every test program that includes the suite.
    pub tests: u32,
    /// Hooks before all tests.
    pub before_all: HookState,
    /// Hooks after all tests.
    pub after_all: HookState,
}

/// Whether hooks that run once have run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookState {
    /// There are none, or none were needed yet.
    #[default]
    None,
    /// They have.
    Done,
    /// They have, and one failed.
    Failed,
    /// They still have to.
    Pending,
}

/// `suite.json` of a run: a suite as it was compiled into the tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// [`SuiteRecord::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub name: String,
    /// How trials decide a case.
    pub kind: Kind,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// SHA-256 over all files of the suite, hexadecimal.
    pub digest: String,
    /// All its tests, chosen or not.
    pub tests: Vec<SuiteTest>,
    /// The warnings about its files when it was compiled, except those that are silenced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<SuiteDiagnostic>,
}

impl SuiteRecord {
    /// Value of `schema` in records of this version.
    pub const SCHEMA: &'static str = "evalsuite.suite/1";
}

/// A warning about the files of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteDiagnostic {
    /// Its name, such as `no-effect`.
    pub name: String,
    /// Place, fact and help in one line.
    pub message: String,
}

/// A test of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteTest {
    /// File name of the test program.
    pub program: String,
    /// Path of the Rust test, without the crate.
    pub test_name: String,
    /// Id of the case.
    pub case_id: String,
    /// Its target in a matrix.
    pub target: Option<String>,
}
