//! `cargo evalsuite convert` of sources that name files outside of their directory, and of sources that are too large.
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use evalsuite_needs::slow;

use crate::package::{Output, Package};

const SECRET: &str = "TOP-SECRET-4711";

/// A directory `outside` with secrets beside the source `in`, which has these files. `OUTSIDE` in them is the path of the directory.
fn package(files: &[(&str, &str)]) -> Package {
    let package = Package::new(&[
        ("outside/secret.txt", SECRET),
        ("outside/secret.yaml", "tests: TOP-SECRET-4711\nword: TOP-SECRET-4711\n"),
        ("outside/secret.csv", "word\nTOP-SECRET-4711\n"),
        ("outside/secret.jsonl", "{\"vars\": {\"word\": \"TOP-SECRET-4711\"}}\n"),
        ("outside/list.yaml", "- id: a\n  input: TOP-SECRET-4711\n  criteria: x\n"),
        ("outside/secret.py", "# TOP-SECRET-4711\n"),
        ("outside/task/task.toml", "[task]\nname = \"a/TOP-SECRET-4711\"\n"),
        ("outside/case/case.yaml", "input: TOP-SECRET-4711\ncriteria: x\n"),
    ]);
    let outside = package.root().join("outside").canonicalize().unwrap().display().to_string();
    for (path, text) in files {
        package.write(&format!("in/{path}"), &text.replace("OUTSIDE", &outside));
    }
    package
}

fn link(package: &Package, target: &str, path: &str) {
    let path = package.root().join("in").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

/// Converts `in`, which is refused and says this, and nothing is written.
#[track_caller]
fn refused(package: &Package, arguments: &[&str], expected: &[&str]) {
    let Output { code, out, err } = package.run(&[&["convert", "in", "made"], arguments].concat());
    assert_eq!(code, 2, "{out}{err}");
    for text in expected {
        assert!(err.contains(text), "{text} in\n{err}");
    }
    assert!(err.contains("--allow-outside "), "{err}");
    assert!(!out.contains(SECRET) && !err.contains(SECRET), "{out}{err}");
    assert!(!package.root().join("made").exists(), "nothing is written");
}

fn all_text(directory: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        match entry.path().is_dir() {
            true => text += &all_text(&entry.path()),
            false => text += &String::from_utf8_lossy(&fs::read(entry.path()).unwrap()),
        }
    }
    text
}

