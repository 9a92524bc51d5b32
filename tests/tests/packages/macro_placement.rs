//! Where the macro can be called, and the error elsewhere.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Package, suites};

fn with_suite(package: Package) -> Package {
    package
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    package
}

#[slow(builds)]
#[test]
fn one_file_can_include_several_suites_under_other_names_and_through_other_macros() {
    let package = with_suite(Package::new("several_calls"));
    package.library(suites::AGENT).write(
        "tests/evals.rs",
        r#"
        use several_calls::agent;

        // A macro of the user passes the path on as a literal and as an expression, and the agent as a path.
        macro_rules! suite {
            ($path:literal) => { evalsuite::include_eval_suite!($path, agent = agent); };
            ($path:expr, $agent:path, $name:ident) => {
                evalsuite::include_eval_suite!($path, agent = $agent, name = $name);
            };
        }

        suite!("suites/by_task");
        suite!("suites/by_case", several_calls::echo, by_expression);

        mod inner {
            evalsuite::include_eval_suite! { "suites/by_task", agent = |trial: &mut evalsuite::Trial<'_>| {
                Ok::<_, std::fmt::Error>(trial.prompt().to_owned())
            } }
        }

        use evalsuite::include_eval_suite as suite_of;
        suite_of!("suites/by_case/EVAL.yaml", agent = several_calls::agent, name = r#as);

        #[test]
        fn suites_can_be_used_beside_their_tests() {
            assert_eq!(by_task::SUITE.cases().len(), 1);
            assert_eq!(by_expression::evals().suite().name(), "by_case");
        }
        "#,
    );
    let ran = package.cargo(["test"]).run().succeeds("all calls expand");
    let expected = ["by_task::top", "by_expression::first", "inner::by_task::top", "r#as::first"];
    for name in expected.into_iter().chain(["by_task::suite_check", "suites_can_be_used_beside_their_tests"]) {
        ran.says(&format!("test {name} ... ok"));
    }
    ran.is_silent_about("warning");
}

#[slow(builds)]
#[test]
fn a_path_that_starts_with_a_dot_is_relative_to_the_source_file() {
    let package = Package::new("dotted");
    package
        .write("src/lib.rs", &format!("{}\nmod deep;", suites::AGENT))
        .write("src/deep/mod.rs", "mod deeper;")
        .write("src/deep/deeper.rs", "use crate::{agent, echo};\nevalsuite::include_eval_suite!(\"./suite_of_module\");\nevalsuite::include_eval_suite!(\"./by_case.eval.yaml\");")
        .write("src/deep/suite_of_module/suite.json", suites::SUITE_JSON)
        .write("src/deep/suite_of_module/tasks/top.json", &suites::task("top", "hello", "hello"))
        .write("src/deep/by_case.eval.yaml", "tests:\n  - id: inline\n    input: hello\n    assertions: [{ type: contains, value: hello }]\n");
    let ran = package.cargo(["test"]).run().succeeds("suites beside the source are found");
    ran.says("test deep::deeper::suite_of_module::top ... ok").says("test deep::deeper::by_case::inline ... ok");
    package.write(
        "src/deep/by_case.eval.yaml",
        "tests:\n  - id: changed\n    input: hello\n    assertions: [{ type: contains, value: hello }]\n",
    );
    let ran = package.cargo(["test"]).run().succeeds("the edit is seen");
    ran.says("test deep::deeper::by_case::changed ... ok").is_silent_about("inline");
}

#[slow(builds)]
#[test]
fn suites_of_a_workspace_member_are_below_its_folder_and_shown_relative_to_the_workspace() {
    let workspace = Package::workspace("of_members", &["agents/one", "agents/two"]);
    for member in ["one", "two"] {
        let write = |path: &str, content: &str| workspace.write(&format!("agents/{member}/{path}"), content);
        write("Cargo.toml", &Package::manifest(member));
        write("build.rs", suites::BUILD_SCRIPT);
        write("src/lib.rs", suites::AGENT);
        write("tests/evals.rs", &format!("use {member}::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\");"));
        write("suites/by_case/EVAL.yaml", suites::EVAL_YAML);
        write(
            "suites/by_case/cases/first/case.yaml",
            &suites::case("hello", if member == "one" { "hello" } else { "goodbye" }),
        );
    }
    let ran = workspace.cargo(["test", "--workspace", "--no-fail-fast"]).run().fails("the case of one member fails");
    ran.says("test by_case::first ... ok").says("test by_case::first ... FAILED");
    ran.says("agents/two/suites/by_case/cases/first/case.yaml:3:5").is_silent_about("agents/one/suites");

    workspace.write("agents/two/suites/by_case/cases/first/case.yaml", "input: hello\nasserts: []\n");
    let build = workspace.build(["-p", "two"]).fails("the mistake is an error");
    let transcript = build.transcript();
    assert!(transcript.contains(" --> agents/two/suites/by_case/cases/first/case.yaml:2:1"), "{transcript}");
    workspace.build(["-p", "one"]).succeeds("the other member is not affected");
}

