//! Problems in SARIF 2.1.0, which code scanning and editors read.

use serde::Serialize;

use crate::{Code, Diagnostic, Diagnostics, Position, SourceRange};

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

/// A log with one run: the catalogue as rules, and a result per place. `prefix` is the path from the root of the repository to that of
/// the paths that are shown.
pub fn sarif<'d>(diagnostics: &'d Diagnostics, prefix: &str, help: impl Fn(Code) -> SarifHelp) -> SarifLog<'d> {
    let rules = Code::ALL.iter().map(|code| Rule::new(*code, help(*code))).collect();
    let driver = Driver { name: "evalsuite", semantic_version: env!("CARGO_PKG_VERSION"), rules };
    let results = diagnostics.iter().map(|diagnostic| Finding::new(diagnostic, prefix)).collect();
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    SarifLog { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] }
}

/// A log in SARIF's form.
#[derive(Debug, Serialize)]
pub struct SarifLog<'d> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'d>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'d> {
    tool: Tool,
    /// Columns are those of editors: characters, not UTF-16 units.
    column_kind: &'static str,
    results: Vec<Finding<'d>>,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
struct Text<T> {
    text: T,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    name: &'static str,
    short_description: Text<String>,
    full_description: Text<String>,
    help: RuleHelp,
    default_configuration: Configuration,
}

#[derive(Debug, Serialize)]
struct RuleHelp {
    text: String,
    markdown: String,
}

#[derive(Debug, Serialize)]
struct Configuration {
    level: &'static str,
}

impl Rule {
    fn new(code: Code, help: SarifHelp) -> Self {
        let first = help.summary.split_inclusive(". ").next().unwrap_or_default().trim();
        let cut = |text: &str| Text { text: text.chars().take(LONGEST).collect() };
        Self {
            id: code.as_str(),
            name: code.name(),
            short_description: cut(first),
            full_description: cut(&help.summary),
            help: RuleHelp { text: help.text, markdown: help.markdown },
            default_configuration: Configuration { level: code.severity().as_str() },
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'d> {
    rule_id: &'static str,
    rule_index: Option<usize>,
    level: &'static str,
    message: Text<String>,
    locations: Vec<Place<'d>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Place<'d>>,
}

impl<'d> Finding<'d> {
    fn new(diagnostic: &'d Diagnostic, prefix: &str) -> Self {
        let Diagnostic { code, message, place, related, help, .. } = diagnostic;
        let help = help.as_ref().map(|help| format!("\nHelp: {help}")).unwrap_or_default();
        Self {
            rule_id: code.as_str(),
            rule_index: Code::ALL.iter().position(|known| known == code),
            level: code.severity().as_str(),
            message: Text { text: format!("{message}{help}") },
            locations: place.iter().map(|place| Place::new(place, prefix, None)).collect(),
            related_locations: related
                .iter()
                .map(|related| Place::new(&related.place, prefix, Some(&related.message)))
                .collect(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Place<'d> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<&'d str>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

impl<'d> Place<'d> {
    fn new(place: &SourceRange, prefix: &str, message: Option<&'d str>) -> Self {
        let (start, end) = place.range.unwrap_or((Position::START, Position::START));
        let uri = uri(&format!("{prefix}{}", place.file));
        Self {
            physical_location: PhysicalLocation {
                artifact_location: Artifact { uri, uri_base_id: "%SRCROOT%" },
                region: Region {
                    start_line: start.line,
                    start_column: start.column,
                    end_line: end.line,
                    end_column: end.column,
                },
            },
            message: message.map(|text| Text { text }),
        }
    }
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
        let rule = &log.runs[0].tool.driver.rules[0];
        assert_eq!(rule.short_description.text, "A sentence.");
        assert_eq!(rule.full_description.text.len(), LONGEST);
    }
}
