//! Messages of inputs, references and transcripts, with their tool calls.
//!
//! Tokens that a model used.

use std::borrow::Cow;
use std::ops::AddAssign;
use std::time::{Duration, SystemTime};

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, ToJson};
use crate::keys::{Keys as _, Type};
use crate::{Object, PathRef, Value, duration, milliseconds, rfc3339};

/// Author of a [`Message`].
///
/// ```
/// use evalsuite_schema::Role;
///
/// assert_eq!(Role::Assistant.as_str(), "assistant");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Role {
    /// Instructions to the agent.
    System,
    /// The person or program that the agent works for.
    User,
    /// The agent.
    Assistant,
    /// A tool: the message is the result of a call.
    Tool,
}

impl Role {
    /// The name used in files and records.
    pub fn as_str(self) -> &'static str {
        self.word()
    }
}

/// One message of a conversation.
///
/// ```
/// use evalsuite_schema::{Content, Message, Role, ToolCall};
///
/// let transcript = [
///     Message::text(Role::User, "When is the meeting?"),
///     Message::empty(Role::Assistant).with_tool_call(ToolCall::new("calendar").with_id("call-1")),
///     Message::tool_result("call-1", Content::Text("14:30".to_owned())),
///     Message::text(Role::Assistant, "At 14:30."),
/// ];
/// assert_eq!(transcript[1].tool_calls[0].tool, "calendar");
/// ```
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[json(fill = "Message::unread")]
#[non_exhaustive]
#[must_use]
#[keys(id = "message", what = "a message", by_hand)]
pub struct Message {
    /// Who speaks.
    #[key(Choice(Role::WORDS), "user", required, codes(InvalidMessage), by_hand)]
    pub role: Role,
    /// Name of the speaker.
    #[key(AnyText, "support")]
    pub name: Option<String>,
    /// Text, an object, or a list of parts. Optional with `tool_calls`.
    #[key(CONTENT, "Where is my order?", codes(InvalidMessage, InvalidInput, RoleMarker), by_hand)]
    pub content: Option<Content>,
    /// Tools that the assistant called.
    #[key(List(&Object(ToolCall::TABLE)), "[{tool: search}]", by_hand)]
    pub tool_calls: Vec<ToolCall>,
    /// When the message started: RFC 3339, unless the author of the record used another format.
    #[doc(hidden)]
    pub start_time: Option<String>,
    /// When the message ended.
    #[doc(hidden)]
    pub end_time: Option<String>,
    /// How long it took to produce the message, in milliseconds.
    #[doc(hidden)]
    pub duration_ms: Option<f64>,
    /// Number of model calls for this message, if the agent reports it.
    pub llm_call_count: Option<u64>,
    /// Id of the tool call whose result this message is.
    pub tool_call_id: Option<String>,
    /// The model's reasoning before this message, if the model shows it.
    pub reasoning: Option<String>,
    /// Model that wrote this message.
    pub model: Option<String>,
    /// Tokens of the model calls for this message.
    pub usage: Option<Usage>,
    /// Cost of the model calls for this message in US dollars.
    pub cost_usd: Option<f64>,
    /// Free-form data of the agent.
    pub metadata: Option<Value>,
}

impl Message {
    /// Before its JSON is read.
    fn unread() -> Self {
        Self::empty(Role::User)
    }

    /// A message with text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, Content::Text(text.into()))
    }

    /// A message with any content.
    pub fn new(role: Role, content: Content) -> Self {
        Self { content: Some(content), ..Self::empty(role) }
    }

    /// The result of the tool call with this id.
    pub fn tool_result(call_id: impl Into<String>, content: Content) -> Self {
        Self { tool_call_id: Some(call_id.into()), ..Self::new(Role::Tool, content) }
    }

    /// Adds a tool call.
    pub fn with_tool_call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Sets the name of the author.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the model that wrote the message.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the tokens of the model calls for the message.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost of the model calls for the message in US dollars, at least 0.
    pub fn with_cost_usd(mut self, cost: f64) -> Self {
        self.cost_usd = Some(cost);
        self
    }

    /// The text of the message: that of its [content](Content::plain_text), or nothing without content.
    ///
    /// ```
    /// use evalsuite_schema::{Message, Role};
    ///
    /// assert_eq!(Message::text(Role::User, "Hello").plain_text(), "Hello");
    /// assert_eq!(Message::empty(Role::Assistant).plain_text(), "");
    /// ```
    pub fn plain_text(&self) -> Cow<'_, str> {
        self.content.as_ref().map(Content::plain_text).unwrap_or_default()
    }

    /// A message without content, to which tool calls can be added.
    pub fn empty(role: Role) -> Self {
        Self {
            role,
            name: None,
            content: None,
            tool_calls: Vec::new(),
            start_time: None,
            end_time: None,
            duration_ms: None,
            llm_call_count: None,
            tool_call_id: None,
            reasoning: None,
            model: None,
            usage: None,
            cost_usd: None,
            metadata: None,
        }
    }
}

