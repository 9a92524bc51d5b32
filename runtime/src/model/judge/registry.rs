//! The judges of a suite, by name.

use crate::model::judge::BoundJudge;

/// The largest number of judgements that follow a failing one.
pub(crate) const MOST_CONFIRM: u32 = 10;

/// The judges of a suite: the default one, and those that graders name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judges {
    pub(crate) default: Option<BoundJudge>,
    /// Names of the default judges, if they are given by name.
    pub(crate) default_names: Vec<String>,
    pub(crate) named: Vec<(String, BoundJudge)>,
    /// Number of judgements that follow a failing one.
    pub(crate) confirm: Option<u32>,
}

impl Judges {
    /// Whether a grader that names no judge has one.
    pub(crate) fn has_default(&self) -> bool {
        self.default.is_some() || !self.default_names.is_empty()
    }

    /// The judge of this name, else one whose name differs only in `-` and `_`.
    pub(crate) fn named(&self, name: &str) -> Option<&BoundJudge> {
        let fold = |name: &str| name.replace('-', "_");
        let find = |fits: &dyn Fn(&str) -> bool| {
            self.named.iter().find(|(registered, _)| fits(registered)).map(|(_, judge)| judge)
        };
        find(&|registered| registered == name).or_else(|| find(&|registered| fold(registered) == fold(name)))
    }
}
