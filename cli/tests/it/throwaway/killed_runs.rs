//! A run some of whose test processes were killed: all outputs count the cases that died as errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::package::Package;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Package as Throwaway, suites};

/// The agent of `dies` kills its test process, that of `dies-late` in the second trial. `SPARED` are the runs in which none does.
const CODE: &str = r#"
use evalsuite::Trial;

fn echo(trial: &mut Trial<'_>) -> Result<String, std::io::Error> {
    std::fs::write(trial.workspace().join("left.txt"), "left")?;
    let dies = match trial.case_id() {
        "dies" => true,
        "dies-late" => trial.index() == 1,
        _ => false,
    };
    if dies && std::env::var_os("SPARED").is_none() {
        std::process::Command::new("sh").args(["-c", &format!("kill -9 {}", std::process::id())]).status()?;
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
    Ok(trial.prompt().to_owned())
}

evalsuite::include_eval_suite!("suites/dying", agent = echo);
"#;

/// Cases that passed, failed and ended in an error.
const COUNTS: [u64; 3] = [2, 1, 2];

struct Runs {
    /// The runs are in `out`.
    here: Package,
    program: PathBuf,
    built: Throwaway,
}

impl Runs {
    fn new() -> Self {
        let built = suites::package_with_suite("killed-run", "dying", CODE);
        for (case, asks) in [("fails", "bye"), ("good-1", "hello"), ("good-2", "hello"), ("dies", "hello")] {
            built.write(&format!("suites/dying/cases/{case}/case.yaml"), &suites::case(asks, "hello"));
        }
        let twice =
            format!("{}execution: {{ trials: {{ count: 2, strategy: mean }} }}\n", suites::case("hello", "hello"));
        built.write("suites/dying/cases/dies-late/case.yaml", &twice);
        let program = built.build([]).succeeds("the package builds").executable("test", "evals");
        Self { here: Package::new(&[]), program, built }
    }

    /// Runs each case in a process of its own, as nextest does.
    fn run(&self, id: &str, variables: &[(&str, &str)]) {
        for case in ["dies", "dies_late", "fails", "good_1", "good_2"] {
            let mut test = Command::new(&self.program);
            test.args(["--exact", &format!("dying::{case}")]).envs(variables.iter().copied());
            test.env("EVALSUITE_OUTPUT", self.here.root().join("out")).env("EVALSUITE_RUN_ID", id);
            test.env("CARGO_MANIFEST_DIR", self.built.root()).current_dir(self.built.root());
            test.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it runs");
        }
    }

    fn directory(&self, id: &str) -> PathBuf {
        self.here.root().join("out/runs").join(id)
    }

    /// What each output says: passed, failed, error.
    fn counts(&self) -> BTreeMap<&'static str, [u64; 3]> {
        let print = |arguments: &[&str]| self.here.run_in_output(arguments).out;
        let json = |arguments: &[&str]| -> Value { evalsuite_schema::json::from_str(&print(arguments)).expect("JSON") };
        let mut counts = BTreeMap::new();
        counts.insert("text", of_text(&print(&["report", "dying"])));
        let summary = json(&["report", "dying", "--format", "json"]);
        counts.insert("summary", of_summary(&summary));
        let list = json(&["list", "--runs", "--format", "json"]);
        let run = list["runs"].as_array().unwrap().iter().find(|run| run["run_id"] == "dying").unwrap();
        counts.insert("list", three(&run["suites"][0]));
        assert_eq!(run["suites"][0]["pass_rate"], 0.4);
        let gate = json(&["gate", "dying", "--require", "pass_rate >= 50%", "--format", "json"]);
        assert_eq!((&gate["results"][0]["value"], &gate["results"][0]["cases"]), (&0.4.into(), &5.into()), "{gate}");
        assert_eq!((&gate["trials"], &gate["trial_errors"]), (&6.into(), &2.into()), "{gate}");
        let diff = json(&["diff", "spared", "dying", "--format", "json"]);
        let suite = &diff["suites"][0];
        assert_eq!(
            (&suite["run_passed"][0], &suite["base_passed"][0], &suite["errors"]),
            (&2.into(), &4.into(), &2.into())
        );
        self.here.run_in_output(&[
            "report",
            "dying",
            "--junit",
            "j.xml",
            "--markdown",
            "m.md",
            "--html",
            "h.html",
            "--json",
            "s.json",
        ]);
        let file = |name: &str| fs::read_to_string(self.here.root().join(name)).expect(name);
        let attribute = |name: &str| -> u64 {
            let (_, rest) = junit_suite(&file("j.xml"))
                .split_once(&format!(" {name}=\""))
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let [tests, failed, errors] = ["tests", "failures", "errors"].map(attribute);
        counts.insert("junit", [tests - failed - errors, failed, errors]);
        let markdown = file("m.md");
        let row = markdown.lines().find(|line| line.starts_with("| dying |")).expect("a row");
        let cells: Vec<u64> = row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        counts.insert("markdown", [cells[0], cells[1], cells[2]]);
        let _ = fs::remove_file(self.here.root().join("m.md"));
        counts.insert("html", of_page(&file("h.html")));
        counts.insert("json file", of_summary(&evalsuite_schema::json::from_str(&file("s.json")).unwrap()));
        let github = print(&["report", "dying", "--format", "github"]);
        assert_eq!(github.lines().filter(|line| line.starts_with("::error")).count(), 3, "{github}");
        counts
    }
}

fn junit_suite(xml: &str) -> String {
    xml.lines().find(|line| line.contains("<testsuite ")).expect("a suite").to_owned()
}

fn three(object: &Value) -> [u64; 3] {
    ["passed", "failed", "error"].map(|name| object[name].as_u64().unwrap_or_else(|| panic!("{name} in {object}")))
}

/// `dying: 2 passed, 1 failed, 2 error, 0 skipped`.
fn of_text(text: &str) -> [u64; 3] {
    let line = text.lines().find(|line| line.starts_with("dying: ") && line.contains(" passed, ")).expect("a line");
    let numbers: Vec<u64> =
        line.split(|other: char| !other.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

fn of_summary(summary: &Value) -> [u64; 3] {
    let target = &summary["suites"][0]["targets"][0];
    assert_eq!(target["case_pass_rate"], 0.4, "{target}");
    assert_eq!((&target["trials"]["passed"], &target["trials"]["error"]), (&3.into(), &2.into()), "{target}");
    let cases = summary["suites"][0]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    three(&target["cases"])
}

/// The column of outcomes in the index of the page.
fn of_page(page: &str) -> [u64; 3] {
    let (_, packed) = page.split_once("id=\"index\">").expect("an index");
    let packed = packed.split('<').next().expect("its end");
    let unpacked = assert_cmd::Command::new("sh").args(["-c", "base64 -d | gunzip"]).write_stdin(packed).output();
    let index = String::from_utf8(unpacked.expect("it is unpacked").stdout).expect("UTF-8");
    let columns = index.match_indices("\"outcome\":\"").map(|(at, key)| &index[at + key.len()..]);
    let column = columns.filter_map(|rest| rest.split('"').next()).find(|text| text.len() == 5).expect("a column");
    ['p', 'f', 'e'].map(|letter| column.chars().filter(|found| *found == letter).count() as u64)
}

fn workspaces(directory: &Path) -> usize {
    let below = walkdir::WalkDir::new(directory).into_iter().filter_map(Result::ok);
    below.filter(|entry| entry.file_name() == "workspace").count()
}

#[test]
fn cases_that_died_are_errors_in_every_output_before_and_after_the_run_is_finished() {
    let runs = Runs::new();
    runs.run("spared", &[("SPARED", "1")]);
    runs.run("dying", &[]);
    assert_eq!(workspaces(&runs.directory("dying")), 3, "those of two killed processes, and of the case that failed");
    let before = runs.counts();
    let wrong: Vec<_> = before.iter().filter(|(_, counts)| **counts != COUNTS).collect();
    assert!(wrong.is_empty(), "expected {COUNTS:?}: {wrong:?}");

    let finished = runs.here.run_in_output(&["finish", "dying"]);
    assert_eq!(finished.code, 1, "{}", finished.out);
    assert_eq!(of_text(&finished.out), COUNTS, "{}", finished.out);
    assert!(finished.out.contains("dying: 2 cases without a record\n"), "{}", finished.out);
    assert!(finished.out.contains("case `dies-late` (target `default`)  process "), "{}", finished.out);
    assert!(!finished.out.contains("not started"), "{}", finished.out);
    assert_eq!(workspaces(&runs.directory("dying")), 1, "that of the case that failed");
    let summary = fs::read_to_string(runs.directory("dying").join("summary.json")).unwrap();
    assert_eq!(of_summary(&evalsuite_schema::json::from_str(&summary).unwrap()), COUNTS);
    let json = runs.here.run_in_output(&["finish", "dying", "--format", "json"]);
    let json = runs.here.json("finish", &json.out);
    assert_eq!(three(&json["suites"][0]), COUNTS, "{json}");
    assert_eq!((&json["suites"][0]["trials"], &json["suites"][0]["trial_errors"]), (&6.into(), &2.into()), "{json}");
    assert_eq!(runs.counts(), before, "the run says the same after it was finished");

    // The next run of the cases that died replaces what they left.
    runs.run("dying", &[("SPARED", "1")]);
    assert_eq!(of_text(&runs.here.run_in_output(&["report", "dying"]).out), [4, 1, 0]);
}

#[test]
fn clean_removes_the_workspaces_of_the_dead() {
    let package = Package::new(&[]);
    let trial = "out/runs/r/suites/s/cases/a-12345678/trial-000";
    package.write(
        &format!("{trial}/started.json"),
        r#"{"schema": "evalsuite.started/1", "run_id": "r", "suite": "s", "case_id": "a", "target": "default", "trial": 0, "pid": 1, "lock": "locks/a-12345678.lock", "started_at": "2026-01-04T09:15:00Z"}"#,
    );
    package.write(&format!("{trial}/workspace/left.txt"), "left");
    let output = package.run_in_output(&["clean", "--keep", "1"]);
    assert_eq!((output.code, workspaces(package.root())), (0, 0), "{}", output.err);
    assert!(package.root().join(trial).join("started.json").is_file());
}
