//! All tables of keys, one per object that a file of a suite can have. The keys are stated in `schema`, on the fields that hold their values.
//!
//! The reader takes from these tables which keys exist, their old spellings and the words they accept. The reference in
//! `docs/reference` and the JSON Schemas for editors are made from the same tables. A key that is read and is in no table is unknown to the
//! reader, and a key that nothing reads fails a test.
//!
//! Placeholders: names in braces that are filled with values of a trial.

mod json_schema;

use evalsuite_schema::grader::OldRubric;
use evalsuite_schema::grader::common_keys::{Template, grader_table};
use evalsuite_schema::{Calibration, Case, Sample, Skill, SkillEvals, Suite, SuiteJson, TargetsFile, Task, Workspace};

pub use evalsuite_schema::grader::TABLES as GRADERS;
pub use evalsuite_schema::grader::common_keys::{GRADER_KEYS, RUST_GRADER, TASK_GRADER_KEYS};
pub use evalsuite_schema::keys::{Key, Keys, Range, SCHEMA_KEY, Status, Table, Type, range};
pub use json_schema::json_schema;

/// The old type `rubric`.
pub(crate) static RUBRIC: Table = grader_table(
    OldRubric::TABLE,
    "rubric",
    "`rubric`",
    "The old name of `rubrics`.",
    "{ type: rubrics, criteria: [Names the order number] }",
);

/// The kinds of files, by the name that `cargo evalsuite schema` has for them, with what their root is.
pub const FILES: &[(&str, Type)] = &[
    ("eval", Type::Object(Suite::TABLE)),
    ("case", Type::Object(Case::IN_FILE)),
    ("cases", Type::List(&Type::Object(Case::IN_LIST))),
    ("suite", Type::Object(SuiteJson::TABLE)),
    ("task", Type::Object(Task::TABLE)),
    ("evals", Type::Object(SkillEvals::TABLE)),
    ("skill", Type::Object(Skill::TABLE)),
    ("calibration", Type::Object(Calibration::TABLE)),
    ("samples", Type::List(&Type::Object(Sample::TABLE))),
    ("targets", Type::Object(TargetsFile::TABLE)),
    ("template", Type::Object(Template::TABLE)),
    ("workspace", Type::Object(Workspace::TABLE)),
];

/// Every table: those of the roots of [`FILES`] and what is below them, then those of graders.
pub fn tables() -> Vec<&'static Table> {
    let mut found = Vec::new();
    for (_, root) in FILES {
        collect(root, &mut found);
    }
    found.extend(GRADERS.iter().copied().chain([RUST_GRADER, &RUBRIC]));
    let mut next = 0;
    while let Some(table) = found.get(next) {
        for key in table.all_keys() {
            collect(&key.value, &mut found);
        }
        next += 1;
    }
    found
}

fn collect(value: &Type, found: &mut Vec<&'static Table>) {
    match value {
        Type::Object(table) if found.iter().all(|known| known.id != table.id) => found.push(table),
        Type::List(of) | Type::Some(of) | Type::Map(of) => collect(of, found),
        Type::OneOf(types) => types.iter().for_each(|of| collect(of, found)),
        _ => {}
    }
}

/// A placeholder.
#[derive(Debug)]
#[non_exhaustive]
pub struct Placeholder {
    /// The name between the braces.
    pub name: &'static str,
    /// What it is filled with.
    pub doc: &'static str,
}

const fn placeholder(name: &'static str, doc: &'static str) -> Placeholder {
    Placeholder { name, doc }
}

/// Whether `name` is one of the placeholders.
pub(crate) fn is_known(known: &[Placeholder], name: &str) -> bool {
    known.iter().any(|placeholder| placeholder.name == name)
}

/// The names of placeholders.
pub(crate) fn placeholder_names(known: &[Placeholder]) -> Vec<&'static str> {
    known.iter().map(|placeholder| placeholder.name).collect()
}

/// `{{ name }}` in the command of a hook.
pub static OF_HOOKS: &[Placeholder] = &[
    placeholder("workspace_path", "absolute path of the workspace"),
    placeholder("test_id", "id of the case; around all trials, a name in underscores"),
    placeholder("eval_run_id", "id of the run"),
    placeholder("case_input", "text of the input; empty around all trials"),
    placeholder("case_metadata", "`metadata` of the case as JSON; empty around all trials"),
    placeholder("suite_dir", "absolute path of the suite's directory"),
    placeholder("case_dir", "absolute path of the directory of the case's file; empty around all trials"),
    placeholder("target", "name of the target; empty without one"),
];

/// `{NAME}` in the command of a targets file.
pub static OF_COMMANDS: &[Placeholder] = &[
    placeholder("PROMPT", "the prompt, quoted for the shell"),
    placeholder("PROMPT_FILE", "path of a file with the prompt"),
    placeholder("EVAL_ID", "id of the case"),
    placeholder("ATTEMPT", "index of the trial, from 0"),
    placeholder("MCP_CONFIG", "path of a file with the servers of `mcp`, which is removed after the call"),
    placeholder("FILES", "the input files, each as `files_format` says"),
    placeholder(
        "OUTPUT_FILE",
        "path of the file to which the command has to write its answer; what it prints is only logged",
    ),
];

/// `{{ name }}` in a prompt of a judge.
pub static OF_PROMPTS: &[Placeholder] = &[
    placeholder("input", "what the agent was asked"),
    placeholder("output", "the answer"),
    placeholder("expected_output", "the reference answer"),
    placeholder("criteria", "`criteria` of the case"),
    placeholder("file_changes", "changes in the workspace, as a unified diff"),
    placeholder("tool_calls", "the tool calls of the agent"),
];

/// `{{ name }}` in the prompt of an aggregator.
pub static OF_AGGREGATORS: &[Placeholder] =
    &[placeholder("EVALUATOR_RESULTS_JSON", "the results of the members as JSON")];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use evalsuite_schema::grader::BUILT_IN;

    use super::{GRADERS, tables};

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
}
