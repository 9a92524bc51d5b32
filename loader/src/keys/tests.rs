//! The tables and the reader agree.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;

use evalsuite_schema::grader::BUILT_IN;
use evalsuite_schema::grader::keys::Include;

use super::{GRADERS, Key, Keys, tables};
use crate::calibration::load_calibration;
use crate::load::load;
use crate::request::Request;
use crate::targets_file::load_targets;

thread_local! {
    /// The keys that this thread read.
    pub(super) static READ: RefCell<HashSet<*const Key>> = RefCell::default();
}

/// An eval file in which every object of the cases layout occurs.
const EVAL_FILE: &str = "
requires: {}
input: [{role: user, content: [{type: text, value: x}], tool_calls: [{tool: x}]}]
execution: {trials: {}, targets: [{name: a, skill: {}, hooks: {before_all: {command: x}}}]}
preprocessors: [{}]
workspace: {repos: [{source: {}, clone: {}, checkout: {}}, {repo: x}], hooks: {before_each: {}}}
tests:
  - id: a
    execution: {}
    requires: {}
    mode: conversation
    turns: [{}]
    conversation: {user: {}}
  - id: b
    input: x
    examples: {pass: [{}]}
    assertions:
";

/// A list of assertions in which every object of a grader occurs.
fn assertions(indent: &str) -> String {
    let mut lines: Vec<String> = GRADERS.iter().map(|table| format!("{{type: {}}}", table.id)).collect();
    lines.extend([
        "{type: mine, examples: {fail: [{}]}}".to_owned(),
        "{type: rubric}".to_owned(),
        "{type: is-json, transform: [{}]}".to_owned(),
        "{type: tool-trajectory, mode: in_order, expected: [{}]}".to_owned(),
        "{type: field-accuracy, fields: [{}]}".to_owned(),
        "{type: composite, assertions: [x], aggregator: {}}".to_owned(),
        "{type: llm-grader, prompt: {}, rubrics: [{score_ranges: [{}]}]}".to_owned(),
        "{include: ./template.yaml}".to_owned(),
    ]);
    lines.iter().map(|line| format!("{indent}- {line}\n")).collect()
}

/// Reads files in which every object occurs, right or wrong.
fn read_everything(root: &Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("cases/EVAL.yaml", &format!("{EVAL_FILE}{}", assertions("      ")));
    write("cases/template.yaml", "assertions: [x]");
    write("directories/EVAL.yaml", "{}");
    write("directories/cases/a/case.yaml", "input: x");
    write("tasks/suite.json", "{}");
    write(
        "tasks/tasks/a.json",
        r#"{"reference_solution": {}, "graders": [{"name": "is-json"}], "examples": {}, "probe": {}}"#,
    );
    write("skill/SKILL.md", "---\nname: skill\n---\n");
    write("skill/evals/evals.json", r#"{"arms": [{}], "evals": [{"expectations": [{}]}]}"#);
    write("calibration.yaml", "{minimum: {}, maximum: {}, samples: [{}, {case: a}]}");
    write(
        "targets.yaml",
        "targets: [{name: a, provider: cli, healthcheck: {}, network: {}, mcp: {servers: {a: {}}, faults: [{}]}}, \
                   {name: b, provider: acp, permissions: [{}]}]",
    );
    let mut request = Request::new("", root);
    request.threads = 1;
    for entry in ["cases", "directories", "tasks", "skill"] {
        request.entry = entry.to_owned();
        load(&request);
    }
    load_calibration(&root.join("calibration.yaml"), &request);
    load_targets(&root.join("targets.yaml"), &request);
}

#[test]
fn every_key_of_a_table_is_read() {
    let package = tempfile::tempdir().unwrap();
    read_everything(package.path());
    let is_read = |key: &Key| READ.with_borrow(|read| read.contains(&std::ptr::from_ref(key)));
    let mut unread = Vec::new();
    for table in tables() {
        // The only key of an include is matched without a reader of keys.
        if table.id != Include::TABLE.id {
            unread.extend(table.all_keys().filter(|key| !is_read(key)).map(|key| format!("{} {}", table.id, key.name)));
        }
    }
    assert_eq!(unread, Vec::<String>::new(), "keys of tables that nothing reads");
}

#[test]
fn a_table_has_each_key_once() {
    for table in tables() {
        let mut names = HashSet::new();
        for key in table.all_keys() {
            for name in [key.name].iter().chain(key.old).copied().chain(key.or) {
                assert!(names.insert(name), "`{name}` is twice in {}", table.id);
            }
        }
    }
}

#[test]
fn ids_of_tables_are_unique() {
    let mut ids = HashSet::new();
    for table in tables() {
        assert!(ids.insert(table.id), "{}", table.id);
    }
}

#[test]
fn every_built_in_grader_has_a_table() {
    let ids: Vec<&str> = GRADERS.iter().map(|table| table.id).collect();
    assert_eq!(ids, BUILT_IN);
    assert!(ids.iter().all(|id| crate::graders::built_in(id).is_some_and(|known| known.id == *id)));
}
