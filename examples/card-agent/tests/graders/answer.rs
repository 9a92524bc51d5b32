//! Graders of the answer.

use evalsuite::{Assertion, Evidence, Score};
use serde::Deserialize;

/// Config of [`card_asks_back`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AsksBack {
    /// Topics that the question must name, ignoring case.
    #[serde(default)]
    about: Vec<String>,
}

/// Checks that the answer is a single question that names the topics.
pub(crate) async fn card_asks_back(config: AsksBack, evidence: &Evidence<'_>) -> Score {
    let answer = evidence.answer().trim();
    let lower = answer.to_lowercase();
    let questions = answer.chars().filter(|c| matches!(c, '?' | '？' | '؟')).count();
    let mut assertions = vec![
        Assertion::new("the answer ends with a question", answer.ends_with(['?', '？', '؟'])).with_actual(answer),
        Assertion::new("the answer is one question", questions == 1)
            .with_expected("1")
            .with_actual(questions.to_string()),
    ];
    assertions.extend(config.about.iter().map(|topic| {
        Assertion::new(format!("the question names {topic:?}"), lower.contains(&topic.to_lowercase()))
            .with_actual(answer)
    }));
    Score::from_assertions(assertions)
}
