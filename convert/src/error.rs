//! Why a source cannot be converted at all.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use evalsuite_loader::render;
use evalsuite_schema::diagnostic::Diagnostics;

/// Why a source cannot be converted at all, or a suite not be written.
#[derive(Debug)]
pub struct ConvertError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Io(PathBuf, io::Error),
    Unreadable(Diagnostics),
    Unsupported(String),
    Exists(Vec<PathBuf>),
}

impl ConvertError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self { kind: Kind::Io(path.to_owned(), error) }
    }

    pub(crate) fn unreadable(problems: Diagnostics) -> Self {
        Self { kind: Kind::Unreadable(problems) }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unsupported(message.into()) }
    }

    pub(crate) fn exists(files: Vec<PathBuf>) -> Self {
        Self { kind: Kind::Exists(files) }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Io(path, _) => write!(f, "{}", path.display()),
            Kind::Unreadable(problems) => {
                let texts: Vec<String> =
                    problems.iter().map(|problem| render::text(problem, render::Style::Plain)).collect();
                write!(f, "the source cannot be read\n{}", texts.join("\n\n"))
            }
            Kind::Unsupported(message) => f.write_str(message),
            Kind::Exists(files) => {
                let more = if files.len() > 1 { format!(" and {} more files", files.len() - 1) } else { String::new() };
                let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
                write!(f, "{first}{more} would be overwritten\n  = help: add `--force`, or name another directory")
            }
        }
    }
}

impl std::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
