//! `.harborignore`: files of `tests/`, `solution/` and the same directories of steps that Harbor does not use.
//!
//! Not `ignore`: Harbor 0.26.0 reads the patterns with pathspec 1.1.1, whose rules these are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use fancy_regex::Regex;

use crate::report::{Place, Report};
use crate::source::SourceFiles;

const NAME: &str = ".harborignore";

/// The files of a task that patterns leave out.
pub(super) struct FileFilter<'a> {
    task: &'a Path,
    source: &'a SourceFiles,
    report: RefCell<&'a mut Report>,
    /// The patterns of each directory.
    patterns: RefCell<HashMap<PathBuf, Rc<Vec<Pattern>>>>,
}

#[derive(Debug)]
struct Pattern {
    regex: Regex,
    leaves_out: bool,
}

impl<'a> FileFilter<'a> {
    pub(super) fn new(task: &'a Path, source: &'a SourceFiles, report: &'a mut Report) -> Self {
        Self { task, source, report: RefCell::new(report), patterns: RefCell::default() }
    }

    /// Whether patterns leave out what is at `path` of the task, or the file of the task to which it is a link.
    pub(super) fn leaves_out(&self, path: &Path, is_directory: bool) -> bool {
        let target = || {
            let target = self.task.join(path).canonicalize().ok()?;
            Some(target.strip_prefix(self.task.canonicalize().ok()?).ok()?.to_path_buf())
        };
        self.matches(path, is_directory)
            || in_scope(path) && target().is_some_and(|target| target != path && self.matches(&target, is_directory))
    }

    fn matches(&self, path: &Path, is_directory: bool) -> bool {
        if !in_scope(path) {
            return false;
        }
        if path.file_name().is_some_and(|name| name == NAME) {
            return true;
        }
        let mut directories: Vec<&Path> = path.ancestors().filter(|directory| in_scope(directory)).collect();
        directories.reverse();
        (0..directories.len()).any(|last| {
            let candidate = directories[last];
            let end = if candidate != path || is_directory { "/" } else { "" };
            let decisions = directories[..last].iter().filter_map(|directory| {
                let below = candidate.strip_prefix(directory).unwrap_or(candidate);
                decision(&self.patterns_in(directory), &format!("{}{end}", slashed(below)))
            });
            decisions.last().unwrap_or(false)
        })
    }

    fn patterns_in(&self, directory: &Path) -> Rc<Vec<Pattern>> {
        if let Some(known) = self.patterns.borrow().get(directory) {
            return Rc::clone(known);
        }
        let file = self.task.join(directory).join(NAME);
        let mut patterns = Vec::new();
        if file.is_file() {
            let mut report = self.report.borrow_mut();
            let shown = self.source.shown(&file);
            let place = Place::new(shown.clone(), 0, shown.clone());
            report.mapped(&place);
            let text = self.source.text(&file, NAME, &place).unwrap_or_default();
            for (line, number) in text.lines().zip(1..) {
                match pattern(line) {
                    Ok(pattern) => patterns.extend(pattern),
                    Err(reason) => report.different(
                        &Place::new(shown.clone(), number, line),
                        format!("Harbor refuses the task: {reason}"),
                    ),
                }
            }
        }
        let patterns = Rc::new(patterns);
        self.patterns.borrow_mut().insert(directory.to_owned(), Rc::clone(&patterns));
        patterns
    }
}

/// Whether patterns apply to a path of a task.
fn in_scope(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    matches!(parts.as_slice(), ["tests" | "solution", ..] | ["steps", _, "tests" | "solution", ..])
}

