//! Escaped characters: for JSON, literals of programming languages, HTML, URLs and shells, also nested.

/// Times that a text is escaped. A tool call whose arguments are JSON in a text, shown to a judge as JSON, has three levels.
const LEVELS: u8 = 4;

/// Longest form of one character in bytes: a surrogate pair with the backslashes of [`LEVELS`] levels of JSON.
pub(super) const LONGEST: usize = 2 * ((1 << (LEVELS - 1)) + 5);

/// Whether a character is the same however it is escaped: encoders leave letters and digits as they are.
pub(super) fn is_never_escaped(character: char) -> bool {
    character.is_ascii_alphanumeric()
}

/// Whether an escape starts with this character.
pub(super) fn is_start(byte: u8) -> bool {
    matches!(byte, b'\\' | b'&' | b'%')
}

/// Adds the ends of what can be read as a wanted character at `at`. The end of a text has none.
pub(super) fn ends(text: &str, at: usize, is_wanted: impl Fn(char) -> bool, found: &mut Vec<usize>) {
    let first = found.len();
    escaped_ends(text, at, &is_wanted, found);
    // A quote within such quotes: doubled, or as a shell has it. `cmd` has no escape for `%`.
    let quotes = [('\'', "'"), ('"', "\""), ('\'', "\\''"), ('\'', "\"'\"'"), ('%', "%cd:~,%")];
    for (_, rest) in quotes.iter().filter(|(quote, _)| is_wanted(*quote)) {
        let after_first = found[first..].to_vec();
        let after_all = rest.chars().fold(after_first, |positions, wanted| {
            let mut after = Vec::new();
            positions.iter().for_each(|at| escaped_ends(text, *at, &|found| found == wanted, &mut after));
            after
        });
        found.extend(after_all);
    }
}

/// The same without quotes.
fn escaped_ends(text: &str, at: usize, is_wanted: &impl Fn(char) -> bool, found: &mut Vec<usize>) {
    let first = found.len();
    let levels = if can_be_escaped(text.as_bytes(), at, is_wanted) { LEVELS } else { 0 };
    for level in 0..=levels {
        for is_latin1 in [false, true] {
            match (EscapedText { text, level, is_latin1 }.read(at)) {
                Some((character, end)) if is_wanted(character) && !found[first..].contains(&end) => found.push(end),
                _ => {}
            }
        }
    }
}

/// Whether what is at `at` may be the escape of a wanted character. Most escapes of a text are of other ones, and decoding is slow.
pub(super) fn can_be_escaped(text: &[u8], at: usize, is_wanted: impl Fn(char) -> bool) -> bool {
    let Some((start, rest)) = text.get(at..).and_then(<[u8]>::split_first) else { return false };
    match start {
        b'&' => rest.first().is_some_and(|next| b"#agql\\%".contains(next)),
        b'%' => rest.first().is_some_and(u8::is_ascii_hexdigit),
        b'\\' => {
            let last = rest.iter().take(1 << LEVELS).find(|byte| **byte != b'\\').copied().map_or('\\', char::from);
            matches!(last, 'u' | 'U' | 'x' | '0'..='7' | '&' | '%' | '\u{80}'..)
                || is_wanted('\\')
                || short_escape(last).is_some_and(is_wanted)
        }
        _ => false,
    }
}

/// A text that is escaped `level` times.
#[derive(Clone, Copy)]
struct EscapedText<'t> {
    text: &'t str,
    level: u8,
    /// Whether bytes in escapes such as `\xc3\xa9` and `%C3%A9` are Latin-1, and not UTF-8.
    is_latin1: bool,
}

