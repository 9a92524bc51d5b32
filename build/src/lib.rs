//! Build-script helper of [evalsuite](https://docs.rs/evalsuite).
//!
//! Cargo compiles a crate again when one of its files changes, but it cannot know that a directory belongs to the crate. One
//! line in `build.rs` tells it, so that a case that was added, renamed or deleted shows up in the next `cargo test`:
//!
//! ```no_run
//! // build.rs: in fn main
//! evalsuite_build::track("suites");
//! ```
//!
//! Every build of the package compiles its build script, so [`track`] needs nothing but the standard library: without features this
//! crate has no dependencies. Suites are read by `include_eval_suite!`, in builds of tests.
//!
//! To read or review the generated code, or to do without proc macros, write it with [`generate()`], which requires the feature
//! `generate`. Every build of the package, also a release build, then compiles the loader and reads the suite.
//!
//! ```no_run
//! // build.rs: in fn main
//! # #[cfg(feature = "generate")]
//! evalsuite_build::generate("suites/card_agent").agent("card_agent").graders(["card_completion"]).write();
//! ```
//!
//! ```ignore
//! // tests/evals.rs
//! include!(concat!(env!("OUT_DIR"), "/evalsuite/card_agent.rs"));
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

// In the order of their imports: a module imports only from those above it. Blank lines keep rustfmt from sorting them.

mod cargo_instructions;

mod tracking;

#[cfg(feature = "generate")]
mod generate;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use cargo_instructions::Instructions;

#[cfg(feature = "generate")]
pub use generate::Generator;

/// Lets cargo see every change below `directory`, a path relative to the package's root. May be called for several
/// directories.
///
/// A directory that does not exist is a warning of the build, because a container or a published crate may have no suites. The macro
/// then fails the build of the tests. As long as the directory is missing, a build script without other `rerun-if-changed` instructions
/// runs again whenever a file of the package changes.
///
/// Nothing may be written below a tracked directory while building or testing: each write would make the next build a full
/// one. For the same reason the build script ends with an error if `directory`, or a link to a directory below it, leads to the package
/// itself, to a directory that contains cargo's target directory, or out of the package.
pub fn track(directory: impl Into<PathBuf>) {
    Instructions::run(|package, instructions| tracking::track(&directory.into(), package, instructions));
}

/// Writes the code that `include_eval_suite!` expands to into `$OUT_DIR/evalsuite/`, for `include!`, and tracks the suite.
///
/// Nothing is written before [`Generator::write`].
#[cfg(feature = "generate")]
pub fn generate(entry: impl Into<String>) -> Generator {
    Generator::new(entry)
}
