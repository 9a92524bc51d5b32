//! A suite that is loaded again and again while its files change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Loaded, LoadedCase, LoadedSuite, SuiteFiles, check_together, graders_used, tests};
use crate::cases::{PlacedCase, ReadCases};
use crate::diagnostic::{Diagnostics, resolve};
use crate::fields::paths::Scope;
use crate::fields::shared_files::SharedFiles;
use crate::layouts::{Entry, Outline};
use crate::read::MAX_TOTAL;
use crate::request::Request;
use crate::source::{Files, Position, Texts};
use crate::suite::{linked_directories, unused_files};
use crate::{layouts, names};

/// A suite that is loaded again and again while its files change, for editors.
///
/// Each load reports what [`load`](crate::load) would report. After a change of a file of cases, only this file is read again, and the
/// cases are checked against each other; after any other change everything is read.
#[derive(Debug)]
pub struct Session {
    request: Request,
    known: Option<Known>,
    /// Number of files that the last load has read.
    files_read: usize,
}

/// What the last load of the whole suite has read.
#[derive(Debug)]
struct Known {
    files: Files,
    shared: SharedFiles,
    entry: Entry,
    outline: Outline,
    /// Problems of the suite without its cases.
    outline_problems: Diagnostics,
    /// In the order of `outline.cases`.
    parts: Vec<CasesOfFile>,
    cases: Vec<PlacedCase>,
    unused: Diagnostics,
    has_unread_files: bool,
    /// Index of the file of cases at each path, unless something else reads it too.
    own_files: HashMap<PathBuf, usize>,
    /// Whether one part has reported a problem of a file that others may share: then it is not known who else would report it.
    has_shared_problems: bool,
}

/// What a file of cases has contributed.
#[derive(Debug)]
struct CasesOfFile {
    /// Number of its cases.
    count: usize,
    problems: Diagnostics,
}

impl Session {
    /// Nothing is read before the first load.
    pub fn new(request: Request) -> Self {
        Self { request, known: None, files_read: 0 }
    }

    /// Loads the whole suite, with `texts` in place of files.
    pub fn load(&mut self, texts: Texts) -> Loaded {
        self.request.texts = texts;
        let files = Files::new(&self.request.workspace_root).with_texts(&self.request.texts);
        let loaded = match Known::read(&self.request, files) {
            Ok(known) => {
                let loaded = known.checked(&self.request);
                self.known = Some(known);
                loaded
            }
            Err(loaded) => {
                self.known = None;
                *loaded
            }
        };
        self.files_read = loaded.files.number_read();
        loaded
    }

    /// Loads the suite after the text of the file at `path` has changed.
    pub fn reload(&mut self, path: &Path, texts: Texts) -> Loaded {
        let one = self.known.as_ref().and_then(|known| known.reads_alone(path));
        let (Some(index), Some(known)) = (one, &mut self.known) else { return self.load(texts) };
        let before = known.files.number_read();
        self.request.texts = texts;
        known.read_again(index, path, &self.request);
        let loaded = known.checked(&self.request);
        self.files_read = loaded.files.number_read() - before;
        loaded
    }

    /// Checks the suite as it was loaded last, without reading its files; `None` if there is no suite.
    pub fn check_again(&mut self, texts: Texts) -> Option<Loaded> {
        self.request.texts = texts;
        self.files_read = 0;
        self.known.as_ref().map(|known| known.checked(&self.request))
    }

    /// Name of the generated module; `None` if there is no suite.
    pub fn module(&self) -> Option<String> {
        self.known.as_ref().map(|known| names::segment(&known.entry.stem))
    }

    /// The cases that could be read, also where the suite has errors.
    pub fn cases(&self) -> Vec<CasePlace> {
        self.known.as_ref().map(Known::cases).unwrap_or_default()
    }

    /// Number of files that the last load has read, each as often as it was read.
    pub fn files_read(&self) -> usize {
        self.files_read
    }
}

