//! `cargo evalsuite calibrate` against a judge behind real HTTP, and one that is a real command.

#[cfg(target_os = "linux")]
use std::io::Read;
#[cfg(target_os = "linux")]
use std::net::TcpListener;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};
#[cfg(target_os = "linux")]
use std::sync::mpsc::{Sender, channel};
#[cfg(target_os = "linux")]
use std::thread;

use crate::package::{Output, Package};
use evalsuite_schema::json::json;
#[cfg(target_os = "linux")]
use evalsuite_tests::http_service::answer;
use evalsuite_tests::http_service::serve;

/// A service that gives every answer the score after `worth` in it, turned around if it is `reversed`.
fn service(reversed: bool) -> String {
    serve(move |body| reply(body, reversed))
}

/// The same, which answers only once it is told to.
#[cfg(target_os = "linux")]
fn waiting_service() -> (String, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (go_on, told) = channel();
    thread::spawn(move || {
        told.recv().expect("it is told to");
        listener.incoming().flatten().for_each(|stream| answer(&stream, |body| reply(body, false)));
    });
    (url, go_on)
}

fn reply(body: &str, reversed: bool) -> String {
    let worth = body.split("worth ").nth(1).and_then(|rest| rest.get(..3)).and_then(|text| text.parse::<f64>().ok());
    let worth = worth.map(|worth| if reversed { 1.0 - worth } else { worth });
    let content = worth.map_or_else(|| "no idea".to_owned(), |worth| json!({"score": worth}).to_string());
    json!({"model": "judge-1", "choices": [{"message": {"role": "assistant", "content": content}}]}).to_string()
}

fn line(id: &str, output: &str, human_score: f64) -> String {
    let line =
        json!({"id": id, "human_score": human_score, "input": "Write.", "output": output, "criteria": "It is good."});
    format!("{line}\n")
}

fn labels() -> String {
    [("a", 0.0), ("b", 0.3), ("c", 0.6), ("d", 0.9)]
        .map(|(id, score)| line(id, &format!("worth {score:.1}"), score))
        .concat()
}

fn calibrate(package: &Package, url: &str, arguments: &[&str]) -> Output {
    let arguments: Vec<&str> = ["calibrate"].iter().chain(arguments).copied().collect();
    let output = package.root().join("out").display().to_string();
    let variables =
        [("EVALSUITE_OUTPUT", output.as_str()), ("EVALSUITE_JUDGE_URL", url), ("EVALSUITE_JUDGE_MODEL", "small")];
    package.run_with(&arguments, &variables)
}

