//! Directories and tools of the benchmark.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cargo::Cargo;
use crate::options::Options;
use crate::source_copy::SourceCopy;

/// The directories of the benchmark, and cargo configured for them.
pub(crate) struct Environment {
    /// The copy of evalsuite that the packages depend on.
    pub(crate) source: SourceCopy,
    /// Directory of the packages.
    pub(crate) directory: PathBuf,
    pub(crate) cargo: Cargo,
}

impl Environment {
    /// Uses the target directory that this program was built in.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workspace = workspace.canonicalize().context("cannot find the sources of evalsuite")?;
        let program = std::env::current_exe().context("cannot determine the path of this program")?;
        let target = program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").is_file());
        let directory = target.map_or_else(|| workspace.join("target"), Path::to_path_buf).join("compile-bench");
        let source = SourceCopy::create(&workspace, &directory)?;
        let cargo = Cargo::new(directory.join("target"), options.timeout())?;
        Ok(Self { source, directory, cargo })
    }
}
