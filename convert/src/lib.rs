//! Converts suites and tasks of other tools to evaluation suites.
//!
//! A conversion reads files and returns a [`Conversion`]: the files to write, and a [`Report`] that names every entry of the source as
//! mapped, approximated, different or dropped. Nothing is written before [`Output::write`].
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.

mod error;
mod output;
mod report;
mod source;
mod yaml_writer;

mod new_suite;
mod suite_draft;

mod harbor;
mod promptfoo;
mod tasks;
#[cfg(test)]
mod tests;

pub use error::ConvertError;
pub use harbor::from_harbor;
pub use new_suite::{NewSuite, SourceKind};
pub use output::{Conversion, Output};
pub use promptfoo::from_promptfoo;

pub use report::{Outcome, Report, SourceEntry};
pub use source::Source;
pub use suite_draft::CasePlacement;

/// All kinds of sources. One that could be of several kinds is of the first.
#[rustfmt::skip]
pub const SOURCE_KINDS: &[SourceKind] = &[
    promptfoo::KIND,
    harbor::KIND,
];
