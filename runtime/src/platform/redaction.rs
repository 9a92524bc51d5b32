//! Secrets kept out of everything that is written or printed.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::platform::environment;

/// Length of the shortest value that is hidden, in characters. A shorter value would hide ordinary words.
const SHORTEST: usize = 6;

/// The secrets of all cases of this process. Process-wide, because a program can print the whole environment it inherits: the
/// output of a case's hook can contain the secrets of other cases.
static ALL_SECRETS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The text with the secrets of all cases of this process hidden.
pub(crate) fn without_secrets(text: &str) -> String {
    let all = ALL_SECRETS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Redactor::from_values(all).apply(text)
}

/// Replaces the values of the variables a case uses with `***`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor(Vec<String>);

impl Redactor {
    /// Hides the values of these variables.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let redactor = Self::from_values(names.into_iter().filter_map(environment::var));
        let mut all = ALL_SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(redactor.0.iter().cloned());
        redactor
    }

    pub(crate) fn from_values(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.chars().count() >= SHORTEST).collect();
        // A value is replaced before the values it contains.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// Also hides the values of these variables.
    pub(crate) fn and<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::from_values(self.0.iter().cloned().chain(Self::of(names).0))
    }

    pub(crate) fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }

    /// Hides values in every string of a JSON value, except keys.
    pub(crate) fn apply_to(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::String(text) => *text = self.apply(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply_to(item)),
            Value::Object(object) => object.values_mut().for_each(|item| self.apply_to(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_hidden_wherever_they_stand() {
        let redactor = Redactor::from_values(["secret".into(), "secret-long".into(), "short".into()]);
        assert_eq!(redactor.apply("a secret-long, a secret, a short"), "a ***, a ***, a short");
        let mut value = json!({"secret": ["my secret", 1]});
        redactor.apply_to(&mut value);
        assert_eq!(value, json!({"secret": ["my ***", 1]}));
    }
}
