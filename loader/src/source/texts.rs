//! Texts in place of files: what an editor has not saved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts that are read in place of the contents of files, by the whole paths of the files. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Texts(Arc<BTreeMap<PathBuf, Arc<str>>>);

impl Texts {
    /// The text in place of the file at `path`.
    pub fn get(&self, path: &Path) -> Option<&Arc<str>> {
        self.0.get(path)
    }
}

impl FromIterator<(PathBuf, Arc<str>)> for Texts {
    fn from_iter<I: IntoIterator<Item = (PathBuf, Arc<str>)>>(texts: I) -> Self {
        Self(Arc::new(texts.into_iter().collect()))
    }
}
