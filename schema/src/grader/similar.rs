//! Settings of `similar`. Its `threshold` is the grader's pass mark, which it has only without `max_distance`.

use evalsuite_derive::{Keys, skip_empty};

use super::GraderSettings;
use crate::json::{FromJson, ToJson};

/// The edit similarity of answer and text, 1 − edit distance / length of the longer text, reaches the pass mark. The distance counts inserted,
/// deleted and replaced characters (Unicode scalar values) of the trimmed texts. Texts with differing parts of more than about 100,000 characters
/// each are an error. With `max_distance`, the score is 1 if the edit distance is at most that, else 0.
#[skip_empty(.., ignore_case)]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct Similar {
    /// The text to compare with. Required in the tasks layout.
    #[key(
        NotEmpty,
        "Refund approved.",
        default = "the case's `expected_output`",
        codes(MissingGraderSetting, ControlCharacter)
    )]
    pub value: Option<String>,
    /// Whether case is ignored.
    #[also(threshold: Number(&PASS_MARK), "0.9", "The pass mark: another spelling of `min_score`.",
        codes(ConflictingKeys, SettingConflict), by_hand)]
    #[key(Boolean, "true", default = "`false`")]
    pub ignore_case: bool,
    /// Largest edit distance that passes, in place of a pass mark.
    #[key(Integer(0, u64::MAX), "3", unit = "characters", codes(SettingConflict))]
    pub max_distance: Option<u64>,
}

impl GraderSettings for Similar {
    fn texts(&self) -> Vec<&str> {
        self.value.as_deref().into_iter().collect()
    }
}
