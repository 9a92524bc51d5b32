//! `execution` and `requires`: run settings of a suite or a case, and what a run needs.

use std::collections::{HashMap, HashSet};

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{
    CaseExecution, CommonExecution, Requires, SealMode, SuiteExecution, SuiteRequires, Target, Trials,
};

use super::{target_skill, workspace};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Fix, report_both};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields, sealing};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

/// Settings that suites and cases share.
#[derive(Debug, Default, Clone)]
pub(crate) struct Common<'n> {
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
    pub(crate) common: Common<'n>,
    pub(crate) targets: Option<(Vec<Target>, Span)>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) workers: Option<u32>,
    pub(crate) fail_on_error: bool,
    pub(crate) sealed: Option<SealMode>,
}

/// `execution` of a case.
#[derive(Debug, Default, Clone)]
pub(crate) struct Case<'n> {
    pub(crate) common: Common<'n>,
    pub(crate) targets: Vec<(String, Span)>,
    pub(crate) skip_defaults: bool,
}

pub(crate) fn suite<'n>(node: &'n Node, scope: Scope<'_>, d: &mut Diagnostics) -> Suite<'n> {
    let Some(mut fields) = Fields::new(node, SuiteExecution::TABLE, d) else { return Suite::default() };
    sealing::refuse_blank(&fields, d);
    let Some(written) = fields.parts(scope, d).into_value_of_rest::<SuiteExecution>() else { return Suite::default() };
    let common = common(&mut fields, &written.common, scope, d);
    let targets = fields.get("targets").map(|entry| (targets(entry, scope, d), entry.key_span));
    if let (Some((_, span)), Some((_, key))) = (&common.target, &targets) {
        let (place, other) = ((*key, "`target` and `targets` are one setting"), (*span, "`target` is here"));
        report_both(Code::ConflictingKeys, place, other, "keep one", d);
    }
    fields.finish(d);
    let SuiteExecution { budget_usd, workers, fail_on_error, sealed, .. } = written;
    Suite { common, targets, budget_usd, workers, fail_on_error, sealed }
}

pub(crate) fn case<'n>(node: &'n Node, scope: Scope<'_>, d: &mut Diagnostics) -> Case<'n> {
    let Some(mut fields) = Fields::new(node, CaseExecution::TABLE, d) else { return Case::default() };
    let Some(written) = fields.parts(scope, d).into_value_of_rest::<CaseExecution>() else { return Case::default() };
    let common = common(&mut fields, &written.common, scope, d);
    let mut targets = Vec::new();
    if let Some(entry) = fields.get("targets") {
        let nodes = fields::list(&entry.value, "`targets`", d).unwrap_or_default();
        targets.extend(nodes.iter().filter_map(|node| Some((target_name(node, "a target of a case", d)?, node.span))));
        if let Some(one) = fields.get("target") {
            let message = "`target` and `targets` both say where the case runs";
            let other = (one.key_span, "`target` is here");
            report_both(Code::ConflictingKeys, (entry.key_span, message), other, "keep one", d);
        }
    }
    fields.finish(d);
    Case { common, targets, skip_defaults: written.skip_defaults }
}

fn common<'n>(fields: &mut Fields<'n>, written: &CommonExecution, scope: Scope<'_>, d: &mut Diagnostics) -> Common<'n> {
    let CommonExecution { threshold, timeout_seconds, .. } = *written;
    let assertions = fields.get_replaced("assertions", d);
    let mut common = Common { threshold, timeout_seconds, assertions, ..Common::default() };
    if let Some(entry) = fields.get("target") {
        common.target = target_name(&entry.value, "`target`", d).map(|name| (name, entry.value.span));
    }
    if let Some(entry) = fields.get("trials") {
        let (trials, strategy_span) = trials(entry, scope, d);
        (common.trials, common.strategy_span) = (Some(trials), strategy_span);
    }
    common
}

