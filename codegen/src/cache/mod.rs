//! Suites that the build script has loaded, stored in OUT_DIR: no expansion of the macro has to load them again, and after the edit of a
//! case the next build script reads that case only.
//!
//! Loading once too often is better than a stale suite, so a suite is loaded again if anything differs, or is too new to tell.

mod edited;
mod file_stamps;
#[cfg(feature = "expand")]
mod find;
mod own_files;
mod stored_suite;

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use edited::Changes;
use evalsuite_loader::Request;
use evalsuite_schema::diagnostic::Diagnostic;
use file_stamps::FileStamps;
use own_files::OwnFiles;
use stored_suite::{EmbeddedRecord, StoredSuite, SuiteRecord};

use crate::statics::Body;
use crate::{embed, short_hash};

#[cfg(feature = "expand")]
pub(crate) use find::CachedSuite;

/// The suite of a request in the cache of a build script.
pub(crate) struct Cache<'b> {
    out_dir: &'b Path,
    request: &'b Request,
    /// The suite's directory or file.
    entry: &'b Path,
    started: SystemTime,
}

/// How the cache was brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// Nothing was read: nothing had changed.
    Not,
    /// The cases that were edited were read.
    Part,
    /// All of its files were read.
    Whole,
}

impl<'b> Cache<'b> {
    pub(crate) fn new(out_dir: &'b Path, request: &'b Request, entry: &'b Path) -> Self {
        Self { out_dir, request, entry, started: SystemTime::now() }
    }

    /// Leaves the suite in the cache, up to date, and returns its warnings; nothing is left of a suite with errors, and without an
    /// error of a suite with a file that was changed while it was read, or that is too new for its time to tell.
    pub(crate) fn update(&self) -> (Vec<Diagnostic>, io::Result<Loaded>) {
        match self.edited() {
            Some((warnings, how)) => (warnings, Ok(how)),
            None => {
                let (warnings, stored) = self.load();
                (warnings, stored.map(|()| Loaded::Whole))
            }
        }
    }

    /// The warnings of the stored suite, with its edited cases.
    fn edited(&self) -> Option<(Vec<Diagnostic>, Loaded)> {
        let path = cache_file(self.out_dir, self.entry);
        let stored = StoredSuite::read(&path)?;
        let record = &stored.record;
        if !record.is_about(self.request) || !record.is_by_this_program() || !record.has_archive(self.out_dir) {
            return None;
        }
        let changes = Changes::of(&stored.stamps)?;
        if changes.is_empty() {
            return Some((stored.record.warnings, Loaded::Not));
        }
        // What cannot be read is reported by the load of the whole suite.
        let edited = stored.edited(&changes, self.request, self.root(), self.started).ok()??;
        edited.write(&path).ok()?;
        Some((edited.record.warnings, Loaded::Part))
    }

    fn load(&self) -> (Vec<Diagnostic>, io::Result<()>) {
        let path = cache_file(self.out_dir, self.entry);
        if let Err(error) = remove(&path) {
            return (Vec::new(), Err(error));
        }
        let mut loaded = evalsuite_loader::load(self.request);
        // A suite with errors is left to the macro, which reports them where the suite is used.
        let Some(suite) = loaded.suite.take() else { return (Vec::new(), Ok(())) };
        let noted = edited::places(loaded.diagnostics.iter());
        let mut warnings: Vec<Diagnostic> = std::mem::take(&mut loaded.diagnostics).grouped().into_iter().collect();
        // A suite that cannot be written as JSON is an error of the macro.
        let Ok(body) = Body::new(&suite) else { return (Vec::new(), Ok(())) };
        let contents = match embed::gather(&body.json(), &suite, self.request, &loaded.files) {
            Ok(contents) => Some(contents),
            Err(problem) => {
                warnings.push(*problem);
                None
            }
        };
        let store = || {
            let stamps = FileStamps::take(&loaded.files, contents.as_ref(), self.root(), self.started)?;
            let Some(stamps) = stamps else { return Ok(()) };
            let archive = format!("evalsuite/loaded/{}.embedded", name(self.entry));
            let embedded = match &contents {
                Some(contents) if contents.write_archive(&self.out_dir.join(&archive))? => {
                    EmbeddedRecord::Archive(archive)
                }
                Some(_) => EmbeddedRecord::NoFiles,
                None => EmbeddedRecord::Off,
            };
            let record =
                SuiteRecord::new(self.request, (&suite, &loaded.user_graders), (warnings.clone(), noted), embedded);
            StoredSuite { record, stamps, own_files: OwnFiles::of(&suite), body }.write(&path)
        };
        let stored = store();
        (warnings, stored)
    }

    /// The suite's directory.
    fn root(&self) -> &Path {
        if self.entry.is_dir() { self.entry } else { self.entry.parent().unwrap_or(self.entry) }
    }
}

/// Removes the file, and creates its directory.
fn remove(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where the suite at `entry` is stored.
fn cache_file(out_dir: &Path, entry: &Path) -> PathBuf {
    out_dir.join("evalsuite").join("loaded").join(format!("{}.suite", name(entry)))
}

/// The whole path of the entry.
fn entry_path(request: &Request) -> Option<PathBuf> {
    let base = match request.entry.strip_prefix("./") {
        Some(rest) => request.source_dir.as_ref()?.join(rest),
        None => request.package_root.join(&request.entry),
    };
    // `suites/x` and `suites/x/` are one; anything with `..` has many spellings and is loaded.
    Some(base.components().collect())
}

/// A name for the files of the suite at `entry`, readable and different for different paths. A collision is harmless because the path
/// is compared too.
fn name(entry: &Path) -> String {
    let path = entry.to_string_lossy();
    let stem: String = entry
        .file_name()
        .map(|name| {
            name.to_string_lossy().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect()
        })
        .unwrap_or_default();
    format!("{stem}-{:016x}", short_hash::of(path.as_bytes()))
}

#[cfg(test)]
mod tests;
