//! A list of diagnostics: checking continues after an error, so that one run shows all of them.

use super::{Code, Diagnostic, Severity, SourceRange};

/// The problems that were found, in the order in which they were found or sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics<P = SourceRange> {
    list: Vec<Diagnostic<P>>,
}

impl<P> Default for Diagnostics<P> {
    fn default() -> Self {
        Self { list: Vec::new() }
    }
}

impl<P> Diagnostics<P> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem.
    pub fn push(&mut self, diagnostic: Diagnostic<P>) {
        self.list.push(diagnostic);
    }

    /// Adds a problem with a place and help.
    pub fn report(&mut self, code: Code, place: P, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::new(code, message).at(place).help(help));
    }

    /// Adds all problems of another list.
    pub fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
    }

    /// The problems.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic<P>> {
        self.list.iter()
    }

    /// Number of problems.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity() == Severity::Error)
    }

    /// Keeps the problems for which `keep` returns `true`.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic<P>) -> bool) {
        self.list.retain(keep);
    }
}

impl Diagnostics {
    /// Sorts by file, position, code and message, and drops repetitions.
    pub fn sort(&mut self) {
        fn key(diagnostic: &Diagnostic) -> impl Ord + '_ {
            let place = diagnostic.place.as_ref().map(|place| (&place.file, place.range));
            (place, diagnostic.code, &diagnostic.message)
        }
        self.list.sort_by(|one, other| key(one).cmp(&key(other)));
        self.list.dedup();
    }
}

impl<P> FromIterator<Diagnostic<P>> for Diagnostics<P> {
    fn from_iter<I: IntoIterator<Item = Diagnostic<P>>>(diagnostics: I) -> Self {
        Self { list: diagnostics.into_iter().collect() }
    }
}

impl<P> IntoIterator for Diagnostics<P> {
    type Item = Diagnostic<P>;
    type IntoIter = std::vec::IntoIter<Diagnostic<P>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a, P> IntoIterator for &'a Diagnostics<P> {
    type Item = &'a Diagnostic<P>;
    type IntoIter = std::slice::Iter<'a, Diagnostic<P>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
