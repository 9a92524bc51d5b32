//! A diagnostic as text without source lines.

use std::fmt;

use crate::diagnostics::terminal;
use crate::diagnostics::{Diagnostic, notes};

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (severity, message) = (self.severity().as_str(), terminal::short_line(&self.message));
        write!(f, "{severity}[{}]: {message}", self.code)?;
        if let Some(place) = &self.place {
            write!(f, "\n --> {place}")?;
        }
        for note in notes(&self.related) {
            write!(f, "\n  = note: {note}")?;
        }
        if let Some(help) = &self.help {
            // Further lines start below the first letter of the first one.
            write!(f, "\n  = help: {}", terminal::lines(help).replace('\n', "\n          "))?;
        }
        Ok(())
    }
}
