//! Work that is done once per run.

use std::io;
use std::path::Path;

use evalsuite_schema::json::{FromJson, ToJson};

use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, write_json};
use crate::platform::redaction::Redactor;

/// The stored result.
#[derive(ToJson, FromJson)]
#[json(rename_all = "lowercase")]
enum StoredResult<T, E> {
    Done(T),
    Failed(E),
}

/// Does `work` unless a test of this run has done it, and returns its result, success or failure, to all who call this. Calls
/// wait while another one works. If its process dies, there is no result, and the next call does the work again.
///
/// `name` is a part of file names: `once-NAME.lock`, `once-NAME.json` in `locks`.
pub(crate) fn run_once<T, E>(
    locks: &Path,
    name: &str,
    redactor: &Redactor,
    work: impl FnOnce() -> Result<T, E>,
) -> io::Result<Result<T, E>>
where
    T: ToJson + FromJson,
    E: ToJson + FromJson,
{
    let result = locks.join(format!("once-{name}.json"));
    if let Some(stored) = read_result(&result)? {
        return Ok(stored);
    }
    let _lock = FileLock::acquire(&locks.join(format!("once-{name}.lock")))?;
    if let Some(stored) = read_result(&result)? {
        return Ok(stored);
    }
    let outcome = work();
    let stored = match &outcome {
        Ok(value) => StoredResult::Done(value),
        Err(failure) => StoredResult::Failed(failure),
    };
    write_json(&result, &stored, redactor)?;
    Ok(outcome)
}

fn read_result<T: FromJson, E: FromJson>(path: &Path) -> io::Result<Option<Result<T, E>>> {
    Ok(read_json(path)?.map(|stored| match stored {
        StoredResult::Done(value) => Ok(value),
        StoredResult::Failed(failure) => Err(failure),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_callers_get_the_same_result() {
        let directory = tempfile::tempdir().unwrap();
        let count = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let result: Result<u32, String> = run_once(directory.path(), "x", &Redactor::default(), || {
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
    fn a_failure_is_stored_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let ask = |answer: &str| -> Result<u32, String> {
            run_once(directory.path(), "x", &Redactor::default(), || Err(answer.to_owned())).unwrap()
        };
        assert_eq!(ask("no"), Err("no".to_owned()));
        assert_eq!(ask("other"), Err("no".to_owned()));
    }
}
