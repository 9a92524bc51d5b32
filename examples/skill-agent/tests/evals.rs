//! The evals of the skills in `skills`, with the skill and without it.

use evalsuite::{JudgeReply, JudgeRequest, Trial, Usage, include_eval_suite};

// A module for each skill with evals: here `csv_totals`.
include_eval_suite!("skills", agent = skill_agent, judge = judge);

fn skill_agent(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    let workspace = trial.workspace().to_owned();
    let answer = skill_agent::answer(trial.prompt(), &workspace)?;
    // The skill is read as a part of the input.
    let skill = std::fs::read_to_string(workspace.join(".agents/skills/csv-totals/SKILL.md")).unwrap_or_default();
    trial.usage(Usage::new((trial.prompt().len() + skill.len()) as u64 / 4, answer.len() as u64 / 4));
    Ok(answer)
}

/// An expectation is met if the answer has the text that it quotes.
fn judge(request: JudgeRequest) -> anyhow::Result<JudgeReply> {
    let (user, mut checks) = (request.user(), Vec::new());
    let (_, answer) = user.split_once("[[ ## answer ## ]]").ok_or_else(|| anyhow::anyhow!("no answer"))?;
    let answer = answer.split("[[").next().unwrap_or_default();
    for line in user.lines().filter(|line| line.contains("expectation-")) {
        let quoted = line.split('"').nth(1).unwrap_or(line);
        let (number, satisfied) = (checks.len() + 1, answer.contains(quoted));
        checks.push(format!(r#"{{"id": "expectation-{number}", "satisfied": {satisfied}, "reasoning": "{quoted}"}}"#));
    }
    Ok(JudgeReply::new(format!(r#"{{"checks": [{}], "overall_reasoning": ""}}"#, checks.join(", "))))
}
