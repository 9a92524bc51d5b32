//! A problem with a suite as data: what is wrong, where, and what to do about it; and lists of them, because checking continues after an
//! error. Problems with one cause at several places are combined.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::diagnostics::{Code, Position, Severity, SourceRange, counted, terminal};
use crate::json::{FromJson, Result, Value, written_by_serde};

/// One problem with a suite.
///
/// It contains everything that is printed. `P` is how it refers to files: the loader uses positions in files that it has
/// open, and turns them into [`SourceRange`]s at the end of a load.
///
/// ```
/// use evalsuite_schema::diagnostics::Location;
/// use evalsuite_schema::diagnostics::{Code, Diagnostic};
///
/// let diagnostic = Diagnostic::new(Code::UnknownKey, "unknown key `asserts` in a case")
///     .at(Location::new("suites/shop/cases/refund/case.yaml", 4, 1))
///     .help("did you mean `assertions`?");
/// assert_eq!(
///     diagnostic.to_string(),
///     "error[E019 unknown-key]: unknown key `asserts` in a case\n \
///      --> suites/shop/cases/refund/case.yaml:4:1\n  \
///      = help: did you mean `assertions`?"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic<P = SourceRange> {
    /// The kind of problem.
    pub code: Code,
    /// The problem: a lowercase fragment without a full stop.
    pub message: String,
    /// Where the problem is; `None` if it is not in a file of the suite.
    pub place: Option<P>,
    /// Other places that belong to the problem.
    pub related: Vec<Related<P>>,
    /// What to do about it.
    pub help: Option<String>,
    /// The change to the text at `place` that fixes it, if there is a safe one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<Fix>>,
}

written_by_serde!(Diagnostic);

impl FromJson for Diagnostic {
    fn from_json(value: Value) -> Result<Self> {
        Self::deserialize(value)
    }
}

/// A change to the text at the place of a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Fix {
    /// Another text; quotes around the old one stay.
    Replace(String),
    /// Double quotes around the text.
    Quote,
    /// Several changes of the file, which belong together.
    Edits(Vec<Edit>),
}

/// A change of a part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Edit {
    /// The first character that is replaced.
    pub start: Position,
    /// The character after the last one.
    pub end: Position,
    /// What takes their place. A line on which nothing is left is removed.
    pub text: String,
}

impl Edit {
    /// Replaces what is from `start` to before `end`.
    pub fn new(start: Position, end: Position, text: impl Into<String>) -> Self {
        Self { start, end, text: text.into() }
    }
}

/// Another place that belongs to a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Related<P = SourceRange> {
    /// Where it is.
    pub place: P,
    /// What is there.
    pub message: String,
    /// The change that fixes the same problem here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<Fix>>,
}

impl<P> Diagnostic<P> {
    /// A problem without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: None, related: Vec::new(), help: None, fix: None }
    }

    /// Sets where the problem is.
    #[must_use]
    pub fn at(mut self, place: impl Into<P>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Sets what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets what to do about it, if there is help.
    #[must_use]
    pub fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Sets the change that fixes it, if there is a safe one.
    #[must_use]
    pub fn fix_if(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix.map(Box::new).or(self.fix);
        self
    }

    /// Adds another place that belongs to the problem.
    #[must_use]
    pub fn related(mut self, place: impl Into<P>, message: impl Into<String>) -> Self {
        self.related.push(Related { place: place.into(), message: message.into(), fix: None });
        self
    }

    /// Whether it is an error or a warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The same problem with its places in another form.
    pub fn map_places<Q>(self, mut convert: impl FnMut(P) -> Q) -> Diagnostic<Q> {
        let Self { code, message, place, related, help, fix } = self;
        let place = place.map(&mut convert);
        let convert = |Related { place, message, fix }| Related { place: convert(place), message, fix };
        Diagnostic { code, message, place, related: related.into_iter().map(convert).collect(), help, fix }
    }
}

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

/// What is said about the places of a group after the first one.
const ALSO_HERE: &str = "also here";

/// Most places that are printed of those that follow the first one.
const SHOWN: usize = 6;

impl Diagnostics {
    /// Combines problems with one cause: the first one remains, with their number and with the places of the others as
    /// related places. The order does not change.
    #[must_use]
    pub fn grouped(self) -> Self {
        let mut result = self.without_list();
        let mut groups: Vec<(Diagnostic, Vec<Related>)> = Vec::new();
        let mut first: HashMap<(Code, String), usize> = HashMap::new();
        for diagnostic in self {
            let can_be_grouped =
                diagnostic.code.has_one_cause() && diagnostic.place.is_some() && diagnostic.related.is_empty();
            if can_be_grouped {
                let index = *first.entry((diagnostic.code, diagnostic.message.clone())).or_insert(groups.len());
                if let Some((_, others)) = groups.get_mut(index) {
                    others.extend(also_here(diagnostic));
                    continue;
                }
            }
            groups.push((diagnostic, Vec::new()));
        }
        groups.into_iter().for_each(|(diagnostic, others)| result.push(grouped(diagnostic, others)));
        result
    }

