//! Goldens of diagnostics: one small suite for each of them, below `ui/`.
//!
//! `main.stderr` is the output of rustc, in which trybuild hides line numbers of other files. `diagnostics.snap` is the
//! report of the loader with every place. `TRYBUILD=overwrite` and `INSTA_UPDATE=always` update them.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_loader::{Request, load};
use evalsuite_needs::slow;
use evalsuite_schema::diagnostics::render::Style;
use evalsuite_schema::diagnostics::{Code, render};

/// Diagnostics that no build shows: they occur when a case runs, in the generated `suite_check`, or in a file that only the
/// command-line tool reads. Their goldens are in the crates that report them.
const NOT_IN_A_BUILD: &[Code] = &[
    Code::UnreadableFile,
    Code::UnsetVariable,
    Code::GraderConfigRejected,
    Code::SuiteChanged,
    // A checkout on macOS or Windows would have only one of its files.
    Code::NamesDifferInCase,
    Code::PassesWithoutWork,
    Code::NothingFails,
    Code::ReferenceFails,
    Code::BrokenReferencesPass,
    Code::VacuousGrader,
    Code::ImpossibleGrader,
    Code::OnlyLimits,
    Code::UncalledTool,
];

/// Diagnostics of the macro, which knows the agent, the registered graders, the targets file and the generated code. A load of the
/// suite has none of them.
const MACRO_ONLY: &[Code] = &[
    Code::UnknownGrader,
    Code::GraderRegistration,
    Code::UnusedGrader,
    Code::UnknownJudge,
    Code::UnknownUser,
    Code::NoTargetsFile,
    Code::NotEmbedded,
    Code::MissingFeature,
    Code::TargetsFile,
    Code::TargetNotRunnable,
    Code::UnknownPlaceholder,
    Code::UndefinedTarget,
];

/// Makes a file that is too large for the repository. It is sparse, so it takes no space on disk.
fn make_large_file() {
    let path = directory().join("not-embedded/suite/tasks/large/workspace/large.bin");
    fs::File::create(path).and_then(|file| file.set_len(33 * 1024 * 1024)).unwrap();
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ui")
}

fn goldens() -> Vec<String> {
    let entries = fs::read_dir(directory()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[slow(builds)]
#[test]
fn rustc_shows_every_diagnostic_at_the_path_of_the_suite() {
    make_large_file();
    trybuild::TestCases::new().compile_fail("ui/*/main.rs");
}

#[test]
fn every_diagnostic_has_a_golden() {
    let names = goldens();
    for code in Code::ALL {
        let expected = !NOT_IN_A_BUILD.contains(code);
        assert_eq!(
            names.iter().any(|name| name == code.name()),
            expected,
            "expected tests/ui/{} to be the golden of {code}, unless it is listed as not shown in a build",
            code.name()
        );
    }
}

#[test]
fn the_loader_reports_every_diagnostic_with_its_place() {
    for name in goldens() {
        let Some(code) = Code::from_name(&name) else { continue };
        let case = directory().join(&name);
        let source = fs::read_to_string(case.join("main.rs")).unwrap();
        let mut request = Request::new(source.split('"').nth(1).unwrap(), env!("CARGO_MANIFEST_DIR"));
        request.source_dir = Some(case.clone());
        let loaded = load(&request);
        if !MACRO_ONLY.contains(&code) {
            assert!(
                loaded.diagnostics.iter().any(|found| found.code == code),
                "expected tests/ui/{name} to produce {code}"
            );
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&case);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| {
            insta::assert_snapshot!("diagnostics", render::report(&loaded.diagnostics, Style::Plain));
        });
    }
}
