//! Reads the rules that `docs/grading-differences.md` lists, and the records that differ by them.

use std::collections::BTreeMap;
use std::fs;

use evalsuite_conformance::test_data;

/// A page with a row per rule, which starts with its name in backticks.
const RULES: &str = "docs/grading-differences.md";

/// Lines `ID: RULE, RULE`, or with a reason in plain text in quotes.
const RECORDS: &str = "tests/grading/differing_records.txt";

/// The rules, and the records that differ.
#[derive(Debug, Default)]
pub struct DocumentedDifferences {
    /// Names of rules.
    pub rules: Vec<String>,
    /// Ids of records, with the rules that explain them, or a reason in quotes.
    pub ids: BTreeMap<String, String>,
}

/// Reads both files.
///
/// # Errors
///
/// If one cannot be read, has no rules, or lists something twice or without a reason.
pub fn read() -> Result<DocumentedDifferences, String> {
    let read = |path: &str| {
        let path = test_data::workspace_root().join(path);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    Ok(DocumentedDifferences { rules: rules(&read(RULES)?)?, ids: ids(&read(RECORDS)?)? })
}

fn rules(page: &str) -> Result<Vec<String>, String> {
    let mut rules: Vec<String> = Vec::new();
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let Some((name, rest)) = row.split_once('`') else { continue };
        if rest.trim_matches(['|', ' ']).is_empty() {
            return Err(format!("{RULES}: `{name}` has no description"));
        }
        if rules.iter().any(|rule| rule == name) {
            return Err(format!("{RULES}: `{name}` is listed twice"));
        }
        rules.push(name.to_owned());
    }
    if rules.is_empty() { Err(format!("{RULES} lists no rules")) } else { Ok(rules) }
}

fn ids(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut ids = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let listed = line.split_once(": ").filter(|(_, reason)| !reason.trim().is_empty());
        let (id, reason) = listed.ok_or_else(|| format!("{RECORDS}: `{line}` has no reason"))?;
        if ids.insert(id.to_owned(), reason.to_owned()).is_some() {
            return Err(format!("{RECORDS}: `{id}` is listed twice"));
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_and_record_is_unique_and_has_a_reason() {
        assert_eq!(rules("# Rules\n| `a` | x | y |\n").unwrap(), ["a"]);
        assert!(rules("| `a` | |\n").is_err());
        assert!(rules("| `a` | x |\n| `a` | x |\n").is_err());
        assert!(rules("").is_err());
        assert_eq!(ids("# comment\nb-001: why\n").unwrap()["b-001"], "why");
        assert!(ids("b-001: \n").is_err());
        assert!(ids("b-001\n").is_err());
        assert!(ids("b-001: a\nb-001: a\n").is_err());
    }
}
