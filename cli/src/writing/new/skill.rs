//! What `new suite --layout skill` writes: the evals of an Agent Skill, and the skill unless it exists.

use std::path::Path;

use evalsuite_discovery::{SKILL_EVALS, SKILL_FILE};

use crate::locate::suite_search::SKILL_HOMES;
use crate::platform::cli_error::{CliError, Result};

/// Directory of skills in a package, unless agents find the skill in another one.
const SKILLS: &str = "skills";

/// Longest name of a skill, in characters.
const LONGEST_NAME: usize = 64;

/// The eval that passes at once, and the one that fails until the agent is called.
pub(super) const FIRST_CASES: [&str; 2] = ["unrelated", "needed"];

/// The directory of the skill, relative to the package: where it is, or else `skills/NAME`.
pub(super) fn path(root: &Path, name: &str) -> String {
    let homes = SKILL_HOMES.iter().map(|home| format!("{home}/{SKILLS}"));
    let mut directories = [SKILLS.to_owned()].into_iter().chain(homes).map(|above| format!("{above}/{name}"));
    let is_there = |path: &String| root.join(path).join(SKILL_FILE).is_file();
    directories.find(is_there).unwrap_or_else(|| format!("{SKILLS}/{name}"))
}

/// Refuses a name that agents do not accept as that of a skill.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.len() <= LONGEST_NAME && name.chars().all(is_allowed) && !name.ends_with('-') && !name.contains("--") {
        return Ok(());
    }
    let message = format!(
        "`{name}` is not a valid name of a skill: use at most {LONGEST_NAME} characters out of a-z, 0-9 and single `-` between them"
    );
    Err(CliError::new(message))
}

/// The files of the skill.
pub(super) fn files(name: &str) -> Vec<(&'static str, String)> {
    let [passes, fails] = FIRST_CASES;
    let skill = format!(
        "---\nname: {name}\ndescription: What the skill does, and when an agent should use it.\n---\n\nWhat the agent should do, step by step.\n"
    );
    let eval = |id: &str, prompt: &str, should_trigger: bool| {
        format!("    {{ \"id\": {id:?}, \"prompt\": {prompt:?}, \"should_trigger\": {should_trigger} }}")
    };
    // Expectations need a judge, which a new package does not have.
    let evals = format!(
        "{{\n  \"skill_name\": {name:?},\n  \"evals\": [\n{},\n{}\n  ]\n}}\n",
        eval(fails, "A task for which the agent should use the skill.", true),
        eval(passes, "What is 17 + 25?", false)
    );
    vec![(SKILL_FILE, skill), (SKILL_EVALS, evals)]
}

/// The file with the tests of the skill at `path`.
pub(super) fn test_file(path: &str, name: &str) -> String {
    format!(
        r#"//! Runs the evals of `{path}`, one test per eval.

use evalsuite::{{BoxError, Trial, include_eval_suite}};

include_eval_suite!("{path}");

/// Stands in for the agent: call yours here. Its working directory is `trial.workspace()`, where it finds the skill in
/// `.agents/skills/{name}`. Record the calls of its tools with `trial.tool_call`.
async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError> {{
    Ok(format!("You said: {{}}", trial.prompt()))
}}
"#
    )
}
