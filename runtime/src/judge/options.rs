//! What the environment says about judges.

use std::{fmt, time::Duration};

/// Judgements after a failing one, where nothing else is written.
pub(crate) const CONFIRM: u32 = 2;

/// Address of the service that `OPENAI_API_KEY` belongs to, where no other is named.
const OPENAI: &str = "https://api.openai.com/v1";

/// The `EVALSUITE_JUDGE_*` variables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JudgeOptions {
    pub(crate) endpoint: Option<Endpoint>,
    /// Names of judges or targets that judge where a grader names none.
    pub(crate) targets: Option<Vec<String>>,
    pub(crate) limit: Option<Duration>,
    pub(crate) temperature: Option<f64>,
    pub(crate) confirm: Option<u32>,
}

impl JudgeOptions {
    /// Whether there is a judge for graders that name none.
    pub(crate) fn names_one(&self) -> bool {
        self.endpoint.is_some() || self.targets.is_some()
    }
}

/// An OpenAI-compatible service.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
    /// US dollars per million tokens of input and output.
    pub(crate) price: Option<(f64, f64)>,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Names of the variables that hold keys.
pub(crate) const KEYS: [&str; 2] = ["EVALSUITE_JUDGE_API_KEY", "OPENAI_API_KEY"];

/// What stands in the variables of endpoints.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) openai_url: Option<String>,
    pub(crate) openai_key: Option<String>,
    pub(crate) price: Option<(f64, f64)>,
}

impl Endpoint {
    /// The service that judges: a model has to be named. What `EVALSUITE_JUDGE_*` leaves open is taken from `OPENAI_*`,
    /// but a key goes only to the service it belongs to.
    ///
    /// # Errors
    ///
    /// If only a part of it is set.
    pub(crate) fn from_variables(variables: Variables) -> Result<Option<Self>, String> {
        let Variables { url, model, key, openai_url, openai_key, price } = variables;
        let Some(model) = model else {
            return match url {
                None => Ok(None),
                Some(_) => Err("EVALSUITE_JUDGE_URL is set without EVALSUITE_JUDGE_MODEL".to_owned()),
            };
        };
        let own = openai_url.or_else(|| openai_key.is_some().then(|| OPENAI.to_owned()));
        let Some(address) = url.or_else(|| own.clone()) else {
            return Err("EVALSUITE_JUDGE_MODEL is set without EVALSUITE_JUDGE_URL".to_owned());
        };
        let address = address.trim_end_matches('/').to_owned();
        if !["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Err(format!("EVALSUITE_JUDGE_URL is `{address}`, not the URL of a service (http:// or https://)"));
        }
        if address.contains('@') {
            return Err("EVALSUITE_JUDGE_URL holds a user name or password: set EVALSUITE_JUDGE_API_KEY".to_owned());
        }
        let is_theirs = own.is_some_and(|own| own.trim_end_matches('/') == address);
        let key = key.or_else(|| openai_key.filter(|_| is_theirs)).map(Secret);
        Ok(Some(Self { url: address, model, key, price }))
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
        let openai = || Variables { model: text("m"), openai_key: text("theirs"), ..Variables::default() };
        let plain = read(openai());
        assert_eq!((plain.url.as_str(), plain.key), (OPENAI, Some(Secret("theirs".into()))));
        let other = read(Variables { url: text("http://localhost:1/v1/"), ..openai() });
        assert_eq!((other.url.as_str(), other.key), ("http://localhost:1/v1", None));
        let same = read(Variables { url: text("https://x/v1"), openai_url: text("https://x/v1/"), ..openai() });
        assert_eq!(same.key, Some(Secret("theirs".into())));
        let own = read(Variables { key: text("own"), ..openai() });
        assert_eq!(own.key, Some(Secret("own".into())));
        assert_eq!(format!("{:?}", own.key), "Some(***)");
    }

    #[test]
    fn a_model_has_to_be_named() {
        assert_eq!(Endpoint::from_variables(Variables { openai_key: text("k"), ..Variables::default() }), Ok(None));
        for (wrong, part) in [
            (Variables { url: text("http://x"), ..Variables::default() }, "without EVALSUITE_JUDGE_MODEL"),
            (Variables { model: text("m"), ..Variables::default() }, "without EVALSUITE_JUDGE_URL"),
            (Variables { model: text("m"), url: text("localhost:1"), ..Variables::default() }, "`localhost:1`"),
            (Variables { model: text("m"), url: text("http://a:b@x"), ..Variables::default() }, "password"),
        ] {
            let error = Endpoint::from_variables(wrong).unwrap_err();
            assert!(error.contains(part) && !error.contains("a:b"), "{error}");
        }
    }
}
