//! Why a source is not converted.

use std::fmt;

use crate::report::Place;

/// Something in a source that makes its conversion impossible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceProblem {
    pub(crate) message: String,
    pub(crate) place: Place,
    pub(crate) help: String,
}

impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, place: Place { file, line, name }, help } = self;
        write!(f, "{message}\n --> {file}")?;
        if *line > 0 {
            write!(f, ":{line}")?;
        }
        if !name.is_empty() && name != file {
            write!(f, ": {name}")?;
        }
        write!(f, "\n  = help: {help}")
    }
}
