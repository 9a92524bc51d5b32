//! The files that cases need, out of the program, where the suite's directory is not.

use std::{fs, io, path::Path};

use evalsuite_schema::embedded::{self, ARCHIVE, Header, Kind, Pair};

use crate::{
    model::{
        suite::EvalSuite,
        suite_location::{Places, inside},
    },
    platform::{
        digest::{file_key, sha256},
        redaction::Redactor,
    },
    record::{coordination::once, run_directory::RunDirectory},
};

/// The places of a suite's files: where they were when it was compiled, or, where they are gone, in the run's directory,
/// laid out there by the first test that needs them.
///
/// # Errors
///
/// If they cannot be laid out.
pub(crate) fn places(suite: &EvalSuite, run: &RunDirectory, case_dir: &str) -> Result<Places, String> {
    let places = Places::of(suite);
    let Some(pairs) = suite.embedded.filter(|_| !places.suite_dir.exists()) else { return Ok(places) };
    // Several packages, and several includes of a suite in one package, may have the same run.
    let key = &sha256(format!("{}\0{}\0{}", suite.package, suite.module_path, suite.root))[..8];
    let root = run.path().join("suites").join(file_key(suite.name)).join("embedded").join(key);
    let name = format!("embedded-{}-{key}", file_key(suite.name));
    let laid = once(&run.locks(), &name, &Redactor::default(), || lay_out(pairs, &root).map_err(|e| e.to_string()));
    let laid = laid.unwrap_or_else(|error| Err(error.to_string()));
    laid.map_err(|error| {
        format!("the files of suite `{}` cannot be laid out in {}: {error}", suite.name, root.display())
    })?;
    let places = Places { suite_dir: inside(&root, Path::new(suite.root)), package_root: root };
    // Programs start in these, whether or not a file of theirs is needed.
    for directory in [places.suite_dir.clone(), places.join(case_dir)] {
        fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    Ok(places)
}

fn lay_out(pairs: &[Pair<'_>], root: &Path) -> io::Result<()> {
    // What a process left that died over it.
    if root.exists() {
        make_writable(root)?;
        fs::remove_dir_all(root)?;
    }
    fs::create_dir_all(root)?;
    let mut all = Vec::new();
    for (header, bytes) in pairs {
        match *header {
            ARCHIVE => all.extend(embedded::pairs(bytes).ok_or_else(|| damaged(header))?),
            _ => all.push((*header, *bytes)),
        }
    }
    let mut directories = Vec::new();
    for (text, bytes) in all {
        let header = Header::parse(text).ok_or_else(|| damaged(text))?;
        let place = inside(root, Path::new(header.path));
        match header.kind {
            Kind::Directory => {
                fs::create_dir_all(&place)?;
                directories.push((place, header.mode));
                continue;
            }
            Kind::File => {
                make_parent(&place)?;
                fs::write(&place, bytes)?;
                set_mode(&place, header.mode)?;
            }
            Kind::Link => {
                make_parent(&place)?;
                link(std::str::from_utf8(bytes).map_err(|_| damaged(text))?, &place)?;
            }
        }
    }
    // After their content, the deepest first: a directory may be read-only.
    for (directory, mode) in directories.into_iter().rev() {
        set_mode(&directory, mode)?;
    }
    Ok(())
}

fn damaged(header: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the program's copy of them is damaged at `{header}`: build it anew"),
    )
}

fn make_parent(place: &Path) -> io::Result<()> {
    place.parent().map_or(Ok(()), fs::create_dir_all)
}

fn make_writable(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            set_mode(&entry.path(), 0o755)?;
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(destination: &str, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, place)
}

#[cfg(windows)]
fn link(destination: &str, place: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(destination, place)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_laid_out_as_they_were() {
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
        let root = directory.path().join("laid");
        let given = [(ARCHIVE, &archive[..]), ("f 644 /abs/olute", b"x")];
        lay_out(&given, &root).unwrap();
        lay_out(&given, &root).unwrap();
        let mode = |path: &str| root.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("s/locked"), mode("s/locked/key"), mode("s/run.sh")), (0o555, 0o444, 0o755));
        assert_eq!(fs::read_link(root.join("s/link")).unwrap(), Path::new("run.sh"));
        assert!(root.join("s/empty").is_dir());
        assert_eq!(fs::read(inside(&root, Path::new("/abs/olute"))).unwrap(), b"x");
        make_writable(&root).unwrap();
    }

    #[test]
    fn a_damaged_copy_is_said() {
        let directory = tempfile::tempdir().unwrap();
        for pair in [(ARCHIVE, &b"9 9\nx"[..]), ("x", &b""[..])] {
            let error = lay_out(&[pair], &directory.path().join("laid")).unwrap_err();
            assert!(error.to_string().contains("build it anew"), "{error}");
        }
    }
}
