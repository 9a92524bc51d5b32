//! Unified diffs of texts, as of `diff -u`.
//!
//! The lines that two texts have in common.
//!
//! First matches the lines that are unique in both texts and in the same order (patience diff), then the lines between them by
//! the greedy algorithm of Myers ("An O(ND) Difference Algorithm", 1986). The number of steps is limited: texts with nothing in
//! common, or with few distinct lines, would take minutes. Lines that are not matched by then count as replaced, which is a
//! correct diff, but not the shortest.
//!
//! Hand-written: tests are built without optimization, where `imara-diff` takes minutes for such texts, and `similar` adds 2.4 MB
//! of code to every test program.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use evalsuite_schema::sorting::sort;

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

/// Most comparisons of lines for one pair of texts: less than a second even in an unoptimized build.
const STEPS: usize = 5_000_000;
/// Most differences searched for between two matched lines; memory grows with its square.
const DIFFERENCES: usize = 1_000;
/// Most nested divisions of a part at its unique lines.
const DIVISIONS: u32 = 64;

/// Lines that were replaced by others; one of the ranges may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The differences of two lists of lines, in order, with at least one common line between any two.
pub(crate) fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Hunk> {
    let mut ids: HashMap<&'t str, usize> = HashMap::new();
    let mut number = |line: &&'t str| {
        let next = ids.len();
        *ids.entry(line).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(&mut number).collect();
    let new: Vec<usize> = new.iter().map(&mut number).collect();
    let mut matching = Matching { steps: STEPS, pairs: Vec::new(), old: &old, new: &new };
    matching.part(0..old.len(), 0..new.len(), DIVISIONS);
    hunks(&matching.pairs, old.len(), new.len())
}

/// The lines between matched lines.
fn hunks(pairs: &[(usize, usize)], old_len: usize, new_len: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut old, mut new) = (0, 0);
    for &(next_old, next_new) in pairs.iter().chain([&(old_len, new_len)]) {
        if old < next_old || new < next_new {
            hunks.push(Hunk { old: old..next_old, new: new..next_new });
        }
        (old, new) = (next_old + 1, next_new + 1);
    }
    hunks
}

struct Matching<'a> {
    old: &'a [usize],
    new: &'a [usize],
    steps: usize,
    /// Indices of equal lines, ascending on both sides.
    pairs: Vec<(usize, usize)>,
}

impl Matching<'_> {
    /// Matches the lines of a part, which is after everything matched before.
    fn part(&mut self, mut old: Range<usize>, mut new: Range<usize>, divisions: u32) {
        while !old.is_empty() && !new.is_empty() && self.old[old.start] == self.new[new.start] {
            self.pairs.push((old.start, new.start));
            (old.start, new.start) = (old.start + 1, new.start + 1);
        }
        let ends = (old.end, new.end);
        while !old.is_empty() && !new.is_empty() && self.old[old.end - 1] == self.new[new.end - 1] {
            (old.end, new.end) = (old.end - 1, new.end - 1);
        }
        if !old.is_empty() && !new.is_empty() {
            let anchors = if divisions > 0 { self.unique(old.clone(), new.clone()) } else { Vec::new() };
            if anchors.is_empty() {
                self.greedy(old.clone(), new.clone());
            } else {
                let (mut old_from, mut new_from) = (old.start, new.start);
                for (old_at, new_at) in anchors.into_iter().chain([(old.end, new.end)]) {
                    self.part(old_from..old_at, new_from..new_at, divisions - 1);
                    if old_at < old.end {
                        self.pairs.push((old_at, new_at));
                    }
                    (old_from, new_from) = (old_at + 1, new_at + 1);
                }
            }
        }
        self.pairs.extend((old.end..ends.0).zip(new.end..ends.1));
    }

    /// The longest ascending list of lines that are unique on both sides.
    fn unique(&self, old: Range<usize>, new: Range<usize>) -> Vec<(usize, usize)> {
        let mut places: HashMap<usize, (u32, usize, u32, usize)> = HashMap::new();
        for index in old {
            let place = places.entry(self.old[index]).or_default();
            (place.0, place.1) = (place.0.saturating_add(1), index);
        }
        for index in new {
            if let Some(place) = places.get_mut(&self.new[index]) {
                (place.2, place.3) = (place.2.saturating_add(1), index);
            }
        }
        let unique = places.into_values().filter(|place| place.0 == 1 && place.2 == 1);
        let mut pairs: Vec<(usize, usize)> = unique.map(|place| (place.1, place.3)).collect();
        sort(&mut pairs);
        ascending(&pairs)
    }

    /// Myers' algorithm from the front, for parts that begin and end with different lines.
    fn greedy(&mut self, old: Range<usize>, new: Range<usize>) {
        let (old_len, new_len) = (old.len(), new.len());
        let limit = DIFFERENCES.min(old_len + new_len);
        // How far each diagonal reaches, per number of differences; `trace[d][i]` is diagonal `2 * i - d`.
        let mut trace: Vec<Vec<usize>> = Vec::new();
        for differences in 0..=limit {
            let mut reach = Vec::with_capacity(differences + 1);
            for index in 0..=differences {
                let mut x = trace.last().map_or(0, |last| step(last, index).0);
                // Diagonals beyond the edges are kept, and never reach the end.
                let y = |x: usize| (x + differences).checked_sub(2 * index);
                while let Some(y) = y(x)
                    && x < old_len
                    && y < new_len
                    && self.old[old.start + x] == self.new[new.start + y]
                {
                    x += 1;
                    self.steps = self.steps.saturating_sub(1);
                }
                reach.push(x);
                if x == old_len && y(x) == Some(new_len) {
                    trace.push(reach);
                    self.walk_back(&trace, index, old.start, new.start);
                    return;
                }
            }
            trace.push(reach);
            self.steps = self.steps.saturating_sub(differences + 1);
            if self.steps == 0 {
                return;
            }
        }
    }

    fn walk_back(&mut self, trace: &[Vec<usize>], mut index: usize, old_start: usize, new_start: usize) {
        let from = self.pairs.len();
        for differences in (0..trace.len()).rev() {
            let end = trace[differences][index];
            let (begin, previous) = match differences.checked_sub(1) {
                Some(before) => step(&trace[before], index),
                None => (0, 0),
            };
            for x in (begin..end).rev() {
                self.pairs.push((old_start + x, new_start + x + differences - 2 * index));
            }
            index = previous;
        }
        self.pairs[from..].reverse();
    }
}

