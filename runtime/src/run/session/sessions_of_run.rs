//! All sessions of a run, for `cargo evalsuite finish`.

use std::io;

use evalsuite_records::file_replacement::sorted_entries;

use crate::platform::files::{read_json, sorted_directories};
use crate::record::run_directory::RunDirectory;
use crate::run::session::{Session, SessionState};

impl Session {
    /// All sessions of a run, also of processes that have ended, and why others cannot be read.
    pub(crate) fn all(run: &RunDirectory) -> io::Result<(Vec<Self>, Vec<String>)> {
        let (mut sessions, mut problems) = (Vec::new(), Vec::new());
        for suite in sorted_directories(&run.suites())? {
            for file in sorted_entries(&suite)? {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !(name.starts_with("session") && name.ends_with(".json")) {
                    continue;
                }
                match read_json::<SessionState>(&file) {
                    Ok(Some(state)) => {
                        let suite = suite.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        sessions.push(Self { run: run.clone(), name: state.suite, suite, label: state.label });
                    }
                    Ok(None) => {}
                    Err(error) => problems.push(error.to_string()),
                }
            }
        }
        Ok((sessions, problems))
    }
}
