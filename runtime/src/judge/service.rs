//! The judge at an OpenAI-compatible service, one per process.

use crate::{judge::options::Endpoint, model::judge::BoundJudge};

#[cfg(feature = "judge")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "judge")]
use crate::judge::endpoint;

/// The judge at an OpenAI-compatible service.
///
/// # Errors
///
/// If this build cannot speak to one.
#[cfg(feature = "judge")]
pub(crate) fn judge_at(endpoint: &Endpoint) -> Result<BoundJudge, String> {
    // One for all cases, so that what the service does not take is found out once.
    static KNOWN: Mutex<Vec<(Endpoint, BoundJudge)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, judge)) = known.iter().find(|(other, _)| other == endpoint) {
        return Ok(judge.clone());
    }
    let service = endpoint::Service::new(endpoint.clone());
    let judge = BoundJudge::blocking(endpoint.model.as_str(), move |request| service.ask(&request));
    known.push((endpoint.clone(), judge.clone()));
    Ok(judge)
}

/// Without the feature this is an error that says so.
#[cfg(not(feature = "judge"))]
pub(crate) fn judge_at(endpoint: &Endpoint) -> Result<BoundJudge, String> {
    let Endpoint { url, model, key: _, price: _ } = endpoint;
    Err(format!(
        "the judge is `{model}` at {url}, but `evalsuite` was built without its feature `judge`\n\
         help: write `features = [\"judge\"]` at the dependency in Cargo.toml"
    ))
}
