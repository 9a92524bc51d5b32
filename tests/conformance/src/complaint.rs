//! Complaints of the reference, and the diagnostics of ours that correspond to them.

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code::*;
use evalsuite_schema::diagnostics::{Code, Diagnostic};

use crate::record::Record;

/// A line in which the reference reports a problem.
#[derive(Debug, Clone)]
pub struct Complaint {
    /// The line.
    pub text: String,
    /// Its consequence.
    pub effect: Effect,
    /// Codes of the corresponding diagnostics; one of them is enough.
    pub codes: &'static [Code],
    /// The directory that the diagnostic must name.
    pub directory: Option<String>,
    /// The case that the diagnostic must point into.
    pub case: Option<String>,
}

/// The consequence of a complaint in the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The whole suite is rejected.
    Suite,
    /// A case, or a part of one, is dropped.
    Part,
    /// Nothing is dropped.
    Note,
    /// It is about a file that only the reference reads.
    OtherFile,
    /// The line is not in the table: then the tests have to be equal, or we report errors of our own.
    Unknown,
}

/// What may be missing or wrong in an incomplete case.
const INCOMPLETE: &[Code] = &[
    UnknownKey,
    InvalidId,
    MissingKey,
    BlankValue,
    MissingInput,
    InvalidInput,
    InputFilesWithMessages,
    InvalidMessage,
    InvalidContentPart,
    InvalidExpectedOutput,
    NothingToGrade,
    WrongType,
    ConversationMismatch,
    OutOfRange,
    // The file with the case is not read.
    PathEscape,
    TwoCaseFiles,
];
const YAML: &[Code] =
    &[YamlSyntax, RootNotMapping, DuplicateKey, MultipleDocuments, BadMergeKey, LimitExceeded, InvalidUtf8];
const PATH: &[Code] = &[MissingPath, PathEscape, InvalidTests, NoCases, UnreadableFile];
const FILE: &[Code] = &[MissingPath, PathEscape, BlankValue, UnreadableFile];
const ENTRY: &[Code] = &[UnsupportedSuiteFile, EntryNotFound, RootNotMapping, AmbiguousLayout];
const SHAPE: &[Code] = &[InvalidExternalFile, RootNotMapping, NoCases, InvalidTests, PathEscape];
/// A case that is dropped for another reason is missing for the cases that depend on it.
const DEPENDENCY: &[Code] = &[
    UnknownDependency,
    InvalidId,
    BlankValue,
    NothingToGrade,
    MissingInput,
    InvalidInput,
    InvalidMessage,
    MissingKey,
    WrongType,
];
const LINE: &[Code] = &[JsonSyntax, RootNotMapping, InvalidExternalFile];
const INCLUDE: &[Code] = &[IncludeNotFound, IncludeCycle, InvalidExternalFile, PathEscape, BlankValue];
const SETTING: &[Code] = &[
    MissingGraderSetting,
    WrongType,
    BlankValue,
    InvalidChoice,
    OutOfRange,
    InvalidRegex,
    InvalidScoreRanges,
    InvalidRubric,
    InvalidComposite,
    FieldNotInExpected,
    InvalidCommand,
    InvalidWeight,
    SettingConflict,
    UnsupportedKey,
    UnknownKey,
    MissingPath,
    UnknownGrader,
    RemovedGraderType,
    MissingKey,
    NearMissKey,
    ZeroTotalWeight,
    PathEscape,
];
const REMOVED: &[Code] = &[RemovedGraderType, InvalidComposite];
const MARK: &[Code] = &[DeprecatedValue, ConflictingKeys, OutOfRange, InvalidRubric];
const OLD: &[Code] = &[DeprecatedKey, ConflictingKeys];

