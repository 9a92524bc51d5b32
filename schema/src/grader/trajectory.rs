//! Settings of `tool-trajectory` and `skill-trigger`.

use serde::{Deserialize, Serialize};

use crate::Object;

/// Settings of `tool-trajectory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolTrajectory {
    /// How calls are compared.
    pub mode: TrajectoryMode,
    /// Smallest number of calls per tool or pattern of tools, in the order written (`any_order` only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minimums: Vec<(String, u64)>,
    /// Largest number of calls per tool, in the order written (`any_order` only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maximums: Vec<(String, u64)>,
    /// Expected calls (every other mode).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<ExpectedCall>,
    /// How arguments are compared by default.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub args_match: ArgsMatch,
}

/// How the calls of an agent are compared with the expected ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrajectoryMode {
    /// Each tool is called often enough, and not too often.
    AnyOrder,
    /// The expected calls occur in this order, possibly with others in between.
    InOrder,
    /// The expected calls and no others, in this order.
    Exact,
    /// Every expected call occurs.
    Superset,
    /// Every call is an expected one.
    Subset,
}

/// How the arguments of a call are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgsMatch {
    /// Equal.
    #[default]
    Exact,
    /// The call has every expected key.
    Superset,
    /// Every key of the call is expected.
    Subset,
    /// Not compared.
    Ignore,
    /// Equal at these dotted paths.
    Paths(Vec<String>),
}

/// One expected call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedCall {
    /// Name of the tool, or a pattern with `*` and `?`.
    pub tool: String,
    /// Expected arguments; `None` when none are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Args>,
    /// How they are compared; `None`: as set for the grader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_match: Option<ArgsMatch>,
    /// Names of arguments, or patterns with `*` and `?`, that are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_args: Vec<String>,
    /// Longest duration of the call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<f64>,
}

/// Expected arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Args {
    /// Any arguments, or none.
    Any,
    /// These.
    Object(Object),
}

/// Settings of `skill-trigger`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTrigger {
    /// Name of the skill.
    pub skill: String,
    /// Whether the skill should be used.
    pub should_trigger: bool,
}
