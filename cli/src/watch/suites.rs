//! The suites that are watched: what is wrong with them, and which cases a change concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_codegen::binding::Agent;
use evalsuite_codegen::expansion;
use evalsuite_loader::source::Texts;
use evalsuite_loader::{LoadedCase, LoadedSuite, Request, Session, Test};
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Severity};
use evalsuite_schema::digest::sha256_of_data;
use evalsuite_schema::{Case, Location, Value};

use crate::locate::includes::{Include, Includes};
use crate::locate::suite_search::{self, suite_directory};

/// The suites of the package or workspace.
pub(super) struct Suites {
    watched: Vec<WatchedSuite>,
}

/// One suite, or one of its includes.
struct WatchedSuite {
    path: PathBuf,
    request: Request,
    include: Option<Include>,
    session: Session,
    /// What the last check has looked at.
    files: BTreeSet<PathBuf>,
    diagnostics: Vec<Diagnostic>,
    /// What probes found in the cases that changed last.
    probed: Vec<Diagnostic>,
    has_errors: bool,
    /// The suite without errors, as it was checked last.
    good: Option<LoadedSuite>,
}

/// A case of a suite that a change concerns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touched {
    /// The file that defines the suite, as its description names it.
    pub(super) suite: String,
    /// Path of the test below the suite's module.
    pub(super) path: String,
}

impl Suites {
    /// Finds the suites, and checks them.
    pub(super) fn find() -> io::Result<Self> {
        let here = std::env::current_dir()?;
        let includes = Includes::of_packages(&suite_search::packages_around(&[here]))?;
        let mut paths: BTreeSet<PathBuf> = suite_search::suites_here()?.into_iter().collect();
        paths.retain(|path| includes.of_suite(path).is_empty());
        let alone = paths.into_iter().map(|path| WatchedSuite::new(path, None));
        let included = includes.all.into_iter().map(|include| WatchedSuite::new(include.path.clone(), Some(include)));
        let mut watched = alone.chain(included).collect::<io::Result<Vec<_>>>()?;
        watched.iter_mut().for_each(|suite| suite.check(None));
        Ok(Self { watched })
    }

    /// Directories of the suites, of the packages around them, and of the other packages of their workspaces: the agent may be in one.
    pub(super) fn directories(&self) -> BTreeSet<PathBuf> {
        let of_suite =
            |suite: &WatchedSuite| [suite_directory(&suite.path).to_path_buf(), suite.request.package_root.clone()];
        let mut directories: BTreeSet<PathBuf> = self.watched.iter().flat_map(of_suite).collect();
        let packages = suite_search::packages_around(&Vec::from_iter(directories.iter().cloned()));
        directories.extend(packages);
        directories
    }

    /// Directories of manifests of workspaces.
    pub(super) fn workspaces(&self) -> BTreeSet<PathBuf> {
        let roots = self.watched.iter().map(|suite| suite.request.workspace_root.clone());
        roots.filter(|root| root.join("Cargo.toml").is_file()).collect()
    }

    /// Whether programs read a file again without a build: it says what the cases are, or a case names it. What else is in the directory of a
    /// suite may be in the program, such as by `include_str!`.
    pub(super) fn read_again(&self, file: &PathBuf) -> bool {
        self.watched.iter().any(|suite| {
            let directory = suite_directory(&suite.path);
            let is_named = |case: &LoadedCase| is_own(case, directory, file) || suite.names(&case.case, &[file]);
            suite.files.contains(file)
                || file.starts_with(directory) && is_targets_file_of(directory, file)
                || suite.good.iter().flat_map(|good| &good.cases).any(is_named)
        })
    }

    /// Whether a file is one of a suite.
    pub(super) fn contain(&self, file: &Path) -> bool {
        let is_below = |suite: &WatchedSuite| {
            let directory = suite_directory(&suite.path);
            // In the directory of the package, other files are there, too.
            directory != suite.request.package_root && file.starts_with(directory)
        };
        self.watched.iter().any(|suite| suite.files.contains(file) || is_below(suite))
    }

