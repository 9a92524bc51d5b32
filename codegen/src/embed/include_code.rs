//! Embedded files as Rust code.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::contents::{ContentEntry, Contents, EntryContent};
use crate::rust_literals::string_literal;

/// How the files that a suite's cases need get into the program.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Embedded {
    /// The archive of files that was written to this path in OUT_DIR.
    pub(crate) archive: Option<String>,
    /// The files that are not in the archive, one by one.
    #[serde(skip)]
    pub(crate) files: Contents,
}

impl Embedded {
    /// The Rust expression of the suite's field.
    pub(crate) fn expression(&self) -> String {
        let archive = self.archive.as_ref().map(|path| {
            let path = string_literal(&format!("/{path}"));
            format!("(\"archive\", ::core::include_bytes!(::core::concat!(::core::env!(\"OUT_DIR\"), {path}))), ")
        });
        format!("::core::option::Option::Some(&[{}{}])", archive.unwrap_or_default(), self.files.pairs())
    }

    /// With an archive at `name` in OUT_DIR in place of single files.
    pub(crate) fn into_archive(self, out_dir: &Path, name: &str) -> io::Result<Self> {
        let is_written = self.archive.is_none() && self.files.write_archive(&out_dir.join(name))?;
        Ok(if is_written { Self { archive: Some(name.to_owned()), files: Contents::default() } } else { self })
    }
}

impl Contents {
    /// Files that the code includes by itself.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.entries.values().filter(|entry| matches!(entry.content, EntryContent::File(_)));
        files.map(|entry| entry.source.clone())
    }

    /// The elements of the Rust expression that includes each file.
    fn pairs(&self) -> String {
        let pair = |(path, entry): (&String, &ContentEntry)| {
            let bytes = match (&entry.content, entry.source.to_str()) {
                (EntryContent::File(_), Some(source)) => {
                    format!("::core::include_bytes!({})", string_literal(source))
                }
                (EntryContent::Link(destination), _) => format!("str::as_bytes({})", string_literal(destination)),
                (EntryContent::Directory | EntryContent::File(_), _) => "&[]".to_owned(),
            };
            format!("({}, {bytes}), ", string_literal(&entry.header(path)))
        };
        self.entries.iter().map(pair).collect()
    }
}
