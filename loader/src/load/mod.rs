//! From a request to a checked suite, once or again and again while its files change.

mod loaded;
mod read_suite;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use evalsuite_schema::{Calibration, Layout, OLD_SKILL, Suite, WITH_SKILL, WITHOUT_SKILL};
use read_suite::ReadSuite;

use crate::cases::{PlacedCase, target_skill};
use crate::diagnostic::{Code, Diagnostics, resolve};
use crate::fields::paths::{self, Roots, Scope};
use crate::read::MAX_TOTAL;
use crate::request::{Part, Request};
use crate::source::{Files, Position, Span, Texts, plain_text};
use crate::suite::{cross_check, unused_files};
use crate::{calibration, names};

pub use loaded::{GraderUse, Loaded, LoadedCase, LoadedPart, LoadedSuite, SuiteFiles, Test, suite_digest};

/// Reads and checks the suite that `request` names. Never panics, and never stops at the first problem.
pub fn load(request: &Request) -> Loaded {
    load_with_others(request).loaded
}

/// Reads and checks some cases of the suite that `request` names, with what they share.
pub fn load_part(request: &Request, part: Part) -> LoadedPart {
    load_with_others(&Request { part: Some(part), threads: 1, ..request.clone() })
}

fn load_with_others(request: &Request) -> LoadedPart {
    let files = Files::new(&request.workspace_root).with_texts(&request.texts);
    let mut d = Diagnostics::new();
    match ReadSuite::read(request, &files, &mut d) {
        Some(mut read) => {
            let others = std::mem::take(&mut read.others);
            LoadedPart { loaded: read.checked(request, files, d), others }
        }
        None => LoadedPart { loaded: Loaded::without_suite(files, d), others: Vec::new() },
    }
}

impl Loaded {
    fn without_suite(files: Files, d: Diagnostics) -> Self {
        Self { suite: None, user_graders: Vec::new(), diagnostics: resolve(d, &files), files }
    }
}

impl ReadSuite {
    /// Checks the cases against each other and against the suite, and reads the calibration of its judges.
    fn check_together(&self, scope: Scope<'_>, d: &mut Diagnostics) -> Option<(Suite, Option<Calibration>)> {
        let (mut suite, place, cases) = (self.outline.suite.clone()?, self.outline.place, &self.cases);
        let Scope { request, roots, files, .. } = scope;
        if cases.len() > cross_check::MAX_CASES {
            let message = format!("{} cases in one suite, more than {}", cases.len(), cross_check::MAX_CASES);
            d.report(Code::LimitExceeded, Span::whole(files.add(&roots.suite_root)), message, "split the suite");
        }
        let is_whole = request.part.is_none();
        if is_whole {
            cross_check::check(cases, files, d);
        }
        matrix(&mut suite, request, roots, files, d);
        cross_check::unique_targets(&suite, place, d);
        target_skill::report_shared_workspace(&suite, cases, place, d);
        let test_count = count_tests(&suite, cases);
        if test_count > MAX_TESTS {
            let message = format!("{test_count} tests in one suite, more than {MAX_TESTS}");
            d.report(Code::LimitExceeded, place, message, "list fewer targets, or split the suite");
            return None;
        }
        if !is_whole {
            return Some((suite, None));
        }
        cross_check::unjudged_criteria(cases, place, d);
        unused_files::report_answers_in_reach(&suite, place, cases, scope, d);
        let calibration = self.calibration(scope, d);
        Some((suite, calibration))
    }

