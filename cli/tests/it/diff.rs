//! `cargo evalsuite diff`, run as a program.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::package::Package;
use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, json};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// Writes a run that began some minutes ago.
fn write_run(package: &Package, id: &str, skill: f64, minutes: u64) {
    let mut run = SyntheticRun::new(id, 60, 2);
    run.skill = skill;
    let directory = run.write(&package.root().join("out"));
    let lock = directory.join("locks/run.lock");
    set_commit(package, id, &commit_of(id), false);
    std::fs::write(&lock, "").expect("a lock file");
    let time = SystemTime::now() - Duration::from_secs(60 * minutes);
    std::fs::File::options().write(true).open(&lock).and_then(|file| file.set_modified(time)).expect("a time");
    std::fs::write(package.root().join("out/latest"), id).expect("the newest run");
}

/// A commit for each run.
fn commit_of(id: &str) -> String {
    let digits: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{digits:0<40}")
}

#[test]
fn the_newest_run_is_compared_with_the_one_before() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.2, 30);
    write_run(&package, "b-good", 0.95, 20);
    write_run(&package, "c-badly", 0.3, 10);
    let output = package.run_in_output(&["diff"]);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    assert!(output.out.starts_with("c-badly compared with b-good\n"), "{}", output.out);
    assert!(
        output
            .out
            .contains("\nrefunds @ default: regressed\n  errors   1 case ends in an error, and had a result before; "),
        "{}",
        output.out
    );
    assert!(output.out.contains(" scores by less than 0.05\n"), "they are not listed one by one:\n{}", output.out);
    std::fs::remove_file(package.root().join("out/latest")).unwrap();
    let copied = package.run_in_output(&["diff"]);
    assert_eq!(copied.out, output.out, "the newest run is found without the file that names it");
}

/// It was no evidence of a change, and a gate passed.
#[test]
fn a_run_is_not_compared_with_itself() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.9, 2);
    write_run(&package, "b-run", 0.2, 1);
    let named = "error: run `b-run` cannot be compared with itself\n  = help: name an earlier run; `cargo evalsuite diff` without a name chooses one\n";
    let page = package.root().join("page.html").display().to_string();
    for arguments in [
        &["diff", "b-run"][..],
        &["diff", "out/runs/b-run", "b-run"],
        &["gate", "--base", "b-run"],
        &["report", "--baseline", "b-run", "--html", &page],
    ] {
        let output = package.run_in_output(arguments);
        assert_eq!((output.code, output.err.as_str()), (2, named), "{arguments:?}\n{}", output.out);
    }
    let output = package.run_in_output(&["diff", "b-run", "--targets", "small", "small"]);
    assert!(
        output.err.starts_with("error: target `small` of a run cannot be compared with itself\n"),
        "{}",
        output.err
    );
    assert_eq!(package.run_in_output(&["diff", "a-run"]).code, 1, "it is another run");
}

#[test]
fn an_id_does_not_affect_the_terminal() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.5, 20);
    write_run(&package, "b-run", 0.5, 10);
    let first = |directory: &Path| {
        let mut entries = std::fs::read_dir(directory).expect("a directory");
        entries.next().expect("an entry").expect("an entry").path()
    };
    let suite = first(&package.root().join("out/runs/b-run/suites"));
    let case = first(&suite.join("cases")).join("case.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&case).expect("a record")).expect("a record");
    record["case_id"] = json!("red\u{1b}[31m");
    std::fs::write(&case, record.to_string()).expect("a record");
    let output = package.run_in_output(&["diff", "b-run", "a-run"]);
    assert!(output.out.contains("red\u{241b}[31m\n") && !output.out.contains("\u{1b}"), "{}", output.out);
}

#[test]
fn a_run_that_does_not_exist_is_named() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.9, 1);
    let output = package.run_in_output(&["diff", "nothing"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.starts_with("error: there is no run `nothing` in "), "{}", output.err);
    let output = package.run_in_output(&["diff"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.err, "error: no earlier run has cases in common with `a-run`\n");
}

#[test]
fn targets_that_do_not_exist_are_errors_and_keys_without_values_are_warnings() {
    let package = Package::new(&[]);
    write_run(&package, "a-run", 0.9, 2);
    write_run(&package, "b-run", 0.9, 1);
    let output = package.run_in_output(&["diff", "--targets", "default", "smal"]);
    let expected = "error: run `b-run` has no case of target `smal`\n  = help: did you mean `small`?\n";
    assert_eq!((output.code, output.err.as_str()), (2, expected), "{}", output.out);
    let output = package.run_in_output(&["diff", "--targets", "default", "small"]);
    assert!(output.out.contains("\nrefunds @ default -> small: "), "{}", output.out);
    let output = package.run_in_output(&["diff", "--targets", "small", "small"]);
    let itself = "error: target `small` of a run cannot be compared with itself\n  = help: name two targets, or an earlier run: `diff BASE --targets A A`\n";
    assert_eq!((output.code, output.err.as_str()), (2, itself), "{}", output.out);
    let output = package.run_in_output(&["diff", "a-run", "--targets", "default", "default"]);
    assert!(output.out.contains("\nrefunds @ default -> default: "), "{}", output.out);
    let output = package.run_in_output(&["diff", "--cluster-by", "langage", "--by", "metadata.language"]);
    assert_eq!(output.err, "warning: no case of run `b-run` has `langage` in its metadata\n");
}

/// A git repository whose branch `topic` left `main`; returns the commits of both.
fn repository(package: &Package) -> [String; 2] {
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        let output =
            std::process::Command::new("git").args(who).args(arguments).current_dir(package.root()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "base"]);
    let base = git(&["rev-parse", "HEAD"]);
    git(&["switch", "--quiet", "-c", "topic"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "topic"]);
    let topic = git(&["rev-parse", "HEAD"]);
    git(&["switch", "--quiet", "main"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "main goes on"]);
    [base, topic]
}

