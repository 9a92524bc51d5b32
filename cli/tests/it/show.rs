//! `cargo evalsuite show`, run as a program.

use std::fs;
use std::path::Path;

use crate::package::Package;
use evalsuite_tests::synthetic_run::SyntheticRun;

#[test]
fn transcripts_are_written_as_html() {
    let package = Package::new(&[]);
    package.write("a.json", r#"{ "schema_version": "ATIF-v1.6", "agent": { "name": "x", "version": "1" }, "steps": [{ "step_id": 1, "source": "agent", "message": "hi" }], "unknown": 1 }"#);
    let output = package.run(&["show", "a.json", "a.json", "--html", "page.html"]);
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "page.html\n", ""));
    assert!(fs::read_to_string(package.root().join("page.html")).unwrap().starts_with("<!doctype html>"));
}

#[test]
fn what_is_not_a_transcript_is_an_error() {
    let package = Package::new(&[]);
    package.write("text.json", "{");
    package.write("other.json", "{ \"steps\": [] }");
    package.write("empty.json", "{ \"schema_version\": \"ATIF-v1.8\" }");
    for (file, message) in [
        (
            "missing.json",
            "error: `missing.json` is not a file; several names, and --html, are for ATIF files\n  = help: ",
        ),
        ("text.json", "error: text.json: not JSON: EOF while parsing"),
        ("other.json", "error: other.json: not an ATIF document: `schema_version` is not `ATIF-v1.…`"),
        ("empty.json", "error: empty.json: not an ATIF document: `steps` is not a list"),
    ] {
        let output = package.run(&["show", file, "--html", "page.html"]);
        assert_eq!(output.code, 2);
        assert!(output.err.starts_with(message), "{}", output.err);
    }
    assert!(!package.root().join("page.html").exists());
    assert_eq!(package.run(&["show", "text.json"]).code, 2);
}

