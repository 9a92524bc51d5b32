//! Graders of the cards that the agent wrote.

use std::collections::BTreeMap;

use evalsuite::{Assertion, Evidence, Score};
use serde::Deserialize;

use super::written_cards;
use super::written_cards::WrittenCard;

/// Required fields of each template.
const REQUIRED: &[(&str, &[&str])] = &[
    ("event", &["date"]),
    ("task", &[]),
    ("expense", &["amount", "currency", "date"]),
    ("contact", &[]),
    ("note", &["text"]),
];

/// Checks that exactly one card was written, with a known template and a value in every required field.
pub(crate) fn card_completion(evidence: &Evidence<'_>) -> anyhow::Result<Vec<Assertion>> {
    let paths: Vec<&str> = written_cards::paths(evidence).collect();
    let [path] = paths.as_slice() else {
        return Ok(vec![
            Assertion::new("exactly one card is written", false)
                .with_expected("1")
                .with_actual(format!("{} {paths:?}", paths.len())),
        ]);
    };
    let text = written_cards::read(evidence, path)?;
    let card: WrittenCard = match serde_json::from_str(&text) {
        Ok(card) => card,
        Err(error) => {
            return Ok(vec![Assertion::new(format!("{path} is a card"), false).with_evidence(error.to_string())]);
        }
    };
    let Some((_, required)) = REQUIRED.iter().find(|(template, _)| *template == card.template) else {
        return Ok(vec![Assertion::new("the template is known", false).with_actual(card.template)]);
    };
    let has = |field: &str| card.fields.get(field).is_some_and(|value| !value.trim().is_empty());
    let mut assertions = vec![
        Assertion::new("the card has a title", !card.title.trim().is_empty()),
        Assertion::new("the card keeps the note", !card.note.trim().is_empty()),
    ];
    assertions
        .extend(required.iter().map(|field| Assertion::new(format!("the card has a value for `{field}`"), has(field))));
    if card.template == "contact" {
        assertions.push(Assertion::new("the person can be reached", has("phone") || has("email")));
    }
    Ok(assertions)
}

/// Config of [`card_must_contain`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MustContain {
    needles: Vec<String>,
}

/// Checks that the written cards contain certain texts, verbatim.
pub(crate) fn card_must_contain(config: MustContain, evidence: &Evidence<'_>) -> anyhow::Result<Score> {
    let cards = written_cards::written(evidence)?;
    let holds = |needle: &str| {
        cards
            .iter()
            .any(|(_, card)| card.title.contains(needle) || card.fields.values().any(|value| value.contains(needle)))
    };
    Ok(Score::from_assertions(
        config.needles.iter().map(|needle| Assertion::new(format!("a card contains {needle:?}"), holds(needle))),
    ))
}

/// Config of [`card_template`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TemplateConfig {
    template: String,
}

/// Checks that all written cards have a certain template.
pub(crate) fn card_template(config: TemplateConfig, evidence: &Evidence<'_>) -> anyhow::Result<Score> {
    let cards = written_cards::written(evidence)?;
    if cards.is_empty() {
        return Ok(Score::fail("no card was written"));
    }
    Ok(Score::from_assertions(cards.into_iter().map(|(path, card)| {
        Assertion::new(format!("{path} has the right template"), card.template == config.template)
            .with_expected(&config.template)
            .with_actual(card.template)
    })))
}

/// `expected_outcome` of the reference solutions.
#[derive(Deserialize)]
struct Reference {
    cards: Vec<ReferenceCard>,
}

#[derive(Debug, Deserialize)]
struct ReferenceCard {
    template: String,
    title: String,
    fields: BTreeMap<String, String>,
}

/// Checks that the written cards equal those of the reference solution. Undecided without a reference.
pub(crate) async fn card_matches_reference(evidence: &Evidence<'_>) -> anyhow::Result<Option<Score>> {
    let Some(reference) = evidence.reference::<Reference>()? else { return Ok(None) };
    let written = written_cards::written(evidence)?;
    let mut assertions = vec![
        Assertion::new("as many cards as the reference", written.len() == reference.cards.len())
            .with_expected(reference.cards.len().to_string())
            .with_actual(written.len().to_string()),
    ];
    for ((path, card), reference) in written.iter().zip(&reference.cards) {
        let mut compare = |what: &str, expected: &str, actual: &str| {
            assertions.push(
                Assertion::new(format!("{what} of {path}"), expected == actual)
                    .with_expected(expected)
                    .with_actual(actual),
            );
        };
        compare("template", &reference.template, &card.template);
        compare("title", &reference.title, &card.title);
        compare("fields", &format!("{:?}", reference.fields), &format!("{:?}", card.fields));
    }
    Ok(Some(Score::from_assertions(assertions)))
}
