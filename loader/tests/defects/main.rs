//! Breaks valid suites in every way of the catalogue, and looks whether the loader says so, at the right place.

mod breaks;
mod check;
mod choices;
mod generate;
mod project;
mod render;
mod schemas;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalsuite_needs::slow;
use evalsuite_schema::diagnostics::Code;
use proptest::prelude::*;

use crate::breaks::Break;
use crate::choices::Choices;
use crate::project::{Layout, Project};

/// How many suites with everything there are of each layout: each begins with other alternatives.
const VARIANTS: usize = 4;

fn assert_valid(project: &Project) {
    let package = tempfile::tempdir().unwrap();
    project.write(package.path());
    let mut found = check::diagnostics(project, package.path());
    found.retain(|found| !check::may_be_anywhere(found.code));
    assert!(found.is_empty(), "a valid suite has diagnostics:\n{}", check::describe(project, &found));
}

/// Breaks the project on disk, looks what the loader says, and mends it again.
fn apply(project: &Project, breaks: &[&Break], package: &Path) -> Result<(), String> {
    let mut broken = project.clone();
    let mut expected = Vec::new();
    for each in breaks {
        expected.extend(each.apply(&mut broken));
    }
    broken.write_changes(project, package);
    let found = check::diagnostics(&broken, package);
    project.write_changes(&broken, package);
    check::assert_sorted(&found);
    let follow_ups: Vec<_> = breaks.iter().flat_map(|each| each.follow_ups.iter().copied()).collect();
    check::compare(&broken, &expected, &follow_ups, &found).map_err(|problem| {
        let files = breaks.iter().flat_map(|each| &each.files).map(|file| check::listing(&broken, file));
        format!("{problem}\n{}{}", check::describe(&broken, &found), files.collect::<String>())
    })
}

/// Puts breaks together that do not concern each other.
fn batches(breaks: Vec<Break>) -> Vec<Vec<Break>> {
    let (local, others): (Vec<_>, Vec<_>) = breaks.into_iter().partition(|each| each.is_local);
    let mut batches: Vec<(BTreeSet<String>, Vec<Break>)> = Vec::new();
    // Batches before this one have a break of every file that is left.
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for each in local {
        let first = open.entry(each.files[0].clone()).or_default();
        let is_free = |(files, _): &(BTreeSet<String>, Vec<Break>)| each.files.iter().all(|file| !files.contains(file));
        let index = batches[*first..].iter().position(is_free).map_or(batches.len(), |index| *first + index);
        if index == batches.len() {
            batches.push(Default::default());
        }
        *first = index + 1;
        batches[index].0.extend(each.files.iter().cloned());
        batches[index].1.push(each);
    }
    batches.into_iter().map(|(_, batch)| batch).chain(others.into_iter().map(|each| vec![each])).collect()
}

