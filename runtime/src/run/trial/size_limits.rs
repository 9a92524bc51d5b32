//! How much an agent may hand over: as much as readers of the records take. More is an error, and the whole is in a file of its own.

use evalsuite_schema::json::{self, ToJson};
use evalsuite_schema::{Message, Object, Role};

use crate::agents::OUTPUT_LIMIT;
use crate::model::agent_report::Recording;
use crate::model::evidence::Facts;
use crate::model::outcome::Outcome;
use crate::platform::excerpt::first_bytes;
use crate::platform::files::encode;
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{FileLimits, UntrustedDirectory};

/// Limits of the transcript, as JSON. The records of a trial have it beside the answer, and with line breaks.
const TRANSCRIPT: FileLimits = FileLimits { bytes: 48 << 20, values: 1_000_000 };
/// Limits of the state and of the metadata, each as JSON.
const FACTS: FileLimits = FileLimits { bytes: 8 << 20, values: 100_000 };
/// Bytes of what is too large that stay in memory and in the records.
const KEPT: usize = 64 << 10;

/// Cuts what an agent has handed over where it is too large. Returns what is wrong with it.
pub(crate) fn cut(directory: &UntrustedDirectory, redactor: &Redactor, recording: &mut Recording) -> Vec<String> {
    let Recording { messages, outcome, log, captured, .. } = recording;
    let files = Files { directory, redactor };
    let lists = [("messages.json", Some(messages)), ("spans.json", captured.messages.as_mut())];
    let lists = lists.into_iter().filter_map(|(file, list)| files.cut_messages(file, list?));
    let mut found: Vec<String> = lists.collect();
    found.extend(files.cut_text("log.txt", "log", log));
    found.extend(cut_outcome(directory, redactor, outcome));
    found
}

/// The same for what an agent returned.
pub(crate) fn cut_outcome(directory: &UntrustedDirectory, redactor: &Redactor, outcome: &mut Outcome) -> Vec<String> {
    let files = Files { directory, redactor };
    let Outcome { text, messages, state, metadata, .. } = outcome;
    let mut found = Vec::new();
    found.extend(text.as_mut().and_then(|text| files.cut_text("answer.txt", "answer", text)));
    found.extend(messages.as_mut().and_then(|messages| files.cut_messages("returned.json", messages)));
    found.extend(files.cut_facts(state, metadata));
    found
}

/// What the turns of a conversation have handed over together: each keeps the limits, but the records have all of them.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    transcript: u64,
}

impl HandedOver {
    /// Adds a turn, whose state, metadata and log are already in `all`. Returns what is too large; `all` is without it then.
    pub(crate) fn add(
        &mut self,
        directory: &UntrustedDirectory,
        redactor: &Redactor,
        turn: &Facts,
        all: &mut Recording,
    ) -> Option<String> {
        let files = Files { directory, redactor };
        let of_turn =
            turn.transcript.as_ref().map_or(0, |messages| json::to_string(messages).map_or(0, |json| json.len()));
        self.transcript += (of_turn + turn.answer.len()) as u64;
        if self.transcript > TRANSCRIPT.bytes {
            let problem = format!("{} bytes in its turns so far, more than {}", self.transcript, TRANSCRIPT.bytes);
            let messages =
                turn.transcript.clone().unwrap_or_else(|| vec![Message::text(Role::Assistant, &turn.answer)]);
            let written = encode(&messages, redactor).map_err(Into::into);
            return Some(files.whole(
                "messages.json",
                problem,
                written.and_then(|json| directory.write("messages.json", &json)),
            ));
        }
        let Recording { outcome: Outcome { state, metadata, .. }, log, .. } = all;
        let mut found: Vec<String> = files.cut_text("log.txt", "log in its turns so far", log).into_iter().collect();
        found.extend(files.cut_facts(state, metadata));
        (!found.is_empty()).then(|| found.join("; "))
    }
}

/// Where what is too large is written.
struct Files<'a> {
    directory: &'a UntrustedDirectory,
    redactor: &'a Redactor,
}

impl Files<'_> {
    fn cut_text(&self, file: &str, what: &str, text: &mut String) -> Option<String> {
        let bytes = text.len();
        if bytes as u64 <= OUTPUT_LIMIT {
            return None;
        }
        let problem = format!("{what} of {bytes} bytes, more than {OUTPUT_LIMIT}");
        let problem = self.whole(file, problem, self.directory.write(file, self.redactor.apply(text).as_bytes()));
        *text = first_bytes(text, KEPT).to_owned();
        Some(problem)
    }

    fn cut_facts(&self, state: &mut Object, metadata: &mut Object) -> Vec<String> {
        let mut found = Vec::new();
        for (file, what, facts) in [("state.json", "state", state), ("metadata.json", "metadata", metadata)] {
            if let Some(problem) = self.too_large(file, what, facts, FACTS) {
                found.push(problem);
                *facts = Object::new();
            }
        }
        found
    }

    /// The first messages stay.
    fn cut_messages(&self, file: &str, messages: &mut Vec<Message>) -> Option<String> {
        let problem = self.too_large(file, "transcript", messages, TRANSCRIPT)?;
        let mut room = KEPT;
        let fits = |message: &Message| {
            let bytes = json::to_string(message).map_or(usize::MAX, |json| json.len());
            room.checked_sub(bytes).map(|left| room = left).is_some()
        };
        messages.truncate(messages.iter().map(fits).take_while(|fits| *fits).count());
        Some(problem)
    }

    /// What is wrong with data that is too large as JSON.
    fn too_large<T: ToJson>(&self, file: &str, what: &str, data: &T, limits: FileLimits) -> Option<String> {
        let json = json::to_string(data).unwrap_or_default();
        let (bytes, FileLimits { bytes: most, values }) = (json.len(), limits);
        let problem = if bytes as u64 > most {
            format!("{what} of {bytes} bytes, more than {most}")
        } else if limits.check_values(json.as_bytes()).is_err() {
            format!("{what} of more than {values} values")
        } else {
            return None;
        };
        drop(json);
        let written = encode(data, self.redactor).map_err(Into::into);
        Some(self.whole(file, problem, written.and_then(|json| self.directory.write(file, &json))))
    }

    fn whole(&self, file: &str, problem: String, written: std::io::Result<()>) -> String {
        let path = self.directory.path().join(file);
        match written {
            Ok(()) => format!("{problem}; the whole is in {}", path.display()),
            Err(error) => format!("{problem}; the rest is lost, because {} cannot be written: {error}", path.display()),
        }
    }
}
