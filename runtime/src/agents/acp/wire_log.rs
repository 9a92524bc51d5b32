//! All messages of a turn in both directions, for the file next to the record.

use evalsuite_schema::Value;
use evalsuite_schema::json::json;

use crate::platform::clock::Stopwatch;

/// Bytes of messages that are kept.
const LIMIT: usize = 16 << 20;

/// The messages of a turn, one JSON object a line.
pub(crate) struct WireLog {
    began: Stopwatch,
    text: String,
    pub(crate) is_cut: bool,
}

impl WireLog {
    pub(crate) fn new() -> Self {
        Self { began: Stopwatch::start(), text: String::new(), is_cut: false }
    }

    pub(crate) fn sent(&mut self, message: &str) {
        self.add("sent", message);
    }

    pub(crate) fn received(&mut self, line: &[u8]) {
        self.add("received", String::from_utf8_lossy(line).trim());
    }

    /// A message stays as it was written; a line that is none is a text.
    fn add(&mut self, direction: &str, message: &str) {
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if self.text.len() + message.len() > LIMIT {
            self.is_cut = true;
            return;
        }
        let is_message = message.starts_with('{')
            && !message.contains('\n')
            && evalsuite_schema::json::from_str::<Value>(message).is_ok();
        match is_message {
            true => self.text.push_str(&format!("{{\"at_ms\":{at_ms},\"{direction}\":{message}}}\n")),
            false => self.text.push_str(&format!("{}\n", json!({"at_ms": at_ms, direction: message}))),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
