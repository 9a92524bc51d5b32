//! The format of recorded calls: one file per trial, as JSON for version control, without keys.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use base64::prelude::{BASE64_STANDARD, Engine};
use evalsuite::tooling::{BeginTrial, Placeholders, names_of_keys, variable, variable_names};
use evalsuite_records::file_replacement::replace_file;
use evalsuite_records::package_file::{LARGEST_CASSETTE, read_package_file_if_exists};
use evalsuite_schema::Value;
use evalsuite_schema::json::written_by_serde;
use hyper::HeaderMap;
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calls of services that one trial made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recording {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.model_calls/1"))]
    schema: String,
    /// Name of the suite.
    suite: String,
    /// Id of the case.
    case_id: String,
    /// Name of the target.
    target: String,
    /// Index of the trial, from 0.
    trial: u32,
    /// Names of the variables whose values were sent as keys. A replay sets those that are not set.
    pub(super) keys: BTreeSet<String>,
    /// Paths of the base URLs that were called, by their variables. In a replay, base URLs have the same paths.
    pub(super) base_paths: BTreeMap<String, String>,
    /// The calls, in the order in which they began.
    pub(super) calls: Vec<RecordedCall>,
}

written_by_serde!(Recording);

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedCall {
    pub(super) request: RecordedRequest,
    pub(super) response: RecordedResponse,
}

/// What a replay compares: not the keys, and not what clients change from call to call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedRequest {
    /// The variable with the base URL that was called.
    pub(super) variable: String,
    /// Method, such as `POST`.
    pub(super) method: String,
    /// Path after the path of the base URL, with the query but without keys in it.
    pub(super) path: String,
    /// Headers that change the answer, such as `anthropic-beta`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// The body; absent if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<RecordedBody>,
}

written_by_serde!(RecordedRequest);

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordedBody {
    /// An object or a list.
    Json(#[schemars(with = "serde_json::Value")] Value),
    /// Any other text.
    Text(String),
    /// Bytes that are not UTF-8.
    Base64(String),
}

/// The status of a response that its client did not wait for.
pub(super) const NO_STATUS: u16 = 0;

/// A response, which a replay sends again byte by byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedResponse {
    /// Status, such as 200; 0 if the client went away before there was an answer.
    pub(super) status: u16,
    /// Headers that clients use.
    pub(super) headers: BTreeMap<String, String>,
    /// The parts of the body as they arrived.
    pub(super) parts: Vec<RecordedPart>,
    /// Whether the response broke off, or its client went away, before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_cut: bool,
}

/// A part of the body of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedPart {
    /// Time since the part before, or since the request, in milliseconds.
    pub(super) after_ms: u64,
    /// The bytes, if they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Recording {
    const SCHEMA: &'static str = "evalsuite.model_calls/1";

    pub(super) fn new(
        trial: &BeginTrial,
        keys: BTreeSet<String>,
        base_paths: BTreeMap<String, String>,
        calls: Vec<RecordedCall>,
    ) -> Self {
        let BeginTrial { suite, case_id, target, trial, .. } = trial.clone();
        Self { schema: Self::SCHEMA.to_owned(), suite, case_id, target, trial, keys, base_paths, calls }
    }

    /// Reads a recording; `None` if there is no file.
    pub(super) fn read(file: &Path) -> io::Result<Option<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}{what}", file.display()));
        let Some(bytes) = read_package_file_if_exists(file, LARGEST_CASSETTE)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?
        else {
            return Ok(None);
        };
        let recording = evalsuite_schema::json::from_slice(&bytes).and_then(|value: Value| Self::deserialize(value));
        let recording = recording.map_err(|error| {
            // With the line of a value of another type.
            let error = serde_json::from_slice::<Self>(&bytes).err().unwrap_or(error);
            invalid(format!(" is not a recording of model calls: {error}"))
        })?;
        if recording.schema != Self::SCHEMA {
            return Err(invalid(format!(": `schema` is {}, not {}", recording.schema, Self::SCHEMA)));
        }
        Ok(Some(recording))
    }

    /// Writes the recording without secrets. Readers see the old file or the new one.
    pub(super) fn write(&self, file: &Path, secrets: &Placeholders) -> io::Result<()> {
        let hidden: Value = evalsuite_schema::json::from_str(&secrets.hide_in(self)?)?;
        let mut json = serde_json::to_vec_pretty(&hidden)?;
        json.push(b'\n');
        if json.len() as u64 > LARGEST_CASSETTE {
            let message = format!("it would have more than {LARGEST_CASSETTE} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        replace_file(file, &json)
    }
}

impl RecordedRequest {
    /// The call for messages: `POST /chat/completions of OPENAI_BASE_URL`.
    pub(super) fn label(&self) -> String {
        format!("{} {} of {}", self.method, self.path, self.variable)
    }
}

impl RecordedBody {
    /// `None` of an empty body.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let Ok(text) = str::from_utf8(bytes) else { return Some(Self::Base64(BASE64_STANDARD.encode(bytes))) };
        Some(match evalsuite_schema::json::from_str(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => Self::Json(value),
            _ => Self::Text(text.to_owned()),
        })
    }
}

impl RecordedPart {
    pub(super) fn new(after_ms: u64, bytes: &[u8]) -> Self {
        let text = str::from_utf8(bytes).ok().map(str::to_owned);
        let base64 = text.is_none().then(|| BASE64_STANDARD.encode(bytes));
        Self { after_ms, text, base64 }
    }

    /// The bytes to send, with the values of variables for their placeholders.
    pub(super) fn bytes(&self, secrets: &Placeholders) -> io::Result<Vec<u8>> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Ok(secrets.restore(text).into_bytes()),
            (None, Some(base64)) => BASE64_STANDARD.decode(base64).map_err(io::Error::other),
            _ => Err(io::Error::other("a part of a response needs either `text` or `base64`")),
        }
    }
}

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
