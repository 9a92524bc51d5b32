//! Unified diffs of texts, as of `diff -u`.

pub(crate) mod line_matching;

use std::fmt::Write;
use std::ops::Range;

use crate::workspace::diff::line_matching::{Hunk, compare};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The unified diff of two texts, with its header; empty if they are the same.
pub(crate) fn unified(before: &str, after: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let hunks = compare(&old, &new);
    if hunks.is_empty() {
        return String::new();
    }
    let mut out = format!("--- {}\n+++ {}\n", quoted(before), quoted(after));
    // Two changes whose context meets are shown together.
    for group in hunks.chunk_by(|left, right| right.old.start - left.old.end <= 2 * CONTEXT) {
        write_group(&mut out, group, &old, &new);
    }
    out
}

fn write_group(out: &mut String, group: &[Hunk], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let leading = CONTEXT.min(first.old.start);
    let trailing = CONTEXT.min(old.len() - last.old.end);
    let shown = first.old.start - leading..last.old.end + trailing;
    let shown_new = first.new.start - leading..last.new.end + trailing;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "@@ -{} +{} @@", hunk_range(&shown), hunk_range(&shown_new));
    let mut unchanged = shown.start;
    for hunk in group {
        write_lines(out, ' ', &old[unchanged..hunk.old.start]);
        write_lines(out, '-', &old[hunk.old.clone()]);
        write_lines(out, '+', &new[hunk.new.clone()]);
        unchanged = hunk.old.end;
    }
    write_lines(out, ' ', &old[unchanged..shown.end]);
}

/// First line and number of lines; without lines, the line before.
fn hunk_range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn write_lines(out: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// A path as git writes it: in quotes if it contains characters that would break the line.
pub(crate) fn quoted(path: &str) -> String {
    if !path.contains(|character: char| character.is_control() || matches!(character, '"' | '\\')) {
        return path.to_owned();
    }
    let mut quoted = "\"".to_owned();
    for character in path.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ if character.is_control() => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn hunks(old: &str, new: &str) -> String {
        let diff = unified("a", "b", old, new);
        diff.strip_prefix("--- a\n+++ b\n").unwrap_or(&diff).to_owned()
    }

    fn numbers(range: Range<u32>) -> String {
        range.map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn changes_have_three_lines_of_context() {
        let new = numbers(1..10).replace("5\n", "five\n");
        assert_eq!(hunks(&numbers(1..10), &new), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        assert_eq!(hunks("", "x\ny\n"), "@@ -0,0 +1,2 @@\n+x\n+y\n");
        assert_eq!(hunks("x\n", ""), "@@ -1 +0,0 @@\n-x\n");
        assert_eq!(hunks("same", "same"), "");
    }

    #[test]
    fn adjacent_changes_are_one_hunk() {
        let change = |far: u32| {
            let new: String = numbers(1..40)
                .lines()
                .map(|line| if line == "5" || line == far.to_string() { "x\n".to_owned() } else { format!("{line}\n") })
                .collect();
            hunks(&numbers(1..40), &new).matches("@@ -").count()
        };
        assert_eq!((change(12), change(13)), (1, 2));
    }

    #[test]
    fn a_missing_line_end_is_marked() {
        assert_eq!(hunks("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    }

    #[test]
    fn a_path_cannot_break_its_line() {
        assert_eq!(quoted("a/ä b.txt"), "a/ä b.txt");
        assert_eq!(quoted("a/\"x\"\n\u{1}"), r#""a/\"x\"\n\001""#);
    }

    #[test]
    fn texts_with_nothing_in_common_take_no_longer_than_others() {
        let distinct = |offset: u32| numbers(offset..offset + 70_000);
        let shuffled = |factor: u64| -> String {
            (0..170_000_u64).map(|line| format!("{}\n", (line * factor + line / 7) % 97)).collect()
        };
        for (old, new) in [(distinct(0), distinct(70_000)), (shuffled(31), shuffled(53)), (shuffled(1), distinct(0))] {
            let clock = Instant::now();
            assert!(hunks(&old, &new).len() >= new.len() / 2);
            assert!(clock.elapsed() < Duration::from_secs(20), "took {:?}", clock.elapsed());
        }
    }
}
