//! Baselines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_report::{RunData, accept, read_baseline, write_baseline};
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{Input, Target};
use crate::fuzz::corpus::Seed;

pub(crate) struct Baselines {
    seeds: Vec<Seed>,
    run: RunData,
    file: PathBuf,
}

impl Baselines {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let run = RunData::read(SyntheticRun::new("run", 9, 2).write(scratch))?;
        let file = scratch.join("baseline.jsonl");
        let accepted = accept(&run, &run.suites[0], None, &BTreeSet::new());
        write_baseline(&file, &accepted.baseline)?;
        Ok(Self { seeds: vec![Seed::file("baseline.jsonl", fs::read(&file)?)], run, file })
    }
}

impl Target for Baselines {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        fs::write(&self.file, &input.bytes).map_err(|error| error.to_string())?;
        // A file that is not a baseline is an error that names the line.
        if let Ok(baseline) = read_baseline(&self.file) {
            drop(accept(&self.run, &self.run.suites[0], baseline.as_ref(), &BTreeSet::new()));
        }
        Ok(())
    }
}
