//! `cargo evalsuite health`, run as a program.

use crate::package::Package;
use evalsuite_tests::synthetic_run::SyntheticRun;

fn package() -> Package {
    let package = Package::new(&[]);
    for (index, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let mut run = SyntheticRun::new(id, 30, 3);
        run.started_at = format!("2026-11-2{index}T08:00:00.000Z");
        run.write(&package.root().join("out"));
    }
    package
}

#[test]
fn the_window_and_the_findings_are_printed() {
    let package = package();
    let output = package.run_in_output(&["health"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    let window = "4 runs: a (2026-11-20T08:00:00.000Z) to d (2026-11-23T08:00:00.000Z)\n";
    assert!(output.out.starts_with(window), "{}", output.out);
    assert!(output.out.contains("\nrefunds @ default: "), "{}", output.out);
    assert!(output.out.contains("\n  flaky on one commit"), "{}", output.out);
    let arguments =
        ["health", "repair", "--window", "2", "--mature", "0.5", "--graduation-runs", "2", "--format", "json"];
    let output = package.run_in_output(&arguments);
    assert_eq!(output.code, 0, "{}", output.err);
    let health = package.json("health", &output.out);
    assert_eq!((&health["schema"], &health["window"][1]["run"]), (&"evalsuite.health/1".into(), &"c".into()));
    let suites = health["suites"].as_array().unwrap();
    assert!(suites.iter().all(|suite| suite["suite"] == "repair"), "{suites:?}");
    assert!(suites.iter().any(|suite| !suite["graduates"].as_array().unwrap().is_empty()), "{suites:?}");
}

#[test]
fn a_suite_is_found_by_its_name_with_its_package() {
    let package = package();
    let named = package.run_in_output(&["health", "repair"]);
    let with_package = package.run_in_output(&["health", "support-agent/repair"]);
    assert_eq!((with_package.code, &with_package.out), (0, &named.out), "{}", with_package.err);
}

#[test]
fn what_cannot_be_looked_at_is_an_error() {
    let package = package();
    for (arguments, error) in [
        (["health", "unknown"].as_slice(), "has results of suite `unknown`"),
        (&["health", "repare"], "of suite `repare`\n  = help: did you mean `repair`?"),
        (&["health", "--mature", "95"], "error: --mature must be between 0 and 1, and is 95"),
        (&["health", "--window", "0"], "expected a number greater than 0"),
    ] {
        let output = package.run_in_output(arguments);
        assert_eq!((output.code, output.out.as_str()), (2, ""));
        assert!(output.err.contains(error), "{}", output.err);
    }
    std::fs::remove_dir_all(package.root().join("out")).unwrap();
    let output = package.run_in_output(&["health"]);
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with("error: there are no runs with results in "), "{}", output.err);
    assert!(output.err.contains("\n  = help: `cargo evalsuite run` creates one; "), "{}", output.err);
}
