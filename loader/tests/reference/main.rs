//! The reference of files in `docs/reference` says what the tables of keys say.

mod examples;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evalsuite_loader::key_tables::{GRADERS, tables};

use crate::page::Page;

/// The pages, each with the tables it shows. A page without tables shows the graders. A row that several tables have is on the first of these
/// pages.
const PAGES: &[Page] = &[
    Page {
        file: "targets.md",
        title: "The targets file",
        intro: "Agents and judges that are [commands](../command-agents.md), and agents that speak the [Agent Client Protocol](../acp.md).",
        tables: &[
            "targets-file",
            "cli-target",
            "acp-target",
            "permission-rule",
            "mcp",
            "mcp-server",
            "mcp-fault",
            "healthcheck",
            "network",
        ],
    },
    Page {
        file: "eval-file.md",
        title: "The eval file",
        intro: "The keys of a suite in the [cases layout](../suites.md), and of its targets and trials. [Gates](../gates.md) explains `gates`.",
        tables: &[
            "eval-file",
            "suite-execution",
            "trials",
            "suite-target",
            "target-skill",
            "suite-requires",
            "preprocessor",
        ],
    },
    Page {
        file: "case.md",
        title: "Cases",
        intro: "A case is a `case.yaml` in a directory of its own, an element of `tests` or of a list of cases, or a line of a \
                JSONL file.",
        tables: &[
            "case-file",
            "case",
            "case-execution",
            "case-requires",
            "turn",
            "conversation",
            "user",
            "message",
            "content-part",
            "tool-call",
            "examples",
            "example",
            "probe",
        ],
    },
    Page {
        file: "tasks.md",
        title: "The tasks layout",
        intro: "With `cases/` in place of `tasks/`, the cases are those of the [cases layout](case.md).",
        tables: &["suite-json", "task", "reference-solution", "task-grader"],
    },
    Page {
        file: "agent-skills.md",
        title: "Agent Skills",
        intro: "The keys of the [suite of a skill](../skills.md#the-suite-of-a-skill), a directory with `SKILL.md` and `evals/evals.json`.",
        tables: &["skill-evals", "old-skill", "skill-eval", "skill-expectation", "skill"],
    },
    Page {
        file: "graders.md",
        title: "Graders",
        intro: "An assertion is a text, which a judge checks as a criterion; an include; or a mapping with `type`. In a task, \
                `name` is the type, and its settings, `min_score` and `negate` are in `config`. \
                [How a case passes](../passing.md#graders) says what each grader does with missing data.",
        tables: &[],
    },
    Page {
        file: "workspace.md",
        title: "Workspaces and hooks",
        intro: "[How cases run](../runs.md#workspaces) explains them.",
        tables: &["workspace", "repo", "short-repo", "repo-source", "clone", "checkout", "hooks", "hook"],
    },
    Page {
        file: "calibration.md",
        title: "Calibrations",
        intro: "Human ratings that measure judges. [Judging](../judging.md#calibration) explains them.",
        tables: &["calibration", "minimum", "maximum", "sample"],
    },
];

/// Tables of graders that are not a type, on the page of graders.
const BELOW_GRADERS: &[&str] = &[
    "rust-grader",
    "answer-step",
    "criterion",
    "score-range",
    "prompt-command",
    "expected-call",
    "field",
    "aggregator",
    "include",
    "template",
];

/// Tables without a section, and where they are described.
const UNLISTED: &[(&str, &str)] = &[("rubric", "the old name of `rubrics`")];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference")
}

/// The file that shows a table.
fn page_of(id: &str) -> &'static str {
    let found = PAGES.iter().find(|page| page.tables.contains(&id));
    found.map_or("graders.md", |page| page.file)
}

#[test]
fn the_reference_is_that_of_the_tables() {
    let mut sections = Vec::new();
    for page in PAGES {
        compare(page.file, &page.render(&mut sections));
    }
}

/// Compares a page with the committed one, or writes it.
fn compare(file: &str, text: &str) {
    let path = directory().join(file);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "docs/reference/{file} differs from the tables of keys; update it with \
         `UPDATE_REFERENCE=1 cargo test -p evalsuite-loader --test reference`"
    );
}

#[test]
fn the_page_about_placeholders_is_that_of_the_tables() {
    compare("placeholders.md", &page::placeholders());
}

#[test]
fn every_table_is_on_one_page() {
    let graders = GRADERS.iter().map(|table| table.id).chain(BELOW_GRADERS.iter().copied());
    let listed: Vec<&str> = PAGES.iter().flat_map(|page| page.tables.iter().copied()).chain(graders).collect();
    let unique: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(unique.len(), listed.len(), "a table is on two pages");
    let all: BTreeSet<&str> = tables().iter().map(|table| table.id).collect();
    let unlisted: BTreeSet<&str> = UNLISTED.iter().map(|(id, _)| *id).collect();
    assert_eq!(all.difference(&unique).copied().collect::<BTreeSet<_>>(), unlisted);
    assert_eq!(unique.difference(&all).next(), None);
}
