use evalsuite_schema::record::Usage;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::platform::excerpt::trim;

/// What a judge said.
///
/// A text is enough: a reply is made from `String` and `&str`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeReply {
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost_usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Whether the service ended it at a limit of tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut_off: bool,
}

impl JudgeReply {
    /// The reply as JSON: all of it, else the object from its first brace to its last.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        let text = trim(&self.text);
        serde_json::from_str(text).or_else(|_| serde_json::from_str(document(text))).map_err(|error| match text {
            "" => "the reply is empty".to_owned(),
            _ => format!("the reply is not the JSON that was asked for: {error}"),
        })
    }

    /// A reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the tokens used.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost in US dollars, at least 0.
    pub fn cost_usd(mut self, cost: f64) -> Self {
        self.cost_usd = Some(cost);
        self
    }

    /// Sets the model that answered.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tokens used, where the judge reports them.
    pub fn tokens(&self) -> Option<Usage> {
        self.usage
    }

    /// Cost in US dollars, where the judge reports it.
    pub fn cost(&self) -> Option<f64> {
        self.cost_usd
    }

    /// Why the reply cannot be used, if a number makes no sense.
    pub(crate) fn defect(&self) -> Option<&'static str> {
        let sane = self.cost_usd.is_none_or(|cost| cost.is_finite() && cost >= 0.0);
        (!sane).then_some("the judge reported a cost that is not a number of at least 0")
    }
}

impl From<String> for JudgeReply {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for JudgeReply {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// The part of a reply that should be JSON: without code fences, from the first `{` to the last `}`; all of it where
/// there are no braces.
pub(crate) fn document(reply: &str) -> &str {
    match (reply.find('{'), reply.rfind('}')) {
        (Some(first), Some(last)) if first < last => &reply[first..=last],
        _ => trim(reply),
    }
}
