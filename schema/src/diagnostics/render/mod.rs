//! Diagnostics as people and programs read them: text with source lines as rustc shows its own, one line as compilers print theirs, JSON,
//! GitHub's annotations, SARIF.

mod sarif;

use std::cmp::Reverse;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};

use crate::diagnostics::workflow_command::{command, commands};
use crate::diagnostics::{
    Diagnostic, Diagnostics, Excerpt, Location, Position, Severity, SourceRange, counted, notes, terminal,
};
use crate::json::{Value, json};

pub use sarif::{SarifHelp, sarif};

/// Whether text is meant for a terminal with colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// No escape sequences.
    #[default]
    Plain,
    /// The colors of rustc.
    Colored,
}

/// All problems, those with one cause as one, with an empty line after each, and the count. Without problems, only the count.
pub fn report(diagnostics: &Diagnostics, style: Style) -> String {
    let diagnostics = diagnostics.clone().grouped();
    let mut report = String::new();
    for diagnostic in &diagnostics {
        report.push_str(&text(diagnostic, style));
        report.push_str("\n\n");
    }
    report + &summary(&diagnostics)
}

/// How many problems there are: `2 errors, 1 warning`, or `no problems`.
pub fn summary(diagnostics: &Diagnostics) -> String {
    let count = |severity: Severity| {
        diagnostics.iter().filter(|found| found.severity() == severity).count() + diagnostics.left_out(severity)
    };
    let counts = [Severity::Error, Severity::Warning].map(|severity| (count(severity), severity.as_str()));
    let parts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "no problems".to_owned() } else { parts.join(", ") }
}

/// A problem in one line for editors and problem matchers: `FILE:LINE:COLUMN: error[E019]: MESSAGE (help: HELP)`.
///
/// A problem of a whole file or directory is at line 1, column 1, for every reader of this form expects both. One without a file starts
/// with the severity.
pub fn one_line(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, place, help, .. } = diagnostic;
    let place = place.as_ref().map(|place| {
        let start = place.start().unwrap_or(Position::START);
        format!("{}:{}:{}: ", place.file, start.line, start.column)
    });
    let help = help.as_deref().map(|help| format!(" (help: {help})")).unwrap_or_default();
    let severity = diagnostic.severity().as_str();
    format!("{}{severity}[{}]: {message}{help}", place.unwrap_or_default(), code.as_str()).replace(['\n', '\r'], " ")
}

/// A problem in one line: `FILE:LINE:COLUMN: MESSAGE [E019 unknown-key] (help: HELP)`, without the parts that it does not have.
pub fn short(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, place, help, .. } = diagnostic;
    let place = place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let help = help.as_deref().map(|help| format!(" (help: {help})")).unwrap_or_default();
    format!("{place}{message} [{code}]{help}").replace(['\n', '\r'], " ")
}

/// Problems as annotations, one per line: errors before warnings, those with many places first; at most nine of each kind, and one that
/// says how many more there are.
pub fn github_annotations(diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for severity in [Severity::Error, Severity::Warning] {
        let mut problems: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.severity() == severity).collect();
        problems.sort_by_key(|problem| Reverse(problem.related.len()));
        let more = |count| format!("{count} more {}s; `cargo evalsuite check` shows them all", severity.as_str());
        text.push_str(&commands(severity, &problems, |problem| github(problem), more));
    }
    text
}

/// A problem as a workflow command of GitHub, which shows it at the line:
/// `::error file=FILE,line=LINE,col=COLUMN,title=E019 unknown-key::MESSAGE`. The other places of a problem with
/// many, and the help, are further lines of the message.
pub fn github(diagnostic: &Diagnostic) -> String {
    let location = diagnostic.place.as_ref().map(|place| match place.start() {
        Some(start) => Location::new(place.file.as_str(), start.line, start.column),
        None => Location::new(place.file.as_str(), 0, 0),
    });
    let mut message = diagnostic.message.clone();
    for note in notes(diagnostic.related.iter().filter(|related| related.place.excerpt.is_none())) {
        message.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &diagnostic.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    command(diagnostic.severity(), location.as_ref(), &diagnostic.code.to_string(), &message)
}

/// Places of one file that are no further apart are shown together.
const TOGETHER: u32 = 100;

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
pub fn text(diagnostic: &Diagnostic, style: Style) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(terminal::short_line(&diagnostic.message)).id(diagnostic.code.to_string());
    titled(title, diagnostic, style)
}

