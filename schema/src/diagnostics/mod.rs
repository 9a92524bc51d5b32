//! Problems with suites as data: what is wrong, where, and what to do about it; and how people and programs read them.
//!
//! [`Display`](std::fmt::Display) prints a [`Diagnostic`] without source lines; `render` prints it with them, and in the other formats.

mod code;
mod counted;
mod diagnostic;
mod groups;
mod list;
mod location;
pub mod render;
mod source_range;
pub mod suggest;
pub mod terminal;
mod text;
pub mod workflow_command;

pub use code::{Code, Severity};
pub use counted::counted;
pub use diagnostic::{Diagnostic, Edit, Fix, Related};
pub use groups::notes;
pub use list::Diagnostics;
pub use location::Location;
pub use source_range::{Excerpt, Position, SourceRange};
