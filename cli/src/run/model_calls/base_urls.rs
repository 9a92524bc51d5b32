//! The base URLs of services whose calls go through the proxy.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite::tooling::{SuiteDescription, variable};
use ureq::http::Uri;

use super::secrets::without_keys;
use crate::platform::cli_error::{CliError, Result};

/// What the clients of vendors read, and their base URLs.
const OF_VENDORS: [(&str, &str); 2] =
    [("OPENAI_BASE_URL", "https://api.openai.com/v1"), ("ANTHROPIC_BASE_URL", "https://api.anthropic.com")];

/// The keys that the clients of vendors require.
pub(super) const KEYS_OF_VENDORS: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// A base URL whose server is the proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BaseUrl {
    /// The variable with the URL.
    pub(super) variable: String,
    /// Scheme and authority of the service, such as `https://api.openai.com`; empty if it is not known, in a replay.
    pub(super) origin: String,
    /// User and password of the URL with their `@`, for the client.
    user: String,
    /// Path and query.
    rest: String,
}

impl BaseUrl {
    /// The base URLs of vendors, and those that suites name. In a replay, none has to be set; `recorded` are their paths.
    pub(super) fn all(suites: &[SuiteDescription], recorded: Option<&BTreeMap<String, String>>) -> Result<Vec<Self>> {
        let mut names: BTreeSet<&str> = OF_VENDORS.iter().map(|(name, _)| *name).collect();
        names.extend(suites.iter().flat_map(|suite| &suite.model_urls).map(String::as_str));
        let url = |name: &str| {
            let set = variable(name).filter(|value| !value.trim().is_empty());
            let vendor = || OF_VENDORS.iter().find(|(known, _)| *known == name).map(|(_, url)| (*url).to_owned());
            if let Some(path) = recorded.and_then(|paths| paths.get(name)) {
                return Ok(Self { variable: name.to_owned(), rest: path.clone(), ..Self::default() });
            }
            match set.or_else(vendor) {
                Some(url) => Self::parse(name, url.trim()),
                None if recorded.is_some() => Ok(Self { variable: name.to_owned(), ..Self::default() }),
                None => Err(CliError::with_help(
                    format!("{name} is not set, and `record` of a suite names it"),
                    format!("set {name} to the base URL of the service"),
                )),
            }
        };
        names.into_iter().map(url).collect()
    }

    pub(super) fn parse(variable: &str, url: &str) -> Result<Self> {
        let invalid = || {
            CliError::with_help(
                format!("{variable} is not the URL of a service"),
                "it starts with `http://` or `https://`, such as `https://api.openai.com/v1`",
            )
        };
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(invalid());
        };
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (format!("{user}@"), host),
            None => (String::new(), authority.as_str()),
        };
        let written = uri.path_and_query().map_or("", |rest| rest.as_str());
        // The parser adds a slash to a URL without a path.
        let rest = if written == "/" && !url.ends_with('/') { "" } else { written };
        Ok(Self { variable: variable.to_owned(), origin: format!("{scheme}://{host}"), user, rest: rest.to_owned() })
    }

    /// The base URL with another server.
    pub(super) fn at(&self, port: u16) -> String {
        format!("http://{}127.0.0.1:{port}{}", self.user, self.rest)
    }

    /// Path and query, without keys.
    pub(super) fn path(&self) -> String {
        without_keys(&self.rest).into_owned()
    }

    /// The password of the URL.
    pub(super) fn password(&self) -> Option<&str> {
        Some(self.user.strip_suffix('@')?.split_once(':')?.1)
    }

    /// The part of a path after the path of the base URL: it stays the same where the service has another URL.
    pub(super) fn relative(&self, path: &str) -> String {
        let base = self.rest.split('?').next().unwrap_or_default().trim_end_matches('/');
        let rest = path.strip_prefix(base).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        format!("/{}", rest.unwrap_or(path).trim_start_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> BaseUrl {
        BaseUrl::parse("MODEL_URL", url).unwrap()
    }

    #[test]
    fn a_client_finds_the_proxy_where_it_expects_the_service() {
        for (url, origin, proxied) in [
            ("https://api.openai.com/v1", "https://api.openai.com", "http://127.0.0.1:7/v1"),
            ("https://api.anthropic.com", "https://api.anthropic.com", "http://127.0.0.1:7"),
            ("http://localhost:11434/", "http://localhost:11434", "http://127.0.0.1:7/"),
            ("https://x/openai?api-version=1", "https://x", "http://127.0.0.1:7/openai?api-version=1"),
            ("https://me:secret@x/v1/", "https://x", "http://me:secret@127.0.0.1:7/v1/"),
        ] {
            let base = parsed(url);
            assert_eq!((base.origin.as_str(), base.at(7).as_str()), (origin, proxied), "{url}");
        }
        assert_eq!(parsed("https://me:secret@x/v1/").password(), Some("secret"));
    }

    #[test]
    fn paths_are_relative_to_the_base_url() {
        for (url, path, relative) in [
            ("https://x/v1", "/v1/chat", "/chat"),
            ("https://x/v1/", "/v1/chat?a=b", "/chat?a=b"),
            ("https://x", "/v1/messages", "/v1/messages"),
            ("https://x/v1", "/v10/chat", "/v10/chat"),
            ("https://x/v1", "/v2/chat", "/v2/chat"),
            ("https://x/v1", "/v1", "/"),
            ("https://x", "/", "/"),
            ("https://x/v1/", "/v1//chat", "/chat"),
        ] {
            assert_eq!(parsed(url).relative(path), relative, "{url} {path}");
        }
    }

    #[test]
    fn other_urls_are_an_error() {
        for wrong in ["api.openai.com", "localhost:1/v1", "ftp://x", "http://", "/v1", "http:// x"] {
            let error = BaseUrl::parse("MODEL_URL", wrong).unwrap_err().to_string();
            assert!(error.starts_with("MODEL_URL is not the URL of a service"), "{wrong}: {error}");
        }
    }
}
