//! Reads the records of cases and trials, which a program under test may have replaced.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::platform::files::read_json_below;

/// Reads a record below the directory of a case; `None` if it does not exist.
///
/// # Errors
///
/// If it is not a regular file, cannot be read, or is not such a record.
pub(crate) fn read_record<T: DeserializeOwned>(case: &Path, path: impl AsRef<Path>) -> io::Result<Option<T>> {
    read_json_below(case, path.as_ref())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::{fs, process};

    use super::*;

    #[test]
    fn a_pipe_or_a_link_in_place_of_a_record_is_an_error_at_once() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("trial")).unwrap();
        let read = |name: &str| read_record::<u32>(directory.path(), Path::new("trial").join(name));
        assert_eq!(read("missing.json").unwrap(), None);
        fs::write(directory.path().join("trial/record.json"), "7").unwrap();
        assert_eq!(read("record.json").unwrap(), Some(7));
        let pipe = directory.path().join("trial/pipe.json");
        assert!(process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read("pipe.json").unwrap_err().to_string().contains("is a named pipe"));
        symlink("/dev/zero", directory.path().join("trial/link.json")).unwrap();
        assert!(read("link.json").unwrap_err().to_string().contains("is a symbolic link"));
    }
}
