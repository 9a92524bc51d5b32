//! What is executed with mutated inputs.

mod answers;
mod baselines;
mod conversions;
mod directory_links;
mod judge_replies;
mod large_suites;
mod one_case;
mod records;
mod replays;
mod suites;
mod targets_files;
#[cfg(test)]
mod tests;
mod transcripts;

use std::io;
use std::path::Path;

use fastrand::Rng;

use super::corpus::Seed;
use super::mutation::{Material, mutate};

/// A reader of files, with inputs that it accepts.
pub(crate) trait Target {
    /// The corpus.
    fn seeds(&self) -> &[Seed];

    /// Words of the format.
    fn words(&self) -> &[String] {
        &[]
    }

    /// The input of an execution, if inputs are made and not mutated.
    fn made(&self, _index: u64) -> Option<Input> {
        None
    }

    /// Writes what an execution reads, which counts for nothing.
    fn prepare(&mut self, _input: &Input) -> io::Result<()> {
        Ok(())
    }

    /// Reads an input.
    fn run(&mut self, input: &Input) -> Result<(), String>;
}

/// A seed with one changed file.
#[derive(Debug)]
pub(crate) struct Input {
    /// Index of the seed.
    pub(crate) seed: usize,
    /// Index of the changed file.
    pub(crate) file: usize,
    /// What is in it.
    pub(crate) bytes: Vec<u8>,
}

impl Input {
    /// An input that the random numbers choose.
    pub(crate) fn random(target: &dyn Target, rng: &mut Rng) -> Self {
        let seeds = target.seeds();
        let seed = rng.usize(0..seeds.len());
        let files = &seeds[seed].files;
        let file = rng.usize(0..files.len());
        let others = &seeds[rng.usize(0..seeds.len())].files;
        let material = Material { words: target.words(), other: &others[rng.usize(0..others.len())].bytes };
        let mut bytes = files[file].bytes.clone();
        mutate(&mut bytes, &material, rng);
        Self { seed, file, bytes }
    }
}

/// The names of all targets, with the share of the executions that each gets, in thousandths of those of suites: what runs
/// trials or writes files takes longer.
pub(crate) const TARGETS: &[(&str, u64)] = &[
    ("suites", 1_000),
    ("targets-files", 50),
    ("transcripts", 200),
    ("records", 5),
    ("baselines", 20),
    ("cassettes", 1),
    ("evidence", 1),
    ("answers", 1),
    ("judge-replies", 2),
    ("conversions", 20),
    ("directory-links", 10),
    (LARGE, 0),
];

/// The target whose inputs are made: each is executed once, and some of them in the short form.
pub(crate) const LARGE: &str = "large-suites";

/// Opens a target, which may use the directory `scratch`.
pub(crate) fn open(name: &str, scratch: &Path) -> io::Result<Box<dyn Target>> {
    Ok(match name {
        "suites" => Box::new(suites::Suites::open(scratch)?),
        "targets-files" => Box::new(targets_files::TargetsFiles::open(scratch)?),
        "transcripts" => Box::new(transcripts::Transcripts::open()?),
        "records" => Box::new(records::Records::open(scratch)?),
        "baselines" => Box::new(baselines::Baselines::open(scratch)?),
        "cassettes" => Box::new(replays::Replays::cassettes(scratch)?),
        "evidence" => Box::new(replays::Replays::evidence(scratch)?),
        "judge-replies" => Box::new(judge_replies::JudgeReplies::open(scratch)?),
        "answers" => Box::new(answers::Answers::open(scratch)?),
        "conversions" => Box::new(conversions::Conversions::open(scratch)?),
        "directory-links" => Box::new(directory_links::DirectoryLinks::open(scratch)?),
        LARGE => Box::new(large_suites::LargeSuites::open(scratch)?),
        _ => return Err(io::Error::new(io::ErrorKind::NotFound, format!("no target `{name}`"))),
    })
}
