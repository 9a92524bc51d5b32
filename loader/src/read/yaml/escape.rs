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
        let is_character = given == digits
            && u32::from_str_radix(&text[first..first + digits], 16).ok().and_then(char::from_u32).is_some();
        if !is_character {
            return Some((next, 2 + given));
        }
        at = first + digits;
    }
}
