//! Secrets kept out of everything that is written or printed.

pub(crate) mod panic_messages;
pub(crate) mod secret_forms;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use evalsuite_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::secret_forms::forms;
use crate::platform::{environment, json};

/// Length of the shortest value that is hidden, in characters. A shorter value would hide ordinary words.
pub(crate) const SHORTEST: usize = 6;

/// What is written in place of a secret.
const HIDDEN: &str = "***";

/// The secrets of all cases of this process. Process-wide, because a program can print the whole environment it inherits: the
/// output of a case's hook can contain the secrets of other cases.
static ALL_SECRETS: RwLock<Redactor> = RwLock::new(Redactor(None));

/// The secrets of all cases of this process.
pub(crate) fn all_secrets() -> Redactor {
    ALL_SECRETS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The text with the secrets of all cases of this process hidden.
pub(crate) fn without_secrets(text: &str) -> Cow<'_, str> {
    all_secrets().apply(text)
}

/// Replaces the values of the variables a case uses with `***`, as they are and in the [forms] in which programs write them.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Option<Arc<Secrets>>);

#[derive(Default)]
struct Secrets {
    values: BTreeSet<String>,
    forms: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor of {} values", self.0.as_ref().map_or(0, |secrets| secrets.values.len()))
    }
}

impl Redactor {
    /// Hides the values of these variables.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().and(names)
    }

    /// Also hides the values of these variables.
    pub(crate) fn and<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.and_values(names.into_iter().filter_map(environment::var))
    }

    /// Also hides these values.
    pub(crate) fn and_values(&self, values: impl IntoIterator<Item = String>) -> Self {
        let redactor = self.with_values(values);
        if let Some(secrets) = &redactor.0 {
            panic_messages::hide_secrets();
            let mut all = ALL_SECRETS.write().unwrap_or_else(PoisonError::into_inner);
            *all = all.with_values(secrets.values.iter().cloned());
        }
        redactor
    }

    #[cfg(test)]
    pub(crate) fn from_values(values: impl IntoIterator<Item = String>) -> Self {
        Self::default().with_values(values)
    }

    fn with_values(&self, values: impl IntoIterator<Item = String>) -> Self {
        let known = self.0.as_deref();
        let is_new = |value: &String| {
            value.chars().count() >= SHORTEST && !known.is_some_and(|known| known.values.contains(value))
        };
        let new: BTreeSet<String> = values.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return self.clone();
        }
        let known_values = known.into_iter().flat_map(|known| known.values.iter().cloned());
        let values: BTreeSet<String> = known_values.chain(new).collect();
        let forms: BTreeSet<String> = values.iter().flat_map(|value| forms(value)).collect();
        Self(Some(Arc::new(Secrets { values, forms: forms.into_iter().collect() })))
    }

    /// Whether it hides nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn forms(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |secrets| &secrets.forms)
    }

    /// The text with secrets hidden.
    pub(crate) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.found_in(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut end = 0;
        for secret in found {
            shown.push_str(&text[end..secret.start]);
            shown.push_str(HIDDEN);
            end = secret.end;
        }
        shown.push_str(&text[end..]);
        Cow::Owned(shown)
    }

    /// Whether a secret is in these bytes.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        !self.is_empty() && !self.found_in(&String::from_utf8_lossy(bytes)).is_empty()
    }

    /// JSON with secrets hidden in all texts, also in the keys of maps.
    pub(crate) fn to_value(&self, data: &Value) -> serde_json::Result<Value> {
        if self.is_empty() { Ok(data.clone()) } else { self.redacted(data.clone()) }
    }

    /// JSON with line breaks, with secrets hidden in all texts, also in the keys of maps. Names of fields and variants stay.
    ///
    /// # Errors
    ///
    /// If the data is not JSON.
    pub(crate) fn to_pretty_json(&self, data: &impl Serialize) -> serde_json::Result<String> {
        json::pretty(data, (!self.is_empty()).then_some(&|text| self.apply(text)))
    }

    /// The data with secrets hidden in all texts.
    ///
    /// # Errors
    ///
    /// If the data is not JSON, or a text in it has to be one of a few.
    pub(crate) fn redacted<T: Serialize + DeserializeOwned>(&self, data: T) -> serde_json::Result<T> {
        if self.is_empty() {
            return Ok(data);
        }
        json::decode(json::compact(&data, Some(&|text| self.apply(text)))?.as_bytes())
    }

    /// The nearest position at or before `at` that is not inside a secret.
    pub(crate) fn position_before(&self, text: &str, at: usize) -> usize {
        self.secret_around(text, at).map_or(at, |secret| secret.start)
    }

    /// The nearest position at or after `at` that is not inside a secret.
    pub(crate) fn position_after(&self, text: &str, at: usize) -> usize {
        self.secret_around(text, at).map_or(at, |secret| secret.end)
    }

    fn secret_around(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let longest = self.forms().iter().map(String::len).max()?;
        // Secrets that overlap are one: a few lengths on either side are enough for any that occur.
        let start = (0..=at.saturating_sub(4 * longest)).rev().find(|start| text.is_char_boundary(*start))?;
        let end = (at.saturating_add(4 * longest)..).find(|end| *end >= text.len() || text.is_char_boundary(*end))?;
        let found = self.found_in(&text[start..end.min(text.len())]);
        let found = found.into_iter().map(|secret| start + secret.start..start + secret.end);
        found.into_iter().find(|secret| secret.start < at && at < secret.end)
    }

    /// Length of a text of which the end is missing, without the beginning of a secret there.
    pub(crate) fn length_without_broken_end(&self, text: &[u8]) -> usize {
        let broken = |form: &String| {
            let form = form.as_bytes();
            (1..form.len()).rev().find(|length| text.ends_with(&form[..*length])).unwrap_or(0)
        };
        text.len() - self.forms().iter().map(broken).max().unwrap_or(0)
    }

    /// Where secrets are, in order; those that overlap are one.
    fn found_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        // The search of the standard library is optimised also in an unoptimised program; an automaton is not.
        for form in self.forms().iter().filter(|form| form.len() <= text.len()) {
            let step = form.chars().next().map_or(1, char::len_utf8);
            let (first, mut from) = (found.len(), 0);
            while let Some(at) = text[from..].find(form.as_str()) {
                let start = from + at;
                from = start + step;
                match found[first..].last_mut() {
                    Some(last) if start < last.end => last.end = start + form.len(),
                    _ => found.push(start..start + form.len()),
                }
            }
        }
        found.sort_by_key(|secret| secret.start);
        found.dedup_by(|next, last| {
            let overlaps = next.start < last.end;
            if overlaps {
                last.end = last.end.max(next.end);
            }
            overlaps
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use evalsuite_schema::json::json;
    use serde::Deserialize;

    use super::*;

    fn redactor<const N: usize>(values: [&str; N]) -> Redactor {
        Redactor::from_values(values.map(str::to_owned))
    }

    #[test]
    fn values_are_hidden_wherever_they_stand() {
        let redactor = redactor(["secret", "secret-long", "short"]);
        assert_eq!(redactor.apply("a secret-long, a secret, a short"), "a ***, a ***, a short");
        let value = json!({"secret": ["my secret", 1]});
        assert_eq!(redactor.to_value(&value).unwrap(), json!({"***": ["my ***", 1]}));
    }

    #[test]
    fn values_that_overlap_are_hidden_as_one() {
        assert_eq!(redactor(["abcdef", "defghi"]).apply("<abcdefghi>"), "<***>");
        assert_eq!(redactor(["ababab"]).apply("<ababababa>"), "<***a>");
    }

    #[test]
    fn names_of_fields_and_variants_stay() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Record {
            outcome: Outcome,
            details: BTreeMap<String, String>,
        }
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        enum Outcome {
            Passed { answer: String },
        }
        let data = |text: &str| Record {
            outcome: Outcome::Passed { answer: text.to_owned() },
            details: [(text.to_owned(), text.to_owned())].into(),
        };
        let redactor = redactor(["outcome", "Passed", "details", "answer"]);
        assert_eq!(redactor.redacted(data("the answer")).unwrap(), data("the ***"));
    }

    #[test]
    fn keys_that_become_the_same_are_all_kept() {
        let value = json!({"a secret": 1, "b": {"a secret": 2}, "a hidden": 3, "a ***": 4});
        let shown = redactor(["secret", "hidden"]).to_value(&value).unwrap();
        assert_eq!(shown, json!({"a ***": 1, "b": {"a ***": 2}, "a *** (2)": 3, "a *** (3)": 4}));
    }

    #[test]
    fn every_form_in_which_programs_write_a_secret_is_hidden() {
        let secret = "first \"line\" & ümlaut\n\tsecond 'line' /+=? it\nlast line";
        let redactor = redactor([secret]);
        let hidden = |text: &str| {
            let shown = redactor.apply(text).into_owned();
            let parts = ["first", "line", "mlaut", "second", "last", "bGFzdCB", "Zmlyc3"];
            assert!(!parts.iter().any(|part| shown.contains(part)), "{text} is shown as {shown}");
            shown
        };
        let json = serde_json::to_string(secret).unwrap();
        assert_eq!(hidden(&json), "\"***\"");
        assert_eq!(hidden(&serde_json::to_string(&json).unwrap()), r#""\"***\"""#);
        assert_eq!(hidden(&format!("{secret:?}")), "\"***\"");
        assert_eq!(hidden(&crate::platform::shell_quoting::quoted(secret)), "'***'");
        assert_eq!(
            hidden("first%20%22line%22%20%26%20%C3%BCmlaut%0A%09second%20%27line%27%20%2F%2B%3D%3F%20it%0Alast%20line"),
            "***"
        );
        assert_eq!(
            hidden("first+%22line%22+%26+%c3%bcmlaut%0a%09second+%27line%27+%2f%2b%3d%3f+it%0alast+line"),
            "***"
        );
        let diff: String = secret.lines().map(|line| format!("+{line}\n")).collect();
        assert_eq!(hidden(&diff), "+***\n+***\n+***\n");
        for around in ["", "u", "u:", "us:", "use:"] {
            hidden(&BASE64_STANDARD.encode(format!("{around}{secret}")));
            hidden(&BASE64_STANDARD.encode(format!("{around}{secret}\n{around}")));
        }
    }

    #[test]
    fn base64_in_lines_is_hidden() {
        let secret: String = (0..100).map(|number| char::from(b'!' + number % 90)).collect();
        let encoded = BASE64_STANDARD.encode(&secret);
        for width in [64, 76] {
            let lines: Vec<&str> =
                (0..encoded.len()).step_by(width).map(|at| &encoded[at..encoded.len().min(at + width)]).collect();
            let shown = Redactor::from_values([secret.clone()]).apply(&lines.join("\n")).into_owned();
            assert!(shown.strip_prefix("***").is_some_and(|rest| rest.len() < 5), "{shown}");
        }
    }

    #[test]
    fn without_secrets_nothing_is_copied() {
        let text = "a secret";
        assert!(matches!(Redactor::default().apply(text), Cow::Borrowed(shown) if std::ptr::eq(shown, text)));
        assert!(matches!(redactor(["hidden"]).apply(text), Cow::Borrowed(shown) if std::ptr::eq(shown, text)));
        assert_eq!(Redactor::default().to_pretty_json(&text).unwrap(), "\"a secret\"");
    }

    #[test]
    fn no_cut_goes_through_a_secret() {
        let redactor = redactor(["secret"]);
        assert_eq!((redactor.position_before("a secret", 5), redactor.position_after("a secret b", 5)), (2, 8));
        assert_eq!((redactor.position_before("a secret", 2), redactor.position_after("a secret", 8)), (2, 8));
        assert_eq!(redactor.length_without_broken_end(b"a secre"), 2);
        assert_eq!(redactor.length_without_broken_end(b"a secret"), 8);
        assert_eq!(Redactor::default().length_without_broken_end(b"a secre"), 7);
    }
}