#[test]
fn no_reference_of_a_configuration_leads_out_of_its_directory() {
    let start = "prompts: ['Say {{word}}']\nproviders: [echo]\n";
    let table = [
        ("tests:\n  - vars:\n      word: file://OUTSIDE/secret.txt\n", "promptfooconfig.yaml:5: tests[0].vars.word"),
        ("tests:\n  - vars: { word: file://../outside/secret.txt }\n", "promptfooconfig.yaml:4: tests[0].vars.word"),
        ("tests:\n  - vars: { word: file://linked.txt }\n", "tests[0].vars.word"),
        ("tests:\n  - vars: { word: file://linked/secret.txt }\n", "tests[0].vars.word"),
        ("tests:\n  - vars: { word: [a, 'file://../outside/secret.txt'] }\n", "tests[0].vars.word"),
        ("tests:\n  - vars: { word: 'file://../outside/*.txt' }\n", "tests[0].vars.word"),
        ("tests:\n  - vars: { word: 'file://**/*.txt' }\n", "tests[0].vars.word"),
        ("tests:\n  - vars: { word: file://../nowhere/secret.txt }\n", "tests[0].vars.word"),
        ("tests:\n  - vars: file://../outside/secret.yaml\n", "tests[0].vars"),
        ("tests:\n  - vars: [../outside/*.yaml]\n", "tests[0].vars"),
        ("tests: file://../outside/secret.csv\n", "promptfooconfig.yaml:3: tests"),
        ("tests: [OUTSIDE/secret.jsonl]\n", "promptfooconfig.yaml:3: tests[0]"),
        ("tests: ['../outside/*.csv']\n", "tests[0]"),
        ("tests: [linked.csv]\n", "tests[0]"),
        ("defaultTest: file://../outside/secret.yaml\ntests: [{}]\n", "promptfooconfig.yaml:3: defaultTest"),
        ("defaultTest: { vars: { word: file://OUTSIDE/secret.txt } }\ntests: [{}]\n", "defaultTest.vars.word"),
        ("scenarios: [file://../outside/secret.yaml]\n", "scenarios[0]"),
        ("scenarios:\n  - config: file://../outside/secret.csv\n    tests: [{}]\n", "scenarios[0].config"),
        ("tests:\n  - assert: [{ type: contains, value: file://OUTSIDE/secret.txt }]\n", "tests[0].assert[0]"),
        ("tests:\n  - assert: [{ type: contains-any, value: [file://../outside/secret.txt] }]\n", "tests[0].assert[0]"),
        ("tests:\n  - assert: [{ type: is-json, value: file://../outside/secret.yaml }]\n", "tests[0].assert[0]"),
        ("tests:\n  - assert: [{ type: python, value: file://../outside/secret.py }]\n", "tests[0].assert[0]"),
        (
            "tests:\n  - assert: [{ type: assert-set, assert: [{ type: equals, value: file://../outside/secret.txt }] }]\n",
            "assert[0].assert[0]",
        ),
        ("tests: [inner/tests.yaml]\n", "inner/tests.yaml:1: [0].vars.word"),
    ];
    for (text, place) in table {
        let package = package(&[
            ("promptfooconfig.yaml", &format!("{start}{text}")),
            ("inner/tests.yaml", "- vars: { word: file://../outside/secret.txt }\n"),
        ]);
        link(&package, "../outside/secret.txt", "linked.txt");
        link(&package, "../outside/secret.csv", "linked.csv");
        link(&package, "../outside", "linked");
        refused(&package, &[], &[place]);
    }
    for prompt in [
        "file://OUTSIDE/secret.txt",
        "../outside/secret.txt",
        "file://../outside/*.txt",
        "linked.txt",
        "{ raw: 'file://linked.txt' }",
    ] {
        let prompts = format!("prompts: [{prompt}]\ntests: [{{}}]\n");
        let package = package(&[("promptfooconfig.yaml", &prompts)]);
        link(&package, "../outside/secret.txt", "linked.txt");
        refused(&package, &[], &["promptfooconfig.yaml:1: prompts[0]"]);
    }
}

