//! Descriptions of the suites in test programs, for `cargo evalsuite run`: only the programs know the paths of their tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evalsuite_records::record::SuiteId;
use evalsuite_schema::json::{FromJsonOverDefault, ToJson};
use evalsuite_schema::sorting::map;

use crate::entry::run_error::{RunError, RunErrorKind};
use crate::model::evals::Evals;
use crate::model::suite::EvalSuite;
use crate::model::suite_location::{
    SuiteLocation, directory_of_file, own_directory, package_directory, program, shared_directories,
};
use crate::platform::digest::{file_key, sha256};
use crate::platform::environment;
use crate::platform::files::replace_json;
use crate::platform::redaction::Redactor;
use crate::record::cassette::cassette_directory;
use crate::record::run_record::package_in_workspace;

/// Environment variable with a directory for descriptions of suites.
///
/// While it is set, each test `suite_check` writes one JSON file with a [`SuiteDescription`] into the directory, and the other
/// generated tests do nothing.
pub const DESCRIBE_VARIABLE: &str = "EVALSUITE_DESCRIBE";

/// Environment variable with the tests that the build does not have, one per line: path of the test, id of the case, and the file that
/// defines the case, relative to the directory of the suite, with tabs between them. The file is empty where it defines several cases.
///
/// While it is set, each test `suite_check` runs those that are of its suite, with the feature `reload`, and prints their results as the
/// test harness does. It does not check the suite.
pub const NEW_CASES: &str = "EVALSUITE_NEW_CASES";

/// A case that is new since the build.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "reload"), expect(dead_code, reason = "only a reload reads files"))]
pub(crate) struct NewCase {
    /// Path of its test; below the suite's module once the suite is known.
    pub(crate) path: String,
    pub(crate) id: String,
    /// The file that defines it, relative to the directory of the suite; empty if that defines several cases.
    pub(crate) source: String,
}

/// The cases that [`NEW_CASES`] names.
pub(crate) fn new_cases() -> Option<Vec<NewCase>> {
    let lines = std::env::var(NEW_CASES).ok().filter(|lines| !lines.is_empty())?;
    let case = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        NewCase { path: next(), id: next(), source: next() }
    };
    Some(lines.lines().map(case).collect())
}

/// A suite in a test program.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct SuiteDescription {
    /// Displayed name of the suite: its name, until the readers of several descriptions choose
    /// [labels](SuiteId::labels).
    pub suite: String,
    /// Identity of the suite.
    pub id: SuiteId,
    /// Path of its test `suite_check`.
    pub check: String,
    /// The file that defines it, else its directory, relative to the workspace root.
    pub file: String,
    /// The tests of its cases, in order.
    pub tests: Vec<TestDescription>,
    /// Its directory.
    pub directory: PathBuf,
    /// The files that describe the suite and its cases, relative to the root of the workspace.
    pub files: BTreeSet<String>,
    /// The directories that belong to one case each.
    pub case_directories: BTreeSet<PathBuf>,
    /// Variables with base URLs of models, besides those that clients read.
    #[json(default)]
    pub model_urls: BTreeSet<String>,
    /// Where its recordings are; `None` if they cannot be there.
    #[json(default)]
    pub recordings: Option<PathBuf>,
}

/// The test of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct TestDescription {
    /// Path of the test, as `cargo test` lists it.
    pub test: String,
    /// Id of the case.
    pub case_id: String,
    /// Tags of the case.
    pub tags: Vec<String>,
    /// `failure_bucket` of the case's metadata.
    pub bucket: Option<String>,
    /// Its target in a matrix.
    pub target: Option<String>,
    /// The target that the case names.
    #[json(default)]
    pub own_target: Option<String>,
    /// Number of trials that the files plan.
    #[json(default)]
    pub trials: u32,
    /// Whether its trials within one run resemble each other.
    #[json(default)]
    pub correlated: bool,
    /// Metadata of the case, each value as JSON.
    #[json(default)]
    pub metadata: BTreeMap<String, String>,
}

/// Whether the generated tests have to describe their suite instead of testing.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(DESCRIBE_VARIABLE).is_some_and(|directory| !directory.is_empty())
}

/// Writes the description of a suite into the directory that the variable names.
pub(crate) fn write(evals: &Evals) -> Result<(), RunError> {
    let suite = evals.suite();
    let Some(directory) = std::env::var_os(DESCRIBE_VARIABLE) else { return Ok(()) };
    let undecodable = |what: &str| {
        let message = format!("{what} cannot be decoded");
        move |error| RunError::new(RunErrorKind::Suite, message).with_source(error)
    };
    let places = SuiteLocation::of(suite);
    let about = suite.decode().map_err(undecodable("the suite"))?;
    let mut files = BTreeSet::from([about.location.file.clone()]);
    let mut case_directories = BTreeSet::new();
    let shared = shared_directories(suite);
    let mut tests = Vec::new();
    for entry in suite.cases {
        let case = entry.decode().map_err(undecodable(&format!("case `{}`", entry.id)))?;
        files.insert(entry.file.to_owned());
        let is_shared = shared.contains(directory_of_file(entry));
        case_directories.extend(own_directory(is_shared, &case.dir, &places));
        tests.push(TestDescription {
            test: suite.test_path(entry),
            case_id: entry.id.to_owned(),
            tags: entry.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            bucket: case.metadata.get("failure_bucket").and_then(|bucket| bucket.as_str()).map(str::to_owned),
            target: entry.target.map(str::to_owned),
            own_target: case.target.clone(),
            trials: case.trials.count,
            correlated: case.trials.correlated,
            metadata: map(case.metadata.iter().map(|(key, value)| (key.clone(), value.to_string()))),
        });
    }
    let named = environment::var_os("EVALSUITE_CASSETTES").filter(|directory| !directory.is_empty());
    let recordings = cassette_directory(&package_directory(suite), named.as_deref().map(Path::new), &places);
    let mut id = suite.id();
    id.package_directory = package_in_workspace(suite);
    let description = SuiteDescription {
        suite: id.name.clone(),
        id,
        check: suite.path_of_test("suite_check"),
        file: about.location.file,
        tests,
        directory: places.suite_dir,
        files,
        case_directories,
        model_urls: evals.model_urls.clone(),
        recordings: recordings.ok().map(|directory| directory.join(file_key(suite.name))),
    };
    write_about(suite, Path::new(&directory), &description, &Redactor::default())
}

/// Writes a file about this inclusion of the suite into a directory of the command line.
pub(crate) fn write_about(
    suite: &EvalSuite,
    directory: &Path,
    about: &dyn ToJson,
    redactor: &Redactor,
) -> Result<(), RunError> {
    let inclusion = sha256(format!("{}\0{}", program(), suite.module_path));
    let file = directory.join(format!("{}-{}.json", suite.key(), &inclusion[..16]));
    replace_json(&file, about, redactor)
        .map_err(|error| RunError::records(format!("{} cannot be written", file.display())).with_source(error))
}
