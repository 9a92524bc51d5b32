//! The layouts of suites, and the rules that each of them brings.

use crate::json::{FromJson, ToJson};

/// How the files of a suite are laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Layout {
    /// `suite.json` and one JSON file per case below `tasks/`.
    Tasks,
    /// An eval file (`EVAL.yaml`).
    #[default]
    Cases,
    /// `suite.json` and case directories below `cases/`.
    Combined,
    /// Case directories or a JSONL file without a suite file.
    Bare,
    /// An Agent Skill: `SKILL.md` with `evals/evals.json`.
    Skill,
}

/// The rules of a layout.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct LayoutRules {
    /// The name used in records.
    pub name: &'static str,
    /// Lowest passing score of a case, and lowest passing value of a grader, if the suite's files do not set one.
    pub default_threshold: f64,
    /// How the graders of a trial decide it.
    pub scoring: Scoring,
    /// Whether `${{ NAME }}` in the texts of cases is a variable.
    pub has_variables: bool,
    /// Whether cases name files of the suite's directory only. In other layouts they name files of the package.
    pub is_closed: bool,
    /// Whether paths are relative to the directory of the suite only, not to the file with the path.
    pub has_one_base: bool,
    /// Endings of suite files of which a directory may have several, each with its own calibration.
    pub shared_by: &'static [&'static str],
}

/// How the graders of a trial decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scoring {
    /// The mean by weight reaches the threshold, and every required grader its own.
    WeightedMean,
    /// Every grader passes. With a threshold below 1, the mean reaches it; weights and `required` do not count.
    EveryGrader,
}

const CASES: LayoutRules = LayoutRules {
    name: "cases",
    default_threshold: 0.8,
    scoring: Scoring::WeightedMean,
    has_variables: true,
    is_closed: false,
    has_one_base: false,
    shared_by: &[".yaml", ".yml"],
};

const TASKS: LayoutRules = LayoutRules {
    name: "tasks",
    default_threshold: 1.0,
    scoring: Scoring::EveryGrader,
    has_variables: false,
    is_closed: true,
    has_one_base: true,
    shared_by: &[],
};

const COMBINED: LayoutRules = LayoutRules { name: "combined", shared_by: &[], ..CASES };

const BARE: LayoutRules = LayoutRules { name: "bare", shared_by: &[".jsonl"], ..CASES };

const SKILL: LayoutRules =
    LayoutRules { name: "skill", has_variables: false, is_closed: true, shared_by: &[], ..CASES };

impl Layout {
    /// Its rules.
    pub fn rules(self) -> &'static LayoutRules {
        match self {
            Layout::Tasks => &TASKS,
            Layout::Cases => &CASES,
            Layout::Combined => &COMBINED,
            Layout::Bare => &BARE,
            Layout::Skill => &SKILL,
        }
    }

    /// The name used in records.
    pub fn as_str(self) -> &'static str {
        self.rules().name
    }

    /// Lowest passing score of a case, and lowest passing value of a grader, if the suite's files do not set one: 1 in
    /// the tasks layout, else 0.8.
    pub fn default_threshold(self) -> f64 {
        self.rules().default_threshold
    }

    /// Whether the calibration of the suite with this file may be named after the file.
    pub fn may_share_directory(self, file_name: &str) -> bool {
        let lower = file_name.to_ascii_lowercase();
        self.rules().shared_by.iter().any(|ending| lower.ends_with(ending))
    }
}
