//! The files that are open in the editor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_loader::source::{Texts, plain_text};
use gen_lsp_types::Uri;

use super::file_uri;

#[derive(Debug)]
struct OpenDocument {
    /// As the client writes it.
    uri: Uri,
    text: Arc<str>,
    version: i32,
}

/// The files that are open in the editor, by path.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<PathBuf, OpenDocument>);

impl Documents {
    pub(super) fn open(&mut self, path: PathBuf, uri: Uri, version: i32, text: String) {
        self.0.insert(path, OpenDocument { uri, text: text.into(), version });
    }

    /// Replaces the text of an open file; `false` if it is not open.
    pub(super) fn change(&mut self, path: &Path, version: i32, text: String) -> bool {
        let Some(document) = self.0.get_mut(path) else { return false };
        document.text = text.into();
        document.version = version;
        true
    }

    /// The text that the editor had.
    pub(super) fn close(&mut self, path: &Path) -> Option<Arc<str>> {
        self.0.remove(path).map(|document| document.text)
    }

    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    pub(super) fn version(&self, path: &Path) -> Option<i32> {
        self.0.get(path).map(|document| document.version)
    }

    pub(super) fn uri(&self, path: &Path) -> Uri {
        self.0.get(path).map_or_else(|| file_uri::of_path(path), |document| document.uri.clone())
    }

    /// The text of a file, open or not.
    pub(super) fn text(&self, path: &Path) -> Option<Arc<str>> {
        match self.0.get(path) {
            Some(document) => Some(Arc::clone(&document.text)),
            None => plain_text(path).map(Into::into),
        }
    }

    /// All of them, for the loader.
    pub(super) fn texts(&self) -> Texts {
        self.0.iter().map(|(path, document)| (path.clone(), Arc::clone(&document.text))).collect()
    }
}
