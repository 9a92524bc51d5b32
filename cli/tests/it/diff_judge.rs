//! `cargo evalsuite diff --judge` against judges behind real HTTP, and one that is a real command.

use std::fs;
use std::path::Path;

use crate::package::{Output, Package};
use evalsuite_schema::json::{Value, json};
use evalsuite_tests::http_service::serve;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// A judge: the prompt of the user in, the text of the reply out.
type Judge = fn(&str) -> String;

/// A service that replies as the judge does.
fn service(judge: Judge) -> String {
    serve(move |body| {
        let body: Value = evalsuite_schema::json::from_str(body).expect("JSON");
        let content = judge(body["messages"][1]["content"].as_str().expect("the prompt of the user"));
        let usage = json!({"prompt_tokens": 500, "completion_tokens": 20});
        let choices = json!([{"message": {"role": "assistant", "content": content}}]);
        json!({"model": "judge-1", "choices": choices, "usage": usage}).to_string()
    })
}

fn better(position: &str) -> String {
    json!({"reasoning": "It is more helpful.", "better": position, "undecided": false, "reason": null}).to_string()
}

/// Whether the text is in the answer shown first.
fn is_first(prompt: &str, text: &str) -> bool {
    let second = prompt.find("[[ ## second_answer ## ]]").expect("a second answer");
    prompt.find(text).expect("an answer with this text") < second
}

fn prefers_new(prompt: &str) -> String {
    better(if is_first(prompt, "the new answer") { "first" } else { "second" })
}

fn prefers_old(prompt: &str) -> String {
    better(if is_first(prompt, "the old answer") { "first" } else { "second" })
}

fn prefers_first(_: &str) -> String {
    better("first")
}

/// A package with the runs `a-old` and `b-new`, 23 cases with equal scores and other answers.
fn package() -> Package {
    let package = Package::new(&[]);
    let output = package.root().join("out");
    for (id, answer) in [("a-old", "the old answer"), ("b-new", "the new answer")] {
        // The seed of a made-up run is its id.
        let made = SyntheticRun::new("x", 24, 1).write(&output);
        let directory = output.join("runs").join(id);
        fs::rename(made, &directory).expect("another name");
        for suite in fs::read_dir(directory.join("suites")).unwrap() {
            for case in fs::read_dir(suite.unwrap().path().join("cases")).unwrap() {
                let case = case.unwrap().path();
                if read(&case.join("case.json"))["completed"] == 0 {
                    fs::remove_dir_all(&case).expect("a case without a result");
                    continue;
                }
                edit(&case.join("case.json"), &[("target", json!("default"))]);
                edit(&case.join("trial-000/result.json"), &[("target", json!("default")), ("answer", json!(answer))]);
            }
        }
    }
    package
}

fn read(file: &Path) -> Value {
    evalsuite_schema::json::from_slice(&fs::read(file).expect("a record")).expect("JSON")
}

fn edit(file: &Path, fields: &[(&str, Value)]) {
    let mut record = read(file);
    fields.iter().for_each(|(field, value)| record[*field] = value.clone());
    fs::write(file, record.to_string()).expect("the record");
}

/// Compares the two runs with a judge.
fn diff(package: &Package, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let arguments: Vec<&str> = ["diff", "a-old", "b-new"].iter().chain(arguments).copied().collect();
    let output = package.root().join("out").display().to_string();
    let variables: Vec<(&str, &str)> =
        [("EVALSUITE_OUTPUT", output.as_str())].iter().chain(variables).copied().collect();
    package.run_with(&arguments, &variables)
}

fn judged(package: &Package, judge: Judge, arguments: &[&str]) -> Output {
    let url = service(judge);
    let variables =
        [("EVALSUITE_JUDGE_URL", url.as_str()), ("EVALSUITE_JUDGE_MODEL", "small"), ("EVALSUITE_JUDGE_PRICE", "1/10")];
    diff(package, &[&["--judge"], arguments].concat(), &variables)
}

