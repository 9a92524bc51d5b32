//! Commands.

use crate::PathRef;
use crate::json::{FromJson, ToJson};

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum Command {
    /// A line for `sh -c` (on Windows `cmd /C`).
    Shell(String),
    /// Program and arguments, without a shell. Elements that name files of the suite are [`Argument::Path`].
    Argv(Vec<Argument>),
}

/// An element of [`Command::Argv`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum Argument {
    /// Passed as written.
    Text(String),
    /// A file of the suite, passed as absolute path.
    Path(PathRef),
}
