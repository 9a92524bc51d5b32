//! A judge that returns the recorded replies, one per call, and repeats the last one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evalsuite::{Judge, JudgeError, JudgeReply, JudgeRequest};
use evalsuite_schema::Value;

/// The judge and its calls.
#[derive(Debug, Clone)]
pub struct StubJudge {
    replies: Value,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl StubJudge {
    /// The judge of a record, if it has one.
    pub fn of(record: &Value) -> Option<Self> {
        let replies = record.get("judge_reply")?.clone();
        Some(Self { replies, asked: Arc::default() })
    }

    /// System and user prompt of every call.
    pub fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Judge for StubJudge {
    async fn judge(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = match &self.replies {
            Value::Array(replies) => replies.get(asked.len()).or(replies.last()).unwrap_or(&Value::Null),
            reply => reply,
        };
        asked.push((request.system().to_owned(), request.user().to_owned()));
        match reply {
            Value::String(text) => Ok(JudgeReply::new(text)),
            // No need to wait for a stub before the next attempt.
            reply if reply.get("throw").is_some() => {
                let message = reply["throw"].as_str().unwrap_or_default();
                Err(JudgeError::new(message).with_retry_after(Duration::ZERO))
            }
            reply => Ok(JudgeReply::new(last_answer(&reply["response"]["output"]))),
        }
    }

    fn name(&self) -> String {
        "stub".to_owned()
    }
}

fn last_answer(messages: &Value) -> &str {
    let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
    let answer = messages.iter().rev().find(|message| message["role"] == "assistant");
    answer.and_then(|message| message["content"].as_str()).unwrap_or_default()
}
