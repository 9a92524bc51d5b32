//! What people see: problems that a macro cannot show, and problems of many files and places together.
//!
//! `INSTA_UPDATE=always cargo test -p evalsuite-loader --test goldens` writes the files beside this one anew.

mod matrix;
mod rendering;
mod values;

use std::fs;
use std::path::Path;

use evalsuite_loader::{Loaded, Request, find_targets_file, load, load_targets};
use evalsuite_schema::RepoSource;
use evalsuite_schema::diagnostics::render;
use evalsuite_schema::diagnostics::render::Style;
use evalsuite_schema::json::{Value, json};
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
        let problems = loaded.problems_of(loaded.names());
        let usable = loaded.targets.iter().flat_map(|file| &file.targets).count();
        assert_eq!(usable < loaded.names().count() || loaded.targets.is_none(), problems.has_errors());
        render::report(&problems, Style::Plain)
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
fn a_missing_suite_says_what_its_path_is_relative_to() {
    let package = Package::new(&[("Cargo.toml", "[package]\n"), ("src/lib.rs", "")]);
    let help = |entry: &str, source: &str| {
        let mut request = Request::new(entry, package.root());
        request.source_dir = Some(package.root().join(source));
        load(&request).diagnostics.iter().find_map(|problem| problem.help.clone()).unwrap_or_default()
    };
    assert_eq!(help("evals", "src"), "the path is relative to the directory of the package's Cargo.toml");
    assert_eq!(help("./evals", "src"), "the path is relative to the directory of this source file");
}

#[test]
fn a_file_that_several_cases_miss_is_one_problem() {
    let case = |id: &str| format!("- id: {id}\n  input: Hello\n  criteria: Answers\n  input_files: [brief.md]\n");
    let cases: String = ["a", "b", "c", "d", "e"].map(case).concat();
    let report = Package::new(&[("suite/EVAL.yaml", &format!("tests:\n{cases}"))]).report();
    shows("missing-in-several-cases", &report);
}

#[test]
fn what_other_tools_write_and_nobody_needs_is_a_warning() {
    let eval = "dataset: greetings\nx-anchors: {greet: &greet Greets}\ndefaults: {tone: polite}\n\
                workspace: {template: t, x-why: here, hooks: {x-more: 1, on_reuse: {reset: fast}, on_finish: {clean: always}}}\n\
                tests:\n- id: a\n  input: Hello\n  x-ticket: 12\n  reference_answer: Good day\n  assertions:\n  \
                - {type: rubrics, criteria: *greet, x-why: new}\n  - {type: contains, value: day, id: NAMES_THE_DAY}\n  \
                - {type: tool-trajectory, mode: exact, expected: [{tool: get, input: {a: 1}, output: b}]}\n";
    let package = Package::new(&[("suite/EVAL.yaml", eval), ("suite/t/a.txt", "a")]);
    shows("warnings-for-keys-of-other-tools", &package.report());
    assert!(package.load().suite.is_some());
}

#[test]
fn a_file_of_another_format_is_one_error() {
    let eval = "name: shop\ndefault_test: {threshold: 0.8}\nprompts: ['{{ input }}']\nassert: [{type: llm-rubric, value: Is polite}]\n\
                tests:\n- vars: {input: Hello}\n  assert: [{type: script, command: [python3, ./g.py]}]\n";
    shows("format-of-agentv-5", &Package::new(&[("suite/EVAL.yaml", eval)]).report());
    let prepared = format!("workspace: {{hooks: {{before_all: {{command: [node, ./setup.mjs]}}}}}}\n{eval}");
    shows("format-of-agentv-5-with-workspace", &Package::new(&[("suite/EVAL.yaml", &prepared)]).report());
    let mixed = "environment: {type: host}\nworkspace: {template: t}\nassert: [{type: is-json}]\ntests: [{id: a, input: Hello}]\n";
    let other = "environment: {skills: [a]}\nstimuli: [{name: a, prompt: Hello}]\n";
    let report = Package::new(&[("suite/EVAL.yaml", other)]).report();
    assert!(!report.contains("promptfoo") && report.contains("missing-tests"), "{report}");
    shows("key-of-agentv-5", &Package::new(&[("suite/EVAL.yaml", mixed), ("suite/t/a.txt", "a")]).report());
}

