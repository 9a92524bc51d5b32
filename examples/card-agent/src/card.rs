//! Cards, and the files they are stored in.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// A note in structured form, as stored in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Kind of card.
    pub template: Template,
    /// The subject of the card in a few words.
    pub title: String,
    /// Values of the template's fields. Dates are `YYYY-MM-DD`, times `HH:MM`, amounts decimal with a point.
    pub fields: BTreeMap<String, String>,
    /// The note as it was written.
    pub note: String,
}

/// Kind of a [`Card`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Template {
    /// Something that happens on a date; fields `date`, and `time`, `end`, `place`, `people` if known.
    Event,
    /// Something to do; field `due` if known.
    Task,
    /// Money that was spent; fields `amount`, `currency`, `date`.
    Expense,
    /// A person; fields `phone` and `email`, at least one of them.
    Contact,
    /// Anything else worth keeping; field `text`.
    Note,
}

impl Template {
    /// The name in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Template::Event => "event",
            Template::Task => "task",
            Template::Expense => "expense",
            Template::Contact => "contact",
            Template::Note => "note",
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Card {
    pub(crate) fn new(template: Template, title: impl Into<String>, note: &str) -> Self {
        Self { template, title: title.into(), fields: BTreeMap::new(), note: note.to_owned() }
    }

    pub(crate) fn field(mut self, name: &str, value: impl Into<String>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Whether both cards have the same content, whatever the wording of their notes.
    pub(crate) fn has_same_content(&self, other: &Self) -> bool {
        self.template == other.template
            && self.fields == other.fields
            && self.title.to_lowercase() == other.title.to_lowercase()
    }

    /// The file of the card, named after its date, if it has one, and its title.
    pub(crate) fn path(&self) -> String {
        let date = match self.template {
            Template::Event | Template::Expense => self.fields.get("date"),
            Template::Task => self.fields.get("due"),
            Template::Contact | Template::Note => None,
        };
        let slug = slug(&self.title);
        match date {
            Some(date) => format!("cards/{date}-{slug}.json"),
            None => format!("cards/{}-{slug}.json", self.template),
        }
    }
}

/// A readable file name: letters and digits of any script, in lower case, joined by hyphens.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.nfc().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        // File systems limit names in bytes, and a letter takes up to four.
        if slug.len() >= 80 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "untitled".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_keep_every_script() {
        assert_eq!(slug("Dentist (Dr. Weiß)!"), "dentist-dr-weiß");
        assert_eq!(slug("和田中开会"), "和田中开会");
        assert_eq!(slug("Cafe\u{301} 🎉"), "café");
        assert_eq!(slug("🎉"), "untitled");
    }

    #[test]
    fn a_long_title_stays_a_valid_file_name() {
        assert!(slug(&"会".repeat(400)).len() <= 84);
    }
}
