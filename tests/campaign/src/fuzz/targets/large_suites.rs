//! Suites that are as large as the limits allow. They are made, not mutated.

use std::path::Path;
use std::{fs, io};

use evalsuite_loader::{Request, load};
use evalsuite_schema::diagnostics::render;
use evalsuite_tests::large_suites::LARGE_SUITES;

use super::{Input, Target};
use crate::fuzz::corpus::Seed;

pub(crate) struct LargeSuites {
    /// Names of the suites: what is in them is made for each execution.
    seeds: Vec<Seed>,
    package: std::path::PathBuf,
}

impl LargeSuites {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let seeds = LARGE_SUITES.iter().map(|large| Seed::file(large.name, Vec::new())).collect();
        let package = scratch.join("package");
        fs::create_dir_all(&package)?;
        fs::write(package.join("Cargo.toml"), "[package]\nname = \"large\"\n")?;
        Ok(Self { seeds, package })
    }
}

impl Target for LargeSuites {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn made(&self, index: u64) -> Option<Input> {
        let seed = usize::try_from(index).unwrap_or_default() % self.seeds.len();
        Some(Input { seed, file: 0, bytes: Vec::new() })
    }

    fn prepare(&mut self, input: &Input) -> io::Result<()> {
        let suite = self.package.join("suite");
        if suite.exists() {
            fs::remove_dir_all(&suite)?;
        }
        for (path, text) in (LARGE_SUITES[input.seed].files)() {
            let path = suite.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&suite))?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        let large = &LARGE_SUITES[input.seed];
        let mut request = Request::new("suite", &self.package);
        request.workspace_root.clone_from(&self.package);
        let loaded = load(&request);
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|problem| problem.code.as_str()).collect();
        let is_expected = if large.code.is_empty() { loaded.suite.is_some() } else { codes.contains(&large.code) };
        if !is_expected {
            let first = &codes[..codes.len().min(5)];
            return Err(format!("{}: expected {:?}, found {first:?}", large.name, large.code));
        }
        let printed: usize = loaded
            .diagnostics
            .iter()
            .take(1_000)
            .map(|problem| render::text(problem, render::Style::Plain).len())
            .sum();
        if printed > 4 << 20 { Err(format!("{}: {printed} bytes are printed", large.name)) } else { Ok(()) }
    }
}