#[test]
fn a_repo_has_one_of_two_forms() {
    let eval = "workspace:\n  repos:\n\
                \x20 - {path: a, repo: shop/orders, commit: main, base_commit: v1, ancestor: 1, sparse: [src]}\n\
                \x20 - {path: b, repo: shop/orders, checkout: {ref: main}}\n\
                \x20 - {path: c, repo: ./orders}\n\
                \x20 - {path: d, commit: main}\n\
                tests: [{id: a, input: Hello, criteria: Greets}]\n";
    shows("forms-of-repos", &Package::new(&[("suite/EVAL.yaml", eval)]).report());
    let valid = "workspace: {repos: [{path: a, repo: shop/orders, commit: v1, base_commit: v1, ancestor: 1, sparse: [src]}, \
                 {path: b, repo: 'git@example.com:shop.git', base_commit: v2}]}\n\
                 tests: [{id: a, input: Hello, criteria: Greets}]\n";
    let loaded = Package::new(&[("suite/EVAL.yaml", valid)]).load();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let repos = loaded.suite.unwrap().cases[0].case.workspace.as_ref().unwrap().repos.clone();
    let [first, second] = repos.as_slice() else { panic!("{repos:?}") };
    assert_eq!(first.source, RepoSource::Git("https://github.com/shop/orders.git".to_owned()));
    assert_eq!((first.checkout.reference.as_deref(), first.checkout.ancestor), (Some("v1"), 1));
    assert_eq!(first.sparse, ["src"]);
    assert_eq!(second.source, RepoSource::Git("git@example.com:shop.git".to_owned()));
    assert_eq!(second.checkout.reference.as_deref(), Some("v2"));
}

#[test]
fn problems_of_vars_are_shown_where_they_are() {
    let eval = "tests:\n\
                - {id: list, vars: [1], input: Hello, criteria: Greets}\n\
                - id: path\n  vars: {order: {id: 1182}}\n  input: Where is {{ order.number }}, {{ oder }}?\n  criteria: Says where\n\
                - id: type\n  vars:\n    wanted: 12\n  input: Hello\n  criteria: '{{ wanted }}'\n";
    shows("vars-of-a-case", &Package::new(&[("suite/EVAL.yaml", eval)]).report());
}

#[test]
fn names_that_are_not_variables_are_shown_in_every_file() {
    let eval = "assertions:\n\
                - {name: says, type: contains, value: '{{ amount }}'}\n\
                - {type: contains, value: '{{ braces }}'}\n\
                tests:\n\
                - id: rows\n  matrix: ./orders.csv\n  input: 'Pay {{ amount }} of {{ Order ID }}'\n  assertions:\n\
                \x20 - {type: contains, value: '{{ ammount }}', negate: true}\n\
                \x20 - include: polite\n\
                - {id: plain, input: Hello, assertions: [{include: polite}, {type: contains, value: '{{ x }}'}]}\n";
    let template = "assertions:\n- {type: contains, value: '{{ amount }} EUR'}\n- Names {{ order_id }}\n";
    let package = Package::new(&[
        ("suite/EVAL.yaml", eval),
        ("suite/orders.csv", "Order ID, amount\n1182,19.90\n1183,5\n"),
        ("suite/.evalsuite/templates/polite.yaml", template),
    ]);
    shows("variables-of-graders", &package.report());
}

#[test]
fn templates_are_filled_in_for_the_case_that_includes_them() {
    let eval = "tests:\n\
                - {id: a, vars: {amount: 5}, input: Hello, assertions: [{include: polite}]}\n\
                - {id: b, input: Hello, assertions: [{include: polite}]}\n";
    let template = "assertions:\n- {type: contains, value: '{{ amount }} EUR'}\n";
    let files = [("suite/EVAL.yaml", eval), ("suite/.evalsuite/templates/polite.yaml", template)];
    let loaded = Package::new(&files).load();
    assert!(loaded.diagnostics.is_empty(), "{}", render::report(&loaded.diagnostics, Style::Plain));
    let names = loaded.suite.expect("a suite").cases.into_iter().map(|case| case.case.graders[0].name.clone());
    assert_eq!(names.collect::<Vec<_>>(), ["contains-5 EUR", "contains-{{ amount }} EUR"]);
}

