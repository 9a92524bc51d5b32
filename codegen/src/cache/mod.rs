//! Suites that earlier expansions have loaded, stored in OUT_DIR: where nothing has changed nothing is loaded, and after the edit of a case that case only.
//!
//! Loading once too often is better than a stale suite, so a suite is loaded again if anything differs, or is too new to tell. Whatever
//! cannot be read or written means no more than that nothing is stored.
//!
//! A stored suite after edits of single cases: only these are read again.
//!
//! That is right only if nothing else depends on what was edited. So a case is replaced where all of this holds, and the suite is
//! loaded as a whole otherwise: its file defines nothing else; neither the old nor the new text names a path, has a problem or a warning;
//! everything that the suite or the generated code takes from a case is as before; no case came or went.

mod stored_suite;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use evalsuite_loader::{
    Loaded, LoadedCase, LoadedPart, LoadedSuite, Part, Request, SuiteFiles, load_part, suite_digest,
};
use evalsuite_schema::Case;
use evalsuite_schema::diagnostics::Diagnostic;
use evalsuite_schema::digest::{CaseDigests, parse_hexadecimal, short_hash};
use evalsuite_schema::sorting::set;

use crate::embed::{self, Embedded};
use crate::statics::{self, Body};
use crate::suite_facts::SuiteFacts;
use crate::suite_location::suite_directory;
use stored_suite::{FileStamps, Line, OwnFile, OwnFiles, StampKind, SuiteKey, SuiteRecord, graders};

pub(crate) use stored_suite::StoredSuite;

/// Where expansions store suites.
#[derive(Debug, Clone)]
pub struct CacheLocation {
    /// OUT_DIR of the package's build script.
    pub out_dir: PathBuf,
    /// The program that stores and takes suites, as it was built: another one may generate other code.
    pub program: String,
}

/// The suite of a request in the cache.
pub(crate) struct Cache<'c> {
    location: &'c CacheLocation,
    request: &'c Request,
    key: SuiteKey,
    /// The files of the suite in OUT_DIR, without their extensions.
    name: String,
    started: SystemTime,
    /// Held while a suite is loaded: other test programs that include the suite are compiled at the same time and take it then.
    _lock: Option<File>,
}

impl<'c> Cache<'c> {
    /// `None` if the suite cannot be stored, or what this request changes in its cases is not known to the cache.
    pub(crate) fn of(location: &'c CacheLocation, request: &'c Request) -> Option<Self> {
        if !request.targets.is_empty() || !request.fixtures || request.allow_docker {
            return None;
        }
        let key = SuiteKey::of(request, &location.program)?;
        let name = format!("evalsuite/loaded/{}", name(&key.entry));
        fs::create_dir_all(location.out_dir.join("evalsuite/loaded")).ok()?;
        let lock = File::create(location.out_dir.join(format!("{name}.lock"))).ok()?;
        let lock = lock.lock().is_ok().then_some(lock);
        Some(Self { location, request, key, name, started: SystemTime::now(), _lock: lock })
    }

    /// The stored suite, with its edited cases, if that is what loading it would give.
    pub(crate) fn find(&self) -> Option<StoredSuite> {
        let path = self.file();
        let stored = StoredSuite::read(&path)?;
        let archive = stored.record.embedded.as_ref().and_then(|embedded| embedded.archive.as_ref());
        let has_archive = archive.is_none_or(|path| self.location.out_dir.join(path).is_file());
        if stored.record.key != self.key || !has_archive {
            return None;
        }
        let changes = Changes::of(&stored.stamps)?;
        if changes.is_empty() {
            return Some(stored);
        }
        let edited = stored.edited(&changes, self.request, self.root(), self.started)?;
        edited.write(&path).ok()?;
        Some(edited)
    }

