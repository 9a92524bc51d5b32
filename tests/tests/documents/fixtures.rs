//! Small repositories whose documents break one rule each.

use super::repository::Repository;
use super::rules::{
    broken_links, changed_examples, crate_readmes, long_additions, missing_paths, unlinked_documents, unlisted_sections,
};

const FILES: &[(&str, &str)] = &[
    ("runtime/src/grade/mod.rs", ""),
    ("runtime/src/grade/equals.rs", ""),
    ("schema/src/case.rs", ""),
    ("schema/src/suite.rs", ""),
    ("tests/ui/unknown-key/main.rs", ""),
    ("Cargo.toml", ""),
    ("docs/runs.md", "# Runs\n## Agents that are `commands`, and more\n## Twice\n## Twice\n<a id=\"by-hand\"></a>\n"),
];

fn repository(document: &str, text: &str) -> Repository {
    Repository::of(&[FILES, &[(document, text)]].concat())
}

#[test]
fn links_and_anchors_that_resolve_are_fine() {
    let text = "# Top\n[a](docs/runs.md) [b](docs/) [c](runtime/src/grade) [d](#top) ![e](Cargo.toml)\n\
                [f](docs/runs.md#agents-that-are-commands-and-more) [g](docs/runs.md#twice-1) [h](docs/runs.md#by-hand)\n\
                [i](https://example.com/project/blob/main/docs/runs.md#runs) [j](https://docs.rs/nowhere)\n\
                [k]\n\n[k]: ./schema/src/case.rs#L3\n";
    assert_eq!(broken_links(&repository("README.md", text)), Vec::<String>::new());
    assert_eq!(broken_links(&repository("docs/more.md", "[a](runs.md#runs) [b](../Cargo.toml)")), Vec::<String>::new());
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let text = "[a](docs/run.md)\n[b](docs/runs.md#cellar)\n\n[c](#top) [d](../Cargo.toml)\n\
                [e](https://example.com/project/tree/main/attic)\n[f]\n\n[f]: attic.md\n";
    assert_eq!(
        broken_links(&repository("README.md", text)),
        [
            "README.md:1: the link leads to `docs/run.md`, which does not exist",
            "README.md:2: `docs/runs.md` has no heading for `#cellar`",
            "README.md:4: `README.md` has no heading for `#top`",
            "README.md:4: the link leads to `../Cargo.toml`, which does not exist",
            "README.md:5: the link leads to `attic`, which does not exist",
            "README.md:6: the link leads to `attic.md`, which does not exist",
        ]
    );
    assert_eq!(
        broken_links(&repository("runtime/README.md", "[a](docs/runs.md)")),
        ["runtime/README.md:1: the link leads to `runtime/docs/runs.md`, which does not exist"]
    );
}

#[test]
fn paths_that_exist_are_fine() {
    let text = "`runtime/src/grade/` `runtime/src/grade/mod.rs:12` `schema/src/{case,suite}.rs` `tests/ui/<name>/main.rs`\n\
                `runtime/src/*/equals.rs` `case.rs` `grade/mod.rs` `Cargo.toml` `cargo test --doc` `std::path` `and/or` `.rs`\n\
                `UPDATE=1 vi schema/src/case.rs` `target/evalsuite` `https://docs.rs/a.md` not/in/backticks\n\n\
                ```text\nschema/src/case.rs -> somewhere.rs\n```\n";
    assert_eq!(missing_paths(&repository("ARCHITECTURE.md", text)), Vec::<String>::new());
}

#[test]
fn paths_that_do_not_exist_are_found() {
    let text = "`runtime/src/grades/` and `runtime/src/grade/contains.rs:12`\n`schema/src/{case,grader}.rs`\n\
                `tests/ui/<name>/lib.rs`, `nowhere.rs`, `grade/equal.rs`, `cat schema/case.rs`\n\n\
                | a | b |\n| --- | --- |\n| `attic.md` | `Attic.toml` |\n\n```text\nfile  schema/src/lib.rs\n```\n";
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let expected = [
            "1: `runtime/src/grades`",
            "1: `runtime/src/grade/contains.rs`",
            "2: `schema/src/grader.rs`",
            "3: `tests/ui/<name>/lib.rs`",
            "3: `nowhere.rs`",
            "3: `grade/equal.rs`",
            "3: `schema/case.rs`",
            "7: `attic.md`",
            "7: `Attic.toml`",
            "10: `schema/src/lib.rs`",
        ];
        let expected = expected.map(|problem| format!("{document}:{problem} does not exist"));
        assert_eq!(missing_paths(&repository(document, text)), expected);
    }
    assert_eq!(missing_paths(&repository("README.md", text)), Vec::<String>::new());
}

