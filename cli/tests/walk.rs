//! The walk from a run to a gate: its files and commands lead to the output that it shows.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use evalsuite_tests::document_walk::{Walk, blocks};
use evalsuite_tests::throwaway::workspace;

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
fn the_readme_shows_parts_of_the_walk() {
    let (readme, walk) = (read("README.md"), read("docs/walk.md"));
    let (_, parts) = readme.split_once("shows whole:\n\n```text\n").expect("the parts");
    let (parts, _) = parts.split_once("\n```").expect("the end of the block");
    let mut rest = walk.as_str();
    for part in parts.split("\n…\n").flat_map(|part| part.split("\n$ ")) {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("docs/walk.md does not go on with:\n{part}"));
        rest = after;
    }
}
