//! The walk from a run to a gate: its files and commands lead to the output that it shows.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use evalsuite_tests::document_walk::{Walk, blocks};
use evalsuite_tests::throwaway::workspace;

#[test]
fn following_the_walk_leads_to_its_output() {
    let blocks = |file: &str| blocks(&fs::read_to_string(workspace().join(file)).expect("the document"));
    let mut walk = Walk::new("walk").with_program(Path::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite")));
    walk.follow(blocks("README.md").iter().filter(|block| block.section == "Quick start"));
    walk.follow(&blocks("docs/walk.md"));
    walk.check_outputs("docs/walk.md");
    assert!(walk.read("report.html").contains("<html"), "the report is one file");
}