#[test]
fn a_configuration_that_is_found_is_no_link_out_but_one_that_is_named_may_be() {
    let package = package(&[]);
    package.write("outside/config.yaml", "prompts: [hello]\ntests: [{}]\n");
    link(&package, "../outside/config.yaml", "promptfooconfig.yaml");
    refused(&package, &[], &["promptfooconfig.yaml"]);
    let output = package.run(&["convert", "in/promptfooconfig.yaml", "made"]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
}

#[test]
fn every_reference_that_leads_out_is_listed() {
    let text = "prompts: ['{{a}}']\ntests:\n  - vars: { a: file:///etc/passwd }\n  - vars: { a: file:///etc/hosts }\n";
    let package = package(&[("promptfooconfig.yaml", text)]);
    let message = "error: 2 references lead out of the directory of the source
 --> promptfooconfig.yaml:3: tests[0].vars.a: `file:///etc/passwd`
 --> promptfooconfig.yaml:4: tests[1].vars.a: `file:///etc/hosts`
  = help: copy what they name to in, or allow to copy files from other directories: `--allow-outside /etc`
";
    refused(&package, &[], &[message]);
}

#[test]
fn the_directories_of_all_references_are_named_once() {
    let test = |number: usize| format!("  - vars: {{ a: file://../outside/{}/{number}.txt }}\n", number % 2);
    let tests: String = (0..25).map(test).collect();
    let package = package(&[("promptfooconfig.yaml", &format!("prompts: ['{{{{a}}}}']\ntests:\n{tests}"))]);
    let outside = package.root().join("outside").canonicalize().unwrap();
    for directory in ["0", "1"] {
        fs::create_dir(outside.join(directory)).unwrap();
    }
    let help = format!("`--allow-outside {0}/0 --allow-outside {0}/1`\n", outside.display());
    refused(&package, &[], &["error: 25 references lead out", "\n     and 5 more\n  = help: ", &help]);
    package.write("outside/secret.yaml", "a: 1");
    package.write(
        "in/promptfooconfig.yaml",
        &format!("prompts: ['{{{{a}}}}']\ntests:\n{tests}  - vars: ../outside/secret.yaml\n"),
    );
    let help = format!("`--allow-outside {}`\n", outside.display());
    refused(&package, &[], &["error: 26 references lead out", &help]);
}

#[test]
fn a_directory_that_is_allowed_is_copied_from_and_named() {
    let text = "prompts: ['Say {{word}}']\ntests:\n  - vars: { word: file://../outside/secret.txt }\n    assert: [{ type: contains, value: file://linked.txt }]\n";
    let package = package(&[("promptfooconfig.yaml", text)]);
    link(&package, "../outside/secret.txt", "linked.txt");
    let secret = package.root().join("outside/secret.txt").canonicalize().unwrap();
    let arguments = ["convert", "in", "made", "--allow-outside", "outside"];
    let output = package.run(&arguments);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(
        output.out.contains(&format!("copied from outside of the source: {}\n", secret.display())),
        "{}",
        output.out
    );
    assert!(all_text(&package.root().join("made")).contains(SECRET));
    let output = package.run(&[&arguments[..], &["--allow-outside", "in", "--force", "--format", "json"]].concat());
    let report = package.json("convert", &output.out);
    assert_eq!(report["copied_from_outside"], evalsuite_schema::json::json!([secret.display().to_string()]));
    assert_eq!(package.run(&["convert", "in", "other", "--allow-outside", "in"]).code, 2, "another directory");
    assert_eq!(package.run(&["convert", "in", "other", "--allow-outside", "missing"]).code, 2, "no directory");
}

#[test]
fn no_file_of_a_harbor_task_leads_out_of_its_directory() {
    let toml = "[task]\nname = \"a/b\"\n[environment]\ndocker_image = \"alpine\"\n";
    let files = [("task.toml", toml), ("instruction.md", "Do."), ("tests/test.sh", "exit 0\n")];
    let is_valid = package(&files).run(&["convert", "in", "made", "--lossy"]);
    assert_eq!(is_valid.code, 0, "{}{}", is_valid.out, is_valid.err);
    for (target, path) in [
        ("../outside/secret.txt", "instruction.md"),
        ("../../outside/secret.txt", "tests/data.txt"),
        ("../../outside", "solution/data"),
        ("../../outside/secret.txt", "environment/Dockerfile"),
        ("../outside/task/task.toml", "task.toml"),
    ] {
        let package = package(&files);
        let _ = fs::remove_file(package.root().join("in").join(path));
        link(&package, target, path);
        refused(&package, &["--lossy"], &[path]);
    }
    let docker =
        package(&[&files[..], &[("environment/Dockerfile", "WORKDIR /app\nCOPY ../../outside ./\n")]].concat());
    refused(&docker, &["--lossy"], &["environment/Dockerfile:2", "`../../outside`"]);
    let absolute = package(&[&files[..], &[("environment/Dockerfile", "WORKDIR /app\nCOPY OUTSIDE ./\n")]].concat());
    let output = absolute.run(&["convert", "in", "made", "--lossy"]);
    assert_eq!(output.code, 0, "absolute paths are those of the directory of the Dockerfile: {}", output.err);
    assert!(!all_text(&absolute.root().join("made")).contains(SECRET));
    let steps = "[[steps]]\nname = \"../../outside\"\n";
    let steps = package(&[("task.toml", steps), ("tests/test.sh", "exit 0\n")]);
    steps.write("outside/instruction.md", SECRET);
    refused(&steps, &["--lossy"], &["outside/instruction.md"]);
    let linked = package(&[]);
    link(&linked, "../outside/task", "task");
    refused(&linked, &["--lossy"], &["task/task.toml"]);
}

#[test]
fn a_pattern_ends_at_the_limit_of_entries() {
    let text = "prompts: ['Say {{word}}']\ntests:\n  - vars: { word: 'file://**/*.txt' }\n";
    let package = package(&[("promptfooconfig.yaml", text), ("d/a.txt", "x")]);
    link(&package, "../d", "d/loop");
    let output = package.run(&["convert", "in", "made", "--lossy"]);
    assert_eq!(output.code, 0, "a loop is not followed: {}{}", output.out, output.err);
    for level in 0..12 {
        for name in ["a", "b"] {
            link(&package, &format!("../l{}", level + 1), &format!("l{level}/{name}"));
        }
    }
    package.write("in/l12/x.txt", "x");
    let output = package.run(&["convert", "in", "other", "--lossy"]);
    assert_eq!(output.code, 2, "{}", output.out);
    assert!(
        output.err.contains("more than 1000 links to directories") && output.err.contains("promptfooconfig.yaml:3"),
        "{}",
        output.err
    );
    let package = self::package(&[("promptfooconfig.yaml", text)]);
    for directory in 0..101 {
        let directory = package.root().join(format!("in/many/{directory}"));
        fs::create_dir_all(&directory).unwrap();
        (0..1000).for_each(|file| drop(fs::File::create(directory.join(file.to_string())).unwrap()));
    }
    let output = package.run(&["convert", "in", "made", "--lossy"]);
    assert_eq!(output.code, 2, "{}", output.out);
    assert!(output.err.contains("more than 100000 files and directories"), "{}", output.err);
}

#[slow(hostile)]
#[test]
fn a_source_that_is_too_large_is_refused_in_little_memory() {
    let start = "prompts: ['Say {{word}}']\ntests: [tests.csv]\n";
    let rows = |count: usize| (0..count).fold("word\n".to_owned(), |text, row| text + &row.to_string() + "\n");
    let fits = package(&[("promptfooconfig.yaml", start), ("tests.csv", &rows(1_000))]);
    let output = fits.run(&["convert", "in", "made", "--lossy"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let many = package(&[("promptfooconfig.yaml", start), ("tests.csv", &rows(9_999))]);
    let output = many.run(&["convert", "in", "one-file", "--lossy"]);
    assert_eq!(output.code, 1, "{}", output.err);
    assert!(output.out.contains("error[E008 limit-exceeded]"), "{}", output.err);
    assert!(output.out.contains("help: convert with `--layout directories`"), "{}", output.err);
    let output = many.run(&["convert", "in", "directories", "--lossy", "--layout", "directories"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let jsonl = "{\"vars\": {}}\n".repeat(10_001);
    let list = "- vars: {}\n".repeat(10_001);
    let large = format!("word\n{}\n", "x".repeat(16 << 20));
    for (file, text, message) in [
        ("tests.csv", rows(100_000), "tests.csv:10002"),
        ("tests.jsonl", jsonl, "tests.jsonl:10001"),
        ("tests.yaml", list, "tests.yaml:10001: [10000]"),
        ("tests.csv", large.clone(), "`tests.csv` is larger than 16 MiB\n --> promptfooconfig.yaml:2: tests[0]"),
        ("tests.jsonl", large.clone(), "`tests.jsonl` is larger than 16 MiB"),
        ("tests.yaml", large, "`tests.yaml` is larger than 16 MiB"),
    ] {
        let package = package(&[("promptfooconfig.yaml", &start.replace("tests.csv", file)), (file, &text)]);
        let output = package.run(&["convert", "in", "made", "--lossy"]);
        assert_eq!(output.code, 2, "{file}: {}", output.err);
        assert!(output.err.contains(message), "{message} in {}", output.err);
        assert!(!package.root().join("made").exists(), "nothing is written");
    }
    let multiplied = "prompts: ['{{a}}{{b}}']\ntests: [{ vars: { a: [WORDS], b: [WORDS] } }, { vars: { a: [WORDS], b: [WORDS] } }]\n";
    let words: Vec<String> = (0..90).map(|word| word.to_string()).collect();
    let multiplied =
        package(&[("promptfooconfig.yaml", &multiplied.replace("WORDS", &format!("'{}'", words.join("','"))))]);
    let output = multiplied.run(&["convert", "in", "made", "--lossy"]);
    assert!(output.err.contains("more than 10000 cases"), "{}{}", output.out, output.err);
    let text = "x".repeat(1 << 20);
    let copied = package(&[
        (
            "promptfooconfig.yaml",
            "prompts: ['{{a}}']\ntests: [{ vars: { a: file://a.txt, b: [WORDS] } }]\n"
                .replace("WORDS", &words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(","))
                .as_str(),
        ),
        ("a.txt", &text),
    ]);
    let output = copied.run(&["convert", "in", "made", "--lossy"]);
    assert!(output.err.contains("the texts of all cases are larger than 64 MiB"), "{}{}", output.out, output.err);
}
