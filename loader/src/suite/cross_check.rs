//! Checks across the cases of a suite: ids, names of tests, dependencies, gates.

use std::collections::HashMap;
use std::ptr;

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::gate::{Gate, SliceKey};
use evalsuite_schema::grader::GraderConfig;
use evalsuite_schema::{Case, Grader, GraderKind, REFERENCE_ARMS, Suite, Target, WITH_SKILL};

use crate::cases::PlacedCase;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Fix, are_many, report_both};
use crate::read::node::{Entry, Node};
use crate::source::{Files, Span};
use crate::{fields, names};

/// Maximum number of cases of one suite.
pub(crate) const MAX_CASES: usize = 10_000;

/// Ids that unknown dependencies are compared with, at most.
const MAX_COMPARED: usize = 100_000;

pub(crate) fn check(cases: &[PlacedCase], files: &Files, d: &mut Diagnostics) {
    unique_ids(cases, files, d);
    unique_names(cases, files, d);
    unique_on_all_disks(cases, files, d);
    dependencies(cases, d);
}

fn unique_ids(cases: &[PlacedCase], files: &Files, d: &mut Diagnostics) {
    let mut seen: HashMap<&str, &PlacedCase> = HashMap::with_capacity(cases.len());
    for case in cases {
        let id = case.checked.case.id.as_str();
        let first = *seen.entry(id).or_insert(case);
        if !ptr::eq(first, case) {
            let (place, first) = (case.checked.id_span, first.checked.id_span);
            let message = format!("id `{id}` also at {}", shown(first, files));
            report_both(Code::DuplicateId, (place, message), (first, "first here"), "rename one", d);
        }
    }
}

/// Whether a case has criteria beside graders of which none asks a judge, or is code that might.
pub(crate) fn is_unjudged(case: &Case) -> bool {
    let may_judge = |grader: &Grader| {
        let config = &grader.config;
        config.asked_judge().is_some()
            || config.kind() == GraderKind::Command
            || matches!(config, GraderConfig::User { .. })
    };
    case.criteria.is_some()
        && case.conversation.is_none()
        && !case.graders.is_empty()
        && !case.graders.iter().flat_map(Grader::with_members).any(may_judge)
}

/// Criteria beside graders of which none asks a judge, or is code that might: such criteria check nothing.
pub(crate) fn unjudged_criteria(cases: &[PlacedCase], place: Span, d: &mut Diagnostics) {
    // A grader with an error may be the one that judges.
    if d.has_errors() {
        return;
    }
    let mut unjudged = cases.iter().filter(|placed| is_unjudged(&placed.checked.case));
    let Some(first) = unjudged.next() else { return };
    let message = match 1 + unjudged.count() {
        1 => format!("`criteria` of case `{}` are documentation only: no grader judges them", first.checked.case.id),
        number => format!("`criteria` of {number} cases are documentation only: no grader judges them"),
    };
    let help = "add `- type: llm-grader` to the assertions of the suite or the case, or allow `unjudged-criteria`";
    let (place, first) = ((Span::whole(place.file), message), (first.checked.span, "the first case"));
    report_both(Code::UnjudgedCriteria, place, first, help, d);
}

/// Two targets of the matrix must not become one module.
pub(crate) fn unique_targets(suite: &Suite, place: Span, d: &mut Diagnostics) {
    let mut seen: HashMap<String, &str> = HashMap::with_capacity(suite.targets.len());
    for target in &suite.targets {
        let name = names::segment(&target.name);
        if let Some(first) = seen.get(&name) {
            let message = format!("targets `{first}` and `{}` both become the module `{name}`", target.name);
            d.report(Code::TestNameCollision, place, message, "rename one");
        } else {
            seen.insert(name, &target.name);
        }
    }
}

/// A place as `file:line:column`.
fn shown(span: Span, files: &Files) -> String {
    let file = files.get(span.file).shown;
    match span.range {
        Some((start, _)) => format!("{file}:{}:{}", start.line, start.column),
        None => file.to_string(),
    }
}

