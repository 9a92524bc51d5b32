//! Ids and paths with characters that do harm.

use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package};

#[test]
fn nul_is_refused_in_ids() {
    Package::with_eval_file("tests:\n- {id: \"a\\0b\", criteria: b, input: c}\n").load().only(&[Code::InvalidId]);
    let package = Package::new();
    package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
    package.write(
        "suite/tasks/a.json",
        "{\"id\": \"\\u0000\", \"description\": \"b\", \"graders\": [{\"name\": \"is-json\"}]}",
    );
    package.load().only(&[Code::InvalidId]);
}

#[test]
fn nul_is_refused_in_every_path() {
    let nul = "\"a\\0b\"";
    let in_path = [
        format!("input_files: [{nul}]"),
        format!("workspace: {nul}"),
        format!("workspace: {{template: {nul}}}"),
        format!("workspace: {{repos: [{{path: a, source: {{type: local, path: {nul}}}}}]}}"),
        format!("workspace: {{hooks: {{before_all: {{command: make, cwd: {nul}}}}}}}"),
        format!("workspace: {{template: {nul}, hooks: {{before_all: [./{}]}}}}", "x"),
        format!("assertions: [{{include: {nul}}}]"),
        "assertions: [{include: \"./a\\0b\"}]".to_owned(),
        "assertions: [{type: llm-grader, prompt: \"file://a\\0b\"}]".to_owned(),
        "assertions: [{type: code-grader, command: [\"./a\\0b\"]}]".to_owned(),
        "assertions: [{type: code-grader, command: [sh, \"./a\\0b\"]}]".to_owned(),
        format!("assertions: [{{type: code-grader, command: make, cwd: {nul}}}]"),
    ];
    for written in in_path {
        let package = Package::new();
        package.write("suite/a/case.yaml", format!("{CASE}{written}\n"));
        let said = package.load();
        said.is_refused().has_at(Code::PathEscape, "suite/a/case.yaml", 3);
    }
    for tests in [
        nul.to_owned(),
        format!("[{nul}]"),
        "[\"file://a\\0b.yaml\"]".to_owned(),
        "[\"file://a\\0b*.yaml\"]".to_owned(),
    ] {
        Package::with_eval_file(format!("tests: {tests}\n")).load().is_refused();
    }
    let package = Package::new();
    package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
    let task = "{\"id\": \"a\", \"description\": \"b\", \"input\": {\"fixture_dir\": \"a\\u0000\"}, \"graders\": [{\"name\": \"is-json\"}]}";
    package.write("suite/tasks/a.json", task);
    package.load().only(&[Code::PathEscape]);
}

#[test]
fn nul_in_the_entry_is_refused() {
    for entry in ["a\0b", "\0", "./\0"] {
        Package::new().load_entry(entry).is_refused();
    }
}

#[test]
fn line_breaks_in_ids_are_refused() {
    for id in ["a\\nb", "a\\rb", "a\\tb", "\\u0085", "\\e[31m", "\\x9b"] {
        Package::with_eval_file(format!("tests:\n- {{id: \"{id}\", criteria: b, input: c}}\n"))
            .load()
            .only(&[Code::InvalidId]);
    }
}

#[test]
fn bidirectional_ids_are_shown_harmlessly() {
    let id = "\u{202e}gnp.exe\u{2066}";
    let text =
        format!("tests:\n- {{id: \"{id}\", criteria: b, input: c}}\n- {{id: \"{id}\", criteria: b, input: c}}\n");
    Package::with_eval_file(text).load().only(&[Code::DuplicateId]);
    let text = format!("tests:\n- {{id: \"{id}\", criteria: b, input: c, {id}: d}}\n");
    Package::with_eval_file(text).load().has(Code::UnknownKey, "suite/EVAL.yaml");
}

#[test]
fn paths_that_are_too_long_are_missing() {
    let long = "a/".repeat(5_000);
    let name = "b".repeat(100_000);
    for written in [long.as_str(), name.as_str(), &"../".repeat(20_000), &"./".repeat(50_000)] {
        let package = Package::new();
        package.write(
            "suite/a/case.yaml",
            format!("{CASE}input_files: [\"{written}\"]\nworkspace: {{template: \"{written}\"}}\n"),
        );
        package.load().is_refused();
        Package::with_eval_file(format!("tests: \"{written}\"\n")).load().is_refused();
        Package::with_eval_file(format!("tests: [\"file://{written}.yaml\"]\n")).load().is_refused();
        Package::new().load_entry(written).is_refused();
    }
}

#[cfg(unix)]
#[cfg_attr(target_os = "macos", ignore = "the file system takes no names that are not UTF-8")]
#[test]
fn names_that_are_no_utf8_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let bad = OsStr::from_bytes(b"caf\xe9");
    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    let directory = package.path("suite").join(bad);
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("case.yaml"), CASE).unwrap();
    package.load().only(&[Code::UnreadableFile]);

    let package = Package::new();
    package.write("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}");
    package
        .write("suite/tasks/a.json", "{\"id\": \"a\", \"description\": \"b\", \"graders\": [{\"name\": \"is-json\"}]}");
    std::fs::write(package.path("suite/tasks").join(OsStr::from_bytes(b"\xff.json")), "{}").unwrap();
    std::fs::create_dir(package.path("suite/tasks").join(bad)).unwrap();
    package.load().only(&[Code::UnreadableFile; 2]);

    // The package lies in a directory that cannot be named.
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join(bad);
    std::fs::create_dir_all(inner.join("suite/a")).unwrap();
    std::fs::write(inner.join("suite/a/case.yaml"), CASE).unwrap();
    let mut request = evalsuite_loader::Request::new("suite", &inner);
    request.workspace_root.clone_from(&inner);
    crate::load_within_limits(request).only(&[Code::UnreadableFile]);
}

#[cfg(unix)]
#[test]
fn directories_with_line_breaks_are_refused_as_ids() {
    let package = Package::new();
    package.write("suite/a\nb/case.yaml", CASE);
    package.write("suite/c\u{1b}[31m/README", "");
    package.load().only(&[Code::InvalidId, Code::MissingCaseFile]);
}