    /// Every problem, once.
    pub(super) fn diagnostics(&self) -> Diagnostics {
        let of_suites = self.watched.iter().flat_map(|suite| suite.diagnostics.iter().chain(&suite.probed));
        let mut all: Diagnostics = of_suites.cloned().collect();
        all.sort();
        all
    }

    pub(super) fn have_errors(&self) -> bool {
        self.watched.iter().any(|suite| suite.has_errors)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// All cases of suites without errors.
    pub(super) fn all(&self) -> BTreeSet<Touched> {
        self.watched.iter().flat_map(|suite| suite.good.iter().flat_map(all_of)).collect()
    }

    /// The cases of suites that tests are generated of.
    pub(super) fn included(&self) -> BTreeSet<Touched> {
        let has_tests = |suite: &&WatchedSuite| {
            suite.include.as_ref().is_some_and(|include| !matches!(include.binding.agent, Agent::None))
        };
        let suites = self.watched.iter().filter(has_tests);
        suites.flat_map(|suite| suite.good.iter().flat_map(all_of)).collect()
    }

    /// Checks the suites that files belong to; returns the cases that the change concerns.
    pub(super) fn change(&mut self, files: &BTreeSet<PathBuf>) -> BTreeSet<Touched> {
        let before: Vec<Option<LoadedSuite>> = self.watched.iter().map(|suite| suite.good.clone()).collect();
        // A file that is gone, or one of several, may be a change of the list of cases.
        let changed = files.first().filter(|file| files.len() == 1 && file.is_file());
        for suite in self.watched.iter_mut().filter(|suite| suite.may_depend_on(files)) {
            suite.check(changed.map(PathBuf::as_path));
        }
        let pairs = self.watched.iter_mut().zip(&before);
        let touched = pairs.flat_map(|(suite, before)| {
            let touched = suite.touched(before.as_ref(), files);
            // The cases of a suite with errors are those of before.
            suite.probe(if suite.has_errors { &[] } else { &touched });
            touched
        });
        touched.collect()
    }

    /// Whether the path of a case's test or its id contains one of the texts, if there are any.
    pub(super) fn is_named(&self, touched: &Touched, texts: &[String]) -> bool {
        let is_named = |(_, loaded, case): (_, &LoadedSuite, &LoadedCase)| {
            let path = format!("{}::{}", loaded.module, touched.path);
            texts.iter().any(|text| case.case.id.contains(text.as_str()) || path.contains(text.as_str()))
        };
        texts.is_empty() || self.cases_of(touched).any(is_named)
    }

    /// Where the case of a test is written, with the whole path of the file.
    pub(super) fn place(&self, touched: &Touched) -> Option<(&Location, PathBuf)> {
        let (suite, _, loaded) = self.cases_of(touched).next()?;
        let location = &loaded.case.location;
        Some((location, suite.request.workspace_root.join(&location.file)))
    }

    /// The case of a test.
    pub(super) fn case(&self, touched: &Touched) -> Option<&LoadedCase> {
        self.cases_of(touched).next().map(|(_, _, case)| case)
    }

    /// The case of a test in each include of its suite.
    fn cases_of(&self, touched: &Touched) -> impl Iterator<Item = (&WatchedSuite, &LoadedSuite, &LoadedCase)> {
        self.watched.iter().filter_map(|suite| {
            let good = suite.good.as_ref().filter(|good| good.suite.location.file == touched.suite)?;
            let test = good.tests.iter().find(|test| test.path.join("::") == touched.path)?;
            Some((suite, good, &good.cases[test.case]))
        })
    }
}

fn all_of(suite: &LoadedSuite) -> impl Iterator<Item = Touched> {
    let file = &suite.suite.location.file;
    suite.tests.iter().map(|test| Touched { suite: file.clone(), path: test.path.join("::") })
}

impl WatchedSuite {
    fn new(path: PathBuf, include: Option<Include>) -> io::Result<Self> {
        let request = suite_search::request(&path)?;
        let session = Session::new(match &include {
            Some(include) => expansion::suite_request(&include.binding, &include.context),
            None => request.clone(),
        });
        Ok(Self {
            path,
            request,
            include,
            session,
            files: BTreeSet::new(),
            diagnostics: Vec::new(),
            probed: Vec::new(),
            has_errors: false,
            good: None,
        })
    }

