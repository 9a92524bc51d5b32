//! [evalsuite](https://docs.rs/evalsuite) as a dynamic library.
//!
//! Most of the time between a changed case and a test program is the linker's, which copies evalsuite and what it uses, with
//! all their debug information, into every test program anew. As a dynamic library they are linked once:
//!
//! ```toml
//! [dev-dependencies]
//! evalsuite = { package = "evalsuite-dynamic", version = "0.1" }
//! ```
//!
//! Nothing else changes: the crate is still called `evalsuite`, and its features have the same names. `cargo test` and
//! `cargo nextest run` find the library by themselves, and archives of nextest hold it; a test program that is started by hand
//! needs it in `LD_LIBRARY_PATH`.

pub use evalsuite::*;