    /// Stores a suite that was just loaded. `None` if it has errors, or is too new for the times of its files to tell, or if it cannot be
    /// stored.
    pub(crate) fn store(&self, loaded: &Loaded) -> Option<StoredSuite> {
        let suite = loaded.suite.as_ref()?;
        let mut warnings: Vec<Diagnostic> = loaded.diagnostics.clone().grouped().into_iter().collect();
        let body = Body::new(suite).ok()?;
        let contents = match embed::gather(&body.json(), &suite.suite.root, self.request, &loaded.files) {
            Ok(contents) => Some(contents),
            Err(problem) => {
                warnings.push(*problem);
                None
            }
        };
        let stamps = FileStamps::take(&loaded.files, contents.as_ref(), self.root(), self.started)?;
        let archive = format!("{}.embedded", self.name);
        let archived = |files| Embedded { files, ..Embedded::default() }.into_archive(&self.location.out_dir, &archive);
        let graders: BTreeSet<&str> = loaded.user_graders.iter().map(|grader| grader.name.as_str()).collect();
        let record = SuiteRecord {
            key: self.key.clone(),
            module: suite.module.clone(),
            facts: SuiteFacts::new(suite),
            graders: graders.into_iter().map(str::to_owned).collect(),
            warnings,
            noted: places(loaded.diagnostics.iter()),
            embedded: contents.map(archived).transpose().ok()?,
        };
        let stored = StoredSuite { record, stamps, own_files: OwnFiles::of(suite), body };
        stored.write(&self.file()).ok()?;
        Some(stored)
    }

    fn file(&self) -> PathBuf {
        self.location.out_dir.join(format!("{}.suite", self.name))
    }

    /// The suite's directory.
    fn root(&self) -> &Path {
        suite_directory(&self.key.entry)
    }
}

/// A name for the files of the suite at `entry`, readable and different for different paths. A collision is harmless because the path
/// is compared too.
fn name(entry: &Path) -> String {
    let last = entry.file_name().unwrap_or_default().to_string_lossy();
    let stem: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect();
    format!("{stem}-{:016x}", short_hash(entry.to_string_lossy().as_bytes()))
}

/// More cases than this are read with all others. With files of at most 16 MiB each they stay below the limit of a load.
const MAX_EDITED: usize = 4;

/// Bytes of all files: a suite that is near the limit of a load, 128 MiB, is loaded as a whole.
const MAX_BYTES: u64 = 64 << 20;

/// What changed on disk.
struct Changes {
    files: BTreeSet<String>,
    /// Directories without new names that count.
    directories: BTreeSet<String>,
}

impl StoredSuite {
    /// The suite with what changed; `None` if only loading it as a whole can tell, which reports what cannot be read. `root` is the
    /// suite's directory.
    fn edited(mut self, changes: &Changes, request: &Request, root: &Path, started: SystemTime) -> Option<Self> {
        let sources: BTreeSet<String> = changes.files.iter().map(|file| source(file, root)).collect::<Option<_>>()?;
        let own: Vec<OwnFile<'_>> = sources.iter().map(|source| self.own_files.find(source)).collect::<Option<_>>()?;
        let part = load_part(request, Part { sources, ids: BTreeSet::new() });
        let suite = part.loaded.suite.as_ref()?;
        if !self.has_same_problems(&part, &changes.files) {
            return None;
        }
        let mut lines: Vec<&str> = self.body.texts.cases.split_inclusive('\n').collect();
        // A directory that is not read may have a matrix, and so several cases.
        if suite.cases.len() != own.len() || lines.len() < own.len() + part.others.len() {
            return None;
        }
        let mut edited: Vec<(usize, String)> = Vec::with_capacity(own.len());
        for file in own {
            // Cases are in the order of their sources; those of the part as well as those of the suite.
            let new = suite.cases.iter().find(|loaded| loaded.source == file.source)?;
            let old = lines.get(file.index)?;
            let line = statics::case_line(&new.case).ok()?;
            let is_alike = graders(&new.user_graders).as_deref() == Some(file.graders)
                && embed::in_text(old) == embed::in_text(&line)
                && is_same_to_the_suite(old, new, suite)?;
            if !new.stands_alone || !is_alike {
                return None;
            }
            edited.push((file.index, line));
        }
        let files = self.files_with(&suite.files)?;
        edited.iter().for_each(|(index, line)| lines[*index] = line);
        self.body.texts.cases = lines.concat();
        self.body.texts.files = statics::files(&files);
        let mut about = suite.suite.clone();
        about.digest = suite_digest(&files);
        self.body.texts.suite = statics::json_of(&about).ok()?;
        self.stamps = self.stamps.renewed(&changes.paths(), started)?;
        Some(self)
    }

