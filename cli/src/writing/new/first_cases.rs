//! The two cases of a new suite.

/// The ids of two cases.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstCases {
    /// The case that passes at once.
    pub(super) passes: &'static str,
    /// The case that fails until the agent is called.
    pub(super) fails: &'static str,
}

impl FirstCases {
    /// Those of a suite with an eval file or with tasks.
    pub(super) const OF_SUITE: Self = Self { passes: "greeting", fails: "addition" };

    /// Those of an Agent Skill.
    pub(super) const OF_SKILL: Self = Self { passes: "unrelated", fails: "needed" };
}
