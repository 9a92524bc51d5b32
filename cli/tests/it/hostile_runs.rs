//! Commands on a run directory in which a program has put something else in place of a file. Every command ends, shows the rest, and
//! neither shows nor changes what is outside of the run.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::package::Package;
use evalsuite_needs::slow;
use evalsuite_tests::synthetic_run::SyntheticRun;

/// What no output may contain.
const SECRET: &str = "c2f7 of somebody else";
/// Far more than any command takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// The address space of a command, in KiB: the program and its stacks, and 256 MiB.
const MEMORY: u64 = 640 << 10;
const CASE: &str = "suites/refunds-00000000/cases/refund-after-window-00000000";

/// Files of a run with their size limit in MiB, and whether a report with everything names one that it cannot read.
const FILES: &[(&str, u64, bool)] = &[
    ("run.json", 16, true),
    ("suites", 0, false),
    ("suites/refunds-00000000/suite.json", 32, true),
    ("suites/refunds-00000000/calibration.json", 32, true),
    ("suites/refunds-00000000/session.json", 16, false),
    ("suites/refunds-00000000/cases", 0, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/case.json", 16, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000", 0, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000/result.json", 32, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000/evidence.json", 64, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000/trajectory.json", 64, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000/diff.patch", u64::MAX, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000/log.txt", u64::MAX, true),
    ("suites/refunds-00000000/cases/refund-after-window-00000000/trial-000/graders", 0, false),
    ("locks", 0, false),
    ("locks/x.lock", u64::MAX, false),
    ("spend.jsonl", 64, false),
    ("summary.json", u64::MAX, false),
];

/// Commands with their exit codes.
const COMMANDS: &[(&str, &[i32])] = &[
    ("report run-2", &[0]),
    ("report run-2 --format json", &[0]),
    ("report run-2 --format github", &[0]),
    (EVERYTHING, &[0]),
    ("list --runs", &[0]),
    ("clean --keep 5", &[0]),
    ("health", &[0, 4]),
    ("accept --run run-2 --dry-run", &[0, 1, 2]),
    ("diff run-1 run-2", &[0, 1, 4]),
    ("gate run-2 --require pass_rate>=1%", &[0, 1, 4]),
    // Without the case there is nothing to show.
    ("show refund-after-window --run run-2", &[0, 2]),
    ("show gift-card-balance --run run-2", &[0, 2]),
    ("merge out/runs/run-2 --into merged", &[0, 1]),
    ("finish run-2", &[0, 1, 4]),
];
const EVERYTHING: &str = "report run-2 --junit j.xml --markdown m.md --html h.html --html-dir h --json s.json \
                          --otel o.json --inspect-log inspect/";

/// What is in place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attack {
    Pipe,
    Device,
    Outside,
    Directory,
    Huge,
}

impl Attack {
    fn place(self, file: &Path, outside: &Path) {
        let _ = fs::remove_dir_all(file).or_else(|_| fs::remove_file(file));
        match self {
            Self::Pipe => assert!(Command::new("mkfifo").arg(file).status().unwrap().success()),
            Self::Device => symlink("/dev/zero", file).unwrap(),
            Self::Outside => symlink(outside, file).unwrap(),
            Self::Directory => fs::create_dir(file).unwrap(),
            Self::Huge => File::create(file).unwrap().set_len(100 << 20).unwrap(),
        }
    }

    /// What a report says of it.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Pipe => &["named pipe", "not a directory", "is missing"],
            Self::Device | Self::Outside => &["symbolic link", "not a directory"],
            Self::Directory => &["is a directory", "is missing"],
            Self::Huge => &["more than", "not a directory", "is missing"],
        }
    }
}

fn package() -> Package {
    let package = Package::new(&[]);
    for (id, day) in [("run-1", 20), ("run-2", 21)] {
        let mut run = SyntheticRun::new(id, 3, 1);
        run.started_at = format!("2026-11-{day}T08:00:00.000Z");
        run.write(&package.root().join("out"));
    }
    package.write("out/latest", "run-2");
    package.write("outside/file", SECRET);
    package
}

/// Runs a command with limits of time and memory.
fn run(package: &Package, arguments: &str) -> (i32, String) {
    let line = format!("ulimit -v {MEMORY}; exec \"$0\" evalsuite \"$@\"");
    let output = assert_cmd::Command::new("sh")
        .args(["-c", &line])
        .arg(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"))
        .args(arguments.split_whitespace())
        .current_dir(package.root())
        .env("EVALSUITE_OUTPUT", package.root().join("out"))
        .timeout(PATIENCE)
        .output()
        .expect("the program runs");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), text)
}

/// The files that a report with everything writes.
const WRITTEN: &[&str] = &["j.xml", "m.md", "h.html", "s.json", "o.json", "inspect", "h"];

/// Whether a file, or one in a directory, contains a text.
fn has_text(path: &Path, text: &str) -> bool {
    match path.is_dir() {
        true => fs::read_dir(path).unwrap().any(|entry| has_text(&entry.unwrap().path(), text)),
        false => fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes())),
    }
}

