//! The texts that judges are given, one file each.

/// What a judge is asked to reply with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One score.
    FreeForm,
    /// Satisfied or not, criterion by criterion.
    Checklist,
    /// A score from 0 to 10, criterion by criterion.
    Ranges,
}

macro_rules! contract {
    ($file:literal) => {
        concat!(
            include_str!($file),
            include_str!("../../model/judge/untrusted.txt"),
            include_str!("prompts/one_object.txt")
        )
    };
}

impl Shape {
    /// What a reply has to look like: the system prompt.
    pub(crate) fn system(self) -> &'static str {
        match self {
            Self::FreeForm => contract!("prompts/free_form.system.txt"),
            Self::Checklist => contract!("prompts/checklist.system.txt"),
            Self::Ranges => contract!("prompts/ranges.system.txt"),
        }
    }

    /// The beginning of the built-in user prompt.
    pub(crate) fn introduction(self) -> &'static str {
        match self {
            Self::FreeForm => include_str!("prompts/free_form.user.txt"),
            Self::Checklist => include_str!("prompts/checklist.user.txt"),
            Self::Ranges => include_str!("prompts/ranges.user.txt"),
        }
    }
}

/// Asks to make one score of several graders' results.
pub(crate) const AGGREGATE: &str = include_str!("prompts/aggregate.user.txt");

/// Asks to write a reply anew that could not be read.
pub(crate) const REPAIR: &str = include_str!("prompts/repair.user.txt");

/// Asks to write JSON anew that could not be read.
pub(crate) const REPAIR_DATA: &str = include_str!("prompts/repair_data.user.txt");