#[slow(builds)]
#[test]
fn paths_of_a_package_outside_of_a_workspace_are_relative_to_the_package() {
    let package = with_suite(Package::outside_of_workspaces("on_its_own"));
    package.write("build.rs", suites::BUILD_SCRIPT).write(
        "src/main.rs",
        &format!("{}\nevalsuite::include_eval_suite!(\"suites/by_case\");\nfn main() {{}}", suites::AGENT),
    );
    package.write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "goodbye"));
    let ran = package.cargo(["test"]).run().fails("the case fails");
    ran.says("  suites/by_case/cases/first/case.yaml:3:5\n");
}

#[slow(builds)]
#[test]
fn in_a_function_or_an_expression_the_error_says_where_the_call_belongs() {
    let package = with_suite(Package::new("misplaced"));
    package.library(suites::AGENT);
    let table = [
        ("statement", "fn f() { evalsuite::include_eval_suite!(\"suites/by_case\"); }"),
        ("braces", "fn f() { evalsuite::include_eval_suite! { \"suites/by_case\" } }"),
        ("expression", "fn f() { let suite = evalsuite::include_eval_suite!(\"suites/by_case\"); drop(suite); }"),
        ("argument", "fn f() { drop(evalsuite::include_eval_suite!(\"suites/by_case\")); }"),
        ("constant", "static ALL: usize = evalsuite::include_eval_suite!(\"suites/by_case\");"),
    ];
    for (name, code) in table {
        let file = format!("tests/{name}.rs");
        package.write(&file, &format!("use misplaced::agent;\n{code}\n"));
        let build = package.build(["--test", name]).fails("the macro expands to items only");
        let errors: Vec<&str> = build.errors(name).iter().map(|error| error.rendered.as_str()).collect();
        assert!(
            errors
                .iter()
                .all(|error| error.contains("makes a module of tests; write it outside of functions and expressions")),
            "{name}: expected every error to say where the macro belongs\n{}",
            errors.join("\n")
        );
        assert!(errors.len() == 1, "{name}: expected one error\n{}", errors.join("\n"));

        package.remove(&file);
    }
}

#[slow(builds)]
#[test]
fn a_suite_named_like_its_crate_can_have_another_name_where_that_hides_the_crate() {
    let package = Package::new("named_like_suite");
    package
        .write("suites/named_like_suite/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/named_like_suite/cases/first/case.yaml", &suites::case("hello", "hello"))
        .library(suites::AGENT);
    let file = |name: &str, code: &str| package.write(&format!("tests/{name}.rs"), code);
    let call = "evalsuite::include_eval_suite!(\"suites/named_like_suite\"";
    file("imports", &format!("use named_like_suite::agent;\n{call});"));
    let build = package.build(["--test", "imports"]).fails("the import is ambiguous");
    let is_named = build.errors("imports").iter().any(|error| error.message == "`named_like_suite` is ambiguous");
    assert!(is_named, "expected rustc to name the two\n{}", build.transcript());
    package.remove("tests/imports.rs");

    file("named", &format!("use named_like_suite::agent;\n{call}, name = greets);"));
    file("global", &format!("use ::named_like_suite::agent;\n{call});"));
    file("elsewhere", &format!("mod inner {{ pub use named_like_suite::agent; }}\nuse inner::agent;\n{call});"));
    package.build([]).succeeds("the crate is not hidden");
}

#[slow(builds)]
#[test]
fn records_can_be_written_anywhere_but_below_a_tracked_directory() {
    let package = Package::new("watched");
    let inline = "tests: [{ id: inline, input: hello, assertions: [{ type: contains, value: hello }] }]\n";
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(suites::AGENT)
        .write(
            "tests/evals.rs",
            "use watched::agent;\nevalsuite::include_eval_suite!(\"beside.eval.yaml\");\n\
             evalsuite::include_eval_suite!(\"suites/by_task\", agent = agent);",
        )
        .write("beside.eval.yaml", inline)
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    let run = |output: &str| package.cargo(["test"]).env("EVALSUITE_OUTPUT", package.root().join(output)).run();
    run("target/evalsuite").succeeds("the suite beside the manifest is not the whole package");
    for (output, says) in [
        ("suites/../suites/by_task/out", "is in the suite; set EVALSUITE_OUTPUT to another directory"),
        ("suites/out", "suites, which the build script tracks; set EVALSUITE_OUTPUT to another directory"),
    ] {
        run(output).fails("each record would cause a rebuild").says(says);
        assert!(!package.root().join(output).exists(), "nothing is written there");
    }
    let build = package.build([]).succeeds("the package builds");
    assert_eq!(build.rebuilt(), [] as [&str; 0], "expected the runs to have written below no tracked directory");
}
