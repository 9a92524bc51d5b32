//! Patterns of paths: `*`, `?`, `**`, `[a-z]`, `{a,b}` and `\` before a character that is meant literally.
//!
//! Not a crate: `glob` has no `{a,b}`, and `globset` brings four more crates into the first build of every user.

/// A pattern: parts, each of which fits a stretch of a path.
#[derive(Debug)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Literal(char),
    /// Any character but `/`.
    One,
    /// Any number of characters but `/`.
    Many,
    /// Any number of characters.
    Deep,
    /// Any number of directories, each with its `/`.
    Directories,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    Either(Vec<Vec<Part>>),
}

/// Longest pattern, in bytes.
const MAX_LENGTH: usize = 4096;

/// Deepest nesting of alternatives.
const MAX_BRACES: usize = 8;

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        // A match takes time by the length of the pattern, and compiling it takes stack by its nesting.
        if text.len() > MAX_LENGTH {
            return Err(format!("the pattern is longer than {MAX_LENGTH} bytes"));
        }
        let mut compiler = Compiler { text: text.chars().collect(), at: 0 };
        let parts = compiler.sequence(0, true)?;
        match compiler.peek() {
            None => Ok(Self { parts }),
            Some(_) => Err("`}` without `{`".to_owned()),
        }
    }

    /// Whether the whole of a path with `/` separators fits.
    pub fn is_match(&self, path: &str) -> bool {
        ends(&self.parts, path, vec![0]).last() == Some(&path.len())
    }
}

/// The bytes of the path at which the parts can end if they start at one of `starts`. Both are in order.
fn ends(parts: &[Part], path: &str, starts: Vec<usize>) -> Vec<usize> {
    parts.iter().fold(starts, |starts, part| part.ends(path, &starts))
}

impl Part {
    fn ends(&self, path: &str, starts: &[usize]) -> Vec<usize> {
        let Some(&first) = starts.first() else { return Vec::new() };
        match self {
            Self::Many => {
                let mut ends = Vec::new();
                for &start in starts {
                    // A start up to the last end is in the stretch of one before it.
                    if ends.last().is_none_or(|last| *last < start) {
                        ends.push(start);
                        let rest = path[start..].char_indices().take_while(|(_, c)| *c != '/');
                        ends.extend(rest.map(|(at, c)| start + at + c.len_utf8()));
                    }
                }
                ends
            }
            Self::Deep => (first..=path.len()).filter(|at| path.is_char_boundary(*at)).collect(),
            Self::Directories => {
                let separators = path[first..].match_indices('/').map(|(at, _)| first + at + 1);
                in_order(starts.iter().copied().chain(separators))
            }
            Self::Either(all) => in_order(all.iter().flat_map(|parts| ends(parts, path, starts.to_vec()))),
            one => {
                let end = |start: &usize| {
                    let c = path[*start..].chars().next().filter(|c| one.contains(*c))?;
                    Some(start + c.len_utf8())
                };
                starts.iter().filter_map(end).collect()
            }
        }
    }

    /// Whether a part that is one character can be this one.
    fn contains(&self, c: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == c,
            Self::Class { negated, ranges } => {
                c != '/' && ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            _ => c != '/',
        }
    }
}

fn in_order(places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    places.dedup();
    places
}

struct Compiler {
    text: Vec<char>,
    at: usize,
}

