//! From a request to a checked suite.

mod loaded;
mod read_suite;
mod session;

use std::collections::HashMap;

use evalsuite_schema::{Calibration, Layout, OLD_SKILL, Suite, WITH_SKILL, WITHOUT_SKILL};

use crate::cases::{PlacedCase, target_skill};
use crate::diagnostic::{Code, Diagnostics, resolve};
use crate::fields::paths::{self, Roots, Scope};
use crate::request::{Part, Request};
use crate::source::{Files, Span};
use crate::suite::{cross_check, unused_files};
use crate::{calibration, names};
use read_suite::ReadSuite;

pub use loaded::{GraderUse, Loaded, LoadedCase, LoadedPart, LoadedSuite, SuiteFiles, Test, suite_digest};
pub use session::{CasePlace, Session};

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
