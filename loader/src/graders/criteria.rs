//! Criteria of judge graders, and what their scores mean.

use evalsuite_schema::grader::{Criterion, ScoreRange};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::{self, Fields};
use crate::node::{Data, Entry, Node};
use crate::source::Span;

/// Scores of a criterion with ranges go from 0 to this.
const TOP: u8 = 10;

/// Reads a list of criteria; `what` is its key. `None`: a problem was reported.
pub(crate) fn list(node: &Node, what: &str, d: &mut Diagnostics) -> Option<Vec<Criterion>> {
    let items = fields::list(node, what, d)?;
    let mut criteria: Vec<Criterion> = Vec::with_capacity(items.len());
    let mut places: Vec<Places> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some((criterion, place)) = criterion(item, index + 1, d) {
            criteria.push(criterion);
            places.push(place);
        }
    }
    let mut is_valid = criteria.len() == items.len();
    for index in 1..criteria.len() {
        let first = criteria[..index].iter().position(|other| other.id == criteria[index].id);
        if let Some(first) = first {
            let message = format!("id `{}` is given twice", criteria[index].id);
            d.push(
                Diagnostic::new(Code::InvalidRubric, places[index].id, message)
                    .related(places[first].id, "first here")
                    .help("give each criterion an id of its own"),
            );
            is_valid = false;
        }
    }
    if criteria.iter().all(|criterion| criterion.score_ranges.is_empty()) {
        for span in places.iter().filter_map(|place| place.min_score) {
            d.report(
                Code::SettingConflict,
                span,
                "a minimum has no meaning where no criterion has `score_ranges`",
                "add `score_ranges`, or write `required: true`",
            );
            is_valid = false;
        }
    }
    if is_valid && !criteria.is_empty() && criteria.iter().all(|criterion| criterion.weight == 0.0) {
        d.report(Code::ZeroTotalWeight, node.span, "every criterion has weight 0", "give one a weight");
        is_valid = false;
    }
    is_valid.then_some(criteria)
}

/// A criterion of plain text.
pub(crate) fn plain(id: String, outcome: String, required: bool) -> Criterion {
    Criterion { id, outcome: Some(outcome), weight: 1.0, required, min_score: None, score_ranges: Vec::new() }
}

/// Where checks across criteria point to.
struct Places {
    id: Span,
    min_score: Option<Span>,
}

fn criterion(node: &Node, position: usize, d: &mut Diagnostics) -> Option<(Criterion, Places)> {
    let automatic_id = format!("rubric-{position}");
    let text = match &node.data {
        Data::String(_) => fields::text(node, "a criterion", d)?,
        Data::Mapping(_) => return from_mapping(node, automatic_id, d),
        _ => {
            fields::wrong_type(node, "a criterion", "text or a mapping", d);
            return None;
        }
    };
    Some((plain(automatic_id, text, true), Places { id: node.span, min_score: None }))
}

fn from_mapping(node: &Node, automatic_id: String, d: &mut Diagnostics) -> Option<(Criterion, Places)> {
    let mut fields = Fields::new(node, "a criterion", d)?;
    let id_entry = fields.get("id");
    let id = match id_entry {
        Some(entry) => fields::literal_text(&entry.value, "`id`", d),
        None => Some(automatic_id),
    };
    let outcome_entry = fields.get("outcome");
    let outcome = match outcome_entry {
        Some(entry) => fields::text(&entry.value, "`outcome`", d).map(Some),
        None => Some(None),
    };
    let weight = match fields.get("weight") {
        Some(entry) => super::weight(&entry.value, "`weight`", d),
        None => Some(1.0),
    };
    let ranges_entry = fields.get("score_ranges");
    let score_ranges = match ranges_entry {
        Some(entry) => score_ranges(&entry.value, d),
        None => Some(Vec::new()),
    };
    let required = match fields.get("required") {
        Some(entry) => fields::boolean(&entry.value, "`required`", d),
        None => Some(ranges_entry.is_none()),
    };
    let (min_score, min_span) = minimum(&mut fields, d);
    fields.finish(d);
    if outcome_entry.is_none() && ranges_entry.is_none() {
        fields_missing_outcome(node, d);
        return None;
    }
    let places = Places { id: id_entry.map_or(node.span, |entry| entry.value.span), min_score: min_span };
    let criterion = Criterion {
        id: id?,
        outcome: outcome?,
        weight: weight?,
        required: required?,
        min_score: min_score?,
        score_ranges: score_ranges?,
    };
    Some((criterion, places))
}

fn fields_missing_outcome(node: &Node, d: &mut Diagnostics) {
    d.report(Code::InvalidRubric, node.span, "a criterion has no `outcome`", "add `outcome`, what a good answer does");
}

/// The minimum of a criterion, and where it is written. The outer `None`: a problem was reported.
fn minimum(fields: &mut Fields<'_>, d: &mut Diagnostics) -> (Option<Option<f64>>, Option<Span>) {
    let current = fields.get("min_score");
    let old = fields.get("required_min_score");
    if let (Some(first), Some(second)) = (current, old) {
        d.push(
            Diagnostic::new(
                Code::ConflictingKeys,
                second.key_span,
                "`min_score` and `required_min_score` are one setting",
            )
            .related(first.key_span, "`min_score` is here")
            .help("keep `min_score`"),
        );
        return (None, Some(first.key_span));
    }
    if let Some(entry) = old {
        let value = out_of_ten(&entry.value, d);
        if let Some(value) = value {
            d.report(
                Code::DeprecatedValue,
                entry.key_span,
                "`required_min_score` is now `min_score`, a number from 0 to 1",
                format!("write `min_score: {value}`"),
            );
        }
        return (value.map(Some), Some(entry.key_span));
    }
    let Some(entry) = current else { return (Some(None), None) };
    let value = match &entry.value.data {
        Data::Number(number) => number.as_f64().filter(|value| *value > 0.0 && *value <= 1.0),
        _ => {
            fields::wrong_type(&entry.value, "`min_score`", "a number", d);
            return (None, Some(entry.key_span));
        }
    };
    if value.is_none() {
        let help = "write a number greater than 0 and at most 1";
        d.report(Code::InvalidRubric, entry.value.span, "`min_score` of a criterion is out of range", help);
    }
    (value.map(Some), Some(entry.key_span))
}

