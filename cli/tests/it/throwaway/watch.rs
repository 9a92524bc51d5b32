//! `cargo evalsuite watch`, in packages that change while it runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use evalsuite_needs::{needs, slow};
use evalsuite_schema::json::{Value, json};
use evalsuite_tests::throwaway::{Call, MORE_FEATURES, Package, suites};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-evalsuite");

const TESTS: &str = "
use std::convert::Infallible;

fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, Infallible> {
    let note = std::fs::read_to_string(trial.workspace().join(\"note.txt\")).unwrap_or_default();
    Ok(format!(\"{} {note}\", trial.prompt()))
}

evalsuite::include_eval_suite!(\"suites/by_case\");
";

/// [`MORE_FEATURES`] without the feature that the command adds.
fn without_reload() -> String {
    MORE_FEATURES.replace("evalsuite/reload,", "")
}

/// A deadlock fails the test instead of blocking it.
const DEADLOCK: Duration = Duration::from_secs(600);

/// A case that may pass for the question as the answer, and for a list of all texts.
fn case(asks: &str, expects: &str) -> String {
    suites::case(asks, expects) + "probe: { passes: [echo, hedge] }\n"
}

fn package(name: &str) -> Package {
    let package = suites::package_with_suite(name, "by_case", TESTS);
    package
        .write("suites/by_case/cases/first/case.yaml", &case("hello", "hello"))
        .write("suites/by_case/cases/first/workspace/note.txt", "before")
        .write("suites/by_case/cases/second/case.yaml", &case("hello", "hello"));
    package
}

struct Watching {
    child: Child,
    output: Receiver<String>,
}

impl Watching {
    fn short(package: &Package) -> Self {
        Self::short_of(package, &["--test", "evals"])
    }

    /// Of these test programs.
    fn short_of(package: &Package, tests: &[&str]) -> Self {
        let call = Call::program(PROGRAM, package).with_cargo();
        let features = without_reload();
        let arguments = ["evalsuite", "watch", "--format", "short", "--features", &features];
        let mut child = call.args([&arguments, tests].concat()).spawn();
        let stdout = child.stdout.take().expect("a pipe");
        let (sender, output) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, output }
    }

    /// On a terminal; its output comes in pieces.
    fn on_screen(package: &Package, test: &str, editor: &str) -> Self {
        let line = format!(
            "stty rows 40 cols 120 && exec {PROGRAM} evalsuite watch --test {test} --features {}",
            without_reload()
        );
        let mut child =
            Call::on_terminal(&line, package).with_cargo().env("EDITOR", editor).without_env("VISUAL").spawn();
        let mut stdout = child.stdout.take().expect("a pipe");
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                if sender.send(String::from_utf8_lossy(&buffer[..length]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { child, output }
    }

    /// The lines about one change, without the fixed ones around them.
    fn change(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        loop {
            let line = self.output.recv_timeout(DEADLOCK).unwrap_or_else(|_| panic!("no end after {lines:#?}"));
            match line.as_str() {
                "evalsuite: begin" => lines.clear(),
                "evalsuite: end" => return lines,
                _ => lines.push(line),
            }
        }
    }

    /// Waits until the terminal has shown all the texts, in this order.
    fn shows(&self, texts: &[&str]) {
        let mut shown = String::new();
        for text in texts {
            while !shown.contains(text) {
                match self.output.recv_timeout(DEADLOCK) {
                    Ok(piece) => shown.push_str(&piece),
                    Err(_) => panic!("`{text}` is not shown:\n{shown}"),
                }
            }
            let at = shown.find(text).expect("found") + text.len();
            shown.drain(..at);
        }
    }

    fn press(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        stdin.write_all(keys.as_bytes()).and_then(|()| stdin.flush()).expect("the terminal reads keys");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It has ended if the test has gone well so far.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn built_at(program: &Path) -> SystemTime {
    program.metadata().and_then(|data| data.modified()).expect("a program")
}

#[slow(builds)]
#[test]
fn saved_files_are_checked_and_their_cases_run_without_a_build() {
    let package = package("watched");
    let program = package.build(["--test", "evals", "--features", MORE_FEATURES]);
    let program = program.succeeds("the package is valid").executable("test", "evals");
    let watching = Watching::short(&package);
    let nothing = "evalsuite: 0 passed, 0 FAILED, 0 skipped; 0 problems";
    assert_eq!(watching.change(), [nothing], "nothing runs before a change");
    let built = built_at(&program);
    package.write("watch.log", nothing);
    let told = watching.output.recv_timeout(Duration::from_secs(1));
    assert!(told.is_err(), "a file of nobody, to which the output may go: {told:?}");

    let first = "suites/by_case/cases/first/case.yaml";
    package.write(first, &case("hello", "goodbye"));
    let failed = watching.change();
    assert!(
        failed[0].starts_with(&format!("{first}:1:1: error[failed]: by_case::first: evaluation failed")),
        "{failed:?}"
    );
    assert_eq!(failed[1..], ["evalsuite: 0 passed, 1 FAILED, 0 skipped; 0 problems"]);

    package.write(first, &case("hello", "hello").replace("input", "inptu"));
    let malformed = watching.change();
    let check = Call::program(PROGRAM, &package).args(["check", "--format", "short"]).run();
    let check: Vec<&str> = check.stdout.lines().collect();
    assert!(check.iter().any(|line| line.contains("error[E019]: unknown key `inptu`")), "{check:?}");
    assert_eq!(malformed[..check.len()], check, "the diagnostics of `check`");
    package.write(first, &case("hello", "hello"));
    assert_eq!(watching.change(), ["evalsuite: 1 passed, 0 FAILED, 0 skipped; 0 problems"]);
    package.write(first, &suites::case("hello", "hello"));
    let weak = watching.change();
    assert!(weak[0].starts_with(&format!("{first}:3:5: warning[W030]: case `first` passes without work")), "{weak:?}");
    assert_eq!(weak[1..], ["evalsuite: 1 passed, 0 FAILED, 0 skipped; 1 problem"]);
    package.write(first, &case("hello", "hello"));
    assert_eq!(watching.change(), ["evalsuite: 1 passed, 0 FAILED, 0 skipped; 0 problems"]);
    let runs = || package.records().of_case("first").len();
    let before = runs();
    package.write("suites/by_case/cases/first/workspace/note.txt", "after");
    watching.change();
    assert_eq!(runs(), before + 1, "a file of its workspace concerns the case");
    package.write(
        "suites/by_case/EVAL.yaml",
        "description: Small cases.\nassertions:\n  - { type: contains, value: after }\n",
    );
    let shared = watching.change();
    assert_eq!(shared.last().expect("a line"), "evalsuite: 1 passed, 1 FAILED, 0 skipped; 0 problems");
    assert_eq!(built_at(&program), built, "nothing of this needs a build");

    package.write("suites/by_case/cases/third/case.yaml", &case("after all", "all"));
    let added = watching.change();
    assert_eq!(added.last().expect("a line"), "evalsuite: 2 passed, 1 FAILED, 0 skipped; 0 problems");
    package.write("suites/by_case/cases/third/case.yaml", &case("after all", "nothing"));
    let failed = watching.change();
    let line = "suites/by_case/cases/third/case.yaml:1:1: error[failed]: by_case::third: evaluation failed: third";
    assert!(failed.iter().any(|failed| failed.starts_with(line)), "{failed:?}");
    assert_eq!(failed.last().expect("a line"), "evalsuite: 1 passed, 2 FAILED, 0 skipped; 0 problems");
    package.remove("suites/by_case/cases/third");
    let gone = watching.change();
    assert_eq!(gone.last().expect("a line"), "evalsuite: 1 passed, 1 FAILED, 0 skipped; 0 problems");
    let skipped = case("after all", "all").replace("input", "requires: { env: [NO_SUCH_VARIABLE] }\ninput");
    package.write("suites/by_case/cases/third/case.yaml", &skipped);
    let skipped = watching.change();
    assert_eq!(skipped.last().expect("a line"), "evalsuite: 1 passed, 1 FAILED, 1 skipped; 0 problems");
    let tagged = case("after all", "all").replace("input", "tags: [late]\ninput");
    package.write("suites/by_case/cases/third/case.yaml", &tagged);
    let again = watching.change();
    assert_eq!(again.last().expect("a line"), "evalsuite: 2 passed, 1 FAILED, 0 skipped; 0 problems");
    let has_own_tag = |record: &Value| record["tags"] == json!(["late"]);
    assert!(package.records().of_case("third").iter().any(has_own_tag), "a new case has its own tags");
    assert_eq!(built_at(&program), built, "a new case needs no build");
    let (own, others) = (package.records_directory().join("watch/latest"), package.records_directory().join("latest"));
    assert!(own.is_file() && !others.exists(), "runs of `watch` are not those that `report` shows");

    package.write("tests/evals.rs", &TESTS.replace("Ok(format!", "Ok(fromat!"));
    let broken = watching.change();
    assert!(
        broken.iter().any(|line| line.starts_with("tests/evals.rs:6:8: error: cannot find macro `fromat`")),
        "{broken:?}"
    );
    let summary = broken.last().expect("a line");
    assert!(summary.starts_with("evalsuite: 0 passed, 0 FAILED, 0 skipped, 3 outdated; "), "{broken:?}");
    package.write("tests/evals.rs", &TESTS.replace("{} {note}", "{} {note} after"));
    let mended = watching.change();
    assert_ne!(built_at(&program), built, "an edit of a source needs a build");
    assert_eq!(mended, ["evalsuite: 3 passed, 0 FAILED, 0 skipped; 0 problems"], "every case runs again after a build");

    // What the edit breaks is not green any more, although nothing failed before.
    package.write("tests/evals.rs", &TESTS.replace("{} {note}", "{:.0}"));
    let worse = watching.change();
    assert_eq!(worse.last().expect("a line"), "evalsuite: 0 passed, 3 FAILED, 0 skipped; 0 problems");
}

#[slow(builds)]
#[test]
fn a_valid_case_runs_while_the_file_of_another_one_is_broken() {
    let package = package("watched_broken");
    package.build(["--test", "evals", "--features", MORE_FEATURES]).succeeds("the package is valid");
    let watching = Watching::short(&package);
    watching.change();
    let [first, second] = ["first", "second"].map(|case| format!("suites/by_case/cases/{case}/case.yaml"));
    let broken = case("hello", "hello").replace("input", "inptu");
    let runs = |case: &str| package.records().of_case(case).len();
    let last = |lines: &[String]| lines.last().expect("a line").clone();
    package.write(&first, &broken);
    assert_eq!(last(&watching.change()), "evalsuite: 0 passed, 0 FAILED, 0 skipped; 1 problem");
    package.write(&second, &case("hello", "goodbye"));
    let failed = watching.change();
    assert!(failed.iter().any(|line| line.contains("error[failed]: by_case::second")), "{failed:?}");
    assert_eq!(last(&failed), "evalsuite: 0 passed, 1 FAILED, 0 skipped; 1 problem", "{failed:?}");
    package.write(&second, &case("hello", "hello"));
    let passed = watching.change();
    assert!(passed.iter().any(|line| line.contains("error[E019]")), "{passed:?}");
    assert_eq!(last(&passed), "evalsuite: 1 passed, 0 FAILED, 0 skipped; 1 problem", "{passed:?}");
    package.write(&first, &broken.replace("hello", "hallo"));
    watching.change();
    assert_eq!((runs("first"), runs("second")), (0, 2), "a broken case does not run");
    // What all cases share has to be valid.
    package.write("suites/by_case/EVAL.yaml", "nmae: shop\n");
    watching.change();
    package.write(&second, &case("hello", "nothing"));
    watching.change();
    assert_eq!(runs("second"), 2);
}

#[slow(builds)]
#[test]
fn every_edit_is_built_and_no_verdict_is_that_of_an_older_program() {
    let package = package("watched_edits");
    let evals = |prefix: &str| TESTS.replace("{} {note}", &format!("{{}} {prefix} {{note}}"));
    let prompt = "prompts/system.txt";
    let other = TESTS.replace("by_case\")", "by_case\", name = other)");
    let (tool, shared) = ("prompts/tool.txt", "suites/by_case/shared.txt");
    let texts = "include_str!(\"../prompts/system.txt\"), include_str!(\"../suites/by_case/shared.txt\")";
    let other = other
        .replace("let note =", &format!("let _ = ({texts}, env!(\"CARGO_BIN_EXE_watched_edits\"));\n    let note ="));
    package.write(prompt, "Be kind.").write("tests/evals.rs", &evals("")).write("tests/other.rs", &other);
    package.write(tool, "Search.").write(shared, "Pay.");
    package.write("src/main.rs", "fn main() {\n    print!(include_str!(\"../prompts/tool.txt\"))\n}\n");
    let [first, second] = ["first", "second"].map(|case| format!("suites/by_case/cases/{case}/case.yaml"));
    let watching = Watching::short_of(&package, &["--test", "evals", "--test", "other"]);
    let last = || watching.change().pop().expect("a line");
    assert_eq!(last(), "evalsuite: 0 passed, 0 FAILED, 0 skipped; 0 problems");
    package.write(&first, &case("hello", "hello there"));
    assert_eq!(last(), "evalsuite: 0 passed, 2 FAILED, 0 skipped; 0 problems");

    // A file of another program is saved while the first edit is built.
    package.write("tests/evals.rs", &evals("there"));
    thread::sleep(Duration::from_millis(300));
    package.write("tests/other.rs", &format!("{other}\n"));
    assert_eq!(last(), "evalsuite: 3 passed, 1 FAILED, 0 skipped; 0 problems");

    package.write(&second, &case("hello", "hello").replace("input", "inptu"));
    watching.change();
    package.write("tests/evals.rs", &evals(""));
    assert!(last().starts_with("evalsuite: 0 passed, 0 FAILED, 0 skipped, 4 outdated; "));
    package.write(&first, &case("hello", "hello there "));
    assert!(
        last().starts_with("evalsuite: 0 passed, 0 FAILED, 0 skipped, 4 outdated; "),
        "the program is an older one"
    );
    package.write(&second, &case("hello", "hello"));
    assert_eq!(last(), "evalsuite: 2 passed, 2 FAILED, 0 skipped; 0 problems");

    let runs = || package.records().of_case("second").len();
    for file in [prompt, tool, shared] {
        let before = runs();
        package.write(file, "Be brief.");
        assert_eq!(last(), "evalsuite: 2 passed, 2 FAILED, 0 skipped; 0 problems");
        assert!(runs() > before, "the compiler has read {file}");
    }
}

#[slow(builds)]
#[test]
fn an_edit_of_another_package_of_the_workspace_is_built() {
    let package = Package::workspace("watched_agent", &["agent", "evals"]);
    let manifest =
        Package::manifest("evals").replace("[dependencies]\n", "[dependencies]\nagent = { path = \"../agent\" }\n");
    package
        .write("agent/Cargo.toml", "[package]\nname = \"agent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .write("agent/src/lib.rs", "compile_error!(\"first\");\n")
        .write("evals/Cargo.toml", &manifest)
        .write("evals/build.rs", suites::BUILD_SCRIPT)
        .write("evals/src/lib.rs", "")
        .write("evals/tests/evals.rs", TESTS)
        .write("evals/suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("evals/suites/by_case/cases/first/case.yaml", &case("hello", "hello"));
    let watching = Watching::short(&package);
    let error = |text: &str| vec![format!("agent/src/lib.rs:1:1: error: {text}")];
    assert_eq!(watching.change()[..1], error("first"));
    package.write("agent/src/lib.rs", "compile_error!(\"second\");\n");
    assert_eq!(watching.change()[..1], error("second"));
}

/// Waits for something that takes as long as the machine is busy.
fn within_a_minute<T>(expected: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..3_000 {
        if let Some(found) = look() {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("expected: {expected}");
}

/// A package whose build never ends, and the file with the process id of its compiler.
#[cfg(target_os = "linux")]
fn endless_build(name: &str) -> (Package, PathBuf) {
    let package = package(name);
    let marker = package.root().join("compiler.pid");
    // The compiler of the build never ends, and says which process it is.
    package.write("tests/evals.rs", "").write(
        "build.rs",
        &format!(
            "fn main() {{\n    std::fs::write({:?}, std::process::id().to_string()).unwrap();\n    \
         std::thread::sleep(std::time::Duration::from_secs(3600));\n}}\n",
            marker
        ),
    );
    (package, marker)
}

#[cfg(target_os = "linux")]
fn compiler(marker: &Path) -> PathBuf {
    let process =
        within_a_minute("the compiler runs", || fs::read_to_string(marker).ok().filter(|text| !text.is_empty()));
    fs::remove_file(marker).expect("the marker");
    Path::new("/proc").join(process.trim()).join("cmdline")
}

/// A process that has ended may be there without a command line until its parent looks at it.
#[cfg(target_os = "linux")]
fn ends(process: &Path) {
    within_a_minute("the compiler ends", || fs::read(process).map_or(true, |line| line.is_empty()).then_some(()));
}

#[slow(builds)]
#[test]
#[cfg(target_os = "linux")]
fn the_compilers_end_with_watch() {
    use std::os::unix::process::ExitStatusExt;

    let (package, marker) = endless_build("watched_signals");
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let mut watching = Watching::short(&package);
        let compiler = compiler(&marker);
        let sent = std::process::Command::new("kill").args(["-s", name, &watching.child.id().to_string()]).status();
        assert!(sent.expect("the signal is sent").success());
        assert_eq!(watching.child.wait().expect("it ends").signal(), Some(number), "{name}");
        ends(&compiler);
    }
}

#[slow(builds)]
#[needs(script)]
#[test]
#[cfg(target_os = "linux")]
fn the_compilers_end_with_the_screen() {
    let (package, marker) = endless_build("watched_build");
    for key in ["q", "\u{3}"] {
        let mut watching = Watching::on_screen(&package, "evals", "true");
        watching.shows(&["building"]);
        let compiler = compiler(&marker);
        watching.press(key);
        assert_eq!(watching.child.wait().expect("it ends").code(), Some(0));
        ends(&compiler);
    }
}

#[slow(builds)]
#[needs(script)]
#[test]
fn the_screen_shows_the_last_verdicts_and_takes_keys() {
    let package = package("watched-screen");
    let editor = package.root().join("editor.sh");
    package.write("editor.sh", "#!/bin/sh\necho \"$1\" > opened.txt.part && mv opened.txt.part opened.txt\n");
    let mut watching = Watching::on_screen(&package, "evals", &format!("sh {}", editor.display()));
    watching.shows(&["q quit", "waiting for changes", "0 passed"]);
    let first = "suites/by_case/cases/first/case.yaml";
    package.write(first, &case("hello", "goodbye"));
    watching.shows(&["1 FAILED", "FAILED   by_case::first", "evaluation failed"]);
    watching.press("o");
    watching.shows(&["1 FAILED", "FAILED   by_case::first"]);
    let opened = fs::read_to_string(package.root().join("opened.txt")).expect("the editor has run");
    assert_eq!(opened.trim(), package.root().join(first).display().to_string());
    watching.press("/second");
    watching.shows(&["filter: second"]);
    watching.press("\r");
    watching.shows(&["only second"]);
    watching.press("a");
    watching.shows(&["1 passed", "passed   by_case::second"]);
    watching.press("/");
    watching.shows(&["filter: second"]);
    watching.press("\x7f\x7f\x7f\x7f\x7f\x7f\r");
    watching.shows(&["a all"]);
    package.write(first, &case("hello", "hello"));
    watching.shows(&["2 passed", "passed   by_case::first"]);
    package.write(first, "inptu: hello\n");
    watching.shows(&["error[E019 unknown-key]: unknown key `inptu`"]);
    watching.press("f");
    watching.press("q");
    let ended = watching.child.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0));
}

/// What an author does in the first minutes, all of it on a terminal.
#[slow(builds)]
#[needs(script)]
#[test]
fn a_new_suite_is_edited_broken_checked_watched_fixed_and_run() {
    let package = Package::new("author_walk");
    package.write("src/lib.rs", "");
    let on_terminal = |arguments: &str| {
        let line = format!("stty cols 80 && exec {PROGRAM} evalsuite {arguments}");
        Call::on_terminal(&line, &package).with_cargo().without_env("CI").run()
    };
    on_terminal("new suite basics --layout cases").succeeds("it is written").says("created suites/basics/EVAL.yaml");
    // The agent greets, whatever it is asked.
    let addition = "input: What is 17 + 25?\nassertions: [{ type: contains, value: jour }]\n";
    let greeting = "input: Say hello.\nassertions: [{ type: icontains, value: bonjour }]\n";
    let broken = greeting.replace("icontains", "icontans");
    package.write("suites/basics/cases/addition/case.yaml", addition);
    package.write("suites/basics/cases/greeting/case.yaml", &broken);
    let checked = on_terminal("check");
    assert_eq!(checked.code, Some(1), "{}", checked.transcript());
    checked.says("unknown grader `icontans`").says("did you mean `icontains`").says("\u{1b}[");
    let mut watching = Watching::on_screen(&package, "basics", "true");
    watching.shows(&["unknown grader `icontans`"]);
    package.write("suites/basics/cases/greeting/case.yaml", greeting);
    watching.shows(&["passed   basics::greeting"]);
    watching.press("q");
    assert_eq!(watching.child.wait().expect("it ends").code(), Some(0));
    on_terminal("run --test basics").succeeds("both cases pass").says("basics: 2 passed, 0 failed, 0 error");
    on_terminal("show greeting").succeeds("it has run").says("Say hello.");
}

#[slow(builds)]
#[test]
fn a_package_without_evalsuite_is_told_how_to_add_it() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("Cargo.toml", "[package]\nname = \"empty\"\n");
    write("src/lib.rs", "");
    let watch =
        || assert_cmd::Command::new(PROGRAM).args(["evalsuite", "watch"]).current_dir(root.path()).assert().code(2);
    let text = |assert: assert_cmd::assert::Assert| String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    let error = text(watch());
    assert!(error.contains("no suite found") && error.contains("cargo evalsuite new suite"), "{error}");
    write("suites/x/EVAL.yaml", "tests:\n  - { id: a, input: hi, criteria: polite }\n");
    let error = text(watch());
    assert!(
        error.contains("no tested package depends on evalsuite") && error.contains("cargo add --dev evalsuite"),
        "{error}"
    );
}
