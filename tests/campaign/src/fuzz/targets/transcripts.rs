//! Transcripts in the ATIF format.

use std::io;

use evalsuite::Outcome;

use super::{Input, Target};
use crate::fuzz::corpus::{self, Seed};

pub(crate) struct Transcripts(Vec<Seed>);

impl Transcripts {
    pub(crate) fn open() -> io::Result<Self> {
        corpus::files_of("transcripts").map(Self)
    }
}

impl Target for Transcripts {
    fn seeds(&self) -> &[Seed] {
        &self.0
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        match Outcome::from_trajectory(&input.bytes) {
            Ok(_) => Ok(()),
            Err(error) if error.to_string().is_empty() => Err("an error without a message".to_owned()),
            Err(_) => Ok(()),
        }
    }
}
