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
//! [`track`] reads every suite below the directory, shows warnings, and leaves the result for `include_eval_suite!`, which
//! then has nothing left to read.
//!
//! To read or review the generated code, or to do without proc macros, write it with [`generate()`], which needs the feature
//! `generate`:
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

#[cfg(feature = "expand")]
extern crate proc_macro;

// In the order of their imports: a module imports only from those above it. Blank lines keep rustfmt from sorting them.

#[doc(hidden)]
pub mod cargo_environment;

mod cargo_instructions;

#[doc(hidden)]
pub mod suite_search;

mod allowed_warnings;

mod rust_literals;

mod short_hash;

#[cfg(feature = "expand")]
mod code_text;

mod embed;

mod statics;

mod suite_facts;

mod cache;

#[cfg(feature = "expand")]
#[doc(hidden)]
pub mod binding;

#[cfg(feature = "expand")]
#[doc(hidden)]
pub mod arguments;

#[cfg(feature = "expand")]
#[doc(hidden)]
pub mod expansion;

mod track;

#[cfg(feature = "generate")]
mod generate;

#[cfg(test)]
mod fixture;

use std::path::PathBuf;

pub use track::Tracker;

#[cfg(feature = "generate")]
pub use generate::Generator;

/// Lets cargo see every change below `directory`, a path relative to the package's root. May be called for several
/// directories.
///
/// Warnings about the suites below it are shown; errors are left to the macro, which shows them where a suite is used.
/// [`Tracker`] is the same with options.
///
/// Nothing may be written below a tracked directory while building or testing: each write would make the next build a full
/// one. For the same reason the package itself and everything around cargo's target directory is refused, as is a path
/// that does not exist: the build script ends with an error that says so.
pub fn track(directory: impl Into<PathBuf>) {
    Tracker::new(directory).start();
}

/// Writes the code that `include_eval_suite!` expands to into `$OUT_DIR/evalsuite/`, for `include!`, and tracks the suite.
///
/// Nothing is written before [`Generator::write`].
#[cfg(feature = "generate")]
pub fn generate(entry: impl Into<String>) -> Generator {
    Generator::new(entry)
}
