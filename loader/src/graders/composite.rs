//! `composite`: several graders in one.

use std::collections::HashSet;

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::grader::{Aggregator, AggregatorKeys, Grader, ResultSource};
use evalsuite_schema::keys::Keys;

use super::{Family, GraderContext, ParsedGrader, Rules, are_different, assertions, code_grader, llm_grader};
use crate::diagnostic::{Code, Diagnostics, are_many};
use crate::fields;
use crate::fields::Fields;
use crate::read::node::{Entry, Node};
use crate::source::Span;

/// Composites in composites, the outermost included.
const MAX_DEPTH: usize = 4;

pub(super) const FAMILY: Family = Family { rules: &[("composite", composite)], constant: |_| None };

fn composite(rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    let Rules { fields, parts, cx, notes } = rules;
    let members_entry = fields.get_renamed("assertions", d);
    let aggregator_entry = fields.require("aggregator", d);
    let node = fields.node;
    if cx.depth >= MAX_DEPTH {
        let message = format!("composites are nested deeper than {MAX_DEPTH}");
        return invalid(node.span, message, "move its members into the composite around it", d).unwrap_or_default();
    }
    let members = match members_entry {
        Some(entry) => members(&entry.value, GraderContext { depth: cx.depth + 1, ..cx }, d),
        // The report of the other key says what to write.
        None if fields.misspells(&["assertions"]) => None,
        None => invalid(fields.place_without("assertions"), "a composite has no members", "add `assertions`", d),
    };
    // None if one of them could not be read.
    let all_names = members.iter().flatten().map(|member| (!member.is_broken).then_some(member.grader.name.as_str()));
    let names = all_names.collect::<Option<Vec<&str>>>().unwrap_or_default();
    let has_min_score = node.entry("min_score").is_some_and(|entry| !entry.value.is_null());
    let aggregator = aggregator_entry.and_then(|entry| aggregator(&entry.value, &names, has_min_score, cx, d));
    for member in members.iter().flatten() {
        notes.extend(&member.notes);
    }
    let members = members.filter(|members| members.iter().all(|member| !member.is_broken));
    let members = members.map(|members| members.into_iter().map(|member| member.grader).collect::<Vec<Grader>>());
    if let (Some(members), Some(aggregator)) = (&members, &aggregator)
        && has_no_weight(aggregator, members)
    {
        d.report(Code::ZeroTotalWeight, node.span, "every member has weight 0", "give one a weight");
    }
    parts.make("assertions", members);
    parts.make("aggregator", aggregator);
}

/// Whether no member counts for the mean, or for the share of passing members.
fn has_no_weight(aggregator: &Aggregator, members: &[Grader]) -> bool {
    let weights = match aggregator {
        Aggregator::WeightedAverage { weights } => weights.as_slice(),
        Aggregator::Threshold { .. } => &[],
        _ => return false,
    };
    let weight = |member: &Grader| {
        weights.iter().find(|(name, _)| *name == member.name).map_or(member.weight, |(_, weight)| *weight)
    };
    members.iter().all(|member| weight(member) == 0.0)
}

fn invalid<T>(place: Span, message: impl Into<String>, help: &str, d: &mut Diagnostics) -> Option<T> {
    fields::reject(Code::InvalidComposite, place, message, help, d)
}

