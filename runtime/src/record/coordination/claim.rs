//! Claims: files that belong to the first test that requests them.

use std::io;
use std::path::Path;

use crate::platform::file_lock::FileLock;

/// Makes `owner`, which is not empty, the owner of a file unless it has one; returns whether `owner` owns it. Whoever locks the
/// file finds its owner in it. An empty file, which a killed process may leave, has none.
pub(crate) fn claim(file: &Path, owner: &str) -> io::Result<bool> {
    let lock = FileLock::acquire(file)?;
    let found = lock.read()?;
    if found.is_empty() {
        lock.write(owner.as_bytes())?;
    }
    Ok(found.is_empty() || found == owner.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    #[test]
    fn a_file_has_one_owner_however_many_ask() {
        for left_behind in [None, Some("")] {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join("case.owner");
            if let Some(content) = left_behind {
                fs::write(&file, content).unwrap();
            }
            let claim = |owner: &'static str| {
                let file = file.clone();
                move || (owner, claim(&file, owner).unwrap())
            };
            let claims: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = (0..32).map(|n| scope.spawn(claim(["a", "b", "c", "d"][n % 4]))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let owner = fs::read_to_string(&file).unwrap();
            for (asked, is_owner) in claims {
                assert_eq!(is_owner, asked == owner, "{asked} asked, {owner} is the owner");
            }
        }
    }
}
