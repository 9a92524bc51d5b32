//! A full disk.

use std::fs;
use std::process::{Command, Stdio};

use evalsuite_needs::needs;
use evalsuite_tests::throwaway::{files_below, read_json, suites};

const CODE: &str = r#"
use evalsuite::{AgentError, Trial};

fn echo(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    if trial.case_id() == "fills" {
        let file = trial.workspace().join("big");
        std::fs::write(file, vec![b'x'; 4 << 20]).map_err(|error| AgentError::new(error.to_string()))?;
    }
    Ok(trial.prompt().to_owned())
}

evalsuite::include_eval_suite!("suites/disk", agent = echo);
"#;

/// Runs a test program whose records go to a file system of one megabyte, and copies what is there afterwards.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=1m tmpfs "$EVALSUITE_OUTPUT" || exit
"$0" "$@" --test-threads 1
status=$?
cp -R "$EVALSUITE_OUTPUT/." "$COPY"
exit $status
"#;

#[needs(mounts)]
#[test]
fn a_full_disk_is_an_error_of_the_case_that_fills_it_and_every_record_is_complete() {
    let package = suites::package_with_suite("disk", "disk", CODE);
    package
        .write("suites/disk/cases/a-good/case.yaml", &suites::case("hello", "hello"))
        .write("suites/disk/cases/fills/case.yaml", &suites::case("hello", "hello"));
    let program = package.build([]).succeeds("the package builds").executable("test", "evals");
    let directory = |name: &str| {
        let directory = package.root().join(name);
        fs::create_dir_all(&directory).expect("a directory can be made");
        directory
    };
    let (output, copy) = (directory("small"), directory("copy"));

    // In its own namespace every user may mount a file system.
    let ran = Command::new("unshare")
        .args(["-rm", "sh", "-c", SCRIPT])
        .arg(&program)
        .env("EVALSUITE_OUTPUT", &output)
        .env("COPY", &copy)
        .env("CARGO_MANIFEST_DIR", package.root())
        .current_dir(package.root())
        .stdin(Stdio::null())
        .output()
        .expect("unshare can be run");
    let text = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(text.contains("test disk::a_good ... ok"), "{text}");
    assert!(text.contains("test disk::fills ... FAILED") && text.contains("No space left"), "{text}");

    let mut records = files_below(&copy);
    records.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    assert!(records.iter().any(|path| path.ends_with("trial-000/result.json")), "{records:?}\n{text}");
    for path in records {
        read_json(&path);
    }
}
