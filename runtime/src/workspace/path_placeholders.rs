//! What differs between machines, or is nobody's business, stands in a recording by its name.

use std::{fmt, path::Path};

use serde_json::Value;

use crate::{model::suite_location::Places, platform::environment};

/// Shortest value of a variable that is replaced; a shorter one would replace ordinary words.
const SHORTEST: usize = 6;

/// Values that are written as `${{ NAME }}`, and put back when the recording is read.
#[derive(Clone, Default)]
pub(crate) struct Placeholders {
    /// The longest value first: one that contains another goes before it.
    known: Vec<Known>,
}

#[derive(Clone)]
struct Known {
    name: String,
    value: String,
    is_path: bool,
}

impl fmt::Debug for Placeholders {
    /// Without the values, some of which are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.known.iter().map(|known| &known.name)).finish()
    }
}

impl Placeholders {
    /// The variables that are set, and directories of this run.
    pub(crate) fn new<'a>(
        variables: impl IntoIterator<Item = &'a str>,
        directories: impl IntoIterator<Item = (&'a str, &'a Path)>,
    ) -> Self {
        let variable = |name: &str| Some((name.to_owned(), environment::var(name)?));
        let variables = variables.into_iter().filter_map(variable);
        let directories =
            directories.into_iter().filter_map(|(name, path)| Some((name.to_owned(), path.to_str()?.to_owned())));
        Self::of(variables, directories)
    }

    /// Those of a trial: its variables, and the directories that differ between runs and machines.
    pub(crate) fn of_trial<'a>(
        variables: impl IntoIterator<Item = &'a str>,
        places: &'a Places,
        directory: &'a Path,
        workspace: &'a Path,
    ) -> Self {
        Self::new(
            variables,
            [
                ("EVALSUITE_WORKSPACE", workspace),
                ("EVALSUITE_TRIAL_DIR", directory),
                ("EVALSUITE_SUITE_DIR", places.suite_dir.as_path()),
                ("CARGO_MANIFEST_DIR", places.package_root.as_path()),
            ],
        )
    }

    fn of(
        variables: impl IntoIterator<Item = (String, String)>,
        directories: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let variables = variables
            .into_iter()
            .filter(|(_, value)| value.chars().count() >= SHORTEST)
            .map(|(name, value)| Known { name, value, is_path: false });
        let directories = directories
            .into_iter()
            .filter(|(_, value)| Path::new(value).components().count() > 1)
            .map(|(name, value)| Known { name, value, is_path: true });
        let mut known: Vec<Known> = variables.chain(directories).collect();
        known.sort_by_key(|known| std::cmp::Reverse(known.value.len()));
        Self { known }
    }

    /// The text with names in place of values; of several values at one place the longest.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut found: Vec<(usize, &Known)> = Vec::new();
        for known in &self.known {
            let ends = |at: &usize| !known.is_path || ends_a_path(&text[at + known.value.len()..]);
            found.extend(text.match_indices(&known.value).map(|(at, _)| at).filter(ends).map(|at| (at, known)));
        }
        // Stable: the longest value stays the first at its place.
        found.sort_by_key(|(at, _)| *at);
        let mut hidden = String::new();
        let mut done = 0;
        for (at, known) in found {
            if at >= done {
                hidden.push_str(&text[done..at]);
                hidden.push_str(&format!("${{{{ {} }}}}", known.name));
                done = at + known.value.len();
            }
        }
        hidden.push_str(&text[done..]);
        hidden
    }

    /// The text with values in place of the names that are known.
    pub(crate) fn restore(&self, text: &str) -> String {
        let mut restored = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${{ ") {
            let inside = start + "${{ ".len();
            let found = rest[inside..].find(" }}").and_then(|length| {
                let known = self.known.iter().find(|known| known.name == rest[inside..inside + length])?;
                Some((known, inside + length + " }}".len()))
            });
            let (shown, end) = match found {
                Some((known, end)) => (known.value.as_str(), end),
                None => (&rest[start..inside], inside),
            };
            restored.push_str(&rest[..start]);
            restored.push_str(shown);
            rest = &rest[end..];
        }
        restored.push_str(rest);
        restored
    }

    /// Hides in every text of a JSON value, keys too.
    pub(crate) fn hide_in(&self, value: Value) -> Value {
        map(value, &|text| self.hide(&text))
    }

    /// The reverse of [`hide_in`](Self::hide_in).
    pub(crate) fn restore_in(&self, value: Value) -> Value {
        map(value, &|text| self.restore(&text))
    }

    /// Name of a variable whose value these bytes hold.
    pub(crate) fn secret_in(&self, bytes: &[u8]) -> Option<&str> {
        let holds = |value: &str| bytes.windows(value.len()).any(|window| window == value.as_bytes());
        self.known.iter().find(|known| !known.is_path && holds(&known.value)).map(|known| known.name.as_str())
    }
}

/// Whether a path that stands before this text is whole: `/tmp/a` does not stand in `/tmp/ab`.
fn ends_a_path(rest: &str) -> bool {
    !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '.' | '_' | '-'))
        || rest.starts_with(". ")
        || rest == "."
}

fn map(value: Value, change: &impl Fn(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| map(item, change)).collect()),
        Value::Object(object) => {
            Value::Object(object.into_iter().map(|(key, item)| (change(key), map(item, change))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn placeholders() -> Placeholders {
        let text = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Placeholders::of(
            text(&[("KEY", "secret"), ("LONG_KEY", "secret-long"), ("SHORT", "abc")]),
            text(&[("WORKSPACE", "/run/trial/workspace"), ("TRIAL", "/run/trial"), ("ROOT", "/")]),
        )
    }

    #[test]
    fn values_are_named_and_put_back() {
        let text = "a secret-long, a secret, abc, in /run/trial/workspace/x and /run/trial.";
        let hidden = "a ${{ LONG_KEY }}, a ${{ KEY }}, abc, in ${{ WORKSPACE }}/x and ${{ TRIAL }}.";
        assert_eq!(placeholders().hide(text), hidden);
        assert_eq!(placeholders().restore(hidden), text);
    }

    #[test]
    fn a_directory_is_not_its_namesake() {
        let text = "/run/trial-2 /run/trials /run/trial.d";
        assert_eq!(placeholders().hide(text), text);
    }

    #[test]
    fn names_that_are_not_known_stay() {
        let text = "${{ OTHER }} ${{ KEY} ${{ ${{ KEY }}";
        assert_eq!(placeholders().restore(text), "${{ OTHER }} ${{ KEY} ${{ secret");
    }

    #[test]
    fn keys_and_values_of_json_are_hidden() {
        let value = json!({"secret": ["my secret", 1]});
        let hidden = placeholders().hide_in(value.clone());
        assert_eq!(hidden, json!({"${{ KEY }}": ["my ${{ KEY }}", 1]}));
        assert_eq!(placeholders().restore_in(hidden), value);
    }

    #[test]
    fn a_secret_in_bytes_is_found() {
        assert_eq!(placeholders().secret_in(b"\0\xffsecret\0"), Some("KEY"));
        assert_eq!(placeholders().secret_in(b"\0/run/trial\0"), None);
    }
}
