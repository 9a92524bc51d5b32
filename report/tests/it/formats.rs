//! Runs in the formats of other programs.

use evalsuite_records::record::{
    Reason, ReasonCode, ResultKind, SealRecord, SealState, Stage, Status, SuiteId, SuiteTest, TrialSummary,
};
use evalsuite_records::run_data::Problem;
use evalsuite_report::{Format, InspectFormat, MARKDOWN_LIMIT, RunData, inspect_logs};
use evalsuite_tests::synthetic_probe::synthetic_probe;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// The run in a format.
fn in_format(name: &str, run: &RunData) -> String {
    let format = Format::named(name).expect("a format");
    format.text(run).expect("it can be written").expect("one text")
}

fn run(change: impl FnOnce(&mut SyntheticRun)) -> (tempfile::TempDir, RunData) {
    let output = tempfile::tempdir().expect("a temporary directory");
    let mut synthetic = SyntheticRun::new("20261122T142550Z-000001", 120, 3);
    change(&mut synthetic);
    let directory = synthetic.write(output.path());
    let run = RunData::read(directory).expect("the run can be read");
    (output, run)
}

fn count(run: &RunData, outcome: Status) -> usize {
    run.suites.iter().flat_map(|suite| &suite.cases).filter(|case| case.record.outcome == outcome).count()
}

#[test]
fn junit_has_a_case_for_each_case_with_its_class_place_and_reruns() {
    let (_output, run) = run(|_| {});
    let xml = in_format("junit", &run);
    assert_eq!(xml.matches("<testcase ").count(), 120);
    assert_eq!(xml.matches("<failure ").count(), count(&run, Status::Failed));
    assert_eq!(xml.matches("<error ").count(), count(&run, Status::Error));
    assert_eq!(xml.matches("<skipped ").count(), count(&run, Status::Skipped));
    assert!(xml.contains("classname=\"refunds@default\"") && xml.contains("classname=\"refunds@small\""), "{xml}");
    assert!(xml.contains("<flakyFailure ") && xml.contains("<rerunFailure "), "trials that failed:\n{xml}");
    let failed = xml.split("<testcase ").find(|case| case.contains("<failure ")).expect("a failed case");
    assert!(failed.contains(".yaml\"") && failed.contains("line=\"14\""), "the place of the grader:\n{failed}");
    assert!(failed.contains("states-policy: the answer names the window of 30 days"), "{failed}");
    assert!(failed.contains("<property name=\"score\" value=\"0."), "{failed}");
}

/// The value of an attribute of the first element in this text.
fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = element.split_once('>')?.0.split_once(&format!(" {name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

/// GitLab shows cases by class name and name, and of equal ones only the first. mikepenz/action-junit-report annotates `file` and
/// `line` of the case with the message of its first failure, and reads no other failure.
#[test]
fn junit_has_what_two_readers_go_by() {
    let (_output, run) = run(|run| run.skill = 0.5);
    let xml = in_format("junit", &run);
    let cases: Vec<&str> =
        xml.split("<testcase ").skip(1).map(|case| case.split("</testcase>").next().unwrap()).collect();
    let names: std::collections::HashSet<_> = cases
        .iter()
        .map(|case| {
            let case = format!("<testcase {case}");
            (attribute(&case, "classname").map(str::to_owned), attribute(&case, "name").map(str::to_owned))
        })
        .collect();
    assert_eq!(names.len(), cases.len());
    let failures = |case: &&str| case.matches("<failure ").count() + case.matches("<error ").count();
    let failed: Vec<&&str> = cases.iter().filter(|case| failures(case) > 0).collect();
    assert!(failed.len() > 10);
    for case in failed {
        assert_eq!(failures(case), 1, "{case}");
        let element = format!("<testcase {case}");
        assert!(attribute(&element, "file").is_some_and(|file| file.ends_with("case.yaml")), "{case}");
        assert!(
            attribute(&element, "line").is_some_and(|line| line.parse::<u32>().is_ok_and(|line| line > 0)),
            "{case}"
        );
        let failure = case.split_once("<failure ").or_else(|| case.split_once("<error ")).expect("a failure").1;
        assert!(attribute(&format!("< {failure}"), "message").is_some_and(|message| !message.is_empty()), "{case}");
    }
}

#[test]
fn annotations_show_nine_of_a_kind_and_how_many_more_there_are() {
    let (_output, mut run) = run(|run| run.skill = 0.2);
    let broken = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).last().expect("cases");
    broken.record.outcome = Status::Error;
    broken.trials.iter_mut().for_each(|trial| {
        trial.record.outcome = Status::Error;
        trial.record.reason = Some(Reason::new(Stage::Agent, ReasonCode::Timeout, "the agent did not answer"));
    });
    let text = in_format("github", &run);
    let failed = count(&run, Status::Failed) + count(&run, Status::Error);
    assert!(failed > 10, "{failed}");
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(errors.len(), 10);
    assert!(errors[9].contains(&format!("::{} more cases did not pass", failed - 9)), "{}", errors[9]);
    assert!(errors[0].ends_with("::the agent did not answer"), "errors come first:\n{text}");
    assert!(errors[8].contains("line="), "{}", errors[8]);
    assert!(text.lines().filter(|line| line.starts_with("::warning ")).count() <= 10);
}

#[test]
fn skipped_cases_are_warnings_unless_they_were_not_selected() {
    let (_output, mut run) = run(|_| {});
    run.suites.iter_mut().for_each(|suite| suite.cases.retain(|case| case.record.outcome == Status::Skipped));
    let skipped = count(&run, Status::Skipped);
    let text = in_format("github", &run);
    assert_eq!(text.lines().count(), skipped.min(10));
    assert!(text.contains("::warning file=") && text.contains("::skipped: needs `psql`"), "{text}");
    for case in run.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        case.record.reason = Some(Reason::new(Stage::Select, ReasonCode::Filtered, "not selected"));
    }
    assert_eq!(in_format("github", &run), "");
}

