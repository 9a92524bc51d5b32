use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::excerpt::{self, Excerpt};
use super::{Style, harmless};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Files, Span};

/// Places of one file that are no further apart are shown together.
const TOGETHER: usize = 100;

/// A problem as rustc would show it, without a line break at the end.
///
/// ```text
/// error[E019 unknown-key]: unknown key `asserts` in a case
///  --> suites/card_agent/cases/refund-small/case.yaml:4:1
///   |
/// 4 | asserts:
///   | ^^^^^^^
///   = help: did you mean `assertions`?
/// ```
pub fn text(diagnostic: &Diagnostic, files: &Files, style: Style) -> String {
    let places = places(diagnostic, files);
    let sources: Vec<Source> = sources(&places);
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(harmless::short_line(&diagnostic.message)).id(diagnostic.code.to_string());
    let mut group = Group::with_title(title);
    let is_primary_shown = places.first().is_some_and(|place| place.is_primary);
    if !is_primary_shown && !sources.is_empty() {
        group = group.element(origin(&diagnostic.span, files));
    }
    for source in &sources {
        group = group.element(source.snippet());
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Colored => Renderer::styled(),
    };
    let mut text = renderer.render(&[group]);
    for place in &places {
        place.correct_column(&mut text);
    }
    let footer = Footer { style, margin: sources.iter().map(Source::margin).max().unwrap_or(1) };
    if sources.is_empty() {
        footer.arrow(&mut text, &location(&diagnostic.span, files));
    }
    for related in diagnostic.related.iter().filter(|related| excerpt_of(&related.span, files).is_none()) {
        let note = format!("{}: {}", location(&related.span, files), related.message);
        footer.line(&mut text, "note", &note);
    }
    if let Some(help) = &diagnostic.help {
        footer.line(&mut text, "help", help);
    }
    text
}

/// `FILE:LINE:COLUMN`, or only the file.
fn location(span: &Span, files: &Files) -> String {
    let shown = harmless::short_line(&files.get(span.file).shown);
    match span.range {
        Some((start, _)) => format!("{shown}:{}:{}", start.line, start.column),
        None => shown,
    }
}

fn origin(span: &Span, files: &Files) -> Origin<'static> {
    let origin = Origin::path(harmless::short_line(&files.get(span.file).shown));
    match span.range {
        Some((start, _)) => origin.line(start.line as usize).char_column(start.column as usize),
        None => origin,
    }
}

/// A place whose line can be shown.
struct Place<'d> {
    shown: String,
    text: std::sync::Arc<str>,
    excerpt: Excerpt,
    is_primary: bool,
    label: Option<&'d str>,
}

fn excerpt_of(span: &Span, files: &Files) -> Option<(std::sync::Arc<str>, Excerpt)> {
    let (start, end) = span.range?;
    let text = files.get(span.file).text?;
    let excerpt = Excerpt::of(&text, start, end);
    Some((text, excerpt))
}

/// The place of the problem, then the others.
fn places<'d>(diagnostic: &'d Diagnostic, files: &Files) -> Vec<Place<'d>> {
    let primary = (&diagnostic.span, None);
    let others = diagnostic.related.iter().map(|related| (&related.span, Some(related.message.as_str())));
    let place = |(span, label): (&Span, Option<&'d str>)| {
        let (text, excerpt) = excerpt_of(span, files)?;
        let shown = harmless::short_line(&files.get(span.file).shown);
        Some(Place { shown, text, excerpt, is_primary: label.is_none(), label })
    };
    std::iter::once(primary).chain(others).filter_map(place).collect()
}

impl Place<'_> {
    fn can_join(&self, other: &Place<'_>) -> bool {
        self.shown == other.shown
            && self.excerpt.is_whole()
            && other.excerpt.is_whole()
            && self.excerpt.line.abs_diff(other.excerpt.line) <= TOGETHER
    }

    /// The renderer names the column of what it sees, which is not the whole of a long line.
    fn correct_column(&self, text: &mut String) {
        let Excerpt { line, column, shown_column, .. } = self.excerpt;
        if column != shown_column {
            let seen = format!("{}:{line}:{shown_column}", self.shown);
            *text = text.replacen(&seen, &format!("{}:{line}:{column}", self.shown), 1);
        }
    }
}

/// Lines of one file that are shown together.
struct Source<'p> {
    shown: &'p str,
    first_line: usize,
    last_line: usize,
    text: String,
    annotations: Vec<Annotation<'p>>,
}

fn sources<'p>(places: &'p [Place<'p>]) -> Vec<Source<'p>> {
    let mut groups: Vec<Vec<&Place<'_>>> = Vec::new();
    for place in places {
        match groups.iter_mut().find(|group| group[0].can_join(place)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups.iter().map(|group| Source::new(group)).collect()
}

impl<'p> Source<'p> {
    fn new(places: &[&'p Place<'p>]) -> Self {
        let lines = || places.iter().map(|place| place.excerpt.line);
        let (first_line, last_line) = (lines().min().unwrap_or(1), lines().max().unwrap_or(1));
        let mut text = String::new();
        let mut annotations = Vec::new();
        let between = excerpt::between(&places[0].text, first_line..last_line + 1);
        for (line, content) in (first_line..).zip(between) {
            let mut here = places.iter().filter(|place| place.excerpt.line == line).peekable();
            let content = here.peek().map_or(content, |place| place.excerpt.text.clone());
            for place in here {
                let mark = text.len() + place.excerpt.mark.start..text.len() + place.excerpt.mark.end;
                let kind = if place.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                annotations.push(kind.span(mark).label(place.label.map(harmless::short_line)));
            }
            text.push_str(&content);
            text.push('\n');
        }
        Self { shown: &places[0].shown, first_line, last_line, text, annotations }
    }

    fn snippet(&self) -> Snippet<'_, Annotation<'_>> {
        Snippet::source(&self.text)
            .line_start(self.first_line)
            .path(self.shown)
            .annotations(self.annotations.iter().cloned())
    }

    /// How many digits the line numbers take.
    fn margin(&self) -> usize {
        self.last_line.to_string().len()
    }
}

/// What follows the snippet. The renderer would put an empty line before it.
struct Footer {
    style: Style,
    margin: usize,
}

const BLUE: &str = "\x1b[1m\x1b[94m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

impl Footer {
    fn styled(&self, style: &str, text: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Colored => format!("{style}{text}{RESET}"),
        }
    }

    fn arrow(&self, out: &mut String, location: &str) {
        let indent = " ".repeat(self.margin);
        out.push_str(&format!("\n{indent}{} {location}", self.styled(BLUE, "-->")));
    }

    fn line(&self, out: &mut String, label: &str, text: &str) {
        let indent = " ".repeat(self.margin + 1);
        // Further lines start below the first letter of the first one.
        let deeper = format!("\n{}", " ".repeat(self.margin + 1 + "= ".len() + label.len() + ": ".len()));
        let text = harmless::lines(text).replace('\n', &deeper);
        out.push_str(&format!("\n{indent}{} {}: {text}", self.styled(BLUE, "="), self.styled(BOLD, label)));
    }
}