fn slashed(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// What the patterns of one file say about a path: the last one that matches the path itself, else the last one that matches a directory
/// above it.
fn decision(patterns: &[Pattern], path: &str) -> Option<bool> {
    let mut above = None;
    for pattern in patterns.iter().rev() {
        let Ok(Some(captures)) = pattern.regex.captures(path) else { continue };
        if captures.get(1).is_none() {
            return Some(pattern.leaves_out);
        }
        above = above.or(Some(pattern.leaves_out));
    }
    above
}

/// A line as a pattern whose first group is the `/` after a directory. `Ok(None)`: the line has none.
fn pattern(line: &str) -> Result<Option<Pattern>, String> {
    let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
    if line.is_empty() || line.starts_with('#') || line == "/" {
        return Ok(None);
    }
    let (line, leaves_out) = line.strip_prefix('!').map_or((line, true), |rest| (rest, false));
    let mut segments: Vec<&str> = line.split('/').collect();
    let is_directory = segments.last().is_some_and(|last| last.is_empty());
    if segments[0].is_empty() {
        segments.remove(0);
    } else if (segments.len() == 1 || segments.len() == 2 && segments[1].is_empty()) && segments[0] != "**" {
        segments.insert(0, "**");
    }
    let Some(last) = segments.last_mut() else { return Err(format!("`{line}` is not a pattern")) };
    if last.is_empty() {
        *last = "**";
    }
    segments.dedup_by(|one, other| *one == "**" && *other == "**");
    let text = match segments.as_slice() {
        ["**"] | ["**", "*", "**"] if is_directory => "(/)".to_owned(),
        ["**"] | ["**", "*"] => "(?s:.)".to_owned(),
        ["**", "*", "**"] => "/".to_owned(),
        _ => match regex_of(&segments, is_directory)? {
            Some(text) => text,
            None => return Ok(None),
        },
    };
    let regex = Regex::new(&text).map_err(|_| format!("`{line}` is not a pattern"))?;
    Ok(Some(Pattern { regex, leaves_out }))
}

/// `None`: a bracket is not closed, and the pattern matches nothing.
fn regex_of(segments: &[&str], is_directory: bool) -> Result<Option<String>, String> {
    let (mut text, end, mut needs_slash) = (String::new(), segments.len() - 1, false);
    for (index, segment) in segments.iter().enumerate() {
        if *segment == "**" {
            text.push_str(match index {
                0 => "^(?:.+/)?",
                _ if index < end => "(?:/.+)?",
                _ if is_directory => "(/)",
                _ => "/",
            });
            needs_slash = index > 0;
            continue;
        }
        if index == 0 {
            text.push('^');
        }
        if needs_slash {
            text.push('/');
        }
        if *segment == "*" {
            text.push_str("[^/]+");
        } else if !add_segment(segment, &mut text)? {
            return Ok(None);
        }
        if index == end {
            text.push_str("(?:(/)|$)");
        }
        needs_slash = true;
    }
    Ok(Some(text))
}

/// False if a bracket is not closed.
fn add_segment(segment: &str, text: &mut String) -> Result<bool, String> {
    let mut rest = segment.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some(escaped) => text.push_str(&fancy_regex::escape(escaped.encode_utf8(&mut [0; 4]))),
                None => return Err(format!("`{segment}` ends with `\\`")),
            },
            '*' => text.push_str("[^/]*"),
            '?' => text.push_str("[^/]"),
            '[' => {
                let inside = rest.as_str();
                let (negation, body) = inside.strip_prefix(['!', '^']).map_or(("", inside), |body| ("^", body));
                // A bracket at the start does not close.
                let from = usize::from(body.starts_with(']'));
                let Some(close) = body[from..].find(']').map(|at| at + from) else { return Ok(false) };
                text.push('[');
                text.push_str(negation);
                for inner in body[..close].chars() {
                    if matches!(inner, '[' | ']' | '\\' | '&' | '~' | '^') {
                        text.push('\\');
                    }
                    text.push(inner);
                }
                text.push(']');
                rest = body[close + 1..].chars();
            }
            other => text.push_str(&fancy_regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_what_it_matches_for_harbor() {
        // Results of `GitIgnoreSpec.check_file` of pathspec 1.1.1.
        for (lines, path, expected) in [
            ("*.pyc", "a/b.pyc", Some(true)),
            ("*.pyc\n!keep.pyc", "keep.pyc", Some(false)),
            ("/a", "b/a", None),
            ("/a", "a/b", Some(true)),
            ("a/", "a", None),
            ("a/", "x/a/b", Some(true)),
            ("a/b", "x/a/b", None),
            ("**/b", "x/a/b", Some(true)),
            ("a/**/b", "a/b", Some(true)),
            ("a/**", "a/", Some(true)),
            ("*/", "a", None),
            ("[!a]x", "bx", Some(true)),
            ("[a", "[a", None),
            ("\\#x", "#x", Some(true)),
            ("# x", "# x", None),
            ("/", "a", None),
            ("a\n!a/b", "a/b", Some(false)),
            ("a/b\n!a/", "a/b", Some(true)),
            ("?", "ab", None),
            ("x  ", "x", Some(true)),
        ] {
            let patterns: Vec<Pattern> = lines.lines().filter_map(|line| pattern(line).unwrap()).collect();
            assert_eq!(decision(&patterns, path), expected, "{lines:?} {path}");
        }
        for line in ["a\\", "!", "[z-a]"] {
            assert!(pattern(line).is_err(), "{line}");
        }
    }
}
