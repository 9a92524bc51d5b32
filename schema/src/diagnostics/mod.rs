//! Problems with suites as data: what is wrong, where, and what to do about it; and how people and programs read them.
//!
//! [`Display`](std::fmt::Display) prints a [`Diagnostic`] without source lines; `render` prints it with them, and in the other formats.

mod code;
mod diagnostic;
mod location;
pub mod render;
pub mod suggest;
pub mod terminal;
pub mod workflow_command;

pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Diagnostics, Edit, Fix, Related, notes};
pub use location::{Excerpt, Location, Position, SourceRange};
pub use terminal::counted;
