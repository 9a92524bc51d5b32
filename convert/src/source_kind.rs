//! A kind of source: what it is, and how it becomes a suite.

use std::path::Path;

use crate::error::ConvertError;
use crate::new_suite::NewSuite;
use crate::source::Source;

/// A kind of source that can be converted to a suite.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SourceKind {
    /// Its name, as in `cargo evalsuite convert --from NAME`.
    pub name: &'static str,
    /// What the source is.
    pub about: &'static str,
    pub(crate) is_source: fn(&Path) -> bool,
    pub(crate) convert: fn(Source) -> Result<NewSuite, ConvertError>,
}

impl SourceKind {
    /// Whether the file or directory at `path` is of this kind, from its name and its contents.
    pub fn is_kind_of(&self, path: &Path) -> bool {
        (self.is_source)(path)
    }

    /// Converts a source of this kind.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, is not of this kind, or has no case that can be converted.
    pub fn convert(&self, source: Source) -> Result<NewSuite, ConvertError> {
        (self.convert)(source)
    }
}
