//! The files that cases need beside what they say: they are embedded in the test program, for a machine without the suite.

mod command_files;
mod contents;
mod include_code;
pub(crate) mod references;

use std::io;
use std::path::Path;

use evalsuite_diagnostics::{Code, Diagnostic, SourceRange};
use evalsuite_loader::source::Files;
use evalsuite_loader::{LoadedSuite, Request};

pub(crate) use contents::Contents;

pub(crate) use command_files::command_files;

pub(crate) use include_code::Embedded;

/// Most bytes of one suite.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Most files, directories and links of one suite: the compiler opens each of them.
const MAX_ENTRIES: usize = 10_000;

/// What the cases in the texts of a suite need, or why it is not embedded.
pub(crate) fn gather(
    texts: &[impl AsRef<str>],
    suite: &LoadedSuite,
    request: &Request,
    files: &Files,
) -> Result<Contents, Box<Diagnostic>> {
    let mut contents = Contents::new(&request.package_root, &suite.suite.root);
    let found = references::of(texts).into_iter().try_for_each(|reference| contents.add(&reference));
    checked(found.map(|()| contents), files, &request.package_root.join(&suite.suite.root))
}

/// What was found, unless it is too much for a program.
fn checked(found: io::Result<Contents>, files: &Files, root: &Path) -> Result<Contents, Box<Diagnostic>> {
    let (problem, largest) = match found {
        Err(error) => (format!("the files that cases need cannot be embedded: {error}"), String::new()),
        Ok(contents) => {
            let (bytes, most, count) = (megabytes(contents.bytes), megabytes(MAX_BYTES), contents.entries.len());
            let problem = if contents.bytes > MAX_BYTES {
                format!("the files that cases need are {bytes}, more than the {most} of a suite that are embedded")
            } else if count > MAX_ENTRIES {
                format!("cases need {count} files, more than the {MAX_ENTRIES} of a suite that are embedded")
            } else {
                return Ok(contents);
            };
            (problem, largest(&contents, files))
        }
    };
    let help = format!("write `embed = off`: the tests then need the suite's directory where they run{largest}");
    let place = SourceRange::whole(files.shown(root));
    Err(Box::new(Diagnostic::new(Code::NotEmbedded, problem).at(place).help(help)))
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
