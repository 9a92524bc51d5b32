//! Logs of Inspect, the evaluation framework of the UK AI Security Institute: its viewer, its command line and its data frames
//! read them.

mod header;
mod messages;
mod sample;
mod scores;

use std::io::{Seek, Write};
use std::path::Path;
use std::{fs, io};

use evalsuite_records::file_replacement::error_at;
use evalsuite_schema::Value;

use self::header::Header;
use self::sample::sample;
use self::scores::cut;
use super::ids::{id, suites_and_targets, unique};
use super::{Destination, Exported, Format, file};
use crate::run_data::{CaseData, Problem, RunData, TrialData, TrialFiles};

pub(super) const FORMAT: Format = Format::of_files(
    "inspect-log",
    Destination::FileOrDirectory,
    files,
    "Write Inspect logs: FILE.json or FILE.eval for a run with one suite and target, else a directory with one log for each",
);

/// Trials up to which a log is written as JSON unless a format is chosen. Viewers read JSON as a whole, and archives by the sample.
const MOST_IN_JSON: usize = 1_000;
/// Most bytes of a suite's name in a file name: file systems allow 255 bytes in all.
const LONGEST_NAME: usize = 100;

/// The run of a suite with one target, as a log of Inspect. Every trial is a sample, and its index an epoch.
#[derive(Debug, Clone)]
pub struct InspectLog<'a> {
    run: &'a RunData,
    suite: &'a str,
    target: &'a str,
    /// The cases by the ids of their samples.
    cases: Vec<(String, &'a CaseData)>,
    /// Derived from run, suite and target.
    id: String,
}

/// A format of Inspect's logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InspectFormat {
    /// One JSON document, `.json`.
    Json,
    /// A compressed archive with a file per sample, `.eval`.
    Eval,
}

impl InspectFormat {
    /// The format of a file by its extension; `None` if it is another one.
    pub fn of_file(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        [Self::Json, Self::Eval].into_iter().find(|format| extension == format.extension())
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Eval => "eval",
        }
    }
}

/// Writes one log to a file, whose extension is that of a format, or the logs of all suites and targets to a directory.
pub(super) fn files(run: &RunData, path: &Path) -> io::Result<Exported> {
    let logs = inspect_logs(run);
    let Some(format) = InspectFormat::of_file(path) else {
        fs::create_dir_all(path).map_err(|error| error_at(path, &error))?;
        let mut written = Exported::default();
        for log in &logs {
            let named = path.join(log.file_name(log.format()));
            written.problems.extend(file(&named, |out| log.write(log.format(), out))?);
            written.named.push(named);
        }
        return Ok(written);
    };
    let names: Vec<String> = logs.iter().map(|log| format!("{} @ {}", log.suite(), log.target())).collect();
    let problem = match logs.as_slice() {
        [log] => {
            return Ok(Exported { problems: file(path, |out| log.write(format, out))?, ..Exported::default() });
        }
        [] => "the run has no cases".to_owned(),
        _ => format!("a log contains one suite and target, but the run has {}; name a directory", names.join(", ")),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {problem}", path.display())))
}

/// The logs of a run: one per suite and target, because a log is about one task and one model.
pub fn inspect_logs(run: &RunData) -> Vec<InspectLog<'_>> {
    let logs = suites_and_targets(run).into_iter().map(|(suite, target, cases)| {
        // Two suites may have the same name; their directories differ.
        let directory = cases[0].directory.parent().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        // An archive names its files by them, and its names are at most 64 KiB long.
        let ids: Vec<String> = cases.iter().map(|case| cut(&case.record.case_id)).collect();
        let ids = unique(ids.iter().map(String::as_str));
        let id = id(22, &["inspect", &run.run_id, &directory, target]);
        InspectLog { run, suite, target, cases: ids.into_iter().zip(cases).collect(), id }
    });
    logs.collect()
}

impl InspectLog<'_> {
    /// Name of the suite.
    pub fn suite(&self) -> &str {
        self.suite
    }

    /// Name of the target.
    pub fn target(&self) -> &str {
        self.target
    }

    /// The format for a log of its size: JSON up to 1,000 trials, else an archive.
    pub fn format(&self) -> InspectFormat {
        let trials: usize = self.cases.iter().map(|(_, case)| case.trials.len()).sum();
        if trials > MOST_IN_JSON { InspectFormat::Eval } else { InspectFormat::Json }
    }

    /// The file name by which Inspect finds the log: `TIME_SUITE_ID` with the extension of the format.
    pub fn file_name(&self, format: InspectFormat) -> String {
        let time = self.started_at().get(..19).unwrap_or("1970-01-01T00:00:00").replace(':', "-");
        // Inspect cuts the name into its parts at `_`.
        let is_kept = |character: char| character.is_alphanumeric() || character == '.';
        let mut suite = String::new();
        for character in self.suite.chars().map(|it| if is_kept(it) { it } else { '-' }) {
            if suite.len() + character.len_utf8() > LONGEST_NAME {
                break;
            }
            suite.push(character);
        }
        format!("{time}_{suite}_{}.{}", self.id, format.extension())
    }

    /// Writes the log. Samples are read and written one after the other. Returns the files of the run that could not be read.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, format: InspectFormat, out: impl Write + Seek) -> io::Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let header = Header::new(self);
        match format {
            InspectFormat::Json => self.write_json(&header, out, &mut problems)?,
            InspectFormat::Eval => header::write_archive(self, &header, out, &mut problems)?,
        }
        Ok(problems)
    }

    fn write_json(&self, header: &Header, mut out: impl Write, problems: &mut Vec<Problem>) -> io::Result<()> {
        out.write_all(b"{\n")?;
        for (key, value) in header.fields.as_object().into_iter().flatten() {
            writeln!(out, "{}: {value},", Value::from(key.as_str()))?;
        }
        // Readers of headers stop here.
        out.write_all(b"\"samples\": [")?;
        let mut separator = "\n";
        for (id, case) in &self.cases {
            for trial in &case.trials {
                write!(out, "{separator}{}", self.sample(header, id, trial, problems))?;
                separator = ",\n";
            }
        }
        writeln!(out, "\n],\n\"reductions\": {}\n}}", header.reductions)
    }

    /// The sample of a trial.
    fn sample(&self, header: &Header, case_id: &str, trial: &TrialData, problems: &mut Vec<Problem>) -> Value {
        let files = TrialFiles::read_without_texts(self.run, trial, problems);
        sample(&header.model, case_id, trial, &files)
    }

    fn started_at(&self) -> &str {
        let recorded = self.run.record.as_ref().map(|record| record.started_at.as_str());
        let first = self.trials().map(|trial| trial.record.started_at.as_str()).filter(|time| !time.is_empty()).min();
        recorded.filter(|time| !time.is_empty()).or(first).unwrap_or("1970-01-01T00:00:00Z")
    }

    fn trials(&self) -> impl Iterator<Item = &TrialData> {
        self.cases.iter().flat_map(|(_, case)| &case.trials)
    }
}
