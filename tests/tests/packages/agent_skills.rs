//! An Agent Skill is a suite: its evals run with the skill and their files in the workspace.

use evalsuite_tests::throwaway::Package;

/// An agent that uses the skill of its workspace, and a judge that looks for the words of an expectation in the answer.
const LIB: &str = r###"
use evalsuite::{JudgeReply, JudgeRequest, Trial};

type Error = Box<dyn std::error::Error>;

pub fn agent(trial: &mut Trial<'_>) -> Result<String, Error> {
    let skill = std::fs::read_to_string(trial.workspace().join(".agents/skills/pdf-forms/SKILL.md"))?;
    let guide = std::fs::read_to_string(trial.workspace().join(".agents/skills/pdf-forms/references/guide.md"))?;
    let has_evals = trial.workspace().join(".agents/skills/pdf-forms/evals").exists();
    let form = std::fs::read_to_string(trial.workspace().join("evals/files/form.txt")).unwrap_or_default();
    let has_skill = skill.contains("# Forms");
    Ok(format!("{} skill={has_skill} evals={has_evals} guide={} form={}", trial.prompt(), guide.trim(), form.trim()))
}

pub fn judge(request: JudgeRequest) -> Result<JudgeReply, Error> {
    let user = request.user();
    let (_, answer) = user.split_once("[[ ## answer ## ]]").ok_or("the answer")?;
    let answer = answer.split("[[").next().unwrap_or_default();
    let satisfied = |line: &str| answer.contains(line.split('`').nth(1).unwrap_or("?"));
    let listed: Vec<&str> = user.lines().filter(|line| line.contains("expectation-")).collect();
    if listed.is_empty() {
        return Ok(JudgeReply::new(r#"{"score": 1, "assertions": []}"#));
    }
    let check = |(line, position): (&&str, usize)| {
        format!(r#"{{"id": "expectation-{position}", "satisfied": {}, "reasoning": "x"}}"#, satisfied(line))
    };
    let checks: Vec<String> = listed.iter().zip(1..).map(check).collect();
    Ok(JudgeReply::new(format!(r#"{{"checks": [{}], "overall_reasoning": "x"}}"#, checks.join(", "))))
}
"###;

const SKILL: &str = "---\nname: pdf-forms\ndescription: Fills in forms.\n---\n\n# Forms\n\nSee references/guide.md.\n";

const EVALS: &str = r#"{
  "skill_name": "pdf-forms",
  "evals": [
    {
      "id": 1,
      "prompt": "Fill in the form",
      "expected_output": "A form with all fields.",
      "expectations": ["It says `skill=true evals=false`", "It says `form=Name:`", "It says `guide=Be careful`"],
      "files": ["evals/files/form.txt"]
    },
    { "id": "described", "prompt": "Hello", "expected_output": "A greeting that is not in the answer." },
    { "id": "failing", "prompt": "Hello", "expectations": ["It says `form=Name:`"] }
  ]
}"#;

#[test]
fn the_evals_of_a_skill_run_with_the_skill_and_their_files_in_the_workspace() {
    let package = Package::new("agent_skills");
    package
        .write("src/lib.rs", LIB)
        .write(
            "tests/evals.rs",
            "use agent_skills::{agent, judge};\nevalsuite::include_eval_suite!(\"skills/pdf-forms\", judge = judge);",
        )
        .write("skills/pdf-forms/SKILL.md", SKILL)
        .write("skills/pdf-forms/references/guide.md", "Be careful\n")
        .write("skills/pdf-forms/evals/evals.json", EVALS)
        .write("skills/pdf-forms/evals/files/form.txt", "Name:\n");
    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("one of the evals fails");
    ran.says("test pdf_forms::_1 ... ok").says("test pdf_forms::described ... ok");
    ran.says("test pdf_forms::failing ... FAILED").says("test pdf_forms::suite_check ... ok");

    // An edit of the evals and of the front matter causes a rebuild.
    package.write("skills/pdf-forms/evals/evals.json", &EVALS.replace("\"id\": \"failing\"", "\"id\": \"later\""));
    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("it still fails");
    ran.says("test pdf_forms::later ... FAILED");
    package.write("skills/pdf-forms/SKILL.md", &SKILL.replace("name: pdf-forms", "name: forms"));
    let ran = package.cargo(["test"]).run().fails("the name is not that of the directory");
    ran.says("E032 invalid-suite-name").says("skills/pdf-forms/SKILL.md:2:7");
}
