//! Embedded files as Rust code.

use std::path::Path;

use super::contents::{Contents, EntryContent};
use crate::rust_literals::string_literal;

/// How a suite's files get into the program.
#[derive(Debug, Clone, Default)]
pub(crate) enum Embedded {
    /// Not at all.
    #[default]
    Off,
    /// One by one.
    Files(Contents),
    /// As the archive that a build script has written to this path in OUT_DIR, and files that the script did not know of.
    Archive(String, Contents),
}

impl Embedded {
    /// The Rust expression of the suite's field.
    pub(crate) fn expression(&self) -> String {
        match self {
            Self::Off => "::core::option::Option::None".to_owned(),
            Self::Files(contents) => format!("::core::option::Option::Some(&[{}])", contents.pairs()),
            Self::Archive(path, beside) => {
                let path = string_literal(&format!("/{path}"));
                format!(
                    "::core::option::Option::Some(&[(\"archive\", \
                     ::core::include_bytes!(::core::concat!(::core::env!(\"OUT_DIR\"), {path}))), {}])",
                    beside.pairs()
                )
            }
        }
    }

    /// Files that the code includes by itself.
    pub(crate) fn included(&self) -> Vec<std::path::PathBuf> {
        match self {
            Self::Files(contents) | Self::Archive(_, contents) => contents.files().map(Path::to_path_buf).collect(),
            Self::Off => Vec::new(),
        }
    }

    /// With an archive at `name` in OUT_DIR in place of single files.
    pub(crate) fn into_archive(self, out_dir: &Path, name: &str) -> std::io::Result<Self> {
        let Self::Files(contents) = self else { return Ok(self) };
        let is_written = contents.write_archive(&out_dir.join(name))?;
        Ok(if is_written { Self::Archive(name.to_owned(), Contents::none()) } else { Self::Files(contents) })
    }

    /// Adds what cases need that their suite does not name.
    pub(crate) fn add(&mut self, more: Contents) {
        match self {
            Self::Files(contents) | Self::Archive(_, contents) => contents.extend(more),
            Self::Off => {}
        }
    }
}

impl Contents {
    /// Nothing.
    pub(crate) fn none() -> Self {
        Self::new(Path::new(""), "")
    }

    /// The files.
    fn files(&self) -> impl Iterator<Item = &Path> {
        self.entries
            .values()
            .filter(|entry| matches!(entry.content, EntryContent::File(_)))
            .map(|entry| entry.source.as_path())
    }

    /// The elements of the Rust expression that includes each file.
    fn pairs(&self) -> String {
        let mut code = String::new();
        for (path, entry) in &self.entries {
            code.push('(');
            code.push_str(&string_literal(&entry.header(path)));
            match (&entry.content, entry.source.to_str()) {
                (EntryContent::File(_), Some(source)) => {
                    code.push_str(&format!(", ::core::include_bytes!({})), ", string_literal(source)));
                }
                (EntryContent::Link(destination), _) => {
                    code.push_str(&format!(", str::as_bytes({})), ", string_literal(destination)));
                }
                (EntryContent::Directory | EntryContent::File(_), _) => code.push_str(", &[]), "),
            }
        }
        code
    }
}
