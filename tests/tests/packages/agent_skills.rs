//! An Agent Skill is a suite: its evals run with the skill and their files in the workspace.

use evalsuite_needs::slow;
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

#[slow(builds)]
#[test]
fn the_evals_of_a_skill_run_with_the_skill_and_their_files_in_the_workspace() {
    let package = Package::new("agent_skills");
    package
        .library(LIB)
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

/// A skill with arms next to one without, and one without evals.
fn package_of_skills(name: &str, test: &str) -> Package {
    let front_matter = |name: &str| format!("---\nname: {name}\ndescription: Adds up tables.\n---\n");
    let arms = r#"{
  "arms": ["with_skill", "without_skill", {"old_skill": "evals/old"}],
  "evals": [
    {"id": 1, "prompt": "Sum", "expectations": ["It says `skill=new`"]},
    {"id": "used", "prompt": "Sum", "should_trigger": false}
  ]
}"#;
    let package = Package::new(name);
    package
        .library(LIB)
        .write("tests/evals.rs", test)
        .write("build.rs", "fn main() { evalsuite_build::track(\"skills\"); }")
        .write("skills/csv/SKILL.md", &(front_matter("csv") + "new"))
        .write("skills/csv/evals/evals.json", arms)
        .write("skills/csv/evals/old/SKILL.md", &(front_matter("csv") + "old"))
        .write("skills/2-words/SKILL.md", &front_matter("2-words"))
        .write(
            "skills/2-words/evals/evals.json",
            r#"{"evals": [{"id": 1, "prompt": "Sum", "expectations": ["It says `skill=none`"]}]}"#,
        )
        .write("skills/no-evals/SKILL.md", &front_matter("no-evals"));
    package
}

const TEST_OF_SKILLS: &str = r#"
use evalsuite::Trial;
evalsuite::include_eval_suite!("skills", agent = agent, judge = PACKAGE::judge);

fn agent(trial: &mut Trial<'_>) -> Result<String, std::io::Error> {
    let skill = std::fs::read_to_string(trial.workspace().join(".agents/skills/csv/SKILL.md")).unwrap_or_default();
    let version = if skill.is_empty() { "none" } else { skill.lines().last().unwrap_or_default() };
    trial.transcript_complete();
    Ok(format!("{} skill={version}", trial.target()))
}
"#;

#[slow(builds)]
#[test]
fn a_directory_of_skills_has_a_module_for_each_and_only_the_arm_with_the_skill_can_fail() {
    let package = package_of_skills("directory_of_skills", &TEST_OF_SKILLS.replace("PACKAGE", "directory_of_skills"));
    let ran = package.cargo(["test"]).run().succeeds("only the arm with the skill can fail");
    // In the reference arms, the agent fails and its test does not.
    for test in ["csv::with_skill::_1", "csv::without_skill::_1", "csv::old_skill::_1", "_2_words::_1"] {
        ran.says(&format!("test {test} ... ok"));
    }
    ran.says("test csv::with_skill::used ... ok").says("test csv::old_skill::used ... ok");
    ran.is_silent_about("csv::without_skill::used").is_silent_about("no_evals");
    // A change for the worse fails where the skill is.
    let skill = "---\nname: csv\ndescription: Adds up tables.\n---\nworse";
    package.write("skills/csv/SKILL.md", skill);
    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("the skill does not help any more");
    ran.says("test csv::with_skill::_1 ... FAILED").says("test csv::without_skill::_1 ... ok");
    // Evals that are added later make a module.
    package.write(
        "skills/no-evals/evals/evals.json",
        r#"{"evals": [{"id": 1, "prompt": "x", "expectations": ["`skill`"]}]}"#,
    );
    let ran = package.cargo(["test", "no_evals"]).run().succeeds("the new evals pass");
    ran.says("test no_evals::_1 ... ok");
}

#[slow(builds)]
#[test]
fn the_arms_of_a_command_are_its_default_target() {
    let test = r#"evalsuite::include_eval_suite!("skills/csv", agent = "cli", judge = arms_of_a_command::judge);"#;
    let package = package_of_skills("arms_of_a_command", test);
    package.write(
        "skills/targets.yaml",
        "targets:\n  - name: default\n    provider: cli\n    command: \"(printf 'skill='; tail -n 1 .agents/skills/csv/SKILL.md || echo none) > {OUTPUT_FILE}\"\n",
    );
    let ran = package.cargo(["test", "_1"]).run().succeeds("the command finds the skill");
    ran.says("test csv::with_skill::_1 ... ok").says("test csv::without_skill::_1 ... ok");
}
