//! All test programs that one cargo process starts are one run.

use evalsuite_tests::throwaway::{Call, Package, suites};

const CODE: &str = r#"
fn echo(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok(trial.prompt().to_owned())
}

evalsuite::include_eval_suite!("suites/steps", agent = echo);
"#;

fn package() -> Package {
    let package = suites::package_with_suite("runs-of-cargo", "steps", CODE);
    package.write("tests/more.rs", CODE);
    // A library whose examples are tests.
    package.write("Cargo.toml", &format!("{}\n[workspace]\n", Package::manifest("runs-of-cargo")));
    package.write("src/lib.rs", "//! ```\n//! assert_eq!(1, 1);\n//! ```\n");
    package.write("suites/steps/cases/hello/case.yaml", &suites::case("hello", "hello"));
    package
}

#[test]
fn test_programs_of_one_cargo_process_are_one_run() {
    let package = package();
    let runs = || package.records().runs();
    package.cargo(["test"]).run().succeeds("both programs and the doc test pass");
    assert_eq!((runs().len(), package.records().results().len()), (1, 2), "two programs: {:?}", runs());
    assert_eq!(runs()[0].len(), "20260104T091500Z-4be1f0".len());

    package.cargo(["test"]).run().succeeds("a second run");
    assert_eq!(runs().len(), 2, "another cargo process: {:?}", runs());

    let program = package.build([]).succeeds("it builds").executable("test", "evals");
    let direct = || Call::program(&program, &package).env("EVALSUITE_OUTPUT", package.records_directory()).run();
    for count in [3, 4] {
        direct().succeeds("the program runs by itself");
        assert_eq!(runs().len(), count, "each is a run of its own: {:?}", runs());
    }

    package.records().clear();
    let at_once = [(); 2].map(|()| package.cargo(["test", "--test", "evals", "--test", "more"]).spawn());
    for mut child in at_once {
        assert!(child.wait().expect("cargo ends").success());
    }
    assert_eq!((runs().len(), package.records().results().len()), (2, 4), "two at once: {:?}", runs());

    package.records().clear();
    package.cargo(["test"]).env("EVALSUITE_RUN_ID", "mine").run().succeeds("the given id counts");
    assert_eq!(runs(), ["mine"]);
}
