//! Escapes of double-quoted text. The parser resolves them, but does not report which of them is invalid.

/// Offset and length of the first escape, in text that starts with double quotes (maybe after an anchor or a tag), that
/// YAML does not know.
pub(super) fn first_invalid(text: &str) -> Option<(usize, usize)> {
    let mut at = text.find('"')? + 1;
    loop {
        let next = text[at..].find(['\\', '"'])? + at;
        if text[next..].starts_with('"') {
            return None;
        }
        let mut rest = text[next + 1..].chars();
        let digits = match rest.next()? {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            known @ ('0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '/' | '\\' | 'N'
            | '_' | 'L' | 'P' | '\n' | '\r') => {
                at = next + 1 + known.len_utf8();
                continue;
            }
            unknown => return Some((next, 1 + unknown.len_utf8())),
        };
        let first = next + 2;
        let given = text[first..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
        let code = code(text, first, digits);
        let is_pair = digits == 4
            && code.is_some_and(|code| matches!(code, 0xD800..0xDC00))
            && text[first + digits..].starts_with("\\u")
            && self::code(text, first + 6, 4).is_some_and(|code| matches!(code, 0xDC00..0xE000));
        if !is_pair && code.and_then(char::from_u32).is_none() {
            return Some((next, 2 + given));
        }
        at = first + if is_pair { 10 } else { digits };
    }
}

/// The value of as many hexadecimal digits.
fn code(text: &str, first: usize, digits: usize) -> Option<u32> {
    let digits = text.get(first..first + digits)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
