//! The suites of the directories that are open in the editor, each checked while its files change, as `cargo evalsuite check` does.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use evalsuite_codegen::expansion;
use evalsuite_loader::source::Texts;
use evalsuite_loader::{Loaded, LoadedSuite, Request, Session, Test, load_targets};
use evalsuite_schema::Case;
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Position, SourceRange};
use evalsuite_schema::discovery::{SKILL_EVALS, SuiteFile, is_case_file, skill_directory};

use crate::check;
use crate::locate::includes::{self, Include};
use crate::locate::suite_search::suite_directory;

/// A problem with a suite.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The file to which it is attached, and the range in it.
    pub(super) file: PathBuf,
    pub(super) range: Option<(Position, Position)>,
    pub(super) diagnostic: Diagnostic,
    /// Also of a warning that is denied.
    pub(super) is_error: bool,
}

/// A suite with what was found in it. A suite that is included twice is open twice.
pub(super) struct OpenSuite {
    /// Its directory or file.
    pub(super) path: PathBuf,
    pub(super) include: Option<Include>,
    pub(super) request: Request,
    pub(super) session: Session,
    /// What the last load has looked at.
    files: HashSet<PathBuf>,
    pub(super) targets_file: Option<PathBuf>,
    pub(super) found: Vec<Found>,
    /// What probes found in the cases of the file that was saved last.
    pub(super) probed: Vec<Found>,
    /// The suite as it was checked last, if it has no errors.
    good: Option<LoadedSuite>,
}

impl OpenSuite {
    /// Nothing is read before the first load.
    pub(super) fn new(path: PathBuf, include: Option<Include>, request: Request) -> Self {
        let of_include = include.as_ref().map(|it| expansion::suite_request(&it.binding, &it.context));
        let request = of_include.unwrap_or(request);
        let session = Session::new(request.clone());
        Self {
            path,
            include,
            request,
            session,
            files: HashSet::new(),
            targets_file: None,
            found: Vec::new(),
            probed: Vec::new(),
            good: None,
        }
    }

    /// Whether the suite depends on the content of a file.
    pub(super) fn reads(&self, path: &Path) -> bool {
        self.files.contains(path) || self.targets_file.as_deref() == Some(path)
    }

    /// Whether a file may become a part of the suite, or was one: paths are searched up to the directory of the package.
    pub(super) fn may_read(&self, path: &Path) -> bool {
        self.reads(path)
            || path.starts_with(suite_directory(&self.path))
            || path.starts_with(&self.request.package_root)
    }

    /// Whether the path is a file of the suite, or a directory with one.
    pub(super) fn has_below(&self, path: &Path) -> bool {
        self.path.starts_with(path) || self.files.iter().any(|file| file.starts_with(path))
    }

    pub(super) fn load(&mut self, texts: &Texts) {
        let loaded = self.session.load(texts.clone());
        self.take(loaded, texts);
    }

    /// Checks the suite after the text of one file has changed.
    pub(super) fn reload(&mut self, path: &Path, texts: &Texts) {
        let loaded = match self.files.contains(path) {
            true => Some(self.session.reload(path, texts.clone())),
            // A targets file is not a part of the suite.
            false => self.session.check_again(texts.clone()),
        };
        let loaded = loaded.unwrap_or_else(|| self.session.load(texts.clone()));
        self.take(loaded, texts);
    }

    /// The paths of the tests of a case, one for each target, and those of all other cases; none while the suite has errors.
    pub(super) fn tests_of(&self, id: &str) -> (Vec<String>, Vec<String>) {
        let Some(good) = &self.good else { return Default::default() };
        let (own, others): (Vec<&Test>, Vec<&Test>) =
            good.tests.iter().partition(|test| good.cases[test.case].case.id == id);
        let paths = |tests: Vec<&Test>| tests.into_iter().map(|test| test.path.join("::")).collect();
        (paths(own), paths(others))
    }

