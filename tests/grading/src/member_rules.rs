//! Differences of a composite that follow from those of its members.
//!
//! Each member is compared by itself, with its own rules. The composite's result has to be the one that `combine` computes
//! from our results of the members: a second implementation of the rules for composites, written from their description
//! alone.

use std::collections::BTreeSet;

use evalsuite::Verdict;
use evalsuite::record::{GraderRecord, GraderState};
use evalsuite_schema::Value;
use evalsuite_schema::decimal::at_least;

use crate::grader_rules;
use crate::graders::{Field, Graded, differences, of_members};

/// Names of the rules.
pub const RULES: &[&str] = &["member-settings-apply", "unnamed-members"];

/// Values and verdicts reach this mark unless another one is written.
const MARK: f64 = 0.8;

/// The members as written.
pub fn members(grader: &Value) -> &[Value] {
    let lists = ["assertions", "assert", "evaluators"].map(|key| grader[key].as_array().map_or(&[][..], Vec::as_slice));
    lists.into_iter().find(|list| !list.is_empty()).unwrap_or(&[])
}

/// The rules that explain a composite's differences.
pub fn explain(cx: &Graded<'_>) -> Option<BTreeSet<&'static str>> {
    let (ours, theirs) = (cx.ours.as_ref()?, cx.expected["scores"].as_array()?);
    let entries = members(cx.grader);
    if entries.len() != ours.members.len() {
        return None;
    }
    let mut rules = BTreeSet::new();
    let mut theirs = theirs.iter();
    for (entry, member) in entries.iter().zip(&ours.members) {
        if is_dropped(entry) {
            rules.insert("unnamed-members");
        } else {
            rules.extend(of_member(cx, entry, theirs.next()?, member)?);
        }
    }
    let applies = |entry: &Value| ["negate", "weight", "required", "min_score"].iter().any(|key| !entry[key].is_null());
    if entries.iter().any(applies) {
        rules.insert("member-settings-apply");
    }
    let is_broken = |member: &GraderRecord| member.guard && member.verdict == Some(Verdict::Fail);
    if cx.grader["aggregator"]["type"] == "weighted_average" && ours.members.iter().any(is_broken) {
        rules.insert("guards-hold-entirely");
    }
    if theirs.next().is_some() {
        return None;
    }
    rules.extend(follows(cx, ours)?);
    (!rules.is_empty()).then_some(rules)
}

/// The reference knows members by their names, and their types by the spelling with `-`. A composite whose members are dropped
/// is dropped, too.
fn is_dropped(entry: &Value) -> bool {
    let is_empty = entry["type"] == "composite" && members(entry).iter().all(is_dropped);
    !entry["name"].is_string() || entry["type"].as_str().is_some_and(|name| name.contains('_')) || is_empty
}

/// The rules that explain what differs in a member before it is negated; the reference does not negate it.
fn of_member(cx: &Graded<'_>, entry: &Value, theirs: &Value, member: &GraderRecord) -> Option<BTreeSet<&'static str>> {
    let mut entry = entry.clone();
    entry.as_object_mut()?.remove("negate");
    let mut plain = member.clone();
    if member.negated {
        plain.negated = false;
        plain.value = member.value.map(|value| 1.0 - value);
        let is_stated = member.guard || !entry["aggregator"]["threshold"].is_null();
        plain.verdict = match (plain.value, plain.pass_mark) {
            (Some(value), Some(mark)) if !is_stated => Some(Verdict::from_passed(at_least(value, mark))),
            _ => member.verdict.map(|verdict| !verdict),
        };
        for assertion in &mut plain.assertions {
            assertion.passed = !assertion.passed;
            assertion.evidence = assertion.evidence.take().map(|text| text.replacen("[Negated] ", "", 1));
        }
    }
    let single = Graded {
        grader: &entry,
        expected: theirs,
        ours: Some(plain),
        shown: String::new(),
        outputs: cx.outputs.clone(),
        ..*cx
    };
    let mut rules = BTreeSet::new();
    for field in differences(&single, false) {
        rules.extend(grader_rules::explain(field, &single)?);
    }
    Some(rules)
}

/// Rules of the composite's own, if its result is that of our members, or differs by these rules where an aggregator combined them.
fn follows(cx: &Graded<'_>, ours: &GraderRecord) -> Option<BTreeSet<&'static str>> {
    let own = ours.assertions.len().checked_sub(of_members(ours));
    let listed = ours.members.iter().flat_map(|member| {
        let flip = |passed: bool| passed != ours.negated;
        member.assertions.iter().map(move |a| (format!("[{}] {}", member.name, a.text), flip(a.passed)))
    });
    let is_listed = own.is_some_and(|own| ours.assertions[own..].iter().map(|a| (a.text.clone(), a.passed)).eq(listed));
    if !is_listed {
        return None;
    }
    let Some((value, verdict)) = combine(cx.grader, &ours.members, MARK) else {
        let decisive = |field: &Field| matches!(field, Field::Score | Field::Verdict);
        let differ = differences(cx, false).into_iter().filter(decisive);
        return differ.map(|field| grader_rules::of_entry(field, cx)).collect();
    };
    let mark = cx.grader["min_score"].as_f64().or(cx.grader["required"].as_f64());
    let verdict = match mark.filter(|_| ours.negated) {
        Some(mark) => Verdict::from_passed(at_least(1.0 - value, mark)),
        None if ours.negated && cx.grader["aggregator"]["threshold"].is_null() => {
            Verdict::from_passed(at_least(1.0 - value, MARK))
        }
        None if ours.negated => !verdict,
        None => verdict,
    };
    let is_own = cx.value().is_some_and(|own| (own - value).abs() < 1e-12) && ours.verdict == Some(verdict);
    is_own.then(BTreeSet::new)
}

/// The value and the verdict of members, before negation; `None` if a command or a judge combines them.
pub fn combine(grader: &Value, members: &[GraderRecord], threshold: f64) -> Option<(f64, Verdict)> {
    let aggregator = &grader["aggregator"];
    let mark = grader["min_score"].as_f64().or(grader["required"].as_f64());
    let decided = || members.iter().filter(|member| member.state == GraderState::Decided);
    let weight = |member: &GraderRecord| aggregator["weights"][&member.name].as_f64().unwrap_or(member.weight);
    let is_closed = |member: &GraderRecord| {
        let is_guard = member.guard && aggregator["type"] == "weighted_average" && weight(member) > 0.0;
        (member.required || is_guard) && member.verdict != Some(Verdict::Pass)
    };
    if members.iter().any(is_closed) {
        return Some((0.0, Verdict::Fail));
    }
    if let Some(threshold) = aggregator["threshold"].as_f64() {
        let passing = decided().filter(|member| member.verdict == Some(Verdict::Pass)).count();
        #[allow(clippy::cast_precision_loss, reason = "a handful of members")]
        let share = passing as f64 / decided().count() as f64;
        return Some((share, Verdict::from_passed(at_least(share, mark.unwrap_or(threshold)))));
    }
    if aggregator["type"] != "weighted_average" {
        return None;
    }
    let total: f64 = decided().map(weight).sum();
    let sum: f64 = decided().filter_map(|member| Some(weight(member) * member.value?)).sum();
    let value = if total > 0.0 { sum / total } else { 0.0 };
    // Without a mark of the composite, what passes counts at least the threshold, and what fails less.
    let above = |member: &GraderRecord| {
        let distance = member.value? - threshold;
        let passes = member.verdict == Some(Verdict::Pass);
        Some(weight(member) * if passes { distance.max(0.0) } else { distance.min(-1e-9) })
    };
    let passes = match mark {
        Some(mark) => at_least(value, mark),
        None => decided().filter_map(above).sum::<f64>() >= -1e-12,
    };
    Some((value, Verdict::from_passed(passes)))
}
