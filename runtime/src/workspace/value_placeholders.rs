//! Placeholders in recordings for values that are secret or differ between machines.

use std::borrow::Cow;
use std::fmt;
use std::path::{MAIN_SEPARATOR, Path};

use evalsuite_schema::Value;
use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::sorting::sort_by;

use crate::model::suite_location::SuiteLocation;
use crate::platform::redaction::{Redactor, SHORTEST};
use crate::platform::{environment, json};

/// Values that are written as `${{ NAME }}`, and restored when the recording is read. Other forms of secrets, such as base64,
/// are written as `***`, which stays.
#[derive(Clone, Default)]
pub struct Placeholders {
    /// The longest value first: a value is replaced before the values it contains.
    hidden: Vec<HiddenValue>,
    redactor: Redactor,
}

#[derive(Clone)]
struct HiddenValue {
    name: String,
    value: String,
    is_path: bool,
    /// What separates the names after a path, if that is not `/` everywhere.
    separator: Option<&'static str>,
    /// Whether it takes the place of its placeholder when a recording is read.
    is_restored: bool,
}

impl fmt::Debug for Placeholders {
    /// Without the values, some of which are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.hidden.iter().map(|hidden| &hidden.name)).finish()
    }
}

impl HiddenValue {
    fn placeholder(&self) -> String {
        format!("${{{{ {} }}}}", self.name)
    }
}

