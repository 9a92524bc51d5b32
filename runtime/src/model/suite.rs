//! Suites and cases as they are compiled into a program, with most of their data as JSON; and suites that were loaded while the program runs, in
//! the same form.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_records::record::SuiteId;
use evalsuite_schema::digest::CaseDigests;
#[cfg(feature = "tooling")]
use evalsuite_schema::json::to_string;
use evalsuite_schema::{Calibration, Case, Suite};

use crate::platform::accessors::getters;
use crate::platform::digest::name_with_digest;
use crate::platform::json;

/// A suite as it was compiled into this program.
///
/// `include_eval_suite!` generates one as the constant `SUITE`. Its data is decoded only when it is needed.
///
/// ```
/// use evalsuite::EvalSuite;
///
/// evalsuite::include_eval_suite!("suites/card_agent", agent = none);
///
/// fn main() {
///     let suite: &EvalSuite = &card_agent::SUITE;
///     assert_eq!((suite.name(), suite.cases().len()), ("card_agent", 2));
///     let case = suite.find("meeting").expect("the case exists");
///     assert_eq!(case.test_name(), "positive::meeting");
/// }
/// ```
#[derive(Debug)]
pub struct EvalSuite {
    #[doc(hidden)]
    pub name: &'static str,
    #[doc(hidden)]
    pub agent_name: Option<&'static str>,
    #[doc(hidden)]
    pub module_path: &'static str,
    #[doc(hidden)]
    pub package: &'static str,
    #[doc(hidden)]
    pub package_version: &'static str,
    #[doc(hidden)]
    pub manifest_dir: &'static str,
    #[doc(hidden)]
    pub root: &'static str,
    #[doc(hidden)]
    pub json: CompiledJson,
    #[doc(hidden)]
    pub sources: &'static [(&'static str, &'static str)],
    #[doc(hidden)]
    pub diagnostics: &'static [(&'static str, &'static str)],
    #[doc(hidden)]
    pub embedded: Option<&'static [(&'static str, &'static [u8])]>,
    #[doc(hidden)]
    pub origin: Option<&'static Origin>,
    #[doc(hidden)]
    pub calibration: Option<&'static str>,
    #[doc(hidden)]
    pub cases: &'static [EvalCase],
}

impl EvalSuite {
    /// The case with this id; in a matrix the one of the first target.
    pub fn find(&self, id: &str) -> Option<&'static EvalCase> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// The settings of the suite, without its cases.
    ///
    /// # Errors
    ///
    /// If the compiled text is not a suite of this version. This cannot happen in generated code.
    pub fn decode(&self) -> serde_json::Result<Suite> {
        json::decode(self.json.text().as_bytes())
    }

    /// The settings of the suite, decoded once per process.
    pub(crate) fn data(&self) -> serde_json::Result<Arc<Suite>> {
        /// By the address of the text, which stays where it is as long as the program runs.
        static DECODED: Mutex<BTreeMap<usize, Arc<Suite>>> = Mutex::new(BTreeMap::new());
        let mut decoded = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
        let address = self.json.text().as_ptr().addr();
        if let Some(suite) = decoded.get(&address) {
            return Ok(Arc::clone(suite));
        }
        let suite = Arc::new(self.decode()?);
        decoded.insert(address, Arc::clone(&suite));
        Ok(suite)
    }

    /// The calibration of the suite's judges, if the suite has a `calibration.yaml`.
    ///
    /// # Errors
    ///
    /// If the compiled text is not a calibration of this version. This cannot happen in generated code.
    pub fn decode_calibration(&self) -> serde_json::Result<Option<Calibration>> {
        self.calibration.map(|text| json::decode(text.as_bytes())).transpose()
    }

    /// Path of a case's test as `cargo test` lists it.
    pub fn test_path(&self, case: &EvalCase) -> String {
        self.path_of_test(case.test_name)
    }

    /// Path of the test with this name, without the crate.
    pub(crate) fn path_of_test(&self, name: &str) -> String {
        match self.module_path.split_once("::") {
            Some((_crate_name, module)) => format!("{module}::{name}"),
            None => name.to_owned(),
        }
    }

    /// Name of the suite's directory in a run, and part of the names of its locks. It depends on package and path, since suites of other
    /// packages may have the same name, and not on where the package is.
    pub(crate) fn key(&self) -> String {
        name_with_digest(self.name, format!("{}\0{}", self.package, self.path_in_package()))
    }

    /// What identifies the suite to those who look for its baseline.
    pub(crate) fn id(&self) -> SuiteId {
        let mut id = SuiteId::new(self.name);
        (id.package, id.path) = (self.package.to_owned(), self.path_in_package().into_owned());
        id.module = self.module_path.to_owned();
        id
    }

