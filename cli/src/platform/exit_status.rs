//! How commands end.

/// Exit code of a command that could not do its work: the command line, a file or the environment is at fault.
pub(crate) const CANNOT_WORK: u8 = 2;

/// Exit code if nothing can be said: too few cases in common, or too many without a result.
pub(crate) const UNDECIDED: u8 = 4;
