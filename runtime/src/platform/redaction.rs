use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use crate::platform::environment;

/// Shortest value that is hidden; a shorter one would hide ordinary words.
const SHORTEST: usize = 6;

/// The values of all cases of this process.
static ALL: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The text without the secrets of any case of this process.
pub(crate) fn without_secrets(text: &str) -> String {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Redactor::from_values(all).apply(text)
}

/// Replaces the values of variables a case uses, so that no secret reaches a record or a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor(Vec<String>);

impl Redactor {
    /// Hides the values of these variables.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let redactor = Self::from_values(names.into_iter().filter_map(environment::var));
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(redactor.0.iter().cloned());
        redactor
    }

    pub(crate) fn from_values(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.chars().count() >= SHORTEST).collect();
        // A value that contains another one goes first.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// Hides the values of these variables, too.
    pub(crate) fn and<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::from_values(self.0.iter().cloned().chain(Self::of(names).0))
    }

    pub(crate) fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }

    /// Hides values in every text of a JSON value; keys stay.
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
