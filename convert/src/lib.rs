//! Converts evaluation suites: between the layouts of evalsuite, from promptfoo configurations and from Harbor tasks.
//!
//! A conversion reads files and returns a [`Conversion`]: the files to write, and a [`Report`] that names every entry of the source as
//! mapped, approximated or dropped. Nothing is written before [`Output::write`].

use std::path::PathBuf;

mod error;
mod output;
mod report;
mod source;
mod yaml_writer;

mod case_ids;
mod suite_draft;

mod harbor;
mod layouts;
mod promptfoo;
#[cfg(test)]
mod test_files;

pub use error::ConvertError;
pub use harbor::from_harbor;
pub use layouts::{Layout, NewSuite, between_layouts, copy_suite, to_tasks};
pub use output::Output;
pub use promptfoo::from_promptfoo;

pub use report::{Entry, Outcome, Report};
pub use source::Source;

/// A converted suite that is not written yet.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// The files of the suite.
    pub output: Output,
    /// What became of each entry of the source.
    pub report: Report,
    /// Files outside of the directory of the source that were read, which [`Source::allow_outside`] allowed.
    pub copied_from_outside: Vec<PathBuf>,
}
