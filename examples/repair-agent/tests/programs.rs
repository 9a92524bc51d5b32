//! Programs the suite has no case for, since a suite grades answers and these test the agent's limits.

use std::{fs, path::Path, time::Duration};

use repair_agent::{Repair, RepairError, Silent, Verdict};

fn repaired(program: &str) -> (Result<String, RepairError>, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("program.rs");
    fs::write(&file, program).unwrap();
    let report = Repair::new(dir.path(), "program.rs").test_limit(Duration::from_secs(1)).run(&mut Silent);
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
fn a_program_nobody_can_read_is_left_as_it_was() {
    let program = "fn main( {\n";
    let (answer, after) = repaired(program);
    assert!(answer.unwrap().starts_with("Could not repair program.rs: it does not compile ("));
    assert_eq!(after, program);
}

#[test]
fn an_endless_loop_is_ended_and_repaired() {
    let program = "pub fn halvings(mut n: u32) -> u64 {\n    let mut steps = 0;\n    while n >= 0 {\n        n /= 2;\n        steps += 1;\n    }\n    steps\n}\n\n#[test]\nfn eight() {\n    assert_eq!(crate::halvings(8), 4);\n}\n";
    let (answer, after) = repaired(program);
    assert!(answer.unwrap().starts_with("Repaired program.rs."), "{after}");
    assert_ne!(after, program);
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let error = Repair::new(Path::new("/nowhere"), "program.rs").run(&mut Silent).unwrap_err();
    assert!(matches!(error, RepairError::File { .. }), "{error}");
}

#[test]
fn a_caller_who_gave_up_is_obeyed() {
    struct Gone;
    impl repair_agent::Observer for Gone {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("program.rs"), "").unwrap();
    let error = Repair::new(dir.path(), "program.rs").run(&mut Gone).unwrap_err();
    assert!(matches!(error, RepairError::Cancelled), "{error}");
}

#[test]
fn the_verdict_lists_every_change() {
    let dir = tempfile::tempdir().unwrap();
    let program = "pub fn last(list: &[u8]) -> u8 {\n    list[list.len()]\n}\n\n#[test]\nfn three() {\n    assert_eq!(last(&[1, 2, 3]), 3);\n}\n";
    fs::write(dir.path().join("program.rs"), program).unwrap();
    let report = Repair::new(dir.path(), "program.rs").run(&mut Silent).unwrap();
    let Verdict::Repaired(changes) = report.verdict() else { panic!("{report}") };
    assert_eq!(changes.as_slice(), [(2, "`len()` becomes `len() - 1`".to_owned())]);
}
