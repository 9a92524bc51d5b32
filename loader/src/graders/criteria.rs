//! Criteria of judge graders, and `score_ranges`: what their scores mean.

use evalsuite_schema::grader::{Criterion, Operator, ScoreRange};
use evalsuite_schema::keys::Keys;

use super::are_different;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::{self, Fields};
use crate::key_tables::range::{self, TOP};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// Reads a list of criteria; `what` is its key. `None`: a problem was reported.
pub(crate) fn list(node: &Node, what: &str, d: &mut Diagnostics) -> Option<Vec<Criterion>> {
    of_items(fields::list(node, what, d)?, node.span, d)
}

/// As [`list`]; one criterion may be written as text.
pub(crate) fn one_or_list(node: &Node, what: &str, d: &mut Diagnostics) -> Option<Vec<Criterion>> {
    match &node.data {
        Data::String(_) => of_items(std::slice::from_ref(node), node.span, d),
        _ => list(node, what, d),
    }
}

fn of_items(items: &[Node], place: Span, d: &mut Diagnostics) -> Option<Vec<Criterion>> {
    let read = items.iter().zip(1..).filter_map(|(item, position)| criterion(item, position, d));
    let (criteria, places): (Vec<Criterion>, Vec<CriterionSpans>) = read.unzip();
    let ids = criteria.iter().zip(&places).map(|(criterion, place)| (criterion.id.as_str(), place.id));
    let mut is_valid = have_own_ids(ids, d) && criteria.len() == items.len();
    if criteria.iter().all(|criterion| criterion.score_ranges.is_empty()) {
        for span in places.iter().filter_map(|place| place.min_score) {
            let message = "a minimum has no meaning where no criterion has `score_ranges`";
            d.report(Code::SettingConflict, span, message, "add `score_ranges`, or write `required: true`");
            is_valid = false;
        }
    }
    if is_valid && !criteria.is_empty() && criteria.iter().all(|criterion| criterion.weight == 0.0) {
        d.report(Code::ZeroTotalWeight, place, "every criterion has weight 0", "give one a weight");
        is_valid = false;
    }
    is_valid.then_some(criteria)
}

/// Whether no two criteria have one id. If some do, a problem is reported.
pub(crate) fn have_own_ids<'c>(ids: impl Iterator<Item = (&'c str, Span)>, d: &mut Diagnostics) -> bool {
    let message = |id: &str| format!("id `{id}` is given twice");
    are_different(ids, Code::InvalidRubric, message, "give each criterion an id of its own", d)
}

/// A criterion of plain text.
pub(crate) fn plain(id: String, outcome: String, required: bool) -> Criterion {
    let operator = Operator::Correctness;
    Criterion { id, outcome: Some(outcome), operator, weight: 1.0, required, min_score: None, score_ranges: Vec::new() }
}

/// Where checks across criteria point to.
struct CriterionSpans {
    id: Span,
    min_score: Option<Span>,
}

fn criterion(node: &Node, position: usize, d: &mut Diagnostics) -> Option<(Criterion, CriterionSpans)> {
    let automatic_id = format!("rubric-{position}");
    let text = match &node.data {
        Data::String(_) => fields::text(node, "a criterion", d)?,
        Data::Mapping(_) => return from_mapping(node, automatic_id, d),
        _ => return fields::wrong_type(node, "a criterion", "text or a mapping", d),
    };
    Some((plain(automatic_id, text, true), CriterionSpans { id: node.span, min_score: None }))
}

