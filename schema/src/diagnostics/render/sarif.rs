//! Problems in SARIF 2.1.0, which code scanning and editors read.

use serde::Serialize;

use super::Json;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Position, SourceRange};

/// GitHub refuses longer descriptions, in characters.
const LONGEST: usize = 1024;

/// What the documentation says about a diagnostic.
#[derive(Debug, Clone, Default)]
pub struct SarifHelp {
    /// What it means, in one paragraph.
    pub summary: String,
    /// All of it, as plain text.
    pub text: String,
    /// The same as Markdown.
    pub markdown: String,
}

/// A log in SARIF's form.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct SarifLog<'d> {
    json: Json<'d>,
}

/// A log with one run: the catalogue as rules, and a result per place. `prefix` is the path from the root of the repository to that of
/// the paths that are shown.
pub fn sarif<'d>(diagnostics: &'d Diagnostics, prefix: &str, help: impl Fn(Code) -> SarifHelp) -> SarifLog<'d> {
    let driver = Json::Object(vec![
        ("name", "evalsuite".into()),
        ("semanticVersion", env!("CARGO_PKG_VERSION").into()),
        ("rules", Json::List(Code::ALL.iter().map(|code| rule(*code, help(*code))).collect())),
    ]);
    let run = Json::Object(vec![
        ("tool", Json::Object(vec![("driver", driver)])),
        // Columns are those of editors: characters, not UTF-16 units.
        ("columnKind", "unicodeCodePoints".into()),
        ("results", Json::List(diagnostics.iter().map(|diagnostic| finding(diagnostic, prefix)).collect())),
    ]);
    let json = Json::Object(vec![
        ("$schema", "https://json.schemastore.org/sarif-2.1.0.json".into()),
        ("version", "2.1.0".into()),
        ("runs", Json::List(vec![run])),
    ]);
    SarifLog { json }
}

fn text<'d>(text: impl Into<Json<'d>>) -> Json<'d> {
    Json::Object(vec![("text", text.into())])
}

fn rule(code: Code, help: SarifHelp) -> Json<'static> {
    let first = help.summary.split_inclusive(". ").next().unwrap_or_default().trim();
    let cut = |summary: &str| text(summary.chars().take(LONGEST).collect::<String>());
    Json::Object(vec![
        ("id", code.as_str().into()),
        ("name", code.name().into()),
        ("shortDescription", cut(first)),
        ("fullDescription", cut(&help.summary)),
        ("help", Json::Object(vec![("text", help.text.into()), ("markdown", help.markdown.into())])),
        ("defaultConfiguration", Json::Object(vec![("level", code.severity().as_str().into())])),
    ])
}

fn finding<'d>(diagnostic: &'d Diagnostic, prefix: &str) -> Json<'d> {
    let Diagnostic { code, message, place, related, help, .. } = diagnostic;
    let help = help.as_ref().map(|help| format!("\nHelp: {help}")).unwrap_or_default();
    let index = Code::ALL.iter().position(|known| known == code).and_then(|index| u32::try_from(index).ok());
    let mut finding = vec![
        ("ruleId", code.as_str().into()),
        ("ruleIndex", index.into()),
        ("level", code.severity().as_str().into()),
        ("message", text(format!("{message}{help}"))),
        ("locations", Json::List(place.iter().map(|place| location(place, prefix, None)).collect())),
    ];
    if !related.is_empty() {
        let related = related.iter().map(|related| location(&related.place, prefix, Some(&related.message)));
        finding.push(("relatedLocations", Json::List(related.collect())));
    }
    Json::Object(finding)
}

fn location<'d>(place: &SourceRange, prefix: &str, message: Option<&'d str>) -> Json<'d> {
    let (start, end) = place.range.unwrap_or((Position::START, Position::START));
    let artifact = vec![("uri", uri(&format!("{prefix}{}", place.file)).into()), ("uriBaseId", "%SRCROOT%".into())];
    let region = vec![
        ("startLine", start.line.into()),
        ("startColumn", start.column.into()),
        ("endLine", end.line.into()),
        ("endColumn", end.column.into()),
    ];
    let physical = vec![("artifactLocation", Json::Object(artifact)), ("region", Json::Object(region))];
    let mut location = vec![("physicalLocation", Json::Object(physical))];
    location.extend(message.map(|message| ("message", text(message))));
    Json::Object(location)
}

/// A relative path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_references() {
        assert_eq!(uri("suites/é a:1/case.yaml"), "suites/%C3%A9%20a%3A1/case.yaml");
    }

    #[test]
    fn descriptions_are_cut() {
        let help = |_| SarifHelp { summary: "A sentence. ".repeat(200), ..SarifHelp::default() };
        let none = Diagnostics::new();
        let log = sarif(&none, "", help);
        let log = serde_json::to_value(&log).unwrap();
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
        assert_eq!(rule["shortDescription"]["text"], "A sentence.");
        assert_eq!(rule["fullDescription"]["text"].as_str().unwrap().len(), LONGEST);
    }
}
