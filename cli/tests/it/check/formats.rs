//! Output formats.

use crate::package::{Package, TASK};

#[test]
fn json_is_one_object_per_line() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let output = package.run(&["check", "--format", "json"]);
    assert_eq!(output.code, 1);
    assert!(!output.out.is_empty());
    for line in output.out.lines() {
        let problem = package.json("check", line);
        assert_eq!(
            (&problem["severity"], &problem["file"]),
            (&"error".into(), &"suites/card_agent/tasks/a.json".into())
        );
    }
    let other = TASK.replace("Says hello.", "Says it.");
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("suites/card_agent/tasks/b.json", &other)]);
    let output = package.run(&["check", "--format", "json"]);
    let twice =
        output.out.lines().map(|line| package.json("check", line)).find(|problem| problem["name"] == "duplicate-id");
    let twice = twice.unwrap_or_else(|| panic!("two cases of one id: {}", output.out));
    assert_eq!(twice["related"][0]["file"], "suites/card_agent/tasks/a.json", "{twice}");
}

#[test]
fn github_gets_commands() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let output = package.run(&["check", "--format", "github"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.lines().all(|line| line.starts_with("::error file=suites/card_agent/tasks/a.json,line=1")),
        "{}",
        output.out
    );
}

#[test]
fn problems_of_calibrations_are_told_in_every_format() {
    let calibration = "minimum: {kapa: 1}\nsamples:\n  - {id: a, case: b, output: o, human_score: 2}\n";
    let package =
        Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("suites/card_agent/calibration.yaml", calibration)]);
    let file = "suites/card_agent/calibration.yaml";
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1);
    for (code, place) in [("E019 unknown-key", "1:11"), ("E078 too-few-samples", "3:3"), ("E024 out-of-range", "3:46")]
    {
        assert!(output.out.contains(&format!("error[{code}]")), "{code}\n{}", output.out);
        assert!(output.out.contains(&format!("--> {file}:{place}")), "{place}\n{}", output.out);
    }
    assert!(output.out.contains("did you mean `kappa`?"), "{}", output.out);
    let json = package.run(&["check", "--format", "json"]);
    let problems: Vec<evalsuite_schema::Value> =
        json.out.lines().map(|line| evalsuite_schema::json::from_str(line).expect("an object a line")).collect();
    assert!(problems.iter().any(|problem| problem["code"] == "E078"), "{}", json.out);
    assert!(problems.iter().all(|problem| problem.to_string().contains(file)), "{}", json.out);
    let github = package.run(&["check", "--format", "github"]);
    assert!(github.out.contains(&format!("::error file={file},line=1,")), "{}", github.out);
    assert_eq!(github.out.lines().count(), problems.len(), "{}", github.out);

    // What names cases is looked at where nothing else is wrong with them.
    let sample = |id: &str| format!("  - {{id: {id}, case: a, output: o, human_score: 1}}\n");
    package.write(file, &format!("samples:\n{}{}", sample("a"), sample("b")));
    let output = package.run(&["check"]);
    assert!(output.out.contains("error[E077 unknown-sample-case]: case `a` asks no judge"), "{}", output.out);
    package
        .write(file, &format!("samples:\n{}{}", sample("a"), sample("b")).replace("case: a", "input: q, criteria: c"));
    assert_eq!(package.run(&["check"]).out, "no problems in 1 suite with 1 test\n");
}

