//! The walk from a run to a gate: its files and commands lead to the output that it shows.

use std::fs;
use std::path::Path;

use evalsuite_tests::document_walk::{Block, Content, Walk, blocks};
use evalsuite_tests::throwaway::{Call, workspace};

fn read(document: &str) -> String {
    fs::read_to_string(workspace().join(document)).expect("the document")
}

#[test]
fn following_the_walk_leads_to_its_output() {
    let mut walk = Walk::new("walk").with_program(Path::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite")));
    walk.follow(blocks(&read("README.md")).iter().filter(|block| block.section == "Quick start"));
    walk.follow(&blocks(&read("docs/walk.md")));
    walk.check_outputs("docs/walk.md");
    assert!(walk.read("report.html").contains("<html"), "the report is one file");
}

#[test]
fn a_package_next_to_a_clone_uses_its_crates() {
    let of_clone = blocks(&read("README.md")).into_iter().filter(|block| block.section == "From a clone");
    let (in_package, in_clone): (Vec<Block>, Vec<Block>) =
        of_clone.partition(|block| !commands(block).contains(&TESTS));
    let mut walk = Walk::new("from_a_clone").with_program(Path::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite")));
    walk.follow(&in_package);
    let ran = walk.call("cargo test --test basics").fails("one case fails");
    ran.says("test basics::greeting ... ok").says("test basics::addition ... FAILED");

    let output = tempfile::tempdir().expect("a directory");
    let in_clone: Vec<&str> = in_clone.iter().flat_map(commands).collect();
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

#[test]
fn the_readme_shows_parts_of_the_walk() {
    let (readme, walk) = (read("README.md"), read("docs/walk.md"));
    let after = |text: &str| {
        let (_, below) = readme.split_once(text).unwrap_or_else(|| panic!("README.md has no {text}"));
        let (_, parts) = below.split_once("```text\n").expect("the parts");
        parts.split_once("\n```").expect("the end of the block").0
    };
    let parts = format!("{}\n…\n{}", after("## Probing"), after("(docs/walk.md)"));
    let mut rest = walk.as_str();
    for part in parts.split("\n…\n").flat_map(|part| part.split("\n$ ")) {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("docs/walk.md does not go on with:\n{part}"));
        rest = after;
    }
}
