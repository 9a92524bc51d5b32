//! Reads the rules that `docs/compatibility.md` lists.

use std::collections::BTreeSet;

use crate::test_data;

/// Names of the rules in a section of the page: the code in the first cell of each row of its tables.
pub fn in_section(section: &str) -> Result<BTreeSet<String>, String> {
    let path = test_data::workspace_root().join("docs/compatibility.md");
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let heading = format!("## {section}");
    let mut names = BTreeSet::new();
    let lines = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    for line in lines {
        let Some(cell) = line.strip_prefix("| `") else { continue };
        let Some((name, _)) = cell.split_once('`') else { continue };
        if !names.insert(name.to_owned()) {
            return Err(format!("docs/compatibility.md lists `{name}` twice in \"{section}\""));
        }
    }
    if names.is_empty() {
        return Err(format!("docs/compatibility.md has no table in \"{section}\""));
    }
    Ok(names)
}