    /// The calibration of the suite's judges.
    fn calibration(&self, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Calibration> {
        let entry = &self.entry;
        let own = entry.file.as_deref().map(paths::file_name).filter(|name| entry.layout.may_share_directory(name));
        let path = calibration::find(&entry.roots.suite_root, own.as_deref(), scope, d)?;
        let all = self.cases.iter().map(|placed| &*placed.checked.case);
        let all = (!d.has_errors()).then(|| all.map(|case| (case.id.as_str(), case)).collect());
        calibration::read(&path, all, scope, d)
    }
}

fn graders_used(cases: &[PlacedCase]) -> Vec<GraderUse> {
    let mut used: Vec<GraderUse> = Vec::new();
    for (name, span) in cases.iter().flat_map(|case| &case.checked.user_graders) {
        // A suite's grader is used by every case, and written once.
        if used.iter().rev().take(8).all(|known| known.span != *span || known.name != *name) {
            used.push(GraderUse { name: name.clone(), span: *span });
        }
    }
    used
}

/// The targets that say whether a trial has a skill.
const ARMS: [&str; 3] = [WITH_SKILL, WITHOUT_SKILL, OLD_SKILL];

/// The matrix named by the request, for a suite whose files have none.
fn matrix(suite: &mut Suite, request: &Request, roots: &Roots, files: &Files, d: &mut Diagnostics) {
    if request.targets.is_empty() {
        return;
    }
    let place = || Span::whole(files.add(&roots.suite_root));
    if !suite.targets.is_empty() {
        let message = "the files of the suite and the macro both list targets";
        d.report(Code::ConflictingKeys, place(), message, "keep `execution.targets`, or the macro's `targets`");
        return;
    }
    if suite.layout == Layout::Skill
        && let Some(arm) = request.targets.iter().find(|name| ARMS.contains(&name.as_str()))
    {
        let message = format!("the macro lists target `{arm}`, but every trial of this suite has the skill");
        d.report(
            Code::InvalidTarget,
            place(),
            message,
            "write `\"arms\": [\"with_skill\", \"without_skill\"]` in evals.json",
        );
        return;
    }
    for name in &request.targets {
        if suite.targets.iter().any(|target| target.name == *name) {
            d.report(Code::InvalidTarget, place(), format!("target `{name}` is listed twice"), "keep one");
        } else {
            suite.targets.push(evalsuite_schema::Target::new(name));
        }
    }
}

/// Maximum number of tests of one suite: every case with a few targets.
const MAX_TESTS: usize = 10 * cross_check::MAX_CASES;

fn count_tests(suite: &Suite, cases: &[PlacedCase]) -> usize {
    let of_case = |case: &PlacedCase| match case.checked.case.targets.len() {
        0 => suite.targets.len().max(1),
        chosen => chosen,
    };
    cases.iter().map(of_case).sum()
}

/// One test per case, or one per target and case.
fn tests(suite: &Suite, cases: &[PlacedCase]) -> Vec<Test> {
    let names = suite.targets.iter().map(|target| target.name.as_str());
    let index: HashMap<&str, usize> = names.clone().enumerate().map(|(index, name)| (name, index)).collect();
    let targets: Vec<Option<&str>> = if index.is_empty() { vec![None] } else { names.map(Some).collect() };
    let mut of_targets: Vec<Vec<usize>> = vec![Vec::new(); targets.len()];
    for (number, case) in cases.iter().enumerate() {
        let chosen = &case.checked.case.targets;
        if chosen.is_empty() {
            of_targets.iter_mut().for_each(|cases| cases.push(number));
        }
        for target in chosen.iter().filter_map(|name| index.get(name.as_str())) {
            of_targets[*target].push(number);
        }
    }
    let test = |target: Option<&str>, number: usize| {
        let PlacedCase { folders, function, .. } = &cases[number];
        let module = target.map(names::segment);
        let path = module.into_iter().chain(folders.iter().cloned()).chain([function.clone()]).collect();
        Test { case: number, target: target.map(str::to_owned), path }
    };
    let of_target = |(target, numbers): (Option<&str>, Vec<usize>)| {
        numbers.into_iter().map(|number| test(target, number)).collect::<Vec<_>>()
    };
    targets.into_iter().zip(of_targets).flat_map(of_target).collect()
}

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
    suite: ReadSuite,
    /// Problems of the suite without its cases.
    outline_problems: Diagnostics,
    /// Index of the file of cases at each path, unless something else reads it too.
    own_files: HashMap<PathBuf, usize>,
    /// Whether one part has reported a problem of a file that others may share: then it is not known who else would report it.
    has_shared_problems: bool,
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
        let mut d = Diagnostics::new();
        let loaded = match ReadSuite::read(&self.request, &files, &mut d) {
            Some(suite) => self.known.insert(Known::new(suite, files, d)).checked(&self.request),
            None => {
                self.known = None;
                Loaded::without_suite(files, d)
            }
        };
        self.files_read = loaded.files.number_read();
        loaded
    }

    /// Loads the suite after the text of the file at `path` has changed.
    pub fn reload(&mut self, path: &Path, texts: Texts) -> Loaded {
        let one = self.known.as_ref().and_then(|known| known.reads_alone(path, &texts));
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
        self.known.as_mut().map(|known| known.checked(&self.request))
    }

    /// Name of the generated module; `None` if there is no suite.
    pub fn module(&self) -> Option<String> {
        self.known.as_ref().map(|known| known.suite.module())
    }

    /// The cases that could be read, also where the suite has errors.
    pub fn cases(&self) -> Vec<CasePlace> {
        let Some(known) = &self.known else { return Vec::new() };
        let place = |placed: &PlacedCase| {
            let checked = &placed.checked;
            let has_id = checked.id_span != checked.span;
            let dependencies = checked.dependencies.iter();
            CasePlace {
                id: checked.case.id.clone(),
                file: known.files.get(checked.span.file).path,
                start: checked.span.start(),
                id_range: checked.id_span.range.filter(|_| has_id),
                dependencies: dependencies.filter_map(|(id, span)| Some((id.clone(), span.range?))).collect(),
                test: placed.folders.iter().chain([&placed.function]).cloned().collect(),
            }
        };
        known.suite.cases.iter().map(place).collect()
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
    fn new(suite: ReadSuite, files: Files, outline_problems: Diagnostics) -> Self {
        let own_files = suite.own_files(&files);
        let has_shared_problems = (0..suite.parts.len()).any(|index| suite.has_shared_problems_in(index, &files));
        Self { files, suite, outline_problems, own_files, has_shared_problems }
    }

    /// The index of the file of cases at `path`, if it can be read without anything else.
    fn reads_alone(&self, path: &Path, texts: &Texts) -> Option<usize> {
        // Each reading of a file adds to the texts of a load, which are limited.
        let is_small = self.files.bytes_read() <= MAX_TOTAL / 2;
        let index = *self.own_files.get(path)?;
        (is_small && !self.has_shared_problems && !self.ceases_to_name_a_file(path, texts)).then_some(index)
    }

    /// Whether the new text of a file of cases lacks the name of a file that was read for its old one: nothing may use that file now.
    fn ceases_to_name_a_file(&self, path: &Path, texts: &Texts) -> bool {
        let files = self.files.latest();
        let before = files.get(path).and_then(|file| self.files.text(file));
        let now = texts.get(path).cloned().or_else(|| plain_text(path).map(Into::into));
        let (Some(before), Some(now)) = (before, now) else { return true };
        let others = files.keys().filter(|other| !self.own_files.contains_key(*other));
        let mut names = others.filter_map(|other| other.file_name()?.to_str());
        names.any(|name| before.contains(name) && !now.contains(name))
    }

    fn read_again(&mut self, index: usize, path: &Path, request: &Request) {
        self.files.set_texts(&request.texts);
        let known_files = self.files.all().len();
        self.suite.read_again(index, request, &self.files);
        self.has_shared_problems = self.suite.has_shared_problems_in(index, &self.files);
        // A file of cases that this one names now has two readers.
        for file in self.files.all().iter().skip(known_files).filter(|file| file.path != path) {
            self.own_files.remove(&file.path);
        }
    }

    fn checked(&mut self, request: &Request) -> Loaded {
        self.suite.checked(request, self.files.copy(), self.outline_problems.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load;
    use crate::tests::Package;

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
    fn a_session_of_a_suite_with_a_calibration() {
        let package = Package::new(&[
            ("suite/EVAL.yaml", "tests: ./\n"),
            ("suite/a/case.yaml", "input: Hi\nassertions: [{ type: llm-rubric, value: polite }]\n"),
            ("suite/calibration.yaml", "samples: labels.jsonl\n"),
            ("suite/labels.jsonl", "{}\n"),
        ]);
        let case = "input: Hi\nassertions: [{ type: contains, value: x }]\n";
        assert_like_load(&package, &[("suite/a/case.yaml", case, 3), ("suite/calibration.yaml", "samples: [", 3)]);
    }

    #[test]
    fn a_session_of_a_suite_with_unused_files() {
        let package = Package::new(&[
            ("suite/EVAL.yaml", "tests: ./\n"),
            ("suite/a/case.yaml", "input: Hi\nassertions: [{ type: contains, value: x }]\n"),
            ("suite/a/data.json", "{}\n"),
            ("suite/a/rows.jsonl", "{\"word\": \"x\"}\n"),
            ("suite/calibration.yaml", "samples: []\n"),
            ("suite/unused.yaml", "{}\n"),
        ]);
        let case = |rest: &str| format!("input: Hi\nassertions: [{{ type: contains, value: x }}]\n{rest}");
        let (named, wrong) = (case("input_files: [data.json]\n"), case("inptu: x\n"));
        assert_like_load(
            &package,
            &[
                ("suite/a/case.yaml", &case(""), 2),
                ("suite/a/case.yaml", &wrong, 2),
                ("suite/a/case.yaml", &named, 2),
                ("suite/a/case.yaml", &case(""), 2),
                ("suite/a/case.yaml", &case("matrix: rows.jsonl\n"), 3),
                // Whether another case reads the rows is not known.
                ("suite/a/case.yaml", &case(""), 3),
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