/// The members, with different names: weights and results refer to them.
fn members(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Option<Vec<ParsedGrader>> {
    fields::list(node, "`assertions`", d)?;
    let members = assertions::read_list(node, cx, d);
    if members.is_empty() {
        return invalid(node.span, "a composite has no members", "add an assertion", d);
    }
    let read = members.iter().filter(|member| !member.is_broken);
    let names = read.map(|member| (member.grader.name.as_str(), member.named.unwrap_or(member.span)));
    let message = |name: &str| format!("two members of the composite are named `{name}`");
    are_different(names, Code::InvalidComposite, message, "give one of them another `name`", d).then_some(members)
}

fn aggregator(
    node: &Node,
    members: &[&str],
    has_min_score: bool,
    cx: GraderContext<'_>,
    d: &mut Diagnostics,
) -> Option<Aggregator> {
    let mut fields = Fields::new(node, AggregatorKeys::TABLE, d)?;
    let type_entry = fields.require("type", d);
    let weights_entry = fields.get("weights");
    let threshold_entry = fields.get("threshold");
    let command_entry = fields.get_renamed("command", d);
    let cwd_entry = fields.get("cwd");
    let result_entry = fields.get("result");
    let prompt_entry = fields.get("prompt");
    let model_entry = fields.get("model");
    let places = [("command", fields.place_without("command")), ("threshold", fields.place_without("threshold"))];
    let report_missing = |key: &str, d: &mut Diagnostics| {
        let place = places.iter().find(|(known, _)| *known == key).map_or(node.span, |(_, place)| *place);
        let message = format!("missing key `{key}` in `aggregator`");
        fields::reject(Code::MissingGraderSetting, place, message, format!("add `{key}`"), d)
    };
    fields.finish(d);
    let kind = kind(&type_entry?.value, d)?;
    let mut fits = true;
    for (entry, owner) in [
        (weights_entry, "weighted_average"),
        (threshold_entry, "threshold"),
        (command_entry, "code-grader"),
        (cwd_entry, "code-grader"),
        (result_entry, "code-grader"),
        (prompt_entry, "llm-grader"),
        (model_entry, "llm-grader"),
    ] {
        if let Some(entry) = entry.filter(|_| kind != owner) {
            let message = format!("`{}` has no meaning with `type: {kind}`", entry.key);
            d.report(Code::SettingConflict, entry.key_span, message, format!("delete it, or write `type: {owner}`"));
            fits = false;
        }
    }
    let aggregator = match kind {
        "weighted_average" => {
            let weights = weights_entry.map_or(Some(Vec::new()), |entry| weights(&entry.value, members, d));
            Aggregator::WeightedAverage { weights: weights? }
        }
        "threshold" => Aggregator::Threshold {
            threshold: threshold(threshold_entry.or_else(|| report_missing("threshold", d))?, has_min_score, d)?,
        },
        "code-grader" => {
            let command = command_entry.or_else(|| report_missing("command", d))?;
            let result = match result_entry {
                Some(entry) => {
                    fields::word(&entry.value, "`result`", ResultSource::WORDS, d).and_then(ResultSource::of_word)
                }
                None => Some(ResultSource::default()),
            };
            let run = code_grader::prepared(command, cwd_entry, cx.scope, d);
            Aggregator::CodeGrader { run: run?, result: result? }
        }
        _ => {
            let prompt =
                prompt_entry.map_or(Some(None), |entry| llm_grader::aggregator(&entry.value, cx, d).map(Some))?;
            let model = model_entry.map_or(Some(None), |entry| fields::text(&entry.value, "`model`", d).map(Some))?;
            Aggregator::LlmGrader { prompt, model }
        }
    };
    fits.then_some(aggregator)
}

fn kind(node: &Node, d: &mut Diagnostics) -> Option<&'static str> {
    let written = fields::literal_text(node, "`type` of the aggregator", d)?;
    // The names of graders are written with `_` or `-` everywhere, those of formulas with `_` only.
    let folded = match written.as_str() {
        "code_grader" => "code-grader",
        "llm_grader" => "llm-grader",
        other => other,
    };
    Aggregator::WORDS.iter().find(|known| **known == folded).copied().or_else(|| {
        let help = match folded {
            "code-judge" | "code_judge" => Some("use `code-grader`".to_owned()),
            "llm-judge" | "llm_judge" => Some("use `llm-grader`".to_owned()),
            _ => suggest::did_you_mean(&written, Aggregator::WORDS.iter().copied()),
        };
        let help = help.unwrap_or_else(|| format!("write {}", suggest::quoted(Aggregator::WORDS, "or")));
        invalid(node.span, format!("`{written}` is not a way to aggregate"), &help, d)
    })
}

fn weights(node: &Node, members: &[&str], d: &mut Diagnostics) -> Option<Vec<(String, f64)>> {
    let Some(entries) = node.as_mapping() else {
        return fields::wrong_type(node, "`weights`", "a mapping of members to numbers", d);
    };
    let before = d.len();
    let mut weights = Vec::with_capacity(entries.len());
    let set: HashSet<&str> = members.iter().copied().collect();
    for entry in entries {
        if !members.is_empty() && !set.contains(entry.key.as_str()) {
            let near = if are_many(d) { None } else { suggest::did_you_mean(&entry.key, members.iter().copied()) };
            let message = format!("`weights` names `{}`, members are {}", entry.key, suggest::listed(members));
            let help = near.unwrap_or_else(|| "give the member this `name`".to_owned());
            d.report(Code::InvalidComposite, entry.key_span, message, help);
        }
        if let Some(weight) = super::weight(&entry.value, &format!("the weight of `{}`", entry.key), d) {
            weights.push((entry.key.clone(), weight));
        }
    }
    (d.len() == before).then_some(weights)
}