fn unique_names(cases: &[PlacedCase], files: &Files, d: &mut Diagnostics) {
    let mut seen: HashMap<String, &PlacedCase> = HashMap::with_capacity(cases.len());
    for case in cases {
        let mut path = case.folders.join("::");
        if !path.is_empty() {
            path.push_str("::");
        }
        path.push_str(&case.function);
        match seen.get(&path) {
            None => {
                seen.insert(path, case);
            }
            // The same id twice has the same name, and was reported.
            Some(first)
                if first.checked.case.id == case.checked.case.id
                    && (are_of_one_file(first, case) || is_named_by_id(case, files)) => {}
            Some(first) => {
                let by_id = are_of_one_file(first, case);
                let label = |placed| if by_id { id_label(placed) } else { label(placed, files) };
                let (a, b) = (label(first), label(case));
                let is_id_wrong = by_id || is_named_by_id(case, files);
                let help = if is_id_wrong { "rename one" } else { "rename a file or directory" };
                let place = (case.checked.span, format!("{a} and {b} both become the test `{path}`"));
                report_both(Code::TestNameCollision, place, (first.checked.span, "first here"), help, d);
            }
        }
    }
}

/// Disks of macOS and Windows take names for one that differ only in upper and lower case: a checkout there lacks a case.
fn unique_on_all_disks(cases: &[PlacedCase], files: &Files, d: &mut Diagnostics) {
    let mut seen: HashMap<String, &PlacedCase> = HashMap::with_capacity(cases.len());
    for case in cases.iter().filter(|case| !case.source.is_empty()) {
        let first = *seen.entry(case.source.to_lowercase()).or_insert(case);
        if first.source != case.source {
            let [shown, other] = [case, first].map(|case| files.get(case.checked.span.file).shown);
            let message = format!("`{shown}` and `{other}` are one file on disks of macOS and Windows");
            d.report(Code::NamesDifferInCase, Span::whole(case.checked.span.file), message, "rename one");
        }
    }
}

/// Whether the test is called as the case's id, not as its file or directory: where a file holds several cases.
fn is_named_by_id(case: &PlacedCase, files: &Files) -> bool {
    let file = files.get(case.checked.span.file).path;
    let name = file.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    case.source.is_empty() || !evalsuite_schema::discovery::is_case_file(name.as_ref()) && !name.ends_with(".json")
}

/// Whether both are cases of a list, or of the matrix of a directory.
fn are_of_one_file(one: &PlacedCase, other: &PlacedCase) -> bool {
    one.checked.span.file == other.checked.span.file
}

fn id_label(case: &PlacedCase) -> String {
    format!("id `{}`", case.checked.case.id)
}

fn label(case: &PlacedCase, files: &Files) -> String {
    if is_named_by_id(case, files) { id_label(case) } else { format!("`{}`", files.get(case.checked.span.file).shown) }
}

fn dependencies(cases: &[PlacedCase], d: &mut Diagnostics) {
    if cases.iter().all(|case| case.checked.dependencies.is_empty()) {
        return;
    }
    let index: HashMap<&str, usize> =
        cases.iter().enumerate().map(|(index, case)| (case.checked.case.id.as_str(), index)).collect();
    for case in cases {
        for (id, span) in &case.checked.dependencies {
            if *id == case.checked.case.id {
                d.report(Code::UnknownDependency, *span, format!("`{id}` depends on itself"), "delete it");
            } else if !index.contains_key(id.as_str()) {
                // Searching all ids is slow: it is skipped if there are many mistakes.
                let others = || index.keys().copied().filter(|other| *other != case.checked.case.id);
                let is_slow = are_many(d) || d.len() * index.len() > MAX_COMPARED;
                let near = if is_slow { None } else { suggest::did_you_mean(id, others()) };
                // Without a near id none is certain.
                let meant = near.as_ref().and_then(|_| suggest::certain(id, others()));
                let help = near.unwrap_or_else(|| "name the id of a case of this suite".to_owned());
                let message = format!("`depends_on` names `{id}`, which is not a case");
                let problem = Diagnostic::new(Code::UnknownDependency, message).at(*span).help(help);
                d.push(problem.fix_if(meant.map(|meant| Fix::Replace(meant.to_owned()))));
            }
        }
    }
    cycles(cases, &index, d);
}