fn from_mapping(node: &Node, automatic_id: String, d: &mut Diagnostics) -> Option<(Criterion, CriterionSpans)> {
    let mut fields = Fields::new(node, Criterion::TABLE, d)?;
    let id_entry = fields.get("id");
    let id = id_entry.map_or(Some(automatic_id), |entry| fields::literal_text(&entry.value, "`id`", d));
    let outcome_entry = fields.get("outcome");
    let outcome = outcome_entry.map_or(Some(None), |entry| fields::text(&entry.value, "`outcome`", d).map(Some));
    let weight = fields.read_or("weight", 1.0, super::weight, d);
    let ranges_entry = fields.get("score_ranges");
    let score_ranges = ranges_entry.map_or(Some(Vec::new()), |entry| read_score_ranges(&entry.value, d));
    let operator = operator(&mut fields, outcome_entry.is_none() && ranges_entry.is_some(), d);
    let required = fields.read_or("required", ranges_entry.is_none(), fields::boolean, d);
    let (min_score, min_span) = minimum(&mut fields, d);
    let written = fields.get("required").filter(|_| min_span.is_some() && required == Some(false));
    let without_outcome = fields.place_without("outcome");
    let is_misspelled = fields.misspells(&["outcome"]);
    fields.finish(d);
    if let Some(entry) = written {
        let message = "`required: false` contradicts the minimum, below which the grader fails";
        return fields::reject(Code::SettingConflict, entry.key_span, message, "delete one of them", d);
    }
    if outcome_entry.is_none() && ranges_entry.is_none() && is_misspelled {
        return None;
    }
    if outcome_entry.is_none() && ranges_entry.is_none() {
        let help = "add `outcome`, what a good answer does";
        return fields::reject(Code::InvalidRubric, without_outcome, "a criterion has no `outcome`", help, d);
    }
    let places = CriterionSpans { id: id_entry.map_or(node.span, |entry| entry.value.span), min_score: min_span };
    let criterion = Criterion {
        id: id?,
        outcome: outcome?,
        operator: operator?,
        weight: weight?,
        required: required?,
        min_score: min_score?,
        score_ranges: score_ranges?,
    };
    Some((criterion, places))
}

/// How the answer is compared with the outcome, which an operator needs.
fn operator(fields: &mut Fields<'_>, has_only_ranges: bool, d: &mut Diagnostics) -> Option<Operator> {
    let Some(entry) = fields.get("operator") else { return Some(Operator::default()) };
    if has_only_ranges {
        let message = "`operator` has no meaning in a criterion without `outcome`";
        d.report(Code::SettingConflict, entry.key_span, message, "add `outcome`, or delete `operator`");
    }
    fields::word(&entry.value, "`operator`", Operator::WORDS, d).and_then(Operator::of_word)
}

/// The minimum of a criterion, and where it is written. The outer `None`: a problem was reported.
fn minimum(fields: &mut Fields<'_>, d: &mut Diagnostics) -> (Option<Option<f64>>, Option<Span>) {
    let current = fields.get("min_score");
    let old = fields.get("required_min_score");
    if let (Some(first), Some(second)) = (current, old) {
        let problem = Diagnostic::new(Code::ConflictingKeys, "`min_score` and `required_min_score` are one setting");
        d.push(problem.at(second.key_span).related(first.key_span, "`min_score` is here").help("keep `min_score`"));
        return (None, Some(first.key_span));
    }
    if let Some(entry) = old {
        let value = out_of_ten(&entry.value, d);
        if let Some(value) = value {
            let message = "`required_min_score` is now `min_score`, a number from 0 to 1";
            d.report(Code::DeprecatedValue, entry.key_span, message, format!("write `min_score: {value}`"));
        }
        return (value.map(Some), Some(entry.key_span));
    }
    let Some(entry) = current else { return (Some(None), None) };
    let Data::Number(number) = &entry.value.data else {
        return (fields::wrong_type(&entry.value, "`min_score`", "a number", d), Some(entry.key_span));
    };
    let value = number.as_f64().filter(|value| range::PASS_MARK.contains(*value));
    if value.is_none() {
        let help = "write a number greater than 0 and at most 1";
        d.report(Code::InvalidRubric, entry.value.span, "`min_score` of a criterion is out of range", help);
    }
    (value.map(Some), Some(entry.key_span))
}

/// A whole number from 0 to 10, as a part of one.
fn out_of_ten(node: &Node, d: &mut Diagnostics) -> Option<f64> {
    let Data::Number(number) = &node.data else {
        return fields::wrong_type(node, "`required_min_score`", "a whole number", d);
    };
    let valid = number.as_f64().filter(|value| value.fract() == 0.0 && (0.0..=f64::from(TOP)).contains(value));
    if valid.is_none() {
        let message = "`required_min_score` is not a whole number from 0 to 10";
        d.report(Code::InvalidRubric, node.span, message, "write `min_score`, a number from 0 to 1");
    }
    valid.map(|value| value / f64::from(TOP))
}

const HELP: &str = "cover the whole numbers from 0 to 10, each once";

fn invalid_ranges<T>(span: Span, message: impl Into<String>, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidScoreRanges, span, message, HELP, d)
}

/// Reads a list of ranges, or a map from their lowest scores.
fn read_score_ranges(node: &Node, d: &mut Diagnostics) -> Option<Vec<ScoreRange>> {
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
    let ranges = fields::all(items, |item| score_range(item, d))?;
    Some((ranges, items.iter().map(|item| item.span).collect()))
}

fn score_range(node: &Node, d: &mut Diagnostics) -> Option<ScoreRange> {
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
