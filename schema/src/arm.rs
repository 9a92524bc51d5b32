//! Arms: targets of a suite that differ in a skill.

use evalsuite_derive::Keys;

pub use crate::gate::WITH_SKILL;

/// The target whose trials do not have it.
pub const WITHOUT_SKILL: &str = "without_skill";
/// The target whose trials have an older copy of it.
pub const OLD_SKILL: &str = "old_skill";

/// The targets that [`WITH_SKILL`] is compared with, in the order in which one is chosen.
pub const REFERENCE_ARMS: [&str; 2] = [WITHOUT_SKILL, OLD_SKILL];

/// Where agents look for skills in their working directory, the default first.
pub const SKILL_DIRECTORIES: [&str; 4] = [".agents/skills", ".claude/skills", ".codex/skills", ".github/skills"];

/// The skill of a target: trials of the suite's other targets do not get it.
#[derive(Debug, Keys)]
#[keys(id = "target-skill", what = "`skill`", by_hand)]
pub struct TargetSkill {
    /// Directory of the skill, with `SKILL.md`. Its `evals` are left out.
    #[key(Directory, "./skills/pdf-forms", required, codes(PathEscape), by_hand)]
    pub path: (),
    /// Directories of the workspace in which agents look for skills: each gets a copy.
    #[key(Some(&Literal), "[.claude/skills]", default = "`[.agents/skills]`", codes(PathEscape), by_hand)]
    pub directories: (),
}

/// An arm with an older copy of the skill.
#[derive(Debug, Keys)]
#[keys(id = "old-skill", what = "an arm", by_hand)]
pub struct OldSkill {
    /// Directory of the older copy, with its `SKILL.md`: below the directory of the skill, where agents do not get what is in `evals`.
    #[key(Directory, "evals/old-skill", required, codes(PathEscape, InvalidTarget), by_hand)]
    pub old_skill: (),
}
