//! Links that lead in circles, nowhere, or out of the package.

use std::os::unix::fs::symlink;

use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package};

impl Package {
    fn link(&self, name: &str, target: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }
}

const TARGETS: &[&str] = &["self", "../a/../self", "/etc", "/dev/zero", "/proc/self/root", "../..", "nothing"];

fn tasks() -> Package {
    let package = Package::new();
    package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
    package
        .write("suite/tasks/a.json", "{\"id\": \"a\", \"description\": \"b\", \"graders\": [{\"name\": \"is-json\"}]}");
    package
}

#[test]
fn bad_links_among_case_directories_are_refused() {
    for target in TARGETS.iter().filter(|target| **target != "../..") {
        let package = Package::new();
        package.write("suite/a/case.yaml", CASE);
        package.link("suite/self", target);
        package.load().only(&[Code::PathEscape]).has(Code::PathEscape, "suite/self");
    }
    // Up to the package root, which is inside, but no case. Cargo would look for changes in all of it.
    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    package.link("suite/b", "..");
    package.load().only(&[Code::LinkedDirectory, Code::MissingCaseFile]).is_refused();
}

#[test]
fn bad_links_among_tasks_are_refused() {
    for target in TARGETS {
        let package = tasks();
        package.link("suite/tasks/self", target);
        package.load().only(&[Code::PathEscape]).has(Code::PathEscape, "suite/tasks/self");
        let package = tasks();
        package.link("suite/tasks/self.json", target);
        package.load().only(&[Code::PathEscape]).has(Code::PathEscape, "suite/tasks/self.json");
    }
}

#[test]
fn links_in_circles_through_directories_are_refused() {
    let package = tasks();
    package.link("suite/tasks/one/to_two", "../two");
    package.link("suite/tasks/two/to_one", "../one");
    package.load().is_refused();

    let package = tasks();
    package.write(
        "suite/tasks/deep/down/b.json",
        "{\"id\": \"b\", \"description\": \"b\", \"graders\": [{\"name\": \"is-json\"}]}",
    );
    package.link("suite/tasks/deep/down/up", "../..");
    package.load().only(&[Code::PathEscape]);
}

#[test]
fn links_that_double_at_every_level_end() {
    // Each directory has two links to the next: two to the power of 30 ways.
    let package = tasks();
    for level in 0..30 {
        let next = format!("../../d/{}", level + 1);
        package.write(&format!("suite/d/{level}/keep"), "");
        package.link(&format!("suite/d/{level}/a"), &next);
        package.link(&format!("suite/d/{level}/b"), &next);
    }
    package.write("suite/d/30/keep", "");
    package.link("suite/tasks/start", "../d/0");
    package.load().only(&[Code::LinkedDirectory, Code::LimitExceeded]);
}

#[test]
fn links_to_directories_that_nothing_names_are_refused_if_cargo_should_not_follow_them() {
    for (target, is_refused) in [("/", true), ("/etc", true), ("../../..", true), ("../../target", true)]
        .into_iter()
        .chain([("../../shared", false), ("..", false), ("/etc/hostname", false), ("nothing", false)])
    {
        let package = Package::new();
        package.write("suite/a/case.yaml", CASE);
        package.write("suite/_data/deep/keep", "");
        package.write("shared/keep", "");
        package.write("target/keep", "");
        package.link("suite/_data/link", target);
        let said = package.load();
        if is_refused {
            said.only(&[Code::LinkedDirectory]).has(Code::LinkedDirectory, "suite/_data/link").is_refused();
        } else {
            said.is_valid(1);
        }
        std::fs::remove_file(package.path("Cargo.toml")).unwrap();
        package.load().is_valid(1);
    }
}

#[test]
fn case_files_that_are_bad_links_are_refused() {
    for target in ["case.yaml", "/etc/hostname", "/dev/zero", "nothing", "/proc/self/mem"] {
        let package = Package::new();
        package.write("suite/a/case.yaml", CASE);
        package.link("suite/b/case.yaml", target);
        package.load().only(&[Code::PathEscape]).has(Code::PathEscape, "suite/b/case.yaml");
    }
}

