//! Why a source is not converted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use evalsuite_schema::diagnostics::{Diagnostics, render};

use crate::report::{Outcome, Place, Report};

/// Problems or lost entries of a source that are listed, at most.
const MOST_LISTED: usize = 20;

/// Why a source cannot be converted at all, or a suite not be written.
#[derive(Debug)]
pub struct ConvertError {
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Io(PathBuf, io::Error),
    Unreadable(Diagnostics),
    Unsupported(String),
    Exists(Vec<PathBuf>),
    Refused(Vec<SourceProblem>),
    NoCases(Report),
}

impl ConvertError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self { kind: Kind::Io(path.to_owned(), error) }
    }

    pub(crate) fn unreadable(problems: Diagnostics) -> Self {
        Self { kind: Kind::Unreadable(problems) }
    }

    /// No case is left of a source; `report` says why.
    pub(crate) fn no_cases(report: Report) -> Self {
        Self { kind: Kind::NoCases(report) }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unsupported(message.into()) }
    }

    /// Why a file that an entry names is not read, for the report.
    pub(crate) fn reason(&self) -> String {
        match &self.kind {
            Kind::Io(_, error) if error.kind() == io::ErrorKind::NotFound => "it does not exist".to_owned(),
            Kind::Io(_, error) => error.to_string(),
            Kind::Unreadable(problems) => {
                problems.iter().next().map(|problem| problem.message.clone()).unwrap_or_default()
            }
            _ => self.to_string(),
        }
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
            Kind::Refused(problems) => {
                let texts: Vec<String> = problems.iter().take(MOST_LISTED).map(ToString::to_string).collect();
                f.write_str(&texts.join("\n\nerror: "))?;
                write_more(problems.len(), f)
            }
            Kind::NoCases(report) => {
                f.write_str("the source has no case that can be converted, and nothing is written")?;
                let lost = report.entries().iter().filter(|entry| entry.outcome == Outcome::Dropped);
                lost.clone().take(MOST_LISTED).try_for_each(|entry| write!(f, "\n{entry}"))?;
                write_more(lost.count(), f)
            }
            Kind::Exists(files) => {
                let more = if files.len() > 1 { format!(" and {} more files", files.len() - 1) } else { String::new() };
                let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
                write!(f, "{first}{more} would be overwritten\n  = help: add `--force`, or name another directory")
            }
        }
    }
}

/// How many of a list are not written.
fn write_more(number: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match number.saturating_sub(MOST_LISTED) {
        0 => Ok(()),
        more => write!(f, "\n\nand {more} more"),
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

/// Places of a problem that are listed, at most.
const MOST_PLACES: usize = 20;

/// Something in a source that makes its conversion impossible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceProblem {
    pub(crate) message: String,
    /// Where it is, each place with what the message does not name.
    pub(crate) places: Vec<(Place, String)>,
    pub(crate) help: String,
}

impl SourceProblem {
    pub(crate) fn new(message: impl Into<String>, place: &Place, help: impl Into<String>) -> Self {
        Self { message: message.into(), places: vec![(place.clone(), String::new())], help: help.into() }
    }
}

impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (Place { file, line, name }, text) in self.places.iter().take(MOST_PLACES) {
            write!(f, "\n --> {file}")?;
            if *line > 0 {
                write!(f, ":{line}")?;
            }
            let names = [name, text].into_iter().filter(|name| !name.is_empty() && *name != file);
            names.into_iter().try_for_each(|name| write!(f, ": {name}"))?;
        }
        let more = self.places.len().saturating_sub(MOST_PLACES);
        if more > 0 {
            write!(f, "\n     and {more} more")?;
        }
        write!(f, "\n  = help: {}", self.help)
    }
}

/// References that lead out of a source to where nothing may be copied from.
#[derive(Debug, Default)]
pub(crate) struct OutsideReferences(Vec<Reference>);

#[derive(Debug, PartialEq, Eq)]
struct Reference {
    text: String,
    target: PathBuf,
    place: Place,
}

impl OutsideReferences {
    pub(crate) fn add(&mut self, text: &str, target: PathBuf, place: &Place) {
        let reference = Reference { text: text.to_owned(), target, place: place.clone() };
        if !self.0.contains(&reference) {
            self.0.push(reference);
        }
    }

    /// The references as one problem of the source in `root`.
    pub(crate) fn problem(&self, root: &Path) -> Option<SourceProblem> {
        let directories: BTreeSet<&Path> = self.0.iter().map(Reference::directory).collect();
        let is_below_another =
            |directory: &Path| directory.ancestors().skip(1).any(|above| directories.contains(above));
        let options: Vec<String> = directories
            .iter()
            .filter(|directory| !is_below_another(directory))
            .map(|directory| format!("--allow-outside {}", directory.display()))
            .collect();
        let (root, options) = (root.display(), options.join(" "));
        match &self.0[..] {
            [] => None,
            [Reference { text, target, place }] => Some(SourceProblem::new(
                format!("`{text}` leads out of the directory of the source, to {}", target.display()),
                place,
                format!("copy it to {root}, or allow to copy files from its directory: `{options}`"),
            )),
            many => Some(SourceProblem {
                message: format!("{} references lead out of the directory of the source", many.len()),
                places: many
                    .iter()
                    .map(|reference| (reference.place.clone(), format!("`{}`", reference.text)))
                    .collect(),
                help: format!(
                    "copy what they name to {root}, or allow to copy files from other directories: `{options}`"
                ),
            }),
        }
    }
}

impl Reference {
    /// The directory to allow.
    fn directory(&self) -> &Path {
        if self.target.is_dir() { &self.target } else { self.target.parent().unwrap_or(&self.target) }
    }
}
