//! JSON for programs.

use std::io;
use std::io::Write;

use serde::Serialize;

/// Prints a value as indented JSON.
///
/// # Errors
///
/// If it cannot be printed.
pub(crate) fn print(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}
