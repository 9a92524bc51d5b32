//! What newer versions of the eval format have, from the file to the verdict.

use std::fs;
use std::path::Path;
use std::process::Command;

use evalsuite_needs::needs;
use evalsuite_tests::throwaway::suites;

const CODE: &str = r#"
use evalsuite::{AgentError, Trial};

fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let name = trial.workspace().join("shop/lib/name.txt");
    match trial.case_id() {
        "repo" => std::fs::read_to_string(name).map_err(|error| AgentError::new(error.to_string())),
        "long" => Ok("x".repeat(60_000)),
        _ => Ok(trial.prompt().to_owned()),
    }
}

evalsuite::include_eval_suite!("suites/newer");
"#;

const EVAL_YAML: &str = r#"
tests:
  - id: vars
    vars: { order: { id: 1182, items: [tea, cup] }, files: [./brief.md] }
    input: Order {{ order.id }} has {{ order.items }}, {{ '{{' }}other}} stays.
    input_files: "{{ files }}"
    criteria: Names order {{ order.id }}
    expected_output: { id: "{{ order.id }}" }
    assertions:
      - { type: contains, value: "Order 1182 has [\"tea\",\"cup\"], {{ '{{' }}other}} stays." }
      - type: code-grader
        command: tr -d ' \n' | grep -q '"criteria":"Namesorder1182".*{"id":1182}' && echo pass
  - id: repo
    input: What is your name?
    workspace: { repos: [{ path: shop, repo: "file://REPOSITORY", commit: main, ancestor: 1, sparse: [lib] }] }
    assertions: [{ type: equals, value: first }]
  - id: score
    input: Hello
    assertions: [{ type: code-grader, command: "printf '0.9\nnearly all of it'" }]
  - id: verdict
    input: Hello
    assertions: [{ type: code-grader, command: "printf 'fail\nno total'" }]
  - id: image
    input: [{ role: user, content: [{ type: text, value: Look }, { type: image, value: ./logo.png }] }]
    assertions:
      - type: code-grader
        command: |
          image=$(tr -d ' \n' | grep -o '"type":"image"[^}]*}' | grep '"media_type":"image/png"')
          path=$(echo "$image" | grep -o '"path":"[^"]*"' | cut -d '"' -f 4)
          test -f "$path" && echo pass
  - id: long
    input: Talk
    assertions:
      - type: code-grader
        command: |
          path=$(tr -d ' \n' | grep '"output":null' | grep -o '"output_path":"[^"]*"' | cut -d '"' -f 4)
          test $(wc -c < "$path") -gt 60000 && echo pass
"#;

/// A repository with two commits on `main`.
fn make_repository(directory: &Path) {
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let status = Command::new("git").args(identity).args(arguments).current_dir(directory).status();
        assert!(status.expect("git starts").success(), "git {arguments:?}");
    };
    let commit = |name: &str| {
        fs::write(directory.join("lib/name.txt"), name).expect("the file can be written");
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", name]);
    };
    fs::create_dir_all(directory.join("lib")).expect("the folder can be made");
    git(&["init", "--quiet", "--initial-branch=main"]);
    commit("first");
    commit("second");
}

#[needs(git)]
#[test]
fn a_suite_of_a_newer_version_runs() {
    let package = suites::package_with_suite("newer-suites", "newer", CODE);
    let repository = package.root().join("repository");
    make_repository(&repository);
    package
        .write("suites/newer/EVAL.yaml", &EVAL_YAML.replace("REPOSITORY", &repository.display().to_string()))
        .write("suites/newer/brief.md", "Be brief.\n")
        .write("suites/newer/logo.png", "not really an image\n");
    let ran = package.cargo(["test"]).run().fails("one case fails");
    let failed: Vec<&str> = ran.stdout.lines().filter(|line| line.ends_with("... FAILED")).collect();
    assert_eq!(failed, ["test newer::verdict ... FAILED"], "{}", ran.transcript());
    let grader = |case: &str| package.records().of_case(case)[0]["graders"][0].clone();
    assert_eq!((&grader("score")["value"], &grader("score")["rationale"]), (&0.9.into(), &"nearly all of it".into()));
    assert_eq!((&grader("verdict")["value"], &grader("verdict")["rationale"]), (&0.0.into(), &"no total".into()));
}
