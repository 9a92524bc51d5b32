//! What people read on a terminal of 80 columns.

use crate::package::{Output, Package, TASK};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// Runs a command, and hides the name of the temporary directory.
fn run(package: &Package, arguments: &[&str]) -> Output {
    let records = package.root().join("out").display().to_string();
    let mut output = package.run_with(arguments, &[("EVALSUITE_OUTPUT", &records)]);
    let root = package.root().canonicalize().expect("a directory").display().to_string();
    output.out = output.out.replace(&root, "DIR").replace(&package.root().display().to_string(), "DIR");
    output
}

#[test]
fn help_fits_into_80_columns() {
    let package = Package::new(&[]);
    let overview = run(&package, &["--help"]).out;
    assert_eq!(too_wide(&overview), None);
    let (_, rest) = overview.split_once("\n\nWrite suites:\n").expect("the commands");
    let (commands, _) = rest.split_once("\n\nOptions:\n").expect("an end");
    // Further lines about a command start with more spaces.
    let commands: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() > 20, "{overview}");
    for command in commands {
        let help = run(&package, &[command, "--help"]).out;
        // Examples are lines to copy, and stay as they are.
        let (text, examples) = help.split_once("\nExample").expect("examples");
        assert!(examples.contains(&format!("cargo evalsuite {command}")), "{examples}");
        assert_eq!(too_wide(text), None, "{command}");
        insta::assert_snapshot!(format!("help_{command}"), help);
    }
}

#[test]
fn no_text_of_a_run_affects_the_terminal() {
    let package = Package::new(&[]);
    let hostile = "\u{1b}[31mred\u{7}\u{202e}\nmissed  all";
    for (id, day, skill) in [("run-1", 20, 1.0), ("run-2", 21, 0.0)] {
        let mut run = SyntheticRun::new(id, 30, 2);
        (run.hostile, run.skill) = (Some(hostile.to_owned()), skill);
        run.started_at = format!("2026-11-{day}T08:00:00.000Z");
        run.write(&package.root().join("out"));
    }
    let records = package.root().join("out").display().to_string();
    for command in [
        "report",
        "list --runs",
        "health",
        "diff run-1 run-2 --by tag",
        "gate run-2 --require pass_rate>=1%",
        "gate run-2 --require pass_rate>=1% per tag --base run-1 --by tag",
        "finish run-2",
    ] {
        let arguments = command.replace("% per tag", "%\tper\ttag");
        let arguments: Vec<String> = arguments.split(' ').map(|argument| argument.replace('\t', " ")).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // The colors of a terminal, which would be left out in a pipe.
        let output = package.run_with(&arguments, &[("EVALSUITE_OUTPUT", &records), ("CLICOLOR_FORCE", "1")]);
        let text = output.out + &output.err;
        let found = text.chars().find(|letter| *letter != '\n' && (letter.is_control() || *letter == '\u{202e}'));
        assert_eq!(found, None, "{command}: {text:?}");
        assert!(!text.contains("\nmissed  all"), "a line of its own in `{command}`:\n{text}");
    }
}

/// The first line that is wider than 80 columns.
fn too_wide(text: &str) -> Option<&str> {
    text.lines().find(|line| line.chars().count() > 80)
}

#[test]
fn suites_and_runs_are_listed() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    SyntheticRun::new("run-1", 12, 1).write(&package.root().join("out"));
    for (name, arguments) in [("list", &["list"][..]), ("list_of_runs", &["list", "--runs"])] {
        let listed = run(&package, arguments).out;
        assert_eq!(too_wide(&listed), None);
        insta::assert_snapshot!(name, listed);
    }
}

