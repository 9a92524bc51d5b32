//! Tests with what an agent may leave in place of a file.

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use super::{Handle, UntrustedDirectory, remove_directory};

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What reading a file in a new directory says; the function fills the directory.
fn said(fill: impl Fn(&Path), file: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("secret"), "secret").unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    fill(&root);
    match UntrustedDirectory::new(root).read(file, 8) {
        Ok(bytes) => String::from_utf8(bytes).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn only_regular_files_below_the_root_are_read() {
    let file = |root: &Path| fs::write(root.join("file"), "text").unwrap();
    assert_eq!(said(file, "file"), "text");
    assert_eq!(said(|_| (), "file"), "does not exist");
    assert_eq!(said(|root| pipe(&root.join("file")), "file"), "is a named pipe, not a regular file");
    assert_eq!(said(|root| fs::create_dir(root.join("file")).unwrap(), "file"), "is a directory, not a regular file");
    let socket = |root: &Path| drop(UnixListener::bind(root.join("file")).unwrap());
    assert_eq!(said(socket, "file"), "is a socket or device, not a regular file");
    let outside = "leads out of the directories of the trial";
    for destination in ["/dev/zero", "/etc/passwd", "../secret", "../root/../secret"] {
        assert_eq!(said(|root| symlink(destination, root.join("file")).unwrap(), "file"), outside, "{destination}");
    }
    assert_eq!(said(|_| (), "../secret"), outside);
    assert_eq!(said(|_| (), "../missing/below"), outside);
    assert_eq!(said(|root| fs::create_dir(root.join("sub")).unwrap(), "sub/../missing/below"), "does not exist");
    assert_eq!(said(|_| (), "/etc/passwd"), outside);
    assert_eq!(said(|root| symlink("..", root.join("up")).unwrap(), "up/secret"), outside);
    let endless = |root: &Path| symlink("file", root.join("file")).unwrap();
    assert_eq!(said(endless, "file"), "is a symbolic link, not a regular file");
}

#[test]
fn links_within_the_root_are_followed() {
    let inside = |root: &Path| {
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("file"), "text").unwrap();
        symlink("../file", root.join("sub/up")).unwrap();
        symlink(root.join("sub"), root.join("absolute")).unwrap();
    };
    assert_eq!(said(inside, "absolute/up"), "text");
    assert_eq!(said(inside, "sub/../absolute/./up"), "text");
}

#[test]
fn a_file_is_read_up_to_the_limit() {
    let large = |root: &Path| fs::File::create(root.join("file")).unwrap().set_len(3 << 30).unwrap();
    assert_eq!(said(large, "file"), "has 3221225472 bytes, more than 8");
    assert_eq!(said(|root| fs::write(root.join("file"), "12345678").unwrap(), "file"), "12345678");
}

#[test]
fn a_file_is_written_in_place_of_a_link_and_through_none() {
    let directory = tempfile::tempdir().unwrap();
    let (root, victim) = (directory.path().join("root"), directory.path().join("victim"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("file"), "unchanged").unwrap();
    symlink(victim.join("file"), root.join("file")).unwrap();
    symlink(&victim, root.join("sub")).unwrap();
    let own = UntrustedDirectory::new(&root);
    own.write("file", b"own").unwrap();
    assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "own");
    assert!(own.join("sub").write("file", b"own").is_err());
    assert!(own.join("sub").remove("file").is_err());
    assert!(own.join("../victim").write("file", b"own").is_err());
    assert_eq!(fs::read_to_string(victim.join("file")).unwrap(), "unchanged");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
    own.join("new/deep").write("file", b"own").unwrap();
    assert_eq!(fs::read_to_string(root.join("new/deep/file")).unwrap(), "own");
    own.remove("file").unwrap();
    own.remove("file").unwrap();
    assert!(!root.join("file").exists());
}

#[test]
fn a_tree_of_any_depth_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    // A path of this length can only be made in steps, by descriptors.
    let depth = if cfg!(target_os = "linux") { 1100 } else { 100 };
    let mut deepest = Handle::open(&root).unwrap();
    for _ in 0..depth {
        deepest = deepest.make_directory(OsStr::new("deep")).unwrap();
        deepest.create(OsStr::new("file")).unwrap();
    }
    drop(deepest);
    fs::create_dir_all(root.join("locked/below")).unwrap();
    for (path, mode) in [("locked/below", 0o000), ("locked", 0o500)] {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    remove_directory(&root).unwrap();
    assert!(!root.exists());
    remove_directory(&root).unwrap();
}

#[test]
fn what_takes_too_long_to_remove_stays() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    let error = super::remove_directory_within(&root, std::time::Duration::ZERO).unwrap_err();
    assert_eq!(error.to_string(), "it is not empty after 0 s of removing files");
    assert!(root.exists());
    remove_directory(&root).unwrap();
    assert!(!root.exists());
}

#[test]
fn a_link_in_place_of_a_directory_is_removed_and_not_followed() -> io::Result<()> {
    let directory = tempfile::tempdir()?;
    let (root, victim) = (directory.path().join("root"), directory.path().join("victim"));
    fs::create_dir_all(victim.join("kept"))?;
    symlink(&victim, &root)?;
    remove_directory(&root)?;
    fs::create_dir(&root)?;
    symlink(&victim, root.join("link"))?;
    remove_directory(&root)?;
    assert!(!root.exists() && victim.join("kept").is_dir());
    Ok(())
}