#[test]
fn the_metadata_and_governance_of_a_suite_are_those_of_each_case() {
    let eval = "metadata: {team: shop, areas: [refunds]}\n\
                governance: &controls\n  controls: [SHOP-1:A, SHOP-1:B]\n  owner: security\n  risk_tier: high\n\
                tests: [file://own.yaml, {id: c, input: Hello, criteria: Greets, metadata: {governance: {<<: *controls, owner: legal, \
                controls: [SHOP-2:A, SHOP-1:B]}}}]\n";
    let own = "- {id: a, input: Hello, criteria: Greets}\n\
               - {id: b, input: Hello, criteria: Greets, metadata: {areas: [orders, refunds], team: [desk], governance: none}, \
               execution: {skip_defaults: true}}\n";
    let loaded = Package::new(&[("suite/EVAL.yaml", eval), ("suite/own.yaml", own)]).load();
    assert!(loaded.diagnostics.is_empty(), "{}", render::report(&loaded.diagnostics, Style::Plain));
    let suite = loaded.suite.expect("a suite");
    let metadata: Vec<Value> = suite.cases.into_iter().map(|case| Value::Object(case.case.metadata.clone())).collect();
    let governance =
        |owner: &str, controls: &[&str]| json!({"controls": controls, "owner": owner, "risk_tier": "high"});
    assert_eq!(
        metadata,
        [
            json!({
                "team": "shop",
                "areas": ["refunds"],
                "governance": governance("security", &["SHOP-1:A", "SHOP-1:B"]),
            }),
            json!({"team": ["desk"], "areas": ["refunds", "orders"], "governance": "none"}),
            json!({
                "team": "shop",
                "areas": ["refunds"],
                "governance": governance("legal", &["SHOP-1:A", "SHOP-1:B", "SHOP-2:A"]),
            }),
        ]
    );
}

#[test]
fn the_governance_of_a_suite_is_written_once_and_a_mapping() {
    let cases = "tests:\n- {id: a, input: Hello, criteria: Greets}\n";
    let twice = format!("metadata: {{governance: {{owner: legal}}}}\ngovernance: {{owner: security}}\n{cases}");
    shows("governance-twice", &Package::new(&[("suite/EVAL.yaml", &twice)]).report());
    let text = format!("metadata: shop\ngovernance: [SHOP-1:A]\n{cases}");
    shows("governance-of-another-type", &Package::new(&[("suite/EVAL.yaml", &text)]).report());
}

#[test]
fn a_file_of_a_message_with_a_slash_is_searched_from_the_root_and_then_as_any_other() {
    let eval = "tests:\n- {id: a, criteria: Answers, input: [{role: user, content: [{type: file, value: /rules.md}]}]}\n\
                - {id: b, criteria: Answers, input: Hello, input_files: [/notes/own.md]}\n";
    let package = Package::new(&[
        ("suite/EVAL.yaml", eval),
        ("rules.md", "of the package"),
        ("suite/rules.md", "of the suite"),
        ("suite/notes/own.md", "of the suite"),
    ]);
    assert_eq!(package.report(), "no problems");
    let suite = package.load().suite.expect("a suite");
    let input =
        serde_json::to_string(&suite.cases.iter().map(|case| &case.case.input).collect::<Vec<_>>()).expect("JSON");
    assert!(input.contains("\"path\":\"rules.md\""), "the root comes first: {input}");
    assert!(input.contains("\"path\":\"suite/notes/own.md\""), "{input}");
}

#[test]
fn the_help_for_an_unknown_key_at_the_top_of_a_file_names_keys_of_ones_own() {
    let eval = "owners: {shop: me}\ntests:\n- {id: a, input: Hello, criteria: Greets, owners: 1}\n";
    let loaded = Package::new(&[("suite/EVAL.yaml", eval)]).load();
    let help: Vec<&str> = loaded.diagnostics.iter().filter_map(|problem| problem.help.as_deref()).collect();
    let [top, case] = help.as_slice() else { panic!("{help:?}") };
    assert!(top.starts_with("write `x-owners` if the key is your own; known: `$schema`"), "{top}");
    assert!(case.starts_with("write it below `metadata` if it is your own; known: `id`"), "{case}");
}

