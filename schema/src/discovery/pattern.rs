//! Patterns of paths: `*`, `?`, `**`, `[a-z]`, `{a,b}` and `\` before a character that is meant literally; and the files that match one.
//!
//! Not a crate: `glob` has no `{a,b}`, and `globset` brings four more crates into the first build of every user.

use std::path::Path;

use super::listing::{MAX_VISITED, ProblemKind, Search, join};

/// A pattern, compiled to a machine that reads a path character by character.
#[derive(Debug)]
pub struct Pattern {
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Literal(char),
    /// Any character but `/`.
    One,
    /// Any number of characters but `/`.
    Many,
    /// Any number of characters.
    Deep,
    Class(Class),
    /// Goes on at each of the two.
    Fork(usize, usize),
    Jump(usize),
}

#[derive(Debug)]
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
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
        // The machine takes memory by the length of the pattern, and compiling it takes stack by its nesting.
        if text.len() > MAX_LENGTH {
            return Err(format!("the pattern is longer than {MAX_LENGTH} bytes"));
        }
        let mut compiler = Compiler { text: text.chars().collect(), at: 0, steps: Vec::new() };
        compiler.sequence(0, true)?;
        match compiler.peek() {
            None => Ok(Self { steps: compiler.steps }),
            Some(_) => Err("`}` without `{`".to_owned()),
        }
    }

    /// Whether the whole of a path with `/` separators fits.
    pub fn is_match(&self, path: &str) -> bool {
        let mut states = States::new(self.steps.len());
        let mut next = States::new(self.steps.len());
        states.add(0, &self.steps);
        for c in path.chars() {
            next.clear();
            for &state in &states.list {
                match &self.steps[state] {
                    Step::Literal(literal) if *literal == c => next.add(state + 1, &self.steps),
                    Step::One if c != '/' => next.add(state + 1, &self.steps),
                    Step::Many if c != '/' => next.add(state, &self.steps),
                    Step::Deep => next.add(state, &self.steps),
                    Step::Class(class) if class.contains(c) => next.add(state + 1, &self.steps),
                    _ => {}
                }
            }
            std::mem::swap(&mut states, &mut next);
        }
        states.is_in[self.steps.len()]
    }
}

impl Class {
    fn contains(&self, c: char) -> bool {
        c != '/' && self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != self.negated
    }
}

/// The states the machine may be in. The state after the last step is the end.
struct States {
    list: Vec<usize>,
    is_in: Vec<bool>,
    /// Kept between calls, which are as many as the paths have characters.
    open: Vec<usize>,
}

impl States {
    fn new(steps: usize) -> Self {
        Self { list: Vec::new(), is_in: vec![false; steps + 1], open: Vec::new() }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.is_in.fill(false);
        self.open.clear();
    }

    /// Adds a state, and those that are reached from it without a character.
    fn add(&mut self, state: usize, steps: &[Step]) {
        self.open.push(state);
        while let Some(state) = self.open.pop() {
            if std::mem::replace(&mut self.is_in[state], true) {
                continue;
            }
            match steps.get(state) {
                Some(Step::Fork(one, other)) => self.open.extend([*one, *other]),
                Some(Step::Jump(target)) => self.open.push(*target),
                Some(Step::Many | Step::Deep) => {
                    self.list.push(state);
                    self.open.push(state + 1);
                }
                Some(_) => self.list.push(state),
                None => {}
            }
        }
    }
}

struct Compiler {
    text: Vec<char>,
    at: usize,
    steps: Vec<Step>,
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
    fn sequence(&mut self, depth: usize, mut starts: bool) -> Result<(), String> {
        while let Some(c) = self.peek() {
            if c == '}' || c == ',' && depth > 0 {
                break;
            }
            self.at += 1;
            match c {
                '*' => self.star(depth, starts),
                '?' => self.steps.push(Step::One),
                '[' => self.class()?,
                '{' => self.alternatives(depth + 1, starts)?,
                '\\' => {
                    let literal = self.next().ok_or("nothing follows the last `\\`")?;
                    self.steps.push(Step::Literal(literal));
                }
                literal => self.steps.push(Step::Literal(literal)),
            }
            starts = c == '/' || starts && c == '*' && self.text[self.at - 1] == '/';
        }
        Ok(())
    }