/// Parts of the reference's lines, with their consequences and codes. The first match wins.
const KNOWN: &[(&str, Effect, &[Code])] = &[
    ("Could not read .agentv/config.yaml", Effect::OtherFile, &[]),
    ("Invalid .agentv/config.yaml", Effect::OtherFile, &[]),
    (".agentv/config.yaml, expected", Effect::OtherFile, &[]),
    ("sidecar metadata", Effect::OtherFile, &[NoEffect]),
    ("-judge' is deprecated", Effect::Part, REMOVED),
    ("_judge' is deprecated", Effect::Part, REMOVED),
    ("'required: ", Effect::Note, MARK),
    ("'required_min_score: ", Effect::Note, MARK),
    ("is deprecated", Effect::Note, OLD),
    ("Must include at least one of", Effect::Part, &[PromptWithoutAnswer]),
    ("invalid variables", Effect::Note, &[UnknownTemplateVariable]),
    ("has been renamed", Effect::Suite, &[UnsupportedKey]),
    ("Skipping incomplete test", Effect::Part, INCOMPLETE),
    ("Skipping invalid test entry", Effect::Part, &[InvalidTests]),
    ("Skipping eval case", Effect::Part, ENTRY),
    ("Skipping directory", Effect::Part, &[MissingCaseFile, PathEscape, InvalidTests]),
    ("Skipping empty string criterion", Effect::Part, &[BlankValue]),
    ("Skipping invalid member", Effect::Part, &[WrongType, BlankValue]),
    ("Assertion template", Effect::Part, INCLUDE),
    ("assertion template", Effect::Part, INCLUDE),
    ("Invalid weight", Effect::Part, &[InvalidWeight]),
    ("score_ranges", Effect::Suite, &[InvalidScoreRanges, InvalidRubric, WrongType, BlankValue]),
    ("prompt file not found", Effect::Part, &[MissingPath, PathEscape]),
    ("command file not found", Effect::Suite, &[MissingPath, PathEscape, InvalidCommand]),
    ("preprocessor", Effect::Suite, SETTING),
    ("cwd not found", Effect::Part, FILE),
    ("Workspace file not found", Effect::Suite, &[MissingPath, BlankValue, PathEscape]),
    ("ile not found", Effect::Part, FILE),
    ("Could not read", Effect::Part, FILE),
    ("Unsupported image extension", Effect::Part, &[InvalidContentPart]),
    ("External test file is empty", Effect::Part, SHAPE),
    ("External test file", Effect::Suite, SHAPE),
    ("Unsupported external test file format", Effect::Suite, &[InvalidTests, MissingPath]),
    ("Cannot read external test file", Effect::Suite, PATH),
    ("Case file must contain", Effect::Suite, &[RootNotMapping]),
    ("missing 'tests' field", Effect::Suite, &[MissingTests, InvalidTests, UnknownKey]),
    ("Invalid test file format", Effect::Suite, ENTRY),
    ("Unsupported file format", Effect::Suite, ENTRY),
    ("Agent Skills", Effect::Suite, ENTRY),
    ("Invalid workspace file", Effect::Suite, &[InvalidExternalFile, RootNotMapping]),
    ("has been removed", Effect::Suite, &[UnsupportedWorkspace, InvalidHook]),
    ("Unsupported grader", Effect::Suite, &[RemovedGraderType, InvalidChoice]),
    ("Unknown grader", Effect::Note, &[InvalidChoice]),
    ("Malformed JSONL", Effect::Suite, LINE),
    ("Invalid JSON", Effect::Suite, LINE),
    ("Expected JSON object", Effect::Suite, LINE),
    ("Duplicate test ID", Effect::Suite, &[DuplicateId]),
    ("depends on itself", Effect::Suite, &[UnknownDependency]),
    ("no test with that ID", Effect::Suite, DEPENDENCY),
    ("ircular dependency", Effect::Suite, &[DependencyCycle]),
    ("Invalid execution.", Effect::Note, &[OutOfRange, WrongType, InvalidChoice]),
    ("No eval", Effect::Suite, &[]),
    // A template that cannot be read.
    ("EISDIR", Effect::Part, &[IncludeNotFound, MissingPath, UnreadableFile, PathEscape]),
    (", column ", Effect::Part, YAML),
    ("Unresolved alias", Effect::Part, YAML),
    ("Skipping ", Effect::Part, SETTING),
    ("Invalid ", Effect::Part, SETTING),
    ("must be ", Effect::Part, SETTING),
];

/// Every complaint of a record, in order.
pub fn all(record: &Record) -> Vec<Complaint> {
    let expected = record.expected();
    let mut found: Vec<Complaint> = Vec::new();
    for line in expected["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.push(known(line));
    }
    if let Some(line) = expected["error"].as_str() {
        let mut complaint = match expected["error_kind"].as_str() {
            Some("yaml" | "js-RangeError") => suite(line.to_owned(), YAML),
            Some("io") => suite(line.to_owned(), &[EntryNotFound, MissingPath, NoCases, NoSuiteFile]),
            Some("metadata-schema") => suite(text_of(expected), METADATA),
            _ => known(line),
        };
        complaint.effect = Effect::Suite;
        found.push(complaint);
    }
    // The reference checks dependencies when the suite runs, and rejects the whole run.
    if let Some(line) = expected["run"]["error"].as_str() {
        found.push(Complaint { effect: Effect::Suite, ..known(line) });
    }
    found
}

/// Problems that the reference's check of name, description, version, tags and the like can find.
const METADATA: &[Code] = &[InvalidSuiteName, WrongType, OutOfRange, BlankValue, MissingKey];

fn text_of(expected: &Value) -> String {
    expected["error_full"].as_str().or(expected["error"].as_str()).unwrap_or_default().to_owned()
}

/// The id of a case that is dropped as incomplete; `None` if the id itself is wrong.
fn incomplete_case(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("Skipping incomplete test")?;
    let (id, _) = rest.split_once(": ")?.1.split_once(". Missing required fields")?;
    (!id.is_empty() && id != "unknown").then(|| id.to_owned())
}

/// Whether a diagnostic says that a value or a file cannot be used at all, whatever the reference does with it: what is
/// decided at compile time cannot wait for a variable, and we do not read some numbers, texts and YAML.
pub fn is_unusable_input(diagnostic: &Diagnostic) -> bool {
    match diagnostic.code {
        InterpolationNotAllowed | InvalidUtf8 | YamlSyntax | DuplicateKey | MultipleDocuments | LimitExceeded => true,
        WrongType => diagnostic.message.contains("not finite"),
        JsonSyntax => ["too large", "surrogate"].iter().any(|part| diagnostic.message.contains(part)),
        _ => false,
    }
}

fn suite(text: String, codes: &'static [Code]) -> Complaint {
    Complaint { text, effect: Effect::Suite, codes, directory: None, case: None }
}

fn known(line: &str) -> Complaint {
    let found = KNOWN.iter().find(|(part, _, _)| line.contains(part));
    let (effect, codes) = found.map_or((Effect::Unknown, Code::ALL), |(_, effect, codes)| (*effect, *codes));
    let directory = line.contains("Skipping directory").then(|| line.split('\'').nth(1).unwrap_or_default().to_owned());
    Complaint { text: line.to_owned(), effect, codes, directory, case: incomplete_case(line) }
}
