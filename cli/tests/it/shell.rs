//! `cargo evalsuite completions`, `man` and `--help`, run as a program.

use crate::package::Package;

#[test]
fn every_shell_gets_completions() {
    let package = Package::new(&[]);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = package.run(&["completions", shell]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{shell}");
        assert!(output.out.contains("cargo-evalsuite") && output.out.contains("deny-warnings"), "{}", output.out);
    }
    assert_eq!(package.run(&["completions", "csh"]).code, 2);
}

#[test]
fn bash_completes_the_options_of_every_command() {
    let script = Package::new(&[]).run(&["completions", "bash"]).out;
    let set: Vec<_> = script.lines().filter_map(|line| line.trim().strip_prefix("cmd=\"")?.strip_suffix('"')).collect();
    assert!(set.contains(&"cargo__evalsuite__subcmd__check"), "{script}");
    for name in set.into_iter().filter(|name| !name.is_empty()) {
        let handled = format!("\n        {name})\n            opts=");
        assert!(script.contains(&handled), "the script does not handle the state {name:?}, which it sets");
    }
}

#[test]
fn every_command_gets_a_man_page() {
    let package = Package::new(&[("man1/other.1", "mine")]);
    let output = package.run(&["man", "man1"]);
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "", ""));
    let page = |name: &str| std::fs::read_to_string(package.root().join("man1").join(name)).expect(name);
    assert!(page("cargo-evalsuite.1").contains("Exit status: 0 on success"));
    for name in ["check", "new", "new-suite", "show", "run", "man"] {
        assert!(page(&format!("cargo-evalsuite-{name}.1")).contains("cargo evalsuite"), "{name}");
    }
    assert_eq!(page("other.1"), "mine");
    let output = package.run(&["man", "missing"]);
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with("error: missing: "), "{}", output.err);
}

#[test]
fn help_has_the_exit_codes_and_no_colors_off_a_terminal() {
    let package = Package::new(&[]);
    let output = package.run(&["--help"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("Exit status: 0 on success, 1 if problems were found, 2 if"), "{}", output.out);
    let check = package.run(&["check", "--help"]);
    assert!(check.out.contains("Examples:\n  cargo evalsuite check\n"), "{}", check.out);
    assert!(!output.out.contains('\u{1b}') && !check.out.contains('\u{1b}'));
}

/// As in `cargo evalsuite check 2>&1 | head`, with a reader that has gone before the first line.
#[test]
fn a_reader_that_stops_reading_changes_no_exit_status() {
    let package = Package::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.0.0\"\n"),
        ("suites/good/EVAL.yaml", "name: good\ndescription: d\ntests:\n  - { id: a, input: x, criteria: y }\n"),
        ("suites/cases/EVAL.yaml", "name: cases\ndescription: d\n"),
        ("suites/cases/cases/a/case.yaml", "input: x\ncriteria: y\n"),
        ("suites/bad/EVAL.yaml", "name: bad\ndescription: d\ntests:\n  - { id: a, inputs: x }\n"),
    ]);
    let commands = [
        (&["check", "suites/good"][..], 0),
        (&["check", "suites/bad"], 1),
        (&["check", "suites/bad", "--format", "json"], 1),
        (&["list"], 1),
        (&["expand", "suites/bad"], 1),
        (&["explain"], 0),
        (&["schema", "case"], 0),
        (&["completions", "bash"], 0),
        (&["new", "case", "--suite", "suites/cases", "b", "--input", "x", "--contains", "x"], 0),
        (&["show", "missing"], 2),
    ];
    for (arguments, status) in commands {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let errors = writer.try_clone().expect("a pipe");
        drop(reader);
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-evalsuite"));
        program.args(arguments).current_dir(package.root()).stdout(writer).stderr(errors);
        assert_eq!(program.status().expect("the program").code(), Some(status), "{arguments:?}");
    }
}
