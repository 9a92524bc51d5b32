//! What a load returns: the checked suite, its tests, its files with their digests, and all problems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use evalsuite_schema::diagnostics::Diagnostics;
use evalsuite_schema::digest::hexadecimal;
use evalsuite_schema::grader::{AnswerStep, AskedJudge};
use evalsuite_schema::line_breaks::digest_of_file;
use evalsuite_schema::sorting::{map, set};
use evalsuite_schema::{Calibration, Case, Examples, Grader, Hooks, Location, Requires, SealMode, Sealing, Suite};
use hmac_sha256::Hash;

use crate::cases::execution;
use crate::fields::paths::Roots;
use crate::fields::pattern::has_pattern_with_tables;
use crate::request::OtherCase;
use crate::source::{self, Files, Span};
use crate::suite::cross_check;

/// The result of a load.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The suite; `None` if one of the diagnostics is an error.
    pub suite: Option<LoadedSuite>,
    /// Every use of a grader that is not built in, as far as cases could be read.
    pub user_graders: Vec<GraderUse>,
    /// All problems of all files, by file and position.
    pub diagnostics: Diagnostics,
    /// The files and directories that were looked at.
    pub files: Files,
}

/// The result of loading some cases of a suite.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedPart {
    /// The suite with these cases. What needs all cases is not checked: unique ids, dependencies, unused files. There is no
    /// calibration.
    pub loaded: Loaded,
    /// The other cases.
    pub others: Vec<OtherCase>,
}

/// A checked suite.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadedSuite {
    /// The suite without its cases.
    pub suite: Suite,
    /// Name of the generated module: the last component of the entry path, made an identifier.
    pub module: String,
    /// Where cases come from, in the form that [`evalsuite_schema::discovery::list`] takes: kind and path.
    pub sources: Vec<(String, String)>,
    /// The cases, in order.
    pub cases: Vec<LoadedCase>,
    /// The tests, in order: one per case, or one per target and case.
    pub tests: Vec<Test>,
    /// What judges are measured by.
    pub calibration: Option<Calibration>,
    /// The files that were read.
    pub files: SuiteFiles,
    /// Whether there are data files that were not read: whether they are used depends on the texts of all others.
    pub has_unread_files: bool,
}

impl LoadedSuite {
    /// Adds requirements to every case.
    pub fn require(&mut self, requires: &Requires) {
        if *requires != Requires::default() {
            for loaded in &mut self.cases {
                let own = &mut Arc::make_mut(&mut loaded.case).requires;
                execution::add_requirements(&mut own.env, requires.env.iter().cloned());
                execution::add_requirements(&mut own.commands, requires.commands.iter().cloned());
            }
        }
    }

    /// Where graders of type `json-schema` are written, each once: they need a feature of evalsuite.
    pub fn json_schemas(&self) -> BTreeSet<Location> {
        let all = self.cases.iter().flat_map(|loaded| loaded.case.all_graders()).flat_map(Grader::with_members);
        let json_schemas = all.filter(|grader| grader.config.settings().json_schema().is_some());
        set(json_schemas.map(|grader| grader.location.clone()))
    }

    /// Where graders with patterns are written, each once: they need a feature of evalsuite.
    pub fn patterns(&self) -> BTreeSet<Location> {
        let all = self.cases.iter().flat_map(|loaded| loaded.case.all_graders()).flat_map(Grader::with_members);
        let replaces = |step: &AnswerStep| matches!(step, AnswerStep::Replace { .. });
        let has_pattern =
            |grader: &&Grader| grader.config.settings().pattern().is_some() || grader.transform.iter().any(replaces);
        set(all.filter(has_pattern).map(|grader| grader.location.clone()))
    }

    /// Where graders with patterns that need tables of Unicode are written, each once: they need a feature of evalsuite.
    pub fn unicode_patterns(&self) -> BTreeSet<Location> {
        let all = self.cases.iter().flat_map(|loaded| loaded.case.all_graders()).flat_map(Grader::with_members);
        let patterns = all.filter(|grader| has_pattern_with_tables(grader));
        set(patterns.map(|grader| grader.location.clone()))
    }

