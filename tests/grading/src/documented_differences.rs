//! Reads the rules and records that `docs/grading-differences.md` lists.

use std::collections::BTreeMap;

use evalsuite_conformance::test_data;

/// The rules and records of the page.
#[derive(Debug, Default)]
pub struct DocumentedDifferences {
    /// Names of rules.
    pub rules: Vec<String>,
    /// Ids of records, with the rules that explain them, or a reason in plain text.
    pub ids: BTreeMap<String, String>,
}

/// Reads the page. Rows of the section `Rules` start with a rule's name in backticks, rows of `Records` with an id.
///
/// # Errors
///
/// If it cannot be read, has no rules, or lists something twice or without a reason.
pub fn read() -> Result<DocumentedDifferences, String> {
    let path = test_data::workspace_root().join("docs/grading-differences.md");
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&page)
}

fn parse(page: &str) -> Result<DocumentedDifferences, String> {
    let mut table = DocumentedDifferences::default();
    let mut section = "";
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading;
        }
        let Some((name, rest)) = line.strip_prefix("| `").and_then(|row| row.split_once('`')) else { continue };
        let reason = rest.trim_matches(['|', ' ']);
        if reason.is_empty() {
            return Err(format!("`{name}` has no reason"));
        }
        let is_new = match section {
            "Rules" if table.rules.iter().any(|rule| rule == name) => false,
            "Rules" => {
                table.rules.push(name.to_owned());
                true
            }
            "Records" => table.ids.insert(name.to_owned(), reason.to_owned()).is_none(),
            other => return Err(format!("`{name}` is in the section {other:?}")),
        };
        if !is_new {
            return Err(format!("`{name}` is listed twice"));
        }
    }
    if table.rules.is_empty() { Err("the page lists no rules".to_owned()) } else { Ok(table) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_unique_and_has_a_reason() {
        let table = parse("## Rules\n| `a` | x | y |\n## Records\n| `b-001` | why |\n").unwrap();
        assert_eq!((table.rules.len(), table.ids["b-001"].as_str()), (1, "why"));
        assert!(parse("## Rules\n| `a` | |\n").is_err());
        assert!(parse("## Rules\n| `a` | x |\n| `a` | x |\n").is_err());
        assert!(parse("").is_err());
    }
}