    /// `*`, or `**` as a whole component: then it crosses directories, and the `/` after it belongs to it.
    fn star(&mut self, depth: usize, starts: bool) {
        let first = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let ends = match self.peek() {
            None | Some('/') => true,
            Some(c) => depth > 0 && matches!(c, ',' | '}'),
        };
        if self.at - first < 2 || !starts || !ends {
            self.steps.push(Step::Many);
        } else if self.peek() == Some('/') {
            self.at += 1;
            let start = self.steps.len();
            self.steps.extend([Step::Fork(start + 1, start + 3), Step::Deep, Step::Literal('/')]);
        } else {
            self.steps.push(Step::Deep);
        }
    }

    fn class(&mut self) -> Result<(), String> {
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
        self.steps.push(Step::Class(Class { negated, ranges }));
        Ok(())
    }

    fn alternatives(&mut self, depth: usize, starts: bool) -> Result<(), String> {
        if depth > MAX_BRACES {
            return Err(format!("more than {MAX_BRACES} braces are nested"));
        }
        let first = self.at;
        let mut ends = Vec::new();
        loop {
            // Either this alternative, or those after it.
            let fork = self.steps.len();
            self.steps.push(Step::Fork(fork + 1, fork + 1));
            self.sequence(depth, starts)?;
            match self.next() {
                Some(',') => {
                    ends.push(self.steps.len());
                    self.steps.push(Step::Jump(0));
                    let after = self.steps.len();
                    self.steps[fork] = Step::Fork(fork + 1, after);
                }
                Some(_) => break,
                None => return Err("`{` without `}`".to_owned()),
            }
        }
        let inside: String = self.text[first..self.at - 1].iter().collect();
        if ends.is_empty() && inside.contains("..") {
            return Err(format!("`{{{inside}}}` is a range: list its values, as in `{{1,2,3}}`"));
        }
        let after = self.steps.len();
        ends.into_iter().for_each(|end| self.steps[end] = Step::Jump(after));
        Ok(())
    }
}

/// Whether a path is a pattern: it holds `*`, `?` or `{`.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '{'])
}

pub(crate) fn list(search: &mut Search<'_>, pattern: &str) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let fixed = fixed_directory(search.root, pattern);
    let rest = pattern[fixed.len()..].trim_start_matches('/');
    match Pattern::new(rest) {
        Ok(pattern) => {
            let levels = if rest.contains("**") { usize::MAX } else { rest.matches('/').count() };
            walk(search, &Glob { fixed: &fixed, pattern, levels }, "", 0);
        }
        Err(problem) => search.problem(pattern, ProblemKind::InvalidGlob, problem),
    }
}

/// The directory before the first component with a special character: it needs no search, and may be `..`. Names with `[` are
/// common, so a directory that has the name of such a component is the one that is meant.
fn fixed_directory(root: &Path, pattern: &str) -> String {
    let mut fixed: Vec<&str> = Vec::new();
    for part in pattern.split('/') {
        fixed.push(part);
        if is_glob(part) || part.contains(['[', '\\']) && !root.join(fixed.join("/")).is_dir() {
            fixed.pop();
            break;
        }
    }
    fixed.join("/")
}

struct Glob<'a> {
    fixed: &'a str,
    pattern: Pattern,
    /// Maximum number of directories between `fixed` and a match.
    levels: usize,
}

fn walk(search: &mut Search<'_>, glob: &Glob<'_>, below: &str, depth: usize) {
    let directory = if below.is_empty() { glob.fixed.to_owned() } else { join(glob.fixed, below) };
    search.found.directories.push(directory.clone());
    if search.is_too_deep(&directory, depth) || depth == 0 && !search.root.join(&directory).is_dir() {
        return;
    }
    let entries = search.entries(&directory);
    let before = search.found.visited;
    search.found.visited += entries.len();
    if search.found.visited > MAX_VISITED {
        if before <= MAX_VISITED {
            let message = format!("the pattern visits more than {MAX_VISITED} files and directories");
            search.problem(directory, ProblemKind::TooDeep, message);
        }
        return;
    }
    for (name, kind) in entries {
        if name.starts_with('.') {
            continue;
        }
        let path = join(below, &name);
        let full = join(glob.fixed, &path);
        let (is_match, leads_on) = (glob.pattern.is_match(&path), depth < glob.levels);
        let is_dir = kind.is_dir() || kind.is_symlink() && search.root.join(&full).is_dir();
        if !(if is_dir { leads_on } else { is_match }) {
            continue;
        }
        // A link is a problem only if something that matches may be below it.
        let linked = kind.is_symlink();
        let Some(kind) = search.resolve(&full, kind) else { continue };
        if kind.is_file() {
            search.found.files.push(full);
        } else if kind.is_dir() && (!linked || search.may_follow(&full)) {
            walk(search, glob, &path, depth + 1);
        }
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
