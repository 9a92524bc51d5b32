//! Reads and checks evaluation suites: a path in, a checked suite or all its problems out.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.
//!
//! ```no_run
//! use evalsuite_schema::diagnostics::render;
//! use evalsuite_loader::{Request, load};
//!
//! let loaded = load(&Request::new("suites/card_agent", "."));
//! for diagnostic in &loaded.diagnostics {
//!     eprintln!("{}", render::text(diagnostic, render::Style::Plain));
//! }
//! ```
//!
//! The macro, the build script and `cargo evalsuite check` all render what [`load`] returns; nothing is decided elsewhere.

#![cfg_attr(docsrs, feature(doc_cfg))]

// The modules in layers: each uses only those above it.
pub mod names;

pub mod source;

mod request;

mod diagnostic;

pub mod key_tables;

mod read;

#[cfg(feature = "documents")]
pub mod document;

mod fields;

mod graders;

mod cases;

mod suite;

mod layouts;

mod calibration;
mod targets_file;

mod load;

pub mod registered_graders;

#[cfg(test)]
mod tests;

pub use calibration::{LoadedCalibration, load_calibration};
pub use evalsuite_schema::discovery::workspace_root;
pub use load::{
    CasePlace, GraderUse, Loaded, LoadedCase, LoadedPart, LoadedSuite, Session, SuiteFiles, Test, load, load_part,
    suite_digest,
};
pub use request::{OtherCase, Part, Request};
pub use suite::symlink_check::check_tracked_directory;
pub use targets_file::{LoadedTargets, find_targets_file, load_targets};
