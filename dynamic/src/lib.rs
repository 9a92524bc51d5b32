//! [evalsuite](https://docs.rs/evalsuite) as a dynamic library.
//!
//! Most of the time from a changed case to a test program is spent in the linker, which copies evalsuite and its
//! dependencies, with all their debug information, into every test program. As a dynamic library they are linked once:
//!
//! ```toml
//! [dev-dependencies]
//! evalsuite = { package = "evalsuite-dynamic", version = "0.1" }
//! ```
//!
//! Nothing else changes: the crate is still named `evalsuite`, and its features have the same names. `cargo test` and
//! `cargo nextest run` find the library without configuration, and nextest archives contain it. A test program that is
//! started by hand needs its directory in `LD_LIBRARY_PATH`.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use evalsuite::*;
