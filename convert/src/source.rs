//! Files of a source.

use std::fs;
use std::path::Path;

use evalsuite_loader::document;
use evalsuite_loader::document::Document;

use crate::error::ConvertError;

/// A YAML or JSON file; paths in problems are relative to `root`.
pub(crate) fn document(path: &Path, root: &Path) -> Result<Document, ConvertError> {
    document::read(path, root).map_err(ConvertError::unreadable)
}

/// A text file.
pub(crate) fn text(path: &Path) -> Result<String, ConvertError> {
    fs::read_to_string(path).map_err(|error| ConvertError::io(path, error))
}

/// The path as reports show it: relative to `root`, with `/`.
pub(crate) fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
