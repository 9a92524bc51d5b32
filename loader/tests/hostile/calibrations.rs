//! Calibrations that are not files, lead elsewhere, or ask for more than there may be.

use std::fmt::Write as _;

use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package, write_sparse};

const FILE: &str = "suite/calibration.yaml";
const LABELS: &str = "suite/labels.jsonl";

/// A suite with one case and a calibration.
fn package(calibration: impl AsRef<[u8]>) -> Package {
    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    package.write(FILE, calibration);
    package
}

/// Samples about the case, in one line each.
fn samples(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "  - {{id: s{number}, case: a, output: o, human_score: 1}}");
        text
    })
}

#[test]
fn as_many_samples_as_there_may_be_and_no_more() {
    package(format!("samples:\n{}", samples(1_000))).load().only(&[]).is_valid(1);
    let said = package(format!("samples:\n{}", samples(1_001))).load();
    said.only(&[Code::LimitExceeded]).has_at(Code::LimitExceeded, FILE, 2);
    package(format!("samples:\n{}", samples(20_000))).load().only(&[Code::LimitExceeded]);
    let same = samples(1_000).replace("s999,", "s0,");
    package(format!("samples:\n{same}")).load().only(&[Code::DuplicateId]).has_at(Code::DuplicateId, FILE, 1_001);

    let package = package("samples: labels.jsonl\n");
    let line = "{\"id\": \"x\", \"case\": \"a\", \"output\": \"o\", \"human_score\": 1}\n";
    package.write(LABELS, line.repeat(1_001));
    package.load().only(&[Code::LimitExceeded]).has_at(Code::LimitExceeded, FILE, 1);
}

#[test]
fn what_samples_copy_does_not_multiply_without_end() {
    let long = "x".repeat(1 << 20);
    for case in [
        format!("criteria: {long}\ninput: Hello\n"),
        format!("{CASE}metadata: {{long: {long}}}\n"),
        format!("input: Hello\nassertions: [{{type: llm-grader, prompt: '{{{{ output }}}} {long}'}}]\n"),
        format!("{CASE}assertions: [{{type: rubrics, criteria: [{long}]}}]\n"),
    ] {
        let package = package(format!("samples:\n{}", samples(1_000)));
        package.write("suite/a/case.yaml", case);
        package.load().is_refused().has(Code::LimitExceeded, FILE);
    }
    // And what the grader of the calibration brings along.
    let own: String = samples(1_000).replace("case: a", "input: a, criteria: b");
    let judge = format!("grader: {{type: rubrics, criteria: [{long}]}}\n");
    package(format!("{judge}samples:\n{own}")).load().is_refused().has(Code::LimitExceeded, FILE);
}

#[test]
fn huge_calibrations_are_not_read() {
    for size in [(16 << 20) + 1, 100 << 20, 1 << 40] {
        let package = package("");
        write_sparse(&package.path(FILE), size);
        package.load().only(&[Code::LimitExceeded]).has(Code::LimitExceeded, FILE);
        package.write(FILE, "samples: labels.jsonl\n");
        write_sparse(&package.path(LABELS), size);
        package.load().only(&[Code::LimitExceeded]).has(Code::LimitExceeded, LABELS);
    }
    let scalar = "x".repeat(15 << 20);
    let text = format!("samples:\n{}  - {{id: long, case: a, output: {scalar}, human_score: 1}}\n", samples(2));
    package(text).load().only(&[]).is_valid(1);
    package(scalar).load().only(&[Code::RootNotMapping]);
    package("x".repeat(100 << 20)).load().only(&[Code::LimitExceeded]);
}

#[test]
fn calibrations_that_are_no_text_are_refused() {
    for bytes in [&b"samples: \xff\n"[..], b"\xfe\xff\x00s", b"samples:\n  - {id: \xc3}\n"] {
        package(bytes).load().only(&[Code::InvalidUtf8]).has(Code::InvalidUtf8, FILE);
        let package = package("samples: labels.jsonl\n");
        package.write(LABELS, bytes);
        package.load().only(&[Code::InvalidUtf8]).has(Code::InvalidUtf8, LABELS);
    }
    package(b"\xef\xbb\xbfsamples:\n").load().only(&[Code::MissingKey]).has_at(Code::MissingKey, FILE, 1);
    package("").load().only(&[Code::RootNotMapping]);
    package("\0").load().is_refused();
    package("samples: \"labels\\0.jsonl\"\n").load().only(&[Code::PathEscape]).has_at(Code::PathEscape, FILE, 1);
}