    /// Whether no problem, old or new, is in one of the files, or depends on its text.
    fn has_same_problems(&self, part: &LoadedPart, changed: &BTreeSet<String>) -> bool {
        let mut noted = places(part.loaded.diagnostics.iter());
        noted.extend(self.record.noted.iter().cloned());
        changed.iter().all(|file| !noted.contains(&part.loaded.files.shown(Path::new(file))))
    }

    /// The digests of all files, with those of a part.
    fn files_with(&self, part: &SuiteFiles) -> Option<SuiteFiles> {
        let file = |line: &str| {
            let (digest, path) = line.split_once(' ')?;
            Some((path.to_owned(), parse_hexadecimal(digest)?))
        };
        let mut files: SuiteFiles = self.body.texts.files.lines().map(file).collect::<Option<_>>()?;
        let has_same_paths = part.keys().all(|path| files.contains_key(path));
        files.extend(part.clone());
        has_same_paths.then_some(files)
    }
}

/// The files that problems name.
fn places<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> BTreeSet<String> {
    let all =
        diagnostics.flat_map(|found| found.place.iter().chain(found.related.iter().map(|related| &related.place)));
    all.map(|place| place.file.clone()).collect()
}

impl Changes {
    /// What changed since the stamps were taken, if it may be no more than the texts of single cases.
    fn of(stamps: &FileStamps) -> Option<Self> {
        let lines = stamps.all()?;
        let mut changes = Self { files: BTreeSet::new(), directories: BTreeSet::new() };
        for line in lines.iter().filter(|line| !line.is_current()) {
            match line.kind {
                StampKind::Read => changes.files.insert(line.path.to_owned()),
                StampKind::Listed => changes.directories.insert(line.path.to_owned()),
                StampKind::Embedded | StampKind::Other | StampKind::Missing => return None,
            };
        }
        let bytes: u64 = lines.iter().filter(|line| line.kind == StampKind::Read).map(Line::length).sum();
        if changes.files.len() > MAX_EDITED || bytes > MAX_BYTES {
            return None;
        }
        if !changes.directories.is_empty() {
            let known = set(lines.iter().map(|line| Path::new(line.path)));
            let mut directories = changes.directories.iter();
            directories.all(|directory| has_no_new_names(Path::new(directory), &known)).then_some(())?;
        }
        Some(changes)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }

    fn paths(&self) -> BTreeSet<&str> {
        self.files.union(&self.directories).map(String::as_str).collect()
    }
}

/// Whether all names in a directory are known that could be, or contain, a case or a data file. Other files count only where they
/// are named, and those have stamps of their own, also while they are missing. Editors leave such files beside those that they save.
fn has_no_new_names(directory: &Path, known: &BTreeSet<&Path>) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        let path = entry.path();
        let is_plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        known.contains(path.as_path()) || is_plain && !is_data(&path)
    })
}

fn is_data(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "yaml" | "yml" | "json" | "jsonl")
}

/// A file as its case names it.
fn source(file: &str, root: &Path) -> Option<String> {
    Some(Path::new(file).strip_prefix(root).ok()?.to_str()?.replace('\\', "/"))
}

/// Whether the suite and the code around the texts are the same with the new case in place of the old one.
fn is_same_to_the_suite(old: &str, new: &LoadedCase, suite: &LoadedSuite) -> Option<bool> {
    let mut before = new.clone();
    before.case = evalsuite_schema::json::from_str::<Case>(CaseDigests::split(old).0).ok()?.into();
    let (old, case): (&Case, &Case) = (&before.case, &new.case);
    let facts = |loaded: &LoadedCase| {
        let mut suite = suite.clone();
        suite.cases = vec![loaded.clone()];
        SuiteFacts::new(&suite)
    };
    let is_same = new.may_replace(old)
        && old.location == case.location
        && old.dir == case.dir
        && old.target == case.target
        && old.targets == case.targets
        && facts(&before) == facts(new);
    Some(is_same)
}