#[cfg(target_os = "linux")]
#[evalsuite_needs::needs(script)]
#[test]
fn progress_is_shown_on_a_terminal_until_the_judge_has_answered() {
    let package = Package::new(&[("labels.jsonl", &labels())]);
    let (url, go_on) = waiting_service();
    let line =
        format!("{} evalsuite calibrate labels.jsonl", assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display());
    let mut command = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(package.root())
        .env("EVALSUITE_OUTPUT", package.root().join("out"))
        .env("EVALSUITE_JUDGE_URL", url)
        .env("EVALSUITE_JUDGE_MODEL", "small")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` runs");
    let mut terminal = command.stdout.take().expect("a pipe");
    let mut shown = Vec::new();
    let mut buffer = [0; 1024];
    let has = |shown: &[u8], text: &str| String::from_utf8_lossy(shown).contains(text);
    while !has(&shown, "asking the judge (") {
        let count = terminal.read(&mut buffer).expect("a terminal");
        assert!(count > 0, "no progress in\n{}", String::from_utf8_lossy(&shown));
        shown.extend(&buffer[..count]);
    }
    go_on.send(()).expect("the service waits");
    terminal.read_to_end(&mut shown).expect("a terminal");
    assert!(has(&shown, "judge calibration (labels): the judge is good enough"), "{}", String::from_utf8_lossy(&shown));
    assert!(command.wait().expect("it ends").success());
}

#[test]
fn a_judge_that_agrees_is_above_the_bar() {
    let package = Package::new(&[("labels.jsonl", &labels())]);
    let ran = calibrate(&package, &service(false), &["labels.jsonl"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for part in [
        "judge calibration (labels): the judge is good enough",
        "model judge-1",
        "4 of 4 samples judged",
        "Cohen's κ   1.00",
        "Spearman    1.00",
        "repeat: cargo evalsuite calibrate labels.jsonl",
    ] {
        assert!(ran.out.contains(part), "`{part}` is missing in\n{}", ran.out);
    }
    assert!(package.root().join("out/latest").is_file(), "it is recorded as a run");
}

#[test]
fn a_judge_below_the_bar_fails_and_the_record_says_by_how_much() {
    let package = Package::new(&[("labels.jsonl", &labels())]);
    let url = service(true);
    let ran = calibrate(&package, &url, &["labels.jsonl"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("Spearman -1.00 < 0.70"), "{}", ran.out);
    let ran =
        calibrate(&package, &url, &["labels.jsonl", "--min-spearman", "-1", "--tolerance", "0.5", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let record = package.json("calibrate", &ran.out);
    assert_eq!(record["schema"], "evalsuite.calibration/1");
    assert_eq!((&record["statistics"]["spearman"], &record["tolerance"]), (&json!(-1.0), &json!(0.5)));
    assert_eq!(record["disagreements"], json!(["a", "d", "b", "c"]));
}

#[test]
fn a_judge_that_makes_no_sense_has_measured_nothing() {
    let lines = [line("a", "plain", 0.1), line("b", "worth 0.3", 0.3), line("c", "simple", 0.9)].concat();
    let package = Package::new(&[("labels.jsonl", &lines)]);
    let ran = calibrate(&package, &service(false), &["labels.jsonl"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("1 of 3 samples judged, 0 undecided, 2 with an error"), "{}", ran.out);
    assert!(ran.out.contains("no usable reply in 3 attempts"), "{}", ran.out);
}

#[test]
fn samples_of_a_suite_name_its_cases() {
    let suite = "tests:\n  - {id: note, input: Write., criteria: It is good.}\n";
    let calibration = "minimum: {kappa: 0.9}\nsamples:\n  - {id: a, case: note, output: worth 0.2, human_score: 0.2}\n  \
                       - {id: b, case: note, output: worth 0.9, human_score: 0.9}\n";
    let package = Package::new(&[("suites/notes/EVAL.yaml", suite), ("suites/notes/calibration.yaml", calibration)]);
    let url = service(false);
    let ran = calibrate(&package, &url, &["suites/notes"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("judge calibration (notes)"), "{}", ran.out);
    let ran = calibrate(&package, &service(true), &["suites/notes"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("Cohen's κ -1.00 < 0.90"), "{}", ran.out);
    let ran = calibrate(&package, &url, &["suites/notes/calibration.yaml"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("error[E077 unknown-sample-case]"), "{}", ran.err);
    assert!(ran.err.contains("name the directory of their suite"), "{}", ran.err);
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_asked() {
    let defect = "{\"id\": \"a\", \"human_scor\": 0.5}\n";
    let suite = "tests:\n  - {id: note, input: Write., criteria: It is good.}\n";
    let package = Package::new(&[
        ("labels.jsonl", &labels()),
        ("defect.jsonl", defect),
        ("empty.jsonl", ""),
        ("notes/EVAL.yaml", suite),
    ]);
    let url = "http://127.0.0.1:9/v1";
    let cases: &[(&[&str], &str)] = &[
        (&["defect.jsonl"], "unknown key `human_scor` in a sample"),
        (&["empty.jsonl"], "no sample in a calibration"),
        (&["missing.jsonl"], "missing.jsonl"),
        (&["notes"], "suite `notes` has no calibration.yaml\n  = help: write one: `cargo evalsuite new calibration`"),
        (&["labels.jsonl", "--min-spearman", "2"], "`--min-spearman` must be between -1 and 1"),
        (&["labels.jsonl", "--tolerance", "-0.1"], "--tolerance"),
        (&[], "required arguments"),
    ];
    for (arguments, expected) in cases {
        let ran = calibrate(&package, url, arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
    let ran = package.run(&["calibrate", "labels.jsonl"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("needs a judge") && ran.err.contains("EVALSUITE_JUDGE_URL"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_command_is_a_judge() {
    let targets = "targets:\n  - name: strict\n    provider: cli\n    \
                   command: \"sed -n 's/.*worth \\\\([0-9.]*\\\\).*/{\\\"score\\\": \\\\1}/p' {PROMPT_FILE} > {OUTPUT_FILE}\"\n";
    let package = Package::new(&[("labels.jsonl", &labels()), ("targets.yaml", targets)]);
    let ran = package.run_with(&["calibrate", "labels.jsonl"], &[("EVALSUITE_JUDGE_TARGET", "strict")]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("judge strict"), "{}", ran.out);
}
