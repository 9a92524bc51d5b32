//! Rules of the graders that look for texts.

use evalsuite_schema::grader::{GraderConfig, trim};

use super::{Constant, Family};
use crate::diagnostic::{Code, Diagnostic};
use crate::fields::Fields;
use crate::key_tables::Table;

/// A list where a type looks for one text.
pub(super) fn several_texts(table: &Table, fields: &mut Fields<'_>) -> Option<Diagnostic> {
    let looks_for_text = ["contains", "icontains", "equals", "starts-with", "ends-with", "regex", "similar"];
    let entry = looks_for_text.contains(&table.id).then(|| fields.get("value")).flatten()?;
    entry.value.as_sequence()?;
    let problem = Diagnostic::new(Code::WrongType, format!("`value` must be text, found {}", entry.value.kind()));
    let of_type = if table.id == "icontains" { "icontains" } else { "contains" };
    let help = match table.id {
        "contains" | "icontains" => {
            format!("write `type: {of_type}-any` if one of the texts is enough, or `type: {of_type}-all`")
        }
        _ => {
            format!("write one text, or a grader for each; `{of_type}-any` and `{of_type}-all` look for several texts")
        }
    };
    Some(problem.at(entry.value.span).help(help))
}

pub(super) const FAMILY: Family = Family { rules: &[], constant };

fn constant(config: &GraderConfig) -> Option<Constant> {
    match config {
        GraderConfig::StartsWith(text) | GraderConfig::EndsWith(text) if trim(&text.value).is_empty() => {
            let verb = if matches!(config, GraderConfig::StartsWith(_)) { "starts" } else { "ends" };
            let reason = format!("white space around both texts is ignored, and every answer {verb} with nothing");
            let help = "write the text to look for; white space is found by `regex`, such as `'\\n\\z'`";
            Some(Constant { passes: true, key: "value", reason, help: help.to_owned() })
        }
        _ => None,
    }
}