    /// Directory of the suite relative to the package, with `/` separators; the same on every machine, also for one that lies outside.
    pub(crate) fn path_in_package(&self) -> Cow<'static, str> {
        let (root, package) = (Path::new(self.root), Path::new(self.manifest_dir));
        if !root.is_absolute() {
            return Cow::Borrowed(self.root);
        }
        let shared = root.components().zip(package.components()).take_while(|(one, other)| one == other).count();
        let up = package.components().skip(shared).map(|_| Component::ParentDir);
        let down = root.components().skip(shared);
        let parts = up.chain(down).map(|part| part.as_os_str().to_string_lossy().into_owned());
        Cow::Owned(parts.collect::<Vec<_>>().join("/"))
    }

    /// Root of the package while this program runs: `CARGO_MANIFEST_DIR` if the suite is there, else the root at build time.
    pub(crate) fn package_root(&self) -> PathBuf {
        self.manifest_dir_where(|directory| directory.join(self.root).exists())
    }

    /// `CARGO_MANIFEST_DIR` while this program runs, if it fits, else the root of the package at build time.
    pub(crate) fn manifest_dir_where(&self, fits: impl Fn(&PathBuf) -> bool) -> PathBuf {
        let directory = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        directory.filter(fits).unwrap_or_else(|| PathBuf::from(self.manifest_dir))
    }
}

getters! {
    impl EvalSuite {
        /// Name of the suite.
        pub fn name(self) -> &'static str { self.name }

        /// Name of the agent in the suite's files, if they name one.
        pub fn agent_name(self) -> Option<&'static str> { self.agent_name }

        /// Name of the package the suite belongs to.
        pub fn package(self) -> &'static str { self.package }

        /// Version of the package the suite belongs to.
        pub fn package_version(self) -> &'static str { self.package_version }

        /// Directory of the suite, relative to the package root with `/` separators; absolute if it is outside.
        pub fn root(self) -> &'static str { self.root }

        /// All cases in the suite's order. In a matrix of targets a case is listed once per target.
        pub fn cases(self) -> &'static [EvalCase] { self.cases }
    }
}

/// How a suite was loaded when it was compiled into this program: the data, besides its files, to load it again.
#[derive(Debug)]
pub struct Origin {
    /// The entry path as written.
    pub entry: &'static str,
    /// Directory of the source file that names the entry, for entries that start with `./`.
    pub source_dir: Option<&'static str>,
    /// The target matrix of the program.
    pub targets: &'static [&'static str],
    /// Whether `workspace/` and `fixture_*` of a task are its fixtures.
    pub fixtures: bool,
    /// Environment variables without which cases are skipped.
    pub require_env: &'static [&'static str],
    /// Programs without which cases are skipped.
    pub require_commands: &'static [&'static str],
    /// Names of warnings that are not shown.
    pub allow: &'static [&'static str],
    /// Whether cases with a docker workspace are skipped.
    pub allow_docker: bool,
    /// Whether warnings are errors.
    pub deny_warnings: bool,
    /// Whether every grader of the files has to be registered.
    pub lists_graders: bool,
    /// Digest and path of each file that was read, one per line. A reference, so that new digests do not change the
    /// suite.
    pub files: &'static &'static str,
}

/// A case as it was compiled into this program.
///
/// ```
/// use evalsuite::EvalCase;
///
/// fn describe(case: &EvalCase) -> serde_json::Result<String> {
///     let graders = case.decode()?.graders.len();
///     Ok(format!("{}:{} {} has {graders} graders", case.file(), case.line(), case.id()))
/// }
/// ```
#[derive(Debug)]
pub struct EvalCase {
    #[doc(hidden)]
    pub id: &'static str,
    #[doc(hidden)]
    pub test_name: &'static str,
    #[doc(hidden)]
    pub file: &'static str,
    #[doc(hidden)]
    pub line: u32,
    #[doc(hidden)]
    pub column: u32,
    #[doc(hidden)]
    pub source: &'static str,
    #[doc(hidden)]
    pub target: Option<&'static str>,
    #[doc(hidden)]
    pub tags: &'static [&'static str],
    #[doc(hidden)]
    pub json: CompiledJson,
}

impl EvalCase {
    /// Whether a search for variables may find one. Most cases have none, and their text is faster to search than their values.
    pub(crate) fn may_have_variables(&self) -> bool {
        self.json.text().contains("${{")
    }

    /// The data of the case.
    ///
    /// # Errors
    ///
    /// If the compiled text is not a case of this version. This cannot happen in generated code.
    pub fn decode(&self) -> serde_json::Result<Case> {
        json::decode(self.json.text().as_bytes())
    }
}

