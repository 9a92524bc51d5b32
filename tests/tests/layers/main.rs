//! The floor plan of the crates: the order of the modules in their folders, and how their files are laid out.
//!
//! A module may import only from modules that stand before it in the order of its folder. ARCHITECTURE.md says what each holds.

mod circles;
mod files;
mod fixtures;
mod order;
mod references;
mod untrusted_files;

use std::collections::BTreeMap;

use evalsuite_tests::source::{CrateSource, PRODUCT_FOLDERS, read_source_files, workspace_root};

/// The order of the modules in one folder: that of a crate, or of a module with children.
struct FloorPlan {
    /// The folder, such as `runtime/src` or `runtime/src/run`.
    folder: &'static str,
    /// The modules in it, lowest first. What `mod.rs` or the root file itself defines is above all of them.
    order: &'static [&'static str],
}

const FLOOR_PLANS: &[FloorPlan] = &[
    FloorPlan { folder: "schema/src", order: SCHEMA },
    FloorPlan { folder: "schema/src/diagnostics", order: DIAGNOSTICS },
    FloorPlan { folder: "schema/src/discovery", order: DISCOVERY },
    FloorPlan { folder: "loader/src", order: LOADER },
    FloorPlan { folder: "codegen/src", order: CODEGEN },
    FloorPlan { folder: "build/src", order: BUILD },
    FloorPlan { folder: "macros/src", order: &["call_site", "expand"] },
    FloorPlan { folder: "records/src", order: RECORDS },
    FloorPlan { folder: "runtime/src", order: RUNTIME },
    FloorPlan { folder: "runtime/src/run", order: RUN },
    FloorPlan { folder: "runtime/src/run/trial", order: TRIAL },
    FloorPlan { folder: "runtime/src/run/trials", order: TRIALS },
    FloorPlan { folder: "runtime/src/run/case", order: &["case_record"] },
    FloorPlan { folder: "statistics/src", order: STATISTICS },
    FloorPlan { folder: "report/src", order: REPORT },
    FloorPlan { folder: "convert/src", order: CONVERT },
    FloorPlan { folder: "convert/src/promptfoo", order: PROMPTFOO },
    FloorPlan { folder: "dynamic/src", order: &[] },
    FloorPlan { folder: "cli/src", order: CLI },
    FloorPlan { folder: "cli/src/locate", order: LOCATE },
    FloorPlan { folder: "cli/src/watch", order: WATCH },
    FloorPlan { folder: "cli/src/lsp", order: LSP },
];

/// The only circles of modules in one folder: a value that contains objects of values, a trait with its reader, the two sides of a subscriber, and
/// the grading of a made-up result with its conversation.
const IN_PARTS: &[&[&str]] =
    &[&["conversation", "grading"], &["subscriber", "thread_scope"], &["data", "reader"], &["object", "value"]];

/// The largest number of lines that `lib.rs` or `main.rs` of a crate may have.
const LONGEST_ROOT: usize = 120;

/// Which files belong to a suite; from problems, values and their keys to cases and suites, then the other files.
const SCHEMA: &[&str] = &[
    "discovery",
    "decimal",
    "sorting",
    "json",
    "diagnostics",
    "embedded",
    "line_breaks",
    "media_type",
    "rfc3339",
    "variable",
    "placeholder",
    "gate",
    "keys",
    "command",
    "hooks",
    "message",
    "chat",
    "examples",
    "workspace",
    "calendar_date",
    "grader",
    "execution",
    "layout",
    "user",
    "case",
    "suite",
    "calibration",
    "skill",
    "wildcard",
    "targets_file",
    "digest",
];

/// From places and codes to problems, then how they are shown.
const DIAGNOSTICS: &[&str] = &["terminal", "suggest", "location", "code", "diagnostic", "workflow_command", "render"];

/// What listings share, then the kinds of sources, then what they make.
const DISCOVERY: &[&str] =
    &["spelling", "cargo_workspace", "suite_files", "listing", "pattern", "case_files", "symlinks"];

