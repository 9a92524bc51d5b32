//! `{{ name }}`: placeholders of prompts and hook commands.

/// A placeholder in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Variable<'t> {
    pub(crate) name: &'t str,
    /// Offset of its first brace.
    pub(crate) start: usize,
    /// Offset behind its last brace.
    pub(crate) end: usize,
}

/// The placeholders of `text`, in order. Where the text is interpolated, `${{ NAME }}` is not one.
pub(crate) fn variables(text: &str, is_interpolated: bool) -> Vec<Variable<'_>> {
    let mut variables = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..].find("{{") {
        let start = from + found;
        from = start + 2;
        let body = text[from..].trim_start();
        let length = body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, behind) = body.split_at(length);
        let behind = behind.trim_start();
        if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !behind.starts_with("}}") {
            continue;
        }
        let end = text.len() - behind.len() + 2;
        from = end;
        if !(is_interpolated && text[..start].ends_with('$')) {
            variables.push(Variable { name, start, end });
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::variables;

    fn names(text: &str, is_interpolated: bool) -> Vec<&str> {
        variables(text, is_interpolated).iter().map(|variable| variable.name).collect()
    }

    #[test]
    fn only_plain_names_are_placeholders() {
        assert_eq!(names("{{ a }} {{b_1}}{{\n c }} {{{{ d }}}}", true), ["a", "b_1", "c", "d"]);
        assert!(names("{{ a.b }} {{}} {{1a}} {{ a b }} {{ a } } {{ a", true).is_empty());
    }

    #[test]
    fn an_interpolation_is_a_placeholder_only_where_nothing_is_interpolated() {
        assert!(names("${{ HOME }}", true).is_empty());
        assert_eq!(names("${{ output }}", false), ["output"]);
    }

    #[test]
    fn a_placeholder_knows_its_place() {
        let text = "é {{ a }}!";
        let found = variables(text, false)[0];
        assert_eq!(&text[found.start..found.end], "{{ a }}");
    }
}
