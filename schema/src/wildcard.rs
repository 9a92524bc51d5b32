//! Patterns of names and titles, with wildcards.

/// Whether a tool is meant by a name: `*` in it is any text, `?` one character.
///
/// ```
/// assert!(evalsuite_schema::is_tool_named("delete_file", "delete_*"));
/// assert!(!evalsuite_schema::is_tool_named("delete_file", "delete"));
/// ```
pub fn is_tool_named(tool: &str, name: &str) -> bool {
    matches(tool, name, true)
}

/// Whether a whole text matches a pattern in which `*` is any text, and a question mark only itself.
///
/// ```
/// assert!(evalsuite_schema::matches_stars("Delete a.txt?", "Delete *?"));
/// assert!(!evalsuite_schema::matches_stars("Delete a.txt!", "Delete *?"));
/// ```
pub fn matches_stars(text: &str, pattern: &str) -> bool {
    matches(text, pattern, false)
}

/// Takes time in proportion to the product of both lengths, whatever the pattern.
fn matches(text: &str, pattern: &str, has_question_marks: bool) -> bool {
    if !(pattern.contains('*') || has_question_marks && pattern.contains('?')) {
        return text == pattern;
    }
    let text: Vec<char> = text.chars().collect();
    // How much of the text the pattern may match so far, per beginning of the pattern.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for character in pattern.chars() {
        let before = reached.clone();
        for end in 0..=text.len() {
            reached[end] = match character {
                '*' => before[end] || end > 0 && reached[end - 1],
                '?' if has_question_marks => end > 0 && before[end - 1],
                _ => end > 0 && before[end - 1] && text[end - 1] == character,
            };
        }
    }
    reached[text.len()]
}
