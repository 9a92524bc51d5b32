//! Reads and checks evaluation suites: a path in, a checked suite or all its problems out.

pub mod diagnostic;
mod node;
mod read;
pub mod render;
pub mod source;
