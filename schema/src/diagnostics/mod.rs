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

pub use self::diagnostic::{Diagnostics, notes};
pub use self::location::{Excerpt, Position, SourceRange};
pub use self::terminal::counted;
pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Edit, Fix, Related};
pub use location::Location;
