//! The model: a trait, and rules in place of a real one, so that the example needs neither a key nor a network.

use serde_json::json;

use crate::chat::ChatMessage;

/// What completes a conversation.
pub trait Model {
    /// The next message of the assistant: an answer, or calls of tools.
    fn complete(&self, messages: &[ChatMessage]) -> anyhow::Result<ChatMessage>;
}

/// Rules for the conversations of the suite.
#[derive(Debug)]
pub struct RuleModel;

impl Model for RuleModel {
    fn complete(&self, messages: &[ChatMessage]) -> anyhow::Result<ChatMessage> {
        let last = messages.last().map(ChatMessage::text).unwrap_or_default();
        if messages.last().is_some_and(|message| message.role == "tool") {
            let asked = messages.iter().rev().find_map(|message| message.tool_calls.first());
            return Ok(ChatMessage::assistant(match asked.map(|call| call.function.name.as_str()) {
                Some("remember") => "I have noted that.".to_owned(),
                Some("recall") if last.is_empty() => "You have not told me anything to remember.".to_owned(),
                Some("recall") => format!("You told me: {}", last.trim()),
                _ => format!("Your order is {last}."),
            }));
        }
        let lower = last.to_lowercase();
        let id = format!("call-{}", messages.len());
        Ok(if let Some(note) = lower.find("remember that ").map(|at| &last[at + "remember that ".len()..]) {
            ChatMessage::call(&id, "remember", &json!({"note": note.trim_end_matches('.')}))
        } else if lower.contains("told you") {
            ChatMessage::call(&id, "recall", &json!({}))
        } else if lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| matches!(word, "it" | "order")) {
            // The number may be in an earlier message: "it" is the order that was spoken of last.
            let spoken = messages.iter().rev().filter(|message| message.role == "user");
            match spoken.flat_map(|message| number_in(message.text())).next() {
                Some(number) => ChatMessage::call(&id, "find_order", &json!({"id": number})),
                None => ChatMessage::assistant("What is the number of your order?"),
            }
        } else {
            ChatMessage::assistant("I can look up orders and remember what you tell me.")
        })
    }
}

fn number_in(text: &str) -> Option<u64> {
    text.split(|letter: char| !letter.is_ascii_digit()).find_map(|digits| digits.parse().ok())
}
