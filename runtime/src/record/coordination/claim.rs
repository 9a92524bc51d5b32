//! Claims: files that belong to the first who asks for them.

use std::path::Path;
use std::{fs, io};

use crate::platform::file_lock::FileLock;
use crate::platform::files::replace_file;

/// Name of the lock under which claims of a directory are made.
const LOCK: &str = "claims.lock";

/// Makes `owner`, which is not empty, the owner of a file unless it has one; returns whether `owner` owns it. Whoever reads the
/// file finds its owner in it. An empty file, which a machine that went down may leave, has none.
///
/// # Errors
///
/// If the file cannot be read or written.
pub(crate) fn claim(file: &Path, owner: &str) -> io::Result<bool> {
    if let Some(found) = owner_of(file)? {
        return Ok(found == owner.as_bytes());
    }
    let _lock = FileLock::acquire(&file.with_file_name(LOCK))?;
    if let Some(found) = owner_of(file)? {
        return Ok(found == owner.as_bytes());
    }
    replace_file(file, owner.as_bytes()).map(|()| true)
}

fn owner_of(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(owner) => Ok(Some(owner).filter(|owner| !owner.is_empty())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::platform::files::delayed_writes;

    #[test]
    fn a_file_has_one_owner_however_slowly_it_is_written() {
        for left_behind in [None, Some("")] {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join("case.owner");
            if let Some(content) = left_behind {
                fs::write(&file, content).unwrap();
            }
            let claim = |owner: &'static str| {
                let file = file.clone();
                move || delayed_writes(Duration::from_millis(3), || (owner, claim(&file, owner).unwrap()))
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
