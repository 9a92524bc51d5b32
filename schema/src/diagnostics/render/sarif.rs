//! Problems in SARIF 2.1.0, which code scanning and editors read.

use crate::diagnostics::{Code, Diagnostic, Diagnostics, Position, SourceRange};
use crate::json::{Value, json};

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
pub fn sarif(diagnostics: &Diagnostics, prefix: &str, help: impl Fn(Code) -> SarifHelp) -> Value {
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code, &help(*code))).collect();
    let results: Vec<Value> = diagnostics.iter().map(|diagnostic| finding(diagnostic, prefix)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "evalsuite", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
            // Columns are those of editors: characters, not UTF-16 units.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: Code, help: &SarifHelp) -> Value {
    let first = help.summary.split_inclusive(". ").next().unwrap_or_default().trim();
    let cut = |summary: &str| summary.chars().take(LONGEST).collect::<String>();
    json!({
        "id": code.as_str(),
        "name": code.name(),
        "shortDescription": {"text": cut(first)},
        "fullDescription": {"text": cut(&help.summary)},
        "help": {"text": help.text, "markdown": help.markdown},
        "defaultConfiguration": {"level": code.severity().as_str()},
    })
}

fn finding(diagnostic: &Diagnostic, prefix: &str) -> Value {
    let Diagnostic { code, message, place, related, help, .. } = diagnostic;
    let help = help.as_ref().map(|help| format!("\nHelp: {help}")).unwrap_or_default();
    let locations: Vec<Value> = place.iter().map(|place| location(place, prefix)).collect();
    let mut finding = json!({
        "ruleId": code.as_str(),
        "ruleIndex": Code::ALL.iter().position(|known| known == code),
        "level": code.severity().as_str(),
        "message": {"text": format!("{message}{help}")},
        "locations": locations,
    });
    if !related.is_empty() {
        let related = related.iter().map(|related| {
            let mut location = location(&related.place, prefix);
            location["message"] = json!({"text": related.message});
            location
        });
        finding["relatedLocations"] = Value::Array(related.collect());
    }
    finding
}

fn location(place: &SourceRange, prefix: &str) -> Value {
    let (start, end) = place.range.unwrap_or((Position::START, Position::START));
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(&format!("{prefix}{}", place.file)), "uriBaseId": "%SRCROOT%"},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    }})
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
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
        assert_eq!(rule["shortDescription"]["text"], "A sentence.");
        assert_eq!(rule["fullDescription"]["text"].as_str().unwrap().len(), LONGEST);
    }
}
