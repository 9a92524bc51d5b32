//! Files of a package that are read while tests run, such as baselines and cassettes: regular files of a limited size.

use std::io;
use std::path::Path;

use crate::untrusted::{read_to_limit, regular_file};

/// Largest baseline, and largest file with accepted answers.
pub const LARGEST_BASELINE: u64 = 256 << 20;
/// Largest cassette. Those with files of a workspace are large.
pub const LARGEST_CASSETTE: u64 = 512 << 20;

/// Reads a regular file. Links are followed, because the package belongs to the user. For anything else in its place,
/// such as a named pipe, it does not wait and does not read.
///
/// # Errors
///
/// If it is not a regular file, is larger than `largest` bytes, or cannot be read.
pub fn read_package_file(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    regular_file(path).and_then(|file| read_to_limit(file, largest)).map_err(io::Error::from)
}

/// The same; `None` of a file that does not exist.
///
/// # Errors
///
/// If it is something else, is larger, or cannot be read.
pub fn read_package_file_if_exists(path: &Path, largest: u64) -> io::Result<Option<Vec<u8>>> {
    match read_package_file(path, largest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_up_to_a_size_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        assert!(Command::new("mkfifo").arg(place("pipe")).status().unwrap().success());
        fs::create_dir(place("directory")).unwrap();
        fs::write(place("file"), "text").unwrap();
        symlink("file", place("link")).unwrap();
        symlink("/dev/zero", place("zero")).unwrap();
        symlink("circle", place("circle")).unwrap();
        for name in ["pipe", "directory", "zero"] {
            let error = read_package_file(&place(name), 4).unwrap_err();
            assert!(error.to_string().ends_with(", not a regular file"), "{name}: {error}");
        }
        for name in ["file", "link"] {
            assert_eq!(read_package_file(&place(name), 4).unwrap(), b"text");
            assert_eq!(read_package_file(&place(name), 3).unwrap_err().to_string(), "it has 4 bytes, more than 3");
        }
        assert_eq!(read_package_file(&place("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(read_package_file(&place("circle"), 4).is_err());
    }
}