/// The status of the run says so, but readers of these files only look at them.
#[test]
fn chosen_tests_that_did_not_start_and_files_that_cannot_be_read_are_shown() {
    let (_output, mut run) = run(|_| {});
    let suite = &mut run.suites[0];
    let name = suite.name.clone();
    let tests = &mut suite.record.as_mut().expect("suite.json").tests;
    tests.push(SuiteTest::new("evals", "shop::never", "never"));
    let mut small = SuiteTest::new("evals", "shop::small::never", "never");
    small.target = Some("small".to_owned());
    tests.push(small);
    tests.push(SuiteTest::new("evals", "shop::unchosen", "unchosen"));
    assert!(!in_format("junit", &run).contains("never"), "whether it was chosen is not known");
    assert!(!in_format("github", &run).contains("never"));

    let suite = &mut run.suites[0];
    let chosen = suite.record.iter().flat_map(|record| &record.tests).map(|test| test.test_name.clone());
    suite.chosen = Some(chosen.filter(|test| test != "shop::unchosen").collect());
    run.problems.push(Problem::new(&run.directory, &run.directory.join("run.json"), "is missing"));
    let xml = in_format("junit", &run);
    let skipped = "<skipped message=\"the test `shop::never` did not start\">";
    let expected = format!("<testcase name=\"never\" classname=\"{name}\" time=\"0.000\">\n            {skipped}");
    assert!(xml.contains(&expected), "{xml}");
    assert!(xml.contains(&format!("<testcase name=\"never\" classname=\"{name}@small\"")), "{xml}");
    assert!(xml.contains("<testcase name=\"run.json\" classname=\"records of the run\"") && !xml.contains("unchosen"));
    for (element, what) in [("<skipped ", "skipped"), ("<error ", "errors"), ("<failure ", "failures")] {
        let element = xml.matches(element).count().to_string();
        assert_eq!(attribute(&xml[xml.find("<testsuites").unwrap()..], what), Some(element.as_str()), "{what}");
    }
    let tests = xml.matches("<testcase ").count().to_string();
    assert_eq!(attribute(&xml[xml.find("<testsuites").unwrap()..], "tests"), Some(tests.as_str()));
    let annotations = in_format("github", &run);
    let expected = format!(
        "::error title=records of the run::run.json: is missing\n\
         ::error title={name}::2 tests not started: shop::never, shop::small::never\n::error file="
    );
    assert!(annotations.starts_with(&expected), "{annotations}");
}

#[test]
fn markdown_shows_what_did_not_pass_and_stays_text() {
    let hostile = "</details><script>x</script>| `a` ```` @everyone\n# b";
    let (_output, run) = run(|run| run.hostile = Some(hostile.to_owned()));
    let text = in_format("markdown", &run);
    assert!(text.starts_with("## Evaluation: "), "{text}");
    assert!(text.contains("| refunds | default | "), "{text}");
    assert_eq!(text.matches("\n- **").count(), count(&run, Status::Failed) + count(&run, Status::Error));
    assert!(!text.contains("<script>x</script>| `a`"), "outside of fences nothing is markup");
    assert!(text.contains("### Skipped") && text.contains("needs \\`psql\\`, which is not installed"), "{text}");
}

