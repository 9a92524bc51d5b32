//! Each kind of agent gets to a green and a red case as docs/which-agent.md says. The section on frameworks is followed in examples/clients.

use std::fs;
use std::path::Path;

use evalsuite_needs::{needs, slow};
use evalsuite_schema::json::{Value, from_str, json};
use evalsuite_tests::document_walk::{Block, Content, Walk, blocks};
use evalsuite_tests::http_service::serve;
use evalsuite_tests::throwaway::workspace;

/// Greatest number of lines in the files of a section, without the suite that several sections have.
const MOST_LINES: usize = 12;

fn page() -> Vec<Block> {
    blocks(&fs::read_to_string(workspace().join("docs/which-agent.md")).expect("the page"))
}

/// Follows a section in a new package, with the programs of a reader.
fn follow(section: &str) -> Walk {
    let name = format!("which_{}", section.to_lowercase().replace(' ', "_"));
    let program = Path::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"));
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/which_agent");
    let mut walk = Walk::new(&name).with_program(program).with_reader_programs(&programs).with_judge(&serve(judge));
    let blocks = page();
    assert!(blocks.iter().any(|block| block.section == section), "the page has no section {section}");
    walk.follow(&blocks_of_start());
    // The suite of several sections is above all of them.
    walk.follow(blocks.iter().filter(|block| block.section.is_empty() || block.section == section));
    walk
}

/// The package of a reader.
fn blocks_of_start() -> Vec<Block> {
    blocks("```console\n$ cargo new --quiet --lib my-agent\n$ cd my-agent\n```\n")
}

/// A judge that is content with each expectation whose last word is in the answer.
fn judge(body: &str) -> String {
    let body: Value = from_str(body).expect("JSON");
    let prompt = body["messages"][1]["content"].as_str().expect("the prompt of the user");
    let satisfied = prompt.contains("Names Paris");
    let check = json!({"id": "expectation-1", "satisfied": satisfied, "reasoning": "The answer names Paris."});
    let content = json!({"checks": [check], "overall_reasoning": "It names Paris."}).to_string();
    json!({"model": "judge-1", "choices": [{"message": {"role": "assistant", "content": content}}]}).to_string()
}

#[track_caller]
fn is_green_and_red(section: &str, module: &str) {
    let ran = follow(section).call("cargo test --test evals").fails("one of the cases is red");
    ran.says(&format!("test {module}::green ... ok")).says(&format!("test {module}::red ... FAILED"));
    ran.says("evaluation failed: red");
}

#[slow(builds)]
#[test]
fn a_function() {
    is_green_and_red("A function", "capitals");
}

#[slow(builds)]
#[cfg(unix)]
#[test]
fn a_command() {
    is_green_and_red("A command", "capitals");
}

#[slow(builds)]
#[cfg(unix)]
#[needs(python)]
#[test]
fn an_agent_over_acp() {
    is_green_and_red("An agent over ACP", "capitals");
}

#[slow(builds)]
#[cfg(unix)]
#[needs(python)]
#[test]
fn an_mcp_client() {
    is_green_and_red("An MCP client", "notes");
}

#[slow(builds)]
#[test]
fn a_skill() {
    is_green_and_red("A skill", "capitals");
}

#[slow(builds)]
#[test]
fn each_section_has_at_most_twelve_lines() {
    let page = page();
    let mut sections: Vec<&str> = page.iter().map(|block| &*block.section).collect();
    sections.dedup();
    sections.retain(|section| !section.is_empty());
    assert_eq!(sections.len(), 6, "{sections:?}");
    for section in sections {
        let files = page.iter().filter(|block| block.section == section).filter_map(|block| match &block.content {
            Content::File(file) => Some(file.text.lines().skip(1).filter(|line| !line.is_empty()).count()),
            _ => None,
        });
        let count: usize = files.sum();
        assert!((1..=MOST_LINES).contains(&count), "{section} has {count} lines in files");
    }
}