/// The same for compilers and cargo, which put `error: ` or `warning: ` in front: plain, and starting with
/// ``[E019 unknown-key] unknown key `asserts` in a case``.
pub fn text_without_severity(diagnostic: &Diagnostic) -> String {
    let title = format!("[{}] {}", diagnostic.code, terminal::short_line(&diagnostic.message));
    titled(Level::ERROR.no_name().primary_title(title), diagnostic, Style::Plain)
}

fn titled(title: Title<'_>, diagnostic: &Diagnostic, style: Style) -> String {
    let shown_places = shown_places(diagnostic);
    let sources: Vec<Source> = sources(&shown_places);
    let mut group = Group::with_title(title);
    let is_primary_shown = shown_places.first().is_some_and(|place| place.label.is_none());
    if let Some(place) = diagnostic.place.as_ref().filter(|_| !is_primary_shown && !sources.is_empty()) {
        group = group.element(origin(place));
    }
    for source in &sources {
        group = group.element(source.snippet());
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Colored => Renderer::styled(),
    };
    let mut text = renderer.render(&[group]);
    for place in &shown_places {
        place.correct_column(&mut text);
    }
    let footer = Footer { style, margin: sources.iter().map(Source::margin).max().unwrap_or(1) };
    if let Some(place) = diagnostic.place.as_ref().filter(|_| sources.is_empty()) {
        footer.arrow(&mut text, &place.to_string());
    }
    for note in notes(diagnostic.related.iter().filter(|related| related.place.excerpt.is_none())) {
        footer.line(&mut text, "note", &note);
    }
    if let Some(help) = &diagnostic.help {
        footer.line(&mut text, "help", help);
    }
    text
}

fn origin(place: &SourceRange) -> Origin<'static> {
    let origin = Origin::path(terminal::short_line(&place.file));
    match place.start() {
        Some(start) => origin.line(start.line as usize).char_column(start.column as usize),
        None => origin,
    }
}

/// A place whose line is shown.
struct ShownPlace<'d> {
    file: String,
    excerpt: &'d Excerpt,
    /// `None` at the place of the problem itself.
    label: Option<&'d str>,
}

impl<'d> ShownPlace<'d> {
    fn new(place: &'d SourceRange, label: Option<&'d str>) -> Option<Self> {
        let file = terminal::short_line(&place.file);
        Some(Self { file, excerpt: place.excerpt.as_ref()?, label })
    }
}

/// The place of the problem, then the others.
fn shown_places(diagnostic: &Diagnostic) -> Vec<ShownPlace<'_>> {
    let primary = diagnostic.place.iter().filter_map(|place| ShownPlace::new(place, None));
    let others = diagnostic.related.iter().filter_map(|other| ShownPlace::new(&other.place, Some(&other.message)));
    primary.chain(others).collect()
}

impl ShownPlace<'_> {
    fn can_join(&self, other: &Self) -> bool {
        self.file == other.file
            && self.excerpt.is_whole()
            && other.excerpt.is_whole()
            && self.excerpt.line.abs_diff(other.excerpt.line) <= TOGETHER
    }

    /// Replaces the renderer's column, which counts in the shown part of a long line.
    fn correct_column(&self, text: &mut String) {
        let Excerpt { line, column, .. } = self.excerpt;
        let shown_column = self.excerpt.column_in_text();
        if *column != shown_column {
            let seen = format!("{}:{line}:{shown_column}", self.file);
            *text = text.replacen(&seen, &format!("{}:{line}:{column}", self.file), 1);
        }
    }
}

/// Lines of one file that are shown together.
struct Source<'p> {
    file: &'p str,
    first_line: u32,
    last_line: u32,
    text: String,
    annotations: Vec<Annotation<'p>>,
}

