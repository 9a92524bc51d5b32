//! Reads and checks evaluation suites: a path in, a checked suite or all its problems out.
//!
//! ```no_run
//! use evalsuite_loader::{Request, load, render};
//!
//! let loaded = load(&Request::new("suites/card_agent", "."));
//! for diagnostic in &loaded.diagnostics {
//!     eprintln!("{}", render::text(diagnostic, render::Style::Plain));
//! }
//! ```
//!
//! The macro, the build script and `cargo evalsuite check` all render what [`load`] says; nothing is decided elsewhere.

mod assertions;
mod calibration;
mod case;
mod cases;
mod command;
mod conversation;
mod cross_check;
mod diagnostic;
mod entry;
mod eval_file;
mod execution;
mod expected_output;
mod fields;
mod graders;
mod hooks;
mod id;
mod input;
mod load;
mod memo;
pub mod names;
mod node;
mod paths;
mod read;
pub mod render;
mod repos;
mod requires;
pub mod source;
mod sources;
pub mod suggest;
mod suite;
mod suite_json;
mod targets_file;
mod task;
mod workspace;

pub use calibration::{LoadedCalibration, load_calibration};
pub use load::load;
pub use paths::workspace_root;
pub use suite::{GraderUse, Loaded, LoadedCase, LoadedSuite, Request, Test};
pub use targets_file::{LoadedTargets, find_targets_file, load_targets};
