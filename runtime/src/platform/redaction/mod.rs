//! Redaction of secrets in everything that is written or printed, also in panic messages of agents and graders.

mod secret_forms;
#[cfg(test)]
mod tests;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Arc, Once, PoisonError, RwLock};
use std::{fmt, thread};

use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::sorting::{set, sort_by};

use self::secret_forms::{SearchedText, SecretForm, forms};
use crate::platform::errors::panic_message;
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

/// Replaces the values of the variables a case uses with `***`, as they are and as programs write them: as JSON, in a URL, for a shell or as base64.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Option<Arc<Secrets>>);

#[derive(Default)]
struct Secrets {
    /// The values, with the variable that has it where that is known.
    values: BTreeMap<String, Option<String>>,
    forms: Vec<SecretForm>,
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
        self.and_secrets(names.into_iter().filter_map(|name| Some((environment::var(name)?, Some(name.to_owned())))))
    }

    /// Also hides these values.
    pub(crate) fn and_values(&self, values: impl IntoIterator<Item = String>) -> Self {
        self.and_secrets(values.into_iter().map(|value| (value, None)))
    }

    fn and_secrets(&self, secrets: impl Iterator<Item = (String, Option<String>)>) -> Self {
        let redactor = self.with_secrets(secrets);
        if let Some(secrets) = &redactor.0 {
            hide_secrets();
            let mut all = ALL_SECRETS.write().unwrap_or_else(PoisonError::into_inner);
            *all = all.with_secrets(secrets.values.iter().map(|(value, name)| (value.clone(), name.clone())));
        }
        redactor
    }

    /// Also hides these values, which the process does not hide elsewhere.
    pub(crate) fn with_values(&self, values: impl IntoIterator<Item = String>) -> Self {
        self.with_secrets(values.into_iter().map(|value| (value, None)))
    }

    fn with_secrets(&self, secrets: impl Iterator<Item = (String, Option<String>)>) -> Self {
        let mut values = self.0.as_deref().map(|known| known.values.clone()).unwrap_or_default();
        let mut is_known = true;
        for (value, name) in secrets.filter(|(value, _)| value.chars().count() >= SHORTEST) {
            let known = values.entry(value).or_insert_with(|| {
                is_known = false;
                None
            });
            if known.is_none() && name.is_some() {
                (*known, is_known) = (name, false);
            }
        }
        if is_known {
            return self.clone();
        }
        let forms = set(values.keys().flat_map(|value| forms(value)));
        Self(Some(Arc::new(Secrets { values, forms: forms.into_iter().collect() })))
    }

    /// Whether it hides nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn forms(&self) -> &[SecretForm] {
        self.0.as_ref().map_or(&[], |secrets| &secrets.forms)
    }

    /// The text with secrets hidden.
    pub(crate) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replaced(text, |_| HIDDEN.into())
    }

    /// The text with secrets hidden, for an error: what is the value of a variable as it is, is written as the variable.
    pub(crate) fn name_in(&self, text: &str) -> String {
        let name = |value: &str| self.0.as_ref()?.values.get(value)?.as_deref();
        let shown = |value: &str| name(value).map_or(HIDDEN.into(), |name| format!("${{{{ {name} }}}}").into());
        self.replaced(text, shown).into_owned()
    }

    fn replaced<'t>(&self, text: &'t str, shown: impl Fn(&str) -> Cow<'static, str>) -> Cow<'t, str> {
        let found = self.found_in(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        for secret in found {
            replaced.push_str(&text[end..secret.start]);
            end = secret.end;
            replaced.push_str(&shown(&text[secret]));
        }
        replaced.push_str(&text[end..]);
        Cow::Owned(replaced)
    }

    /// Whether a secret is in these bytes.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        !self.is_empty() && !self.found_in(&String::from_utf8_lossy(bytes)).is_empty()
    }

    /// JSON with line breaks, with secrets hidden in all texts, also in the keys of maps. Names of fields and variants stay.
    pub(crate) fn to_pretty_json(&self, data: &dyn ToJson) -> serde_json::Result<String> {
        json::pretty(data, (!self.is_empty()).then_some(&|text| self.apply(text)))
    }

    /// The data with secrets hidden in all texts, also in the keys of maps.
    pub(crate) fn redacted<T: ToJson + FromJson>(&self, data: T) -> serde_json::Result<T> {
        if self.is_empty() {
            return Ok(data);
        }
        let hidden = json::compact(&data, Some(&|text| self.apply(text)))?;
        T::from_json(json::decode(hidden.as_bytes())?)
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
        // Secrets that overlap are one: some more on either side is enough for any that occur.
        let around = 2 * self.forms().iter().map(SecretForm::extent).max()?;
        let start = (0..=at.saturating_sub(around)).rev().find(|start| text.is_char_boundary(*start))?;
        let end = (at.saturating_add(around)..).find(|end| *end >= text.len() || text.is_char_boundary(*end))?;
        let found = self.found_in(&text[start..end.min(text.len())]);
        let found = found.into_iter().map(|secret| start + secret.start..start + secret.end);
        found.into_iter().find(|secret| secret.start < at && at < secret.end)
    }

    /// Length of a text of which the end is missing, without the beginning of a secret there.
    pub(crate) fn length_without_broken_end(&self, text: &[u8]) -> usize {
        let Some(extent) = self.forms().iter().map(SecretForm::extent).max() else { return text.len() };
        let before = text.len().saturating_sub(2 * extent);
        let mut at = before;
        let mut last = (text.len(), "");
        for chunk in text[before..].utf8_chunks() {
            if !chunk.valid().is_empty() {
                last = (at, chunk.valid());
            }
            at += chunk.valid().len() + chunk.invalid().len();
        }
        let (start, last) = last;
        // Of a character that the end cuts, up to three bytes are there.
        if start + last.len() + 3 < text.len() {
            return text.len();
        }
        let searched = SearchedText::new(last);
        let broken = self.forms().iter().filter_map(|form| form.broken_end(&searched)).min();
        // What looks like the beginning of one secret may be within another one.
        broken.map_or(text.len(), |broken| start + self.position_before(last, broken))
    }

    /// Where secrets are, in order; those that overlap are one.
    fn found_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.is_empty() {
            return found;
        }
        let searched = SearchedText::new(text);
        self.forms().iter().for_each(|form| form.find(&searched, &mut found));
        sort_by(&mut found, |one, other| one.start.cmp(&other.start));
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

/// From now on, a panic whose message contains a secret is shown without it. Any other panic is shown as before.
fn hide_secrets() {
    static HOOK: Once = Once::new();
    // A thread that panics cannot change the hook; the next case will.
    if thread::panicking() {
        return;
    }
    HOOK.call_once(|| {
        let show = take_hook();
        set_hook(Box::new(move |panic| {
            let message = panic_message(panic.payload());
            let shown = without_secrets(&message);
            if shown == message { show(panic) } else { eprintln!("{}", without_message(panic, &shown)) }
        }));
    });
}

/// What the standard library shows of a panic, with another message.
fn without_message(panic: &PanicHookInfo<'_>, message: &str) -> String {
    let current = thread::current();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let backtrace = Backtrace::capture();
    let calls = match backtrace.status() {
        BacktraceStatus::Captured => format!("\nstack backtrace:\n{backtrace}"),
        _ => String::new(),
    };
    format!("\nthread '{}' panicked{place}:\n{message}{calls}", current.name().unwrap_or("<unnamed>"))
}
