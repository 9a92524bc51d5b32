//! `cargo evalsuite report`, run as a program.

use std::fs;

use evalsuite_records::record::{CalibrationRecord, GraderRecord, SampleRecord};
use evalsuite_tests::synthetic_run::SyntheticRun;

use crate::package::Package;

fn package() -> Package {
    let package = Package::new(&[]);
    for (id, day) in [("run-1", 20), ("run-2", 21)] {
        let mut run = SyntheticRun::new(id, 12, 2);
        run.started_at = format!("2026-11-{day}T08:00:00.000Z");
        run.write(&package.root().join("out"));
    }
    package.write("out/latest", "run-2");
    package
}

#[test]
fn a_run_is_written_as_one_html_file() {
    let package = package();
    let output = package.run_in_output(&["report", "--html", "report.html"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with("report.html (") && output.out.ends_with(" kB)\n"), "{}", output.out);
    let page = fs::read_to_string(package.root().join("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("id=\"c0\""));
}

#[test]
fn a_directory_has_the_chunks_in_files() {
    let package = package();
    let output = package.run_in_output(&["report", "run-1", "--html-dir", "report", "--history", "0"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(package.root().join("report/index.html").is_file());
    assert!(package.root().join("report/data/c0.js").is_file());
    let page = fs::read_to_string(package.root().join("report/index.html")).unwrap();
    assert!(!page.contains("id=\"c0\""));
}

#[test]
fn details_of_passed_cases_can_be_left_out() {
    let package = package();
    let size = |arguments: &[&str]| {
        let output = package.run_in_output(&[&["report", "--html", "report.html"], arguments].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        fs::metadata(package.root().join("report.html")).unwrap().len()
    };
    assert!(size(&["--only", "failed"]) < size(&[]));
}

#[test]
fn records_that_cannot_be_read_are_named() {
    let package = package();
    let cases = package.root().join("out/runs/run-2/suites/refunds-00000000/cases");
    let case = fs::read_dir(cases).unwrap().next().unwrap().unwrap().path();
    fs::write(case.join("trial-001/result.json"), "{ \"schema\"").unwrap();
    let output = package.run_in_output(&["report", "--html", "report.html"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.starts_with("warning: suites/refunds-00000000/cases/"), "{}", output.err);
    assert!(output.err.contains("/trial-001/result.json: EOF while parsing"), "{}", output.err);
}

#[test]
fn a_run_that_does_not_exist_and_a_file_that_cannot_be_written_are_errors() {
    let package = package();
    assert_eq!(package.run_in_output(&["report", "none", "--html", "x.html"]).code, 2);
    assert_eq!(package.run_in_output(&["report", "--html", "x.html", "--baseline", "none"]).code, 2);
    let output = package.run_in_output(&["report", "--html", "missing/x.html"]);
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with("error: missing/x.html: "), "{}", output.err);
}

#[test]
fn without_a_file_the_summary_is_printed() {
    let package = package();
    let output = package.run_in_output(&["report"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("refunds") && output.out.contains("scheduling"), "{}", output.out);
    for part in [" flaky\n", "  least stable ", "  most expensive ", "\n  tag "] {
        assert!(output.out.contains(part), "{part:?} is missing in\n{}", output.out);
    }
    let output = package.run_in_output(&["report", "run-1", "--format", "json"]);
    let summary: evalsuite_schema::Value = evalsuite_schema::json::from_str(&output.out).expect("one JSON object");
    assert_eq!((&summary["schema"], &summary["run_id"]), (&"evalsuite.summary/1".into(), &"run-1".into()));
    assert_eq!(summary["suites"].as_array().map(Vec::len), Some(3));
}

#[test]
fn files_in_the_formats_of_other_programs_are_written() {
    let package = package();
    package.write("summary.md", "# Build\n");
    let arguments = ["report", "--junit", "evals.xml", "--markdown", "summary.md", "--format", "github"];
    let output = package.run_in_output(&arguments);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.lines().all(|line| line.starts_with("::")), "{}", output.out);
    let read = |file: &str| fs::read_to_string(package.root().join(file)).expect(file);
    assert!(
        read("evals.xml").starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"evalsuite\"")
    );
    assert!(read("summary.md").starts_with("# Build\n## Evaluation: "), "the summary of a job is appended to");

    let output = package.run_in_output(&["report", "--json", "summary.json", "--format", "json"]);
    assert_eq!((output.code, output.out), (0, read("summary.json")));
    assert_eq!(package.run_in_output(&["report", "--json", "summary.json"]).out, "", "the file is enough");
}

#[test]
fn what_programs_read_has_no_names_of_files() {
    let package = package();
    let files = ["--html", "a.html", "--html-dir", "html", "--inspect-log", "logs"];
    for format in ["json", "github"] {
        let output = package.run_in_output(&[&["report", "--format", format][..], &files].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        let alone = package.run_in_output(&["report", "--format", format]);
        assert_eq!(output.out, alone.out, "only the report is printed as {format}");
        for file in ["a.html (", "html/index.html (", "logs/2026-11-21T"] {
            assert!(output.err.lines().any(|line| line.starts_with(file)), "`{file}` is not in\n{}", output.err);
        }
    }
    let output = package.run_in_output(&[&["report", "--format", "human"][..], &files].concat());
    assert!(output.out.contains("\na.html (") && output.err.is_empty(), "{}{}", output.out, output.err);
}

#[test]
fn options_of_html_without_html_are_errors() {
    let package = package();
    for option in [["--only", "failed"], ["--baseline", "run-1"], ["--history", "3"]] {
        for format in [&[][..], &["--junit", "evals.xml"]] {
            let output = package.run_in_output(&[&["report"][..], &option, format].concat());
            assert_eq!((output.code, output.out.as_str()), (2, ""), "{option:?}");
            assert!(output.err.contains("<--html <FILE>|--html-dir <DIR>>"), "{}", output.err);
        }
        let html = package.run_in_output(&[&["report", "--html", "a.html"][..], &option].concat());
        assert_eq!(html.code, 0, "{}", html.err);
    }
}

#[test]
fn a_file_above_20_mb_is_warned_about() {
    let package = package();
    let cases = package.root().join("out/runs/run-2/suites/refunds-00000000/cases");
    let trial = fs::read_dir(cases).unwrap().next().unwrap().unwrap().path().join("trial-000/agent");
    fs::create_dir_all(&trial).unwrap();
    // Text that cannot be compressed: the upper bits of a linear congruential generator.
    let mut state = 1_u64;
    for file in 0..14 {
        let text: Vec<u8> = (0..2 << 20)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                b' ' + 1 + u8::try_from((state >> 33) % 90).unwrap()
            })
            .collect();
        fs::write(trial.join(format!("{file}.txt")), text).unwrap();
    }
    let output = package.run_in_output(&["report", "--html", "report.html"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.ends_with(" MB)\n"), "{}", output.out);
    assert_eq!(output.err, "warning: browsers open a file of this size slowly; use --html-dir or --only failed\n");
}

#[test]
fn a_merged_run_is_reported_like_any_other() {
    let package = package();
    let part = |name: &str, absent: &[&str]| {
        let run = SyntheticRun::new("merged", 12, 2).write(&package.root().join(name));
        for suite in absent {
            fs::remove_dir_all(run.join("suites").join(suite)).unwrap();
        }
    };
    part("one", &["scheduling-00000001", "repair-00000002"]);
    part("two", &["refunds-00000000"]);
    let merged = package.run_in_output(&["merge", "one/runs/merged", "two/runs/merged", "--into", "out"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    let output = package.run_in_output(&["report", "merged", "--html", "report.html"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let data = evalsuite_report::RunData::read(package.root().join("out/runs/merged")).unwrap();
    assert_eq!(data.problems, []);
    assert_eq!(data.suites.iter().map(|suite| suite.cases.len()).collect::<Vec<_>>(), [4, 4, 4]);
    assert_eq!(data.record.unwrap().shards.len(), 2);
}

#[test]
fn logs_of_inspect_and_spans_are_written() {
    let package = package();
    let arguments = ["report", "--inspect-log", "logs", "--otel", "otel"];
    let output = package.run_in_output(&arguments);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let logs: Vec<&str> = output.out.lines().collect();
    assert_eq!(logs.len(), 5, "a log for each suite and target:\n{}", output.out);
    assert!(logs.iter().all(|log| log.starts_with("logs/2026-11-21T08-00-00_") && log.ends_with(".json")), "{logs:?}");
    let read = |file: &str| fs::read_to_string(package.root().join(file)).expect(file);
    for log in logs {
        assert!(read(log).starts_with("{\n\"version\": 2,\n\"status\": \""), "{log}");
    }
    assert!(read("otel/run.traces.jsonl").starts_with("{\"resourceSpans\":["));
    assert!(read("otel/run.logs.jsonl").starts_with("{\"resourceLogs\":["));
}

#[test]
fn one_file_is_the_log_of_one_suite_and_target() {
    let package = package();
    let output = package.run_in_output(&["report", "--inspect-log", "run.json"]);
    assert_eq!(output.code, 2);
    let several = "error: run.json: a log contains one suite and target, but the run has refunds @ default, ";
    assert!(output.err.starts_with(several) && output.err.ends_with("; name a directory\n"), "{}", output.err);

    let suites = package.root().join("out/runs/run-2/suites");
    fs::remove_dir_all(suites.join("scheduling-00000001")).unwrap();
    fs::remove_dir_all(suites.join("repair-00000002")).unwrap();
    for case in fs::read_dir(suites.join("refunds-00000000/cases")).unwrap() {
        let case = case.unwrap().path();
        if fs::read_to_string(case.join("case.json")).unwrap().contains("\"target\": \"small\"") {
            fs::remove_dir_all(case).unwrap();
        }
    }
    let output = package.run_in_output(&["report", "--inspect-log", "run.eval"]);
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "", ""));
    assert!(fs::read(package.root().join("run.eval")).unwrap().starts_with(b"PK"));
    assert_eq!(package.run_in_output(&["report", "--inspect-log", "missing/run.json"]).code, 2);
}

#[test]
fn a_file_that_cannot_be_read_is_named_once() {
    let package = package();
    let cases = package.root().join("out/runs/run-2/suites/refunds-00000000/cases");
    let case = fs::read_dir(cases).unwrap().next().unwrap().unwrap().path();
    fs::write(case.join("trial-000/trajectory.json"), "{").unwrap();
    let arguments = ["report", "--inspect-log", "logs", "--otel", "otel", "--html", "a.html"];
    let output = package.run_in_output(&arguments);
    assert_eq!(output.code, 0);
    assert_eq!(output.err.matches("/trial-000/trajectory.json: EOF while parsing").count(), 1, "{}", output.err);
}

#[test]
fn rates_of_judged_graders_are_corrected_by_the_calibration_of_the_run() {
    let package = package();
    let mut calibration = CalibrationRecord::new();
    (calibration.judges, calibration.threshold) = (vec!["judge-large".to_owned()], 0.7);
    for score in [0.9, 0.9, 0.2, 0.8] {
        let (mut sample, mut grader) = (SampleRecord::default(), GraderRecord::default());
        grader.name = "tone".to_owned();
        (sample.human_score, sample.judge_score, sample.grader) = (score, Some(0.9), Some(grader));
        calibration.samples.push(sample);
    }
    let file = package.root().join("out/runs/run-2/suites/refunds-00000000/calibration.json");
    fs::write(file, serde_json::to_vec(&calibration).unwrap()).unwrap();
    let output = package.run_in_output(&["report"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let line = output.out.split_once("judged graders, corrected by calibration\n  refunds @ default: tone  judge ");
    assert!(line.is_some_and(|(_, rest)| rest.contains("] with 4 rated answers\n")), "{}", output.out);
    let finished = package.run_in_output(&["finish"]);
    let corrected = line.map(|(_, rest)| format!("corrected by calibration\n  refunds @ default: tone  judge {rest}"));
    assert!(finished.out.ends_with(&corrected.unwrap()), "a run ends with them, too: {}", finished.out);
    let output = package.run_in_output(&["report", "--format", "json"]);
    let json: evalsuite_schema::Value = evalsuite_schema::json::from_str(&output.out).unwrap();
    let rate = &json["judged_rates"][0];
    assert_eq!((&rate["grader"], &rate["judge"], &rate["samples"]), (&"tone".into(), &"judge-large".into(), &4.into()));
    assert!(!package.run_in_output(&["report", "run-1"]).out.contains("corrected"), "without a calibration");
}