/// Writes the commit of a run.
fn set_commit(package: &Package, id: &str, commit: &str, dirty: bool) {
    let file = package.root().join(format!("out/runs/{id}/run.json"));
    let mut record: Value = evalsuite_schema::json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    record["git"] = json!({ "commit": commit, "dirty": dirty });
    std::fs::write(&file, record.to_string()).unwrap();
}

#[needs(git)]
#[test]
fn a_run_of_a_branch_is_compared_with_the_run_of_the_merge_base() {
    let package = Package::new(&[]);
    let [base, topic] = repository(&package);
    for (minutes, id) in [(50, "a-base"), (40, "b-edited"), (30, "c-topic"), (20, "d-topic")] {
        write_run(&package, id, 0.9, minutes);
    }
    set_commit(&package, "a-base", &base, false);
    set_commit(&package, "b-edited", &base, true);
    set_commit(&package, "c-topic", &topic, false);
    set_commit(&package, "d-topic", &topic, false);
    let output = package.run_in_output(&["diff"]);
    assert!(output.out.starts_with("d-topic compared with a-base\n"), "{}{}", output.out, output.err);
    let note = format!("note: compared with run `a-base` of commit {}, the merge base with `main`\n", &base[..10]);
    assert_eq!(output.err, note, "files of b-edited differ from the commit");
    let output = package.run_in_output(&["diff", "c-topic"]);
    assert!(output.out.starts_with("d-topic compared with c-topic\n"), "{}", output.out);

    // Edits on the merge base are compared with it; it is compared with the run before.
    std::fs::write(package.root().join("out/latest"), "b-edited").unwrap();
    let output = package.run_in_output(&["diff"]);
    assert!(output.out.starts_with("b-edited compared with a-base\n"), "{}", output.out);
    set_commit(&package, "d-topic", &base, false);
    std::fs::write(package.root().join("out/latest"), "d-topic").unwrap();
    let output = package.run_in_output(&["diff"]);
    assert!(output.out.starts_with("d-topic compared with c-topic\n"), "{}", output.out);
    assert_eq!(output.err, "");
    // A commit that is not in this repository has no merge base.
    set_commit(&package, "d-topic", &"7".repeat(40), false);
    let output = package.run_in_output(&["diff"]);
    assert!(output.out.starts_with("d-topic compared with c-topic\n"), "{}{}", output.out, output.err);
}

/// Writes a run of a commit.
fn write_run_of(package: &Package, id: &str, commit: &str, skill: f64, minutes: u64) {
    write_run(package, id, skill, minutes);
    set_commit(package, id, commit, false);
}

/// Sets the digest of the agent, as `cargo evalsuite run` does.
fn set_digest(package: &Package, id: &str, digest: &str) {
    let file = package.root().join(format!("out/runs/{id}/run.json"));
    let mut record: Value = evalsuite_schema::json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    record["env"] = json!({ "EVALSUITE_AGENT_DIGEST": digest });
    std::fs::write(&file, record.to_string()).unwrap();
}