#[test]
fn a_score_below_its_threshold_does_not_look_equal_in_markdown() {
    let (_output, mut run) = run(|_| {});
    let mut cases = run.suites.iter_mut().flat_map(|suite| &mut suite.cases);
    let failed = cases.find(|case| case.record.outcome == Status::Failed).expect("a failed case");
    (failed.record.score, failed.record.threshold) = (Some(0.7975), 0.8);
    assert!(in_format("markdown", &run).contains(" · 0.7975 of 0.80: "));
    let mut cases = run.suites.iter_mut().flat_map(|suite| &mut suite.cases);
    let failed = cases.find(|case| case.record.outcome == Status::Failed).expect("a failed case");
    (failed.record.score, failed.record.threshold) = (Some(0.1234), 0.12345);
    assert!(in_format("markdown", &run).contains(" · 0.12 of 0.12345: "));
}

#[test]
fn a_case_that_passed_because_the_test_runner_repeated_it_is_flaky() {
    let (_output, mut run) = run(|_| {});
    let mut cases = run.suites.iter_mut().flat_map(|suite| &mut suite.cases);
    let case = cases.find(|case| case.record.outcome == Status::Passed && !case.is_flaky()).expect("a stable case");
    let mut failed = case.clone();
    (failed.record.outcome, failed.record.passed) = (Status::Failed, 0);
    failed.record.reason = Some(Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, "score 0.00 is below <0.8>"));
    case.other_attempts = vec![failed];
    case.record.runner_attempt = 2;
    let (id, trials) = (case.record.case_id.clone(), case.trials.len());
    let expected = format!("{trials} of {trials} trials passed; the test runner repeated it: attempt 2");
    let markdown = in_format("markdown", &run);
    assert!(markdown.contains(&format!("- {id} (")) && markdown.contains(&expected), "{markdown}");
    let xml = in_format("junit", &run);
    let element = "<flakyFailure message=\"score 0.00 is below &lt;0.8&gt;\" type=\"attempt 1 of the test runner\">";
    let case = xml.split("<testcase ").find(|case| case.contains(element)).expect("the first attempt");
    assert!(case.starts_with(&format!("name=\"{id}\"")), "{case}");
    assert!(case.contains("<property name=\"runner_attempt\" value=\"2\"/>"), "{case}");
    run.suites.iter_mut().for_each(|suite| suite.cases.retain(|case| case.record.runner_attempt > 1));
    let annotations = in_format("github", &run);
    assert!(annotations.starts_with("::warning ") && annotations.contains(&expected), "{annotations}");
}

#[test]
fn junit_has_no_threshold_of_a_case_without_a_record() {
    let (_output, mut run) = run(|_| {});
    let count = |run: &RunData| in_format("junit", run).matches("<property name=\"threshold\"").count();
    let all = count(&run);
    let case = &mut run.suites[0].cases[0].record;
    (case.outcome, case.score, case.threshold) = (Status::Error, None, 0.0);
    assert_eq!(count(&run), all - 1);
    // A threshold that every score meets.
    let case = &mut run.suites[0].cases[1].record;
    (case.score, case.threshold) = (Some(0.5), 0.0);
    assert_eq!(count(&run), all - 1);
}

#[test]
fn floor_and_ceiling_are_in_markdown() {
    let (_output, run) = run(|_| {});
    assert!(!in_format("markdown", &run).contains("### Floor and ceiling"));
    let probe = synthetic_probe(&SuiteId::new("repair"), [[(ResultKind::Echo, true)]]);
    let run = run.with_probes(&[probe]);
    let text = in_format("markdown", &run);
    assert!(text.contains("### Floor and ceiling\n\n- repair: floor 1.00 (`echo` passes 1 of 1 cases)\n"), "{text}");
}

#[test]
fn markdown_counts_tests_that_were_not_started() {
    let (_output, mut run) = run(|_| {});
    assert!(!in_format("markdown", &run).contains("not started"));
    run.suites[0].cases.truncate(2);
    let missing = run.suites[0].record.as_ref().expect("a record").tests.len() - 2;
    let text = in_format("markdown", &run);
    let headline = text.lines().next().expect("a headline");
    assert!(headline.contains(&format!(", {missing} not chosen or not started")), "{headline}");
}

