//! The floor plan of the crates: the order of their top-level modules, and how their files are laid out.
//!
//! A module may import only from modules that stand before it in its crate's order. ARCHITECTURE.md says what each holds.

mod files;
mod fixtures;
mod order;
mod references;
mod untrusted_files;

use evalsuite_tests::source::{CrateSource, read_source_files, workspace_root};

/// The rules for one crate.
struct FloorPlan {
    /// The crate's folder.
    krate: &'static str,
    /// Its top-level modules, lowest first.
    order: &'static [&'static str],
    /// The largest number of lines `lib.rs` may have.
    longest_lib: usize,
}

const FLOOR_PLANS: &[FloorPlan] = &[
    FloorPlan { krate: "loader", order: LOADER, longest_lib: 120 },
    FloorPlan { krate: "codegen", order: CODEGEN, longest_lib: 120 },
    FloorPlan { krate: "build", order: BUILD, longest_lib: 120 },
    FloorPlan { krate: "macros", order: &["macro_library", "call_site", "hidden_import", "expand"], longest_lib: 120 },
    FloorPlan { krate: "records", order: RECORDS, longest_lib: 120 },
    FloorPlan { krate: "runtime", order: RUNTIME, longest_lib: 120 },
    FloorPlan { krate: "report", order: REPORT, longest_lib: 120 },
];

/// Crates in which every file starts with a `//!` line and modules with children are `name/mod.rs`.
const TIDY: &[&str] = &[
    "schema",
    "discovery",
    "loader",
    "codegen",
    "build",
    "macros",
    "records",
    "runtime",
    "report",
    "convert",
    "dynamic",
    "cli",
];

const LOADER: &[&str] = &[
    "names",
    "source",
    "request",
    "diagnostic",
    "keys",
    "read",
    "document",
    "fields",
    "graders",
    "cases",
    "suite",
    "calibration",
    "targets_file",
    "load",
    "registered_graders",
    "render",
];

const CODEGEN: &[&str] = &[
    "cargo_environment",
    "allowed_warnings",
    "rust_literals",
    "short_hash",
    "code_text",
    "replaced_file",
    "statics",
    "embed",
    "suite_facts",
    "cache",
    "binding",
    "arguments",
    "expansion",
];

const BUILD: &[&str] = &["package", "cargo_instructions", "tracking", "generate"];

const RECORDS: &[&str] = &[
    "digest",
    "json",
    "file_replacement",
    "untrusted",
    "file_lock",
    "package_file",
    "record",
    "run_directory",
    "statistics",
    "repeated_cases",
    "baseline",
    "run_data",
    "summary",
];

const REPORT: &[&str] = &[
    "run_data",
    "slice",
    "statistics",
    "suite_text",
    "judged_rates",
    "failure_text",
    "formats",
    "schemas",
    "baseline",
    "comparison",
    "gates",
    "health",
    "history",
    "html",
];

/// The layers of the runtime, lowest first.
const RUNTIME: &[&str] = &["platform", "model", "workspace", "record", "agents", "judge", "grade", "run", "entry"];

#[test]
fn no_module_imports_from_a_higher_layer() {
    let mut problems = Vec::new();
    for plan in FLOOR_PLANS {
        let folder = format!("{}/src", plan.krate);
        let files = read_source_files(workspace_root(), &folder);
        problems.extend(order::violations(&CrateSource::parse(&files, &folder), plan.order));
    }
    assert!(problems.is_empty(), "imports against the order of layers:\n{}", problems.join("\n"));
}

#[test]
fn what_agents_leave_behind_and_runs_are_opened_in_one_place() {
    let violations = |folder: &str, modules: &[&str], trusted: &[(&str, &str)]| {
        let krate = CrateSource::parse(&read_source_files(workspace_root(), folder), folder);
        untrusted_files::violations(&krate, folder, modules, trusted)
    };
    let mut problems = violations("runtime/src", untrusted_files::OF_RUNTIME, untrusted_files::TRUSTED);
    problems.extend(violations("records/src", untrusted_files::OF_RECORDS, untrusted_files::TRUSTED_IN_RECORDS));
    problems.extend(violations("report/src", &[], untrusted_files::TRUSTED_IN_REPORTS));
    problems.extend(violations("cli/src", &[], untrusted_files::TRUSTED_IN_CLI));
    assert!(problems.is_empty(), "files opened by their path:\n{}", problems.join("\n"));
}

#[test]
fn lib_files_are_tables_of_contents() {
    let mut problems = Vec::new();
    for plan in FLOOR_PLANS {
        let folder = format!("{}/src", plan.krate);
        let files = read_source_files(workspace_root(), &folder);
        problems.extend(files::too_long(&files, &format!("{folder}/lib.rs"), plan.longest_lib));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn files_say_what_they_hold_and_modules_have_one_style() {
    let mut problems = Vec::new();
    for krate in TIDY {
        let files = read_source_files(workspace_root(), krate);
        problems.extend(files::without_header(&files));
        problems.extend(files::of_two_styles(&files));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