/// A whole number from 0 to 10, as a part of one.
fn out_of_ten(node: &Node, d: &mut Diagnostics) -> Option<f64> {
    let value = match &node.data {
        Data::Number(number) => number.as_f64(),
        _ => {
            fields::wrong_type(node, "`required_min_score`", "a whole number", d);
            return None;
        }
    };
    let valid = value.filter(|value| value.fract() == 0.0 && (0.0..=f64::from(TOP)).contains(value));
    if valid.is_none() {
        let message = "`required_min_score` is not a whole number from 0 to 10";
        d.report(Code::InvalidRubric, node.span, message, "write `min_score`, a number from 0 to 1");
    }
    valid.map(|value| value / f64::from(TOP))
}

fn invalid_ranges(span: Span, message: String, d: &mut Diagnostics) {
    d.report(Code::InvalidScoreRanges, span, message, "cover the whole numbers from 0 to 10, each once");
}

/// Reads `score_ranges`: a list, or a map from lowest scores.
fn score_ranges(node: &Node, d: &mut Diagnostics) -> Option<Vec<ScoreRange>> {
    let (ranges, spans) = match &node.data {
        Data::Sequence(items) => from_list(items, d)?,
        Data::Mapping(entries) => from_map(entries, node, d)?,
        _ => {
            fields::wrong_type(node, "`score_ranges`", "a list or a mapping", d);
            return None;
        }
    };
    let mut used_by: [Option<usize>; TOP as usize + 1] = [None; TOP as usize + 1];
    for (index, range) in ranges.iter().enumerate() {
        for score in range.low..=range.high {
            if let Some(first) = used_by[usize::from(score)] {
                d.push(
                    Diagnostic::new(Code::InvalidScoreRanges, spans[index], format!("score {score} is covered twice"))
                        .related(spans[first], "first here")
                        .help("cover the whole numbers from 0 to 10, each once"),
                );
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
        invalid_ranges(node.span, message, d);
        return None;
    }
    Some(ranges)
}

type Ranges = (Vec<ScoreRange>, Vec<Span>);

fn from_list(items: &[Node], d: &mut Diagnostics) -> Option<Ranges> {
    let mut ranges = Vec::with_capacity(items.len());
    for item in items {
        let Some(mut fields) = Fields::new(item, "a score range", d) else { continue };
        let bounds_entry = fields.get("score_range");
        let outcome_entry = fields.get("outcome");
        fields.finish(d);
        let bounds = match bounds_entry {
            Some(entry) => bounds(&entry.value, d),
            None => {
                invalid_ranges(item.span, "a score range has no `score_range`".to_owned(), d);
                None
            }
        };
        let outcome = match outcome_entry {
            Some(entry) => fields::text(&entry.value, "`outcome`", d),
            None => {
                let message = "a score range has no `outcome`";
                d.report(
                    Code::InvalidScoreRanges,
                    item.span,
                    message,
                    "say what an answer with such a score looks like",
                );
                None
            }
        };
        if let (Some((low, high)), Some(outcome)) = (bounds, outcome) {
            ranges.push(ScoreRange { low, high, outcome });
        }
    }
    let spans = items.iter().map(|item| item.span).collect();
    (ranges.len() == items.len()).then_some((ranges, spans))
}

fn bounds(node: &Node, d: &mut Diagnostics) -> Option<(u8, u8)> {
    let numbers = node.as_sequence().map(|items| items.iter().map(score).collect::<Vec<_>>());
    match numbers.as_deref() {
        Some([Some(low), Some(high)]) if low <= high => Some((*low, *high)),
        _ => {
            invalid_ranges(
                node.span,
                "`score_range` is not two whole numbers from 0 to 10, the lower first".to_owned(),
                d,
            );
            None
        }
    }
}

fn score(node: &Node) -> Option<u8> {
    let Data::Number(number) = &node.data else { return None };
    let value = number.as_f64()?;
    (0..=TOP).find(|score| f64::from(*score) == value)
}

fn from_map(entries: &[Entry], node: &Node, d: &mut Diagnostics) -> Option<Ranges> {
    let mut starts: Vec<(u8, &Entry)> = Vec::with_capacity(entries.len());
    for entry in entries {
        match (0..=TOP).find(|score| score.to_string() == entry.key) {
            Some(score) => starts.push((score, entry)),
            None => {
                let message = format!("`{}` is not a whole number from 0 to 10", entry.key);
                invalid_ranges(entry.key_span, message, d);
            }
        }
    }
    starts.sort_by_key(|(start, _)| *start);
    if let Some((start, entry)) = starts.first().filter(|(start, _)| *start != 0) {
        invalid_ranges(entry.key_span, format!("the first range starts at {start}"), d);
        return None;
    }
    if entries.is_empty() {
        invalid_ranges(node.span, "`score_ranges` is empty".to_owned(), d);
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
