//! Words quoted for a shell.

/// The text as one word for the system's shell: for `sh`, whatever is in it, for `cmd`, if it is one line.
pub(crate) fn quoted(text: &str) -> String {
    if cfg!(windows) { quoted_for_cmd(text) } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// `cmd` fills in `%NAME%` also between quotes, and has no escape for `%`. Of `%%cd:~,%`, it reads `%` and then an empty part of the variable
/// `cd`, which always exists: the standard library writes `%` in the same way for batch files.
pub(crate) fn quoted_for_cmd(text: &str) -> String {
    format!("\"{}\"", text.replace('%', "%%cd:~,%").replace('"', "\"\""))
}

/// Whether a shell can take the text as a word of its command line: `cmd` reads only its first line.
pub(crate) fn is_quotable(text: &str) -> bool {
    !cfg!(windows) || !text.contains(['\n', '\r'])
}

/// The text as one word for a shell, without quotes where it needs none.
pub(crate) fn quoted_if_needed(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./=:,@%+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_shell_gives_back_what_was_quoted() {
        let nasty = "a'b\"c\\d $HOME `ls` $(ls) ; & | > < * ? [x] ~ # ! {x}\n\ttab é";
        let output = std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quoted(nasty))]).output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), nasty);
        assert_eq!((quoted_if_needed("a/b.txt").as_str(), quoted_if_needed("").as_str()), ("a/b.txt", "''"));
    }

    #[cfg(windows)]
    #[test]
    fn the_shell_gives_back_what_was_quoted() {
        for text in ["a b & c | d > e", "100% of %PATH% and %%", "(x) ^ !y!"] {
            use std::os::windows::process::CommandExt;
            let line = format!("echo {}", quoted(text));
            let output = std::process::Command::new("cmd").arg("/C").raw_arg(line).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), format!("\"{text}\""));
        }
        assert!(!is_quotable("a\nb") && is_quotable("a b"));
    }

    #[test]
    fn cmd_fills_in_no_variable_of_a_quoted_text() {
        assert_eq!(quoted_for_cmd("50% \"x\""), "\"50%%cd:~,% \"\"x\"\"\"");
    }
}