#[test]
fn runs_of_one_commit_are_counted_together() {
    let package = Package::new(&[]);
    let [base, topic] = ["1".repeat(40), "2".repeat(40)];
    for (id, commit, skill, minutes) in [
        ("a", &base, 0.9, 50),
        ("b", &base, 0.9, 40),
        ("c", &topic, 0.3, 30),
        ("d", &topic, 0.9, 20),
        ("e", &topic, 0.9, 10),
    ] {
        write_run_of(&package, id, commit, skill, minutes);
    }
    let output = package.run_in_output(&["diff"]);
    let head = "e compared with b\n3 runs of commit 2222222222 counted together: c, d, e\n\
                2 runs of commit 1111111111 counted together: a, b\n\n";
    assert!(output.out.starts_with(head), "{}{}", output.out, output.err);
    assert_eq!(output.code, 1, "two green reruns do not outweigh a broken run: {}", output.out);
    let json = package.json("diff", &package.run_in_output(&["diff", "--format", "json"]).out);
    assert_eq!(json["runs"], json!({ "commit": topic, "runs": ["c", "d", "e"] }));
    assert_eq!(json["base_runs"]["runs"], json!(["a", "b"]));
    let markdown = package.run_in_output(&["diff", "--format", "markdown"]).out;
    assert!(markdown.contains("\n\n3 runs of commit 2222222222 counted together: c, d, e\n\n"), "{markdown}");

    // Runs that are named are compared as they are.
    let output = package.run_in_output(&["diff", "b", "e"]);
    assert!(output.out.starts_with("e compared with b\n\n"), "{}", output.out);
    assert_eq!(
        output.err,
        "note: `b` was named; not counted with it: a, of the same commit\n\
         note: `e` was named; not counted with it: c, d, of the same commit\n"
    );
    let output = package.run_in_output(&["diff", "b"]);
    assert!(output.out.starts_with("e compared with b\n3 runs of commit 2222222222"), "{}", output.out);
    let output = package.run_in_output(&["diff", "c"]);
    assert!(output.out.starts_with("e compared with c\n\n") && output.err.is_empty(), "{}{}", output.out, output.err);
    let output = package.run_in_output(&["gate", "--base", "b"]);
    assert!(output.out.contains("3 runs of commit 2222222222 counted together: c, d, e\n"), "{}", output.out);
}

#[test]
fn a_run_of_the_same_commit_is_no_base() {
    let package = Package::new(&[]);
    let commit = "1".repeat(40);
    write_run_of(&package, "a", &commit, 0.2, 30);
    write_run_of(&package, "b", &commit, 0.9, 20);
    let output = package.run_in_output(&["diff"]);
    assert_eq!(output.code, 2, "{}", output.out);
    assert_eq!(
        output.err,
        "error: no earlier run has cases in common with `b`, except runs of its commit\n  = help: runs of one commit are one sample; \
         to compare two of them, name one: `cargo evalsuite diff RUN`\n"
    );
    // Of a tree with changes, the commit says nothing, but the digest of the agent does.
    set_commit(&package, "a", &commit, true);
    set_commit(&package, "b", &commit, true);
    assert!(package.run_in_output(&["diff"]).out.starts_with("b compared with a\n\n"));
    set_digest(&package, "a", "5d");
    set_digest(&package, "b", "5d");
    assert_eq!(package.run_in_output(&["diff"]).code, 2);
    set_digest(&package, "b", "a0");
    assert!(package.run_in_output(&["diff"]).out.starts_with("b compared with a\n\n"));
    // A service of another version is another agent.
    set_commit(&package, "a", &commit, false);
    set_commit(&package, "b", &commit, false);
    assert!(package.run_in_output(&["diff"]).out.starts_with("b compared with a\n\n"));
}

/// A replay has the results of the agent that was recorded, not of its commit.
#[test]
fn a_run_is_not_compared_with_a_replay_unless_it_is_one() {
    let package = Package::new(&[]);
    for (id, digit, minutes) in [("a", "1", 40), ("b", "2", 30), ("c", "3", 20), ("d", "4", 10)] {
        write_run_of(&package, id, &digit.repeat(40), 0.9, minutes);
    }
    let set_mode = |id: &str, mode: &str| {
        let file = package.root().join(format!("out/runs/{id}/run.json"));
        let mut record: Value = evalsuite_schema::json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        record["env"] = json!({ "EVALSUITE_MODE": mode });
        std::fs::write(&file, record.to_string()).unwrap();
    };
    set_mode("b", "replay");
    set_mode("c", "replay");
    let compared = |expected: &str| {
        let output = package.run_in_output(&["diff"]);
        assert!(output.out.starts_with(&format!("{expected}\n")), "{}{}", output.out, output.err);
    };
    compared("d compared with a");
    assert!(package.run_in_output(&["diff", "c"]).out.starts_with("d compared with c\n"), "it may be named");
    set_mode("d", "replay");
    compared("d compared with c");
    set_mode("c", "live");
    compared("d compared with c");
}

#[test]
fn replays_are_not_counted_with_other_runs() {
    let package = Package::new(&[]);
    let [base, topic] = ["1".repeat(40), "2".repeat(40)];
    write_run_of(&package, "a", &base, 0.9, 30);
    write_run_of(&package, "b", &topic, 0.9, 20);
    write_run_of(&package, "c", &topic, 0.9, 10);
    let file = package.root().join("out/runs/b/run.json");
    let mut record: Value = evalsuite_schema::json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (name, value) in [("EVALSUITE_MODE", "replay"), ("EVALSUITE_MODEL_CALLS", "replay 127.0.0.1:4000")] {
        record["env"] = json!({ name: value });
        std::fs::write(&file, record.to_string()).unwrap();
        assert!(package.run_in_output(&["diff"]).out.starts_with("c compared with a\n\n"), "{name}");
    }
}
