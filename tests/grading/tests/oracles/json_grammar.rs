//! A reader of JSON that follows the grammar of RFC 8259 rule by rule.

/// A JSON value. Numbers stay as they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Word(&'static str),
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// All entries; a later one replaces an earlier one with the same key.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a key of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().rev().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// Whether every number in the value is finite as a double. The value of any other number is not known.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Number(digits) => digits.parse::<f64>().is_ok_and(f64::is_finite),
            Self::List(values) => values.iter().all(Self::is_finite),
            Self::Object(entries) => entries.iter().all(|(_, value)| value.is_finite()),
            Self::Word(_) | Self::Text(_) => true,
        }
    }

    /// Whether an object in the value has a key twice.
    pub(crate) fn repeats_a_key(&self) -> bool {
        match self {
            Self::Object(entries) => entries.iter().enumerate().any(|(index, (key, value))| {
                value.repeats_a_key() || entries[..index].iter().any(|(earlier, _)| earlier == key)
            }),
            Self::List(values) => values.iter().any(Self::repeats_a_key),
            _ => false,
        }
    }
}

/// The value that starts at `at`, and where it ends.
pub(crate) fn value(text: &[char], at: usize) -> Option<(Json, usize)> {
    match text.get(at)? {
        '{' => object(text, at + 1),
        '[' => list(text, at + 1),
        '"' => string(text, at + 1).map(|(text, end)| (Json::Text(text), end)),
        't' => word(text, at, "true"),
        'f' => word(text, at, "false"),
        'n' => word(text, at, "null"),
        _ => number(text, at),
    }
}

/// The value that is all of a text, but for white space around it.
pub(crate) fn whole(text: &str) -> Option<Json> {
    let text: Vec<char> = text.chars().collect();
    let (value, end) = value(&text, blank(&text, 0))?;
    (blank(&text, end) == text.len()).then_some(value)
}

fn blank(text: &[char], mut at: usize) -> usize {
    while matches!(text.get(at), Some(' ' | '\t' | '\n' | '\r')) {
        at += 1;
    }
    at
}

fn expect(text: &[char], at: usize, wanted: char) -> Option<usize> {
    (text.get(at) == Some(&wanted)).then_some(at + 1)
}

fn word(text: &[char], mut at: usize, word: &'static str) -> Option<(Json, usize)> {
    for letter in word.chars() {
        at = expect(text, at, letter)?;
    }
    Some((Json::Word(word), at))
}

fn number(text: &[char], start: usize) -> Option<(Json, usize)> {
    let digits = |mut at: usize| {
        let first = at;
        while text.get(at).is_some_and(char::is_ascii_digit) {
            at += 1;
        }
        (at > first).then_some(at)
    };
    let mut at = start + usize::from(text.get(start) == Some(&'-'));
    at = if text.get(at) == Some(&'0') { at + 1 } else { digits(at)? };
    if text.get(at) == Some(&'.') {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at), Some('e' | 'E')) {
        let signed = usize::from(matches!(text.get(at + 1), Some('+' | '-')));
        at = digits(at + 1 + signed)?;
    }
    Some((Json::Number(text[start..at].iter().collect()), at))
}

fn string(text: &[char], mut at: usize) -> Option<(String, usize)> {
    let mut units: Vec<u16> = Vec::new();
    loop {
        let character = *text.get(at)?;
        at += 1;
        match character {
            '"' => return Some((String::from_utf16_lossy(&units), at)),
            '\\' => {
                let escape = *text.get(at)?;
                at += 1;
                match "\"\\/bfnrt".find(escape) {
                    Some(index) => units.push(u16::from(b"\"\\/\x08\x0c\n\r\t"[index])),
                    None if escape == 'u' => {
                        let mut unit = 0;
                        for _ in 0..4 {
                            let digit = text.get(at)?.to_digit(16)?;
                            unit = unit * 16 + digit;
                            at += 1;
                        }
                        units.push(u16::try_from(unit).expect("four digits are a unit"));
                    }
                    None => return None,
                }
            }
            '\0'..='\x1f' => return None,
            other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
        }
    }
}

fn list(text: &[char], at: usize) -> Option<(Json, usize)> {
    let mut at = blank(text, at);
    let mut values = Vec::new();
    if text.get(at) == Some(&']') {
        return Some((Json::List(values), at + 1));
    }
    loop {
        let (value, end) = value(text, blank(text, at))?;
        values.push(value);
        at = blank(text, end);
        match text.get(at) {
            Some(',') => at += 1,
            _ => return expect(text, at, ']').map(|end| (Json::List(values), end)),
        }
    }
}

fn object(text: &[char], at: usize) -> Option<(Json, usize)> {
    let mut at = blank(text, at);
    let mut entries: Vec<(String, Json)> = Vec::new();
    if text.get(at) == Some(&'}') {
        return Some((Json::Object(entries), at + 1));
    }
    loop {
        at = expect(text, blank(text, at), '"')?;
        let (key, end) = string(text, at)?;
        at = expect(text, blank(text, end), ':')?;
        let (value, end) = value(text, blank(text, at))?;
        entries.push((key, value));
        at = blank(text, end);
        match text.get(at) {
            Some(',') => at += 1,
            _ => return expect(text, at, '}').map(|end| (Json::Object(entries), end)),
        }
    }
}