impl Compiler {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Compiles up to the end of the pattern, or of an alternative at nesting `depth`. `starts` is whether it is at
    /// the start of a component of the path.
    fn sequence(&mut self, depth: usize, mut starts: bool) -> Result<Vec<Part>, String> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if c == '}' || c == ',' && depth > 0 {
                break;
            }
            self.at += 1;
            parts.push(match c {
                '*' => self.star(depth, starts),
                '?' => Part::One,
                '[' => self.class()?,
                '{' => self.alternatives(depth + 1, starts)?,
                '\\' => Part::Literal(self.next().ok_or("nothing follows the last `\\`")?),
                literal => Part::Literal(literal),
            });
            starts = c == '/' || starts && c == '*' && self.text[self.at - 1] == '/';
        }
        Ok(parts)
    }

    /// `*`, or `**` as a whole component: then it crosses directories, and the `/` after it belongs to it.
    fn star(&mut self, depth: usize, starts: bool) -> Part {
        let first = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let ends = match self.peek() {
            None | Some('/') => true,
            Some(c) => depth > 0 && matches!(c, ',' | '}'),
        };
        if self.at - first < 2 || !starts || !ends {
            Part::Many
        } else if self.peek() == Some('/') {
            self.at += 1;
            Part::Directories
        } else {
            Part::Deep
        }
    }

    fn class(&mut self) -> Result<Part, String> {
        const UNCLOSED: &str = "`[` without `]`";
        let negated = matches!(self.peek(), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        loop {
            let mut low = self.next().ok_or(UNCLOSED)?;
            if low == ']' && !ranges.is_empty() {
                break;
            }
            if low == '\\' {
                low = self.next().ok_or(UNCLOSED)?;
            }
            let is_range = self.peek() == Some('-') && self.text.get(self.at + 1).is_some_and(|c| *c != ']');
            let high = if is_range {
                self.at += 1;
                self.next().ok_or(UNCLOSED)?
            } else {
                low
            };
            if low > high {
                return Err(format!("the range `{low}-{high}` is empty"));
            }
            ranges.push((low, high));
        }
        Ok(Part::Class { negated, ranges })
    }

    fn alternatives(&mut self, depth: usize, starts: bool) -> Result<Part, String> {
        if depth > MAX_BRACES {
            return Err(format!("more than {MAX_BRACES} braces are nested"));
        }
        let (first, mut all) = (self.at, Vec::new());
        loop {
            all.push(self.sequence(depth, starts)?);
            match self.next() {
                Some(',') => {}
                Some(_) => break,
                None => return Err("`{` without `}`".to_owned()),
            }
        }
        let inside: String = self.text[first..self.at - 1].iter().collect();
        if all.len() == 1 && inside.contains("..") {
            return Err(format!("`{{{inside}}}` is a range: list its values, as in `{{1,2,3}}`"));
        }
        Ok(Part::Either(all))
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn matches(pattern: &str, paths: &[&str]) -> Vec<String> {
        let pattern = Pattern::new(pattern).unwrap();
        paths.iter().filter(|path| pattern.is_match(path)).map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn each_sign_means_what_it_means_in_a_shell() {
        let paths = [
            "a.yaml",
            "b.yml",
            "ab.yaml",
            "é.yaml",
            "x y.yaml",
            "[z].yaml",
            "{q}.yaml",
            "sub/a.yaml",
            "sub/deep/a.yaml",
        ];
        for (pattern, expected) in [
            ("*.yaml", &["a.yaml", "ab.yaml", "é.yaml", "x y.yaml", "[z].yaml", "{q}.yaml"][..]),
            ("?.yaml", &["a.yaml", "é.yaml"]),
            ("a*.yaml", &["a.yaml", "ab.yaml"]),
            ("*.y{a,}ml", &["a.yaml", "b.yml", "ab.yaml", "é.yaml", "x y.yaml", "[z].yaml", "{q}.yaml"]),
            ("{a,b}.*", &["a.yaml", "b.yml"]),
            ("{a,sub/{a,deep/a}}.yaml", &["a.yaml", "sub/a.yaml", "sub/deep/a.yaml"]),
            ("[a-c]*", &["a.yaml", "b.yml", "ab.yaml"]),
            ("[!a-c]?*", &["é.yaml", "x y.yaml", "[z].yaml", "{q}.yaml"]),
            ("[é]*", &["é.yaml"]),
            ("[[]z[]]*", &["[z].yaml"]),
            ("\\{q\\}.*", &["{q}.yaml"]),
            ("**/a.yaml", &["a.yaml", "sub/a.yaml", "sub/deep/a.yaml"]),
            ("sub/**", &["sub/a.yaml", "sub/deep/a.yaml"]),
            ("sub/**/a.yaml", &["sub/a.yaml", "sub/deep/a.yaml"]),
            ("**/deep/*", &["sub/deep/a.yaml"]),
            ("{**/deep,x}/*", &["sub/deep/a.yaml"]),
            ("s**/a.yaml", &["sub/a.yaml"]),
            ("*/*", &["sub/a.yaml"]),
            ("**", &paths),
        ] {
            assert_eq!(matches(pattern, &paths), expected, "{pattern}");
        }
    }

    #[test]
    fn invalid_patterns_are_explained() {
        for (pattern, problem) in [
            ("{a", "`{` without `}`"),
            ("a}", "`}` without `{`"),
            ("[a", "`[` without `]`"),
            ("[]", "`[` without `]`"),
            ("[z-a]", "the range `z-a` is empty"),
            ("*\\", "nothing follows the last `\\`"),
            ("{1..3}.yaml", "`{1..3}` is a range: list its values, as in `{1,2,3}`"),
            ("{{{{{{{{{a}}}}}}}}}", "more than 8 braces are nested"),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap_err(), problem, "{pattern}");
        }
    }

    #[test]
    fn many_ways_to_match_take_no_longer() {
        let pattern = Pattern::new(&"*a".repeat(2000)).unwrap();
        assert!(!pattern.is_match(&"a".repeat(1999)));
        assert!(pattern.is_match(&"ba".repeat(2000)));
        assert!(Pattern::new(&"{a,b,c}".repeat(500)).unwrap().is_match(&"abc".repeat(500)[..500]));
    }
}
