//! Keys, which never reach a recording.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::prelude::{BASE64_STANDARD, Engine};
use evalsuite::tooling::{Placeholders, names_of_keys, variable, variable_names};
use hyper::HeaderMap;
use percent_encoding::percent_decode_str;

/// Headers of requests whose values are compared and recorded. No other header is recorded.
const RECORDED_HEADERS: [&str; 4] = ["anthropic-beta", "anthropic-version", "content-type", "openai-beta"];

/// Parts of names of headers and of parameters of a query that contain keys.
const PARTS_OF_NAMES: [&str; 6] = ["key", "token", "secret", "password", "signature", "credential"];

/// The keys that are known: values of variables, and what calls have sent.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownSecrets {
    names: BTreeSet<String>,
    values: BTreeSet<String>,
    placeholders: Placeholders,
}

/// The keys of one call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KeysOfCall {
    values: BTreeSet<String>,
    /// Variables that have one of the values.
    pub(super) variables: BTreeSet<String>,
}

impl KnownSecrets {
    /// The variables whose names say that they are secret.
    pub(super) fn of_environment() -> Self {
        let mut known = Self::default();
        known.add(names_of_keys(), []);
        known
    }

    /// Adds names of variables, and values.
    pub(super) fn add(&mut self, names: impl IntoIterator<Item = String>, values: impl IntoIterator<Item = String>) {
        let before = self.names.len() + self.values.len();
        self.names.extend(names);
        self.values.extend(values);
        if self.names.len() + self.values.len() > before {
            let names = self.names.iter().map(String::as_str);
            self.placeholders = Placeholders::of_secrets(names, self.values.iter().cloned());
        }
    }

    pub(super) fn add_call(&mut self, keys: &KeysOfCall) {
        self.add(keys.variables.iter().cloned(), keys.values.iter().cloned());
    }

    /// What hides them.
    pub(super) fn placeholders(&self) -> &Placeholders {
        &self.placeholders
    }
}

impl KeysOfCall {
    /// The keys in the headers and the query of a request.
    pub(super) fn of(headers: &HeaderMap, path: &str) -> Self {
        let mut values = BTreeSet::new();
        for (name, value) in headers {
            let Ok(value) = value.to_str() else { continue };
            let name = name.as_str();
            if name == "cookie" || name.contains("auth") || is_named_as_key(name) {
                values.extend(keys_of_header(name, value));
            }
        }
        let (_, query) = path.split_once('?').unwrap_or_default();
        for (_, value) in
            query.split('&').filter_map(|pair| pair.split_once('=')).filter(|(name, _)| is_named_as_key(name))
        {
            values.insert(value.to_owned());
            values.insert(percent_decode_str(value).decode_utf8_lossy().into_owned());
        }
        // In a replay, the name of a key may take the place of its value.
        values.retain(|value| !value.is_empty() && !value.starts_with("${{ "));
        if values.is_empty() {
            return Self::default();
        }
        let has_value = |name: &String| variable(name).is_some_and(|value| values.contains(&value));
        let variables = variable_names().into_iter().filter(has_value).collect();
        Self { values, variables }
    }
}

/// The headers of a request that are recorded.
pub(super) fn recorded_headers(headers: &HeaderMap) -> impl Iterator<Item = (&'static str, &str)> {
    RECORDED_HEADERS.into_iter().filter_map(|name| Some((name, headers.get(name)?.to_str().ok()?)))
}

/// The path without the parameters of its query that are keys.
pub(super) fn without_keys(path: &str) -> Cow<'_, str> {
    let Some((path, query)) = path.split_once('?') else { return Cow::Borrowed(path) };
    let kept = query.split('&').filter(|pair| !is_named_as_key(pair.split('=').next().unwrap_or_default()));
    let kept: Vec<&str> = kept.collect();
    Cow::Owned(if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) })
}

/// Whether the name of a header or a parameter says that the value is a key: `x-api-key`, `access_token`, `sig`.
fn is_named_as_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // A number of tokens is not a token.
    (PARTS_OF_NAMES.iter().any(|part| name.contains(part)) && !name.contains("tokens"))
        || name == "sig"
        || name == "auth"
}

/// The keys in the value of a header: with a scheme in front, as pairs of cookies, as user and password.
fn keys_of_header(name: &str, value: &str) -> Vec<String> {
    if name == "cookie" {
        return value.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim().to_owned())).collect();
    }
    let Some((scheme, key)) = value.trim().split_once(' ') else { return vec![value.trim().to_owned()] };
    let mut keys = vec![key.trim().to_owned()];
    if scheme.eq_ignore_ascii_case("basic")
        && let Some(pair) = BASE64_STANDARD.decode(key.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        && let Some((_, password)) = pair.split_once(':')
    {
        keys.push(password.to_owned());
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(headers: &[(&'static str, &'static str)], path: &str) -> Vec<String> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        KeysOfCall::of(&headers, path).values.into_iter().collect()
    }

    #[test]
    fn keys_are_found_wherever_clients_send_them() {
        assert_eq!(keys(&[("authorization", "Bearer sk-1234567")], "/v1"), ["sk-1234567"]);
        assert_eq!(keys(&[("authorization", "sk-1234567")], "/v1"), ["sk-1234567"]);
        assert_eq!(
            keys(&[("authorization", "Basic bWU6c2VjcmV0LXBhc3M=")], ""),
            ["bWU6c2VjcmV0LXBhc3M=", "secret-pass"]
        );
        for name in
            ["x-api-key", "api-key", "x-goog-api-key", "x-amz-security-token", "xi-api-key", "x-portkey-api-key"]
        {
            assert_eq!(keys(&[(name, "sk-1234567")], ""), ["sk-1234567"], "{name}");
        }
        assert_eq!(keys(&[("cookie", "a=session-1; b=session-2")], ""), ["session-1", "session-2"]);
        assert_eq!(keys(&[], "/v1beta/models/m:generate?alt=sse&key=AIza%2F1"), ["AIza%2F1", "AIza/1"]);
        assert_eq!(
            keys(&[("anthropic-beta", "token-counting"), ("user-agent", "x")], "/?max_tokens=5"),
            [] as [&str; 0]
        );
    }

    #[test]
    fn keys_are_not_in_recorded_paths() {
        for (path, recorded) in [
            ("/m:generate?alt=sse&key=AIza", "/m:generate?alt=sse"),
            ("/m:generate?key=AIza", "/m:generate"),
            ("/m?api-version=1&access_token=x&page=2", "/m?api-version=1&page=2"),
            ("/m", "/m"),
        ] {
            assert_eq!(without_keys(path), recorded);
        }
    }
}