#[test]
fn what_has_to_be_quoted_is_the_source() {
    let eval = "tests:\n- {id: 007, input: Hello, criteria: 1.10}\n- {id: 0x1F, input: Hello, criteria: 123456789012345678901234}\n\
                - {id: True, input: Hello, criteria: False}\n";
    let loaded = Package::new(&[("suite/EVAL.yaml", eval)]).load();
    let help: Vec<&str> = loaded.diagnostics.iter().filter_map(|problem| problem.help.as_deref()).collect();
    let written = ["007", "1.10", "0x1F", "123456789012345678901234", "True", "False"];
    assert_eq!(help, written.map(|written| format!("quote it: \"{written}\"")));
}

#[test]
fn a_comment_that_may_be_text_is_a_warning() {
    let problems = |value: &str| {
        let eval = format!("tests:\n- id: a\n  criteria: Answers\n  input: {value}\n");
        let loaded = Package::new(&[("suite/EVAL.yaml", &eval)]).load();
        loaded.diagnostics.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>().join(" ")
    };
    for cut in ["Order #1182 arrived", "Order\t#a", "Hello #ärger", "a b\n    c #1"] {
        assert_eq!(problems(cut), "W022", "{cut}");
    }
    for whole in
        ["Order # 1182", "'Order' #1182", "Order#1182", "Hello\n  #1182", "|\n    Order #1182", "Order #", "Order #-1"]
    {
        assert_eq!(problems(whole), "", "{whole}");
    }
}

#[test]
fn files_that_nothing_reads_are_named() {
    let package = Package::new(&[
        ("suite/EVAL.yaml", "tests: ./cases/\n"),
        (
            "suite/cases/a/case.yaml",
            "criteria: Answers\ninput: [{role: user, content: [{type: file, value: brief.json}]}]\n",
        ),
        ("suite/cases/a/brief.json", "{}"),
        ("suite/cases/a/case2.yaml", CASE),
        ("suite/cases/a/sub/case.yaml", CASE),
        ("suite/cases/a/_notes.yaml", "mine"),
        ("suite/cases/a/workspace/package.json", "{}"),
        ("suite/cases/a/check.py", "open('expected.json')"),
        ("suite/cases/a/expected.json", "{}"),
        (
            "suite/cases/b/case.yaml",
            "criteria: Answers\ninput: Hello\nassertions: [{type: code-grader, command: ./check.sh data/golden}]\n",
        ),
        ("suite/cases/b/check.sh", "exit 0"),
        ("suite/cases/b/data/golden/x.json", "{}"),
        ("suite/cases/broken.yaml", "a: [\n"),
        ("suite/cases/list.jsonl", "{}\n"),
        ("suite/cases/refund.yml", CASE),
    ]);
    shows("unused-files", &package.report());
    let tasks = Package::new(&[
        ("suite/suite.json", "{\"name\": \"a\", \"agent_name\": \"b\"}"),
        ("suite/tasks/a.json", "{\"id\": \"a\", \"description\": \"A\", \"graders\": [{\"name\": \"mine\"}]}"),
        ("suite/tasks/b.yaml", "id: b\n"),
    ]);
    shows("unused-files-among-tasks", &tasks.report());
}

// Elsewhere, the second would be written over the first.
#[cfg(target_os = "linux")]
#[test]
fn cases_whose_paths_differ_only_in_upper_and_lower_case_are_a_warning() {
    let package = Package::new(&[
        ("suite/EVAL.yaml", "tests: ./cases/\n"),
        ("suite/cases/Refund/case.yaml", CASE),
        ("suite/cases/refund/case.yaml", CASE),
    ]);
    shows("upper-and-lower-case", &package.report());
}

#[test]
fn criteria_that_no_grader_judges_are_one_warning() {
    let case = |id: &str, assertion: &str| {
        format!("- {{id: {id}, input: Hello, criteria: Polite, assertions: [{assertion}]}}\n")
    };
    let contains = "{type: contains, value: hello}";
    let report = |cases: &[String]| {
        let eval = format!("tests:\n{}", cases.concat());
        Package::new(&[("suite/EVAL.yaml", &eval), ("suite/check.sh", "exit 0")]).report()
    };
    shows("unjudged-criteria", &report(&[case("a", contains), case("b", contains), case("c", "Polite")]));
    for judge in ["{type: llm-grader}", "{type: mine}", "{type: code-grader, command: [./check.sh]}", "Polite"] {
        assert_eq!(report(&[case("a", &format!("{contains}, {judge}"))]), "no problems", "{judge}");
    }
    let nested = format!(
        "{{type: composite, assertions: [{contains}, {{type: llm-grader}}], aggregator: {{type: weighted_average}}}}"
    );
    assert_eq!(report(&[case("a", &nested)]), "no problems");
}

