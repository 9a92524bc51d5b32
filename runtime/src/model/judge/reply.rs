//! The reply of a judge.
//!
//! The answer in a reply: the text after the thinking of a model, and the JSON objects in it.
//!
//! A model that reasons before it answers writes drafts of its answer. The drafts must not be read as the answer, so this is strict: what
//! comes before the end of the thinking does not count, thinking without an end is not a reply, and nothing is read from within an object
//! that is cut off or malformed.

use evalsuite_records::record::Usage;
use evalsuite_schema::Value;
use evalsuite_schema::json::{FromJsonOverDefault, ToJson, from_str_with_unique_keys, skip_empty};
use serde::de::DeserializeOwned;

use crate::model::outcome::is_amount;
use crate::platform::accessors::{getters, setters};
use crate::platform::errors::text_error;
use crate::platform::excerpt::{first_chars, trim};

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
#[skip_empty(.., is_cut_off)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct JudgeReply {
    pub(crate) text: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) model: Option<String>,
    /// Whether the service cut it off, at a limit of tokens or for another reason.
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
        let read = |text| from_str_with_unique_keys::<Value>(text).and_then(T::deserialize);
        if let Ok(value) = read(trim(&self.text)) {
            return Ok(value);
        }
        let answer = answer_of(&self.text)?;
        let last = answer.objects.last().unwrap_or(&answer.text);
        read(answer.text)
            .or_else(|_| read(last))
            .map_err(|error| format!("the reply is not the JSON that was asked for: {error}").into())
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

/// What models write around their thinking. ASCII case does not matter.
const THINKING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
];

/// Most characters of a reply that an error shows.
const EXCERPT: usize = 80;

/// The part of a reply that answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplyAnswer<'r> {
    /// The text after the thinking, without whitespace around it.
    pub(crate) text: &'r str,
    /// What begins like a JSON object, or like a list of them, in this order. It may turn out not to be JSON. The last one may be cut
    /// off; otherwise no brace follows it.
    pub(crate) objects: Vec<&'r str>,
    /// The text after the last object, without whitespace around it.
    rest: &'r str,
}

/// Finds the answer.
pub(crate) fn answer_of(reply: &str) -> Result<ReplyAnswer<'_>, InvalidReply> {
    let (mut objects, mut start, mut end, mut at) = (Vec::new(), 0, 0, 0);
    while let Some(offset) = reply[at..].find(['{', '[', '<', '◁']) {
        at += offset;
        let rest = &reply[at..];
        let object = looks_like_object(rest).then(|| bracketed(rest));
        // The closing tag of some models has no opening one, because the prompt ends with it. What such thinking opens may never be closed.
        let end_of_thinking = match object {
            Some(Some(length)) => {
                objects.push(&rest[..length]);
                at += length;
                end = at;
                continue;
            }
            Some(None) => closing_tag(rest),
            None => thinking(rest)?,
        };
        match end_of_thinking {
            Some(length) => {
                at += length;
                (start, end) = (at, at);
                objects.clear();
            }
            None if object.is_some() => {
                objects.push(trim(rest));
                (at, end) = (reply.len(), reply.len());
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    let answer = ReplyAnswer { text: trim(&reply[start..]), objects, rest: trim(&reply[end..]) };
    if answer.text.is_empty() {
        return Err(if start == 0 { "the reply is empty" } else { "the reply ends with its thinking" }.into());
    }
    if !answer.objects.is_empty() && answer.rest.contains(['{', '}']) {
        let more = first_chars(answer.rest, EXCERPT);
        return Err(format!("the reply goes on after its last JSON object: {more:?}").into());
    }
    Ok(answer)
}

/// Why a reply that was cut off cannot be used: it did not end with its last object. What would have followed could be the end of its
/// thinking, or another judgement.
pub(crate) fn unfinished(reply: &str) -> Option<InvalidReply> {
    let answer = answer_of(reply).ok().filter(|answer| !answer.objects.is_empty())?;
    let more = first_chars(answer.rest, EXCERPT);
    answer
        .rest
        .contains(char::is_alphanumeric)
        .then(|| format!("the reply goes on after its last JSON object: {more:?}").into())
}

/// Length of the thinking, or of the closing tag, that `text` starts with.
fn thinking(text: &str) -> Result<Option<usize>, InvalidReply> {
    let starts =
        |tag: &str| text.as_bytes().get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()));
    for (open, close) in THINKING {
        if starts(close) {
            return Ok(Some(close.len()));
        }
        if starts(open) {
            let end = position(text, close)
                .ok_or_else(|| format!("the reply ends within its thinking: `{open}` has no `{close}`"))?;
            return Ok(Some(end + close.len()));
        }
    }
    Ok(None)
}

/// Where the first closing tag in `text` ends.
fn closing_tag(text: &str) -> Option<usize> {
    THINKING.iter().filter_map(|(_, close)| Some(position(text, close)? + close.len())).min()
}

fn position(text: &str, tag: &str) -> Option<usize> {
    text.as_bytes().windows(tag.len()).position(|part| part.eq_ignore_ascii_case(tag.as_bytes()))
}