/// Where a case is written, and where it names others.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CasePlace {
    /// Id of the case.
    pub id: String,
    /// The file of the case.
    pub file: PathBuf,
    /// Where the case starts.
    pub start: Position,
    /// The text that is its id; `None` if its directory is named by the id.
    pub id_range: Option<(Position, Position)>,
    /// Ids that `depends_on` names, with their text in the file.
    pub dependencies: Vec<(String, (Position, Position))>,
    /// The modules of its test below that of the suite and of the target, and its function.
    pub test: Vec<String>,
}

impl Known {
    fn cases(&self) -> Vec<CasePlace> {
        let place = |placed: &PlacedCase| {
            let checked = &placed.checked;
            let has_id = checked.id_span != checked.span;
            let dependencies = checked.dependencies.iter();
            CasePlace {
                id: checked.case.id.clone(),
                file: self.files.get(checked.span.file).path,
                start: checked.span.start(),
                id_range: checked.id_span.range.filter(|_| has_id),
                dependencies: dependencies.filter_map(|(id, span)| Some((id.clone(), span.range?))).collect(),
                test: placed.folders.iter().chain([&placed.function]).cloned().collect(),
            }
        };
        self.cases.iter().map(place).collect()
    }

    /// `Err`: there is no suite, or its file cannot be read.
    fn read(request: &Request, files: Files) -> Result<Self, Box<Loaded>> {
        let (shared, mut d) = (SharedFiles::default(), Diagnostics::new());
        let Some(entry) = layouts::find(request, &files, &mut d) else { return Err(without_suite(files, d)) };
        let scope = scope(request, &entry, &files, &shared);
        let Some(outline) = layouts::outline(&entry, scope, &mut d) else { return Err(without_suite(files, d)) };
        let read = |index, parts: &mut Vec<(ReadCases, Diagnostics)>, _: &mut Diagnostics| {
            let (mut read, mut problems) = (ReadCases::default(), Diagnostics::new());
            outline.cases.read_one(index, scope, &mut read, &mut problems);
            parts.push((read, problems));
        };
        let (mut parts, mut cases) = (Vec::new(), Vec::new());
        for (of_file, problems) in
            outline.cases.on_threads(request.threads, &mut Diagnostics::new(), read).into_iter().flatten()
        {
            parts.push(CasesOfFile { count: of_file.cases.len(), problems });
            cases.extend(of_file.cases);
        }
        let mut unused = Diagnostics::new();
        let has_unread_files = unused_files::report(&outline.watched, &cases, scope, &mut unused);
        let known: Vec<&Diagnostics> = std::iter::once(&d).chain(parts.iter().map(|part| &part.problems)).collect();
        unused.append(linked_directories::find(&entry.roots, request, &files, &known));
        let own_files = own_files(&outline, &entry, &files, parts.len());
        let mut known = Self {
            files,
            shared,
            entry,
            outline,
            outline_problems: d,
            parts,
            cases,
            unused,
            has_unread_files,
            own_files,
            has_shared_problems: false,
        };
        known.has_shared_problems = (0..known.parts.len()).any(|index| known.has_shared_problems_in(index));
        Ok(known)
    }

    /// Whether a file of cases has a problem in another file.
    fn has_shared_problems_in(&self, index: usize) -> bool {
        let problems = &self.parts[index].problems;
        let own = || self.outline.cases.path(index, &self.entry.roots.suite_root);
        !problems.is_empty()
            && problems
                .iter()
                .any(|problem| problem.place.is_some_and(|place| Some(self.files.get(place.file).path) != own()))
    }

    /// The index of the file of cases at `path`, if it can be read without anything else.
    fn reads_alone(&self, path: &Path) -> Option<usize> {
        // Each reading of a file adds to the texts of a load, which are limited.
        let is_small = self.files.bytes_read() <= MAX_TOTAL / 2;
        self.own_files.get(path).copied().filter(|_| is_small && !self.has_shared_problems)
    }

