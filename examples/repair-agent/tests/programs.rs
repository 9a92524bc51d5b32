//! Programs that test the limits of the agent and its errors, and are therefore not cases of the suite.

use std::fs;
use std::path::Path;
use std::time::Duration;

use repair_agent::{NoObserver, Repair, RepairError, Verdict};

fn repaired(program: &str) -> (Result<String, RepairError>, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("program.rs");
    fs::write(&file, program).unwrap();
    let report = Repair::new(dir.path(), "program.rs").test_limit(Duration::from_secs(1)).run(&mut NoObserver);
    (report.map(|report| report.to_string()), fs::read_to_string(file).unwrap())
}

#[test]
fn a_program_without_tests_is_not_called_healthy() {
    let program = "pub fn one() -> u32 {\n    1\n}\n";
    let (answer, after) = repaired(program);
    assert!(answer.unwrap().starts_with("Could not repair program.rs: it has no tests."));
    assert_eq!(after, program);
}

#[test]
fn a_program_with_a_syntax_error_is_left_unchanged() {
    let program = "fn main( {\n";
    let (answer, after) = repaired(program);
    assert!(answer.unwrap().starts_with("Could not repair program.rs: it does not compile ("));
    assert_eq!(after, program);
}

#[test]
fn an_infinite_loop_is_stopped_and_repaired() {
    let program = "pub fn halvings(mut n: u32) -> u64 {\n    let mut steps = 0;\n    while n >= 0 {\n        n /= 2;\n        steps += 1;\n    }\n    steps\n}\n\n#[test]\nfn eight() {\n    assert_eq!(crate::halvings(8), 4);\n}\n";
    let (answer, after) = repaired(program);
    assert!(answer.unwrap().starts_with("Repaired program.rs."), "{after}");
    assert_ne!(after, program);
}

#[test]
fn a_missing_file_is_an_error() {
    let error = Repair::new(Path::new("/nowhere"), "program.rs").run(&mut NoObserver).unwrap_err();
    assert!(matches!(error, RepairError::File { .. }), "{error}");
}

#[test]
fn a_cancelled_repair_stops() {
    struct Cancelled;
    impl repair_agent::Observer for Cancelled {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("program.rs"), "").unwrap();
    let error = Repair::new(dir.path(), "program.rs").run(&mut Cancelled).unwrap_err();
    assert!(matches!(error, RepairError::Cancelled), "{error}");
}

#[test]
fn the_verdict_lists_every_change() {
    let dir = tempfile::tempdir().unwrap();
    let program = "pub fn last(list: &[u8]) -> u8 {\n    list[list.len()]\n}\n\n#[test]\nfn three() {\n    assert_eq!(last(&[1, 2, 3]), 3);\n}\n";
    fs::write(dir.path().join("program.rs"), program).unwrap();
    let report = Repair::new(dir.path(), "program.rs").run(&mut NoObserver).unwrap();
    let Verdict::Repaired(changes) = report.verdict() else { panic!("{report}") };
    assert_eq!(changes.as_slice(), [(2, "`len()` becomes `len() - 1`".to_owned())]);
}