fn sources<'p>(places: &'p [ShownPlace<'p>]) -> Vec<Source<'p>> {
    let mut groups: Vec<Vec<&ShownPlace<'_>>> = Vec::new();
    for place in places {
        match groups.iter_mut().find(|group| group[0].can_join(place)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups.iter().map(|group| Source::new(group)).collect()
}

impl<'p> Source<'p> {
    fn new(places: &[&'p ShownPlace<'p>]) -> Self {
        let lines = || places.iter().map(|place| place.excerpt.line);
        let (first_line, last_line) = (lines().min().unwrap_or(1), lines().max().unwrap_or(1));
        let mut text = String::new();
        let mut annotations = Vec::new();
        for line in first_line..=last_line {
            let mut here = places.iter().filter(|place| place.excerpt.line == line).peekable();
            // The renderer shows the line between two places that are two lines apart.
            let before = places.iter().find(|place| place.excerpt.line + 1 == line);
            let content = here.peek().map(|place| &place.excerpt.text).or(before.map(|place| &place.excerpt.next_line));
            for place in here.clone() {
                let mark = text.len() + place.excerpt.mark.start..text.len() + place.excerpt.mark.end;
                let kind = if place.label.is_none() { AnnotationKind::Primary } else { AnnotationKind::Context };
                annotations.push(kind.span(mark).label(place.label.map(terminal::short_line)));
            }
            text.push_str(content.map_or("", String::as_str));
            text.push('\n');
        }
        Self { file: &places[0].file, first_line, last_line, text, annotations }
    }

    fn snippet(&self) -> Snippet<'_, Annotation<'_>> {
        Snippet::source(&self.text)
            .line_start(self.first_line as usize)
            .path(self.file)
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

/// Colors of the frame and of labels: bright blue and bold, and as in rustc bright cyan and white on Windows, whose console makes blue hard to read.
const FRAME: &str = if cfg!(windows) { "\x1b[1m\x1b[96m" } else { "\x1b[1m\x1b[94m" };
const BOLD: &str = if cfg!(windows) { "\x1b[1m\x1b[97m" } else { "\x1b[1m" };
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
        out.push_str(&format!("\n{indent}{} {location}", self.styled(FRAME, "-->")));
    }

    fn line(&self, out: &mut String, label: &str, text: &str) {
        let indent = " ".repeat(self.margin + 1);
        // Further lines start below the first letter of the first one.
        let deeper = format!("\n{}", " ".repeat(self.margin + 1 + "= ".len() + label.len() + ": ".len()));
        let text = terminal::lines(text).replace('\n', &deeper);
        out.push_str(&format!("\n{indent}{} {}: {text}", self.styled(FRAME, "="), self.styled(BOLD, label)));
    }
}

/// A problem for programs: `code`, `name`, `severity`, `message`, `file`, `line`, `column`, `end_line`, `end_column`, `help`
/// and `related`, a list of `file`, `line`, `column` and `message`.
///
/// Lines and columns count from 1, columns in characters; the end is after the last character. They are `null` for a whole
/// file or directory, as `file` and `help` are if there is none.
pub fn json(diagnostic: &Diagnostic) -> Value {
    let start = |place: Option<&SourceRange>| {
        let start = place.and_then(SourceRange::start);
        let (line, column) = (start.map(|start| start.line), start.map(|start| start.column));
        json!({"file": place.map(|place| &place.file), "line": line, "column": column})
    };
    let Diagnostic { code, message, place, related, help, .. } = diagnostic;
    let (severity, place_start) = (code.severity().as_str(), start(place.as_ref()));
    let end = place.as_ref().and_then(|place| place.range).map(|(_, end)| end);
    let related = related.iter().map(|related| {
        let mut json = start(Some(&related.place));
        json["message"] = related.message.as_str().into();
        json
    });
    json!({
        "code": code.as_str(),
        "name": code.name(),
        "severity": severity,
        "message": message,
        "file": place_start["file"],
        "line": place_start["line"],
        "column": place_start["column"],
        "end_line": end.map(|end| end.line),
        "end_column": end.map(|end| end.column),
        "help": help,
        "related": related.collect::<Vec<Value>>(),
    })
}
