//! Verifies the claim of a diagnostic.
//!
//! The text at its location is read with a second YAML reader and compared with the description of the format: the key
//! really is unknown, the value really has that type, the file really is missing. A false claim fails the record,
//! whatever the reference did.

mod case;
mod files;
mod format_tables;
mod grader;
mod keys;
mod paths;
mod suite;
mod values;

use std::path::Path;

use evalsuite_loader::source::Files;
use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::{Code, Diagnostic};

use crate::record::Record;
use crate::source_excerpt::SourceExcerpt;

pub(crate) use self::paths::resolve;

/// A diagnostic and everything it can be checked against.
#[derive(Debug)]
pub struct Claim<'a> {
    /// Its code.
    pub code: Code,
    /// Its message.
    pub message: &'a str,
    /// The words of the message in backticks.
    pub quoted: Vec<&'a str>,
    /// Where it points.
    pub place: SourceExcerpt,
    /// Other locations it names.
    pub related: Vec<SourceExcerpt>,
    /// The record.
    pub record: &'a Record,
    /// Directory of the record's files.
    pub root: &'a Path,
}

/// Checks a diagnostic; the error says which claim is false.
pub fn verify(diagnostic: &Diagnostic, files: &Files, record: &Record, root: &Path) -> Result<(), String> {
    let claim = Claim {
        code: diagnostic.code,
        message: &diagnostic.message,
        quoted: quoted(&diagnostic.message),
        place: SourceExcerpt::of(diagnostic, files),
        related: diagnostic.related.iter().map(|related| SourceExcerpt::at(&related.place, files)).collect(),
        record,
        root,
    };
    claim.check().map_err(|reason| {
        let shown = claim.place.path.strip_prefix(root).unwrap_or(&claim.place.path).display().to_string();
        let (line, column) = (claim.place.start.line, claim.place.start.column);
        let text = claim.place.text.as_deref().unwrap_or("the whole file");
        format!("{} at {shown}:{line}:{column} says \"{}\", but {reason} (there: {text:?})", claim.code, claim.message)
    })
}

impl Claim<'_> {
    fn check(&self) -> Result<(), String> {
        use Code::*;
        match self.code {
            UnreadableFile | InvalidUtf8 | YamlSyntax | JsonSyntax | DuplicateKey | MultipleDocuments
            | RootNotMapping | LimitExceeded | BadMergeKey => files::check(self),
            EntryNotFound | UnsupportedSuiteFile | NoCases | TwoCaseFiles | MissingTests | InvalidTests
            | InvalidExternalFile | IncludeNotFound | IncludeCycle | MissingCaseFile | UnusedFile
            | NamesDifferInCase => suite::check(self),
            PathEscape | MissingPath | EmptyFile | ArgumentNotFound => paths::check(self),
            UnknownKey | MissingKey | ConflictingKeys | UnsupportedKey | NearMissKey | DeprecatedKey | NoEffect => {
                keys::check(self)
            }
            WrongType
            | BlankValue
            | InvalidChoice
            | OutOfRange
            | InterpolationNotAllowed
            | InvalidId
            | InvalidSuiteName
            | InvalidWeight
            | DeprecatedValue => values::check(self),
            DuplicateId
            | TestNameCollision
            | MissingInput
            | NothingToGrade
            | InvalidInput
            | InputFilesWithMessages
            | InvalidMessage
            | InvalidContentPart
            | InvalidExpectedOutput
            | ConversationMismatch
            | UnknownDependency
            | DependencyCycle
            | RoleMarker
            | InvalidTarget => case::check(self),
            _ => grader::check(self),
        }
    }

    /// The value at the location. Parts that the second reader cannot read on their own, such as aliases, cannot be checked.
    fn value(&self) -> Option<&Value> {
        self.place.value.as_ref()
    }

    /// The mapping at the location.
    fn mapping(&self) -> Option<&evalsuite_schema::Object> {
        self.value().and_then(Value::as_object)
    }

    /// Whether the text at the location can only be read with the rest of its file.
    fn needs_rest_of_file(&self) -> bool {
        self.place.text.as_deref().is_some_and(|text| text.contains('*') || text.contains("<<"))
    }
}

/// Returns an error unless `condition` holds.
fn ensure(condition: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(reason()) }
}

/// The words of a message in backticks.
fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// Whether a key is absent or null.
fn lacks(mapping: &evalsuite_schema::Object, key: &str) -> bool {
    mapping.get(key).is_none_or(Value::is_null)
}
