//! The service that judges, by environment variables.

use std::fmt;

use crate::platform::url::{has_user, with_path_end, without_credentials};

/// Address of the service that `OPENAI_API_KEY` belongs to, where no other is named.
const OPENAI: &str = "https://api.openai.com/v1";

/// An OpenAI-compatible service.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
    /// US dollars per million tokens of input and output.
    pub(crate) price: Option<(f64, f64)>,
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Names of the variables with keys.
pub(crate) const KEYS: [&str; 2] = ["EVALSUITE_JUDGE_API_KEY", "OPENAI_API_KEY"];

/// The values of the variables that describe a service.
#[derive(Debug, Default)]
pub(crate) struct EndpointVariables {
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) openai_url: Option<String>,
    pub(crate) openai_key: Option<String>,
    pub(crate) price: Option<(f64, f64)>,
}

impl Endpoint {
    /// The service that judges; a model has to be set. `OPENAI_*` fills in what `EVALSUITE_JUDGE_*` does not set, but a key is only sent
    /// to the service it belongs to.
    pub(crate) fn from_variables(variables: EndpointVariables) -> Result<Option<Self>, String> {
        let EndpointVariables { url, model, key, openai_url, openai_key, price } = variables;
        let Some(model) = model else {
            return url.map_or(Ok(None), |_| Err("EVALSUITE_JUDGE_URL is set without EVALSUITE_JUDGE_MODEL".into()));
        };
        let own = openai_url.or_else(|| openai_key.is_some().then(|| OPENAI.to_owned()));
        let name = if url.is_some() { "EVALSUITE_JUDGE_URL" } else { "OPENAI_BASE_URL" };
        let written = url.or_else(|| own.clone()).ok_or("EVALSUITE_JUDGE_MODEL is set without EVALSUITE_JUDGE_URL")?;
        let address = with_path_end(&written, "");
        if !["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) {
            let shown = without_credentials(&written);
            return Err(format!("{name} is `{shown}`, not the URL of a service (http:// or https://)"));
        }
        if has_user(&address) {
            return Err(format!("{name} contains a user name or password: set EVALSUITE_JUDGE_API_KEY"));
        }
        let is_theirs = own.is_some_and(|own| with_path_end(&own, "") == address);
        let [own_name, their_name] = KEYS;
        let (name, key) = match key {
            Some(_) => (own_name, key),
            None => (their_name, openai_key.filter(|_| is_theirs)),
        };
        if key.as_ref().is_some_and(|key| key.contains(|character: char| !(' '..='~').contains(&character))) {
            return Err(format!("{name} contains a line break or another character that HTTP headers cannot hold"));
        }
        Ok(Some(Self { url: address, model, key: key.map(Secret), price }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn a_key_goes_only_where_it_belongs() {
        let read = |variables| Endpoint::from_variables(variables).unwrap().unwrap();
        let openai =
            || EndpointVariables { model: text("m"), openai_key: text("theirs"), ..EndpointVariables::default() };
        let plain = read(openai());
        assert_eq!((plain.url.as_str(), plain.key), (OPENAI, Some(Secret("theirs".into()))));
        let other = read(EndpointVariables { url: text("http://localhost:1/v1/"), ..openai() });
        assert_eq!((other.url.as_str(), other.key), ("http://localhost:1/v1", None));
        let same = read(EndpointVariables { url: text("https://x/v1"), openai_url: text("https://x/v1/"), ..openai() });
        assert_eq!(same.key, Some(Secret("theirs".into())));
        let own = read(EndpointVariables { key: text("own"), ..openai() });
        assert_eq!(own.key, Some(Secret("own".into())));
        assert_eq!(format!("{:?}", own.key), "Some(***)");
    }

    #[test]
    fn a_model_has_to_be_named() {
        assert_eq!(
            Endpoint::from_variables(EndpointVariables { openai_key: text("k"), ..EndpointVariables::default() }),
            Ok(None)
        );
        for (wrong, part) in [
            (
                EndpointVariables { url: text("http://x"), ..EndpointVariables::default() },
                "without EVALSUITE_JUDGE_MODEL",
            ),
            (EndpointVariables { model: text("m"), ..EndpointVariables::default() }, "without EVALSUITE_JUDGE_URL"),
            (
                EndpointVariables {
                    model: text("m"),
                    url: text("localhost:1?code=a:b"),
                    ..EndpointVariables::default()
                },
                "`localhost:1?code=***`",
            ),
            (
                EndpointVariables { model: text("m"), url: text("http://a:b@x"), ..EndpointVariables::default() },
                "EVALSUITE_JUDGE_URL contains a user name or password",
            ),
            (
                EndpointVariables { model: text("m"), url: text("http://"), ..EndpointVariables::default() },
                "EVALSUITE_JUDGE_URL is `http://`",
            ),
            (
                EndpointVariables { model: text("m"), openai_url: text("localhost:1"), ..EndpointVariables::default() },
                "OPENAI_BASE_URL is `localhost:1`",
            ),
            (
                EndpointVariables {
                    model: text("m"),
                    url: text("http://x"),
                    key: text("a:b\n"),
                    ..EndpointVariables::default()
                },
                "EVALSUITE_JUDGE_API_KEY contains a line break",
            ),
        ] {
            let error = Endpoint::from_variables(wrong).unwrap_err();
            assert!(error.contains(part) && !error.contains("a:b"), "{error}");
        }
    }
}