#[derive(Clone, Copy, PartialEq)]
enum VisitState {
    New,
    /// On the way that is being walked.
    Open,
    Done,
}

/// Reports each cycle once, at the edge that closes it. Walks without recursion: chains can be long.
fn cycles(cases: &[PlacedCase], index: &HashMap<&str, usize>, d: &mut Diagnostics) {
    let mut state = vec![VisitState::New; cases.len()];
    for start in 0..cases.len() {
        if state[start] != VisitState::New {
            continue;
        }
        let mut way = vec![(start, 0)];
        state[start] = VisitState::Open;
        while let Some((case, edge)) = way.last_mut() {
            let checked = &cases[*case].checked;
            let Some((id, span)) = checked.dependencies.get(*edge) else {
                state[*case] = VisitState::Done;
                way.pop();
                continue;
            };
            *edge += 1;
            let Some(&next) = index.get(id.as_str()) else { continue };
            if next == *case {
                continue;
            }
            match state[next] {
                VisitState::New => {
                    state[next] = VisitState::Open;
                    way.push((next, 0));
                }
                VisitState::Done => {}
                VisitState::Open => {
                    let from = way.iter().position(|(case, _)| *case == next).unwrap_or(0);
                    let mut names: Vec<&str> =
                        way[from..].iter().map(|(case, _)| cases[*case].checked.case.id.as_str()).collect();
                    names.push(id);
                    let chain = names.join(" -> ");
                    d.report(Code::DependencyCycle, *span, format!("`depends_on` cycle: {chain}"), "remove one edge");
                }
            }
        }
    }
}

/// The gates as they are written; those that are not valid are reported. `targets`: the matrix of the suite.
pub(crate) fn read_gates(entry: &Entry, targets: &[Target], d: &mut Diagnostics) -> Vec<String> {
    let Some(items) = entry.value.as_sequence() else {
        return fields::wrong_type(&entry.value, "`gates`", "a list", d).unwrap_or_default();
    };
    if items.is_empty() {
        let help = "write a gate, such as `pass_rate >= 90%`, or delete the key";
        d.report(Code::InvalidGate, entry.value.span, "`gates` is empty", help);
    }
    items.iter().filter_map(|item| gate(item, targets, d)).collect()
}

fn gate(node: &Node, targets: &[Target], d: &mut Diagnostics) -> Option<String> {
    let text = fields::literal_text(node, "a gate", d)?;
    let invalid = |message: String, help: String, d| fields::reject(Code::InvalidGate, node.span, message, help, d);
    let gate: Gate = match text.parse() {
        Ok(gate) => gate,
        Err(error) => {
            return invalid(format!("{} in gate `{}`", error.message(), text.trim()), error.help().to_owned(), d);
        }
    };
    let keys = gate.selected().iter().map(|(key, _)| key).chain(gate.per());
    if keys.into_iter().any(|key| *key == SliceKey::Suite) {
        let message = "a gate of a suite is about this suite only".to_owned();
        return invalid(message, "delete `suite`".to_owned(), d);
    }
    let is_compared = |name: &str| match gate.compared_target() {
        Some(other) => name == other,
        None => REFERENCE_ARMS.contains(&name),
    };
    let has =
        |is_meant: &dyn Fn(&str) -> bool| targets.is_empty() || targets.iter().any(|target| is_meant(&target.name));
    if gate.measure().is_lift() && !(has(&|name| name == WITH_SKILL) && has(&is_compared)) {
        let other = gate.compared_target().map_or_else(|| REFERENCE_ARMS.join("` or `"), str::to_owned);
        let message = format!("`{}` compares target `{WITH_SKILL}` with `{other}`", gate.measure().as_str());
        return invalid(message, "add both to the targets of the suite".to_owned(), d);
    }
    let named = gate.selected().iter().filter(|(key, _)| *key == SliceKey::Target).map(|(_, name)| name.as_str());
    let is_known = |name: &&str| targets.is_empty() || targets.iter().any(|target| target.name == *name);
    if let Some(unknown) = named.into_iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let message = format!("target `{unknown}` is not in `execution.targets` of the suite");
        return invalid(message, suggest::did_you_mean_or_known(unknown, &names), d);
    }
    Some(gate.to_string())
}
