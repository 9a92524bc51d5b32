//! The documents of the repository name only what exists: links, their anchors, and paths of files and folders.

mod catalogue;
mod fixtures;
mod markdown;
mod repository;
mod rules;
mod suites_in_documents;

use evalsuite_tests::source::workspace_root;
use repository::Repository;

#[test]
fn links_within_the_repository_resolve() {
    assert_none("broken links", &rules::broken_links(&Repository::read(workspace_root())));
}

#[test]
fn paths_that_describe_the_repository_exist() {
    assert_none("paths that do not exist", &rules::missing_paths(&Repository::read(workspace_root())));
}

#[test]
fn each_kind_of_addition_touches_few_files() {
    assert_none("too much to touch", &rules::long_additions(&Repository::read(workspace_root())));
}

#[test]
fn the_readme_leads_to_every_document() {
    assert_none("documents without a link", &rules::unlinked_documents(&Repository::read(workspace_root())));
}

#[test]
fn the_contents_of_the_readme_are_complete() {
    assert_none("sections that are not listed", &rules::unlisted_sections(&Repository::read(workspace_root())));
}

#[test]
fn code_of_examples_in_documents_is_theirs() {
    assert_none("code that differs", &rules::changed_examples(&Repository::read(workspace_root())));
}

#[test]
fn suites_for_those_who_come_from_other_tools_are_valid() {
    let text = std::fs::read_to_string(workspace_root().join("docs/other-tools.md")).expect("the page");
    let (count, problems) = suites_in_documents::problems(&text);
    assert_eq!(count, 4, "one suite for each tool");
    assert_none("problems of suites", &problems);
}

#[test]
fn the_versions_of_tested_libraries_are_those_of_the_examples() {
    let read = |path: &str| std::fs::read_to_string(workspace_root().join(path)).expect("a file of the repository");
    let (guide, lock) = (read("docs/agents.md"), read("examples/clients/Cargo.lock"));
    for name in ["rig-agent", "rig-core", "genai", "async-openai", "rmcp", "adk-rust"] {
        let package = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{name}\"\n")));
        let version = package.and_then(|package| package.split("version = \"").nth(1)?.split('"').next());
        let cell = format!("| {} |", version.expect("the examples use the library"));
        let is_listed = guide.lines().any(|line| line.contains(name) && line.contains(&cell));
        assert!(
            is_listed,
            "docs/agents.md does not list {name} with the version of examples/clients/Cargo.lock: {cell}"
        );
    }
}

#[test]
fn every_diagnostic_has_a_section_with_what_it_prints() {
    let path = workspace_root().join(catalogue::PATH);
    let text = std::fs::read_to_string(&path).expect("the catalogue");
    assert_none("diagnostics", &catalogue::problems(&text));
    let current = catalogue::with_examples(&text, workspace_root());
    if std::env::var_os("UPDATE_DIAGNOSTICS").is_some() {
        std::fs::write(&path, current).expect("the catalogue is written");
        return;
    }
    assert!(text == current, "examples in {} are outdated; run this test with UPDATE_DIAGNOSTICS=1", catalogue::PATH);
}

#[track_caller]
fn assert_none(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{what}:\n{}", problems.join("\n"));
}
