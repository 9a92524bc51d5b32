//! Files of a suite that are embedded in the program, extracted if the suite's directory does not exist.

use std::path::Path;
use std::{fs, io};

use evalsuite_schema::embedded::{self, ARCHIVE, EmbeddedKind, Header, Pair};

use crate::model::suite::EvalSuite;
use crate::model::suite_location::{SuiteLocation, extracted_path};
use crate::platform::digest::sha256;
use crate::platform::files::{make_symlinks, set_mode};
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::remove_directory;
use crate::record::coordination::run_once;
use crate::record::run_directory::RunDirectory;

/// The location of a suite's files: where they were at compile time, or, if they do not exist there, in the run directory,
/// where the first test that needs them extracts them.
pub(crate) fn suite_location(suite: &EvalSuite, run: &RunDirectory, case_dir: &str) -> io::Result<SuiteLocation> {
    let location = SuiteLocation::of(suite);
    let Some(pairs) = suite.embedded.filter(|_| !location.suite_dir.exists()) else { return Ok(location) };
    // A package may include the suite several times.
    let key = &sha256(suite.module_path)[..8];
    let root = run.suite(&suite.key()).join("embedded").join(key);
    let name = format!("embedded-{}-{key}", suite.key());
    let extracted =
        run_once(&run.locks(), &name, &Redactor::default(), || extract(pairs, &root).map_err(|e| e.to_string()));
    let extracted = extracted.unwrap_or_else(|error| Err(error.to_string()));
    extracted.map_err(|error| {
        io::Error::other(format!("cannot extract the files of suite `{}` to {}: {error}", suite.name, root.display()))
    })?;
    let location = SuiteLocation { suite_dir: extracted_path(&root, Path::new(suite.root)), package_root: root };
    // Programs start in these directories, whether or not a file in them is needed.
    for directory in [location.suite_dir.clone(), location.join(case_dir)] {
        fs::create_dir_all(&directory)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", directory.display())))?;
    }
    Ok(location)
}

fn extract(pairs: &[Pair<'_>], root: &Path) -> io::Result<()> {
    // A process may have died while it extracted them.
    remove_directory(root)?;
    fs::create_dir_all(root)?;
    let mut all = Vec::new();
    for (header, bytes) in pairs {
        match *header {
            ARCHIVE => all.extend(embedded::pairs(bytes).ok_or_else(|| damaged(header))?),
            _ => all.push((*header, *bytes)),
        }
    }
    let (mut directories, mut links) = (Vec::new(), Vec::new());
    for (text, bytes) in all {
        let header = Header::parse(text).ok_or_else(|| damaged(text))?;
        let path = extracted_path(root, Path::new(header.path));
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        match header.kind {
            EmbeddedKind::Directory => {
                fs::create_dir_all(&path)?;
                directories.push((path, header.mode));
            }
            EmbeddedKind::File => {
                fs::write(&path, bytes)?;
                set_mode(&path, header.mode)?;
            }
            EmbeddedKind::Link => {
                let destination = std::str::from_utf8(bytes).map_err(|_| damaged(text))?;
                links.push((path, Path::new(destination)));
            }
        }
    }
    make_symlinks(links)?;
    // After their content, the deepest first: a directory may be read-only.
    for (directory, mode) in directories.into_iter().rev() {
        set_mode(&directory, mode)?;
    }
    Ok(())
}

fn damaged(header: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the files embedded in the program are damaged at `{header}`; build it again"),
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_extracted_with_permissions_and_links() {
        let mut archive = Vec::new();
        let pairs: [Pair<'_>; 5] = [
            ("d 555 s/locked", b""),
            ("f 444 s/locked/key", b"k"),
            ("f 755 s/run.sh", b"#!/bin/sh"),
            ("l 777 s/link", b"run.sh"),
            ("d 755 s/empty", b""),
        ];
        pairs.into_iter().for_each(|pair| embedded::push(&mut archive, pair));
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("extracted");
        let given = [(ARCHIVE, &archive[..]), ("f 644 /abs/olute", b"x")];
        extract(&given, &root).unwrap();
        extract(&given, &root).unwrap();
        let mode = |path: &str| root.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("s/locked"), mode("s/locked/key"), mode("s/run.sh")), (0o555, 0o444, 0o755));
        assert_eq!(fs::read_link(root.join("s/link")).unwrap(), Path::new("run.sh"));
        assert!(root.join("s/empty").is_dir());
        assert_eq!(fs::read(extracted_path(&root, Path::new("/abs/olute"))).unwrap(), b"x");
        remove_directory(&root).unwrap();
    }

    #[test]
    fn damaged_files_are_an_error() {
        let directory = tempfile::tempdir().unwrap();
        for pair in [(ARCHIVE, &b"9 9\nx"[..]), ("x", &b""[..])] {
            let error = extract(&[pair], &directory.path().join("extracted")).unwrap_err();
            assert!(error.to_string().contains("build it again"), "{error}");
        }
    }
}
