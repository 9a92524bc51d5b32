//! The documents of the repository name only what exists: links, their anchors, and paths of files and folders.

mod catalogue;
mod fixtures;
mod markdown;
mod release_workflow;
mod repository;
mod repository_url;
mod rules;
mod suites_in_documents;

use evalsuite_tests::source::{PRODUCT_FOLDERS, workspace_root};
use repository::Repository;

#[test]
fn links_within_the_repository_resolve() {
    assert_none("broken links", &rules::broken_links(&Repository::read(workspace_root())));
}

#[test]
fn one_place_defines_the_address_of_the_repository() {
    let url = Repository::read(workspace_root()).url;
    let update = std::env::var_os("UPDATE_REPOSITORY").is_some();
    let problems = repository_url::other_spellings(workspace_root(), "", &url, update);
    assert_none("addresses of the repository; run this test with UPDATE_REPOSITORY=1", &problems);
}

#[test]
fn readmes_of_published_crates_have_absolute_links() {
    let repository = Repository::read(workspace_root());
    for folder in PRODUCT_FOLDERS {
        let manifest = std::fs::read_to_string(workspace_root().join(folder).join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("\nreadme = \"README.md\"\n"), "{folder}/Cargo.toml does not name its README");
    }
    assert_none("READMEs of crates", &rules::crate_readmes(&repository, PRODUCT_FOLDERS));
}

#[test]
fn binaries_of_a_release_have_the_names_that_binstall_looks_for() {
    let read = |path: &str| std::fs::read_to_string(workspace_root().join(path)).expect("a file of the repository");
    let problems = release_workflow::problems(&read(".github/workflows/release.yml"), &read("cli/Cargo.toml"));
    assert_none("names of files of a release", &problems);
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
    assert_none(
        "documents without a link",
        &rules::unlinked_documents(&Repository::read(workspace_root()), PRODUCT_FOLDERS),
    );
}

#[test]
fn the_readme_is_short() {
    let readme = std::fs::read_to_string(workspace_root().join("README.md")).expect("the README");
    assert_none("the README; other pages have its details", &rules::long_readme(&readme));
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
fn every_diagnostic_has_a_section_and_examples_show_what_it_prints() {
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
