//! The walk from a run to a gate: its files and commands lead to the output that it shows.

use std::fs;
use std::path::Path;

use evalsuite_needs::slow;
use evalsuite_tests::document_walk::{Block, Content, Walk, blocks};
use evalsuite_tests::throwaway::{Call, workspace};

fn read(document: &str) -> String {
    fs::read_to_string(workspace().join(document)).expect("the document")
}

#[slow(builds)]
#[test]
fn following_the_walk_leads_to_its_output() {
    let mut walk = Walk::new("walk").with_program(Path::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite")));
    walk.follow(blocks(&read("docs/quick-start.md")).iter().filter(|block| block.section == "Two cases"));
    walk.follow(&blocks(&read("docs/walk.md")));
    walk.check_outputs("docs/walk.md");
    assert!(walk.read("report.html").contains("<html"), "the report is one file");
}

#[slow(builds)]
#[test]
fn a_package_next_to_a_clone_uses_its_crates() {
    let of_clone = blocks(&read("docs/install.md")).into_iter().filter(|block| block.section == "From a clone");
    let mut walk = Walk::new("from_a_clone").with_program(Path::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite")));
    walk.follow(&of_clone.collect::<Vec<Block>>());
    let ran = walk.call("cargo test --test basics").fails("one case fails");
    ran.says("test basics::greeting ... ok").says("test basics::addition ... FAILED");

    let output = tempfile::tempdir().expect("a directory");
    let readme = blocks(&read("README.md"));
    let in_clone: Vec<&str> =
        readme.iter().map(commands).find(|commands| commands.contains(&TESTS)).unwrap_or_default();
    let [example, TESTS] = in_clone[..] else { panic!("expected two commands in the clone: {in_clone:?}") };
    let example = Call::cargo_in_workspace().args(example.split(' ').skip(1)).env("EVALSUITE_OUTPUT", output.path());
    example.run().succeeds("the cases of the example pass").says("test repair::suite_check ... ok");
}

/// Runs every test.
const TESTS: &str = "cargo test --workspace";

fn commands(block: &Block) -> Vec<&str> {
    match &block.content {
        Content::Console(commands) => commands.iter().map(|command| &*command.line).collect(),
        _ => Vec::new(),
    }
}
