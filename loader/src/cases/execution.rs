//! `execution`: run settings of a suite or a case.

use std::collections::HashMap;

use evalsuite_schema::{Target, Trials};

use super::hooks;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Fix};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::keys::execution::{CASE_EXECUTION, STRATEGIES, SUITE_EXECUTION, SUITE_TARGET, TRIALS};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// Settings that suites and cases share.
#[derive(Debug, Default, Clone)]
pub(crate) struct CommonExecution<'n> {
    pub(crate) target: Option<(String, Span)>,
    pub(crate) trials: Option<Trials>,
    /// Where `strategy` is written.
    pub(crate) strategy_span: Option<Span>,
    pub(crate) threshold: Option<f64>,
    pub(crate) timeout_seconds: Option<f64>,
    /// Assertions written here with an old spelling.
    pub(crate) assertions: Option<&'n Entry>,
}

/// `execution` of an eval file.
#[derive(Debug, Default, Clone)]
pub(crate) struct Suite<'n> {
    pub(crate) common: CommonExecution<'n>,
    pub(crate) targets: Option<(Vec<Target>, Span)>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) workers: Option<u32>,
    pub(crate) fail_on_error: bool,
}

/// `execution` of a case.
#[derive(Debug, Default, Clone)]
pub(crate) struct Case<'n> {
    pub(crate) common: CommonExecution<'n>,
    pub(crate) targets: Vec<(String, Span)>,
    pub(crate) skip_defaults: bool,
}

pub(crate) fn suite<'n>(node: &'n Node, scope: Scope<'_>, d: &mut Diagnostics) -> Suite<'n> {
    let Some(mut fields) = Fields::new(node, &SUITE_EXECUTION, d) else { return Suite::default() };
    let common = common(&mut fields, d);
    let targets = fields.get("targets").map(|entry| (targets(entry, scope, d), entry.key_span));
    if let (Some((_, span)), Some((_, key))) = (&common.target, &targets) {
        d.push(
            Diagnostic::new(Code::ConflictingKeys, "`target` and `targets` are one setting")
                .at(*key)
                .related(*span, "`target` is here")
                .help("keep one"),
        );
    }
    let budget_usd =
        fields.get_renamed("budget_usd", d).and_then(|entry| fields::positive(&entry.value, "`budget_usd`", d));
    let workers = fields
        .get("workers")
        .and_then(|entry| fields::integer(&entry.value, "`workers`", 1, 50, d))
        .and_then(|value| u32::try_from(value).ok());
    let fail_on_error = fields
        .get_renamed("fail_on_error", d)
        .and_then(|entry| fields::boolean(&entry.value, "`fail_on_error`", d))
        .unwrap_or(false);
    cache(&mut fields, d);
    for key in ["total_budget_usd", "totalBudgetUsd", "skip_defaults"] {
        fields.refuse(key, d);
    }
    fields.finish(d);
    Suite { common, targets, budget_usd, workers, fail_on_error }
}

fn cache(fields: &mut Fields<'_>, d: &mut Diagnostics) {
    if let Some(entry) = fields.no_effect("cache", d) {
        fields::boolean(&entry.value, "`cache`", d);
    }
    if let Some(entry) = fields.no_effect("cache_path", d) {
        fields::string(&entry.value, "`cache_path`", d);
    }
}

pub(crate) fn case<'n>(node: &'n Node, d: &mut Diagnostics) -> Case<'n> {
    let Some(mut fields) = Fields::new(node, &CASE_EXECUTION, d) else { return Case::default() };
    let common = common(&mut fields, d);
    let mut targets = Vec::new();
    if let Some(entry) = fields.get("targets") {
        for node in fields::list(&entry.value, "`targets`", d).unwrap_or_default() {
            if let Some(name) = target_name(node, "a target of a case", d) {
                targets.push((name, node.span));
            }
        }
        if let Some(one) = fields.get("target") {
            let message = "`target` and `targets` both say where the case runs";
            d.push(
                Diagnostic::new(Code::ConflictingKeys, message)
                    .at(entry.key_span)
                    .related(one.key_span, "`target` is here")
                    .help("keep one"),
            );
        }
    }
    let skip_defaults = fields.read("skip_defaults", fields::boolean, d).unwrap_or(false);
    fields.finish(d);
    Case { common, targets, skip_defaults }
}