macro_rules! impl_times {
    ($($type:ty),*) => {$(
        impl $type {
            /// Sets when it started. A time before 1970 or after the year 9999 is not recorded.
            pub fn with_started(mut self, time: SystemTime) -> Self {
                self.start_time = rfc3339::format(time);
                self
            }

            /// Sets when it ended. A time before 1970 or after the year 9999 is not recorded.
            pub fn with_ended(mut self, time: SystemTime) -> Self {
                self.end_time = rfc3339::format(time);
                self
            }

            /// Sets how long it took.
            pub fn with_duration(mut self, duration: Duration) -> Self {
                self.duration_ms = Some(milliseconds(duration));
                self
            }

            /// When it started, to the millisecond, if that is recorded.
            pub fn started(&self) -> Option<SystemTime> {
                self.start_time.as_deref().and_then(rfc3339::parse)
            }

            /// When it ended, to the millisecond, if that is recorded.
            pub fn ended(&self) -> Option<SystemTime> {
                self.end_time.as_deref().and_then(rfc3339::parse)
            }

            /// How long it took: as recorded, or from its start to its end. A negative duration is not one.
            pub fn duration(&self) -> Option<Duration> {
                self.took_ms().and_then(duration)
            }

            /// The same in milliseconds, as exactly as it is recorded.
            #[doc(hidden)]
            pub fn took_ms(&self) -> Option<f64> {
                let between = || self.ended()?.duration_since(self.started()?).ok();
                self.duration_ms.filter(|took| duration(*took).is_some()).or_else(|| between().map(milliseconds))
            }
        }
    )*};
}

impl_times!(Message, ToolCall);

/// Content of a [`Message`].
///
/// ```
/// use evalsuite_schema::{Content, Message, Role};
/// use serde_json::json;
///
/// let answer = Message::new(Role::Assistant, Content::Data(json!({"total": 12.5}).into()));
/// assert_ne!(answer.content, Some(Content::Text("12.5".into())));
/// ```
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Text, files and media in order.
    Parts(Vec<Part>),
    /// Structured data; shown as JSON with an indent of two spaces.
    Data(Value),
}

impl Content {
    /// The content as text: text as it is, the texts of parts joined by newlines without the files between them, data as JSON with an indent
    /// of two spaces.
    pub fn plain_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Parts(parts) => {
                let texts = parts
                    .iter()
                    .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
                texts.collect::<Vec<_>>().join("\n").into()
            }
            Self::Data(value) => crate::json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()).into(),
        }
    }
}

/// A piece of a [`Content::Parts`].
///
/// ```
/// use evalsuite_schema::{Content, Message, Part, PathRef, Role};
///
/// let file = PathRef::new("memo.mp3");
/// let parts = vec![
///     Part::Text("What does she ask for?".into()),
///     Part::Audio { file, media_type: "audio/mpeg".into() },
/// ];
/// assert_eq!(parts[1].media_type(), Some("audio/mpeg"));
/// let question = Message::new(Role::User, Content::Parts(parts));
/// ```
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// A file, which is read when the trial runs.
    File(PathRef),
    /// An image, passed as media type and path.
    Image {
        /// The image file.
        file: PathRef,
        /// Its media type, such as `image/png`.
        media_type: String,
    },
    /// Recorded sound, passed as media type and path.
    Audio {
        /// The audio file.
        file: PathRef,
        /// Its media type, such as `audio/mpeg`.
        media_type: String,
    },
    /// A document for a model, passed as media type and path.
    Document {
        /// The document.
        file: PathRef,
        /// Its media type, such as `application/pdf`.
        media_type: String,
    },
}

