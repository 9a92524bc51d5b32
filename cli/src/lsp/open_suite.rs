//! A suite that is checked while its files change, as `cargo evalsuite check` does.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use evalsuite_codegen::expansion;
use evalsuite_discovery::SKILL_EVALS;
use evalsuite_loader::source::Texts;
use evalsuite_loader::{Loaded, LoadedSuite, Request, Session, load_targets};
use evalsuite_schema::Case;
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Position, SourceRange};

use crate::check;
use crate::locate::includes::Include;
use crate::locate::suite_request::suite_directory;

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