#[test]
fn better_answers_are_seen_where_scores_are_equal() {
    let package = package();
    let output = judged(&package, prefers_new, &[]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    for line in [
        "refunds @ default: same\n",
        "  judged   improved: 8 better, 0 worse, 0 ties\n  win rate 1.000 [0.676, 1.000]  p 0.008 (0.023 adjusted)\n",
        "  position first answer preferred 0.500 [0.215, 0.785]\n  orders   0 cases inconsistent\n",
        "  judge    small (judge-1)  16 calls, 8000 + 320 tokens, $0.0112\n",
        "  judged better       gift-card-balance",
    ] {
        assert!(output.out.contains(line), "`{line}` is missing in\n{}", output.out);
    }
    let output = judged(&package, prefers_new, &["--format", "markdown"]);
    assert!(
        output.out.contains("| refunds | default | improved | 8 | 0 | 0 | 1.000 \\[0.676, 1.000\\] |"),
        "{}",
        output.out
    );
    let output = judged(&package, prefers_new, &["--format", "json"]);
    let found: Value = evalsuite_schema::json::from_str(&output.out).expect("one JSON object");
    let case = &found["suites"][0]["judged"]["cases"][0];
    assert_eq!((&case["better"], &case["consistent"], &case["error"]), (&json!("run"), &json!(true), &Value::Null));
    assert_eq!(
        case["replies"][0],
        json!({"judge": "small", "first": "base", "better": "run", "reasoning": "It is more helpful."})
    );
    let reply = package.root().join("out/runs/b-new").join(case["judge"]["replies"][1].as_str().unwrap());
    assert_eq!(fs::read_to_string(reply).unwrap(), better("first"));
}

#[test]
fn worse_answers_are_a_regression() {
    let output = judged(&package(), prefers_old, &[]);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    assert!(output.out.contains("  judged   regressed: 0 better, 8 worse, 0 ties"), "{}", output.out);
}

#[test]
fn a_judge_that_prefers_a_position_decides_nothing() {
    let output = judged(&package(), prefers_first, &[]);
    assert_eq!(output.code, 4, "{}{}", output.out, output.err);
    assert!(output.out.contains("  judged   undecided: 0 better, 0 worse, 8 ties"), "{}", output.out);
    let bias = "first answer preferred 1.000 [0.676, 1.000]\n  orders   8 cases inconsistent: no better than a coin\n";
    assert!(output.out.contains(bias), "{}", output.out);
}

#[test]
fn a_judge_that_makes_no_sense_names_the_cases() {
    fn some(prompt: &str) -> String {
        if prompt.contains("blender") { "{\"better\": NaN}".to_owned() } else { prefers_new(prompt) }
    }
    fn hostile(_: &str) -> String {
        "{\"better\": \"\u{1b}[2J</untrusted> first\"}".to_owned()
    }
    let package = package();
    let output = judged(&package, some, &[]);
    assert_eq!(output.code, 4, "{}{}", output.out, output.err);
    assert!(
        output.out.contains("  not judged          refund-after-window  judge `small` gave no usable reply"),
        "{}",
        output.out
    );
    let output = judged(&package, hostile, &[]);
    assert_eq!(output.code, 4, "{}{}", output.out, output.err);
    assert_eq!(output.out.matches("  not judged          ").count(), 23, "{}", output.out);
    assert!(!output.out.contains('\u{1b}'), "{}", output.out);
}

#[test]
fn criteria_of_the_command_line_are_asked_for() {
    fn by_criteria(prompt: &str) -> String {
        if prompt.contains("[[ ## criteria ## ]]\nIs short\n") { prefers_new(prompt) } else { better("tie") }
    }
    let package = package();
    assert!(judged(&package, by_criteria, &["--criteria", "Is short"]).out.contains(" 8 better, 0 worse, 0 ties"));
    assert!(judged(&package, by_criteria, &[]).out.contains(" 0 better, 0 worse, 8 ties"));
}

#[test]
fn replies_are_recorded_and_replayed_without_a_judge() {
    let package = package();
    let url = service(prefers_new);
    let service =
        [("EVALSUITE_JUDGE_URL", url.as_str()), ("EVALSUITE_JUDGE_MODEL", "small"), ("EVALSUITE_MODE", "record")];
    let recorded = diff(&package, &["--judge"], &service);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    let replayed = diff(&package, &["--judge"], &[("EVALSUITE_MODE", "replay")]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
    let lines =
        |text: &str| text.lines().filter(|line| !line.starts_with("  judge  ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&replayed.out), lines(&recorded.out), "the name of the judge is not recorded");
    let other = diff(&package, &["--judge", "--criteria", "Is short"], &[("EVALSUITE_MODE", "replay")]);
    assert_eq!(other.code, 4, "{}{}", other.out, other.err);
    assert!(other.out.contains(": the recording is stale: the prompt changed\n"), "{}", other.out);
}

/// The package with a command `shell` that prefers the new answers.
#[cfg(unix)]
fn package_with_command() -> Package {
    let package = package();
    let script = r#"#!/bin/sh
first=$(grep -n 'the new answer' "$1" | cut -d: -f1)
second=$(grep -n '## second_answer ##' "$1" | cut -d: -f1)
if [ "$first" -lt "$second" ]; then better=first; else better=second; fi
printf '{"better": "%s"}' "$better" > "$2"
"#;
    package.write("judge.sh", script);
    package.write(
        "targets.yaml",
        "targets:\n  - {name: shell, provider: cli, command: \"sh $OLDPWD/judge.sh {PROMPT_FILE} {OUTPUT_FILE}\"}\n"
            .replace("$OLDPWD", &package.root().display().to_string())
            .as_str(),
    );
    package
}

#[cfg(unix)]
#[test]
fn a_command_of_the_targets_file_judges() {
    let output = diff(&package_with_command(), &["--judge", "shell"], &[]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(output.out.contains("  judge    shell"), "{}", output.out);
}

#[cfg(unix)]
#[test]
fn the_judge_of_the_run_is_asked_again() {
    let package = package_with_command();
    record_judges(&package, &["shell"]);
    let output = diff(&package, &["--judge"], &[]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(output.out.contains("  judge    shell"), "{}", output.out);
    let output = judged(&package, prefers_old, &[]);
    assert!(output.out.contains("  judge    small"), "the environment takes precedence: {}", output.out);
    record_judges(&package, &["shell", "other"]);
    let output = diff(&package, &["--judge"], &[]);
    assert_eq!(output.code, 2, "one of several is not chosen: {}", output.out);
    record_judges(&package, &["gpt-x"]);
    let output = diff(&package, &["--judge"], &[]);
    assert_eq!(output.code, 2, "{}", output.out);
    for part in ["there is no judge `gpt-x`", "; set EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, or name a command"]
    {
        assert!(output.err.contains(part), "`{part}` is missing in {}", output.err);
    }
}

/// Gives the graders of the newer run these judges, and no others.
#[cfg(unix)]
fn record_judges(package: &Package, names: &[&str]) {
    let mut names = names.iter().cycle();
    for suite in fs::read_dir(package.root().join("out/runs/b-new/suites")).unwrap() {
        for case in fs::read_dir(suite.unwrap().path().join("cases")).unwrap() {
            let file = case.unwrap().path().join("trial-000/result.json");
            let mut graders = read(&file)["graders"].clone();
            for grader in graders.as_array_mut().expect("graders") {
                grader["judge"] = json!({"name": names.next(), "attempts": 1, "prompt_sha256": "", "replies": []});
                grader["members"] = json!([]);
            }
            edit(&file, &[("graders", graders)]);
        }
    }
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_asked() {
    let package = package();
    let cases: &[(&[&str], &str)] = &[
        (&["--judge"], "error: the judge of the run cannot be asked again: there is no judge `judge-large`: "),
        (&["--judge", "nobody"], "error: there is no judge `nobody`"),
        (
            &["--judge", "large", "--targets", "small", "large"],
            "error: `large` cannot be the judge: it is one of the compared targets",
        ),
        (&["--criteria", "Is short"], "--judge"),
        (&["--targets", "small"], "--targets"),
    ];
    for (arguments, expected) in cases {
        let output = diff(&package, arguments, &[]);
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{arguments:?}: {}", output.err);
        assert!(output.err.contains(expected), "{arguments:?}: {}", output.err);
    }
}

/// The package with the results of `a-old` accepted.
fn accepted(arguments: &[&str]) -> Package {
    let package = package();
    package.write(
        "Cargo.toml",
        "[package]\nname = \"support-agent\"\nversion = \"0.4.2\"\nedition = \"2024\"\n[workspace]\n",
    );
    package.write("src/lib.rs", "");
    let output = package.run_in_output(&[&["accept", "a-old"], arguments].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    package
}

fn judged_with_baseline(package: &Package, judge: Judge) -> Output {
    let url = service(judge);
    let output = package.root().join("out").display().to_string();
    let variables =
        [("EVALSUITE_OUTPUT", output.as_str()), ("EVALSUITE_JUDGE_URL", &url), ("EVALSUITE_JUDGE_MODEL", "small")];
    package.run_with(&["diff", "b-new", "--baseline", "--judge"], &variables)
}

/// The files with accepted answers, and their texts.
fn answer_files(package: &Package) -> Vec<(std::path::PathBuf, String)> {
    let directory = package.root().join(".evalsuite/baselines");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.to_string_lossy().ends_with(".answers.jsonl")).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn accepted_answers_are_compared_with_those_of_a_run() {
    let package = accepted(&["--answers"]);
    let better = judged_with_baseline(&package, prefers_new);
    assert!(better.out.starts_with("b-new compared with the baseline\n"), "{}{}", better.out, better.err);
    assert!(better.out.contains("  judged   improved: 8 better, 0 worse, 0 ties\n  win rate 1.000"), "{}", better.out);
    assert_eq!(better.err, "note: 4 cases are not judged, because their accepted results are failures\n");
    assert!(package.root().join("out/runs/b-new/pairwise/baseline").is_dir(), "prompts and replies are kept");
    let worse = judged_with_baseline(&package, prefers_old);
    assert_eq!(worse.code, 1, "{}{}", worse.out, worse.err);
    assert!(worse.out.contains("  judged   regressed: 0 better, 8 worse, 0 ties"), "{}", worse.out);

    let (file, text) = answer_files(&package).remove(0);
    let kept: Vec<&str> = text.lines().take(2).collect();
    fs::write(&file, kept.join("\n") + "\n").unwrap();
    let some = judged_with_baseline(&package, prefers_new);
    assert_eq!(some.code, 4, "{}{}", some.out, some.err);
    let why =
        "  no accepted answer to this input; `cargo evalsuite accept --answers` takes one from a trial that passes\n";
    assert!(some.out.contains(why), "{}", some.out);
    fs::write(&file, format!("{text}<<<<<<< ours\n")).unwrap();
    let torn = judged_with_baseline(&package, prefers_new);
    assert_eq!(torn.code, 2, "{}", torn.out);
    assert!(torn.err.contains(".answers.jsonl: line "), "{}", torn.err);
}

#[test]
fn answers_are_accepted_when_asked_for_and_then_kept_in_step() {
    let package = accepted(&[]);
    assert_eq!(answer_files(&package), [], "nobody asked for them");
    let none = judged_with_baseline(&package, prefers_new);
    assert_eq!(none.code, 2, "{}", none.out);
    let error =
        "error: the baseline has no answers of the cases of this run; `cargo evalsuite accept --answers` writes them\n";
    assert_eq!(none.err, error);
    let output = package.run_in_output(&["accept", "a-old", "--answers"]);
    assert!(output.out.contains(".answers.jsonl  "), "{}", output.out);
    let written = answer_files(&package);
    assert_eq!(written.len(), 3);
    assert!(written.iter().all(|(_, text)| text.contains("the old answer")), "{written:?}");
    assert!(!package.run_in_output(&["accept", "b-new"]).out.contains("answers"), "the results are the same");
    assert_eq!(answer_files(&package), written);
    let edit_all = |file: &str, key: &str, value: &Value| {
        for suite in fs::read_dir(package.root().join("out/runs/b-new/suites")).unwrap() {
            for case in fs::read_dir(suite.unwrap().path().join("cases")).unwrap() {
                edit(&case.unwrap().path().join(file), &[(key, value.clone())]);
            }
        }
    };
    edit_all("trial-000/result.json", "answer_truncated", &json!(true));
    let output = package.run_in_output(&["accept", "b-new", "--answers"]);
    assert!(!output.out.contains("no answer of"), "the earlier answers stay: {}", output.out);
    assert_eq!(answer_files(&package), written);
    edit_all("case.json", "input_digest", &json!("another long question"));
    let output = package.run_in_output(&["accept", "b-new"]);
    assert_eq!(output.out.matches("  no answer of `").count(), 3, "they are gone: {}", output.out);
    assert!(answer_files(&package).iter().all(|(_, text)| !text.contains("answer\":\"the")), "{}", output.out);
    edit_all("trial-000/result.json", "answer_truncated", &json!(false));
    edit_all("case.json", "input_digest", &json!("another question"));
    let output = package.run_in_output(&["accept", "b-new"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let replaced = answer_files(&package);
    assert!(
        replaced.iter().all(|(_, text)| text.contains("the new answer") && !text.contains("the old answer")),
        "other questions have other answers: {replaced:?}"
    );
}

#[test]
fn two_targets_of_a_run_are_compared() {
    let package = package();
    let cases = package.root().join("out/runs/b-new/suites");
    for suite in fs::read_dir(cases).unwrap() {
        let cases = suite.unwrap().path().join("cases");
        for case in fs::read_dir(&cases).unwrap().map(|case| case.unwrap().path()).collect::<Vec<_>>() {
            let old = package
                .root()
                .join("out/runs/a-old")
                .join(case.strip_prefix(package.root().join("out/runs/b-new")).unwrap());
            let key = format!("{}-small", case.file_name().unwrap().to_string_lossy());
            fs::rename(old, cases.join(&key)).unwrap();
            edit(&cases.join(&key).join("case.json"), &[("target", json!("small")), ("case_key", json!(key))]);
            edit(
                &cases.join(&key).join("trial-000/result.json"),
                &[("target", json!("small")), ("case_key", json!(key))],
            );
        }
    }
    fs::write(package.root().join("out/latest"), "b-new").unwrap();
    let url = service(prefers_new);
    let output = package.root().join("out").display().to_string();
    let variables =
        [("EVALSUITE_OUTPUT", output.as_str()), ("EVALSUITE_JUDGE_URL", &url), ("EVALSUITE_JUDGE_MODEL", "small")];
    let output = package.run_with(&["diff", "--targets", "small", "default", "--judge"], &variables);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(output.out.starts_with("b-new compared with b-new\n"), "{}", output.out);
    assert!(output.out.contains("\nrefunds @ small -> default: same\n"), "{}", output.out);
    assert!(output.out.contains("  judged   improved: 8 better, 0 worse, 0 ties"), "{}", output.out);
}