fn threshold(entry: &Entry, has_min_score: bool, d: &mut Diagnostics) -> Option<f64> {
    if has_min_score {
        let message = "a composite has either `min_score` or `aggregator.threshold`";
        return fields::reject(Code::SettingConflict, entry.key_span, message, "keep `threshold`", d);
    }
    // Every share reaches 0.
    fields::pass_mark(&entry.value, "`threshold`", d)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Aggregator, GraderConfig, ResultSource};

    use crate::graders::tests::{check, config, problems};

    #[test]
    fn members_are_assertions_of_any_kind() {
        let entry = "{type: composite, assertions: [polite, {type: equals, value: x, weight: 2, negate: true}, short],
        aggregator: {type: weighted_average, weights: {rubrics: 3}}}";
        let GraderConfig::Composite(composite) = config(entry) else { panic!("another type") };
        let names: Vec<&str> = composite.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["rubrics", "equals-x"]);
        assert!(composite.members[1].negate);
        assert_eq!(composite.aggregator, Aggregator::WeightedAverage { weights: vec![("rubrics".into(), 3.0)] });
    }

    #[test]
    fn aggregators_have_their_own_keys() {
        let member = "assertions: [{type: is-json}]";
        let with = |aggregator: &str| config(&format!("{{type: composite, {member}, aggregator: {aggregator}}}"));
        let aggregator = |config| match config {
            GraderConfig::Composite(composite) => composite.aggregator,
            other => panic!("{other:?}"),
        };
        assert_eq!(aggregator(with("{type: threshold, threshold: 0.5}")), Aggregator::Threshold { threshold: 0.5 });
        let command = |text| match aggregator(with(text)) {
            Aggregator::CodeGrader { result, .. } => result,
            other => panic!("{other:?}"),
        };
        assert_eq!(command("{type: code_grader, path: 'exit 4'}"), ResultSource::Output);
        assert_eq!(command("{type: code-grader, command: make, result: status}"), ResultSource::Status);
        let judge = aggregator(with("{type: llm-grader, prompt: '{{EVALUATOR_RESULTS_JSON}}', model: m}"));
        assert!(matches!(judge, Aggregator::LlmGrader { prompt: Some(_), model: Some(_) }));
        check(&[
            ("{type: composite, assertions: [{type: is-json}]}", &["1:3 E052 missing key `aggregator` in `composite`"]),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {}}",
                &["1:64 E052 missing key `type` in `aggregator`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: average}}",
                &["1:71 E056 `average` is not a way to aggregate"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: threshold}}",
                &["1:64 E052 missing key `threshold` in `aggregator`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], min_score: 0.5, aggregator: {type: threshold, threshold: 1}}",
                &["1:98 E028 a composite has either `min_score` or `aggregator.threshold`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, threshold: 1}}",
                &["1:89 E028 `threshold` has no meaning with `type: weighted_average`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, result: status}}",
                &["1:89 E028 `result` has no meaning with `type: weighted_average`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: code-grader, command: make, result: exit}}",
                &["1:107 E023 `result` is `exit`, which is not one of `output` and `status`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, weights: {fmt: 1, is-json: -1}}}",
                &["1:116 E060 the weight of `is-json` is -1", "1:99 E056 `weights` names `fmt`, members are `is-json`"],
            ),
            (
                "{type: composite, assertions: [{type: is-json, weight: 0}], aggregator: {type: weighted_average}}",
                &["1:3 E061 every member has weight 0"],
            ),
            (
                "{type: composite, assertions: [{type: is-json, weight: 0}], aggregator: {type: threshold, threshold: 0.5}}",
                &["1:3 E061 every member has weight 0"],
            ),
            (
                "{type: composite, assertions: [{type: is-json}], aggregator: {type: weighted_average, weights: {is-json: 0}}}",
                &["1:3 E061 every member has weight 0"],
            ),
            (
                "{type: composite, assertions: [{type: is-json, weight: 0}], aggregator: {type: weighted_average, weights: {is-json: 1}}}",
                &[],
            ),
        ]);
    }

    #[test]
    fn members_need_names_of_their_own() {
        check(&[
            ("{type: composite, aggregator: {type: weighted_average}}", &["1:3 E056 a composite has no members"]),
            (
                "{type: composite, assertions: [], aggregator: {type: weighted_average}}",
                &["1:33 E056 a composite has no members"],
            ),
            (
                "{type: composite, assertions: [{type: equals, value: a}, {type: equals, value: a}], aggregator: {type: weighted_average}}",
                &["1:60 E056 two members of the composite are named `equals-a`"],
            ),
            (
                "{type: composite, assertions: [{type: contains}, {type: equals, value: a}], aggregator: {type: weighted_average, weights: {x: 1}}}",
                &["1:34 E052 missing key `value` in `contains`"],
            ),
        ]);
    }

    #[test]
    fn composites_nest_four_deep() {
        let nested = |depth: usize| {
            (0..depth).fold("{type: is-json}".to_owned(), |inner, _| {
                format!("{{type: composite, assertions: [{inner}], aggregator: {{type: weighted_average}}}}")
            })
        };
        config(&nested(4));
        assert_eq!(problems(&nested(5)), ["1:127 E056 composites are nested deeper than 4"]);
    }
}
