//! The catalogue of diagnostics: a section for every code, some with what the loader prints in its golden.

use std::path::Path;

use evalsuite_schema::diagnostics::Code;

/// The catalogue, from the root of the repository.
pub(crate) const PATH: &str = "docs/reference/diagnostics.md";

/// Codes without a section, in the wrong place or without a fix, and sections without a code.
pub(crate) fn problems(text: &str) -> Vec<String> {
    let sections: Vec<&str> = text.split("\n### ").skip(1).collect();
    let mut problems: Vec<String> = Vec::new();
    for (index, code) in Code::ALL.iter().enumerate() {
        match sections.get(index).filter(|section| section.lines().next() == Some(&code.to_string())) {
            Some(section) if section.matches("\n**Fix:** ").count() == 1 => {}
            Some(_) => problems.push(format!("{code}: the section needs one paragraph that starts with `**Fix:**`")),
            None => problems.push(format!("{code}: section {} has to be `### {code}`", index + 1)),
        }
    }
    if sections.len() > Code::ALL.len() {
        problems.push(format!("{} sections for {} diagnostics", sections.len(), Code::ALL.len()));
    }
    problems
}

/// The text with its examples as they are printed now.
pub(crate) fn with_examples(text: &str, root: &Path) -> String {
    let mut parts = text.split("\n### ");
    let mut current = parts.next().unwrap_or_default().to_owned();
    for (section, code) in parts.zip(Code::ALL) {
        current.push_str("\n### ");
        let before = section.split("\n```text\n").next().unwrap_or_default();
        let before = before.split("\n**Fix:** ").next().unwrap_or_default();
        current.push_str(before);
        let has_example = section.contains("\n```text\n");
        if let Some(example) = has_example.then(|| example(*code, root)).flatten() {
            current.push_str(&format!("\n```text\n{example}\n```\n"));
        }
        let fix = section.split_once("\n**Fix:** ").map_or("", |(_, fix)| fix);
        current.push_str(&format!("\n**Fix:** {fix}"));
    }
    current
}

/// The first diagnostic with this code in the golden of its name, if it shows a line of the suite, with paths from the suite's parent. The
/// fix of the section replaces its help.
fn example(code: Code, root: &Path) -> Option<String> {
    let folder = format!("tests/ui/{}/", code.name());
    let golden = std::fs::read_to_string(root.join(&folder).join("diagnostics.snap")).ok()?;
    let start = format!("[{code}]: ");
    let found = golden.split("\n\n").find(|block| block.lines().any(|line| line.contains(&start)))?;
    let first = found.lines().position(|line| line.contains(&start))?;
    let lines: Vec<&str> =
        found.lines().skip(first).filter(|line| !line.starts_with("  = help: ") && line.trim() != "|").collect();
    lines.iter().any(|line| line.contains('^')).then(|| lines.join("\n").replace(&folder, ""))
}
