//! Which files of the runtime and of reports open files by their path. Everything that an agent leaves behind is opened by
//! `platform::untrusted`, which takes pipes, links, devices and huge files into account.

use std::collections::BTreeMap;

use evalsuite_tests::source::{CrateSource, Module};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{ItemUse, Path, visit};

/// The modules of the runtime in which agents, their workspaces, graders and their records are handled.
pub(crate) const OF_RUNTIME: &[&str] = &["model", "workspace", "record", "agents", "judge", "grade", "run"];
/// The modules of reports that open files.
pub(crate) const OF_REPORTS: &[&str] = &["run_data", "baseline", "formats", "history", "health", "html"];

/// Names of the standard library after which a function opens a file.
const OPENERS: [&str; 3] = ["fs", "File", "OpenOptions"];

/// Files of the runtime that open what no agent writes, and what that is. While a workspace is made, copied or reset, no agent
/// runs in it: the programs of the trial before have ended, and those of the next one have not begun.
pub(crate) const TRUSTED: &[(&str, &str)] = &[
    ("model/answer_files.rs", "files of the input, which belong to the suite"),
    ("model/messages.rs", "files of the input, which belong to the suite"),
    ("record/cassette/recorded_input.rs", "files of the input, which belong to the suite"),
    ("record/coordination/ledger.rs", "the ledger of the run"),
    ("record/embedded_files.rs", "files of the suite, extracted to the run directory"),
    ("record/run_directory/digest_key.rs", "the key of the output directory"),
    ("record/run_directory/output_directory.rs", "the id of the newest run"),
    ("run/calibration/measurement.rs", "an empty workspace, made before a grader runs"),
    ("run/case_setup/case_base.rs", "directories of bases, removed if they are empty"),
    ("run/earlier_records.rs", "directories of cases, moved as a whole"),
    ("run/limits.rs", "the first error of the run"),
    ("run/progress.rs", "the file by which the command line follows a run"),
    ("run/regrade.rs", "listings and records of earlier runs"),
    ("run/session/session_end.rs", "directories of bases, removed if they are empty"),
    ("run/session/session_test.rs", "the list of tests of a session that have ended"),
    ("workspace/base.rs", "the directory of a workspace, made before its agent starts"),
    ("workspace/copy.rs", "templates and bases, copied before the agent starts"),
    ("workspace/remove_entry.rs", "what is in the way of a copy; no link is followed"),
    ("workspace/replayable_changes.rs", "the workspace of a replay, in which no agent runs"),
    ("workspace/repos/mod.rs", "the directories of repositories, made before the agent starts"),
    ("workspace/reset.rs", "a base, and a workspace between two trials"),
    ("workspace/snapshot.rs", "the workspace itself, which must be a directory and not a link"),
    ("workspace/template.rs", "the directory of a workspace, made before its agent starts"),
];

/// Files of reports that open what no agent writes, and what that is. Files of a run are opened by `open_run_file`.
pub(crate) const TRUSTED_IN_REPORTS: &[(&str, &str)] = &[
    ("baseline/mod.rs", "baselines, which belong to the package"),
    ("html/mod.rs", "the report that is written"),
    ("html/transcripts.rs", "the report that is written"),
    ("run_data/read_run.rs", "directories of a run, listed"),
    ("run_data/trial_files.rs", "directories of a trial, listed without links"),
];

/// Every path outside tests that opens a file, in files of `modules` that `trusted` does not name, and files that it names in vain.
pub(crate) fn violations(krate: &CrateSource, folder: &str, modules: &[&str], trusted: &[(&str, &str)]) -> Vec<String> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let layers = modules.iter().filter_map(|layer| krate.root.modules.get(*layer));
    for module in layers.flat_map(Module::with_descendants) {
        let mut openings = Openings { module, found: Vec::new() };
        module.items.iter().for_each(|item| openings.visit_item(item));
        let file = module.file.strip_prefix(&format!("{folder}/")).unwrap_or(&module.file);
        found.entry(file.to_owned()).or_default().append(&mut openings.found);
    }
    let is_trusted = |file: &str| trusted.iter().any(|(trusted, _)| file == *trusted);
    let mut problems: Vec<String> =
        found.iter().filter(|(file, _)| !is_trusted(file)).flat_map(|(_, openings)| openings.clone()).collect();
    for (file, _) in trusted.iter().filter(|(file, _)| found.get(*file).is_none_or(Vec::is_empty)) {
        problems.push(format!("{folder}/{file}: opens no file by its path, and need not be listed"));
    }
    problems
}

struct Openings<'a> {
    module: &'a Module,
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Openings<'_> {
    /// An import opens nothing.
    fn visit_item_use(&mut self, _: &'ast ItemUse) {}

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.span().start().line;
        let is_test = self.module.test_lines.iter().any(|lines| lines.contains(&line));
        if let [.., opener, function] = names.as_slice()
            && OPENERS.contains(&opener.as_str())
            && function.starts_with(char::is_lowercase)
            && !is_test
        {
            let call = names.join("::");
            self.found.push(format!("{}:{line}: `{call}` opens a path; use `platform::untrusted`", self.module.file));
        }
        visit::visit_path(self, path);
    }
}
