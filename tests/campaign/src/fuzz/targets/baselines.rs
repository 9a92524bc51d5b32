//! Baselines, and accepted answers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_report::baseline_as_run::{read_accepted_answers, read_baseline};
use evalsuite_report::{RunData, accept, accept_answers, write_accepted_answers, write_baseline};
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
        let baseline = Seed::file("baseline.jsonl", fs::read(&file)?);
        write_accepted_answers(&file, &accept_answers(&run.suites[0], &accepted, None))?;
        let answers = Seed::file("baseline.answers.jsonl", fs::read(&file)?);
        Ok(Self { seeds: vec![baseline, answers], run, file })
    }
}

impl Target for Baselines {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        fs::write(&self.file, &input.bytes).map_err(|error| error.to_string())?;
        // A file that is not a baseline is an error that names the line.
        let suite = &self.run.suites[0];
        if let Ok(baseline) = read_baseline(&self.file) {
            drop(accept(&self.run, suite, baseline.as_ref(), &BTreeSet::new()));
        }
        if let Ok(answers) = read_accepted_answers(&self.file) {
            let accepted = accept(&self.run, suite, None, &BTreeSet::new());
            drop(accept_answers(suite, &accepted, answers.as_ref()));
        }
        Ok(())
    }
}
