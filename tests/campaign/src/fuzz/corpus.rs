//! The inputs that mutations start from: files of `corpus/`, and the suites of the examples of diagnostics.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// An input of one or more files.
#[derive(Debug, Clone)]
pub(crate) struct Seed {
    pub(crate) files: Vec<SeedFile>,
}

/// A file of a seed.
#[derive(Debug, Clone)]
pub(crate) struct SeedFile {
    /// Relative to the seed.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

/// Largest file of a seed, in bytes.
const LARGEST: u64 = 16 << 10;

impl Seed {
    /// A seed of one file.
    pub(crate) fn file(name: &str, bytes: Vec<u8>) -> Self {
        Self { files: vec![SeedFile { path: name.to_owned(), bytes }] }
    }

    /// The files below a directory for which `is_wanted` holds.
    pub(crate) fn directory(directory: &Path, is_wanted: impl Fn(&str) -> bool) -> io::Result<Self> {
        let mut files = Vec::new();
        let mut directories = vec![directory.to_owned()];
        while let Some(next) = directories.pop() {
            for path in entries(&next)? {
                let metadata = fs::symlink_metadata(&path)?;
                let relative = path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().into_owned();
                if metadata.is_dir() {
                    directories.push(path);
                } else if metadata.is_file() && metadata.len() <= LARGEST && is_wanted(&relative) {
                    files.push(SeedFile { path: relative, bytes: fs::read(&path)? });
                }
            }
        }
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(Self { files })
    }

    /// Writes its files into a directory.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        for file in &self.files {
            let path = directory.join(&file.path);
            fs::create_dir_all(path.parent().unwrap_or(directory))?;
            fs::write(path, &file.bytes)?;
        }
        Ok(())
    }
}

/// A directory of the corpus.
pub(crate) fn of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// The files of a directory of the corpus, one seed each.
pub(crate) fn files_of(name: &str) -> io::Result<Vec<Seed>> {
    let seed = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Seed::file(&name, fs::read(path)?))
    };
    entries(&of(name))?.into_iter().map(seed).collect()
}

/// The suites of the corpus, and those that the examples of diagnostics have.
pub(crate) fn suites() -> io::Result<Vec<Seed>> {
    let is_read =
        |path: &str| [".yaml", ".yml", ".json", ".jsonl", ".md", ".txt"].iter().any(|end| path.ends_with(end));
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui");
    let mut seeds = Vec::new();
    for suite in entries(&of("suites"))? {
        // Most executions start from suites that use most of the format.
        let seed = Seed::directory(&suite, is_read)?;
        seeds.extend(std::iter::repeat_n(seed, 12));
    }
    for example in entries(&examples)? {
        let suite = example.join("suite");
        if suite.is_dir() {
            let seed = Seed::directory(&suite, is_read)?;
            seeds.extend((1..=12).contains(&seed.files.len()).then_some(seed));
        }
    }
    Ok(seeds)
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
