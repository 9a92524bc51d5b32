//! What is wrong with a suite: data first, rendering in [`crate::render`].

mod code;

pub use code::{Code, Severity};

use crate::source::Span;

/// One problem of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What it is about.
    pub code: Code,
    /// The problem, a lowercase fragment without a full stop.
    pub message: String,
    /// Where it is.
    pub span: Span,
    /// Other places that belong to it.
    pub related: Vec<Related>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Another place that belongs to a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Related {
    /// Where it is.
    pub span: Span,
    /// What is there.
    pub message: String,
}

impl Diagnostic {
    /// A problem at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, related: Vec::new(), help: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do about it, where there is something to say.
    #[must_use]
    pub fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Names another place that belongs to it.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }

    /// Whether it is an error or a warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// A bag of problems. Checking goes on after an error, so that one run shows all of them.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty bag.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds a problem with code, place, message and help.
    pub(crate) fn report(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::new(code, span, message).help(help));
    }

    /// Adds all problems of another bag.
    pub fn append(&mut self, mut other: Diagnostics) {
        self.list.append(&mut other.list);
    }

    /// The problems, in the order in which they were found or sorted.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// How many problems there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are so many that nobody reads them all. Then nothing is looked for that takes long, such as names that
    /// were probably meant.
    pub(crate) fn is_long(&self) -> bool {
        self.list.len() > 50
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity() == Severity::Error)
    }

    /// Keeps the problems for which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(keep);
    }

    /// Sorts by file as it is shown, then by position, code and message, and drops repeats.
    pub(crate) fn sort(&mut self, shown: impl Fn(&Span) -> std::sync::Arc<str>) {
        self.list.sort_by_cached_key(|diagnostic| {
            (shown(&diagnostic.span), diagnostic.span.range, diagnostic.code, diagnostic.message.clone())
        });
        self.list.dedup();
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
