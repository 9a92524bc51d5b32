//! The log of a trial: warnings, hooks and times.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use evalsuite_records::record::{HookRecord, Note, Timings};

/// The notes, hooks and timings of a trial. What a phase adds stays, however the phase ends.
#[derive(Debug, Default)]
pub(crate) struct TrialLog(RefCell<LogEntries>);

/// Everything in a [`TrialLog`], in order.
#[derive(Debug, Default)]
pub(crate) struct LogEntries {
    pub(crate) notes: Vec<Note>,
    pub(crate) hooks: Vec<HookRecord>,
    pub(crate) timings: Timings,
}

impl TrialLog {
    pub(crate) fn note(&self, code: &str, message: impl Into<String>) {
        self.add_notes([Note::new(code, message)]);
    }

    pub(crate) fn add_notes(&self, notes: impl IntoIterator<Item = Note>) {
        self.0.borrow_mut().notes.extend(notes);
    }

    /// Adds a note unless the log has it.
    pub(crate) fn add_note_once(&self, note: Note) {
        let mut entries = self.0.borrow_mut();
        if !entries.notes.contains(&note) {
            entries.notes.push(note);
        }
    }

    pub(crate) fn add_hook(&self, hook: HookRecord) {
        self.0.borrow_mut().hooks.push(hook);
    }

    /// Runs a step and adds the time it takes to one of the timings.
    pub(crate) fn timed<T>(&self, timing: fn(&mut Timings) -> &mut u64, step: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = step();
        *timing(&mut self.0.borrow_mut().timings) += whole_millis(start.elapsed());
        result
    }

    pub(crate) fn into_entries(self) -> LogEntries {
        self.0.into_inner()
    }
}

pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