#[track_caller]
fn every_command_copes(attack: Attack) {
    let package = package();
    let (run_directory, outside) = (package.root().join("out/runs/run-2"), package.root().join("outside"));
    let whole = package.root().join("whole");
    copy(&run_directory, &whole);
    let mut problems = Vec::new();
    for (file, limit, is_named) in FILES {
        // A file of this size is read, or never read as a whole.
        if attack == Attack::Huge && *limit >= 100 && *limit != u64::MAX {
            continue;
        }
        let is_directory = *limit == 0;
        if attack == Attack::Directory && is_directory {
            continue;
        }
        let target = if is_directory { outside.clone() } else { outside.join("file") };
        for (command, codes) in COMMANDS {
            fs::remove_dir_all(&run_directory).unwrap();
            copy(&whole, &run_directory);
            attack.place(&run_directory.join(file), &target);
            let _ = fs::remove_dir_all(package.root().join("merged"));
            for file in WRITTEN.iter().map(|name| package.root().join(name)) {
                let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir_all(&file));
            }
            let (code, text) = run(&package, command);
            let mut wrong = |what: &str| problems.push(format!("{file}: `{command}` {what} ({code}):\n{text}"));
            if !codes.contains(&code) {
                wrong("has another exit code");
            }
            if text.contains("panicked") {
                wrong("panics");
            }
            if text.contains(SECRET) || WRITTEN.iter().any(|name| has_text(&package.root().join(name), SECRET)) {
                wrong("shows what is outside of the run");
            }
            let is_read_partly = attack == Attack::Huge && *limit == u64::MAX;
            let names_it = text.contains(file.rsplit('/').next().unwrap_or(file));
            if *command == EVERYTHING && *is_named && !is_read_partly {
                if !(names_it && attack.words().iter().any(|word| text.contains(word))) {
                    wrong("does not name the problem");
                }
                let junit = fs::read_to_string(package.root().join("j.xml")).unwrap_or_default();
                if !junit.contains("gift-card-balance") {
                    wrong("does not show the rest");
                }
            }
            if fs::read_to_string(outside.join("file")).ok().as_deref() != Some(SECRET)
                || fs::read_dir(&outside).unwrap().count() != 1
            {
                wrong("changes what is outside of the run");
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[slow(hostile)]
#[test]
fn a_pipe_in_place_of_a_file_holds_up_no_command() {
    every_command_copes(Attack::Pipe);
}

#[slow(hostile)]
#[test]
fn a_link_to_a_device_fills_the_memory_of_no_command() {
    every_command_copes(Attack::Device);
}

#[slow(hostile)]
#[test]
fn a_link_out_of_the_run_is_followed_by_no_command() {
    every_command_copes(Attack::Outside);
}

#[slow(hostile)]
#[test]
fn a_directory_in_place_of_a_file_stops_no_command() {
    every_command_copes(Attack::Directory);
}

#[slow(hostile)]
#[test]
fn a_huge_file_is_read_by_no_command() {
    every_command_copes(Attack::Huge);
}

/// The user's own link to a run is followed.
#[slow(hostile)]
#[test]
fn a_run_may_be_named_by_a_link() {
    let package = package();
    symlink(package.root().join("out/runs/run-2"), package.root().join("link")).unwrap();
    for command in ["report ./link", "finish ./link"] {
        let (code, text) = run(&package, command);
        assert_eq!(code, 0, "`{command}`: {text}");
        assert!(text.contains("refunds: 1 passed, 0 failed, 0 error, 0 skipped"), "`{command}`: {text}");
    }
}

/// Many small values take more memory than their text.
#[slow(hostile)]
#[test]
fn a_file_of_many_values_takes_no_memory() {
    let package = package();
    let tests = r#"{"program":"","test_name":"","case_id":""},"#.repeat((31 << 20) / 43);
    let suite = format!(
        r#"{{"schema":"evalsuite.suite/1","name":"refunds","kind":"mixed","layout":"cases","digest":"","tests":[{}{{"program":"","test_name":"","case_id":""}}]}}"#,
        tests
    );
    package.write("out/runs/run-2/suites/refunds-00000000/suite.json", &suite);
    package
        .write(&format!("out/runs/run-2/{CASE}/trial-000/trajectory.json"), &format!("[{}0]", "0,".repeat(30 << 20)));
    package.write(
        &format!("out/runs/run-2/{CASE}/trial-000/evidence.json"),
        &format!("{}{}", "[".repeat(100), "0,".repeat(30 << 20)),
    );
    for (command, codes) in COMMANDS {
        let (code, text) = run(&package, command);
        assert!(codes.contains(&code), "`{command}` ({code}): {text}");
        if *command == EVERYTHING {
            assert!(
                text.contains("has more than 1000000 values") && text.contains("has more than 2000000 values"),
                "{text}"
            );
        }
    }
}
