//! The verdicts of the newest stored run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalsuite_records::record::CaseRecord;
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_report::RunData;

use crate::locate::stored_runs;

/// The newest runs of packages, each read once.
#[derive(Default)]
pub(super) struct LastRuns {
    output: BTreeMap<PathBuf, Option<PathBuf>>,
    runs: BTreeMap<PathBuf, RunData>,
}

impl LastRuns {
    /// What the newest run of a package says about a case that is defined in a file, as it is shown.
    pub(super) fn verdict(&mut self, package: &Path, shown: &str, id: &str) -> Option<String> {
        let output =
            self.output.entry(package.to_path_buf()).or_insert_with(|| stored_runs::output_path_of(package).ok());
        let output = OutputDirectory::new(output.as_ref()?);
        let stored = output.run(&output.latest().ok()??)?;
        let is_known = self.runs.get(package).is_some_and(|run| run.run_id == stored.id() && !run.in_use);
        if !is_known {
            self.runs.insert(package.to_path_buf(), RunData::read_cases(stored.path()).ok()?);
        }
        let cases = self.runs.get(package)?.suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.record);
        let of_case: Vec<&CaseRecord> =
            cases.filter(|record| record.case_id == id && record.location.file == shown).collect();
        let texts: Vec<String> = of_case.iter().map(|record| text(record, of_case.len() > 1)).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

fn text(record: &CaseRecord, with_target: bool) -> String {
    let target = if with_target { format!("{}: ", record.target) } else { String::new() };
    let trials = if record.completed > 1 {
        format!(" ({} of {} trials)", record.passed, record.completed)
    } else {
        String::new()
    };
    let score = record.score.map(|score| format!(", score {score:.2}")).unwrap_or_default();
    format!("{target}{}{trials}{score}", record.outcome.as_str())
}