    /// Calibrations and their samples among the files of the suite.
    pub(super) fn calibration_files(&self) -> Vec<PathBuf> {
        let is_calibration = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains("calibration") && path.is_file()
        };
        self.files.iter().filter(is_calibration).cloned().collect()
    }

    /// Probes the cases of a file that was saved.
    pub(super) fn probe(&mut self, path: &Path) {
        self.probed.clear();
        let Some(good) = &self.good else { return };
        let is_there = |case: &&Case| self.request.workspace_root.join(&case.location.file) == path;
        let cases: Vec<&Case> = good.cases.iter().map(|loaded| &*loaded.case).filter(is_there).collect();
        let placed = |finding| self.placed(finding, false);
        let root = &self.request.package_root;
        self.probed = crate::probe::saved_cases::probe(&good.suite, &cases, root).into_iter().map(placed).collect();
    }

    fn take(&mut self, loaded: Loaded, texts: &Texts) {
        // The places of findings are those of the texts that were saved.
        self.probed.clear();
        self.request.texts = texts.clone();
        self.files = loaded.files.all().into_iter().map(|file| file.path).collect();
        self.targets_file = check::targets_file(&self.path, &self.request);
        let (mut denied, mut usual) = (Diagnostics::new(), Diagnostics::new());
        match &self.include {
            Some(include) => {
                let mut context = include.context.clone();
                context.request.texts = texts.clone();
                let (problems, suite) = expansion::check_loaded(include.binding.clone(), &context, loaded);
                self.good = suite;
                for problem in problems {
                    // Arguments that mean nothing are reported by the compiler.
                    let Some(diagnostic) = problem.as_diagnostic() else { continue };
                    if problem.is_error() { denied.push(diagnostic.clone()) } else { usual.push(diagnostic.clone()) }
                }
            }
            None => {
                if let (Some(suite), Some(file)) = (&loaded.suite, &self.targets_file) {
                    usual.append(load_targets(file, &self.request).problems_of(suite.targets_file_entries()));
                }
                usual.append(loaded.diagnostics);
                self.good = loaded.suite;
            }
        }
        let mut all: Vec<Found> = Vec::new();
        for (mut diagnostics, is_denied) in [(denied.ungrouped(), true), (usual.ungrouped(), false)] {
            diagnostics.sort();
            all.extend(diagnostics.into_iter().map(|diagnostic| self.placed(diagnostic, is_denied)));
        }
        self.found = all;
    }

    /// A problem of no file is shown where the suite is included, else in the file of the suite.
    fn placed(&self, diagnostic: Diagnostic, is_denied: bool) -> Found {
        let is_error = is_denied || diagnostic.severity() == evalsuite_schema::diagnostics::Severity::Error;
        let path = diagnostic.place.as_ref().map(|place| self.path_of(place));
        let (file, range) = match path {
            Some(path) if !path.is_dir() => (path, diagnostic.place.as_ref().and_then(|place| place.range)),
            Some(_) => (self.own_file(), None),
            None => self.include_place().unwrap_or_else(|| (self.own_file(), None)),
        };
        Found { file, range, diagnostic, is_error }
    }

    /// The path of a place.
    pub(super) fn path_of(&self, place: &SourceRange) -> PathBuf {
        self.request.workspace_root.join(&place.file)
    }

    /// Where the macro or the builder names the suite.
    fn include_place(&self) -> Option<(PathBuf, Option<(Position, Position)>)> {
        let include = self.include.as_ref()?;
        let span = include.binding.entry.span();
        let position = |at: proc_macro2::LineColumn| Position {
            line: u32::try_from(at.line).unwrap_or(u32::MAX),
            column: u32::try_from(at.column + 1).unwrap_or(u32::MAX),
        };
        Some((include.source.clone(), Some((position(span.start()), position(span.end())))))
    }

    /// The file of the suite; its directory if it has none.
    fn own_file(&self) -> PathBuf {
        if !self.path.is_dir() {
            return self.path.clone();
        }
        let names = ["EVAL.yaml", "EVAL.yml", "eval.yaml", "eval.yml", "suite.json", SKILL_EVALS];
        let own = names.into_iter().map(|name| self.path.join(name)).find(|path| path.is_file());
        own.unwrap_or_else(|| self.path.clone())
    }
}

/// What the file system says of a file or directory: when it was changed, and its length; `None` if it does not exist.
pub(super) type FileStamp = Option<(SystemTime, u64)>;

/// Directories of files that programs write.
const OF_PROGRAMS: &[&str] = &["target", "node_modules", ".git"];

/// The suites of the directories that are open in the editor.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) roots: Vec<PathBuf>,
    pub(super) suites: Vec<OpenSuite>,
    /// Calls that include a suite in a way that is not understood.
    pub(super) unread: Vec<String>,
}

impl Workspace {
    /// Finds the suites and their includes again, and loads all.
    pub(super) fn open(&mut self, texts: &Texts) {
        self.suites.clear();
        self.unread.clear();
        for root in &self.roots {
            // It fails if the current directory is gone.
            let Ok((paths, includes)) = check::suites_of(root) else { continue };
            self.unread.extend(includes.unread.iter().cloned());
            // Two of the directories may be in one workspace.
            let is_open = |path: &PathBuf| self.suites.iter().any(|suite| includes::is_same_suite(&suite.path, path));
            let others: Vec<PathBuf> = paths.into_iter().filter(|path| !is_open(path)).collect();
            for path in others {
                let Ok(request) = Request::of_suite(&path, root) else { continue };
                let of_suite = includes.of_suite(&path);
                if of_suite.is_empty() {
                    self.suites.push(OpenSuite::new(path.clone(), None, request.clone()));
                }
                for include in of_suite {
                    self.suites.push(OpenSuite::new(path.clone(), Some(include.clone()), request.clone()));
                }
            }
        }
        self.suites.iter_mut().for_each(|suite| suite.load(texts));
    }

