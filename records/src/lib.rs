//! The run directories of [evalsuite](https://docs.rs/evalsuite): the records of a run, where they are, and what they add up to.
//!
//! Programs under test may change the files of a run, so every file is read as untrusted. The crate knows neither suites nor how they are
//! run: `evalsuite` writes the records, reports and the command line read them.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use evalsuite_records::summary::summarize_run;
//!
//! let summary = summarize_run(Path::new("target/evalsuite/runs/nightly"))?;
//! for suite in &summary.suites {
//!     println!("{}: {} cases", suite.suite, suite.cases.len());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

// The layers, lowest first: a module imports only from modules above its own in this list. `tests/tests/layers` checks it.

#[doc(hidden)]
pub mod digest;

#[doc(hidden)]
pub mod json;

#[doc(hidden)]
pub mod file_replacement;

#[doc(hidden)]
pub mod untrusted;

#[doc(hidden)]
pub mod file_lock;

#[doc(hidden)]
pub mod package_file;

pub mod record;

pub mod run_directory;

#[doc(hidden)]
pub mod trial_statistics;

#[doc(hidden)]
pub mod exact_sums;

pub mod baseline;

pub mod probe_file;

#[cfg(feature = "reports")]
pub mod run_data;

pub mod summary;
