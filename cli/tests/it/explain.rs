//! `cargo evalsuite explain`, run as a program.

use crate::package::Package;

#[test]
fn a_diagnostic_is_explained_by_its_code_or_name() {
    let package = Package::new(&[]);
    let output = package.run(&["explain", "E019"]);
    assert_eq!(output.code, 0, "{}", output.out);
    assert!(output.out.starts_with("E019 unknown-key\n\nA key is not one"), "{}", output.out);
    assert!(output.out.contains("error[E019 unknown-key]: unknown key `asserts` in a case"), "{}", output.out);
    assert!(output.out.contains("\nFix: Correct the spelling"), "{}", output.out);
    assert!(!output.out.contains("E020"), "only one section:\n{}", output.out);
    assert_eq!(package.run(&["explain", "e019"]).out, output.out);
    assert_eq!(package.run(&["explain", "unknown-key"]).out, output.out);
}

#[test]
fn the_last_error_ends_before_the_warnings() {
    let output = Package::new(&[]).run(&["explain", "E078"]);
    assert!(!output.out.contains("Warnings") && !output.out.contains('#'), "{}", output.out);
}

#[test]
fn all_diagnostics_are_listed() {
    let output = Package::new(&[]).run(&["explain"]);
    assert_eq!(output.code, 0);
    assert!(output.out.starts_with("E001 unreadable-file\n"), "{}", output.out);
    assert!(output.out.contains("\nW001 deprecated-key\n"), "{}", output.out);
}

#[test]
fn an_unknown_diagnostic_is_an_error_with_a_suggestion() {
    let output = Package::new(&[]).run(&["explain", "unknown-kez"]);
    assert_eq!(output.code, 2);
    assert_eq!(
        output.err,
        "error: `unknown-kez` is not a diagnostic\n  = help: did you mean `unknown-key` or `unknown-user`?\n"
    );
    let output = Package::new(&[]).run(&["explain", "everything"]);
    let help = "`cargo evalsuite explain` lists the diagnostics";
    assert_eq!(output.err, format!("error: `everything` is not a diagnostic\n  = help: {help}\n"));
}
