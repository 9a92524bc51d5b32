//! Code lenses: a case can be run where it is written, and its last verdict is shown there.

use std::path::Path;

use gen_lsp_types::{CodeLens, Command};

use super::case_run;
use super::last_run::LastRuns;
use super::open_suite::OpenSuite;
use super::text_lines::Lines;

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
