//! Settings of `compare`.

use evalsuite_derive::{Keys, Words, skip_empty};

use super::{AskedJudge, GraderSettings, JudgeSettings};
use crate::PathRef;
use crate::json::{FromJson, FromJsonOverDefault, ToJson};

/// A judge says whether the answer is better than another one. It is asked twice, with each of the two answers first. The score is 1 if the
/// answer is better both times, 0 if the other one is, else 0.5: a tie. An answer passes if it is no worse, or with a `min_score` above 0.5 only
/// if it is better.
#[skip_empty(.., against, judge)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct Compare {
    /// With `baseline`, the answer is compared with the one that `cargo evalsuite accept --answers` wrote for this case and target.
    /// Without one, the grader is undecided.
    #[key(Choice(ComparedWith::WORDS), "baseline", default = "`reference`", codes(SettingConflict), init = ComparedWith::Reference)]
    pub against: ComparedWith,
    /// The answer to compare with: text, or `file://` with its path. Required in the tasks layout, unless `against` is `baseline`.
    #[key(Text, "19.90 is on its way.", default = "the case's `expected_output`", by_hand)]
    #[key(codes(MissingGraderSetting, PathLikePrompt, EmptyFile, MissingPath))]
    pub reference: Option<ReferenceAnswer>,
    /// What makes an answer the better one.
    #[key(Text, "Is friendly", default = "the case's `criteria`, else its `description`")]
    pub criteria: Option<String>,
    /// What is handed to the judge.
    #[key(flatten)]
    pub judge: JudgeSettings,
}

impl GraderSettings for Compare {
    fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        Some(self.judge.asked())
    }

    fn compares_with_baseline(&self) -> bool {
        self.against == ComparedWith::Baseline
    }
}

/// Which answer another one is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJson, Words)]
pub enum ComparedWith {
    /// An answer in the suite.
    #[default]
    Reference,
    /// The accepted answer to the same case of the same target.
    Baseline,
}

/// An answer to compare with.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub enum ReferenceAnswer {
    /// Text written in the case.
    Text(String),
    /// A file, with its text at compile time.
    File {
        /// The file.
        file: PathRef,
        /// Its text.
        text: String,
    },
}

impl ReferenceAnswer {
    /// The answer.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::File { text, .. } => text,
        }
    }
}

crate::keys::made!(ReferenceAnswer);
