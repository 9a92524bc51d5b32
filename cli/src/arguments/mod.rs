//! What the arguments of several commands share.

mod build;
mod comparison;

use clap::ValueEnum;

pub(crate) use self::build::Build;
pub(crate) use self::comparison::{ComparisonArguments, UnitOfComparison};

/// The examples of all commands: a line with `#` and the name of a command, then what the end of its help shows, then an empty line.
const EXAMPLES: &str = include_str!("../../assets/examples.txt");

/// The examples of a command, named with the command that it is a part of.
pub(crate) fn examples(command: &str) -> &'static str {
    let (_, rest) = EXAMPLES.split_once(&format!("# {command}\n")).unwrap_or_default();
    rest.split("\n\n").next().unwrap_or_default().trim_end()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text and tables
    #[default]
    #[value(alias = "text")]
    Human,
    /// One JSON object; `cargo evalsuite schema` prints its schema
    Json,
}

/// A share: `10%` or `0.1`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    share.ok().filter(is_share).ok_or_else(|| "expected a share from 0 to 1, such as `10%` or `0.1`".to_owned())
}

/// A share above 0.
pub(crate) fn margin(text: &str) -> Result<f64, String> {
    match share(text)? {
        share if share > 0.0 => Ok(share),
        _ => Err("expected a share above 0, such as `10%` or `0.1`".to_owned()),
    }
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number greater than 0".to_owned())
}
