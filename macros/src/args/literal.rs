//! The text of a string literal.

/// The value of a string literal as it is written in source; `None` for every other kind of literal.
pub(crate) fn string(written: &str) -> Option<String> {
    if let Some(raw) = written.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw.get(hashes..raw.len().checked_sub(hashes)?)?;
        return Some(inner.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    unescape(written.strip_prefix('"')?.strip_suffix('"')?)
}

fn unescape(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match rest.next()? {
            'n' => value.push('\n'),
            'r' => value.push('\r'),
            't' => value.push('\t'),
            '0' => value.push('\0'),
            '\n' => rest = rest.as_str().trim_start_matches([' ', '\t', '\n', '\r']).chars(),
            'x' => {
                let digits = rest.as_str().get(..2)?;
                value.push(char::from(u8::from_str_radix(digits, 16).ok()?));
                rest = rest.as_str()[2..].chars();
            }
            'u' => {
                let (digits, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                value.push(char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?);
                rest = after.chars();
            }
            same => value.push(same),
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn every_way_to_write_a_string_gives_its_value() {
        assert_eq!(string(r#""suites/a""#).as_deref(), Some("suites/a"));
        assert_eq!(string(r#""a\\b\"\n\x41\u{1F_980}""#).as_deref(), Some("a\\b\"\nA🦀"));
        assert_eq!(string("\"a\\\n   b\"").as_deref(), Some("ab"));
        assert_eq!(string("r\"a\\b\"").as_deref(), Some("a\\b"));
        assert_eq!(string("r##\"a\"#b\"##").as_deref(), Some("a\"#b"));
    }

    #[test]
    fn other_literals_are_no_strings() {
        for written in ["1", "'a'", "b\"a\"", "c\"a\"", "br\"a\""] {
            assert_eq!(string(written), None, "for {written}");
        }
    }
}