    /// What the file system says now of the files that suites consist of, of their directories in the package, which change with the names in
    /// them, of the sources that include suites, and of the manifests.
    pub(super) fn file_stamps(&self) -> BTreeMap<PathBuf, FileStamp> {
        let mut paths: BTreeSet<&Path> = BTreeSet::new();
        let mut packages: BTreeSet<&Path> = self.roots.iter().map(PathBuf::as_path).collect();
        for suite in &self.suites {
            let package = suite.request.package_root.as_path();
            let directory = suite_directory(&suite.path);
            packages.insert(package);
            let files = suite.files.iter().chain(&suite.targets_file).map(PathBuf::as_path);
            for path in files.clone().chain([suite.path.as_path()]) {
                paths.extend(
                    path.ancestors().take_while(|above| above.starts_with(package) || above.starts_with(directory)),
                );
            }
            paths.extend(files.chain(suite.include.iter().map(|include| include.source.as_path())));
        }
        let manifests = packages.iter().map(|package| package.join("Cargo.toml"));
        let stamp = |path: &Path| path.metadata().ok().and_then(|it| Some((it.modified().ok()?, it.len())));
        let paths = paths.into_iter().chain(packages.iter().copied()).map(Path::to_owned).chain(manifests);
        paths.map(|path| (path.clone(), stamp(&path))).collect()
    }

    /// Adds the package or repository around a file that is in none of the directories. Whether there is one.
    pub(super) fn add_root_around(&mut self, path: &Path) -> bool {
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return false;
        }
        let around = |name: &str| path.ancestors().skip(1).find(|directory| directory.join(name).exists());
        let root = around("Cargo.toml").or_else(|| around(".git"));
        self.roots.extend(root.map(Path::to_path_buf));
        root.is_some()
    }

    /// Whether a file is written by programs all the time, and belongs to no suite.
    pub(super) fn ignores(&self, path: &Path) -> bool {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.iter().any(|part| OF_PROGRAMS.iter().any(|name| part == *name))
    }

    /// Whether a suite is in this directory, beside which there may be others.
    pub(super) fn has_suite_below(&self, directory: &Path) -> bool {
        self.roots.iter().any(|root| root == directory)
            || self.suites.iter().any(|suite| suite.path.starts_with(directory))
    }

    /// Whether there may be other suites once a file or directory has appeared or disappeared: one that is the file of a suite or of a
    /// case, or that a suite consists of. When a directory is removed or moved, clients may not name what was in it.
    pub(super) fn may_make_suites(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir()
            || SuiteFile::named(&name).is_some()
            || skill_directory(path).is_some()
            || is_case_file(path)
            || self.suites.iter().any(|suite| suite.has_below(path))
    }

    /// Checks the suites that read these files, whose texts have changed.
    pub(super) fn change(&mut self, paths: &BTreeSet<PathBuf>, texts: &Texts) {
        for suite in &mut self.suites {
            let read: Vec<&PathBuf> = paths.iter().filter(|path| suite.reads(path)).collect();
            match read.as_slice() {
                [] => {}
                [one] => suite.reload(one, texts),
                _ => suite.load(texts),
            }
        }
    }

    /// Loads the suites that may read these files again, some of which are new or gone.
    pub(super) fn reload(&mut self, paths: &BTreeSet<PathBuf>, texts: &Texts) {
        for suite in &mut self.suites {
            if paths.iter().any(|path| suite.may_read(path)) {
                suite.load(texts);
            }
        }
    }

    /// The suites that a file belongs to.
    pub(super) fn of_file(&self, path: &Path) -> Vec<&OpenSuite> {
        let reading: Vec<&OpenSuite> = self.suites.iter().filter(|suite| suite.reads(path)).collect();
        if !reading.is_empty() {
            return reading;
        }
        let around = self.suites.iter().filter(|suite| path.starts_with(suite_directory(&suite.path)));
        let deepest = around.clone().map(|suite| suite_directory(&suite.path).components().count()).max();
        around.filter(|suite| Some(suite_directory(&suite.path).components().count()) == deepest).collect()
    }
}