fn trials(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> (Trials, Option<Span>) {
    let node = &entry.value;
    if let Data::Number(number) = &node.data {
        let problem = Diagnostic::new(Code::WrongType, "`trials` must be a mapping, found a number").at(node.span);
        let fix = Fix::Replace(format!("{{ {}: {number} }}", entry.quoted_alike("count")));
        d.push(problem.help(format!("write `trials: {{ count: {number} }}`")).fix_if(Some(fix)));
        return (Trials::default(), None);
    }
    let Some(mut fields) = Fields::new(node, Trials::TABLE, d) else { return (Trials::default(), None) };
    let trials = fields.parts(scope, d).into_value_of_rest().unwrap_or_default();
    let strategy_span = fields.get("strategy").map(|entry| entry.value.span);
    fields.finish(d);
    (trials, strategy_span)
}

fn targets(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Target> {
    let Some(items) = fields::list(&entry.value, "`targets`", d) else { return Vec::new() };
    if items.is_empty() {
        let help = "name at least one target, or delete the key";
        d.report(Code::OutOfRange, entry.value.span, "`targets` is empty", help);
    }
    let mut targets: Vec<Target> = Vec::new();
    let mut places: HashMap<String, Span> = HashMap::new();
    for node in items {
        let Some(target) = target(node, scope, d) else { continue };
        let first = *places.entry(target.name.clone()).or_insert(node.span);
        if first == node.span {
            targets.push(target);
        } else {
            let message = format!("target `{}` is listed twice", target.name);
            report_both(Code::InvalidTarget, (node.span, message), (first, "first here"), "keep one", d);
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
        return Some(Target::new(name));
    }
    let mut fields = Fields::new(node, Target::TABLE, d)?;
    let name = fields.require("name", d).and_then(|entry| target_name(&entry.value, "`name`", d));
    // It may be a variable: a targets file is read when a run starts.
    let use_target = fields.read("use_target", fields::text, d).map(|name| name.trim().to_owned());
    let hooks = workspace::hooks(&mut fields, scope, d).into_hooks();
    let skill = fields.get("skill").map(|entry| target_skill::read(entry, scope, d)).unwrap_or_default();
    fields.finish(d);
    Some(Target { name: name?, use_target, hooks, skill })
}

/// Reads `requires` of a suite.
pub(crate) fn of_suite(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Requires {
    let Some(mut fields) = Fields::new(&entry.value, SuiteRequires::TABLE, d) else { return Requires::default() };
    let written: Option<SuiteRequires> = fields.parts(scope, d).into_value_of_rest();
    if let (Some(entry), Some(version)) =
        (fields.get("evalsuite"), written.as_ref().and_then(|all| all.evalsuite.as_ref()))
    {
        check_version(version, entry.value.span, d);
    }
    fields.finish(d);
    written.map(|written| written.common).unwrap_or_default()
}

fn check_version(text: &str, place: Span, d: &mut Diagnostics) {
    let own = env!("CARGO_PKG_VERSION");
    match semver::VersionReq::parse(text.trim()) {
        Err(error) => {
            let message = format!("`evalsuite` is not a version requirement: {error}");
            d.report(Code::OutOfRange, place, message, "write a requirement as in Cargo.toml, such as `>=0.1`");
        }
        Ok(requirement) => {
            let version = semver::Version::parse(own).expect("a package version is a semantic version");
            if !requirement.matches(&version) {
                let message = format!("the suite requires evalsuite {requirement}, this is {own}");
                let help = "update the `evalsuite` dependency, or relax the requirement";
                d.report(Code::OutOfRange, place, message, help);
            }
        }
    }
}

/// Adds those of `more` that `list` does not have.
pub(crate) fn add_requirements(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for name in more {
        if !list.contains(&name) {
            list.push(name);
        }
    }
}

/// A suite's requirements and a case's, without repeats.
pub(crate) fn merge_requirements(suite: &Requires, case: Requires) -> Requires {
    let join = |first: &[String], second: Vec<String>| {
        let known: HashSet<&String> = first.iter().collect();
        let new: Vec<String> = second.into_iter().filter(|name| !known.contains(name)).collect();
        [first, &new].concat()
    };
    Requires { env: join(&suite.env, case.env), commands: join(&suite.commands, case.commands) }
}

#[cfg(test)]
mod tests {
    use super::of_suite;
    use crate::diagnostic::Diagnostics;
    use crate::tests::Package;

    #[test]
    fn a_version_without_effect_is_still_text() {
        let package = Package::new(&[]);
        let problems = |yaml: &str| {
            let mut d = Diagnostics::new();
            let node = package.node(yaml);
            of_suite(&node.as_mapping().expect("a mapping")[0], package.scope(), &mut d);
            package.lines(&d)
        };
        assert_eq!(problems("requires: {agentv: '>=4'}"), ["1:12 W004 `agentv` has no effect"]);
        assert_eq!(
            problems("requires: {agentv: 4}"),
            ["1:12 W004 `agentv` has no effect", "1:20 E020 `agentv` must be text, found a number"]
        );
    }
}
