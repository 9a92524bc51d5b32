//! The workflows of hosted runners name only what exists, and the scripts that they call leave out no test. `.ci/platforms` also checks them with actionlint.

use std::fs;
#[cfg(unix)]
use std::process::Command;

use evalsuite_tests::source::workspace_root;
use serde_json::Value;

/// The workflows, by their names.
fn workflows() -> Vec<(String, Value)> {
    let directory = workspace_root().join(".github/workflows");
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("the workflows") {
        let path = entry.expect("a workflow").path();
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let value: Value = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        found.push((name, value));
    }
    found
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn every_job_has_a_runner_a_limit_and_steps_that_do_one_thing() {
    for (name, workflow) in workflows() {
        assert!(workflow["on"].is_object() || workflow["on"].is_array(), "{name}: it has no events");
        let jobs = workflow["jobs"].as_object().unwrap_or_else(|| panic!("{name}: it has no jobs"));
        for (id, job) in jobs.iter() {
            if job["uses"].is_string() {
                // The jobs of another workflow.
                continue;
            }
            assert!(job["runs-on"].is_string(), "{name}: `{id}` has no runner");
            let has_limit = job["timeout-minutes"].as_u64().is_some_and(|limit| limit <= 90);
            assert!(has_limit || name != "ci.yml", "{name}: `{id}` has no limit");
            let steps = job["steps"].as_array().unwrap_or_else(|| panic!("{name}: `{id}` has no steps"));
            for step in steps {
                let does = [&step["uses"], &step["run"]].iter().filter(|does| does.is_string()).count();
                assert_eq!(does, 1, "{name}: a step of `{id}` has to use an action or run a command: {step}");
                let uses = step["uses"].as_str().unwrap_or("actions/x@v1");
                assert!(uses.contains('@'), "{name}: `{uses}` has no version");
            }
        }
    }
}

#[test]
fn the_scripts_and_matrices_that_workflows_name_exist() {
    for (name, workflow) in workflows() {
        for (id, job) in workflow["jobs"].as_object().expect("jobs").iter() {
            for step in job["steps"].as_array().into_iter().flatten() {
                for word in text(&step["run"]).split_whitespace().filter(|word| word.starts_with(".ci/")) {
                    assert!(workspace_root().join(word).is_file(), "{name}: `{word}` does not exist");
                }
            }
            for used in job.to_string().split("matrix.").skip(1) {
                let key: String =
                    used.chars().take_while(|next| next.is_ascii_alphanumeric() || *next == '_').collect();
                let matrix = &job["strategy"]["matrix"];
                let included =
                    matrix["include"].as_array().is_some_and(|rows| rows.iter().all(|row| !row[&*key].is_null()));
                assert!(included || !matrix[&*key].is_null(), "{name}: the matrix of `{id}` has no `{key}`");
            }
        }
    }
}

#[test]
fn slow_tests_have_a_part_of_the_release() {
    let read = |path: &str| fs::read_to_string(workspace_root().join(path)).expect("a text");
    let (profiles, release) = (read(".config/nextest.toml"), read(".ci/release"));
    let attribute = read("tests/needs/src/lib.rs");
    let (_, rest) = attribute.split_once("const PARTS: &[(&str, &str)] = &[\n").expect("the parts of slow tests");
    let (rows, _) = rest.split_once("];").expect("the last part");
    let parts: Vec<&str> = rows.lines().map(|row| row.split('"').nth(1).expect("the name of a part")).collect();
    assert!(read(".github/workflows/ci.yml").contains("- run: .ci/release --if-changed\n"), "no job runs slow tests");
    for name in &parts {
        let profile = format!("[profile.{name}]\ndefault-filter = \"test(/::{name}$/)\"\n");
        assert!(profiles.contains(&profile), "no profile of nextest has the tests of {name}");
        assert!(release.contains(&format!("    tests_of {name}\n")), "no part of the release runs {name}");
        assert!(release.contains(&format!("\" {name} ")), "no part of the release is called {name}");
    }
    let all = "[profile.gate]\ndefault-filter = \"all()\"\n";
    assert!(
        profiles.contains(all) && read(".ci/run").contains("built_tests --profile gate "),
        "the gate has not all tests"
    );
    assert_eq!(profiles.matches("\n[profile.").count(), parts.len() + 2, "a profile without slow tests");
}

/// An input that does not exist ends the script at its part.
#[cfg(unix)]
#[test]
fn the_inputs_of_parts_exist() {
    let release = fs::read_to_string(workspace_root().join(".ci/release")).expect("the script");
    let crates = release.lines().find(|line| line.starts_with("CRATES=")).expect("the crates");
    let (_, parts) = release.split_once("\ntest_programs\n").expect("the parts");
    let part = r#"part() { echo "part: $1"; shift 2; for input; do [ -e "$input" ] || echo "missing: $input"; done; }"#;
    let script = format!("set -euo pipefail\nonly_changed=false\n{crates}\n{part}\n{parts}");
    let output = Command::new("bash").args(["-c", &script]).current_dir(workspace_root()).output().expect("bash");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(printed.matches("part: ").count(), parts.matches("part \"").count(), "{printed}");
    assert!(!printed.contains("missing: "), "{printed}");
}

#[test]
fn tests_run_on_all_three_systems() {
    let found = workflows();
    let (_, ci) = found.iter().find(|(name, _)| name == "ci.yml").expect("ci.yml");
    let runners = ci["jobs"].to_string();
    for system in ["ubuntu-latest", "macos-latest", "windows-latest"] {
        assert!(runners.contains(system), "{system}");
    }
}
