//! An agent that adds up tables, a little better if its workspace has a skill for it.
//!
//! It replaces a model: without instructions it treats every line as a sale and adds numbers as they are written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// What the instructions of a skill ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Lines whose state is `cancelled` do not count.
    pub skips_cancelled: bool,
    /// Amounts are in cents, and totals in euros.
    pub amounts_are_cents: bool,
}

impl Instructions {
    /// The instructions of the skill in a workspace; none if there is no skill.
    ///
    /// # Errors
    ///
    /// If the skill cannot be read.
    pub fn of_workspace(workspace: &Path) -> Result<Self> {
        let skills = workspace.join(".agents/skills");
        let mut instructions = Self::default();
        for entry in fs::read_dir(&skills).into_iter().flatten() {
            let file = entry?.path().join("SKILL.md");
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            instructions.skips_cancelled |= text.contains("Leave out cancelled sales");
            instructions.amounts_are_cents |= text.contains("Amounts are in cents");
        }
        Ok(instructions)
    }
}

/// Answers the question for the total of a table in the workspace: the first word of the prompt that names a file.
///
/// # Errors
///
/// If the prompt names no file, or the file is not a table of sales.
pub fn answer(prompt: &str, workspace: &Path) -> Result<String> {
    let instructions = Instructions::of_workspace(workspace)?;
    let name = prompt.split_whitespace().find(|word| word.ends_with(".csv")).context("the prompt names no table")?;
    let table = fs::read_to_string(workspace.join(name)).with_context(|| name.to_owned())?;
    let mut total = 0;
    for line in table.lines().skip(1) {
        let mut cells = line.split(',');
        let amount: i64 = cells.nth(1).context("a sale without an amount")?.parse()?;
        let is_cancelled = cells.next() == Some("cancelled");
        total += if is_cancelled && instructions.skips_cancelled { 0 } else { amount };
    }
    Ok(match instructions.amounts_are_cents {
        true => format!("The total is {}.{:02} euros.", total / 100, total % 100),
        false => format!("The total is {total}."),
    })
}