#[test]
fn structure_goes_off_nowhere() {
    let mut bomb = String::from("bomb:\n  - &a0 lol\n");
    for level in 1..12 {
        let _ = writeln!(bomb, "  - &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", "));
    }
    package(format!("{bomb}samples:\n{}", samples(2)))
        .load()
        .only(&[Code::LimitExceeded])
        .has(Code::LimitExceeded, FILE);
    let long = format!("long: &long {}\nsamples: [{}]\n", "x".repeat(1 << 20), "*long, ".repeat(900));
    package(long).load().is_refused();
    // Every sample the same node: what is wrong with it is said as often, and no more.
    let aliases = format!("one: &one {{id: a}}\nsamples: [{}]\n", "*one, ".repeat(1_000));
    package(aliases).load().is_refused();
    for depth in [65, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        package(format!("samples: {deep}\n")).load().only(&[Code::LimitExceeded]);
        let package = package("samples: labels.jsonl\n");
        package.write(LABELS, format!("{deep}\n{deep}\n"));
        package.load().is_refused().has(Code::LimitExceeded, LABELS);
    }
    for open in ["[", "{", "samples: [", "samples:\n- {", "'", "&a ", "? "] {
        package(open.repeat(50_000)).load().is_refused();
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    for number in [".nan", ".inf", "-.inf", "1e400", "1e-400x", "0x10", "1_0", "-0.0001", "1.0000001"] {
        let text = format!("samples:\n{}  - {{id: a, case: a, output: o, human_score: {number}}}\n", samples(2));
        package(text).load().is_refused();
    }
    package(format!("samples:\n{}", samples(2).replace("score: 1}", "score: -0.0}"))).load().is_valid(1);
}

#[cfg(unix)]
mod special {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    /// A suite with one case, of an eval file: the root of its directories is not a list of cases.
    fn suite() -> Package {
        Package::with_eval_file("tests: [{id: a, criteria: b, input: c}]\n")
    }

    #[test]
    fn calibrations_that_are_no_files_are_refused() {
        for name in ["calibration.yaml", "calibration.yml", "EVAL.calibration.yaml", "labels.jsonl"] {
            for kind in ["directory", "socket", "pipe"] {
                let package = suite();
                let path = package.path(&format!("suite/{name}"));
                match kind {
                    "directory" => std::fs::create_dir(&path).unwrap(),
                    "socket" => drop(UnixListener::bind(&path).unwrap()),
                    _ => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                }
                if name == "labels.jsonl" {
                    package.write(FILE, "samples: labels.jsonl\n");
                    package.load().only(&[Code::MissingPath]).has_at(Code::MissingPath, FILE, 1);
                } else {
                    let said = package.load();
                    said.only(&[Code::UnreadableFile]).has(Code::UnreadableFile, &format!("suite/{name}"));
                }
            }
        }
    }

    #[test]
    fn calibrations_that_are_bad_links_are_refused() {
        for target in ["calibration.yaml", "/etc/hostname", "/dev/zero", "nothing", "/proc/self/mem", "../../absent"] {
            let package = suite();
            symlink(target, package.path(FILE)).unwrap();
            package.load().only(&[Code::PathEscape]).has(Code::PathEscape, FILE);

            let package = suite();
            package.write(FILE, "samples: labels.jsonl\n");
            symlink(target.replace("calibration.yaml", "labels.jsonl"), package.path(LABELS)).unwrap();
            package.load().only(&[Code::PathEscape]).has_at(Code::PathEscape, FILE, 1);
        }
        let (package, outside) = (suite(), tempfile::tempdir().unwrap());
        symlink(outside.path(), package.path(FILE)).unwrap();
        package.load().only(&[Code::PathEscape]).has(Code::PathEscape, FILE);
        // Elsewhere in the package.
        let package = suite();
        package.write("shared/calibration.yaml", format!("samples:\n{}", samples(2)));
        symlink("../shared/calibration.yaml", package.path(FILE)).unwrap();
        package.load().only(&[]).is_valid(1);
        // A suite of tasks ends at its directory.
        let package = Package::new();
        package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
        package.write(
            "suite/tasks/a.json",
            "{\"id\": \"a\", \"description\": \"b\", \"graders\": [{\"name\": \"is-json\"}]}",
        );
        package.write("shared/calibration.yaml", "samples: []\n");
        symlink("../shared/calibration.yaml", package.path(FILE)).unwrap();
        package.load().only(&[Code::PathEscape]).has(Code::PathEscape, FILE);
    }
}
