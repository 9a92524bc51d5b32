//! A problem with a suite as data: what is wrong, where, and what to do about it.

use serde::{Deserialize, Serialize};

use crate::diagnostics::{Code, Position, Severity, SourceRange};

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
