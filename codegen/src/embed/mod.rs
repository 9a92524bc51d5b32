//! The files that cases need beside what they say: they travel in the program, for a machine without the suite.

mod contents;
mod references;
mod targets_file;

use std::io;
use std::path::Path;

use evalsuite_loader::source::Files;
use evalsuite_loader::{LoadedSuite, Request};
use evalsuite_schema::diagnostic::{Code, Diagnostic, SourceRange};

use crate::statics::{Body, string_literal};

pub(crate) use contents::Contents;
pub(crate) use targets_file::beside;

/// Most bytes of one suite.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Most files, directories and links of one suite: the compiler opens each of them.
const MAX_ENTRIES: usize = 10_000;

/// How a suite's files get into the program.
#[derive(Debug, Clone, Default)]
pub enum Embedded {
    /// Not at all.
    #[default]
    Off,
    /// One by one.
    Files(Contents),
    /// As the archive a build script has written to this place in OUT_DIR, beside what the script did not know of.
    Archive(String, Contents),
}

impl Embedded {
    /// The Rust expression of the suite's field.
    pub fn expression(&self) -> String {
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
    #[cfg(feature = "generate")]
    pub(crate) fn included(&self) -> Vec<std::path::PathBuf> {
        match self {
            Self::Files(contents) | Self::Archive(_, contents) => contents.files().map(Path::to_path_buf).collect(),
            Self::Off => Vec::new(),
        }
    }

    /// Adds what cases need that their suite does not name.
    pub(crate) fn add(&mut self, more: Contents) {
        match self {
            Self::Files(contents) | Self::Archive(_, contents) => contents.extend(more),
            Self::Off => {}
        }
    }

    /// With an archive at `name` in OUT_DIR in place of single files.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or the archive not written.
    pub(crate) fn into_archive(self, out_dir: &Path, name: &str) -> io::Result<Self> {
        let Self::Files(contents) = self else { return Ok(self) };
        if contents.is_empty() {
            return Ok(Self::Files(contents));
        }
        contents.write(&out_dir.join(name))?;
        Ok(Self::Archive(name.to_owned(), Contents::none()))
    }
}

/// What the cases of a suite need, or why it is not embedded.
pub(crate) fn gather(
    body: &Body,
    suite: &LoadedSuite,
    request: &Request,
    files: &Files,
) -> Result<Contents, Box<Diagnostic>> {
    let mut contents = Contents::new(&request.package_root, &suite.suite.root);
    let found = references::of(&body.statics).into_iter().try_for_each(|reference| contents.add(&reference));
    let root = request.package_root.join(&suite.suite.root);
    checked(found.map(|()| contents), files, &root)
}

/// What was found, unless it is too much for a program.
fn checked(found: io::Result<Contents>, files: &Files, root: &Path) -> Result<Contents, Box<Diagnostic>> {
    let (problem, largest) = match found {
        Err(error) => (format!("the files that cases need cannot be embedded: {error}"), String::new()),
        Ok(contents) if contents.bytes() > MAX_BYTES => {
            let problem = format!(
                "the files that cases need are {}, more than the {} of a suite that are embedded",
                megabytes(contents.bytes()),
                megabytes(MAX_BYTES)
            );
            (problem, largest(&contents, files))
        }
        Ok(contents) if contents.len() > MAX_ENTRIES => {
            let count = contents.len();
            let problem = format!("cases need {count} files, more than the {MAX_ENTRIES} of a suite that are embedded");
            (problem, largest(&contents, files))
        }
        Ok(contents) => return Ok(contents),
    };
    let help = format!("say `embed = off`: the tests then run only where the suite's directory is{largest}");
    Err(Box::new(Diagnostic::new(Code::NotEmbedded, problem).at(SourceRange::whole(files.shown(root))).help(help)))
}

fn largest(contents: &Contents, files: &Files) -> String {
    let largest: Vec<String> =
        contents.largest().map(|(path, bytes)| format!("`{}` ({})", files.shown(path), megabytes(bytes))).collect();
    match largest.as_slice() {
        [] => String::new(),
        some => format!("; the largest are {}", some.join(", ")),
    }
}

#[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}

#[cfg(test)]
mod tests;
