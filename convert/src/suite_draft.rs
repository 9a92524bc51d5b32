//! A suite that is being made: its settings, its cases and the files that they use.

use evalsuite_loader::document::{Data, Document, Value};

use crate::output::Output;
use crate::report::Place;
use crate::yaml_writer;

/// Where a suite with an eval file has its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CasePlacement {
    /// In `tests` of EVAL.yaml.
    File,
    /// In `cases/ID/case.yaml`.
    Directories,
}

/// A suite that is being made.
#[derive(Debug, Default)]
pub(crate) struct SuiteDraft {
    /// What EVAL.yaml says, without `tests`.
    pub(crate) settings: Vec<(String, Value)>,
    /// The cases by id; an entry `id` is added.
    pub(crate) cases: Vec<(String, CaseDraft)>,
    /// Comments above the cases, and after the last one.
    pub(crate) above: Vec<String>,
    pub(crate) end: Vec<String>,
    /// Other files.
    pub(crate) output: Output,
}

/// A case that is being made.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaseDraft {
    pub(crate) entries: Vec<(String, Value)>,
    /// Comments above the case.
    pub(crate) above: Vec<String>,
    /// Where it is written.
    pub(crate) place: Place,
}

impl SuiteDraft {
    /// The files of the suite in a layout.
    pub(crate) fn write_as(mut self, layout: CasePlacement) -> Output {
        let tests = match layout {
            CasePlacement::File => {
                let case = |(id, case): (String, CaseDraft)| {
                    let mut entries = vec![("id".to_owned(), Value::text(id))];
                    entries.extend(case.entries);
                    Value { above: case.above, ..Value::new(Data::Mapping(entries)) }
                };
                Value::new(Data::List(self.cases.into_iter().map(case).collect()))
            }
            CasePlacement::Directories => {
                for (id, case) in self.cases {
                    let mut entries = case.entries;
                    if let Some((_, first)) = entries.first_mut() {
                        first.above.splice(0..0, case.above);
                    }
                    self.output.add(format!("cases/{id}/case.yaml"), mapping(entries, Vec::new()));
                }
                Value::text("./cases/")
            }
        };
        self.settings.push(("tests".to_owned(), Value { above: self.above, ..tests }));
        self.output.add("EVAL.yaml", mapping(self.settings, self.end));
        self.output
    }
}

/// The text of a file that holds a mapping.
pub(crate) fn mapping(entries: Vec<(String, Value)>, end: Vec<String>) -> String {
    yaml_writer::write(&Document { root: Value::new(Data::Mapping(entries)), end })
}

/// An entry without comments.
pub(crate) fn entry(key: &str, value: impl Into<evalsuite_schema::Value>) -> (String, Value) {
    (key.to_owned(), Value::from(value.into()))
}
