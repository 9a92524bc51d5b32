//! `${{ NAME }}`: kept as written while compiling, resolved when a trial starts.

/// Names of the variables that `text` interpolates, in order.
pub(crate) fn variables(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${{") {
        rest = &rest[start + 3..];
        let body = rest.trim_start();
        let length = body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, behind) = body.split_at(length);
        let is_name = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        if is_name && behind.trim_start().starts_with("}}") {
            names.push(name);
        }
    }
    names
}

/// Whether `text` interpolates a variable.
pub(crate) fn is_in(text: &str) -> bool {
    text.contains("${{") && !variables(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn only_plain_names_are_variables() {
        assert_eq!(variables("a ${{ A }} b ${{_b1}}${{C}}"), ["A", "_b1", "C"]);
        assert!(variables("${{ a.b }} ${X} {{x}} ${{ 1a }} ${{}} ${{ a").is_empty());
    }
}