    fn read_again(&mut self, index: usize, path: &Path, request: &Request) {
        self.files.set_texts(&request.texts);
        let known_files = self.files.all().len();
        let (mut read, mut problems) = (ReadCases::default(), Diagnostics::new());
        let scope = scope(request, &self.entry, &self.files, &self.shared);
        self.outline.cases.read_one(index, scope, &mut read, &mut problems);
        let first: usize = self.parts[..index].iter().map(|part| part.count).sum();
        let part = CasesOfFile { count: read.cases.len(), problems };
        let before = std::mem::replace(&mut self.parts[index], part);
        self.cases.splice(first..first + before.count, read.cases);
        self.has_shared_problems = self.has_shared_problems_in(index);
        // A file of cases that this one names now has two readers.
        for file in self.files.all().iter().skip(known_files).filter(|file| file.path != path) {
            self.own_files.remove(&file.path);
        }
    }

    /// What a load reports: the parts together, and what is checked when all are known.
    fn checked(&self, request: &Request) -> Loaded {
        let files = self.files.copy();
        let mut d = self.outline_problems.clone();
        self.parts.iter().filter(|part| !part.problems.is_empty()).for_each(|part| d.append(part.problems.clone()));
        let scope = scope(request, &self.entry, &files, &self.shared);
        let together = check_together(&self.entry, &self.outline, &self.cases, scope, &mut d);
        d.append(self.unused.clone());
        let user_graders = together.as_ref().map(|_| graders_used(&self.cases)).unwrap_or_default();
        let suite = together.filter(|_| !d.has_errors()).map(|(suite, calibration)| LoadedSuite {
            module: names::segment(&self.entry.stem),
            sources: self.outline.watched.clone(),
            tests: tests(&suite, &self.cases),
            cases: self.cases.iter().map(loaded_case).collect(),
            // The code generator alone needs the digests.
            files: SuiteFiles::new(),
            has_unread_files: self.has_unread_files,
            suite,
            calibration,
        });
        Loaded { suite, user_graders, diagnostics: resolve(d, &files), files }
    }
}

