//! Commands on an Agent Skill, run as programs.

use std::fs;

use crate::package::Package;

const SKILL: &str = "---\nname: pdf-forms\ndescription: Fills in forms.\n---\n";

const EVALS: &str = r#"{
  "skill_name": "pdf-forms",
  "evals": [
    {
      "id": 1,
      "prompt": "Fill in the form",
      "expected_output": "A form",
      "expectations": ["Every field is filled in", {"name": "same-form", "description": "The form is the given one"}],
      "files": ["evals/files/form.txt"],
      "tags": ["forms"]
    },
    { "id": "weather", "prompt": "Will it rain?", "expected_output": "A forecast", "should_trigger": false }
  ]
}
"#;

fn package(evals: &str) -> Package {
    Package::new(&[
        ("skills/pdf-forms/SKILL.md", SKILL),
        ("skills/pdf-forms/evals/evals.json", evals),
        ("skills/pdf-forms/evals/files/form.txt", "Name:\n"),
        (".claude/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n"),
        (".claude/skills/other/evals/evals.json", r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["a"]}]}"#),
    ])
}

#[test]
fn skills_are_found_checked_and_listed() {
    let package = package(EVALS);
    for arguments in [vec!["check"], vec!["check", "skills", ".claude/skills/other"]] {
        let output = package.run(&arguments);
        assert_eq!((output.code, output.out.as_str()), (0, "no problems in 2 suites with 3 tests\n"), "{}", output.err);
    }
    for path in ["skills/pdf-forms/SKILL.md", "skills/pdf-forms/evals/evals.json", "skills/pdf-forms"] {
        let output = package.run(&["check", path]);
        assert_eq!(output.out, "no problems in 1 suite with 2 tests\n", "{path}: {}", output.err);
    }
    let output = package.run_in_output(&["list"]);
    let evals = "skills/pdf-forms/evals/evals.json";
    assert!(output.out.contains("pdf-forms (skills/pdf-forms)\n"), "{}", output.out);
    assert!(output.out.contains(&format!("  1        {evals}:4   expectations\n")), "{}", output.out);
    assert!(output.out.contains(&format!("  weather  {evals}:12  expected-output,")), "{}", output.out);

    let wrong = EVALS.replace("expected_output", "expected_outptu");
    package.write("skills/pdf-forms/evals/evals.json", &wrong);
    let output = package.run(&["check", "--format", "short"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains(&format!("{evals}:7:7: error[E019]: unknown key `expected_outptu`")), "{}", output.out);
    package.run(&["check", "--fix"]);
    let fixed = fs::read_to_string(package.root().join(evals)).unwrap();
    assert_eq!(fixed, EVALS);
}

#[test]
fn a_new_case_is_an_eval_and_a_new_grader_is_refused() {
    let package = package(EVALS);
    let suite = ["--suite", "skills/pdf-forms"];
    let new = |arguments: &[&str]| package.run(&[arguments, &suite].concat());
    let output = new(&["new", "case", "empty", "--input", "Fill in nothing", "--criteria", "Asks for a form."]);
    assert_eq!(output.code, 0, "{}", output.err);
    let text = fs::read_to_string(package.root().join("skills/pdf-forms/evals/evals.json")).unwrap();
    assert!(text.starts_with(EVALS.split("\n  ]").next().unwrap().trim_end()), "{text}");
    let evals: evalsuite_schema::Value = evalsuite_schema::json::from_str(&text).unwrap();
    assert_eq!(evals["evals"][2]["expectations"][0], "Asks for a form.");
    assert_eq!(package.run(&["check", "skills"]).out, "no problems in 1 suite with 3 tests\n");

    let output = new(&["new", "grader", "polite"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("is an Agent Skill, whose evals name no graders"), "{}", output.err);
}
