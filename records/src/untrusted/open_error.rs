//! Why a file of an agent is not read.

use std::{fmt, io};

/// Why a file is not read. The text continues a sentence that begins with the name of the file.
#[derive(Debug)]
pub enum OpenError {
    Missing,
    /// `..` or a symbolic link leads out of the directory.
    Outside,
    /// A directory on the way to it is a symbolic link.
    BehindLink,
    /// What it is instead of a regular file.
    NotAFile(&'static str),
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    /// It is JSON of more values than are decoded.
    TooManyValues {
        limit: usize,
    },
    Io(io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("does not exist"),
            Self::Outside => f.write_str("leads out of the directories of the trial"),
            Self::BehindLink => f.write_str("is behind a symbolic link"),
            Self::NotAFile(kind) => write!(f, "is {kind}, not a regular file"),
            Self::TooLarge { bytes, limit } => write!(f, "has {bytes} bytes, more than {limit}"),
            Self::TooManyValues { limit } => write!(f, "has more than {limit} values"),
            Self::Io(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Missing => Self::new(io::ErrorKind::NotFound, "it does not exist"),
            OpenError::Io(error) => error,
            other => Self::other(format!("it {other}")),
        }
    }
}