#[test]
fn an_addition_touches_one_to_six_files() {
    let list = |count: usize| {
        (0..count).map(|index| format!("1. `schema/src/{index}.rs`: once, `schema/src/0.rs`\n")).collect::<String>()
    };
    let guide = |text: &str| long_additions(&repository("CONTRIBUTING.md", text));
    let six = format!("### Add a grader\nText about `a.rs`.\n\n{}\n### Others\n{}", list(6), list(7));
    assert_eq!(guide(&six), Vec::<String>::new());
    assert_eq!(
        guide(&format!("# Guide\n\n### Add a grader\n\n{}", list(7))),
        ["CONTRIBUTING.md:3: the list below `### Add a grader` names 7 files; it has to name 1 to 6"]
    );
    assert_eq!(
        guide("### Add an `E` code\n\nIn `a.rs`.\n"),
        ["CONTRIBUTING.md:1: the list below `### Add an E code` names 0 files; it has to name 1 to 6"]
    );
    assert_eq!(guide("# Guide\n"), ["CONTRIBUTING.md: no section `### Add a …` says which files an addition touches"]);
}

#[test]
fn documents_that_the_readme_does_not_lead_to_are_found() {
    let files = [
        ("docs/keys/README.md", ""),
        ("docs/keys/case.md", ""),
        ("docs/lost.md", ""),
        ("LOST.md", ""),
        ("runtime/README.md", ""),
    ];
    let readme = ("README.md", "[a](docs/runs.md#runs) [b](docs/keys/README.md)");
    assert_eq!(
        unlinked_documents(&Repository::of(&[FILES, &files, &[readme]].concat()), &["runtime"]),
        [
            "neither README.md nor docs/README.md has a link to `LOST.md`",
            "neither README.md nor docs/README.md has a link to `docs/lost.md`"
        ]
    );
}

#[test]
fn the_contents_lead_to_documents_if_the_readme_leads_to_the_contents() {
    let files = [("docs/README.md", "[a](runs.md)"), ("docs/runs.md", ""), ("docs/lost.md", "")];
    let unlinked =
        |readme: &str| unlinked_documents(&Repository::of(&[&files[..], &[("README.md", readme)]].concat()), &[]);
    assert_eq!(unlinked("[a](docs/README.md)"), ["neither README.md nor docs/README.md has a link to `docs/lost.md`"]);
    assert_eq!(unlinked("[a](docs/lost.md)").len(), 2, "the contents and what they list");
}

#[test]
fn readmes_of_crates_are_short_and_have_absolute_links() {
    let good = "# a\n[a](https://example.com/project) [b](https://docs.rs/b)\n";
    let long = format!("{good}{}", "line\n".repeat(30));
    let files =
        [("good/README.md", good), ("relative/README.md", "# a\n\n[a](../README.md)\n"), ("long/README.md", &long)];
    assert_eq!(
        crate_readmes(&Repository::of(&files), &["good", "relative", "long", "none"]),
        [
            "relative/README.md:3: `../README.md` is not absolute",
            "relative/README.md: no link to `https://example.com/project`",
            "long/README.md has 32 lines, more than 20",
            "none/README.md does not exist",
        ]
    );
}

#[test]
fn sections_that_the_contents_do_not_list_are_found() {
    let text = "# Top\n- [One](#one)\n\n## One\n### Part\nSee [two](#two).\n\n## Two\n";
    let expected = ["README.md:8: the contents do not list `#two`"];
    assert_eq!(unlisted_sections(&repository("README.md", text)), expected);
}

#[test]
fn code_that_an_example_no_longer_has_is_found() {
    let readme = "# Clock\n```rust\nfn one() {}\n```\n```toml\nunchecked = true\n```\n```rust\nfn two() {}\n```\n";
    let source = ("examples/clock/src/lib.rs", "//! A clock.\n\nfn one() {}\n");
    assert_eq!(
        changed_examples(&Repository::of(&[("examples/clock/README.md", readme), source])),
        ["examples/clock/README.md:8: no source of the example has this code"]
    );
    let source = ("examples/clients/clock/tests/evals.rs", "fn one() {}\n");
    assert_eq!(
        changed_examples(&Repository::of(&[("docs/agents.md", readme), ("docs/runs.md", readme), source])),
        ["docs/agents.md:8: no source of the example has this code"]
    );
}
