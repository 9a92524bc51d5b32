//! What cases and suites need of a machine.

use evalsuite_derive::Keys;
use serde::{Deserialize, Serialize};

/// What a case needs. A case whose requirements are not met is skipped; the message names what is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[keys(id = "case-requires", what = "`requires`")]
pub struct Requires {
    /// Environment variables that have to be set and not empty.
    #[key(List(&Text), "[API_KEY]")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Programs that have to be on the `PATH`.
    #[key(List(&Text), "[cargo]")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// What every case of a suite needs. A case whose requirements are not met is skipped.
#[derive(Debug, Keys)]
#[keys(id = "suite-requires", what = "`requires`")]
pub struct SuiteRequires {
    /// What cases can need, too.
    #[key(flatten)]
    pub common: Requires,
    /// Versions of evalsuite that read the suite, as in a Cargo.toml.
    #[key(Literal, "\">=0.1\"", codes(OutOfRange))]
    pub evalsuite: Option<String>,
    /// Versions of another tool.
    #[key(AnyText, "\">=4\"", no_effect = "say which evalsuite is needed with `evalsuite: \">=0.1\"`")]
    pub agentv: (),
}