fn without_suite(files: Files, d: Diagnostics) -> Box<Loaded> {
    let diagnostics = resolve(d, &files);
    Box::new(Loaded { suite: None, user_graders: Vec::new(), diagnostics, files })
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

fn scope<'a>(request: &'a Request, entry: &'a Entry, files: &'a Files, shared: &'a SharedFiles) -> Scope<'a> {
    Scope { request, roots: &entry.roots, files, shared, dir: &entry.roots.suite_root }
}

fn own_files(outline: &Outline, entry: &Entry, files: &Files, count: usize) -> HashMap<PathBuf, usize> {
    let mut readers: HashMap<PathBuf, usize> = HashMap::with_capacity(count);
    for file in files.all() {
        *readers.entry(file.path).or_default() += 1;
    }
    let path = |index| Some((outline.cases.path(index, &entry.roots.suite_root)?, index));
    (0..count).filter_map(path).filter(|(path, _)| readers.get(path) == Some(&1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use crate::test_package::Package;

    const CASES: &[(&str, &str)] = &[
        (
            "suite/EVAL.yaml",
            "name: shop\nassertions: [{ include: polite }]\ntests: ['file://list.yaml', 'file://more.jsonl']\n",
        ),
        (
            "suite/list.yaml",
            "- { id: a, input: Hi, criteria: x }\n- { id: b, input: Hi, depends_on: [c], criteria: x }\n",
        ),
        ("suite/more.jsonl", "{\"id\": \"c\", \"input\": \"Hi\", \"assertions\": [{\"type\": \"own\"}]}\n"),
        ("suite/.evalsuite/templates/polite.yaml", "assertions: [{ type: contains, value: x }]\n"),
        ("suite/.evalsuite/templates/broken.yaml", "assertions: [{ type: contains, valu: x }]\n"),
    ];

    const TASKS: &[(&str, &str)] = &[
        ("suite/suite.json", "{ \"name\": \"x\", \"agent_name\": \"x\" }"),
        ("suite/tasks/a.json", "{ \"id\": \"a\", \"description\": \"x\", \"graders\": [{ \"name\": \"own\" }] }"),
        ("suite/tasks/b.json", "{ \"id\": \"b\", \"description\": \"x\", \"graders\": [{ \"name\": \"own\" }] }"),
    ];

    /// Asserts that the session reports what a load from scratch reports, after each change of a file.
    fn assert_like_load(package: &Package, changes: &[(&str, &str, usize)]) {
        let root = package.path();
        let mut session = Session::new(Request::new("suite", &root));
        session.load(Texts::default());
        let mut texts: HashMap<PathBuf, Arc<str>> = HashMap::new();
        for (file, text, files_read) in changes {
            texts.insert(root.join(file), (*text).into());
            let now: Texts = texts.clone().into_iter().collect();
            let again = session.reload(&root.join(file), now.clone());
            let mut request = Request::new("suite", &root);
            request.texts = now;
            let fresh = load(&request);
            assert_eq!(again.diagnostics, fresh.diagnostics, "{file}: {text}");
            let graders = |loaded: &Loaded| {
                let place = |used: &crate::GraderUse| (used.name.clone(), loaded.files.locate(used.span));
                loaded.user_graders.iter().map(place).collect::<Vec<_>>()
            };
            assert_eq!(graders(&again), graders(&fresh), "{file}: {text}");
            let ids = |loaded: &Loaded| {
                let suite =
                    loaded.suite.as_ref().map(|suite| (suite.cases.clone(), suite.tests.clone(), suite.module.clone()));
                suite.map(|(cases, tests, module)| {
                    (cases.into_iter().map(|case| case.case).collect::<Vec<_>>(), tests, module)
                })
            };
            assert_eq!(ids(&again), ids(&fresh), "{file}: {text}");
            assert_eq!(session.files_read(), *files_read, "{file}: {text}");
        }
    }

    #[test]
    fn a_session_reports_what_a_load_reports_and_reads_what_has_changed() {
        let package = Package::new(CASES);
        assert_like_load(
            &package,
            &[
                ("suite/list.yaml", "- { id: a, input: Hi, criteria: x }\n- { id: c, inptu: Hi, criteria: x }\n", 1),
                ("suite/list.yaml", "- { id: a, input: Hi, assertions: [{ type: own }] }\n", 1),
                ("suite/more.jsonl", "{\"id\": \"a\", \"input\": \"Hi\", \"criteria\": \"x\"}\nno\n", 1),
                ("suite/list.yaml", "- { id: z, input: [", 1),
                ("suite/list.yaml", "- { id: z, input: Hi, assertions: [{ include: broken }] }\n", 2),
                // Who else would report what is wrong with the template is not known: everything is read.
                ("suite/list.yaml", "- { id: z, input: Hi, criteria: x }\n", 4),
                ("suite/.evalsuite/templates/polite.yaml", "assertions: [{ type: contans, value: x }]\n", 4),
                ("suite/EVAL.yaml", "name: [", 1),
                ("suite/EVAL.yaml", "name: shop\ntests: ['file://more.jsonl']\n", 2),
                ("suite/more.jsonl", "{\"id\": \"a\", \"input\": \"Hi\", \"criteria\": \"x\"}\n", 1),
            ],
        );
    }

    #[test]
    fn a_session_of_tasks() {
        let package = Package::tasks(TASKS);
        assert_like_load(
            &package,
            &[
                ("suite/tasks/a.json", "{ \"id\": \"b\", \"description\": \"x\", \"graders\": [] }", 1),
                (
                    "suite/tasks/a.json",
                    "{ \"id\": \"c\", \"description\": \"x\", \"graders\": [{ \"name\": \"other\" }] }",
                    1,
                ),
                ("suite/suite.json", "{ \"name\": \"x\", \"agent_name\": \"x\", \"kind\": \"y\" }", 3),
            ],
        );
    }
}
