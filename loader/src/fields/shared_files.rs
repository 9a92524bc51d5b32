//! Files that several cases of a load name: each is read, registered and checked once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_schema::Value;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::pattern::CompiledPatterns;
use crate::read;
use crate::read::node::Node;
use crate::source::{FileId, Files, Span};

/// A text file that was read.
pub(crate) type Text = (FileId, Arc<str>);

/// Maximum size in bytes of all copies of shared text and settings.
const MAX_COPIED: usize = 128 << 20;

/// Takes a JSON schema from the root of its file.
type Check = fn(&Node, &CompiledPatterns, &mut Diagnostics) -> Option<Value>;

/// The content of files that were read; `None` for those with problems.
type ReadOnce<T> = Mutex<BTreeMap<PathBuf, Option<T>>>;

/// The content of the file at `path`, which `read` returns the first time it is asked for.
fn read_once<T: Clone>(known: &ReadOnce<T>, path: &Path, read: impl FnOnce() -> Option<T>) -> Option<T> {
    // The lock is held while reading, so that a file never gets two ids, whatever threads do.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(path.to_path_buf()).or_insert_with(read).clone()
}

/// Files that cases name: each is read and registered once, and its problems are reported once.
#[derive(Debug, Default)]
pub(crate) struct SharedFiles {
    texts: ReadOnce<Text>,
    trees: ReadOnce<Arc<Node>>,
    schemas: ReadOnce<Arc<Value>>,
    copied: AtomicUsize,
    /// Problems of templates, which are reported where a case names the template: cases share a template of many files.
    templates: ReadOnce<Arc<[Diagnostic]>>,
    /// Entries of directories that patterns of `tests` visited.
    pub(crate) visited: AtomicUsize,
    /// The regular expressions of all files.
    pub(crate) patterns: CompiledPatterns,
}

impl SharedFiles {
    /// Whether `bytes` more may be copied from the value at `span`: a few lines can ask for more copies than
    /// fit in memory. The first copy beyond the limit is reported.
    pub(crate) fn may_copy(&self, bytes: usize, span: Span, d: &mut Diagnostics) -> bool {
        let before = self.copied.fetch_add(bytes, Ordering::Relaxed);
        let after = before.saturating_add(bytes);
        if before <= MAX_COPIED && after > MAX_COPIED {
            let message = format!("what cases share adds up to more than {} MiB of copies", MAX_COPIED >> 20);
            d.report(Code::LimitExceeded, span, message, "shorten it, or let fewer cases use it");
        }
        after <= MAX_COPIED
    }

    /// Whether the limit of copies is reached, which was reported.
    pub(crate) fn is_full(&self) -> bool {
        self.copied() > MAX_COPIED
    }

    /// Number of bytes copied so far.
    pub(crate) fn copied(&self) -> usize {
        self.copied.load(Ordering::Relaxed)
    }

    /// The problems of a template, which `find` looks for the first time it is asked for.
    pub(crate) fn template(&self, path: &Path, find: impl FnOnce() -> Vec<Diagnostic>) -> Arc<[Diagnostic]> {
        read_once(&self.templates, path, || Some(find().into())).unwrap_or_default()
    }

    /// A text file. `None`: a problem was reported, now or before.
    pub(crate) fn text(&self, path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Text> {
        read_once(&self.texts, path, || read::read_text(path, files, d))
    }

    /// A YAML file. `None`: a problem was reported, now or before.
    pub(crate) fn tree(&self, path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Arc<Node>> {
        read_once(&self.trees, path, || {
            let (file, text) = read::read_text(path, files, d)?;
            read::parse_yaml(file, &text, d).map(Arc::new)
        })
    }

    /// The JSON schema of a JSON or YAML file, which `check` takes from the root. `None`: a problem was reported, now or before.
    pub(crate) fn schema(&self, path: &Path, check: Check, files: &Files, d: &mut Diagnostics) -> Option<Arc<Value>> {
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let parse = if is_json { read::parse_json } else { read::parse_yaml };
        read_once(&self.schemas, path, || {
            let (file, text) = read::read_text(path, files, d)?;
            check(&parse(file, &text, d)?, &self.patterns, d).map(Arc::new)
        })
    }
}