#[test]
fn a_problem_of_many_cases_is_shown_once_with_all_places_for_programs() {
    let wrong = |id: usize| {
        TASK.replace("\"a\"", &format!("\"{id}\"")).replace("\"description\"", "\"dificulty\": 1, \"description\"")
    };
    let package = Package::new(&[]);
    package.write("suites/many/suite.json", r#"{ "name": "many", "agent_name": "many" }"#);
    for id in 1..=9 {
        package.write(&format!("suites/many/tasks/{id}.json"), &wrong(id));
    }
    let text = package.run(&["check"]).out;
    assert_eq!(
        text.matches("error[E019 unknown-key]: unknown key `dificulty` in a task (9 times)").count(),
        1,
        "{text}"
    );
    assert!(text.contains("= note: suites/many/tasks/7.json:1:14: also here\n"), "{text}");
    assert!(text.contains("= note: and 2 more in 2 files\n"), "{text}");
    assert!(text.ends_with("1 error in 1 suite with 0 tests\n"), "{text}");

    let json = package.run(&["check", "--format", "json"]).out;
    let problem: evalsuite_schema::Value = evalsuite_schema::json::from_str(&json).expect("one object");
    let files: Vec<&str> =
        problem["related"].as_array().expect("a list").iter().filter_map(|place| place["file"].as_str()).collect();
    assert_eq!(files.len(), 8, "{json}");
    assert!(files.contains(&"suites/many/tasks/9.json"), "{json}");

    let github = package.run(&["check", "--format", "github"]).out;
    assert_eq!(github.lines().count(), 1, "{github}");
    assert!(github.contains("%0Anote: and 2 more in 2 files"), "{github}");
}

/// Nine wrong cases of one suite, with an error that they share and a warning.
fn many_problems() -> Package {
    let package = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n")]);
    for id in 1..=9 {
        let case = "input: hello\nassert:\n  - { type: contains, valeu: hello }\n";
        package.write(&format!("suites/shop/cases/c{id}/case.yaml"), case);
    }
    package
}

#[test]
fn short_lines_name_every_place() {
    let package = many_problems();
    let output = package.run(&["check", "--format", "short"]);
    assert_eq!(output.code, 1);
    assert_eq!(output.out.lines().count(), 9 * 2, "{}", output.out);
    let expected = [
        "suites/shop/cases/c1/case.yaml:2:1: warning[W001]: `assert` is now `assertions` (help: rename it to `assertions`)",
        "suites/shop/cases/c1/case.yaml:3:23: error[E019]: unknown key `valeu` in `contains` (help: did you mean `value`?)",
    ];
    for (line, expected) in output.out.lines().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
    let whole = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n"), ("suites/shop/cases/a/case.yaml", "")]);
    let output = whole.run(&["check", "--format", "short"]);
    assert!(output.out.starts_with("suites/shop/cases/a/case.yaml:1:1: error[E"), "{}", output.out);
}

#[test]
fn sarif_has_the_catalogue_as_rules_and_a_result_per_place() {
    let package = many_problems();
    let output = package.run(&["check", "--format", "sarif"]);
    assert_eq!(output.code, 1);
    let log: evalsuite_schema::Value = evalsuite_schema::json::from_str(&output.out).expect("one JSON object");
    assert_eq!((&log["version"], log["runs"].as_array().map(Vec::len)), (&"2.1.0".into(), Some(1)));
    let (rules, results) = (&log["runs"][0]["tool"]["driver"]["rules"], &log["runs"][0]["results"]);
    assert_eq!(results.as_array().map(Vec::len), Some(18), "{}", output.out);
    for result in results.as_array().expect("a list") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small number");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(rules[index]["defaultConfiguration"]["level"], result["level"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty() && !text.contains("times)")));
        assert!(["note", "warning", "error"].iter().any(|level| result["level"] == *level), "{result}");
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.starts_with("suites/")), "{result}");
        let region = ["startLine", "startColumn", "endLine", "endColumn"].map(|key| place["region"][key].as_u64());
        assert!(region.iter().all(|number| number.is_some_and(|number| number > 0)), "{result}");
    }
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "suites/shop/cases/c1/case.yaml");
    assert_eq!(
        place["region"],
        evalsuite_schema::json::json!({ "startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 7 })
    );

    let below = Package::new(&[]);
    std::fs::create_dir(below.root().join(".git")).expect("a repository");
    below.write("agents/shop/Cargo.toml", "[package]\nname = \"shop\"\n[workspace]\n");
    below.write("agents/shop/suites/a/EVAL.yaml", "tests: 1\n");
    let output = below.run(&["check", "agents/shop/suites/a", "--format", "sarif"]);
    assert!(output.out.contains("\"uri\":\"agents/shop/suites/a/EVAL.yaml\""), "{}", output.out);
}

#[test]
fn github_shows_ten_annotations_of_a_kind() {
    let package = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n")]);
    for id in 1..=12 {
        let case = format!("input: hello\nassertions:\n  - {{ type: contains, valeu{id}: hello }}\n");
        package.write(&format!("suites/shop/cases/c{id}/case.yaml"), &case);
    }
    let output = package.run(&["check", "--format", "github"]);
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines.len(), 10, "{}", output.out);
    assert_eq!(lines[9], "::error title=evalsuite::6 more errors; `cargo evalsuite check` shows them all");
}

#[test]
fn no_color_wins_over_a_request_for_colors() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", "{}")]);
    let colored = package.run_with(&["check"], &[("CLICOLOR_FORCE", "1")]);
    assert!(colored.out.contains('\u{1b}'), "{}", colored.out);
    let plain = package.run_with(&["check"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
    assert!(!plain.out.contains('\u{1b}'), "{}", plain.out);
}

#[test]
fn very_many_problems_are_counted_and_the_errors_are_printed_first() {
    let unknown: Vec<String> = (0..1500).map(|number| format!("x{number}")).collect();
    let yaml =
        format!("tests:\n- id: a\n  input: b\n  criteria: c\n  assert: [d]\n  depends_on: [{}]\n", unknown.join(", "));
    let package = Package::new(&[("suites/greet/EVAL.yaml", &yaml)]);
    let output = package.run(&["check", "suites/greet"]);
    assert_eq!(output.code, 1);
    assert_eq!(output.out.matches("error[E").count(), 1000);
    assert!(!output.out.contains("warning[W001 deprecated-key]"), "a warning takes the place of an error");
    assert!(output.out.ends_with("1500 errors, 1 warning in 1 suite with 0 tests\n"));
    assert_eq!(output.err, "note: the first 1000 problems are printed; there are 501 more\n");
    let lines = package.run(&["check", "suites/greet", "--format", "json"]).out;
    assert_eq!(lines.lines().count(), 1000);
}
