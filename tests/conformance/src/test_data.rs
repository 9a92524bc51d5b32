//! Finds the directories with records and suites.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::record::{self, Line};

/// The directories with files of records.
#[derive(Debug)]
pub struct Vectors {
    /// A record of a later directory replaces that of an earlier one.
    directories: Vec<PathBuf>,
    /// Whether the environment variable names another directory, whose data our lists do not describe.
    pub is_other: bool,
}

impl Vectors {
    /// The directory that `EVALSUITE_VECTORS` names, or else those of this repository and next to it.
    ///
    /// # Errors
    ///
    /// If the variable names no directory.
    pub fn find() -> Result<Self, String> {
        let own = [workspace_root().join("tests/vectors"), workspace_root().join("../shared/vectors")];
        match named("EVALSUITE_VECTORS")? {
            Some(named) if !own.iter().any(|own| same(own, &named)) => {
                Ok(Self { directories: vec![named], is_other: true })
            }
            _ => Ok(Self { directories: own.into_iter().filter(|own| own.is_dir()).collect(), is_other: false }),
        }
    }

    /// The records of a file, without its ending. Another directory need not contain every file.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or has a line without an id.
    pub fn lines(&self, file: &str) -> Result<Vec<Line>, String> {
        let mut all: Vec<Line> = Vec::new();
        let paths = self.directories.iter().map(|directory| directory.join(format!("{file}.jsonl")));
        for path in paths.filter(|path| path.is_file()) {
            for line in record::lines(&path)? {
                match all.iter_mut().find(|earlier| earlier.id == line.id) {
                    Some(earlier) => *earlier = line,
                    None => all.push(line),
                }
            }
        }
        if all.is_empty() && !self.is_other {
            Err(format!("no {file}.jsonl in {:?}", self.directories))
        } else {
            Ok(all)
        }
    }
}

/// The directory with suites of others. They are not in this repository.
#[derive(Debug)]
pub enum Corpus {
    /// It is here.
    Present {
        /// Its path.
        path: PathBuf,
        /// Whether the environment variable names another directory, whose data our lists do not describe.
        is_other: bool,
    },
    /// It is not: a test that is ignored, and whose name is the reason.
    Absent(Trial),
}

impl Corpus {
    /// The directory that `EVALSUITE_CORPUS` names, or else the one next to this repository.
    ///
    /// # Errors
    ///
    /// If the variable names no directory.
    pub fn find() -> Result<Self, String> {
        let beside = workspace_root().join("../shared/corpus");
        Ok(match named("EVALSUITE_CORPUS")? {
            Some(path) => Self::Present { is_other: !same(&path, &beside), path },
            None if beside.is_dir() => Self::Present { path: beside, is_other: false },
            None => Self::Absent(
                Trial::test("suites_of_others (needs ../shared/corpus or EVALSUITE_CORPUS)", || Ok(()))
                    .with_ignored_flag(true),
            ),
        })
    }
}

fn named(variable: &str) -> Result<Option<PathBuf>, String> {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    match named {
        Some(named) if !named.is_dir() => Err(format!("{variable} is {}, which is not a directory", named.display())),
        named => Ok(named),
    }
}

/// Root of the workspace this crate belongs to.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

fn same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