/// Where a diagonal begins with one more difference, and the index of the diagonal it comes from: a line more of the
/// new text (from the diagonal above), or of the old one.
fn step(last: &[usize], index: usize) -> (usize, usize) {
    let inserted = last.get(index).copied();
    let removed = index.checked_sub(1).map(|below| (last[below] + 1, below));
    match (inserted, removed) {
        (Some(inserted), Some((removed, below))) if removed > inserted => (removed, below),
        (Some(inserted), _) => (inserted, index),
        (None, Some(removed)) => removed,
        (None, None) => (0, 0),
    }
}

/// The longest list of pairs, ascending on both sides; they come sorted by the first.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair with the smallest second number that ends a list of n + 1 pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let place = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(place.checked_sub(1).map(|previous| ends[previous]));
        if place == ends.len() { ends.push(index) } else { ends[place] = index }
    }
    let mut list = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        list.push(pairs[index]);
        next = before[index];
    }
    list.reverse();
    list
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

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

    fn compared(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.split_terminator("").skip(1).collect(), new.split_terminator("").skip(1).collect());
        compare(&old, &new).into_iter().map(|hunk| (hunk.old, hunk.new)).collect()
    }

    #[test]
    fn the_shortest_change_is_found() {
        assert_eq!(compared("abc", "abc"), []);
        assert_eq!(compared("", "ab"), [(0..0, 0..2)]);
        assert_eq!(compared("abcd", "axcd"), [(1..2, 1..2)]);
        assert_eq!(compared("aabaab", "aabab"), [(4..5, 4..4)]);
        let changes = compared("abcabba", "cbabac");
        let changed: usize = changes.iter().map(|(old, new)| old.len() + new.len()).sum();
        assert_eq!(changed, 5, "{changes:?}");
    }

    #[test]
    fn a_moved_block_leaves_the_other_lines_matched() {
        assert_eq!(compared("abcdefXY", "XYabcdef"), [(0..0, 0..2), (6..8, 8..8)]);
    }

    proptest! {
        #[test]
        fn lines_between_hunks_are_equal(
            old in proptest::collection::vec(0_u8..6, 0..60),
            new in proptest::collection::vec(0_u8..6, 0..60),
        ) {
            let names: Vec<String> = (0..6).map(|number| number.to_string()).collect();
            let lines = |numbers: &[u8]| numbers.iter().map(|number| names[usize::from(*number)].as_str()).collect::<Vec<_>>();
            let (old, new) = (lines(&old), lines(&new));
            let (mut old_at, mut new_at) = (0, 0);
            for hunk in compare(&old, &new) {
                prop_assert_eq!(&old[old_at..hunk.old.start], &new[new_at..hunk.new.start]);
                prop_assert!(old_at == 0 || old_at < hunk.old.start, "hunks are apart");
                (old_at, new_at) = (hunk.old.end, hunk.new.end);
            }
            prop_assert_eq!(&old[old_at..], &new[new_at..]);
        }
    }
}