/// One break of every kind that was not seen, spread over the files.
fn one_of_each_kind(breaks: Vec<Break>, seen: &mut BTreeSet<(Code, String)>) -> Vec<Break> {
    let mut kinds: BTreeMap<(Code, String), Vec<Break>> = BTreeMap::new();
    for each in breaks {
        let kind = (each.code, each.what.clone());
        if !seen.contains(&kind) {
            kinds.entry(kind).or_default().push(each);
        }
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    for (kind, places) in kinds {
        seen.insert(kind);
        let load = |each: &Break| (!each.is_local, each.files.first().and_then(|file| taken.get(file)).copied());
        let Some(least) = places.into_iter().min_by_key(load) else { continue };
        *taken.entry(least.files.first().cloned().unwrap_or_default()).or_default() += 1;
        chosen.push(least);
    }
    chosen
}

#[slow(hostile)]
#[test]
fn a_suite_with_everything_is_valid() {
    for layout in Layout::ALL {
        for start in 0..VARIANTS {
            assert_valid(&generate::project(Choices::full(start), *layout));
        }
    }
}

/// Every kind of break, at one place of its first suite; and there is a break for every code.
#[slow(hostile)]
#[test]
fn every_kind_of_break_is_reported() {
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for layout in Layout::ALL {
        for start in 0..VARIANTS {
            let project = generate::project(Choices::full(start), *layout);
            let package = tempfile::tempdir().unwrap();
            project.write(package.path());
            let new = one_of_each_kind(breaks::all(&project), &mut seen);
            for batch in batches(new) {
                let all: Vec<&Break> = batch.iter().collect();
                if apply(&project, &all, package.path()).is_ok() {
                    continue;
                }
                for each in all {
                    if let Err(problem) = apply(&project, &[each], package.path()) {
                        failures
                            .insert(format!("{} {}", each.code, each.what), format!("{layout:?} {start}: {problem}"));
                    }
                }
            }
        }
    }
    println!("{} kinds of break", seen.len());
    for (what, problem) in &failures {
        println!("=== {what}\n{problem}");
    }
    assert!(failures.is_empty(), "{} kinds of break", failures.len());

    let broken: BTreeSet<Code> = seen.iter().map(|(code, _)| *code).collect();
    let not_broken: BTreeSet<Code> = Code::ALL.iter().copied().filter(|code| !broken.contains(code)).collect();
    assert_eq!(not_broken, ELSEWHERE.iter().map(|(code, _)| *code).collect(), "codes without a break");
}

/// What no load can say, and who says it.
const ELSEWHERE: &[(Code, &str)] = &[
    (Code::UnknownGrader, "the macro knows which graders are registered"),
    (Code::GraderRegistration, "the macro knows which graders are registered"),
    (Code::UnusedGrader, "the macro knows which graders are registered"),
    (Code::TargetsFile, "targets files are loaded by themselves: tests/goldens"),
    (Code::TargetNotRunnable, "targets files are loaded by themselves: tests/goldens"),
    (Code::UnknownPlaceholder, "targets files are loaded by themselves: tests/goldens"),
    (Code::UnsetVariable, "variables are looked up when a trial starts"),
    (Code::GraderConfigRejected, "graders in Rust see their configs when tests run"),
    (Code::SuiteChanged, "the directory is compared when tests run"),
    (Code::NoTargetsFile, "the macro knows whether the agent is a command"),
    (Code::NotEmbedded, "what a suite embeds is gathered with its code: tests/ui"),
    (Code::UnknownJudge, "the macro has the list of judges: tests/ui"),
    (Code::UnknownUser, "the macro has the list of users: tests/ui"),
    (Code::MissingFeature, "the compiler knows the features of evalsuite: tests/ui"),
    (Code::UndefinedTarget, "the macro knows whether the agent is a command: tests/ui"),
    (Code::NamesDifferInCase, "some disks have only one of the files: tests/goldens"),
    (Code::PassesWithoutWork, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::NothingFails, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::ReferenceFails, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::BrokenReferencesPass, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::VacuousGrader, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::ImpossibleGrader, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::OnlyLimits, "graders run only in a probe: runtime/src/run/probe/tests"),
    (Code::UncalledTool, "the tools of an agent are known after a run: cli/tests/it/check"),
    (Code::SuiteOutsidePackage, "a suite beside its package: a_suite_outside_of_its_package_is_a_warning"),
];

#[slow(hostile)]
#[test]
fn a_suite_outside_of_its_package_is_a_warning() {
    let directory = tempfile::tempdir().unwrap();
    let mut project = generate::project(Choices::new(Vec::new()), Layout::Cases);
    project.write(directory.path());
    let package = directory.path().join("package");
    std::fs::create_dir(&package).unwrap();
    let outside = directory.path().join(&project.root);
    project.entry = format!("../{}", project.entry);
    let found = check::diagnostics(&project, &package);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(only.code, Code::SuiteOutsidePackage);
    assert_eq!((only.line, only.file.as_str()), (0, outside.to_str().unwrap()));
}

/// The decisions that a suite is made from, too many to be shown.
#[derive(Clone)]
struct Decisions(Vec<u32>);

impl std::fmt::Debug for Decisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} decisions", self.0.len())
    }
}

fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 24;
    }
    config
}

/// A suite of any layout.
fn suites() -> impl Strategy<Value = (Decisions, Layout)> {
    let decisions = prop::collection::vec(any::<u32>(), 0..900).prop_map(Decisions);
    (decisions, prop::sample::select(Layout::ALL))
}

proptest! {
    #![proptest_config(config())]

    #[slow(hostile)]
    #[test]
    fn a_valid_suite_has_no_diagnostics((decisions, layout) in suites()) {
        assert_valid(&generate::project(Choices::new(decisions.0), layout));
    }

    #[slow(hostile)]
    #[test]
    fn a_break_is_reported_at_its_place(
        (decisions, layout) in suites(),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 4),
    ) {
        let project = generate::project(Choices::new(decisions.0), layout);
        let package = tempfile::tempdir().unwrap();
        project.write(package.path());
        let breaks = breaks::all(&project);
        for index in chosen {
            let each = index.get(&breaks);
            if let Err(problem) = apply(&project, &[each], package.path()) {
                panic!("{} {}\n{problem}", each.code, each.what);
            }
        }
    }

    #[slow(hostile)]
    #[test]
    fn breaks_of_several_files_are_reported_together_and_in_order(
        (decisions, layout) in suites(),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let project = generate::project(Choices::new(decisions.0), layout);
        let package = tempfile::tempdir().unwrap();
        project.write(package.path());
        let mut breaks = breaks::all(&project);
        breaks.retain(|each| each.is_local);
        let mut files = BTreeSet::new();
        let mut together: Vec<&Break> = Vec::new();
        for index in chosen {
            let each = index.get(&breaks);
            if each.files.iter().all(|file| !files.contains(file)) {
                files.extend(&each.files);
                together.push(each);
            }
        }
        if let Err(problem) = apply(&project, &together, package.path()) {
            let what: Vec<String> = together.iter().map(|each| format!("{} {}", each.code, each.what)).collect();
            panic!("{}\n{problem}", what.join("\n"));
        }
    }
}
