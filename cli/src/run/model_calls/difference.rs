//! The difference between a call and a recorded one.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use evalsuite_schema::Value;

use super::recording::{RecordedBody, RecordedRequest};
use crate::platform::json_difference::each_difference;

/// Length of the part of a value that a message shows, in characters.
const SHOWN: usize = 80;
/// How many characters before the first difference of two texts are shown.
const BEFORE: usize = 20;

/// Where two requests differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RequestDifference {
    first: Option<Place>,
    /// Number of places.
    places: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Place {
    place: String,
    recorded: String,
    made: String,
}

impl RequestDifference {
    /// Compares a request with a recorded one.
    pub(super) fn new(recorded: &RecordedRequest, made: &RecordedRequest) -> Self {
        let mut difference = Self::default();
        if (&recorded.variable, &recorded.method, &recorded.path) != (&made.variable, &made.method, &made.path) {
            difference.add("the address", || recorded.label(), || made.label());
        }
        let names: BTreeSet<&String> = recorded.headers.keys().chain(made.headers.keys()).collect();
        for name in names {
            let (old, new) = (recorded.headers.get(name), made.headers.get(name));
            if old != new {
                let shown = |value: Option<&String>| value.map_or("nothing".to_owned(), |value| format!("`{value}`"));
                difference.add(&format!("the header `{name}`"), || shown(old), || shown(new));
            }
        }
        match (&recorded.body, &made.body) {
            (Some(RecordedBody::Json(old)), Some(RecordedBody::Json(new))) => {
                difference.compare(old, new);
            }
            (old, new) if old == new => {}
            (old, new) => {
                let text = |body: &Option<RecordedBody>| match body {
                    None => Value::Null,
                    Some(RecordedBody::Json(value)) => value.clone(),
                    Some(RecordedBody::Text(text) | RecordedBody::Base64(text)) => text.clone().into(),
                };
                let (old, new) = (text(old), text(new));
                let (recorded, made) = shown_pair(&old, &new);
                difference.add("the body", || recorded, || made);
            }
        }
        difference
    }

    /// Number of places that differ.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    fn add(&mut self, place: &str, recorded: impl FnOnce() -> String, made: impl FnOnce() -> String) {
        self.places += 1;
        if self.first.is_none() {
            self.first = Some(Place { place: place.to_owned(), recorded: recorded(), made: made() });
        }
    }

    /// Compares bodies.
    fn compare(&mut self, old: &Value, new: &Value) {
        each_difference(old, new, Value::eq, &mut |pointer, old, new| {
            let (recorded, made) = match (old, new) {
                (Some(old), Some(new)) => shown_pair(old, new),
                (old, new) => {
                    let shown = |value: Option<&Value>| {
                        value.map_or("nothing".to_owned(), |value| shown(&value.to_string(), 0))
                    };
                    (shown(old), shown(new))
                }
            };
            self.add(&format!("`{pointer}` of the body"), || recorded, || made);
        });
    }
}

impl Display for RequestDifference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(Place { place, recorded, made }) = &self.first else { return f.write_str("no difference") };
        write!(f, "{place}: expected {recorded}, got {made}")?;
        match self.places {
            1 => Ok(()),
            places => write!(f, " (and {} more)", places - 1),
        }
    }
}

/// Two values that differ. Of long texts, the part around the first difference.
fn shown_pair(old: &Value, new: &Value) -> (String, String) {
    let (old, new) = (old.to_string(), new.to_string());
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let start = if old.chars().count().max(new.chars().count()) <= SHOWN { 0 } else { same.saturating_sub(BEFORE) };
    (shown(&old, start), shown(&new, start))
}

/// A part of a text that starts at a character.
fn shown(text: &str, start: usize) -> String {
    let part: String = text.chars().skip(start).take(SHOWN).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().count() > start + SHOWN { "…" } else { "" };
    format!("`{before}{part}{after}`")
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn request(body: Value) -> RecordedRequest {
        RecordedRequest {
            variable: "OPENAI_BASE_URL".into(),
            method: "POST".into(),
            path: "/chat/completions".into(),
            headers: [("anthropic-beta".to_owned(), "a".to_owned())].into(),
            body: Some(RecordedBody::Json(body)),
        }
    }

    fn shown(old: &RecordedRequest, new: &RecordedRequest) -> String {
        RequestDifference::new(old, new).to_string()
    }

    #[test]
    fn the_first_difference_is_shown_with_its_place() {
        let old = request(json!({"model": "m", "messages": [{"role": "user", "content": "refund 4711"}]}));
        assert_eq!(RequestDifference::new(&old, &old.clone()).places(), 0);
        let reordered = request(json!({"messages": [{"content": "refund 4711", "role": "user"}], "model": "m"}));
        assert_eq!(RequestDifference::new(&old, &reordered).places(), 0, "the order of keys has no meaning");
        let new = request(json!({"model": "m", "messages": [{"role": "user", "content": "refund 4712"}], "n": 1}));
        assert_eq!(
            shown(&old, &new),
            "`/messages/0/content` of the body: expected `\"refund 4711\"`, got `\"refund 4712\"` (and 1 more)"
        );
    }

    #[test]
    fn of_long_texts_the_part_around_the_difference_is_shown() {
        let text = |end: &str| request(json!({"a/b": format!("{}{end}{}", "x".repeat(500), "y".repeat(500))}));
        assert_eq!(
            shown(&text("1"), &text("2")),
            format!(
                "`/a~1b` of the body: expected `…{0}1{1}…`, got `…{0}2{1}…`",
                "x".repeat(BEFORE),
                "y".repeat(SHOWN - BEFORE - 1)
            )
        );
    }

    #[test]
    fn addresses_headers_and_other_bodies_differ() {
        let old = request(json!({}));
        let mut new = old.clone();
        new.path = "/responses".into();
        assert_eq!(
            shown(&old, &new),
            "the address: expected POST /chat/completions of OPENAI_BASE_URL, got POST /responses of OPENAI_BASE_URL"
        );
        let mut new = old.clone();
        new.headers.clear();
        assert_eq!(shown(&old, &new), "the header `anthropic-beta`: expected `a`, got nothing");
        let mut new = old.clone();
        new.body = Some(RecordedBody::Text("hi".into()));
        assert_eq!(shown(&old, &new), "the body: expected `{}`, got `\"hi\"`");
        let missing = request(json!({"tools": [1]}));
        assert_eq!(shown(&missing, &old), "`/tools` of the body: expected `[1]`, got nothing");
    }
}
