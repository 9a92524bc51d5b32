//! Suites that the build script has loaded, stored in OUT_DIR so that no expansion of the macro has to load them again.
//!
//! Four files per suite: two with generated code, one with the files that cases need, one with everything that decides whether they are
//! still valid. Loading once too often is better than a stale suite, so a suite is loaded again if anything differs, or is too new to
//! tell.

mod file_stamps;
#[cfg(feature = "expand")]
mod find;
mod suite_record;

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use evalsuite_loader::{Loaded, Request};
use evalsuite_schema::diagnostic::Diagnostic;
use file_stamps::FileStamps;
use suite_record::{EmbeddedRecord, SuiteRecord};

use crate::embed::Contents;
use crate::short_hash;
use crate::statics::Body;

#[cfg(feature = "expand")]
pub(crate) use find::CachedSuite;

/// Where the files of one suite are.
struct CachePaths {
    record: PathBuf,
    statics: PathBuf,
    tests: PathBuf,
    /// Relative to OUT_DIR.
    archive: String,
}

impl CachePaths {
    fn new(out_dir: &Path, entry: &Path) -> Self {
        let name = name(entry);
        let folder = out_dir.join("evalsuite").join("loaded");
        Self {
            record: folder.join(format!("{name}.json")),
            statics: folder.join(format!("{name}.suite.rs")),
            tests: folder.join(format!("{name}.tests.rs")),
            archive: format!("evalsuite/loaded/{name}.embedded"),
        }
    }
}

/// Stores a suite without errors for [`CachedSuite::find`]. Nothing is stored, without an error, of a suite with a file that was
/// changed while it was read, or that is too new for its time to tell.
pub(crate) fn store(
    out_dir: &Path,
    entry: &Path,
    request: &Request,
    loaded: &Loaded,
    warnings: Vec<Diagnostic>,
    (body, embedded): (Body, Option<Contents>),
    started: SystemTime,
) -> io::Result<()> {
    let Some(suite) = &loaded.suite else { return Ok(()) };
    let paths = CachePaths::new(out_dir, entry);
    if let Some(folder) = paths.record.parent() {
        fs::create_dir_all(folder)?;
    }
    // First of all: a suite that is written in part must not be found.
    match fs::remove_file(&paths.record) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let root = if entry.is_dir() { entry } else { entry.parent().unwrap_or(entry) };
    let Some(stamps) = FileStamps::take(&loaded.files, embedded.as_ref(), root, started)? else { return Ok(()) };
    let embedded = match embedded {
        Some(contents) if contents.write_archive(&out_dir.join(&paths.archive))? => {
            EmbeddedRecord::Archive(paths.archive)
        }
        Some(_) => EmbeddedRecord::NoFiles,
        None => EmbeddedRecord::Off,
    };
    fs::write(&paths.statics, &body.statics)?;
    fs::write(&paths.tests, &body.tests)?;
    let record = SuiteRecord::new(request, suite, loaded, warnings, (&body, embedded), stamps);
    fs::write(&paths.record, serde_json::to_string(&record)?)
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