const LOADER: &[&str] = &[
    "names",
    "source",
    "request",
    "diagnostic",
    "key_tables",
    "read",
    "document",
    "fields",
    "graders",
    "cases",
    "suite",
    "layouts",
    "calibration",
    "targets_file",
    "load",
    "registered_graders",
];

const CODEGEN: &[&str] = &[
    "cargo_environment",
    "suite_location",
    "rust_literals",
    "replaced_file",
    "statics",
    "embed",
    "suite_facts",
    "cache",
    "binding",
    "macro_arguments",
    "skill_bindings",
    "expansion",
];

const BUILD: &[&str] = &["cargo_instructions", "tracking", "generate"];

const RECORDS: &[&str] = &[
    "digest",
    "json",
    "file_replacement",
    "untrusted",
    "file_lock",
    "package_file",
    "exact_sums",
    "record",
    "run_directory",
    "trial_statistics",
    "baseline",
    "probe_file",
    "run_data",
    "summary",
];

const STATISTICS: &[&str] = &["distributions", "intervals", "permutation", "rates", "exchange", "single_cases"];

const REPORT: &[&str] = &[
    "run_data",
    "sequential",
    "suite_text",
    "failure_text",
    "markdown_text",
    "formats",
    "comparison",
    "baseline_as_run",
    "accept",
    "lift",
    "gates",
    "health",
    "html",
];

/// What commands share, then the commands, those first that others use, then their table.
const CLI: &[&str] = &[
    "arguments",
    "platform",
    "locate",
    "new",
    "convert",
    "explain",
    "check",
    "list",
    "show",
    "health",
    "lift",
    "report",
    "compared_runs",
    "baselines",
    "accept",
    "diff",
    "gate",
    "finish",
    "merge",
    "clean",
    "calibrate",
    "regrade",
    "run",
    "probe",
    "mcp_proxy",
    "watch",
    "lsp",
    "expand",
    "schema",
    "completions",
    "man",
    "commands",
];

/// What every conversion reads and writes, then the formats.
const CONVERT: &[&str] =
    &["report", "error", "source", "output", "yaml_writer", "suite_draft", "tasks", "new_suite", "harbor", "promptfoo"];

/// From values to cases.
const PROMPTFOO: &[&str] = &[
    "template",
    "values",
    "javascript_regex",
    "source_files",
    "assertions",
    "prompts",
    "suite_settings",
    "tests_reader",
    "test_case",
    "case",
];

/// From directories to suites, from suites to what includes them.
const LOCATE: &[&str] = &["suite_search", "includes", "stored_runs"];

/// From programs and verdicts to what is shown.
const WATCH: &[&str] = &["suites", "programs", "verdicts", "file_watcher", "test_process", "state", "screen"];

/// From texts and positions to features, then the session and the server.
const LSP: &[&str] = &[
    "positions",
    "syntax",
    "key_types",
    "documents",
    "workspace",
    "diagnostics",
    "actions",
    "key_help",
    "definition",
    "case_run",
    "lens",
    "messages",
    "session",
    "server",
];

/// The layers of the runtime, lowest first.
const RUNTIME: &[&str] = &["platform", "model", "workspace", "record", "agents", "judge", "grade", "run", "entry"];

/// A run: what it is told, which cases it selects, what surrounds their trials, the trials, and the record of a case.
const RUN: &[&str] = &[
    "test_filter",
    "settings",
    "case_report",
    "selection",
    "hooks",
    "session",
    "plan",
    "budgets",
    "replay",
    "dependencies",
    "calibration",
    "case_setup",
    "trial",
    "made_up",
    "probe",
    "trials",
    "baseline_check",
    "case",
];

/// The phases of a trial: it is prepared, its agent is called, its work is captured and graded, its record is written.
const TRIAL: &[&str] = &[
    "trial_attempt",
    "recorded_models",
    "mcp_servers",
    "prepared",
    "trial_hooks",
    "size_limits",
    "called",
    "captured",
    "graded",
    "canary",
    "conversation",
    "trial_record",
];

const TRIALS: &[&str] = &["counted_trials", "running_trials"];

