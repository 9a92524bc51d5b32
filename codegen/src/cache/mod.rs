//! Suites that earlier expansions have loaded, stored in OUT_DIR: where nothing has changed nothing is loaded, and after the edit of a case that case only.
//!
//! Loading once too often is better than a stale suite, so a suite is loaded again if anything differs, or is too new to tell. Whatever
//! cannot be read or written means no more than that nothing is stored.

mod edited;
mod file_stamps;
mod stored_suite;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use edited::Changes;
use evalsuite_loader::{Loaded, Request};
use evalsuite_schema::diagnostics::Diagnostic;
use file_stamps::FileStamps;
use stored_suite::{OwnFiles, SuiteKey, SuiteRecord};

use crate::embed::Embedded;
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;
use crate::suite_location::suite_directory;
use crate::{embed, short_hash};

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
            noted: edited::places(loaded.diagnostics.iter()),
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
    format!("{stem}-{:016x}", short_hash::of(entry.to_string_lossy().as_bytes()))
}

#[cfg(test)]
mod tests;
