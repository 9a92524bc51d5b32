//! What people see: problems that a macro cannot show, and problems of many files and places together.
//!
//! `INSTA_UPDATE=always cargo test -p evalsuite-loader --test goldens` writes the files beside this one anew.

use std::fs;
use std::path::Path;

use evalsuite_loader::render::Style;
use evalsuite_loader::{Loaded, Request, find_targets_file, load, load_targets, render};
use tempfile::TempDir;

struct Package {
    directory: TempDir,
}

impl Package {
    fn new(files: &[(&str, &str)]) -> Self {
        let package = Self { directory: tempfile::tempdir().unwrap() };
        for (name, content) in files {
            let path = package.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        package
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn request(&self) -> Request {
        let mut request = Request::new("suite", self.root());
        request.workspace_root = self.root().to_path_buf();
        request
    }

    fn load(&self) -> Loaded {
        load(&self.request())
    }

    fn report(&self) -> String {
        let loaded = self.load();
        render::report(&loaded.diagnostics, Style::Plain)
    }

    fn targets_report(&self) -> String {
        let loaded = load_targets(&self.root().join("targets.yaml"), &self.request());
        assert_eq!(loaded.targets.is_none(), loaded.diagnostics.has_errors());
        render::report(&loaded.diagnostics, Style::Plain)
    }
}

#[track_caller]
fn shows(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(".");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

const CASE: &str = "criteria: Answers\ninput: Hello\n";

#[cfg(unix)]
#[test]
fn unreadable_file() {
    use std::os::unix::ffi::OsStrExt;

    let package = Package::new(&[("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}")]);
    fs::create_dir(package.root().join("suite/tasks")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(package.root().join("suite/tasks/socket.json")).unwrap());
    // Not every file system takes such a name.
    let bad = package.root().join("suite/tasks").join(std::ffi::OsStr::from_bytes(b"caf\xe9.json"));
    if fs::write(bad, "{}").is_ok() {
        shows("unreadable-file", &package.report());
    }
}

#[test]
fn targets_file() {
    for (name, text) in [
        ("targets-file-root", "- name: a\n  provider: cli\n"),
        ("targets-file-empty", "# nothing yet\n"),
        ("targets-file-without-targets", "$schema: https://example.org/targets.json\n"),
        ("targets-file-misspelled", "target:\n- name: a\n"),
        (
            "targets-file-entries",
            "targets:\n- name: gpt\n  provider: cli\n  command: run {PROMPT}\n- name: gpt\n  use_target: other\n- name: other\n  \
             use_target: other\n- name: late\n  provider: cli\n  command: run {PROMPT}\n  healthcheck: {timeout_seconds: 5}\n",
        ),
    ] {
        shows(name, &Package::new(&[("targets.yaml", text)]).targets_report());
    }
}

#[test]
fn target_not_runnable() {
    let text = "targets:\n- name: a\n  provider: cli\n  command: run {PROMPT_FILE}\n  provider_batching: true\n- name: b\n  \
                use_target: codx\n- name: codex\n  provider: codex-cli\n  anything: else\n";
    shows("target-not-runnable", &Package::new(&[("targets.yaml", text)]).targets_report());
}

#[test]
fn unknown_placeholder() {
    let text = "targets:\n- name: a\n  provider: cli\n  command: run {PROMT} --id {EVAL_ID} {lower} {SOMETHING_ELSE}\n";
    shows("unknown-placeholder", &Package::new(&[("targets.yaml", text)]).targets_report());
}

#[test]
fn every_setting_of_a_target() {
    let text = "$schema: https://example.org/targets.json\ntargets:\n- name: a\n  provider: cli\n  command: ' '\n  cwd: nowhere\n  \
                timeout_seconds: 0\n  attachments_format: 3\n  healthcheck: {url: http://localhost, command: true}\n  env: {A: 1}\n  \
                keep_output_files: yes\n  cli_verbose: true\n  verbose: false\n  workers: 3\n  max_retry: 2\n- provider: cli\n  command: run\n";
    shows("settings-of-a-target", &Package::new(&[("targets.yaml", text)]).targets_report());
}

#[test]
fn a_right_targets_file_has_no_problems() {
    let text = "targets:\n- name: a\n  provider: cli\n  command: run {PROMPT} {FILES} {OUTPUT_FILE} {ATTEMPT}\n  timeout_seconds: 5\n  \
                files_format: '{path}'\n  healthcheck: {command: true, timeout_seconds: 5}\n  env: {A: b}\n- name: b\n  use_target: a\n- name: c\n  \
                provider: codex-cli\n  model: gpt-5\n";
    let text = text.replace("{command: true,", "{command: 'true',");
    assert_eq!(Package::new(&[("targets.yaml", &text)]).targets_report(), "no problems");
}

#[test]
fn the_nearest_targets_file_is_found() {
    let package = Package::new(&[
        ("a/b/c/EVAL.yaml", ""),
        ("a/b/.agentv/targets.yml", ""),
        ("a/.evalsuite/targets.yaml", ""),
        ("targets.yaml", ""),
    ]);
    let find = |directory: &str, up_to: &str| {
        let found = find_targets_file(&package.root().join(directory), &package.root().join(up_to))?;
        Some(found.strip_prefix(package.root()).unwrap().to_str().unwrap().replace('\\', "/"))
    };
    assert_eq!(find("a/b/c", "").as_deref(), Some("a/b/.agentv/targets.yml"));
    assert_eq!(find("a", "").as_deref(), Some("a/.evalsuite/targets.yaml"));
    assert_eq!(find("", "").as_deref(), Some("targets.yaml"));
    assert_eq!(find("a/b/c", "a/b/c"), None);
}

/// Everything at once: by file as it is shown, then by line.
fn many_problems() -> Package {
    Package::new(&[
        (
            "suite/EVAL.yaml",
            "name: My Suite\nexecution:\n  treshold: 0.5\n  cache: true\ntests:\n- file://lists/b.jsonl\n- file://lists/a.yaml\n",
        ),
        (
            "suite/lists/a.yaml",
            "- id: one\n  criteria: Answers\n  input: Hello\n  depends_on: [tow]\n- id: one\n  criteria: Answers\n  input: Hello\n",
        ),
        (
            "suite/lists/b.jsonl",
            "{\"id\": \"two\", \"criteria\": \"Answers\", \"input\": \"Hello\"}\n\n{\"id\": \"two\", \"input\": 3}\n{\"id\": \"th-ree\",}\n",
        ),
    ])
}

#[test]
fn problems_of_many_files_are_in_order() {
    shows("many-files", &many_problems().report());
}

#[test]
fn problems_for_programs() {
    let loaded = many_problems().load();
    let json: Vec<_> = loaded.diagnostics.iter().map(render::json).collect();
    shows("many-files-json", &serde_json::to_string_pretty(&json).unwrap());
    let github: Vec<_> = loaded.diagnostics.iter().map(render::github).collect();
    shows("many-files-github", &github.join("\n"));
}

#[test]
fn other_places_are_shown_too() {
    let package = Package::new(&[
        ("suite/a/case.yaml", "id: refund\ncriteria: Answers\ncriteria: Answers well\ninput: Hello\n"),
        ("suite/b/case.yaml", "criteria: Answers\ninput: Hello\nid: refund\n"),
        ("suite/c-d/case.yaml", CASE),
        ("suite/c_d/case.yaml", CASE),
        (
            "suite/e/case.yaml",
            "criteria: Answers\ninput: Hello\nassertions:\n- {type: is-json, name: json}\n- type: rubrics\n  criteria:\n  - {id: x, outcome: Polite}\n  \
             - {id: x, outcome: Short}\n- {type: is-json, name: json}\n",
        ),
        (
            "suite/f/case.yaml",
            "criteria: Answers\ninput: Hello\nworkspace:\n  repos:\n  - {path: r, source: {type: git, url: u}}\n  - {path: ./r, source: {type: git, url: v}}\n",
        ),
    ]);
    shows("other-places", &package.report());
}

#[test]
fn directories_have_no_lines() {
    let package = Package::new(&[
        ("suite/a/case.yaml", CASE),
        ("suite/a/case.yml", CASE),
        ("suite/draft/Case.yaml", CASE),
        ("suite/empty/README.md", ""),
    ]);
    shows("directories", &package.report());
}