#[test]
fn cases_whose_line_is_too_long_have_several() {
    let long = "tasks/ambiguous/a-directory-of-cases-with-long-names/a_case_whose_name_says_what_it_is_about.json";
    let graders: Vec<String> =
        (0..9).map(|n| format!(r#"{{ "name": "contains", "config": {{ "value": "{n}" }} }}"#)).collect();
    let task = |id: &str| {
        TASK.replace("\"a\"", &format!("\"{id}\""))
            .replace("\"graders\": [", &format!("\"graders\": [{}, ", graders.join(", ")))
    };
    let package = Package::new(&[
        (&format!("suites/card_agent/{long}"), &task("long")),
        ("suites/card_agent/tasks/b.json", &task("b")),
    ]);
    let listed = run(&package, &["list"]).out;
    let paths: Vec<&str> = listed.lines().filter(|line| line.contains(long)).collect();
    assert_eq!(paths, [format!("    suites/card_agent/{long}:1")], "a path stays on one line: {listed}");
    assert_eq!(listed.lines().filter(|line| !line.contains(long)).find_map(too_wide), None);
    insta::assert_snapshot!("list_of_long_lines", listed);
}

#[test]
fn runs_are_finished_merged_and_removed() {
    let package = Package::new(&[]);
    for part in ["one", "two"] {
        let mut run = SyntheticRun::new("run-1", 12, 1);
        run.started_at = "2026-11-20T08:00:00.000Z".to_owned();
        run.write(&package.root().join(part));
    }
    let merged = run(&package, &["merge", "one/runs/run-1", "two/runs/run-1", "--into", "out"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    insta::assert_snapshot!("merge", merged.out);
    let finished = run(&package, &["finish"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert_eq!(too_wide(&finished.out), None);
    insta::assert_snapshot!("finish", finished.out);
    let health = run(&package, &["health"]);
    assert_eq!((health.code, too_wide(&health.out)), (0, None), "{}", health.err);
    insta::assert_snapshot!("health", health.out);
    let gate = run(&package, &["gate", "--require", "pass_rate >= 60% per bucket"]);
    assert_eq!(too_wide(&gate.out), None);
    insta::assert_snapshot!("gate", gate.out);
    insta::assert_snapshot!("clean", run(&package, &["clean", "--keep", "0"]).out);
}

#[test]
fn conversions_are_reported() {
    let configuration = "prompts: ['Say {{word}}']\nproviders: [echo]\nenv: {A: b}\ntests:\n  - vars: {word: hi}\n    \
                         assert: [{type: contains, value: hi}, {type: similar, value: hello}]\n";
    let package = Package::new(&[("promptfooconfig.yaml", configuration)]);
    insta::assert_snapshot!("convert", run(&package, &["convert", ".", "suites/words"]).out);
}

#[evalsuite_needs::needs(script)]
#[test]
#[cfg(target_os = "linux")]
fn runs_have_two_lines_each_where_their_table_is_too_wide() {
    let package = Package::new(&[]);
    let out = package.root().join("out");
    SyntheticRun::new("20260104T091500Z-4be1f0", 12, 1).write(&out);
    let line =
        format!("stty cols 44; {} evalsuite list --runs", assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display());
    let mut command = assert_cmd::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("EVALSUITE_OUTPUT", &out).current_dir(package.root());
    let shown = String::from_utf8(command.output().expect("`script` runs").stdout).expect("UTF-8");
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "20260104T091500Z-4be1f0  refunds@default", "{shown}");
    assert!(lines[1].starts_with("  ") && lines[1].ends_with(" skipped"), "{shown}");
}

#[evalsuite_needs::needs(script)]
#[test]
#[cfg(target_os = "linux")]
fn tables_are_as_wide_as_the_terminal() {
    let package = Package::new(&[]);
    SyntheticRun::new("run-1", 12, 1).write(&package.root().join("out"));
    let widest = |columns: u32| {
        let line = format!(
            "stty cols {columns}; {} evalsuite report",
            assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display()
        );
        let mut command = assert_cmd::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("EVALSUITE_OUTPUT", package.root().join("out"));
        let output = command.current_dir(package.root()).output().expect("`script` runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("judge tokens"), "{text}");
        text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or_default()
    };
    assert!(widest(60) <= 60);
    assert!((81..=160).contains(&widest(160)));
    assert!(widest(0) <= 80, "a terminal that does not know its width");
}