getters! {
    impl EvalCase {
        /// Id, unique in the suite (and target).
        pub fn id(self) -> &'static str { self.id }

        /// Path of the case's test inside the suite's module.
        pub fn test_name(self) -> &'static str { self.test_name }

        /// File that defines the case, relative to the workspace root.
        pub fn file(self) -> &'static str { self.file }

        /// Line of the case in its file, counted from 1; 0 if the case is the whole file.
        pub fn line(self) -> u32 { self.line }

        /// Column of the case in its line, in characters from 1; 0 if the case is the whole file.
        pub fn column(self) -> u32 { self.column }

        /// Target of a matrix this entry belongs to.
        pub fn target(self) -> Option<&'static str> { self.target }

        /// Tags of the case.
        pub fn tags(self) -> &'static [&'static str] { self.tags }
    }
}

/// The content of a suite's files as JSON. The macro writes it into a separate module: the edit of a case changes only
/// this module, and the compiler reuses the rest of its last build.
#[derive(Debug)]
pub struct SuiteTexts {
    /// The suite without its cases.
    pub suite: &'static str,
    /// The cases, one per line: the JSON and the digests of each.
    pub cases: &'static str,
    /// Where the line of each case ends, in bytes.
    pub ends: &'static [u32],
}

impl SuiteTexts {
    /// The case at `index`; empty if there is none.
    fn case(&self, index: usize) -> &'static str {
        let end = |index: usize| self.ends.get(index).map(|end| *end as usize);
        let start = index.checked_sub(1).map_or(Some(0), end);
        let line = start.zip(end(index)).and_then(|(start, end)| self.cases.get(start..end)).unwrap_or_default();
        line.strip_suffix('\n').unwrap_or(line)
    }
}

/// The JSON of a suite or of a case.
#[derive(Debug, Clone, Copy)]
pub enum CompiledJson {
    /// The text itself.
    Text(&'static str),
    /// The settings of a suite.
    Suite(&'static SuiteTexts),
    /// The case at an index.
    Case(&'static SuiteTexts, usize),
}

impl CompiledJson {
    /// The JSON.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Text(text) => text,
            Self::Suite(texts) => texts.suite,
            Self::Case(texts, index) => CaseDigests::split(texts.case(index)).0,
        }
    }

    /// The digests that the compiler left next to the JSON of a case.
    pub(crate) fn digests(self) -> Option<CaseDigests> {
        match self {
            Self::Text(_) | Self::Suite(_) => None,
            Self::Case(texts, index) => CaseDigests::split(texts.case(index)).1,
        }
    }
}

/// The suite and its cases as if they were compiled into this program. They stay in memory until the process ends.
#[cfg(feature = "tooling")]
pub(crate) fn loaded_suite(
    suite: Suite,
    cases: Vec<Case>,
    calibration: Option<&Calibration>,
    package_root: &Path,
) -> serde_json::Result<&'static EvalSuite> {
    let json = CompiledJson::Text(to_string(&suite)?.leak());
    let calibration = calibration.map(to_string).transpose()?.map(|text| &*text.leak());
    let cases: Vec<EvalCase> = cases.into_iter().map(loaded_case).collect::<Result<_, _>>()?;
    Ok(Box::leak(Box::new(EvalSuite {
        name: suite.name.leak(),
        agent_name: None,
        module_path: "",
        package: "",
        package_version: "",
        manifest_dir: package_root.display().to_string().leak(),
        root: suite.root.leak(),
        json,
        sources: &[],
        embedded: None,
        origin: None,
        diagnostics: &[],
        calibration,
        cases: cases.leak(),
    })))
}

#[cfg(feature = "tooling")]
fn loaded_case(case: Case) -> serde_json::Result<EvalCase> {
    let json = CompiledJson::Text(to_string(&case)?.leak());
    let id: &'static str = case.id.leak();
    let tags: Vec<&'static str> = case.tags.into_iter().map(|tag| &*tag.leak()).collect();
    let file = case.location.file.leak();
    Ok(EvalCase {
        id,
        test_name: id,
        file,
        line: case.location.line,
        column: case.location.column,
        source: "",
        target: None,
        tags: tags.leak(),
        json,
    })
}

#[cfg(test)]
mod tests {
    use super::{CaseDigests, CompiledJson, SuiteTexts};

    #[test]
    fn each_case_has_its_line() {
        static TEXTS: SuiteTexts = SuiteTexts { suite: "s", cases: "{}\n[ä]\t1 2\n", ends: &[3, 12] };
        let lines: Vec<&str> = (0..3).map(|index| CompiledJson::Case(&TEXTS, index).text()).collect();
        assert_eq!(lines, ["{}", "[ä]", ""]);
        assert_eq!(CompiledJson::Suite(&TEXTS).text(), "s");
        let digests = |index| CompiledJson::Case(&TEXTS, index).digests();
        assert_eq!(digests(1), Some(CaseDigests { case: "1".to_owned(), graders: "2".to_owned() }));
        assert_eq!(digests(0), None);
    }
}
