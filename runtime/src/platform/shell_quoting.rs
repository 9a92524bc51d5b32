//! Words quoted for a shell.

/// The text as one word for `sh`, whatever is in it.
#[cfg(not(windows))]
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text as one word for `cmd`. Its `%NAME%` cannot be quoted.
#[cfg(windows)]
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The text as one word for a shell, without quotes where it needs none.
pub(crate) fn quoted_if_needed(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./=:,@%+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_shell_gives_back_what_was_quoted() {
        let nasty = "a'b\"c\\d $HOME `ls` $(ls) ; & | > < * ? [x] ~ # ! {x}\n\ttab é";
        let output = std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quoted(nasty))]).output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), nasty);
        assert_eq!((quoted_if_needed("a/b.txt").as_str(), quoted_if_needed("").as_str()), ("a/b.txt", "''"));
    }
}
