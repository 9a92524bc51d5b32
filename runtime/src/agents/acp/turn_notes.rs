//! What is wrong with the messages of a turn.

use std::collections::BTreeSet;

use evalsuite_records::record::Note;

/// Notes of one turn, at most.
const MOST_NOTES: usize = 20;

/// Problems and notes of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnNotes {
    /// What the agent said in a way that cannot be read: the turn is an error.
    problems: Vec<String>,
    notes: Vec<Note>,
    known: BTreeSet<(&'static str, String)>,
    /// Lines that are not messages: the first, and how many.
    text_lines: Option<(String, usize)>,
}

impl TurnNotes {
    /// Adds what makes the turn an error.
    pub(crate) fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, code: &'static str, message: String) {
        if self.notes.len() < MOST_NOTES && self.known.insert((code, message.clone())) {
            self.notes.push(Note::new(code, message));
        }
    }

    /// Adds a line that is not a message.
    pub(crate) fn text_line(&mut self, line: String) {
        self.text_lines.get_or_insert((line, 0)).1 += 1;
    }

    /// The problems as one text.
    pub(crate) fn problems(&self) -> Option<String> {
        let first = self.problems.first()?;
        let more = match self.problems.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        Some(format!("the agent broke the protocol: {first}{more}"))
    }

    /// The notes. Problems of a turn that fails for another reason are among them.
    pub(crate) fn into_notes(mut self, with_problems: bool) -> Vec<Note> {
        if let Some(problems) = self.problems().filter(|_| with_problems) {
            self.notes.push(Note::new("protocol_broken", problems));
        }
        if let Some((first, count)) = self.text_lines {
            let lines = if count == 1 { "a line".to_owned() } else { format!("{count} lines") };
            let message =
                format!("the agent wrote {lines} to its standard output that are not messages; the first: {first}");
            self.notes.push(Note::new("output_not_messages", message));
        }
        self.notes
    }
}
