//! The lift of a skill, above the breakdown.

use evalsuite_needs::{needs, slow};
use evalsuite_records::record::Status;
use evalsuite_report::lift::RunLifts;
use evalsuite_report::{CaseData, HtmlReport, RunData};
use evalsuite_tests::synthetic_run::SyntheticRun;

use super::{assert_quiet, browser};

#[slow(page)]
#[needs(chromium)]
#[test]
fn the_arms_of_a_skill_are_compared_above_the_breakdown() {
    let mut browser = browser();
    let directory = tempfile::tempdir().unwrap();
    let mut run = RunData::read(SyntheticRun::new("run", 30, 1).write(directory.path())).unwrap();
    let file = directory.path().join("report.html");
    HtmlReport::new(run.clone()).write_file(&file).unwrap();
    browser.open(&file, "#/breakdown");
    assert_eq!(browser.evaluate("document.querySelectorAll('.lift').length"), 0, "no suite has arms");

    for suite in &mut run.suites {
        suite.cases = (suite.cases.iter().take(8))
            .flat_map(|case| ["without_skill", "with_skill"].map(|arm| in_arm(case, arm)))
            .collect();
    }
    let suites = run.suites.len();
    assert_eq!(RunLifts::of(&run).lifts.len(), suites);
    let lift = RunLifts::of(&run).lifts.swap_remove(0);
    let (lower, upper) = lift.pass_rate.interval.unwrap();
    HtmlReport::new(run).write_file(&file).unwrap();
    browser.open(&file, "#/breakdown");
    assert_eq!(browser.evaluate("document.querySelectorAll('.lift').length"), suites);
    let rows = "[...document.querySelector('.lift').querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent))";
    let rows: Vec<Vec<String>> = evalsuite_schema::json::from_value(browser.evaluate(rows)).unwrap();
    let mut p = |value: f64| browser.evaluate(&format!("shownP({value})")).as_str().unwrap().to_owned();
    let p = p(lift.pass_rate.p_value);
    assert_eq!(rows[0], ["Mean", "without_skill", "with_skill", "Difference", "95 % interval", "p"]);
    assert_eq!(rows[1], ["Pass rate", "0.00", "1.00", "+1.00", &format!("+{lower:.2} to +{upper:.2}"), &p]);
    let names: Vec<&str> = rows[2..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["Score", "Tokens of a trial", "Cost of a trial", "Time of a trial"]);
    let text = browser.evaluate("document.querySelector('.lift').innerText").as_str().unwrap().to_owned();
    assert!(text.contains(&format!("{} cases in both arms.", lift.pairs)), "{text}");
    assert!(text.contains("says nothing about the skill"), "{text}");
    assert_quiet(&browser);
}

/// A case in an arm: failed without the skill, passed with it.
fn in_arm(case: &CaseData, arm: &str) -> CaseData {
    let mut case = case.clone();
    let outcome = if arm == "with_skill" { Status::Passed } else { Status::Failed };
    let record = &mut case.record;
    (record.target, record.outcome, record.reference_arm) = (arm.to_owned(), outcome, arm == "without_skill");
    (record.completed, record.errors, record.passed) = (1, 0, u32::from(outcome == Status::Passed));
    record.trials.truncate(1);
    for trial in &mut record.trials {
        (trial.outcome, trial.score) = (outcome, Some(f64::from(record.passed)));
    }
    case
}
