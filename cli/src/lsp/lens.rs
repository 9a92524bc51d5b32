//! Code lenses: a case can be run where it is written, and its last verdict is shown there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalsuite_records::record::CaseRecord;
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_report::RunData;
use gen_lsp_types::{CodeLens, Command};

use super::case_run;
use super::positions::Lines;
use super::workspace::OpenSuite;
use crate::locate::stored_runs;

/// The lenses of a file.
pub(super) fn of_file(path: &Path, lines: &Lines<'_>, suites: &[&OpenSuite], runs: &mut LastRuns) -> Vec<CodeLens> {
    let mut lenses = Vec::new();
    for suite in suites {
        for case in suite.session.cases().into_iter().filter(|case| case.file == path) {
            let start = lines.loader_offset(case.start);
            let lens =
                |command: Command| CodeLens { range: lines.range(start..start), command: Some(command), data: None };
            if let Some(run) = case_run::of_case(suite, &case) {
                let title = "\u{25b6} run case".to_owned();
                let arguments = serde_json::to_value(&run).ok().map(|run| vec![run]);
                let command = case_run::COMMAND.to_owned();
                let tooltip = Some(format!("cargo {}", run.arguments.join(" ")));
                lenses.push(lens(Command { title, command, arguments, tooltip }));
            }
            let request = &suite.request;
            let shown = path.strip_prefix(&request.workspace_root).unwrap_or(path).to_string_lossy().replace('\\', "/");
            if let Some(verdict) = runs.verdict(&request.package_root, &shown, &case.id) {
                // Nothing happens on a click.
                lenses.push(lens(Command { title: verdict, ..Command::default() }));
            }
        }
    }
    lenses
}

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
    let trials = (record.completed > 1).then(|| format!(" ({} of {} trials)", record.passed, record.completed));
    let trials = trials.unwrap_or_default();
    let score = record.score.map(|score| format!(", score {score:.2}")).unwrap_or_default();
    format!("{target}{}{trials}{score}", record.outcome.as_str())
}