    /// `changed`: the only file that is not as it was at the last check.
    fn check(&mut self, changed: Option<&Path>) {
        let loaded = match changed {
            Some(file) => self.session.reload(file, Texts::default()),
            None => self.session.load(Texts::default()),
        };
        self.files = loaded.files.all().into_iter().map(|file| file.path).collect();
        let (found, suite) = match &self.include {
            None => (loaded.diagnostics.grouped(), loaded.suite),
            Some(include) => {
                let (problems, suite) = expansion::check_loaded(include.binding.clone(), &include.context, loaded);
                // Arguments that mean nothing are reported by the compiler where they are written.
                (problems.iter().filter_map(|problem| problem.as_diagnostic().cloned()).collect(), suite)
            }
        };
        self.diagnostics = found.into_iter().collect();
        self.has_errors = suite.is_none();
        self.good = suite.or(self.good.take());
    }

    /// Probes the cases of tests.
    fn probe(&mut self, touched: &[Touched]) {
        self.probed.clear();
        let Some(suite) = self.good.as_ref().filter(|_| !touched.is_empty()) else { return };
        let is_touched = |test: &&Test| touched.iter().any(|one| one.path == test.path.join("::"));
        let indexes: BTreeSet<usize> = suite.tests.iter().filter(is_touched).map(|test| test.case).collect();
        let cases: Vec<&Case> = indexes.into_iter().map(|index| &*suite.cases[index].case).collect();
        self.probed = crate::probe::saved_cases::probe(&suite.suite, &cases, &self.request.package_root);
    }

    /// Whether a file may be one of the suite: below its directory, or named in it, or in a directory of files that suites share.
    fn may_depend_on(&self, files: &BTreeSet<PathBuf>) -> bool {
        let directory = suite_directory(&self.path);
        files.iter().any(|file| file.starts_with(&self.request.package_root) || file.starts_with(directory))
    }

    fn touched(&self, before: Option<&LoadedSuite>, files: &BTreeSet<PathBuf>) -> Vec<Touched> {
        let Some(now) = &self.good else { return Vec::new() };
        // With an error in it, the suite is the one before the error.
        let Some(broken) = self.broken_cases(now) else { return Vec::new() };
        let old: BTreeMap<String, &Arc<Case>> = before.into_iter().flat_map(cases_by_path).collect();
        let directory = suite_directory(&self.path);
        let targets_file = files.iter().any(|file| is_targets_file_of(directory, file));
        // Asked of the file system once, not for each case.
        let own = |loaded: &LoadedCase| files.iter().any(|file| is_own(loaded, directory, file));
        let others: Vec<&PathBuf> =
            files.iter().filter(|file| !now.cases.iter().any(|case| is_own(case, directory, file))).collect();
        let mut touched = Vec::new();
        for test in &now.tests {
            let loaded = &now.cases[test.case];
            if broken.contains(loaded.case.location.file.as_str()) {
                continue;
            }
            let path = test.path.join("::");
            let is_changed = old
                .get(&path)
                .is_none_or(|old| !Arc::ptr_eq(old, &loaded.case) && **old != loaded.case && differ(old, &loaded.case));
            if targets_file || is_changed || own(loaded) || (!others.is_empty() && self.names(&loaded.case, &others)) {
                touched.push(Touched { suite: now.suite.location.file.clone(), path });
            }
        }
        touched
    }

