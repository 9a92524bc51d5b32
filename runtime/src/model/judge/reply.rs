//! The reply of a judge.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::{FromJson, ToJson, from_str_with_unique_keys};
use serde::de::DeserializeOwned;

use crate::model::judge::reply_answer::answer_of;
use crate::model::outcome::is_amount;
use crate::platform::accessors::{getters, setters};
use crate::platform::excerpt::trim;
use crate::platform::text_error::text_error;

/// The reply of a judge.
///
/// A text is enough: `String` and `&str` convert into a reply.
///
/// ```
/// use evalsuite::{JudgeReply, Usage};
///
/// let reply = JudgeReply::new(r#"{"score": 0.9}"#).with_model("small").with_usage(Usage::new(300, 12)).with_cost_usd(0.001);
/// assert_eq!((reply.text(), reply.model()), (r#"{"score": 0.9}"#, Some("small")));
/// ```
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(fill)]
pub struct JudgeReply {
    pub(crate) text: String,
    #[json(default, skip_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    #[json(default, skip_if = "Option::is_none")]
    pub(crate) cost_usd: Option<f64>,
    #[json(default, skip_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Whether the service cut it off at a token limit.
    #[json(default, skip_if = "std::ops::Not::not")]
    pub(crate) is_cut_off: bool,
}

impl JudgeReply {
    /// A reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Why the reply cannot be used: its cost is invalid.
    pub(crate) fn defect(&self) -> Option<&'static str> {
        (!self.cost_usd.is_none_or(is_amount)).then_some("the judge reported a cost that is not a number of at least 0")
    }

    /// The reply as JSON: all of it, else what follows the thinking of the model, else the last object there.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, InvalidReply> {
        if let Ok(value) = from_str_with_unique_keys(trim(&self.text)) {
            return Ok(value);
        }
        let answer = answer_of(&self.text)?;
        let last = answer.objects.last().unwrap_or(&answer.text);
        let read = from_str_with_unique_keys(answer.text).or_else(|_| from_str_with_unique_keys(last));
        read.map_err(|error| format!("the reply is not the JSON that was asked for: {error}").into())
    }
}

setters! {
    impl JudgeReply {
        /// Sets the tokens used.
        #[must_use]
        pub fn with_usage(usage: Usage) { usage = Some(usage) }

        /// Sets the cost in US dollars, at least 0.
        #[must_use]
        pub fn with_cost_usd(cost: f64) { cost_usd = Some(cost) }

        /// Sets the name of the model that answered.
        #[must_use]
        pub fn with_model(model: impl Into<String>) { model = Some(model.into()) }
    }
}

getters! {
    impl JudgeReply {
        /// The text.
        pub fn text(self) -> &str { &self.text }

        /// Tokens used; `None` if the judge does not report them.
        pub fn usage(self) -> Option<Usage> { self.usage }

        /// Cost in US dollars; `None` if the judge does not report it.
        pub fn cost_usd(self) -> Option<f64> { self.cost_usd }

        /// Name of the model that answered; `None` if the judge does not report it.
        pub fn model(self) -> Option<&str> { self.model.as_deref() }
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

text_error! {
    /// What is wrong with a reply. A judge that is asked to repair it is shown this text.
    InvalidReply
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Value;

    use super::*;

    #[test]
    fn a_key_that_an_object_of_a_reply_has_twice_is_an_error() {
        for text in [
            r#"{"score": 0, "score": 1}"#,
            r#"<think>{"score": 1}</think>{"score": 0, "score": 1}"#,
            r#"So: [{"a": {"score": 0, "score": 1}}]"#,
        ] {
            let problem = JudgeReply::new(text).json::<Value>().unwrap_err().to_string();
            assert!(problem.contains("an object has the key `score` twice"), "{text}: {problem}");
        }
    }
}
