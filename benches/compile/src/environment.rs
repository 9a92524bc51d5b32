//! Where the program works.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cargo::Cargo;
use crate::options::Options;
use crate::source::Source;

/// The directories of a run, and cargo in them.
pub(crate) struct Surroundings {
    /// evalsuite itself.
    pub(crate) source: Source,
    /// Directory of the packages.
    pub(crate) directory: PathBuf,
    pub(crate) cargo: Cargo,
}

impl Surroundings {
    /// Packages go below the target directory from which this program runs.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workspace = workspace.canonicalize().context("the sources of evalsuite are gone")?;
        let program = std::env::current_exe().context("this program has no path")?;
        let target = program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").is_file());
        let directory = target.map_or_else(|| workspace.join("target"), Path::to_path_buf).join("compile-bench");
        let source = Source::take(&workspace, &directory)?;
        let cargo = Cargo::new(directory.join("target"), options.timeout())?;
        Ok(Self { source, directory, cargo })
    }
}
