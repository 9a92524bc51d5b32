//! Groups of cases: by suite, target, bucket, tag, or a key of their metadata.

use std::fmt;

/// A key that groups cases.
///
/// ```
/// use evalsuite_schema::gate::SliceKey;
///
/// assert_eq!(SliceKey::parse("metadata.language").map(|key| key.to_string()).as_deref(), Some("metadata.language"));
/// assert_eq!(SliceKey::parse("language"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SliceKey {
    /// Name of the suite.
    Suite,
    /// Name of the target.
    Target,
    /// `failure_bucket` in the metadata.
    Bucket,
    /// A tag. A case may have several.
    Tag,
    /// A key of the metadata: texts, numbers, booleans, and the elements of lists.
    Metadata(String),
}

impl SliceKey {
    /// The names that [`parse`](Self::parse) knows.
    pub(crate) const NAMES: [&'static str; 5] = ["suite", "target", "bucket", "tag", "metadata.KEY"];

    /// `suite`, `target`, `bucket`, `tag` or `metadata.KEY`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "suite" => Self::Suite,
            "target" => Self::Target,
            "bucket" => Self::Bucket,
            "tag" => Self::Tag,
            other => Self::Metadata(other.strip_prefix("metadata.").filter(|key| !key.is_empty())?.to_owned()),
        })
    }
}

impl fmt::Display for SliceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suite => f.write_str("suite"),
            Self::Target => f.write_str("target"),
            Self::Bucket => f.write_str("bucket"),
            Self::Tag => f.write_str("tag"),
            Self::Metadata(key) => write!(f, "metadata.{key}"),
        }
    }
}