    /// The files of cases with an error; `None` if an error is elsewhere: it concerns every case.
    fn broken_cases(&self, now: &LoadedSuite) -> Option<BTreeSet<&str>> {
        let errors = self.diagnostics.iter().filter(|found| self.has_errors && found.severity() == Severity::Error);
        let is_of_case = |file: &&str| {
            let has_file = |case: &LoadedCase| !case.source.is_empty() && case.case.location.file == *file;
            now.cases.iter().any(has_file)
        };
        let files = errors.map(|found| found.place.as_ref().map(|place| place.file.as_str()).filter(is_of_case));
        let files: BTreeSet<&str> = files.collect::<Option<_>>()?;
        (!self.has_errors || !files.is_empty()).then_some(files)
    }

    /// Whether a case names one of the files, or a directory around it.
    fn names(&self, case: &Case, files: &[&PathBuf]) -> bool {
        let Ok(value) = evalsuite_schema::json::to_value(case) else { return false };
        let root = &self.request.package_root;
        any_path(&value, &mut |path| files.iter().any(|file| file.starts_with(root.join(path))))
    }
}

/// Whether a file is that of the case alone, or is in its directory.
fn is_own(case: &LoadedCase, suite_directory: &Path, file: &Path) -> bool {
    if case.source.is_empty() {
        return false;
    }
    let source = suite_directory.join(&case.source);
    let is_directory = evalsuite_schema::discovery::is_case_file(&source);
    match source.parent() {
        Some(directory) if is_directory => file.starts_with(directory),
        _ => file == source && source.extension().is_some_and(|ending| ending == "json"),
    }
}

fn cases_by_path(suite: &LoadedSuite) -> impl Iterator<Item = (String, &Arc<Case>)> {
    suite.tests.iter().map(|test| (test.path.join("::"), &suite.cases[test.case].case))
}

/// Whether two cases differ in more than where they are written.
fn differ(one: &Case, other: &Case) -> bool {
    sha256_of_data(one) != sha256_of_data(other)
}

/// Whether a path of a file that the loader found fits.
fn any_path(value: &Value, fits: &mut impl FnMut(&str) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| any_path(item, fits)),
        Value::Object(object) => {
            let path = object.get("path").filter(|_| object.contains_key("written")).and_then(Value::as_str);
            path.is_some_and(&mut *fits) || object.values().any(|item| any_path(item, fits))
        }
        _ => false,
    }
}

/// Whether a file may be the targets file of a suite: in a directory around it, or in a hidden one there.
fn is_targets_file_of(suite_directory: &Path, file: &Path) -> bool {
    let is_named = file.file_name().is_some_and(|name| name == "targets.yaml" || name == "targets.yml");
    let hidden = [".evalsuite", ".agentv"];
    let directory = file.parent().map(|parent| match parent.parent() {
        Some(around) if hidden.iter().any(|name| parent.ends_with(name)) => around,
        _ => parent,
    });
    is_named && directory.is_some_and(|directory| suite_directory.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Input;
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn a_case_that_moved_is_the_same_and_data_with_the_name_of_a_location_is_not() {
        let case = |line, city: &str| {
            let mut case = Case::new("a", Location::new("EVAL.yaml", line, 1));
            case.input = Input::Data(json!({ "location": city }).as_object().cloned().unwrap_or_default());
            case
        };
        assert!(!differ(&case(1, "Graz"), &case(2, "Graz")));
        assert!(differ(&case(1, "Graz"), &case(1, "Linz")));
    }

    #[test]
    fn a_targets_file_concerns_the_suites_below_its_directory() {
        let concerns = |file: &str| is_targets_file_of(Path::new("/w/a/suites/shop"), Path::new(file));
        for file in ["/w/a/targets.yaml", "/w/a/.evalsuite/targets.yaml", "/w/a/suites/shop/targets.yml"] {
            assert!(concerns(file), "{file}");
        }
        for file in ["/w/b/targets.yaml", "/w/a/suites/other/targets.yaml", "/w/b/.agentv/targets.yaml", "/w/a/x.yaml"]
        {
            assert!(!concerns(file), "{file}");
        }
    }
}