    /// One problem per place, as before [`grouped`](Self::grouped), in the order of groups.
    #[must_use]
    pub fn ungrouped(self) -> Self {
        self.into_iter().flat_map(ungrouped).collect()
    }
}

fn ungrouped(mut diagnostic: Diagnostic) -> Vec<Diagnostic> {
    let (others, related): (Vec<Related>, Vec<Related>) =
        std::mem::take(&mut diagnostic.related).into_iter().partition(|related| related.message == ALSO_HERE);
    diagnostic.related = related;
    if let Some(message) = diagnostic.message.strip_suffix(&times(others.len())) {
        diagnostic.message.truncate(message.len());
    }
    let alone = |other: Related| Diagnostic { place: Some(other.place), fix: other.fix, ..diagnostic.clone() };
    let others: Vec<Diagnostic> = others.into_iter().map(alone).collect();
    std::iter::once(diagnostic).chain(others).collect()
}

/// What the message of a group ends with.
fn times(others: usize) -> String {
    format!(" ({} times)", others + 1)
}

fn grouped(mut diagnostic: Diagnostic, others: Vec<Related>) -> Diagnostic {
    if !others.is_empty() {
        diagnostic.message.push_str(&times(others.len()));
    }
    diagnostic.related.extend(others);
    diagnostic
}

/// Another place with the same problem, without its line: the first place shows what is there.
fn also_here(diagnostic: Diagnostic) -> Option<Related> {
    let place = SourceRange { excerpt: None, ..diagnostic.place? };
    Some(Related { place, message: ALSO_HERE.to_owned(), fix: diagnostic.fix })
}

/// The text of related places without the lines of their files, one line each. If there are many, the last line gives
/// the number of the others.
pub fn notes<'r>(related: impl IntoIterator<Item = &'r Related>) -> Vec<String> {
    let related: Vec<&Related> = related.into_iter().collect();
    let (shown, rest) = related.split_at(related.len().min(SHOWN));
    let mut notes: Vec<String> = shown
        .iter()
        .map(|related| format!("{}: {}", related.place, crate::diagnostics::terminal::short_line(&related.message)))
        .collect();
    if !rest.is_empty() {
        let files: BTreeSet<&str> = rest.iter().map(|related| related.place.file.as_str()).collect();
        notes.push(format!("and {} more in {}", rest.len(), counted(files.len(), "file")));
    }
    notes
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (severity, message) = (self.severity().as_str(), terminal::short_line(&self.message));
        write!(f, "{severity}[{}]: {message}", self.code)?;
        if let Some(place) = &self.place {
            write!(f, "\n --> {place}")?;
        }
        for note in notes(&self.related) {
            write!(f, "\n  = note: {note}")?;
        }
        if let Some(help) = &self.help {
            // Further lines start below the first letter of the first one.
            write!(f, "\n  = help: {}", terminal::lines(help).replace('\n', "\n          "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Location;

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

    fn unknown_key(file: &str, line: u32) -> Diagnostic {
        Diagnostic::new(Code::UnknownKey, "unknown key `asserts`").at(Location::new(file, line, 1)).help("delete it")
    }

    #[test]
    fn problems_with_one_cause_are_one_problem_with_all_places() {
        let wrong_type = |line| Diagnostic::new(Code::WrongType, "a number").at(Location::new("a.yaml", line, 1));
        let mut all: Diagnostics = (1..=9).map(|line| unknown_key("a.yaml", line)).collect();
        all.push(wrong_type(3));
        all.push(wrong_type(4));
        all.push(unknown_key("b.yaml", 1));
        all.push(Diagnostic::new(Code::UnknownKey, "unknown key `other`").at(Location::new("b.yaml", 2, 1)));
        let grouped: Vec<Diagnostic> = all.grouped().into_iter().collect();
        let messages: Vec<&str> = grouped.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(
            messages,
            ["unknown key `asserts` (10 times)", "a number", "a number", "unknown key `other`"],
            "each of the numbers has to be edited by itself"
        );
        assert_eq!(grouped[0].related.len(), 9, "no place is lost");
        let text = grouped[0].to_string();
        assert!(text.contains(" --> a.yaml:1:1\n  = note: a.yaml:2:1: also here\n"), "{text}");
        assert!(
            text.ends_with("a.yaml:7:1: also here\n  = note: and 3 more in 2 files\n  = help: delete it"),
            "{text}"
        );
    }

    #[test]
    fn a_group_can_be_taken_apart() {
        let all: Diagnostics = (1..=3).map(|line| unknown_key("a.yaml", line)).collect();
        assert_eq!(all.clone().grouped().ungrouped(), all);
        assert_eq!(all.clone().ungrouped(), all);
    }

    #[test]
    fn grouping_again_changes_nothing() {
        let once = (1..=3).map(|line| unknown_key("a.yaml", line)).collect::<Diagnostics>().grouped();
        assert_eq!(once.clone().grouped(), once);
    }
}
