//! Judges at OpenAI-compatible services, one for each service in a process.

use crate::judge::judge_choice::NoJudge;
use crate::judge::judge_options::Endpoint;
use crate::model::judge::BoundJudge;

#[cfg(not(feature = "judge"))]
use crate::platform::url::without_credentials;

#[cfg(feature = "judge")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "judge")]
use crate::judge::endpoint::Service;

/// The judge at a service. All cases share it, so that what the service does not support is found out once.
#[cfg(feature = "judge")]
#[allow(clippy::unnecessary_wraps, reason = "the same signature as without the feature")]
pub(crate) fn endpoint_judge(endpoint: &Endpoint) -> Result<BoundJudge, NoJudge> {
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

/// This build has no HTTP client.
#[cfg(not(feature = "judge"))]
pub(crate) fn endpoint_judge(endpoint: &Endpoint) -> Result<BoundJudge, NoJudge> {
    let Endpoint { url, model, key: _, price: _ } = endpoint;
    let url = without_credentials(url);
    Err(format!(
        "the judge is `{model}` at {url}, but `evalsuite` was built without its feature `judge`\n\
         help: add `features = [\"judge\"]` to the dependency in Cargo.toml"
    )
    .into())
}
