//! Judges at OpenAI-compatible services, one for each service in a process.

use crate::judge::judge_options::Endpoint;
use crate::model::judge::BoundJudge;

#[cfg(not(feature = "judge"))]
use crate::platform::url::without_credentials;

#[cfg(not(feature = "judge"))]
use std::fmt;

#[cfg(feature = "judge")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "judge")]
use crate::judge::endpoint::Service;

/// A judge at a service is set, but this build has no HTTP client.
#[cfg(not(feature = "judge"))]
#[derive(Debug)]
pub(crate) struct JudgeFeatureMissing {
    model: String,
    url: String,
}

/// Never the case with the feature.
#[cfg(feature = "judge")]
pub(crate) type JudgeFeatureMissing = std::convert::Infallible;

#[cfg(not(feature = "judge"))]
impl fmt::Display for JudgeFeatureMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, url } = self;
        write!(
            f,
            "the judge is `{model}` at {url}, but `evalsuite` was built without its feature `judge`\n\
             help: add `features = [\"judge\"]` to the dependency in Cargo.toml"
        )
    }
}

/// The judge at a service. All cases share it, so that what the service does not support is found out once.
#[cfg(feature = "judge")]
#[allow(clippy::unnecessary_wraps, reason = "the same signature as without the feature")]
pub(crate) fn endpoint_judge(endpoint: &Endpoint) -> Result<BoundJudge, JudgeFeatureMissing> {
    static KNOWN: Mutex<Vec<(Endpoint, BoundJudge)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, judge)) = known.iter().find(|(other, _)| other == endpoint) {
        return Ok(judge.clone());
    }
    let service = Service::new(endpoint.clone());
    let judge = BoundJudge::blocking(endpoint.model.as_str(), move |request| service.ask(&request));
    known.push((endpoint.clone(), judge.clone()));
    Ok(judge)
}

/// Without the feature, always an error.
#[cfg(not(feature = "judge"))]
pub(crate) fn endpoint_judge(endpoint: &Endpoint) -> Result<BoundJudge, JudgeFeatureMissing> {
    let Endpoint { url, model, key: _, price: _ } = endpoint;
    Err(JudgeFeatureMissing { model: model.clone(), url: without_credentials(url) })
}