impl Placeholders {
    /// Placeholders for the variables that are set, and for directories of this run.
    pub(crate) fn new<'a>(
        variables: impl IntoIterator<Item = &'a str>,
        directories: impl IntoIterator<Item = (&'a str, &'a Path)>,
    ) -> Self {
        let variables = variables.into_iter().filter_map(|name| Some((name.to_owned(), environment::var(name)?)));
        let paths =
            directories.into_iter().filter_map(|(name, path)| Some((name.to_owned(), path.to_str()?.to_owned())));
        Self::with_separator(variables.collect(), paths.collect(), MAIN_SEPARATOR)
    }

    /// Placeholders of a trial: its variables, the directories that differ between runs and machines, and all else that may
    /// not be written.
    pub(crate) fn of_trial<'a>(
        variables: impl IntoIterator<Item = &'a str>,
        redactor: &Redactor,
        suite: &'a SuiteLocation,
        directory: &'a Path,
        workspace: &'a Path,
    ) -> Self {
        let placeholders = Self::new(
            variables,
            [
                ("EVALSUITE_WORKSPACE", workspace),
                ("EVALSUITE_TRIAL_DIR", directory),
                ("EVALSUITE_SUITE_DIR", suite.suite_dir.as_path()),
                ("CARGO_MANIFEST_DIR", suite.package_root.as_path()),
            ],
        );
        Self { redactor: redactor.clone(), ..placeholders }
    }

    /// Placeholders for variables with secrets. Other secrets are hidden, and not restored.
    pub fn of_secrets<'a>(names: impl IntoIterator<Item = &'a str>, others: impl IntoIterator<Item = String>) -> Self {
        let placeholders = Self::new(names, []);
        let values = placeholders.hidden.iter().map(|hidden| hidden.value.clone()).chain(others);
        Self { redactor: Redactor::default().with_values(values), ..placeholders }
    }

    fn with_separator(variables: Vec<(String, String)>, directories: Vec<(String, String)>, separator: char) -> Self {
        let mut hidden = Vec::new();
        for (name, value) in variables {
            if value.chars().count() >= SHORTEST {
                hidden.push(HiddenValue { name, value, is_path: false, separator: None, is_restored: true });
            }
        }
        for (name, value) in directories {
            if value.split(['/', separator]).filter(|part| !part.is_empty()).count() > 1 {
                hidden.extend(spellings(&name, value, separator));
            }
        }
        sort_by(&mut hidden, |one, other| other.value.len().cmp(&one.value.len()));
        Self { hidden, redactor: Redactor::default() }
    }

    /// The text with placeholders for values; of several values at one position, for the longest.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found: Vec<(usize, &HiddenValue)> = Vec::new();
        for known in &self.hidden {
            // Most texts have none, which is found out faster than where.
            if !text.contains(&known.value) {
                continue;
            }
            let ends = |at: &usize| !known.is_path || ends_a_path(&text[at + known.value.len()..]);
            found.extend(text.match_indices(&known.value).map(|(at, _)| at).filter(ends).map(|at| (at, known)));
        }
        // Stable: the longest value stays first at its position.
        sort_by(&mut found, |one, other| one.0.cmp(&other.0));
        if found.is_empty() {
            return self.redactor.apply(text);
        }
        let mut hidden = String::new();
        let mut done = 0;
        // The names after a path, and what separates them.
        let (mut names_end, mut separator) = (0, "/");
        let push = |hidden: &mut String, from: usize, to: usize, names_end: usize, separator| {
            let end = names_end.clamp(from, to);
            hidden.push_str(&text[from..end].replace(separator, "/"));
            hidden.push_str(&text[end..to]);
        };
        for (at, known) in found {
            if at >= done {
                push(&mut hidden, done, at, names_end, separator);
                hidden.push_str(&known.placeholder());
                done = at + known.value.len();
                if let Some(between) = known.separator {
                    (names_end, separator) = (done + path_after(&text[done..]).len(), between);
                }
            }
        }
        push(&mut hidden, done, text.len(), names_end, separator);
        Cow::Owned(self.redactor.apply(&hidden).into_owned())
    }

    /// The text with values for the placeholders that [`hide`](Self::hide) writes. `${{NAME}}` without spaces is text.
    pub fn restore(&self, text: &str) -> String {
        let mut restored = String::new();
        let mut end = 0;
        for found in Syntax::Variable.placeholders(text) {
            let is_named = |hidden: &&HiddenValue| hidden.placeholder() == text[found.range.clone()];
            let known = self.hidden.iter().filter(|hidden| hidden.is_restored).find(is_named);
            if let Some(hidden) = known {
                restored.push_str(&text[end..found.range.start]);
                restored.push_str(&hidden.value);
                end = found.range.end;
            }
        }
        restored + &text[end..]
    }

    /// JSON in one line with values hidden in every text, including keys of maps.
    pub fn hide_in(&self, data: &dyn ToJson) -> serde_json::Result<String> {
        json::compact(data, Some(&|text| self.hide(text)))
    }

    /// The reverse of [`hide_in`](Self::hide_in).
    pub(crate) fn decode<T: FromJson>(&self, hidden: &[u8]) -> serde_json::Result<T> {
        if !String::from_utf8_lossy(hidden).contains("${{") {
            return json::decode(hidden);
        }
        let hidden: Value = json::decode(hidden)?;
        json::decode(json::compact(&hidden, Some(&|text| Cow::Owned(self.restore(text))))?.as_bytes())
    }

    /// Name of a variable whose value is in these bytes.
    pub fn secret_in(&self, bytes: &[u8]) -> Option<&str> {
        let text = String::from_utf8_lossy(bytes);
        // JSON has the value with escapes.
        let is_in = |value: &str| text.contains(value) || escaped(value).is_some_and(|escaped| text.contains(&escaped));
        let known = self.hidden.iter().find(|hidden| !hidden.is_path && is_in(&hidden.value));
        let is_secret = || self.redactor.is_in(bytes).then_some("a variable");
        known.map(|hidden| hidden.name.as_str()).or_else(is_secret)
    }
}

