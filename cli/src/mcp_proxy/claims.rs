//! What the proxies of a trial count together: an agent may start a server several times, even for each call.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite::tooling::CLAIMS;

/// A directory in which each name can be claimed once.
#[derive(Debug, Clone, Default)]
pub(super) struct Claims(PathBuf);

impl Claims {
    /// Those of a session.
    pub(super) fn of(session: &Path) -> Self {
        Self(session.join(CLAIMS))
    }

    /// Claims a name; `false` if it is claimed already.
    pub(super) fn claim(&self, name: &str) -> io::Result<bool> {
        match OpenOptions::new().write(true).create_new(true).open(self.0.join(name)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", self.0.display()))),
        }
    }

    /// The next number of a counter, from 1; `known` is one that was counted already.
    pub(super) fn count(&self, counter: &str, known: u64) -> io::Result<u64> {
        let mut number = known + 1;
        while !self.claim(&format!("{counter}.{number}"))? {
            number += 1;
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    #[test]
    fn proxies_share_what_they_count() {
        let session = tempfile::tempdir().unwrap();
        fs::create_dir(session.path().join(CLAIMS)).unwrap();
        let claims = Claims::of(session.path());
        assert!(claims.claim("notes.0").unwrap() && !claims.claim("notes.0").unwrap());
        let count = |_| {
            let claims = claims.clone();
            thread::spawn(move || (0..50).map(|_| claims.count("fault-0", 0).unwrap()).collect::<Vec<_>>())
        };
        let threads: Vec<_> = (0..4).map(count).collect();
        let mut numbers: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(1..=200));
    }
}
