//! Pipes, sockets, directories with the names of files, and what may not be read.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

use evalsuite_needs::{needs, slow};
use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package};

#[derive(Debug, Clone, Copy)]
enum Kind {
    Pipe,
    Socket,
    Directory,
}

const KINDS: &[Kind] = &[Kind::Pipe, Kind::Socket, Kind::Directory];

impl Package {
    /// Makes something that is not a file.
    fn make(&self, name: &str, kind: Kind) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match kind {
            Kind::Directory => fs::create_dir(path).unwrap(),
            Kind::Socket => drop(UnixListener::bind(path).unwrap()),
            Kind::Pipe => {
                assert!(
                    Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success()),
                    "`mkfifo` works"
                );
            }
        }
    }
}

#[test]
fn case_files_that_are_no_files_are_refused() {
    for kind in KINDS {
        for name in ["case.yaml", "case.yml"] {
            let package = Package::new();
            package.write("suite/a/case.yaml", CASE);
            package.make(&format!("suite/b/{name}"), *kind);
            package.load().only(&[Code::MissingCaseFile]).has(Code::MissingCaseFile, "suite/b");
            let package = Package::new();
            package.make(&format!("suite/b/{name}"), *kind);
            package.load().is_refused();
        }
    }
}

#[test]
fn tasks_that_are_no_files_are_refused() {
    for kind in KINDS {
        let package = Package::new();
        package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
        package.make("suite/tasks/task.json", *kind);
        let code = if matches!(kind, Kind::Directory) { Code::NoCases } else { Code::UnreadableFile };
        package.load().only(&[code]);
    }
}

#[test]
fn suite_files_that_are_no_files_are_refused() {
    for kind in KINDS {
        for name in ["EVAL.yaml", "suite.json", "b.eval.yml", "cases.jsonl"] {
            let package = Package::new();
            package.make(&format!("suite/{name}"), *kind);
            package.load().only(&[Code::NoSuiteFile]);
            package.load_entry(&format!("suite/{name}")).is_refused();
        }
        let package = Package::new();
        package.make("suite", *kind);
        package.load().is_refused();
    }
}

#[test]
fn paths_that_are_no_files_are_refused() {
    for kind in KINDS {
        for (code, written) in [
            (Code::MissingPath, "input_files: [special]"),
            (Code::MissingPath, "workspace: special"),
            (Code::IncludeNotFound, "assertions: [{include: ./special}]"),
            (Code::MissingPath, "assertions: [{type: llm-grader, prompt: 'file://special'}]"),
            (Code::MissingPath, "assertions: [{type: code-grader, command: [./special]}]"),
        ] {
            let package = Package::new();
            package.write("suite/a/case.yaml", format!("{CASE}{written}\n"));
            package.make("suite/a/special", *kind);
            package.load().only(&[code]).has_at(code, "suite/a/case.yaml", 3);
        }
        for tests in ["special.yaml", "[file://special.yaml]", "[\"file://*.yaml\"]", "special.jsonl"] {
            let package = Package::with_eval_file(format!("tests: {tests}\n"));
            package.make("suite/special.yaml", *kind);
            package.make("suite/special.jsonl", *kind);

            package.load().is_refused();
        }
    }
}

#[slow(hostile)]
#[needs(permissions)]
#[test]
fn what_may_not_be_read_is_refused() {
    let forbid = |package: &Package, name: &str| {
        fs::set_permissions(package.path(name), Permissions::from_mode(0o000)).unwrap();
    };
    // Without this the directory could not be removed again.
    let allow = |package: &Package, name: &str| {
        fs::set_permissions(package.path(name), Permissions::from_mode(0o700)).unwrap();
    };

    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    package.write("suite/b/case.yaml", CASE);
    forbid(&package, "suite/a/case.yaml");
    package.load().only(&[Code::UnreadableFile]).has(Code::UnreadableFile, "suite/a/case.yaml");

    for name in ["suite", "suite/tasks", "suite/tasks/inner"] {
        let package = Package::new();
        package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
        package.write("suite/tasks/inner/a.json", "{}");
        forbid(&package, name);
        let said = package.load();
        allow(&package, name);
        said.has(Code::UnreadableFile, name).is_refused();
    }

    let package = Package::with_eval_file("name: a\n");
    package.write("suite/cases/a/case.yaml", CASE);
    forbid(&package, "suite/cases");
    let said = package.load();
    allow(&package, "suite/cases");
    said.is_refused();

    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    package.write("suite/a/workspace/inner/file", "");
    forbid(&package, "suite/a/workspace/inner");
    let said = package.load();
    allow(&package, "suite/a/workspace/inner");
    said.only(&[Code::UnreadableFile]);
}
