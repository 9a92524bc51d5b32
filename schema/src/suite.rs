//! Suites and their requirements.

use serde::{Deserialize, Serialize};

use crate::{Location, Target, Workspace, is_default};

/// A suite without its cases.
///
/// ```
/// use evalsuite_schema::Suite;
///
/// fn targets(suite: &Suite) -> Vec<&str> {
///     suite.targets.iter().map(|target| target.name.as_str()).collect()
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Suite {
    /// Name of the suite.
    pub name: String,
    /// Name of the agent, if the suite names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// How trials decide a case.
    pub kind: Kind,
    /// What the suite is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Version of the suite, copied to reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Author of the suite, copied to reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// License of the suite, copied to reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Labels of the suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Label of the suite in results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where the suite is defined.
    pub location: Location,
    /// Directory of the suite: relative to the package root, with `/` separators; absolute if it is outside the package.
    pub root: String,
    /// SHA-256 over all files of the suite, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// The target matrix; empty when the suite has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The suite's own workspace, without the settings of cases. Once per run, its base is built, and its `before_all`
    /// and `after_all` hooks run. A case's own workspace is one that differs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Largest number of trials in parallel, over all processes (1 to 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<u32>,
    /// Budget in US dollars: once the suite has cost this much, no further trial starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// After the first error outcome no further case starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fail_on_error: bool,
    /// Thresholds for runs of the suite, see [`Gate`](crate::gate::Gate); each covers only the cases of this suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
}

impl Suite {
    /// A suite with defaults for everything else.
    pub fn new(name: impl Into<String>, layout: Layout, kind: Kind, location: Location) -> Self {
        Self {
            name: name.into(),
            agent_name: None,
            layout,
            kind,
            description: None,
            version: None,
            author: None,
            license: None,
            tags: Vec::new(),
            category: None,
            location,
            root: String::new(),
            digest: String::new(),
            targets: Vec::new(),
            workspace: None,
            workers: None,
            budget_usd: None,
            fail_on_error: false,
            gates: Vec::new(),
        }
    }
}

/// How the files of a suite are laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// `suite.json` and one JSON file per case below `tasks/`.
    Tasks,
    /// An eval file (`EVAL.yaml`).
    #[default]
    Cases,
    /// `suite.json` and case directories below `cases/`.
    Combined,
    /// Case directories or a JSONL file without a suite file.
    Bare,
}

impl Layout {
    /// The name used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Layout::Tasks => "tasks",
            Layout::Cases => "cases",
            Layout::Combined => "combined",
            Layout::Bare => "bare",
        }
    }

    /// Lowest passing score of a case, and lowest passing value of a grader, if the suite's files do not set one: 1 in
    /// the tasks layout, else 0.8.
    pub fn default_threshold(self) -> f64 {
        match self {
            Layout::Tasks => 1.0,
            Layout::Cases | Layout::Combined | Layout::Bare => 0.8,
        }
    }
}

/// How the trials of a case decide it without a `strategy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One passed trial shows that the agent can do it.
    #[default]
    Capability,
    /// Every trial has to pass.
    Regression,
    /// Every trial has to pass.
    Mixed,
}

/// Requirements of a case; if one is not met, the case is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requires {
    /// Environment variables that have to be set and not empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Programs that have to be on `PATH`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}
