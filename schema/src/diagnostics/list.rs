//! A list of diagnostics: checking continues after an error, so that one run shows all of them.

use crate::diagnostics::{Code, Diagnostic, Severity, SourceRange};

/// The problems that were found, in the order in which they were found or sorted: at most [`Diagnostics::MAX_ERRORS`] errors and
/// [`Diagnostics::MAX_WARNINGS`] warnings. More are only counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics<P = SourceRange> {
    list: Vec<Diagnostic<P>>,
    listed: Numbers,
    left_out: Numbers,
}

/// Numbers of errors and warnings, by [`Severity`].
type Numbers = [usize; 2];

impl<P> Default for Diagnostics<P> {
    fn default() -> Self {
        Self { list: Vec::new(), listed: [0; 2], left_out: [0; 2] }
    }
}

impl<P> Diagnostics<P> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Largest number of errors that are listed.
    pub const MAX_ERRORS: usize = 20_000;

    /// Largest number of warnings that are listed.
    pub const MAX_WARNINGS: usize = 100_000;

    /// Adds a problem.
    pub fn push(&mut self, diagnostic: Diagnostic<P>) {
        let severity = diagnostic.severity() as usize;
        if self.listed[severity] < [Self::MAX_ERRORS, Self::MAX_WARNINGS][severity] {
            self.listed[severity] += 1;
            self.list.push(diagnostic);
        } else {
            self.left_out[severity] += 1;
        }
    }

    /// Number of problems of this severity that are not listed, because there are too many.
    pub fn left_out(&self, severity: Severity) -> usize {
        self.left_out[severity as usize]
    }

    /// Adds a problem with a place and help.
    pub fn report(&mut self, code: Code, place: P, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::new(code, message).at(place).help(help));
    }

    /// Adds all problems of another list.
    pub fn append(&mut self, other: Self) {
        self.left_out.iter_mut().zip(other.left_out).for_each(|(own, more)| *own += more);
        other.list.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// The same list with each problem in another form.
    #[must_use]
    pub fn map<Q>(self, convert: impl FnMut(Diagnostic<P>) -> Diagnostic<Q>) -> Diagnostics<Q> {
        Diagnostics { list: self.list.into_iter().map(convert).collect(), listed: self.listed, left_out: self.left_out }
    }

    /// An empty list with the same number of problems that are not listed.
    pub(super) fn without_list(&self) -> Self {
        Self { left_out: self.left_out, ..Self::new() }
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
        self.listed[Severity::Error as usize] > 0
    }

    /// Keeps the problems for which `keep` returns `true`.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic<P>) -> bool) {
        self.list.retain(keep);
        self.count();
    }

    fn count(&mut self) {
        self.listed = [0; 2];
        self.list.iter().for_each(|diagnostic| self.listed[diagnostic.severity() as usize] += 1);
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
        self.count();
    }
}

impl<P> FromIterator<Diagnostic<P>> for Diagnostics<P> {
    fn from_iter<I: IntoIterator<Item = Diagnostic<P>>>(diagnostics: I) -> Self {
        let mut list = Self::new();
        diagnostics.into_iter().for_each(|diagnostic| list.push(diagnostic));
        list
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_warnings_are_listed_up_to_limits_of_their_own_and_counted_beyond() {
        let error = || Diagnostic::new(Code::JsonSyntax, "not JSON");
        let warning = || Diagnostic::new(Code::NoEffect, "no effect");
        let mut all: Diagnostics = (0..Diagnostics::<SourceRange>::MAX_WARNINGS + 3).map(|_| warning()).collect();
        assert!(!all.has_errors());
        all.append((0..Diagnostics::<SourceRange>::MAX_ERRORS + 2).map(|_| error()).collect());
        assert!(all.has_errors(), "many warnings hide no error");
        assert_eq!((all.left_out(Severity::Error), all.left_out(Severity::Warning)), (2, 3));
        assert_eq!(all.len(), Diagnostics::<SourceRange>::MAX_ERRORS + Diagnostics::<SourceRange>::MAX_WARNINGS);
        let mut more = all.clone();
        more.append(all);
        assert_eq!(more.left_out(Severity::Error), 4 + Diagnostics::<SourceRange>::MAX_ERRORS);
    }
}
