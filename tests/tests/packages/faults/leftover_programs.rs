//! Finds programs that a run has started and not ended.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Fails the test unless every program that a trial below `records` has started ends soon.
#[track_caller]
pub(super) fn have_ended(records: &Path) {
    // Without `/proc` none is found.
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let left = left_behind(records);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < limit, "expected every program to have ended, found\n{}", left.join("\n"));
        thread::sleep(Duration::from_millis(20));
    }
}

/// The programs whose environment names a trial below `records`.
fn left_behind(records: &Path) -> Vec<String> {
    let variable = format!("EVALSUITE_TRIAL_DIR={}/", records.display());
    let mut left = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        // Unreadable: a process of another user, or one that has just ended.
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(variable.as_bytes())) {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            left.push(format!("{}: {line}", entry.file_name().display()));
        }
    }
    left
}
