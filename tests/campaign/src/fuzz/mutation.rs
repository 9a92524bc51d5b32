//! Changes to an input: bytes, lines and words, and parts of other inputs. Inputs stay small, so that executions are many.

use std::ops::Range;

use fastrand::Rng;

/// Most bytes of a changed input.
const LARGEST: usize = 16 << 10;

/// What a mutation puts into an input besides what is there.
pub(crate) struct Material<'a> {
    /// Keys, values and fragments of the format.
    pub(crate) words: &'a [String],
    /// Another input of the corpus.
    pub(crate) other: &'a [u8],
}

/// Bytes and numbers at the edges of what formats allow.
const EDGES: &[&str] = &[
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\u{85}",
    "\u{2028}",
    "e\u{301}",
    "\u{10ffff}",
    "\t",
    "\r\n",
    "\r",
    "\n\n",
    "\\",
    "\"",
    "'",
    "`",
    "$",
    "%",
    "0",
    "-0",
    "-1",
    "1e309",
    "1e-400",
    ".nan",
    "-.inf",
    "18446744073709551616",
    "9223372036854775807",
    "4294967296",
    "0x1f",
    "0o17",
    "1_000",
    "true",
    "null",
    "~",
    "{}",
    "[]",
    "[[[[[[[[",
    "}}}}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    ": ",
    "- ",
    "? ",
    "#",
    " #",
    "|",
    ">",
    "|+9",
    ">-\n",
    "&a ",
    "*a",
    "<<: *a",
    "!!binary ",
    "!!set ",
    "!x ",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "../",
    "../../../../etc/passwd",
    "/dev/zero",
    "/",
    ".",
    "..",
    "C:\\",
    "a/b/../../..",
    "file://x",
    "${{ HOME }}",
    "${{",
    "{{ input }}",
    "{{",
    "}}",
    "(a+)+$",
    "(?<=a*)b",
    "[^",
    "\\p{L}{1000}",
    "\\ud800",
    "\\u0000",
];

/// Changes an input in one to six ways.
pub(crate) fn mutate(input: &mut Vec<u8>, material: &Material<'_>, rng: &mut Rng) {
    let changes = 1 + rng.usize(0..6).min(rng.usize(0..6));
    for _ in 0..changes {
        change(input, material, rng);
    }
    input.truncate(LARGEST);
}

fn change(input: &mut Vec<u8>, Material { words, other }: &Material<'_>, rng: &mut Rng) {
    let word = |rng: &mut Rng| match rng.choice(*words) {
        Some(word) if rng.u8(..) < 160 => word.as_bytes(),
        _ => rng.choice(EDGES).map_or(&b""[..], |edge| edge.as_bytes()),
    };
    match rng.u8(0..16) {
        0 => {
            if let Some(byte) = some_byte(input, rng) {
                *byte ^= 1 << rng.u8(0..8);
            }
        }
        1 => {
            if let Some(byte) = some_byte(input, rng) {
                *byte = rng.u8(..);
            }
        }
        2 | 3 => {
            let word = word(rng);
            insert(input, position(input, rng), word);
        }
        4..=6 => {
            let (token, word) = (token(input, rng), word(rng));
            replace(input, token, word);
        }
        7 => {
            let part = range(input.len(), 64, rng);
            replace(input, part, b"");
        }
        8 => {
            let part = input[range(input.len(), 64, rng)].to_vec();
            let times = 1 << rng.u32(0..8);
            insert(input, position(input, rng), &part.repeat(times));
        }
        9 => {
            let line = line(input, rng);
            replace(input, line, b"");
        }
        10 => {
            let line = input[line(input, rng)].to_vec();
            insert(input, line_start(input, rng), &line);
        }
        11 => {
            let spaces = [&b"  "[..], b"    ", b" ", b"\t", b"- "];
            insert(input, line_start(input, rng), spaces[rng.usize(0..spaces.len())]);
        }
        12 => {
            let start = line_start(input, rng);
            let end = (start + rng.usize(1..5)).min(input.len());
            replace(input, start..end, b"");
        }
        13 => {
            let part = &other[range(other.len(), 400, rng)];
            insert(input, position(input, rng), part);
        }
        14 => {
            let part = &other[line(other, rng)];
            let place = line(input, rng);
            replace(input, place, part);
        }
        _ => input.truncate(position(input, rng)),
    }
}

fn some_byte<'a>(input: &'a mut [u8], rng: &mut Rng) -> Option<&'a mut u8> {
    let length = input.len();
    if length == 0 { None } else { input.get_mut(rng.usize(0..length)) }
}

fn position(input: &[u8], rng: &mut Rng) -> usize {
    rng.usize(0..=input.len())
}

fn range(length: usize, longest: usize, rng: &mut Rng) -> Range<usize> {
    let start = rng.usize(0..=length);
    start..(start + rng.usize(0..=longest)).min(length)
}

/// A run of letters and digits, or of what lies between two of them.
fn token(input: &[u8], rng: &mut Rng) -> Range<usize> {
    let middle = position(input, rng);
    let is_word =
        |index: usize| input.get(index).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte));
    let kind = is_word(middle);
    let start = (0..middle).rev().take_while(|index| is_word(*index) == kind).last().unwrap_or(middle);
    let end = (middle..input.len()).find(|index| is_word(*index) != kind).unwrap_or(input.len());
    start..end
}

fn line_start(input: &[u8], rng: &mut Rng) -> usize {
    let middle = position(input, rng);
    input[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

fn line(input: &[u8], rng: &mut Rng) -> Range<usize> {
    let start = line_start(input, rng);
    let length =
        input[start..].iter().position(|byte| *byte == b'\n').map_or(input.len() - start, |newline| newline + 1);
    start..start + length
}

fn insert(input: &mut Vec<u8>, position: usize, part: &[u8]) {
    replace(input, position..position, part);
}

fn replace(input: &mut Vec<u8>, range: Range<usize>, part: &[u8]) {
    input.splice(range, part.iter().copied());
    input.truncate(LARGEST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_small_inputs() {
        let words = ["input".to_owned()];
        let make = |seed| {
            let mut rng = Rng::with_seed(seed);
            let mut input = b"criteria: x\ninput: y\n".to_vec();
            mutate(&mut input, &Material { words: &words, other: b"- a\n- b\n" }, &mut rng);
            input
        };
        let inputs: Vec<Vec<u8>> = (0..2_000).map(make).collect();
        assert_eq!(inputs, (0..2_000).map(make).collect::<Vec<_>>());
        assert!(inputs.iter().all(|input| input.len() <= LARGEST));
        let different: std::collections::BTreeSet<&Vec<u8>> = inputs.iter().collect();
        assert!(different.len() > 1_000, "{} different inputs", different.len());
    }

    #[test]
    fn an_empty_input_grows() {
        let mut rng = Rng::with_seed(1);
        let mut input = Vec::new();
        (0..100).for_each(|_| mutate(&mut input, &Material { words: &[], other: b"" }, &mut rng));
        assert!(!input.is_empty());
    }
}
