//! Keyed digests of values that may be secret. The key is outside of run directories, so that records do not help to
//! guess values.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::SystemTime;
use std::{fs, io, process};

use crate::platform::digest::{sha256, sha256_with_key};
use crate::platform::file_lock::FileLock;
use crate::platform::permissions::set_mode;
use crate::record::run_directory::layout::DIGEST_KEY;

/// Length of a key: SHA-256 in hexadecimal.
const LENGTH: usize = 64;

/// HMAC-SHA-256 of a text with the key of an output directory, in hexadecimal. The key is made when it is first needed. Digests of two
/// output directories cannot be compared.
pub(crate) fn keyed_digest(output: &Path, text: &str) -> io::Result<String> {
    fs::create_dir_all(output)?;
    // The output directory belongs to the user, and may be a link.
    let file = fs::canonicalize(output)?.join(DIGEST_KEY);
    let lock = FileLock::acquire(&file)?;
    let mut key = String::from_utf8_lossy(&lock.read()?).into_owned();
    if key.len() != LENGTH {
        set_mode(&file, 0o600)?;
        key = random_key();
        lock.replace(key.as_bytes())?;
    }
    Ok(sha256_with_key(&key, text))
}

/// 128 bits that the operating system made: the standard library has no other source of random numbers.
fn random_key() -> String {
    let keys = RandomState::new();
    let numbers: Vec<u64> = (0..4).map(|number| keys.hash_one((number, process::id(), SystemTime::now()))).collect();
    sha256(format!("{numbers:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_one_output_directory_are_comparable_and_of_two_are_not() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let digest = |output: &tempfile::TempDir, text| keyed_digest(output.path(), text).unwrap();
        let first = digest(&one, "a");
        assert_eq!((first.len(), digest(&one, "a")), (LENGTH, first.clone()));
        assert_ne!(digest(&one, "b"), first);
        assert_ne!(digest(&other, "a"), first);
        assert_ne!(sha256("a"), first);
        let file = one.path().join(DIGEST_KEY);
        #[cfg(unix)]
        assert_eq!(crate::platform::permissions::mode(&fs::metadata(&file).unwrap()), Some(0o600));
        fs::write(&file, "torn").unwrap();
        assert_ne!(digest(&one, "a"), first, "a torn key is replaced");
    }
}