impl Part {
    /// The file of a part that is not text.
    pub fn file(&self) -> Option<&PathRef> {
        match self {
            Self::Text(_) => None,
            Self::File(file) | Self::Image { file, .. } | Self::Audio { file, .. } | Self::Document { file, .. } => {
                Some(file)
            }
        }
    }

    /// The file of a part that is not text.
    pub fn file_mut(&mut self) -> Option<&mut PathRef> {
        match self {
            Self::Text(_) => None,
            Self::File(file) | Self::Image { file, .. } | Self::Audio { file, .. } | Self::Document { file, .. } => {
                Some(file)
            }
        }
    }

    /// The media type of an image, a sound or a document.
    pub fn media_type(&self) -> Option<&str> {
        match self {
            Self::Text(_) | Self::File(_) => None,
            Self::Image { media_type, .. } | Self::Audio { media_type, .. } | Self::Document { media_type, .. } => {
                Some(media_type)
            }
        }
    }
}

/// A call of a tool in a message of the assistant.
///
/// ```
/// use std::time::Duration;
///
/// use evalsuite_schema::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("read_file")
///     .with_input(json!({"path": "notes.md"}))
///     .with_output("Meeting at 14:30")
///     .with_duration(Duration::from_millis(12));
/// assert_eq!((call.tool.as_str(), call.duration()), ("read_file", Some(Duration::from_millis(12))));
/// ```
#[skip_empty(.., is_error)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[non_exhaustive]
#[must_use]
#[keys(id = "tool-call", what = "a tool call")]
pub struct ToolCall {
    /// Name of the tool.
    #[key(Text, "search", required)]
    pub tool: String,
    /// Its arguments.
    #[key(Any, "{query: late orders}")]
    pub input: Option<Value>,
    /// What it returned.
    #[key(Any, "no result")]
    pub output: Option<Value>,
    /// Id of the call, which the tool's message repeats.
    #[key(AnyText, "call_1")]
    pub id: Option<String>,
    /// When the call started: RFC 3339, unless the author of the record used another format.
    #[doc(hidden)]
    pub start_time: Option<String>,
    /// When the call ended.
    #[doc(hidden)]
    pub end_time: Option<String>,
    /// How long the call took, in milliseconds.
    #[doc(hidden)]
    pub duration_ms: Option<f64>,
    /// Whether the tool reported an error.
    pub is_error: bool,
}

impl ToolCall {
    /// A call of `tool` without arguments or output.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            input: None,
            output: None,
            id: None,
            start_time: None,
            end_time: None,
            duration_ms: None,
            is_error: false,
        }
    }

    /// The arguments by name: an object, or a text that is one as JSON, as some clients record them. Without arguments (`None` or null)
    /// there are no names. `None` for anything else, such as a list.
    ///
    /// ```
    /// use evalsuite_schema::ToolCall;
    ///
    /// let call = ToolCall::new("search").with_input(r#"{"query": "refund"}"#);
    /// assert_eq!(call.arguments().unwrap()["query"], "refund");
    /// assert!(ToolCall::new("list").arguments().unwrap().is_empty());
    /// ```
    pub fn arguments(&self) -> Option<Cow<'_, Object>> {
        match &self.input {
            None | Some(Value::Null) => Some(Cow::Owned(Object::new())),
            Some(Value::Object(arguments)) => Some(Cow::Borrowed(arguments)),
            Some(Value::String(text)) => crate::json::from_str_with_unique_keys(text).ok().map(Cow::Owned),
            Some(_) => None,
        }
    }

    /// Sets the arguments, usually an object.
    pub fn with_input(mut self, input: impl Into<Value>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sets what the tool returned.
    pub fn with_output(mut self, output: impl Into<Value>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Sets the id of the call, to which the message with the result refers.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Marks the call as failed: the output, if any, is the tool's error.
    pub fn with_error(mut self) -> Self {
        self.is_error = true;
        self
    }
}

/// Input of a case or a suite.
pub(crate) const INPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Some(&Type::Object(Message::TABLE))]);

