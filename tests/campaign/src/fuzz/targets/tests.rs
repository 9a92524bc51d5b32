//! The corpus is accepted: otherwise mutations would not get beyond the first check.

use evalsuite_loader::{Request, load, load_targets};
use evalsuite_schema::diagnostics::render;

use super::*;
use crate::fuzz::corpus;

#[test]
fn every_seed_of_the_corpus_is_read() {
    for (name, _) in TARGETS {
        let scratch = tempfile::tempdir().unwrap();
        let mut target = open(name, scratch.path()).unwrap();
        assert!(!target.seeds().is_empty());
        for seed in 0..target.seeds().len() {
            let input = Input { seed, file: 0, bytes: target.seeds()[seed].files[0].bytes.clone() };
            // They take long, and are not read here.
            if *name == LARGE {
                continue;
            }
            target.prepare(&input).unwrap();
            assert_eq!(target.run(&input), Ok(()), "{name}");
        }
    }
}

#[test]
fn suites_and_targets_files_of_the_corpus_have_no_error() {
    let package = corpus::of("suites");
    let mut problems = String::new();
    for suite in std::fs::read_dir(&package).unwrap() {
        let entry = suite.unwrap().file_name().into_string().unwrap();
        let mut request = Request::new(&entry, &package);
        request.workspace_root.clone_from(&package);
        let loaded = load(&request);
        if loaded.suite.is_none() {
            problems += &render::report(&loaded.diagnostics, render::Style::Plain);
        }
    }
    assert_eq!(problems, "");
    let request = Request::new("", corpus::of("targets"));
    let loaded = load_targets(&corpus::of("targets/targets.yaml"), &request);
    let problems = loaded.problems_of(loaded.names());
    assert!(!problems.has_errors(), "{}", render::report(&problems, render::Style::Plain));
}

#[test]
fn every_seed_of_what_trials_read_makes_a_trial_pass() {
    let scratch = tempfile::tempdir().unwrap();
    let target = judge_replies::JudgeReplies::open(scratch.path()).unwrap();
    for seed in target.seeds() {
        assert_eq!(target.decided(&seed.files[0].bytes).unwrap(), 1, "{}", seed.files[0].path);
    }
    for open in [replays::Replays::cassettes, replays::Replays::evidence] {
        let scratch = tempfile::tempdir().unwrap();
        let target = open(scratch.path()).unwrap();
        assert_eq!(target.outcome(&target.seeds()[0].files[0].bytes), Ok(evalsuite::Status::Passed));
    }
}
