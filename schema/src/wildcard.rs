//! Names of tools in files, which may be patterns.

/// Whether a tool is meant by a name: `*` in it is any text, `?` one character.
///
/// ```
/// assert!(evalsuite_schema::is_tool_named("delete_file", "delete_*"));
/// assert!(!evalsuite_schema::is_tool_named("delete_file", "delete"));
/// ```
pub fn is_tool_named(tool: &str, name: &str) -> bool {
    if !name.contains(['*', '?']) {
        return tool == name;
    }
    let (tool, name): (Vec<char>, Vec<char>) = (tool.chars().collect(), name.chars().collect());
    // How much of the tool the name may match so far, per beginning of the name.
    let mut reached = vec![false; tool.len() + 1];
    reached[0] = true;
    for character in name {
        let before = reached.clone();
        for end in 0..=tool.len() {
            reached[end] = match character {
                '*' => before[end] || end > 0 && reached[end - 1],
                '?' => end > 0 && before[end - 1],
                _ => end > 0 && before[end - 1] && tool[end - 1] == character,
            };
        }
    }
    reached[tool.len()]
}
