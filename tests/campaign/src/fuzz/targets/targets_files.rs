//! Targets files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_loader::{Request, load_targets};
use evalsuite_schema::diagnostics::render;

use super::suites::words;
use super::{Input, Target};
use crate::fuzz::corpus::{self, Seed};

pub(crate) struct TargetsFiles {
    seeds: Vec<Seed>,
    words: Vec<String>,
    file: PathBuf,
    request: Request,
}

impl TargetsFiles {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let mut request = Request::new("", scratch);
        request.workspace_root = scratch.to_owned();
        Ok(Self { seeds: corpus::files_of("targets")?, words: words(), file: scratch.join("targets.yaml"), request })
    }
}

impl Target for TargetsFiles {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn words(&self) -> &[String] {
        &self.words
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        fs::write(&self.file, &input.bytes).map_err(|error| error.to_string())?;
        let loaded = load_targets(&self.file, &self.request);
        for diagnostic in loaded.problems_of(loaded.names()).iter().take(5) {
            render::text(diagnostic, render::Style::Plain);
        }
        Ok(())
    }
}
