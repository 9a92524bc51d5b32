//! Takes the place of `endpoint` in a build without the feature `judge`: there is no HTTP client.

use crate::judge::NoJudge;
use crate::judge::endpoint_settings::Endpoint;
use crate::model::judge::BoundJudge;
use crate::platform::url::without_credentials;

pub(crate) fn endpoint_judge(endpoint: &Endpoint) -> Result<BoundJudge, NoJudge> {
    let Endpoint { url, model, key: _, price: _ } = endpoint;
    let url = without_credentials(url);
    Err(format!(
        "the judge is `{model}` at {url}, but `evalsuite` was built without its feature `judge`\n\
         help: add `features = [\"judge\"]` to the dependency in Cargo.toml"
    )
    .into())
}
