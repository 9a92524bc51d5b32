//! `score_ranges`: what the scores of a criterion mean.

use evalsuite_schema::grader::ScoreRange;
use evalsuite_schema::keys::Keys;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::keys::range::TOP;
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

const HELP: &str = "cover the whole numbers from 0 to 10, each once";

fn invalid_ranges<T>(span: Span, message: impl Into<String>, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidScoreRanges, span, message, HELP, d)
}

/// Reads a list of ranges, or a map from their lowest scores.
pub(super) fn read(node: &Node, d: &mut Diagnostics) -> Option<Vec<ScoreRange>> {
    let (ranges, spans) = match &node.data {
        Data::Sequence(items) => from_list(items, d)?,
        Data::Mapping(entries) => from_map(entries, node, d)?,
        _ => return fields::wrong_type(node, "`score_ranges`", "a list or a mapping", d),
    };
    let mut used_by: [Option<usize>; TOP as usize + 1] = [None; TOP as usize + 1];
    for (index, range) in ranges.iter().enumerate() {
        for score in range.low..=range.high {
            if let Some(first) = used_by[usize::from(score)] {
                let problem = Diagnostic::new(Code::InvalidScoreRanges, format!("score {score} is covered twice"));
                d.push(problem.at(spans[index]).related(spans[first], "first here").help(HELP));
                return None;
            }
            used_by[usize::from(score)] = Some(index);
        }
    }
    let gap_start = used_by.iter().position(Option::is_none);
    if let Some(start) = gap_start {
        let length = used_by[start..].iter().take_while(|used| used.is_none()).count();
        let message = match length {
            1 => format!("score {start} is not covered"),
            _ => format!("scores {start}-{} are not covered", start + length - 1),
        };
        return invalid_ranges(node.span, message, d);
    }
    Some(ranges)
}

type Ranges = (Vec<ScoreRange>, Vec<Span>);

fn from_list(items: &[Node], d: &mut Diagnostics) -> Option<Ranges> {
    let ranges = fields::all(items, |item| range(item, d))?;
    Some((ranges, items.iter().map(|item| item.span).collect()))
}

fn range(node: &Node, d: &mut Diagnostics) -> Option<ScoreRange> {
    let mut fields = Fields::new(node, ScoreRange::TABLE, d)?;
    let bounds_entry = fields.get("score_range");
    let outcome_entry = fields.get("outcome");
    let (without_bounds, without_outcome) = (fields.place_without("score_range"), fields.place_without("outcome"));
    fields.finish(d);
    let bounds = match bounds_entry {
        Some(entry) => bounds(&entry.value, d),
        None => invalid_ranges(without_bounds, "a score range has no `score_range`", d),
    };
    let outcome = match outcome_entry {
        Some(entry) => fields::text(&entry.value, "`outcome`", d),
        None => {
            let help = "say what an answer with such a score looks like";
            fields::reject(Code::InvalidScoreRanges, without_outcome, "a score range has no `outcome`", help, d)
        }
    };
    let ((low, high), outcome) = (bounds?, outcome?);
    Some(ScoreRange { low, high, outcome })
}

fn bounds(node: &Node, d: &mut Diagnostics) -> Option<(u8, u8)> {
    let numbers = node.as_sequence().map(|items| items.iter().map(score).collect::<Vec<_>>());
    match numbers.as_deref() {
        Some([Some(low), Some(high)]) if low <= high => Some((*low, *high)),
        _ => invalid_ranges(node.span, "`score_range` is not two whole numbers from 0 to 10, the lower first", d),
    }
}

fn score(node: &Node) -> Option<u8> {
    let value = node.as_f64()?;
    (0..=TOP).find(|score| f64::from(*score) == value)
}

fn from_map(entries: &[Entry], node: &Node, d: &mut Diagnostics) -> Option<Ranges> {
    let mut starts: Vec<(u8, &Entry)> = Vec::with_capacity(entries.len());
    for entry in entries {
        match (0..=TOP).find(|score| score.to_string() == entry.key) {
            Some(score) => starts.push((score, entry)),
            None => {
                let message = format!("`{}` is not a whole number from 0 to 10", entry.key);
                d.report(Code::InvalidScoreRanges, entry.key_span, message, HELP);
            }
        }
    }
    starts.sort_by_key(|(start, _)| *start);
    if let Some((start, entry)) = starts.first().filter(|(start, _)| *start != 0) {
        return invalid_ranges(entry.key_span, format!("the first range starts at {start}"), d);
    }
    if entries.is_empty() {
        return invalid_ranges(node.span, "`score_ranges` is empty", d);
    }
    let mut ranges = Vec::with_capacity(starts.len());
    for (index, (low, entry)) in starts.iter().enumerate() {
        let high = starts.get(index + 1).map_or(TOP, |(next, _)| next - 1);
        if let Some(outcome) = fields::text(&entry.value, "the outcome of a score range", d) {
            ranges.push(ScoreRange { low: *low, high, outcome });
        }
    }
    let spans = starts.iter().map(|(_, entry)| entry.key_span).collect();
    (!ranges.is_empty() && ranges.len() == entries.len()).then_some((ranges, spans))
}
