//! Suites in all layouts: they are loaded, and the first problems are rendered.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_loader::{Request, key_tables, load};
use evalsuite_schema::diagnostics::render;

use super::{Input, Target};
use crate::fuzz::corpus::{self, Seed};

/// Problems that are rendered, as many as fit on a screen.
const RENDERED: usize = 5;

pub(crate) struct Suites {
    seeds: Vec<Seed>,
    words: Vec<String>,
    directories: Vec<PathBuf>,
    requests: Vec<Request>,
}

impl Suites {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let seeds = corpus::suites()?;
        let (mut directories, mut requests) = (Vec::new(), Vec::new());
        for (number, seed) in seeds.iter().enumerate() {
            let package = scratch.join(number.to_string());
            let directory = package.join("suite");
            seed.write(&directory)?;
            let mut request = Request::new("suite", &package);
            request.workspace_root = package;
            request.threads = 1;
            directories.push(directory);
            requests.push(request);
        }
        Ok(Self { seeds, words: words(), directories, requests })
    }
}

/// Keys of suites and examples of their values.
pub(crate) fn words() -> Vec<String> {
    let tables = key_tables::tables();
    let keys = tables.iter().flat_map(|table| table.all_keys());
    keys.flat_map(|key| [format!("{}: ", key.name), key.example.to_owned(), key.name.to_owned()]).collect()
}

impl Target for Suites {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn words(&self) -> &[String] {
        &self.words
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        let file = &self.seeds[input.seed].files[input.file];
        let path = self.directories[input.seed].join(&file.path);
        fs::write(&path, &input.bytes).map_err(|error| error.to_string())?;
        let loaded = load(&self.requests[input.seed]);
        fs::write(&path, &file.bytes).map_err(|error| error.to_string())?;
        if loaded.suite.is_none() && !loaded.diagnostics.has_errors() {
            return Err("there is neither a suite nor an error".to_owned());
        }
        for diagnostic in loaded.diagnostics.iter().take(RENDERED) {
            let text = render::text(diagnostic, render::Style::Plain);
            if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
                return Err(format!("a terminal would obey {text:?}"));
            }
        }
        Ok(())
    }
}