    /// Where the cases and graders with examples are written, each once: they need a feature of evalsuite.
    pub fn examples(&self) -> BTreeSet<Location> {
        let cases = self.cases.iter().map(|loaded| &loaded.case);
        let of_case = |case: &'_ Arc<Case>| {
            let graders = case.all_graders().flat_map(Grader::with_members);
            let graders = graders.map(|grader| &grader.examples);
            let first =
                |examples: &Examples| examples.pass.iter().chain(&examples.fail).next().map(|it| it.location.clone());
            std::iter::once(&case.examples).chain(graders).filter_map(first).collect::<Vec<_>>()
        };
        set(cases.flat_map(of_case))
    }

    /// Where commands are sealed, each place once: they need a feature of evalsuite. Of a hook, it is the place of its suite or case.
    pub fn seals(&self) -> BTreeSet<Location> {
        let asks = |hooks: &Hooks| {
            let all = [&hooks.before_all, &hooks.before_each, &hooks.after_each, &hooks.after_all];
            all.into_iter().flatten().any(|hook| hook.sealing.asks())
        };
        let suite = &self.suite;
        let of_suite = suite.targets.iter().map(|target| &target.hooks);
        let mut of_suite = of_suite.chain(suite.workspace.iter().map(|workspace| &workspace.hooks));
        let is_default = suite.sealed.is_some_and(|mode| mode != SealMode::Off);
        let mut places: BTreeSet<Location> =
            (is_default || of_suite.any(asks)).then(|| suite.location.clone()).into_iter().collect();
        for LoadedCase { case, .. } in &self.cases {
            if case.workspace.as_ref().is_some_and(|workspace| asks(&workspace.hooks)) {
                places.insert(case.location.clone());
            }
            for grader in case.all_graders().flat_map(Grader::with_members) {
                if grader.config.settings().sealing().is_some_and(Sealing::asks) {
                    places.insert(grader.location.clone());
                }
            }
        }
        places
    }

    /// Names of the entries of a targets file that its tests need, as far as no Rust code answers in their place: its targets,
    /// and the judges that its graders name.
    pub fn targets_file_entries(&self) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> =
            self.suite.targets.iter().map(|target| target.use_target.as_deref().unwrap_or(&target.name)).collect();
        let has_matrix = !names.is_empty();
        for LoadedCase { case, .. } in &self.cases {
            if !has_matrix {
                names.insert(case.target.as_deref().unwrap_or("default"));
            }
            for grader in case.all_graders().flat_map(Grader::with_members) {
                if let Some(AskedJudge::Named(name)) = grader.config.asked_judge() {
                    names.insert(name);
                }
            }
        }
        names
    }
}

/// A checked case.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadedCase {
    /// The case.
    pub case: Arc<Case>,
    /// The file that defines it, relative to the suite root.
    pub source: String,
    /// Where it is.
    pub span: Span,
    /// Modules of its test, below the suite's module and the target's.
    pub folders: Vec<String>,
    /// Name of its test function.
    pub function: String,
    /// Names of its graders that are not built in, also of those that it takes from the suite.
    pub user_graders: Vec<String>,
    /// Whether it has a file of its own, names no other path and has no workspace next to it.
    pub stands_alone: bool,
}

impl LoadedCase {
    /// Whether what is checked with all cases of a suite has the same result with this case in place of `before`: then the other
    /// cases need not be read.
    pub fn may_replace(&self, before: &Case) -> bool {
        self.case.id == before.id
            && self.case.depends_on == before.depends_on
            && cross_check::is_unjudged(&self.case) == cross_check::is_unjudged(before)
    }
}

/// A test that is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Test {
    /// Index into [`LoadedSuite::cases`].
    pub case: usize,
    /// Target of the matrix; `None` without a matrix.
    pub target: Option<String>,
    /// Modules below the suite's module, then the function: all valid identifiers.
    pub path: Vec<String>,
}

/// A place where a grader is named that is not built in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraderUse {
    /// The name as written.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// Paths, relative to the suite's directory where they are inside, with the SHA-256 of each file.
pub type SuiteFiles = BTreeMap<String, [u8; 32]>;

/// All files that were read.
pub(super) fn read_suite_files(files: &Files, roots: &Roots) -> SuiteFiles {
    map(files.all().into_iter().filter_map(|file| Some((roots.in_suite(&file.path), file.digest?))))
}

/// The digest of a suite with these files: SHA-256 in hexadecimal.
pub fn suite_digest(files: &SuiteFiles) -> String {
    let mut hash = Hash::new();
    for (path, digest) in files {
        hash.update(path.as_bytes());
        hash.update([0]);
        hash.update(digest);
    }
    hexadecimal(hash.finalize())
}

impl LoadedPart {
    /// The files of the whole suite as they are now, if `built` are those of the whole suite at an earlier time. `cases` are the
    /// files of single cases among them. A file that is not part of this load is read if it changed after `since`.
    pub fn files_since(
        &self,
        built: SuiteFiles,
        cases: &BTreeSet<&str>,
        suite_dir: &Path,
        since: SystemTime,
    ) -> SuiteFiles {
        let read = self.loaded.suite.as_ref().map(|suite| &suite.files);
        let listed: BTreeSet<&str> = self.others.iter().map(|other| other.source.as_str()).collect();
        let is_read = |path: &str| read.is_some_and(|read| read.contains_key(path));
        let is_newer = |path: &Path| path.metadata().and_then(|data| data.modified()).is_ok_and(|time| time > since);
        let digest = |path: &Path| Some(digest_of_file(&source::read_bytes(path).ok()?));
        let mut files = SuiteFiles::new();
        for (path, built) in built {
            let is_gone = cases.contains(path.as_str()) && !listed.contains(path.as_str());
            if is_read(&path) || is_gone {
                continue;
            }
            let file = suite_dir.join(&path);
            let current = if is_newer(&file) { digest(&file) } else { Some(built) };
            files.extend(current.map(|digest| (path, digest)));
        }
        for path in listed.into_iter().filter(|path| !path.is_empty() && !cases.contains(path)) {
            files.extend(digest(&suite_dir.join(path)).map(|digest| (path.to_owned(), digest)));
        }
        files.extend(read.into_iter().flatten().map(|(path, digest)| (path.clone(), *digest)));
        files
    }
}