impl EscapedText<'_> {
    /// The character at a position, and where it ends.
    fn read(self, at: usize) -> Option<(char, usize)> {
        let Some(level) = self.level.checked_sub(1) else {
            let character = self.text.get(at..)?.chars().next()?;
            return Some((character, at + character.len_utf8()));
        };
        let inner = Self { level, ..self };
        let (character, end) = inner.read(at)?;
        let escape = match character {
            '\\' => inner.backslash(end),
            '&' => inner.entity(end),
            '%' => inner.encoded_bytes(end, &['%'], 16),
            _ => None,
        };
        escape.or(Some((character, end)))
    }

    /// An escape of JSON or of a literal, after its backslash.
    fn backslash(self, at: usize) -> Option<(char, usize)> {
        let (kind, end) = self.read(at)?;
        match kind {
            'u' => self.unicode(end),
            'U' => {
                let (code, end) = self.number(end, 16, 8, 8)?;
                Some((char::from_u32(code)?, end))
            }
            'x' => self.encoded_bytes(end, &['\\', 'x'], 16),
            '0'..='7' => self.encoded_bytes(at, &['\\'], 8).or((kind == '0').then_some(('\0', end))),
            _ => Some((short_escape(kind)?, end)),
        }
    }

    /// After `\u`: four digits, twice for a surrogate pair, or digits in braces.
    fn unicode(self, at: usize) -> Option<(char, usize)> {
        if let Some(('{', start)) = self.read(at) {
            let (code, end) = self.number(start, 16, 1, 6)?;
            let ('}', end) = self.read(end)? else { return None };
            return Some((char::from_u32(code)?, end));
        }
        let (high, end) = self.number(at, 16, 4, 4)?;
        if let Some(character) = char::from_u32(high) {
            return Some((character, end));
        }
        let end = self.after(end, &['\\', 'u'])?;
        let (low, end) = self.number(end, 16, 4, 4)?;
        let code = 0x10000 + (high.checked_sub(0xd800)? << 10) + low.checked_sub(0xdc00)?;
        Some((char::from_u32(code)?, end))
    }

    /// The bytes of one character: digits of the first one, then an introduction and digits for each further one.
    fn encoded_bytes(self, at: usize, introduction: &[char], radix: u32) -> Option<(char, usize)> {
        let digits = if radix == 16 { 2 } else { 3 };
        let byte =
            |at| self.number(at, radix, digits, digits).and_then(|(byte, end)| Some((u8::try_from(byte).ok()?, end)));
        let (first, mut end) = byte(at)?;
        if first.is_ascii() || self.is_latin1 {
            return Some((char::from(first), end));
        }
        let mut encoded = vec![first];
        while encoded.len() < 4 {
            let (further, after) = byte(self.after(end, introduction)?)?;
            encoded.push(further);
            end = after;
            if let Ok(character) = std::str::from_utf8(&encoded) {
                return Some((character.chars().next()?, end));
            }
        }
        None
    }

    /// A reference of HTML after its `&`.
    fn entity(self, at: usize) -> Option<(char, usize)> {
        if let Some(('#', start)) = self.read(at) {
            let (code, end) = match self.read(start)? {
                ('x' | 'X', start) => self.number(start, 16, 1, 6)?,
                _ => self.number(start, 10, 1, 7)?,
            };
            let (';', end) = self.read(end)? else { return None };
            return Some((char::from_u32(code)?, end));
        }
        let names = [("amp;", '&'), ("lt;", '<'), ("gt;", '>'), ("quot;", '"'), ("apos;", '\'')];
        names.iter().find_map(|(name, character)| {
            let end = name.chars().try_fold(at, |at, wanted| self.after(at, &[wanted]))?;
            Some((*character, end))
        })
    }

    fn after(self, at: usize, written: &[char]) -> Option<usize> {
        written.iter().try_fold(at, |at, wanted| self.read(at).filter(|(found, _)| found == wanted).map(|(_, end)| end))
    }

    /// A number of at least and at most so many digits.
    fn number(self, at: usize, radix: u32, least: usize, most: usize) -> Option<(u32, usize)> {
        let (mut number, mut end, mut digits) = (0, at, 0);
        while digits < most {
            let Some((digit, after)) = self.read(end).and_then(|(digit, after)| Some((digit.to_digit(radix)?, after)))
            else {
                break;
            };
            (number, end, digits) = (number * radix + digit, after, digits + 1);
        }
        (digits >= least).then_some((number, end))
    }
}

/// What a backslash and this character are together.
fn short_escape(kind: char) -> Option<char> {
    Some(match kind {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'a' => '\u{7}',
        'e' => '\u{1b}',
        _ if kind.is_ascii_alphanumeric() => return None,
        other => other,
    })
}

/// Start of an escape that the end of the text cuts, else the end.
pub(super) fn start_of_broken_escape(text: &str) -> usize {
    let from = (text.len().saturating_sub(LONGEST)..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let part =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '#' | '{' | '\\' | '%' | '\'' | '"');
    let start = text[from..].rfind(|character| !part(character)).map_or(from, |at| from + at);
    // `&` starts a reference, and does not continue another escape.
    text[start..].find(['\\', '&', '%', '\'', '"']).map_or(text.len(), |at| start + at)
}

/// A text of JSON with all but printable ASCII escaped.
pub(super) fn json_in_ascii(json: &str) -> String {
    let shown = |unit| match u8::try_from(unit) {
        Ok(byte @ b' '..=b'~') => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    json.encode_utf16().map(shown).collect()
}
