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
fn every_command_gets_a_man_page() {
    let package = Package::new(&[("man1/other.1", "mine")]);
    let output = package.run(&["man", "man1"]);
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "", ""));
    let page = |name: &str| std::fs::read_to_string(package.root().join("man1").join(name)).expect(name);
    assert!(page("cargo-evalsuite.1").contains("Exit status: 0 if all is well"));
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
    assert!(output.out.contains("Exit status: 0 if all is well, 1 if problems were found, 2 if"), "{}", output.out);
    let check = package.run(&["check", "--help"]);
    assert!(check.out.contains("Examples:\n  cargo evalsuite check\n"), "{}", check.out);
    assert!(!output.out.contains('\u{1b}') && !check.out.contains('\u{1b}'));
}