#[test]
fn options_of_cases_are_not_for_files_and_several_names_are_not_for_cases() {
    let (package, case) = package_with_run();
    package.write("a.json", r#"{ "schema_version": "ATIF-v1.6", "agent": { "name": "x", "version": "1" }, "steps": [{ "step_id": 1, "source": "agent", "message": "hi" }] }"#);
    for (option, value) in [("--run", "run-1"), ("--target", "default"), ("--trial", "0")] {
        let output = package.run_in_output(&["show", "a.json", option, value]);
        let message = format!("error: {option} selects a case, and `a.json` is a file\n");
        assert_eq!((output.code, output.out.as_str(), output.err), (2, "", message));
    }
    assert_eq!(package.run(&["show", "a.json", "--step", "1", "--html", "page.html"]).code, 2);
    for names in [&[case.as_str(), "a.json"][..], &[&case, "--html", "page.html"]] {
        let output = package.run_in_output(&[&["show"][..], names].concat());
        assert!(output.err.starts_with(&format!("error: `{case}` is not a file; several names,")), "{}", output.err);
        assert_eq!(output.code, 2);
    }
    assert!(!package.root().join("page.html").exists());
    assert_eq!(package.run_in_output(&["show", &case, "--run", "run-1"]).code, 0);
}

/// A run, and one of its cases that did not pass.
fn package_with_run() -> (Package, String) {
    let package = Package::new(&[]);
    let mut run = SyntheticRun::new("run-1", 30, 2);
    run.skill = 0.2;
    let run = run.write(&package.root().join("out"));
    package.write("out/latest", "run-1");
    let failed = fs::read_dir(run.join("suites/refunds-00000000/cases")).expect("cases").find_map(|entry| {
        let text = fs::read_to_string(entry.expect("a directory").path().join("case.json")).ok()?;
        let record: evalsuite_schema::Value = evalsuite_schema::json::from_str(&text).expect("a record");
        let is_failed = record["outcome"] == "failed" && record["target"] == "default";
        is_failed.then(|| record["case_id"].as_str().expect("an id").to_owned())
    });
    (package, failed.expect("a case that failed"))
}

#[test]
fn a_case_is_shown_with_prompt_steps_graders_changes_and_cost() {
    let (package, case) = package_with_run();
    let output = package.run_in_output(&["show", &case, "--target", "default"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with(&format!("{case} (refunds@default): failed  score ")), "{}", output.out);
    for part in [
        "\nprompt\n  system: You are the support agent of a small shop.",
        "\nstep 2  agent\n  | The customer names an order.",
        "\n  → find_order {\"id\":\"88213\"}\n  ← {\"id\": 88213,",
        "\ngraders\n",
        "\n  ✗ ",
        "        expected: ",
        "\nchanges\n  --- a/orders/88213.toml\n",
        "\ncost          0.",
    ] {
        assert!(output.out.contains(part), "expected {part:?} in\n{}", output.out);
    }
    assert!(!output.out.contains('\u{1b}'), "no colors off a terminal");
}

/// A trial that ended in an error has no evidence, and its transcript may lack what the agent said last.
#[test]
fn a_trial_in_error_is_shown_with_its_prompt_and_its_partial_answer() {
    let (package, case) = package_with_run();
    let cases = package.root().join("out/runs/run-1/suites/refunds-00000000/cases");
    for directory in fs::read_dir(cases).expect("cases").map(|entry| entry.expect("a directory").path()) {
        for trial in ["trial-000", "trial-001"].map(|trial| directory.join(trial)) {
            let Ok(text) = fs::read_to_string(trial.join("result.json")) else { continue };
            let mut record: evalsuite_schema::Value = evalsuite_schema::json::from_str(&text).expect("a record");
            record["outcome"] = "error".into();
            record["answer"] = "I am looking into".into();
            record["graders"] = evalsuite_schema::json::json!([]);
            fs::write(trial.join("result.json"), record.to_string()).expect("a file");
            fs::rename(trial.join("evidence.json"), trial.join("input.json")).expect("a file");
        }
    }
    let output = package.run_in_output(&["show", &case, "--target", "default"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    for part in
        ["\nprompt\n  system: You are the support agent", "\nstep 2  agent\n", "\nanswer\n  I am looking into\n"]
    {
        assert!(output.out.contains(part), "expected {part:?} in\n{}", output.out);
    }
}

/// Changes the records of a case in the run of [`package_with_run`].
fn change_case(package: &Package, case: &str, change: impl Fn(&Path, &mut evalsuite_schema::Value)) {
    let cases = package.root().join("out/runs/run-1/suites/refunds-00000000/cases");
    for directory in fs::read_dir(cases).expect("cases").map(|entry| entry.expect("a directory").path()) {
        let text = fs::read_to_string(directory.join("case.json")).expect("a record");
        let mut record: evalsuite_schema::Value = evalsuite_schema::json::from_str(&text).expect("a record");
        if record["case_id"] == case {
            change(&directory, &mut record);
            fs::write(directory.join("case.json"), record.to_string()).expect("a file");
        }
    }
}

#[test]
fn notes_of_a_trial_are_shown() {
    let (package, case) = package_with_run();
    change_case(&package, &case, |directory, _| {
        let file = directory.join("trial-000/result.json");
        let text = fs::read_to_string(&file).expect("a record");
        let mut trial: evalsuite_schema::Value = evalsuite_schema::json::from_str(&text).expect("a record");
        let note =
            evalsuite_schema::json::json!({"code": "hook_failed", "message": "hook `after_each` failed\nno room"});
        trial["notes"] = evalsuite_schema::json::json!([note]);
        fs::write(file, trial.to_string()).expect("a file");
    });
    let output = package.run_in_output(&["show", &case, "--target", "default", "--trial", "0"]);
    let notes = "\nnotes\n  hook_failed  hook `after_each` failed\n  no room\n";
    assert!(output.out.contains(notes), "{}", output.out);
}

#[test]
fn a_case_without_trials_is_shown_with_its_outcome_and_its_reason() {
    let (package, case) = package_with_run();
    change_case(&package, &case, |directory, record| {
        record["outcome"] = "skipped".into();
        record["score"] = evalsuite_schema::Value::Null;
        record["trials"] = evalsuite_schema::json::json!([]);
        record["reason"]["message"] = "no `docker` on this machine".into();
        for trial in ["trial-000", "trial-001"] {
            fs::remove_dir_all(directory.join(trial)).expect("a directory");
        }
    });
    let output = package.run_in_output(&["show", &case, "--target", "default"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let head = format!("{case} (refunds@default): skipped\n  no `docker` on this machine\n");
    assert!(output.out.starts_with(&head) && output.out.ends_with("  run run-1  no trial ran\n"), "{}", output.out);
    for of_a_trial in [["--trial", "0"], ["--step", "1"]] {
        let output = package.run_in_output(&[&["show", &case, "--target", "default"][..], &of_a_trial].concat());
        assert_eq!((output.code, output.out.as_str()), (2, ""));
        let message = format!("error: case `{case}` is skipped: none of its trials ran\n");
        assert!(output.err.starts_with(&message), "{}", output.err);
    }
}

#[test]
fn the_heading_is_the_outcome_of_the_case_and_that_of_the_trial_is_beside_its_number() {
    let (package, case) = package_with_run();
    change_case(&package, &case, |_, record| {
        record["outcome"] = "passed".into();
        record["score"] = 0.95.into();
        record["reason"] = evalsuite_schema::Value::Null;
    });
    let output = package.run_in_output(&["show", &case, "--target", "default"]);
    assert!(output.out.starts_with(&format!("{case} (refunds@default): passed  score 0.95, ")), "{}", output.out);
    assert!(output.out.contains("  run run-1  trial 0 of 2, counted from 0: failed  score "), "{}", output.out);
}

#[test]
fn a_target_without_the_case_is_an_error_with_the_targets_of_the_case() {
    let (package, case) = package_with_run();
    let output = package.run_in_output(&["show", &case, "--target", "other"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains(&format!("has no case `{case}` of target `other`")), "{}", output.err);
    assert!(output.err.contains("\n  = help: targets of this case: `default`"), "{}", output.err);
}

#[test]
fn one_step_of_one_trial_can_be_chosen() {
    let (package, case) = package_with_run();
    let arguments = ["show", &case, "--run", "run-1", "--target", "default", "--trial", "0", "--step", "3"];
    let output = package.run_in_output(&arguments);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("\nstep 3  agent\n  → read_policy"), "{}", output.out);
    assert!(!output.out.contains("step 4") && !output.out.contains("graders"), "{}", output.out);
    for (wrong, message) in [
        (["--trial", "9"], format!("error: case `{case}` has no trial 9: it has 2\n")),
        (["--step", "9"], "error: there is no step 9: the transcript has 4\n".to_owned()),
        (["--target", "other"], format!("error: run `run-1` has no case `{case}`\nhelp: did you mean `{case}`?\n")),
    ] {
        let output = package.run_in_output(&[&["show", &case][..], &wrong].concat());
        assert_eq!((output.code, output.out.as_str()), (2, ""));
        assert!(output.err.starts_with(message.lines().next().unwrap_or_default()), "{}", output.err);
    }
    assert_eq!(package.run_in_output(&["show", &case, "--run", "none"]).code, 2);
}

#[test]
fn any_atif_file_is_printed_without_what_disturbs_a_terminal() {
    let package = Package::new(&[]);
    package.write("a.json", r#"{ "schema_version": "ATIF-v1.6", "agent": { "name": "x", "version": "1" }, "steps": [
        { "step_id": 1, "source": "user", "message": [{ "type": "text", "text": "look\u001b[31m" }, { "type": "image", "source": { "path": "shot.png" } }] },
        { "step_id": 2, "source": "agent", "message": "", "tool_calls": [{ "tool_call_id": "c", "function_name": "read", "arguments": { "path": "a" } }],
          "observation": { "results": [{ "source_call_id": "c", "content": "one\ntwo" }] } }],
        "final_metrics": { "total_prompt_tokens": 12, "total_cost_usd": 0.5 } }"#);
    let output = package.run(&["show", "a.json"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with("a.json\n\nstep 1  user\n  look"), "{}", output.out);
    assert!(!output.out.contains('\u{1b}'), "{}", output.out);
    let rest = "\n  [image: shot.png]\n\nstep 2  agent\n  → read {\"path\":\"a\"}\n  ← one\n  ← two\n\ntokens  12 input\ncost    0.5000 USD\n";
    assert!(output.out.ends_with(rest), "{}", output.out);
}

#[cfg(target_os = "linux")]
#[evalsuite_needs::needs(script)]
#[test]
fn on_a_terminal_the_pager_shows_the_text() {
    let package = Package::new(&[]);
    package.write("a.json", r#"{ "schema_version": "ATIF-v1.6", "agent": { "name": "x", "version": "1" }, "steps": [{ "step_id": 1, "source": "agent", "message": "hi" }] }"#);
    let paged = package.run_on_terminal("show a.json", "", &[("PAGER", "sed s/^/paged:/")]);
    assert!(paged.contains("paged:a.json"), "{paged}");
    for pager in ["", "no-such-pager"] {
        let plain = package.run_on_terminal("show a.json", "", &[("PAGER", pager)]);
        assert!(plain.starts_with("a.json"), "{pager}: {plain}");
    }
    assert!(package.run_with(&["show", "a.json"], &[("PAGER", "false")]).out.starts_with("a.json"), "not a terminal");
}

#[test]
fn cases_of_one_name_are_shown_apart_and_nothing_twice() {
    let (package, case) = package_with_run();
    let record = |suite: &str| package.root().join(format!("out/runs/run-1/suites/{suite}"));
    copy_as_returns(&record("refunds-00000000"), &record("returns-11111111"));
    let output = package.run_in_output(&["show", &case, "--target", "default"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with(&format!("{case} (refunds@default): failed")), "{}", output.out);
    assert!(output.out.contains(&format!("\n\n{case} (returns@default): failed")), "{}", output.out);
    assert!(output.out.contains("  trial 0 of 2, counted from 0: failed"), "{}", output.out);
    for line in output.out.lines().filter_map(|line| line.trim_start().strip_prefix("✗ ")) {
        assert!(!output.out.contains(&format!("- {line}\n")), "the rationale repeats an assertion: {line}");
    }
    let step = package.run_in_output(&["show", &case, "--target", "default", "--step", "1"]);
    assert_eq!(step.out.lines().filter(|line| line.contains("::")).count(), 2, "{}", step.out);
}

/// Copies the records of a suite, which has another name there.
fn copy_as_returns(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_as_returns(&entry.path(), &target);
        } else {
            let text = fs::read_to_string(entry.path()).expect("a text");
            fs::write(target, text.replace("\"refunds", "\"returns")).expect("a copy");
        }
    }
}