#[test]
fn targets_file() {
    for (name, text) in [
        ("targets-file-root", "- name: a\n  provider: cli\n"),
        ("targets-file-empty", "# nothing yet\n"),
        ("targets-file-without-targets", "$schema: https://example.org/targets.json\n"),
        ("targets-file-misspelled", "target:\n- name: a\n"),
        (
            "targets-file-directories",
            "targets:\n- name: gpt\n  provider: cli\n  command: run {PROMPT}\n  cwd: .\n  in_suite_directory: true\n",
        ),
        (
            "targets-file-entries",
            "targets:\n- name: gpt\n  provider: cli\n  command: run {PROMPT}\n- name: gpt\n  provider: acp\n  command: run\n  \
             permissions: [{knd: read, decision: deny}]\n- name: other\n  use_target: other\n- name: late\n  provider: cli\n  command: run {PROMPT}\n  healthcheck: {timeout_seconds: 5}\n",
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
fn only_problems_of_targets_that_are_used_are_reported() {
    let text = "targets:\n- name: default\n  use_target: ${{ AGENT_TARGET }}\n- name: nightly\n  use_target: mini\n- name: mini\n  \
                provider: cli\n  command: run {PROMT}\n- name: typo\n  use_target: mni\n- name: batch\n  provider: cli\n  \
                command: run\n  provider_batching: true\n  cwd: ${{ DIRECTORY }}\n- name: azure\n  provider: azure\n  anything: 1\n";
    let package = Package::new(&[("targets.yaml", text)]);
    let loaded = load_targets(&package.root().join("targets.yaml"), &package.request());
    let codes = |names: &[&str]| {
        let problems = loaded.problems_of(names.iter().copied());
        problems.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(codes(&["default", "azure", "not-defined"]), "", "a variable is resolved when a run starts");
    assert_eq!(codes(&["nightly"]), "E072", "an alias leads to its target");
    assert_eq!(codes(&["mini", "nightly"]), "E072", "once");
    assert_eq!(codes(&["typo", "batch"]), "E071 W004");
    let usable: Vec<&str> =
        loaded.targets.iter().flat_map(|file| &file.targets).map(|entry| entry.name.as_str()).collect();
    assert_eq!(usable, ["default", "nightly", "batch", "azure"]);
}

#[test]
fn unknown_placeholder() {
    let text = "targets:\n- name: a\n  provider: cli\n  command: run {PROMT} --id {EVAL_ID} {lower} {SOMETHING_ELSE}\n";
    shows("unknown-placeholder", &Package::new(&[("targets.yaml", text)]).targets_report());
}

#[test]
fn what_a_sealed_command_may_use() {
    let text = "targets:\n- name: a\n  provider: cli\n  command: run\n  sealed: always\n  network: [443]\n  read: ./prompts\n  \
                write: [./gone, ../outside]\n- name: b\n  provider: cli\n  command: run\n  sealed: true\n  network: {ports: []}\n  \
                unix_sockets: yes\n- name: c\n  provider: cli\n  command: run\n  network: nothing\n  read: [~/.config, /srv/data, '${{ PROMPTS }}', '']\n\
                - name: d\n  provider: cli\n  command: run\n  network: {ports: [0, 443, 65536], port: 1}\n";
    shows("sealing-of-targets", &Package::new(&[("targets.yaml", text)]).targets_report());
    let eval = "execution: {sealed: on}\nworkspace: {hooks: {before_each: {command: run, network: {port: 443}, read: ['${{ PROMPTS }}']}}}\ntests:\n\
                - id: a\n  criteria: Answers\n  input: Hello\n  assertions:\n  - {type: code-grader, command: run, sealed: Required, read: [./gone]}\n";
    shows("sealing-of-a-suite", &Package::new(&[("suite/EVAL.yaml", eval)]).report());
}

#[test]
fn keys_of_sealed_commands_are_refused_elsewhere() {
    let eval = "sealed: auto\nexecution: {network: none, sealed: }\nworkspace: {hooks: {before_all: {command: run, network: {ports: 443}, write: [1]}}}\ntests:\n\
                - id: a\n  criteria: Answers\n  input: Hello\n  execution: {sealed: required}\n  assertions:\n  - {type: contains, value: a, sealed: auto}\n  \
                - {type: code-grader, command: run, network: {}, read: [~agent/x, '~agent/x'], write: ./gone}\n  \
                - {type: code-grader, command: run, network: {ports: ['443', 443.5, -1]}, sealed: , unix_sockets: 1}\n";
    shows("sealing-elsewhere", &Package::new(&[("suite/EVAL.yaml", eval)]).report());
    let targets = "targets:\n- name: a\n  use_target: b\n  sealed: auto\n- name: b\n  provider: cli\n  command: run\n  sealing: auto\n  read: [~]\n\
                   - name: c\n  provider: codex\n  sealed: required\n- name: d\n  provider: cli\n  command: run\n  healthcheck: {command: run, sealed: auto}\n";
    shows("sealing-elsewhere-in-targets", &Package::new(&[("targets.yaml", targets)]).targets_report());
}

#[test]
fn a_canary_is_a_guid() {
    let report = |canary: &str| {
        let eval = format!("canary: {canary}\ntests: [{{id: a, input: Hello, criteria: Answers}}]\n");
        Package::new(&[("suite/EVAL.yaml", &eval)]).report()
    };
    shows("canary", &["3f0c9b52", "7", "'{3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46}'", "''"].map(report).join("\n"));
    assert!(!report("3F0C9B52-61DE-4A57-9A0E-7D1F5B8C2E46").contains("canary"));
}

#[test]
fn every_setting_of_a_target() {
    let text = "$schema: https://example.org/targets.json\ntargets:\n- name: a\n  provider: cli\n  command: ' '\n  cwd: nowhere\n  \
                timeout_seconds: 0\n  attachments_format: 3\n  healthcheck: {url: http://localhost, command: true}\n  env: {A: 1}\n  \
                keep_output_files: yes\n  cli_verbose: true\n  verbose: false\n  workers: 3\n  max_retry: 2\n- provider: cli\n  command: run\n";
    shows("settings-of-a-target", &Package::new(&[("targets.yaml", text)]).targets_report());
}

#[test]
fn problems_of_mcp_servers_are_reported_together() {
    let target = |name: &str, mcp: &str| {
        format!("- name: {name}\n  provider: cli\n  command: run {{MCP_CONFIG}}\n  mcp: {mcp}\n")
    };
    let text = [
        "targets:\n- { name: none, provider: cli, command: \"run {MCP_CONFIG}\" }\n".to_owned(),
        target("empty", "{ servers: {}, recrod: true }"),
        target(
            "http",
            "{ servers: { news: { url: https://x }, a/b: { command: x }, files: { type: sse, command: x, arg: [] } } }",
        ),
        target("direct", "{ servers: { a: { command: x } }, record: false, replay: true }"),
        target("faulty", "{ servers: { notes: { command: x } }, faults: [{ tool: x, fault: slow, server: note }] }"),
        target("broken", "{ servers: { a: { args: x } }, faults: [{ fault: crash, calls: [0] }] }"),
    ];
    shows("mcp-of-a-target", &Package::new(&[("targets.yaml", &text.concat())]).targets_report());
}

#[test]
fn a_right_targets_file_has_no_problems() {
    let text = "targets:\n- name: a\n  provider: cli\n  command: run {PROMPT} {FILES} {OUTPUT_FILE} {ATTEMPT}\n  timeout_seconds: 5\n  \
                files_format: '{path}'\n  healthcheck: {command: true, timeout_seconds: 5}\n  env: {A: b}\n- name: b\n  use_target: a\n- name: c\n  \
                provider: codex-cli\n  model: gpt-5\n- name: d\n  provider: cli\n  command: run {MCP_CONFIG}\n  mcp:\n    servers:\n      \
                notes: {type: stdio, command: npx, args: [-y, notes], env: {KEY: '${{ KEY }}'}, config: {trust: true}}\n    \
                faults: [{tool: 'find_*', fault: timeout, server: notes, calls: [1, 2], after_ms: 0, message: late}]\n";
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
