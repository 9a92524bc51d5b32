//! What was read of a suite, and what follows from it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Loaded, LoadedCase, LoadedSuite, graders_used, loaded, suite_digest, tests};
use evalsuite_schema::Layout;
use evalsuite_schema::discovery::Tree;

use crate::cases::{PlacedCase, ReadCases};
use crate::diagnostic::{Diagnostics, resolve};
use crate::fields::paths::{Scope, SharedFiles};
use crate::layouts::{Outline, SuiteEntry};
use crate::request::{OtherCase, Request};
use crate::source::Files;
use crate::suite::{symlink_check, unused_files};
use crate::{layouts, names};

/// A suite whose files were read, and whose cases were not yet checked against each other.
#[derive(Debug)]
pub(super) struct ReadSuite {
    shared: SharedFiles,
    pub(super) entry: SuiteEntry,
    pub(super) outline: Outline,
    /// In the order of `outline.cases`.
    pub(super) parts: Vec<CasesOfFile>,
    pub(super) cases: Vec<PlacedCase>,
    /// Cases that a request for a part of the suite leaves out.
    pub(super) others: Vec<OtherCase>,
    links: Diagnostics,
    /// What was below a suite of a package when it was read; `None` once it was checked, since there may be other files by the next time.
    tree: Option<Tree>,
}

/// What a file of cases has contributed.
#[derive(Debug)]
pub(super) struct CasesOfFile {
    /// Number of its cases.
    pub(super) count: usize,
    pub(super) problems: Diagnostics,
}

impl ReadSuite {
    /// Reads the suite of a request. `None`: there is none, or its file cannot be read. `d` gets the problems of the suite without its cases.
    pub(super) fn read(request: &Request, files: &Files, d: &mut Diagnostics) -> Option<Self> {
        let shared = SharedFiles::default();
        let entry = layouts::find(request, files, d)?;
        let scope = scope(request, &entry, files, &shared);
        let outline = (entry.outline)(&entry, scope, d)?;
        let (mut parts, mut cases, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (of_file, problems) in outline.cases.read(scope) {
            parts.push(CasesOfFile { count: of_file.cases.len(), problems });
            cases.extend(of_file.cases);
            others.extend(of_file.others);
        }
        // Without a package nothing follows links.
        let follows_links = request.part.is_none() && request.package_root.join("Cargo.toml").is_file();
        let tree = follows_links.then(|| Tree::read(&entry.roots.suite_root));
        Some(Self { shared, entry, outline, parts, cases, others, links: Diagnostics::new(), tree })
    }

    /// Reads one of the files of cases again.
    pub(super) fn read_again(&mut self, index: usize, request: &Request, files: &Files) {
        let (mut read, mut problems) = (ReadCases::default(), Diagnostics::new());
        let scope = scope(request, &self.entry, files, &self.shared);
        self.outline.cases.read_one(index, scope, &mut read, &mut problems);
        let first: usize = self.parts[..index].iter().map(|part| part.count).sum();
        let part = CasesOfFile { count: read.cases.len(), problems };
        let before = std::mem::replace(&mut self.parts[index], part);
        self.cases.splice(first..first + before.count, read.cases);
    }

    /// What a load reports: the problems of the suite without its cases, `d`, those of the parts, and what is checked when all are known.
    pub(super) fn checked(&mut self, request: &Request, files: Files, mut d: Diagnostics) -> Loaded {
        self.parts.iter().filter(|part| !part.problems.is_empty()).for_each(|part| d.append(part.problems.clone()));
        let tree = self.tree.take();
        let scope = scope(request, &self.entry, &files, &self.shared);
        let together = self.check_together(scope, &mut d);
        // Now the calibration was read too, which may be a link, and names files.
        if let Some(tree) = &tree {
            self.links = symlink_check::find(tree, scope, &d);
        }
        d.append(self.links.clone());
        let has_unread_files = together.is_some()
            && request.part.is_none()
            && unused_files::report(&self.outline.watched, tree.as_ref(), &self.cases, scope, &mut d);
        let user_graders = together.as_ref().map(|_| graders_used(&self.cases)).unwrap_or_default();
        let suite = together.filter(|_| !d.has_errors()).map(|(mut suite, calibration)| {
            let read = loaded::read_suite_files(&files, &self.entry.roots);
            suite.digest = suite_digest(&read);
            LoadedSuite {
                module: self.module(),
                sources: self.outline.watched.clone(),
                tests: tests(&suite, &self.cases),
                cases: self.cases.iter().map(loaded_case).collect(),
                files: read,
                has_unread_files,
                suite,
                calibration,
            }
        });
        Loaded { suite, user_graders, diagnostics: resolve(d, &files), files }
    }

    /// Name of the generated module: for a skill its own, since its directory may be a clone with any name.
    pub(super) fn module(&self) -> String {
        let skill = self.outline.suite.as_ref().filter(|suite| suite.layout == Layout::Skill);
        names::segment(skill.map_or(&self.entry.stem, |skill| &skill.name))
    }

    /// Index of the file of cases at each path that nothing else reads.
    pub(super) fn own_files(&self, files: &Files) -> HashMap<PathBuf, usize> {
        let mut readers: HashMap<PathBuf, usize> = HashMap::with_capacity(self.parts.len());
        for file in files.all() {
            *readers.entry(file.path).or_default() += 1;
        }
        let path = |index| Some((self.path(index)?, index));
        (0..self.parts.len()).filter_map(path).filter(|(path, _)| readers.get(path) == Some(&1)).collect()
    }

    /// Whether a file of cases has a problem in another file.
    pub(super) fn has_shared_problems_in(&self, index: usize, files: &Files) -> bool {
        let problems = &self.parts[index].problems;
        !problems.is_empty()
            && problems
                .iter()
                .any(|problem| problem.place.is_some_and(|place| Some(files.get(place.file).path) != self.path(index)))
    }

    fn path(&self, index: usize) -> Option<PathBuf> {
        self.outline.cases.path(index, &self.entry.roots.suite_root)
    }
}

fn loaded_case(placed: &PlacedCase) -> LoadedCase {
    LoadedCase {
        case: Arc::clone(&placed.checked.case),
        source: placed.source.clone(),
        span: placed.checked.span,
        folders: placed.folders.clone(),
        function: placed.function.clone(),
        user_graders: placed.checked.user_graders.iter().map(|(name, _)| name.clone()).collect(),
        stands_alone: placed.stands_alone,
    }
}

fn scope<'a>(request: &'a Request, entry: &'a SuiteEntry, files: &'a Files, shared: &'a SharedFiles) -> Scope<'a> {
    Scope { request, roots: &entry.roots, files, shared, dir: &entry.roots.suite_root, vars: None }
}
