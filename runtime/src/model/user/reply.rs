//! What a simulated user says next.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::json;

use crate::model::judge::JudgeReply;
use crate::platform::accessors::{getters, setters};

/// What a simulated user says next, or that it is done.
///
/// A text is enough: `String` and `&str` convert into a reply.
///
/// ```
/// use evalsuite::UserReply;
///
/// let reply = UserReply::new("Where is my refund?").with_cost_usd(0.0002);
/// assert_eq!((reply.message(), reply.is_done()), ("Where is my refund?", false));
/// assert!(UserReply::done().is_done());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct UserReply {
    message: String,
    is_done: bool,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
    model: Option<String>,
}

impl UserReply {
    /// The user says this. It must not be blank.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The conversation ends: the user has what it wants, or has given up.
    pub fn done() -> Self {
        Self { is_done: true, ..Self::default() }
    }

    /// The reply in the form in which a model writes it, and in which it is recorded.
    pub(crate) fn into_judge_reply(self) -> JudgeReply {
        let Self { message, is_done, usage, cost_usd, model } = self;
        let text = json!({"message": message, "done": is_done}).to_string();
        JudgeReply { text, usage, cost_usd, model, is_cut_off: false }
    }
}

setters! {
    impl UserReply {
        /// Sets the tokens used.
        pub fn with_usage(usage: Usage) { usage = Some(usage) }

        /// Sets the cost in US dollars, at least 0.
        pub fn with_cost_usd(cost: f64) { cost_usd = Some(cost) }

        /// Sets the name of the model that wrote it.
        pub fn with_model(model: impl Into<String>) { model = Some(model.into()) }
    }
}

getters! {
    impl UserReply {
        /// What the user says.
        pub fn message(self) -> &str { &self.message }

        /// Whether the conversation ends.
        pub fn is_done(self) -> bool { self.is_done }
    }
}

impl From<String> for UserReply {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for UserReply {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}
