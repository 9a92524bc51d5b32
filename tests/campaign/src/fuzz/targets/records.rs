//! Records of a run: they are summed up, read for reports, and rendered.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::summary::{SummaryText, summarize_run};
use evalsuite_report::{FORMATS, RunData};
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{Input, Target};
use crate::fuzz::corpus::Seed;

pub(crate) struct Records {
    seeds: Vec<Seed>,
    run: PathBuf,
}

impl Records {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let run = SyntheticRun::new("run", 3, 2).write(scratch);
        let seed = Seed::directory(&run, |path| path.ends_with(".json") || path.ends_with(".jsonl"))?;
        Ok(Self { seeds: vec![seed], run })
    }
}

impl Target for Records {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        let file = &self.seeds[input.seed].files[input.file];
        let path = self.run.join(&file.path);
        fs::write(&path, &input.bytes).map_err(|error| error.to_string())?;
        // A record that cannot be read is an error that names it.
        let summary = summarize_run(&self.run);
        let data = RunData::read(&self.run);
        fs::write(&path, &file.bytes).map_err(|error| error.to_string())?;
        if let Ok(summary) = summary {
            summary.suites.iter().for_each(|suite| drop(SummaryText::new(suite).to_string()));
        }
        let data = data.map_err(|error| format!("one damaged record hides the run: {error}"))?;
        FORMATS.iter().for_each(|format| drop(format.text(&data)));
        Ok(())
    }
}
