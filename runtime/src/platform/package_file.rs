//! Files of a package that are read while tests run, such as baselines and cassettes: regular files of a limited size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Largest baseline, and largest file with accepted answers.
pub(crate) const LARGEST_BASELINE: u64 = 256 << 20;
/// Largest cassette. Those with files of a workspace are large.
pub(crate) const LARGEST_CASSETTE: u64 = 512 << 20;

/// Reads a file, or the one that a link leads to: the package is the user's. What is in its place otherwise, such as a named pipe, is
/// neither waited for nor read without end.
///
/// # Errors
///
/// If it is not a regular file, is larger than `largest` bytes, or cannot be read.
pub fn read_package_file(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let file = without_waiting(File::options().read(true), false).open(path)?;
    let metadata = file.metadata()?;
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {largest} bytes"));
    regular(&metadata)?;
    if metadata.len() > largest {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest { Err(too_large()) } else { Ok(bytes) }
}

/// The options with which opening a pipe or a device waits for nobody; with `is_ours`, a link in place of the file is an error.
pub(crate) fn without_waiting(options: &mut OpenOptions, is_ours: bool) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | if is_ours { OFlags::NOFOLLOW } else { OFlags::empty() };
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = is_ours;
    options
}

/// # Errors
///
/// If it is something else.
pub(crate) fn regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
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
            assert_eq!(error.to_string(), "it is not a regular file", "{name}");
        }
        for name in ["file", "link"] {
            assert_eq!(read_package_file(&place(name), 4).unwrap(), b"text");
            assert_eq!(read_package_file(&place(name), 3).unwrap_err().to_string(), "it has more than 3 bytes");
        }
        assert_eq!(read_package_file(&place("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(read_package_file(&place("circle"), 4).is_err());
    }
}