/// Whether `text` starts like a JSON object or a list of JSON objects, not like a brace or bracket in a sentence.
fn looks_like_object(text: &str) -> bool {
    let inner = |bracket: char| text.strip_prefix(bracket).map(|rest| rest.trim_start_matches([' ', '\t', '\r', '\n']));
    match inner('[') {
        Some(entry) => entry.starts_with('{') && looks_like_object(entry),
        None => inner('{').is_some_and(|member| member.starts_with(['"', '}'])),
    }
}

/// Length of the object or list that `text` starts with; `None` if it does not end.
fn bracketed(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('[') { (b'[', b']') } else { (b'{', b'}') };
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            _ if byte == open => depth += 1,
            _ if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
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

    fn objects(reply: &str) -> Vec<&str> {
        answer_of(reply).unwrap_or_else(|problem| panic!("{reply}: {problem}")).objects
    }

    #[test]
    fn what_comes_before_the_end_of_the_thinking_does_not_count() {
        for (open, close) in THINKING {
            for reply in [
                format!("{open}perhaps {{\"a\": 0}} or {{ or {{\"{close}\n{{\"a\": 1}}"),
                format!(" \u{feff}{}first {{\"a\": 0}}{}{{\"a\": 1}}", open.to_uppercase(), close.to_uppercase()),
                format!("perhaps {{\"a\": 0}}{close}{{\"a\": 1}}"),
                format!("perhaps {{\"a {close}{{\"a\": 1}}"),
                format!("{{\"a\": 0}}{open}no{close}{{\"a\": 1}}"),
                format!("{open}one{close}{{\"a\": 0}}{open}two{close}\nSo: {{\"a\": 1}}"),
                format!("{open}one {open} two{close}{{\"a\": 0}}{close}```json\n{{\"a\": 1}}\n```"),
            ] {
                assert_eq!(objects(&reply), ["{\"a\": 1}"], "{reply}");
            }
        }
    }

    #[test]
    fn thinking_without_an_end_or_without_an_answer_is_not_a_reply() {
        for (reply, expected) in [
            ("<think>perhaps {\"a\": 1}", "the reply ends within its thinking: `<think>` has no `</think>`"),
            ("<think>perhaps {\"a\": 1}</thinking>", "the reply ends within its thinking: `<think>` has no `</think>`"),
            ("◁think▷{\"a\": 1}", "the reply ends within its thinking: `◁think▷` has no `◁/think▷`"),
            ("{\"a\": 1} <reasoning>or", "the reply ends within its thinking"),
            ("<think>{\"a\": 1}</think>\n", "the reply ends with its thinking"),
            ("{\"a\": 1}</think>", "the reply ends with its thinking"),
            (" \n", "the reply is empty"),
        ] {
            let problem = answer_of(reply).unwrap_err().to_string();
            assert!(problem.starts_with(expected), "{reply}: {problem}");
        }
    }

    #[test]
    fn objects_are_found_in_sentences() {
        for (reply, found) in [
            ("Let me think {a} of { it … {\"a\": {\"b\": \"}\\\"\"}}", vec!["{\"a\": {\"b\": \"}\\\"\"}}"]),
            ("like {\"a\": 0}, so:\n```json\n{\"a\": 1}\n```\nbye", vec!["{\"a\": 0}", "{\"a\": 1}"]),
            ("[{\"a\": 0}, {\"a\": 1}]", vec!["[{\"a\": 0}, {\"a\": 1}]"]),
            ("[1] < { } <b>", vec!["{ }"]),
            ("{\"a\": {\"b\": 1},}", vec!["{\"a\": {\"b\": 1},}"]),
            ("{\"a\": {\"b\": 1}", vec!["{\"a\": {\"b\": 1}"]),
            ("{\"a\": \"</think>\"}", vec!["{\"a\": \"</think>\"}"]),
            ("{a: 1}", vec![]),
            ("0.9", vec![]),
        ] {
            assert_eq!(objects(reply), found, "{reply}");
        }
    }

    #[test]
    fn a_reply_is_unfinished_if_words_follow_its_last_object() {
        for (reply, is_unfinished) in [
            ("perhaps {\"a\": 1}, but then", true),
            ("{\"a\": 1}\n```\nThe", true),
            ("{\"a\": 1}", false),
            ("```json\n{\"a\": 1}\n```\n\n", false),
            ("<think>perhaps {\"a\": 0} or</think>{\"a\": 1}", false),
            ("no object", false),
        ] {
            assert_eq!(unfinished(reply).is_some(), is_unfinished, "{reply}");
        }
    }

    #[test]
    fn braces_after_the_last_object_are_refused() {
        for (reply, shown) in [("{\"a\": 1}}", "\"}\""), ("{\"a\": 1} or {a: 2}", "\"or {a: 2}\"")] {
            let problem = answer_of(reply).unwrap_err().to_string();
            assert_eq!(problem, format!("the reply goes on after its last JSON object: {shown}"), "{reply}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_reply_is_a_panic(parts in proptest::collection::vec("\\{|\\}|\\[|\"|\\\\|<think>|</think>|◁think▷|◁/think▷|\"a\": ?|1|,|ü|.", 0..30)) {
            let reply = parts.concat();
            if let Ok(answer) = answer_of(&reply) {
                proptest::prop_assert!(answer.objects.iter().all(|object| answer.text.contains(object)));
            }
        }
    }
}