#[test]
fn markdown_counts_results_of_earlier_runs() {
    let (_output, mut run) = run(|_| {});
    assert!(!in_format("markdown", &run).contains("unchanged since"));
    run.suites[0].cases[0].record.reused_run = Some("earlier".to_owned());
    let text = in_format("markdown", &run);
    let headline = text.lines().next().unwrap_or_default();
    let (cases, trials) = headline.split_once("; ").expect("some trials of the run ended in an error");
    assert!(cases.ends_with(", 1 unchanged since an earlier run"), "{headline}");
    let errors = run.suites.iter().flat_map(|suite| &suite.cases).map(|case| case.record.errors).sum::<u32>();
    assert!(
        trials.starts_with(&format!("{errors} of ")) && trials.ends_with(" trials ended in an error"),
        "{headline}"
    );
}

#[test]
fn markdown_is_cut_before_github_refuses_it() {
    let (_output, run) = run(|run| {
        run.cases = 60;
        run.skill = 0.0;
        run.hostile = None;
    });
    let mut run = run;
    let long = "x".repeat(40_000);
    for case in run.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        for trial in &mut case.trials {
            for grader in &mut trial.record.graders {
                grader.assertions.iter_mut().for_each(|assertion| assertion.evidence = Some(long.clone()));
            }
        }
    }
    let text = in_format("markdown", &run);
    assert!(text.len() < MARKDOWN_LIMIT + 200, "{}", text.len());
    assert!(text.contains("more entries are left out"), "{}", &text[text.len() - 200..]);
}

#[test]
fn a_trial_is_in_junit_once_whatever_decided_its_case() {
    let (_output, mut run) = run(|run| run.hostile = None);
    run.suites.truncate(1);
    run.suites[0].cases.truncate(1);
    let case = &mut run.suites[0].cases[0];
    case.trials.truncate(2);
    assert_eq!(case.trials.len(), 2, "trials of the made-up run");
    for (outcomes, elements) in [
        ([Status::Error, Status::Failed], ["<failure", "<rerunError"]),
        ([Status::Failed, Status::Error], ["<failure", "<rerunError"]),
        ([Status::Error, Status::Error], ["<error", "<rerunError"]),
    ] {
        let case = &mut run.suites[0].cases[0];
        for (trial, outcome) in case.trials.iter_mut().zip(outcomes) {
            trial.record.outcome = outcome;
        }
        case.record.outcome = if outcomes.contains(&Status::Failed) { Status::Failed } else { Status::Error };
        let xml = in_format("junit", &run);
        for element in elements {
            assert_eq!(xml.matches(element).count(), 1, "{outcomes:?}: {element}\n{xml}");
        }
    }
}

#[test]
fn the_cost_in_junit_is_that_of_all_trials_and_attempts() {
    let (_output, mut run) = run(|run| run.hostile = None);
    run.suites.truncate(1);
    run.suites[0].cases.truncate(1);
    let case = &mut run.suites[0].cases[0];
    case.trials.truncate(1);
    case.record.trials.truncate(1);
    (case.trials[0].record.cost_usd, case.record.trials[0].cost_usd) = (Some(0.25), Some(0.25));
    let mut other = case.record.trials[0].clone();
    (case.record.retried, case.record.confirming) = (vec![other.clone()], vec![other.clone()]);
    other.cost_usd = None;
    case.record.confirming.push(other);
    let xml = in_format("junit", &run);
    for property in ["name=\"cost_usd\" value=\"0.750000\"", "name=\"trials_of_unknown_cost\" value=\"1\""] {
        assert!(xml.contains(property), "{property}\n{xml}");
    }
}

/// The cost of judges and simulated users was missing, which gates on the cost count.
#[test]
fn the_cost_in_markdown_is_that_of_all_who_were_asked() {
    let (_output, mut run) = run(|run| run.hostile = None);
    run.suites.truncate(1);
    run.suites[0].cases.truncate(1);
    let trial = |agent, judges, user| {
        let mut trial = TrialSummary::default();
        (trial.cost_usd, trial.judge_cost_usd, trial.user_cost_usd) = (agent, judges, user);
        trial
    };
    let cost = |run: &RunData| {
        let text = in_format("markdown", run);
        let row = text.lines().find(|line| line.starts_with("| refunds |")).expect("a row").to_owned();
        row.trim_end_matches(" |").rsplit(" | ").next().expect("the last cell").to_owned()
    };
    let record = &mut run.suites[0].cases[0].record;
    record.trials = vec![trial(Some(0.25), Some(1.0), None)];
    record.retried = vec![trial(None, Some(0.5), Some(2.0))];
    assert_eq!(cost(&run), "$3.7500");
    run.suites[0].cases[0].record.trials[0].unknown_costs.judges = true;
    assert_eq!(cost(&run), "≥ $3.7500");
    run.suites[0].cases[0].record.trials = vec![trial(None, None, None)];
    run.suites[0].cases[0].record.retried.clear();
    assert_eq!(cost(&run), "–");
}

