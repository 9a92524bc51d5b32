//! Every key that a file of a suite can have: one static table per object.
//!
//! The reader takes from these tables which keys exist, their old spellings and the words they accept. The reference in
//! `docs/reference` and the JSON Schemas for editors are made from the same tables. A key that is read and has no line here
//! is unknown to the reader, and a line that nothing reads fails a test.

mod json_schema;
pub mod placeholder;

#[cfg(test)]
mod tests;

use evalsuite_schema::grader::OldRubric;
use evalsuite_schema::grader::keys::{Template, grader_table};
use evalsuite_schema::{Calibration, Case, Sample, Skill, SkillEvals, Suite, SuiteJson, TargetsFile, Task, Workspace};

pub use evalsuite_schema::grader::TABLES as GRADERS;
pub use evalsuite_schema::grader::keys::{GRADER_KEYS, RUST_GRADER, TASK_GRADER_KEYS};
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
