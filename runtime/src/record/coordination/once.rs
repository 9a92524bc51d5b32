use std::{io, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::platform::{
    file_lock::FileLock,
    files::{read_json, write_json},
    redaction::Redactor,
};

/// Result of work that is done once per run, for everyone who needs it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Stored<T, E> {
    Done(T),
    Failed(E),
}

/// Does `work` if nobody in this run has, and gives its result to all who ask, also a failure. Whoever comes while it is
/// being done waits. A process that dies over it leaves no result, so the next one repeats the work.
///
/// `name` is a part of file names: `once-NAME.lock`, `once-NAME.json` in `locks`.
///
/// # Errors
///
/// If the lock or the result cannot be written or read; what the work itself said is the inner result.
pub(crate) fn once<T, E>(
    locks: &Path,
    name: &str,
    redactor: &Redactor,
    work: impl FnOnce() -> Result<T, E>,
) -> io::Result<Result<T, E>>
where
    T: Serialize + DeserializeOwned,
    E: Serialize + DeserializeOwned,
{
    let result = locks.join(format!("once-{name}.json"));
    if let Some(stored) = read(&result)? {
        return Ok(stored);
    }
    let _lock = FileLock::acquire(&locks.join(format!("once-{name}.lock")))?;
    if let Some(stored) = read(&result)? {
        return Ok(stored);
    }
    let outcome = work();
    let stored = match &outcome {
        Ok(value) => Stored::Done(value),
        Err(failure) => Stored::Failed(failure),
    };
    write_json(&result, &stored, redactor)?;
    Ok(outcome)
}

fn read<T: DeserializeOwned, E: DeserializeOwned>(path: &Path) -> io::Result<Option<Result<T, E>>> {
    Ok(read_json(path)?.map(|stored| match stored {
        Stored::Done(value) => Ok(value),
        Stored::Failed(failure) => Err(failure),
    }))
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn everyone_gets_the_result_of_the_one_who_worked() {
        let directory = tempfile::tempdir().unwrap();
        let count = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let result: Result<u32, String> = once(directory.path(), "x", &Redactor::default(), || {
                        thread::sleep(Duration::from_millis(20));
                        Ok(count.fetch_add(1, Ordering::SeqCst) + 1)
                    })
                    .unwrap();
                    assert_eq!(result, Ok(1));
                });
            }
        });
    }

    #[test]
    fn a_failure_is_kept_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let ask = |answer: &str| -> Result<u32, String> {
            once(directory.path(), "x", &Redactor::default(), || Err(answer.to_owned())).unwrap()
        };
        assert_eq!(ask("no"), Err("no".to_owned()));
        assert_eq!(ask("other"), Err("no".to_owned()));
    }
}
