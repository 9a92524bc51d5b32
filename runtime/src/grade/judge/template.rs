//! `{{ name }}` in prompts.

/// The text with every known variable replaced. Values are not searched again, and unknown names stay.
pub(crate) fn fill(text: &str, lookup: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        filled.push_str(&rest[..start]);
        let behind = &rest[start + 2..];
        match variable(behind).and_then(|(name, length)| Some((lookup(name)?, length))) {
            Some((value, length)) => {
                filled.push_str(&value);
                rest = &behind[length..];
            }
            None => {
                // One brace further: `{{{ name }}}` holds a variable.
                filled.push('{');
                rest = &rest[start + 1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Whether the text has a variable of which `is_known` holds.
pub(crate) fn uses(text: &str, is_known: impl Fn(&str) -> bool) -> bool {
    text.match_indices("{{").any(|(start, _)| variable(&text[start + 2..]).is_some_and(|(name, _)| is_known(name)))
}

/// The name of a variable whose braces were just opened, and the length up to behind its closing ones.
fn variable(behind: &str) -> Option<(&str, usize)> {
    let end = behind.find("}}")?;
    let name = behind[..end].trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((name, end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_once() {
        let lookup = |name: &str| match name {
            "a" => Some("{{ b }}".to_owned()),
            "b" => Some("B".to_owned()),
            _ => None,
        };
        for (text, filled) in [
            ("{{a}} {{ b }}", "{{ b }} B"),
            ("{{ c }} {{", "{{ c }} {{"),
            ("{{{ b }}}", "{B}"),
            ("{{ a b }}{{\nb\n}}", "{{ a b }}B"),
            ("ü{{b}}ü", "üBü"),
        ] {
            assert_eq!(fill(text, lookup), filled, "{text}");
        }
        assert!(uses("x {{ b }}", |name| name == "b") && !uses("{{ c }} b", |name| name == "b"));
    }
}
