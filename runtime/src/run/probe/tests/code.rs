//! Probes of graders that are code, which may look at anything.

use std::path::Path;

use evalsuite_records::record::{ProbedCase, ResultKind};
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{
    Case, Grader, GraderConfig, Layout, Location, Object, PathRef, ReferenceSolution, ReferenceSource, Suite,
    SuiteKind, Workspace,
};

use super::codes;
use crate::model::evals::Evals;
use crate::model::evidence::{Evidence, WorkspaceChanges};
use crate::model::suite::loaded_suite;
use crate::run::made_up::bounded_grading::AllowedGraders;
use crate::run::made_up::suite::MadeUpSuite;
use crate::run::probe::findings;
use crate::run::probe::findings::VerdictCounts;
use crate::run::probe::suite_probe::SuiteProbe;
use crate::run::settings::Settings;

fn place(line: u32) -> Location {
    Location::new("suites/s/tasks/c.json", line, 5)
}

fn user(name: &str) -> Grader {
    Grader::new(name, place(4), GraderConfig::User { grader: name.to_owned(), config: Object::new() })
}

fn contains(text: &str) -> Grader {
    let config = GraderConfig::Contains(evalsuite_schema::grader::TextValue { value: text.to_owned() });
    Grader::new("contains", place(5), config)
}

fn task(graders: Vec<Grader>) -> Case {
    let mut case = Case::new("c", place(1));
    case.graders = graders;
    case
}

fn probe(root: &Path, case: &Case) -> ProbedCase {
    let mut suite = Suite::new("s", Layout::Tasks, SuiteKind::Regression, place(1));
    suite.root = "suite-of-test".to_owned();
    let suite = loaded_suite(suite, vec![case.clone()], None, root).unwrap();
    let evals = Evals::new(suite)
        .with_grader("untouched", |evidence: &Evidence<'_>| *evidence.changes() == WorkspaceChanges::default())
        .with_grader("kept", |evidence: &Evidence<'_>| {
            evidence.changes().modified.is_empty() && evidence.changes().deleted.is_empty()
        })
        .with_grader("anything", |_: &Evidence<'_>| true)
        .with_grader("has_total", |evidence: &Evidence<'_>| evidence.answer().contains("\"total\": 14.2"));
    let allowed = AllowedGraders { judges: false, commands: true };
    let made_up = MadeUpSuite::new(evals, &Settings::default(), allowed).unwrap();
    let probe = SuiteProbe { suite: &made_up, chosen: &|_| true, stored: None, output: None, on_case: &|| () };
    let mut record = probe.run().unwrap();
    assert!(made_up.end().is_empty());
    record.cases.remove(0)
}

fn in_nowhere(case: &Case) -> ProbedCase {
    probe(Path::new("/"), case)
}

/// Adds the findings about graders, as if trials with these verdicts were recorded.
fn findings(case: &Case, probed: &ProbedCase, trials: VerdictCounts) -> Vec<&'static str> {
    let mut probed = [probed.clone()];
    let verdicts = || case.graders.iter().map(|grader| (grader.name.clone(), trials)).collect();
    let recorded = |_| verdicts();
    findings::add_grader_findings(&[case], &mut probed, &recorded);
    codes(&probed[0])
}

#[test]
fn a_grader_that_forbids_changes_of_files_is_failed_by_an_agent_that_makes_them() {
    let package = tempfile::tempdir().unwrap();
    for directory in ["suite-of-test", "desk"] {
        std::fs::create_dir_all(package.path().join(directory)).unwrap();
    }
    for file in ["a.txt", "b.txt"] {
        std::fs::write(package.path().join("desk").join(file), "kept").unwrap();
    }
    let mut on_a_desk = task(vec![user("untouched"), user("kept"), user("anything")]);
    on_a_desk.dir = "suite-of-test".to_owned();
    on_a_desk.workspace = Some(Workspace { template: Some(PathRef::new("desk")), ..Workspace::default() });
    let failed = |probed: &ProbedCase| {
        let failed = probed.graders.iter().filter(|grader| grader.failed > 0);
        failed.map(|grader| grader.path.clone()).collect::<Vec<_>>()
    };
    let probed = probe(package.path(), &on_a_desk);
    assert_eq!(failed(&probed), ["kept", "untouched"], "{probed:#?}");
    let nowhere = task(vec![user("untouched"), user("anything")]);
    assert_eq!(failed(&in_nowhere(&nowhere)), ["untouched"]);
}

#[test]
fn code_that_fails_nothing_is_vacuous_once_it_has_passed_a_trial_that_failed() {
    let case = task(vec![contains("14.20"), user("anything")]);
    let mut probed = in_nowhere(&case);
    probed.findings.clear();
    let trials = |passed, in_failed_trials| VerdictCounts { passed, failed: 0, in_failed_trials };
    let of = |trials| findings(&case, &probed, trials);
    assert_eq!(of(trials(0, 0)), [""; 0]);
    assert_eq!(of(trials(9, 0)), [""; 0], "a good agent does nothing that is forbidden");
    assert_eq!(of(trials(4, 4)), [""; 0], "these are few trials");
    assert_eq!(of(trials(5, 1)), ["vacuous-grader"]);
    assert_eq!(of(VerdictCounts { failed: 1, ..trials(5, 1) }), [""; 0]);
}

#[test]
fn an_outcome_that_is_data_need_not_be_the_answer() {
    let Value::Object(outcome) = json!({ "total": 14.2, "paid": true }) else { panic!("an object") };
    let probe = |graders| {
        let mut case = task(graders);
        case.reference_solution = Some(ReferenceSolution::new(Some(outcome.clone()), ReferenceSource::Manual));
        let probed = in_nowhere(&case);
        let reference = probed.results_of(ResultKind::Reference).next().map(|result| result.passes);
        (
            reference,
            probed.results_of(ResultKind::Mutant).count() > 0,
            findings(&case, &probed, VerdictCounts::default()),
        )
    };
    // What the agent has to say is not in it.
    let (reference, has_mutants, findings) = probe(vec![contains("Saved")]);
    assert_eq!((reference, has_mutants), (Some(None), false));
    assert!(!findings.contains(&"reference-fails") && !findings.contains(&"impossible-grader"), "{findings:?}");
    // Nothing says that it was read.
    let mut forbids = contains("Saved");
    forbids.negate = true;
    let (reference, has_mutants, _) = probe(vec![forbids, user("untouched")]);
    assert_eq!((reference, has_mutants), (Some(None), false));
    let is_json = Grader::new("is-json", place(6), GraderConfig::IsJson);
    for reads in [user("has_total"), is_json] {
        let (reference, has_mutants, _) = probe(vec![reads]);
        assert_eq!((reference, has_mutants), (Some(Some(true)), true));
    }
}