#[test]
fn no_module_imports_from_a_higher_layer_or_in_a_circle() {
    let mut problems = Vec::new();
    // Parsing takes nearly all of the time, and a crate has several folders.
    let mut crates: BTreeMap<&str, CrateSource> = BTreeMap::new();
    for plan in FLOOR_PLANS {
        let (folder, inside) = of_crate(plan.folder);
        let source = crates.entry(folder).or_insert_with(|| {
            let files = read_source_files(workspace_root(), folder);
            CrateSource::parse(&files, folder)
        });
        problems.extend(order::violations(source, &inside, plan.order));
    }
    assert!(problems.is_empty(), "imports against the order of layers:\n{}", problems.join("\n"));
    let found: Vec<_> = crates.values().flat_map(circles::circles).collect();
    let (known, new): (Vec<_>, Vec<_>) = found.iter().partition(|(circle, _)| IN_PARTS.iter().any(|it| it == circle));
    assert!(new.is_empty(), "files or folders that import from each other in a circle: {new:#?}");
    assert_eq!(known.len(), IN_PARTS.len(), "circles that are not there any more: {IN_PARTS:?}");
}

/// The sources of the crate that a folder belongs to, and the names from its root to the folder.
fn of_crate(folder: &str) -> (&str, Vec<&str>) {
    match folder.split_once("/src/") {
        Some((krate, inside)) => (&folder[..krate.len() + "/src".len()], inside.split('/').collect()),
        None => (folder, Vec::new()),
    }
}

#[test]
fn what_agents_leave_behind_and_runs_are_opened_in_one_place() {
    let mut problems = openings("runtime/src", untrusted_files::OF_RUNTIME, &[], untrusted_files::TRUSTED);
    problems.extend(openings("records/src", untrusted_files::OF_RECORDS, &[], untrusted_files::TRUSTED_IN_RECORDS));
    let reading = untrusted_files::READING;
    problems.extend(openings("report/src", &[], reading, untrusted_files::TRUSTED_IN_REPORTS));
    problems.extend(openings("cli/src", &[], reading, untrusted_files::TRUSTED_IN_CLI));
    assert!(problems.is_empty(), "files opened without `platform::untrusted`:\n{}", problems.join("\n"));
}

fn openings(
    folder: &str,
    modules: &[&str],
    functions: &'static [&'static str],
    trusted: &[(&str, &str)],
) -> Vec<String> {
    let krate = CrateSource::parse(&read_source_files(workspace_root(), folder), folder);
    untrusted_files::violations(&krate, folder, modules, functions, trusted)
}

/// That it imports nothing of the schema is in [`SCHEMA`].
#[test]
fn only_discovery_asks_the_file_system_and_it_does_not_know_the_contents_of_suites() {
    let others: Vec<&str> = SCHEMA.iter().copied().filter(|module| *module != "discovery").collect();
    let mut problems = openings("schema/src", &others, &[], &[]);
    let trusted = untrusted_files::TRUSTED_IN_DISCOVERY;
    problems.extend(openings("schema/src", &["discovery"], untrusted_files::CONTENTS, trusted));
    assert!(problems.is_empty(), "files that the schema opens:\n{}", problems.join("\n"));
}

#[test]
fn root_files_are_tables_of_contents() {
    let mut problems = Vec::new();
    for plan in FLOOR_PLANS {
        let files = read_source_files(workspace_root(), of_crate(plan.folder).0);
        for root in ["lib.rs", "main.rs"] {
            problems.extend(files::too_long(&files, &format!("{}/{root}", plan.folder), LONGEST_ROOT));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn files_say_what_they_hold_and_modules_have_one_style() {
    let mut problems = Vec::new();
    for krate in PRODUCT_FOLDERS {
        let files = read_source_files(workspace_root(), krate);
        problems.extend(files::without_header(&files));
        problems.extend(files::of_two_styles(&files));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn tests_are_ignored_where_what_they_need_is_missing() {
    let folders = PRODUCT_FOLDERS.iter().copied().chain(["tests", "examples"]);
    let problems: Vec<String> =
        folders.flat_map(|folder| files::with_late_needs(&read_source_files(workspace_root(), folder))).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
