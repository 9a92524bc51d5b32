//! Sources of conversions, beside a directory with a secret: no file of it gets into a suite.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_convert::{CasePlacement, Conversion, ConvertError, SOURCE_KINDS, Source};
use fastrand::Rng;

use super::{Input, Target};
use crate::fuzz::corpus::{self, Seed};

/// What is outside of the source.
const SECRET: &str = "TOP-SECRET-4711";

pub(crate) struct Conversions {
    seeds: Vec<Seed>,
    words: Vec<String>,
    scratch: PathBuf,
}

impl Conversions {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let mut seeds = Vec::new();
        for entry in fs::read_dir(corpus::of("conversions"))? {
            seeds.push(Seed::directory(&entry?.path(), |_| true)?);
        }
        seeds.sort_by(|one, other| one.files[0].path.cmp(&other.files[0].path));
        let secrets = ["secret.txt", "secret.yaml", "secret.csv", "secret.json", "instruction.md", "tests/test.sh"];
        for path in secrets.map(|path| scratch.join("outside").join(path)) {
            fs::create_dir_all(path.parent().unwrap_or(scratch))?;
            fs::write(path, format!("word\n{SECRET}\n"))?;
        }
        let outside = scratch.join("outside").canonicalize()?.display().to_string();
        let mut words = Vec::new();
        for place in
            [outside.as_str(), "../outside", "../../outside", "linked", "inner/../../outside", "**/..", "/", ".."]
        {
            for file in ["secret.txt", "secret.yaml", "secret.csv", "secret.json", "*.txt", "**/*", "*", ""] {
                words.extend([format!("file://{place}/{file}"), format!("{place}/{file}")]);
            }
        }
        words.extend(
            ["linked.txt", "file://linked.txt", "file://linked.yaml", "COPY ../../outside ./", "{{ q }}"]
                .map(str::to_owned),
        );
        Ok(Self { seeds, words, scratch: scratch.to_owned() })
    }

    fn convert(source: &Path) -> Result<Vec<u8>, ConvertError> {
        let text = |conversion: Conversion| {
            conversion
                .output
                .files()
                .values()
                .flatten()
                .copied()
                .chain(conversion.report.to_string().into_bytes())
                .collect()
        };
        let kind = SOURCE_KINDS.iter().find(|kind| kind.is_kind_of(source)).unwrap_or(&SOURCE_KINDS[0]);
        let placement = if kind.name == "harbor" { CasePlacement::File } else { CasePlacement::Directories };
        kind.convert(Source::new(source)).map(|suite| text(suite.in_layout(placement)))
    }
}

/// Names of files in the corpus, in place of which hostile ones are written.
const NAMES: &[&str] = &[
    "file://prompt.txt",
    "file://default.yaml",
    "file://question.txt",
    "file://inner/*.txt",
    "file://expected.txt",
    "file://schema.json",
    "file://check.py",
    "file://tests.csv",
    "inner/tests.yaml",
    "file://vars.yaml",
    "tea",
    "one",
    "data",
    "a.txt",
    "Do it.",
    "4",
];

impl Target for Conversions {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// A valid source with a hostile name in place of one; every third input is mutated at random.
    fn made(&self, index: u64) -> Option<Input> {
        let mut rng = Rng::with_seed(index);
        let seed = rng.usize(0..self.seeds.len());
        let file = rng.usize(0..self.seeds[seed].files.len());
        let text = String::from_utf8(self.seeds[seed].files[file].bytes.clone()).ok()?;
        let found: Vec<(usize, &str)> = NAMES.iter().flat_map(|name| text.match_indices(name)).collect();
        if index.is_multiple_of(3) || found.is_empty() {
            return None;
        }
        let (at, name) = found[rng.usize(0..found.len())];
        let word = &self.words[rng.usize(0..self.words.len())];
        let bytes = [&text[..at], word, &text[at + name.len()..]].concat().into_bytes();
        Some(Input { seed, file, bytes })
    }

    fn words(&self) -> &[String] {
        &self.words
    }

    fn prepare(&mut self, input: &Input) -> io::Result<()> {
        let source = self.scratch.join("source");
        if source.exists() {
            fs::remove_dir_all(&source)?;
        }
        self.seeds[input.seed].write(&source)?;
        fs::write(source.join(&self.seeds[input.seed].files[input.file].path), &input.bytes)?;
        for (target, link) in [
            ("../outside", "linked"),
            ("../outside/secret.txt", "linked.txt"),
            ("../outside/secret.yaml", "linked.yaml"),
        ] {
            // Half of the inputs have no links: those alone are an error of most sources.
            if input.bytes.len().is_multiple_of(2) {
                symlink(target, source.join(link))?;
            }
        }
        Ok(())
    }

    fn run(&mut self, _: &Input) -> Result<(), String> {
        let source = self.scratch.join("source");
        let has_secret = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        match Self::convert(&source) {
            Ok(written) if has_secret(&written) => Err("a file outside of the source was copied".to_owned()),
            Err(error) if has_secret(error.to_string().as_bytes()) => {
                Err("an error shows what is in a file outside of the source".to_owned())
            }
            _ => Ok(()),
        }
    }
}