fn common<'n>(fields: &mut Fields<'n>, d: &mut Diagnostics) -> CommonExecution<'n> {
    let mut common = CommonExecution::default();
    if let Some(entry) = fields.get("target") {
        common.target = target_name(&entry.value, "`target`", d).map(|name| (name, entry.value.span));
    }
    if let Some(entry) = fields.get("trials") {
        let (trials, strategy_span) = trials(&entry.value, d);
        (common.trials, common.strategy_span) = (Some(trials), strategy_span);
    }
    common.threshold = fields.read("threshold", fields::fraction, d);
    common.timeout_seconds = fields.read("timeout_seconds", fields::positive, d);
    common.assertions = fields.get_replaced("assertions", d);
    common
}

fn trials(node: &Node, d: &mut Diagnostics) -> (Trials, Option<Span>) {
    let mut trials = Trials::default();
    if let Data::Number(number) = &node.data {
        d.push(
            Diagnostic::new(Code::WrongType, "`trials` must be a mapping, found a number")
                .at(node.span)
                .help(format!("write `trials: {{ count: {number} }}`"))
                // With quotes also for JSON.
                .fix_if(Some(Fix::Replace(format!("{{ \"count\": {number} }}")))),
        );
        return (trials, None);
    }
    let Some(mut fields) = Fields::new(node, &TRIALS, d) else { return (trials, None) };
    if let Some(entry) = fields.require("count", d) {
        trials.count = fields::count(&entry.value, "`count`", 1, d).unwrap_or(1);
    }
    let mut strategy_span = None;
    if let Some(entry) = fields.get("strategy") {
        trials.strategy = fields::choice(&entry.value, "`strategy`", STRATEGIES, d);
        strategy_span = Some(entry.value.span);
    }
    trials.cost_limit_usd =
        fields.get_renamed("cost_limit_usd", d).and_then(|entry| fields::positive(&entry.value, "`cost_limit_usd`", d));
    if let Some(entry) = fields.get("errors") {
        trials.errors = fields::count(&entry.value, "`errors`", 0, d).unwrap_or(0);
    }
    fields.finish(d);
    (trials, strategy_span)
}

fn targets(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Target> {
    let Some(items) = fields::list(&entry.value, "`targets`", d) else { return Vec::new() };
    if items.is_empty() {
        d.report(
            Code::OutOfRange,
            entry.value.span,
            "`targets` is empty",
            "name at least one target, or delete the key",
        );
    }
    let mut targets: Vec<Target> = Vec::new();
    let mut places: HashMap<String, Span> = HashMap::new();
    for node in items {
        let Some(target) = target(node, scope, d) else { continue };
        if let Some(first) = places.get(&target.name) {
            d.push(
                Diagnostic::new(Code::InvalidTarget, format!("target `{}` is listed twice", target.name))
                    .at(node.span)
                    .related(*first, "first here")
                    .help("keep one"),
            );
        } else {
            places.insert(target.name.clone(), node.span);
            targets.push(target);
        }
    }
    targets
}

/// The name of a target, without the blanks around it.
fn target_name(node: &Node, what: &str, d: &mut Diagnostics) -> Option<String> {
    fields::literal_text(node, what, d).map(|name| name.trim().to_owned())
}

fn target(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Target> {
    if !matches!(node.data, Data::Mapping(_)) {
        let name = target_name(node, "a target", d)?;
        return Some(Target { name, use_target: None, hooks: Default::default() });
    }
    let mut fields = Fields::new(node, &SUITE_TARGET, d)?;
    let name = fields.require("name", d).and_then(|entry| target_name(&entry.value, "`name`", d));
    // It may be a variable: a targets file is read when a run starts.
    let use_target = fields.read("use_target", fields::text, d).map(|name| name.trim().to_owned());
    let hooks = fields.get("hooks").map(|entry| hooks::read(&entry.value, scope, d).into_hooks()).unwrap_or_default();
    fields.finish(d);
    Some(Target { name: name?, use_target, hooks })
}
