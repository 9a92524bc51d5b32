//! Which files of the runtime, of reports and of the command line open files by their path. Everything that an agent leaves behind,
//! and every file of a run directory, is opened by `platform::untrusted`, which takes pipes, links, devices and huge files into account.

use std::collections::BTreeMap;

use evalsuite_tests::source::{CrateSource, Module};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{ItemUse, Path, visit};

/// The modules of the runtime in which agents, their workspaces, graders and their records are handled.
pub(crate) const OF_RUNTIME: &[&str] = &["model", "workspace", "record", "agents", "judge", "grade", "run", "entry"];

/// The modules of the crate of records that use what `untrusted` opens.
pub(crate) const OF_RECORDS: &[&str] =
    &["file_lock", "package_file", "record", "run_directory", "statistics", "baseline", "run_data", "summary"];

/// Names of the standard library after which a function opens a file.
const OPENERS: [&str; 4] = ["fs", "File", "OpenOptions", "WalkDir"];
/// Those that open what exists.
pub(crate) const READING: &[&str] = &["read", "read_to_string", "read_dir", "copy", "open", "options", "new"];
/// Those that give the contents of files.
pub(crate) const CONTENTS: &[&str] = &["read", "read_to_string", "copy", "open", "options"];

/// Files of the runtime that open what no agent writes, and what that is. While a workspace is made, copied or reset, no agent
/// runs in it: the programs of the trial before have ended, and those of the next one have not begun.
pub(crate) const TRUSTED: &[(&str, &str)] = &[
    ("agents/acp/session_files.rs", "the directory of a session, before its agent starts"),
    ("entry/probe.rs", "the file by which the command line follows a probe"),
    ("model/answer_files.rs", "files of the input, which belong to the suite"),
    ("model/messages.rs", "files of the input, which belong to the suite"),
    ("record/cassette/cassette_file.rs", "directories of cassettes, which belong to the package"),
    ("record/cassette/recorded_input/mod.rs", "files of the input and of hooks, which belong to the suite"),
    ("record/earlier_trials.rs", "listings of earlier runs"),
    ("record/embedded_files.rs", "files of the suite, extracted to the run directory"),
    (
        "record/mcp.rs",
        "directories of recordings, which belong to the package; the session, read by the proxy of the agent",
    ),
    (
        "record/run_directory.rs",
        "the key of the output directory; a mark of the run, which is made only where nothing has its name",
    ),
    ("run/calibration/measurement.rs", "an empty workspace, made before a grader runs"),
    ("run/case/case_record.rs", "directories of cases, moved as a whole"),
    ("run/dependencies.rs", "a mark of the run, next to its locks"),
    ("run/made_up/grading.rs", "an empty workspace, made before a grader runs"),
    ("run/made_up/suite.rs", "a temporary directory of its own, which no agent knows"),
    ("run/plan/mod.rs", "the file by which the command line follows a run"),
    ("run/replay/regrade.rs", "listings of earlier runs"),
    ("run/replay/reuse.rs", "files beside a case, and those that links there lead to, which belong to the suite"),
    ("run/session/mod.rs", "directories of bases, removed if they are empty"),
    ("workspace/base.rs", "the directory of a workspace, made before its agent starts"),
    (
        "workspace/copy.rs",
        "templates and bases, copied before the agent starts; a base, and a workspace between two trials",
    ),
    ("workspace/replayable_changes.rs", "the workspace of a replay, in which no agent runs"),
    ("workspace/repos/mod.rs", "the directories of repositories, made before the agent starts, and between two trials"),
    ("workspace/snapshot.rs", "the workspace itself, which must be a directory and not a link"),
];

/// Files of the crate of records that open files by their path.
pub(crate) const TRUSTED_IN_RECORDS: &[(&str, &str)] =
    &[("run_directory/output_directory.rs", "directories of runs, moved as a whole")];

/// Files of discovery that read the contents of files.
pub(crate) const TRUSTED_IN_DISCOVERY: &[(&str, &str)] = &[("discovery/cargo_workspace.rs", "`Cargo.toml`")];

/// Files of reports that read what is not in a run directory.
pub(crate) const TRUSTED_IN_REPORTS: &[(&str, &str)] = &[("formats/mod.rs", "the file that a format is written to")];

/// Files of the command line that read what is not in a run directory, and what that is.
pub(crate) const TRUSTED_IN_CLI: &[(&str, &str)] = &[
    ("check/fixes.rs", "files of suites"),
    ("list.rs", "`Cargo.toml`"),
    ("locate/includes.rs", "Rust sources"),
    ("locate/suite_search.rs", "directories of packages"),
    ("lsp/definition.rs", "directories of suites"),
    ("mcp_proxy/faults.rs", "names that are claimed by making a file"),
    ("mcp_proxy/passed_lines.rs", "a trace, made where nothing has its name"),
    ("mcp_proxy/replayed_server.rs", "the recording of the session, read by the proxy of the agent"),
    ("merge/merge_plan.rs", "directories of a part, walked without links"),
    ("new/ci_and_editor.rs", "settings of editors"),
    ("new/package.rs", "files of packages; `Cargo.toml`"),
    ("probe/mod.rs", "the progress and the replies of the test programs, in a temporary directory"),
    ("run/chosen_tests.rs", "a temporary directory of the command line"),
    ("run/model_calls/mod.rs", "listings of recordings, which belong to packages"),
    ("run/progress.rs", "a file that the command line makes for the test programs that it runs"),
    ("run/source_digest/parts.rs", "what cargo wrote; files of packages; sources and files of packages"),
    ("watch/file_watcher.rs", "directories of packages"),
];

/// Every path outside tests that opens a file with one of `functions`, in files of `modules` that `trusted` does not name, and files
/// that it names in vain. Without modules, all are meant; without functions, those that make files too.
pub(crate) fn violations(
    krate: &CrateSource,
    folder: &str,
    modules: &[&str],
    functions: &'static [&'static str],
    trusted: &[(&str, &str)],
) -> Vec<String> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let layers = krate.root.modules.iter().filter(|(name, _)| modules.is_empty() || modules.contains(&name.as_str()));
    for module in layers.flat_map(|(_, module)| module.with_descendants()) {
        let mut openings = Openings { module, functions, found: Vec::new() };
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
    functions: &'static [&'static str],
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
            && (self.functions.is_empty() || self.functions.contains(&function.as_str()))
            && !is_test
        {
            let call = names.join("::");
            self.found.push(format!("{}:{line}: `{call}` opens a path", self.module.file));
        }
        visit::visit_path(self, path);
    }
}