/// A path in every form that texts have. A recording has `/` on every system.
fn spellings(name: &str, path: String, separator: char) -> Vec<HiddenValue> {
    let spelling = |value, separator, is_restored| HiddenValue {
        name: name.to_owned(),
        value,
        is_path: true,
        separator,
        is_restored,
    };
    if separator == '/' {
        return vec![spelling(path, None, true)];
    }
    let escaped = spelling(path.replace('\\', r"\\"), Some(r"\\"), false);
    // A path that begins with `\\` is read as it is: `/` does not separate names in it.
    if path.starts_with(r"\\") {
        return vec![spelling(path, Some(r"\"), true), escaped];
    }
    vec![spelling(path.replace('\\', "/"), Some(r"\"), true), spelling(path, Some(r"\"), false), escaped]
}

/// The beginning of a text after a directory that belongs to the same path.
fn path_after(text: &str) -> &str {
    let ends = |next: char| next.is_whitespace() || next.is_control() || "\"'`<>|?*:;,()[]{}".contains(next);
    &text[..text.find(ends).unwrap_or(text.len())]
}

/// The value as a string of JSON has it, if that is another text.
fn escaped(value: &str) -> Option<String> {
    let written = serde_json::to_string(value).ok()?;
    let escaped = written.strip_prefix('"')?.strip_suffix('"')?;
    (escaped != value).then(|| escaped.to_owned())
}

/// Whether a path in front of this text ends here: `/tmp/ab` does not contain the path `/tmp/a`.
fn ends_a_path(rest: &str) -> bool {
    !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '.' | '_' | '-'))
        || rest.starts_with(". ")
        || rest == "."
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn placeholders() -> Placeholders {
        let text = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Placeholders::with_separator(
            text(&[("KEY", "secret"), ("LONG_KEY", "secret-long"), ("SHORT", "abc")]),
            text(&[("WORKSPACE", "/run/trial/workspace"), ("TRIAL", "/run/trial"), ("ROOT", "/")]),
            '/',
        )
    }

    #[test]
    fn values_are_replaced_and_restored() {
        let text = "a secret-long, a secret, abc, in /run/trial/workspace/x and /run/trial.";
        let hidden = "a ${{ LONG_KEY }}, a ${{ KEY }}, abc, in ${{ WORKSPACE }}/x and ${{ TRIAL }}.";
        assert_eq!(placeholders().hide(text), hidden);
        assert_eq!(placeholders().restore(hidden), text);
    }

    #[test]
    fn a_directory_is_not_replaced_in_a_longer_name() {
        let text = "/run/trial-2 /run/trials /run/trial.d";
        assert_eq!(placeholders().hide(text), text);
    }

    #[test]
    fn unknown_placeholders_are_text() {
        let text = "${{ OTHER }} ${{KEY}} ${{ KEY} ${{ ${{ KEY }}";
        assert_eq!(placeholders().restore(text), "${{ OTHER }} ${{KEY}} ${{ KEY} ${{ secret");
    }

    #[test]
    fn keys_and_values_of_json_are_hidden() {
        let value = json!({"secret": ["my secret", 1]});
        let hidden: Value = evalsuite_schema::json::from_str(&placeholders().hide_in(&value).unwrap()).unwrap();
        assert_eq!(hidden, json!({"${{ KEY }}": ["my ${{ KEY }}", 1]}));
        assert_eq!(placeholders().decode::<Value>(hidden.to_string().as_bytes()).unwrap(), value);
    }

    #[test]
    fn recordings_name_paths_in_the_same_way_on_every_system() {
        let directories = vec![("WORKSPACE".to_owned(), r"C:\run\workspace".to_owned())];
        let windows = Placeholders::with_separator(Vec::new(), directories, '\\');
        for (text, hidden) in [
            (
                r"in C:\run\workspace\a\b.txt, and C:\run\workspace.",
                "in ${{ WORKSPACE }}/a/b.txt, and ${{ WORKSPACE }}.",
            ),
            (r"C:/run/workspace/a/b.txt", "${{ WORKSPACE }}/a/b.txt"),
            (r#"{"path":"C:\\run\\workspace\\a\\b\n"}"#, r#"{"path":"${{ WORKSPACE }}/a/b\n"}"#),
            (r"C:\run\workspaces\a", r"C:\run\workspaces\a"),
        ] {
            assert_eq!(windows.hide(text), hidden);
        }
        assert_eq!(windows.restore("${{ WORKSPACE }}/a"), "C:/run/workspace/a");
    }

    #[test]
    fn a_secret_with_escapes_is_found_in_json() {
        let secrets = vec![("KEY".to_owned(), r#"pass"word\1"#.to_owned())];
        let placeholders = Placeholders::with_separator(secrets, Vec::new(), MAIN_SEPARATOR);
        let json = serde_json::to_vec(&json!({"note": r#"it is pass"word\1."#})).unwrap();
        assert_eq!(placeholders.secret_in(&json), Some("KEY"));
        assert_eq!(placeholders.secret_in(br"pass\word"), None);
    }

    #[test]
    fn a_secret_in_bytes_is_found() {
        assert_eq!(placeholders().secret_in(b"\0\xffsecret\0"), Some("KEY"));
        assert_eq!(placeholders().secret_in(b"\0/run/trial\0"), None);
    }
}