/// Input of a turn.
pub(crate) const TURN_INPUT: Type =
    Type::OneOf(&[Type::NotEmpty, Type::Some(&Type::OneOf(&[Type::AnyText, CONTENT_PART]))]);

/// A reference answer.
pub(crate) const EXPECTED_OUTPUT: Type = Type::OneOf(&[Type::NotEmpty, Type::Data, Type::Some(&Type::Any)]);

/// Content of a message.
const CONTENT: Type =
    Type::OneOf(&[Type::AnyText, Type::Data, Type::List(&Type::OneOf(&[Type::AnyText, CONTENT_PART]))]);

const CONTENT_PART: Type = Type::Object(ContentPart::TABLE);

/// One part of the content of a message. A plain text is a part, too.
#[derive(Debug, Keys)]
#[keys(id = "content-part", what = "a content part", by_hand)]
pub struct ContentPart {
    /// What `value` is.
    #[key(Choice(&["text", "file", "image"]), "file", name = "type", required, codes(InvalidContentPart), by_hand)]
    pub r#type: (),
    /// The text; or the path of a file, which is read when a trial runs; or the path of an image.
    #[key(AnyText, "./invoice.txt", required, by_hand)]
    #[key(codes(InvalidContentPart, MissingPath, PathEscape, EmptyFile, RoleMarker))]
    pub value: (),
}

/// Numbers of tokens.
///
/// ```
/// use evalsuite_schema::Usage;
///
/// let mut usage = Usage::new(1_200, 80).with_cached(400);
/// usage += Usage::new(300, 20);
/// assert_eq!((usage.input, usage.output, usage.cached), (1_500, 100, 400));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens that were not read from a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
    /// Output tokens spent on reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Input (without cached) and output tokens.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, cached: 0, reasoning: 0 }
    }

    /// All tokens: input, read from a cache or not, and output.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.output)
    }

    /// Sets the input tokens that were read from a cache.
    pub fn with_cached(mut self, tokens: u64) -> Self {
        self.cached = tokens;
        self
    }

    /// Sets the output tokens spent on reasoning.
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = tokens;
        self
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_written_as_text_and_read_as_times() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_528_000);
        let second = Duration::from_millis(1250);
        let message =
            Message::text(Role::Assistant, "hi").with_started(noon).with_ended(noon + second).with_duration(second);
        let json = serde_json::to_value(&message).unwrap();
        assert_eq!(json["start_time"], "2026-01-04T12:00:00.000Z");
        assert_eq!((&json["end_time"], &json["duration_ms"]), (&json!("2026-01-04T12:00:01.250Z"), &json!(1250.0)));
        let read: Message = serde_json::from_value(json).unwrap();
        assert_eq!((read.started(), read.ended(), read.duration()), (Some(noon), Some(noon + second), Some(second)));
        let call = ToolCall::new("read").with_started(noon).with_ended(noon + second).with_duration(second);
        assert_eq!((call.started(), call.ended(), call.duration()), (Some(noon), Some(noon + second), Some(second)));
    }

    #[test]
    fn a_duration_that_is_not_recorded_is_the_time_between_start_and_end() {
        let took = |start: Option<&str>, end: Option<&str>, duration_ms: Option<f64>| {
            let times = json!({"tool": "read", "start_time": start, "end_time": end, "duration_ms": duration_ms});
            serde_json::from_value::<ToolCall>(times).unwrap().took_ms()
        };
        let (start, end) = (Some("2026-01-04T12:00:00Z"), Some("2026-01-04T13:00:01.5+01:00"));
        assert_eq!(took(start, end, None), Some(1500.0));
        assert_eq!(took(start, end, Some(0.25)), Some(0.25));
        for (start, end) in [(end, start), (start, None), (None, end), (start, Some("later"))] {
            assert_eq!(took(start, end, None), None, "{start:?} to {end:?}");
        }
    }

    #[test]
    fn a_record_whose_times_are_nonsense_has_none() {
        let call = json!({"tool": "read", "start_time": "yesterday", "end_time": "", "duration_ms": -1});
        let call: ToolCall = serde_json::from_value(call).unwrap();
        assert_eq!((call.started(), call.ended(), call.duration()), (None, None, None));
    }
}
