//! A kind of source, and the suite that is made of its files, before it has a layout.

use std::path::{Path, PathBuf};

use crate::error::ConvertError;
use crate::output::Conversion;
use crate::report::{Place, Report};
use crate::source::Source;
use crate::suite_draft::{CasePlacement, SuiteDraft};
use crate::tasks::TaskWriter;

/// A suite that was made of a source.
#[derive(Debug)]
pub struct NewSuite {
    draft: SuiteDraft,
    report: Report,
    copied_from_outside: Vec<PathBuf>,
}

impl NewSuite {
    /// The suite, unless no case is left of its source.
    pub(crate) fn new(
        draft: SuiteDraft,
        report: Report,
        copied_from_outside: Vec<PathBuf>,
    ) -> Result<Self, ConvertError> {
        match draft.cases.is_empty() {
            true => Err(ConvertError::no_cases(report)),
            false => Ok(Self { draft, report, copied_from_outside }),
        }
    }

    /// The suite with an eval file.
    pub fn in_layout(self, layout: CasePlacement) -> Conversion {
        let output = self.draft.write_as(layout);
        Conversion { output, report: self.report, copied_from_outside: self.copied_from_outside }
    }

    /// The suite as `suite.json` with a JSON file per case in `tasks/`. What this layout cannot express is reported with the file in which
    /// it is missing, besides what became of the entries of the source.
    ///
    /// # Errors
    ///
    /// If no case can be a task.
    pub fn as_tasks(self) -> Result<Conversion, ConvertError> {
        let Self { mut draft, mut report, copied_from_outside } = self;
        // Lines of the source are not those of the files that the report names.
        for (id, case) in &mut draft.cases {
            case.place = Place::new(format!("tasks/{id}.json"), 0, "case");
        }
        let mut written = Report::default();
        let output = TaskWriter::write(draft, &mut written);
        report.add_losses(&written);
        match output {
            Some(output) => Ok(Conversion { output, report, copied_from_outside }),
            None => Err(ConvertError::no_cases(report)),
        }
    }
}

/// A kind of source that can be converted to a suite.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SourceKind {
    /// Its name, as in `cargo evalsuite convert --from NAME`.
    pub name: &'static str,
    /// What the source is.
    pub about: &'static str,
    pub(crate) is_source: fn(&Path) -> bool,
    pub(crate) convert: fn(Source) -> Result<NewSuite, ConvertError>,
}

impl SourceKind {
    /// Whether the file or directory at `path` is of this kind, from its name and its contents.
    pub fn is_kind_of(&self, path: &Path) -> bool {
        (self.is_source)(path)
    }

    /// Converts a source of this kind.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, is not of this kind, or has no case that can be converted.
    pub fn convert(&self, source: Source) -> Result<NewSuite, ConvertError> {
        (self.convert)(source)
    }
}