/// GitLab shows the text in place of the message; the reader for Jest of dorny/test-reporter needs one.
#[test]
fn every_result_in_junit_has_a_text_with_its_reason() {
    let (_output, mut run) = run(|run| (run.skill, run.hostile) = (0.5, None));
    let case = &mut run.suites[0].cases[0];
    case.record.outcome = Status::Error;
    case.trials[0].record.outcome = Status::Error;
    case.trials[0].record.answer = Some("Half an answer".to_owned());
    case.trials[0].record.graders.clear();
    case.trials[0].record.reason = Some(Reason::new(Stage::Grading, ReasonCode::JudgeError, "no reply of the judge"));
    let xml = in_format("junit", &run);
    let mut elements = 0;
    for kind in ["failure", "error", "skipped", "flakyFailure", "flakyError", "rerunFailure", "rerunError"] {
        for element in xml.split(&format!("<{kind} ")).skip(1) {
            let (tag, rest) = element.split_once('>').expect("the end of a tag");
            let message = attribute(&format!("< {tag}>"), "message").expect("a message").replace("&quot;", "\"");
            let text = rest.split_once("</").expect("a text").0;
            let (grader, said) = message.split_once(": ").unwrap_or(("", &message));
            assert!(!tag.ends_with('/') && !text.trim().is_empty(), "{kind}: {tag}");
            assert!(
                text.starts_with(&message) || text.starts_with(grader) && text.contains(said),
                "{kind}: {tag}>{text}"
            );
            elements += 1;
        }
    }
    assert!(elements > 40, "{elements}");
    assert!(xml.contains(">no reply of the judge\nanswer: Half an answer</error>"), "{xml}");
}

#[test]
fn a_passed_case_with_a_broken_trial_is_flaky_in_every_format() {
    let (_output, mut run) = run(|run| run.hostile = None);
    run.suites.truncate(1);
    run.suites[0].cases.truncate(1);
    let case = &mut run.suites[0].cases[0];
    case.trials.truncate(2);
    (case.trials[0].record.outcome, case.trials[1].record.outcome) = (Status::Error, Status::Passed);
    case.record.outcome = Status::Passed;
    (case.record.passed, case.record.completed, case.record.errors) = (1, 1, 1);
    case.record.failed_graders = vec!["tone".to_owned()];
    let (xml, text) = (in_format("junit", &run), in_format("markdown", &run));
    assert!(xml.contains("<flakyError") && xml.contains(r#"name="trial_errors" value="1""#), "{xml}");
    assert!(text.contains("### Flaky\n") && text.contains("1 of 2 trials passed, 1 ended in an error"), "{text}");
    let annotation = in_format("github", &run);
    assert!(annotation.ends_with("::flaky: 1 of 2 trials passed, 1 ended in an error\n"), "{annotation}");
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains("; 1 of 2 trials ended in an error; 1 case passed although a grader failed"), "{first}");
    assert!(text.contains("### Passed although a grader failed\n"), "{text}");
}

#[test]
fn what_became_of_a_seal_is_in_every_format() {
    let (_output, mut run) = run(|run| run.hostile = None);
    run.suites.truncate(1);
    run.suites[0].cases.truncate(1);
    let unsealed = SealRecord::unsealed("sealing is not supported on macOS");
    let mut sealed = SealRecord::default();
    (sealed.state, sealed.landlock_abi, sealed.network) = (SealState::Sealed, Some(7), "none".to_owned());
    let trials = &mut run.suites[0].cases[0].trials;
    assert!(trials.len() > 1, "trials of the made-up run");
    trials[0].record.sealed = Some(unsealed);
    trials[1].record.sealed = Some(sealed);
    let xml = in_format("junit", &run);
    assert!(xml.contains(r#"name="sealed" value="unsealed: sealing is not supported on macOS""#), "{xml}");
    assert!(xml.contains(r#"name="sealed" value="sealed: Landlock ABI 7, network none""#), "{xml}");
    let markdown = in_format("markdown", &run);
    assert!(markdown.contains("### Unsealed\n\n- 1 trial: unsealed: sealing is not supported on macOS"), "{markdown}");
    let mut log = std::io::Cursor::new(Vec::new());
    assert_eq!(inspect_logs(&run)[0].write(InspectFormat::Json, &mut log).expect("a log"), []);
    let log = String::from_utf8(log.into_inner()).expect("text").replace(": ", ":");
    assert!(log.contains(r#""landlock_abi":7"#) && log.contains("sealing is not supported on macOS"), "{log}");
}
