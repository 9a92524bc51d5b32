//! The files that a suite was read from, with their digests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use evalsuite_schema::digest::hexadecimal;
use evalsuite_schema::line_breaks::digest_of_file;
use evalsuite_schema::sorting::map;
use hmac_sha256::Hash;

use super::LoadedPart;
use crate::fields::paths::Roots;
use crate::source::{Files, plain_file};

/// Paths, relative to the suite's directory where they are inside, with the SHA-256 of each file.
pub type SuiteFiles = BTreeMap<String, [u8; 32]>;

/// All files that were read.
pub(super) fn read(files: &Files, roots: &Roots) -> SuiteFiles {
    map(files.all().into_iter().filter_map(|file| Some((roots.in_suite(&file.path), file.digest?))))
}

/// The digest of a suite with these files: SHA-256 in hexadecimal.
pub fn suite_digest(files: &SuiteFiles) -> String {
    let mut hash = Hash::new();
    for (path, digest) in files {
        hash.update(path.as_bytes());
        hash.update([0]);
        hash.update(digest);
    }
    hexadecimal(hash.finalize())
}

impl LoadedPart {
    /// The files of the whole suite as they are now, if `built` are those of the whole suite at an earlier time. `cases` are the
    /// files of single cases among them. A file that is not part of this load is read if it changed after `since`.
    pub fn files_since(
        &self,
        built: SuiteFiles,
        cases: &BTreeSet<&str>,
        suite_dir: &Path,
        since: SystemTime,
    ) -> SuiteFiles {
        let read = self.loaded.suite.as_ref().map(|suite| &suite.files);
        let listed: BTreeSet<&str> = self.others.iter().map(|other| other.source.as_str()).collect();
        let is_read = |path: &str| read.is_some_and(|read| read.contains_key(path));
        let is_newer = |path: &Path| path.metadata().and_then(|data| data.modified()).is_ok_and(|time| time > since);
        let digest = |path: &Path| Some(digest_of_file(&plain_file::read_bytes(path).ok()?));
        let mut files = SuiteFiles::new();
        for (path, built) in built {
            let is_gone = cases.contains(path.as_str()) && !listed.contains(path.as_str());
            if is_read(&path) || is_gone {
                continue;
            }
            let file = suite_dir.join(&path);
            let current = if is_newer(&file) { digest(&file) } else { Some(built) };
            files.extend(current.map(|digest| (path, digest)));
        }
        for path in listed.into_iter().filter(|path| !path.is_empty() && !cases.contains(path)) {
            files.extend(digest(&suite_dir.join(path)).map(|digest| (path.to_owned(), digest)));
        }
        files.extend(read.into_iter().flatten().map(|(path, digest)| (path.clone(), *digest)));
        files
    }
}
