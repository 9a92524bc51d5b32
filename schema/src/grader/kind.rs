//! Who or what grades.

use serde::{Deserialize, Serialize};

/// Kind of a grader.
///
/// ```
/// use evalsuite_schema::GraderKind;
///
/// assert_eq!(serde_json::to_string(&GraderKind::Model)?, r#""model""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GraderKind {
    /// Code in this process.
    #[default]
    Code,
    /// A language model.
    Model,
    /// A person.
    Human,
    /// A program.
    Command,
}
