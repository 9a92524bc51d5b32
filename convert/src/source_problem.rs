//! Why a source is not converted.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::report::Place;

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