#[test]
fn paths_that_are_bad_links_are_refused() {
    for target in ["self", "/etc/hostname", "/dev/zero", "/etc", "nothing", "/dev/stdin"] {
        for written in [
            "input_files: [self]",
            "workspace: self",
            "workspace: {template: self}",
            "assertions: [{include: ./self}]",
            "assertions: [{type: llm-grader, prompt: 'file://self'}]",
            "assertions: [{type: code-grader, command: [./self]}]",
            "assertions: [{type: code-grader, command: make, cwd: self}]",
            "workspace: {repos: [{path: a, source: {type: local, path: self}}]}",
        ] {
            let package = Package::new();
            package.write("suite/a/case.yaml", format!("{CASE}{written}\n"));
            package.link("suite/a/self", target);
            package.load().only(&[Code::PathEscape]).has_at(Code::PathEscape, "suite/a/case.yaml", 3);
        }
        let package = Package::with_eval_file("tests: [\"file://self/**/*.yaml\"]\n");
        package.link("suite/self", target);
        let said = package.load();
        if target.starts_with("/etc") {
            said.only(&[Code::PathEscape]);
        } else {
            said.is_refused();
        }
        for tests in ["self", "self/", "[file://self]", "[\"file://*.yaml\"]"] {
            let package = Package::with_eval_file(format!("tests: {tests}\n"));
            package.link("suite/self", target);
            package.link("suite/self.yaml", target);
            package.load().is_refused();
        }
    }
}

#[test]
fn templates_with_bad_links_are_refused() {
    for target in ["link", "..", "/etc", "../../a/case.yaml", "nothing", "/dev/zero"] {
        let package = Package::new();
        package.write("suite/a/case.yaml", CASE);
        package.link("suite/a/workspace/deep/link", target);
        let said = package.load();
        if target == ".." {
            // Another part of the template, whatever copies it.
            said.is_valid(1);
        } else {
            said.only(&[Code::PathEscape]);
        }
        let package = tasks();
        package.link("suite/tasks/workspace/link", target.strip_prefix("../").unwrap_or(target));
        let said = package.load();
        if target != ".." {
            said.only(&[Code::PathEscape]);
        }
    }
    // The template itself.
    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    package.link("suite/a/workspace", "/etc");
    package.load().only(&[Code::PathEscape]);
    let package = tasks();
    package.link("suite/tasks/workspace", "/etc");
    package.load().only(&[Code::PathEscape]);
}

#[test]
fn suites_that_are_bad_links_are_refused() {
    for target in ["suite", "nothing"] {
        let package = Package::new();
        package.link("suite", target);
        package.load().only(&[Code::EntryNotFound]);
    }
    for name in ["EVAL.yaml", "suite.json", "cases.jsonl"] {
        for target in [name, "nothing"] {
            let package = Package::new();
            package.link(&format!("suite/{name}"), target);
            package.load().only(&[Code::NoSuiteFile]);
            package.load_entry(&format!("suite/{name}")).only(&[Code::EntryNotFound]);
        }
        let package = Package::new();
        package.link(&format!("suite/{name}"), "/dev/zero");
        package.load().is_refused();
        package.load_entry(&format!("suite/{name}")).is_refused();
    }
    let package = Package::with_eval_file("name: a\n");
    package.link("suite/cases", "cases");
    package.load().is_refused();
}

#[test]
fn suite_files_and_targets_files_that_lead_out_of_the_package_are_not_shown() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "root:$6$secret:19000:0\nother: [\n").unwrap();
    let secret = secret.to_str().unwrap();
    for target in [secret, "/proc/kmsg", "/dev/zero", "nothing"] {
        for name in ["EVAL.yaml", "suite.json", "cases.jsonl"] {
            let package = Package::new();
            package.write("suite/cases/a/case.yaml", CASE);
            package.link(&format!("suite/{name}"), target);
            let said = package.load_entry(&format!("suite/{name}"));
            said.is_refused();
            assert!(!said.text.contains("root:"), "{}", said.text);
            if target == secret {
                said.only(&[Code::PathEscape]).has(Code::PathEscape, &format!("suite/{name}"));
            }
        }
        let package = Package::with_eval_file("tests: []\n");
        package.link("suite/targets.yaml", target);
        let problems = package.load_targets("suite");
        problems.only(&[Code::PathEscape]).has(Code::PathEscape, "suite/targets.yaml");
        assert!(!problems.text.contains("root:"), "{}", problems.text);
    }
    // Inside of the package, a link is as good as a copy.
    let package = Package::new();
    package.write("shared/eval.yaml", "tests:\n- {id: a, criteria: b, input: c}\n");
    package.write("shared/targets.yaml", "targets: []\n");
    package.link("suite/EVAL.yaml", "../shared/eval.yaml");
    package.link("suite/targets.yaml", "../shared/targets.yaml");
    package.load().is_valid(1);
    package.load_targets("suite").only(&[]);
}
