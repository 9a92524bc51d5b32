//! Ids, dependencies, and what a case needs to be one.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, Site, join, list, number, text};
use crate::project::Layout;
use crate::render::{Part, Syntax};
use crate::tree::{Body, Node, Rule, any_text, entry, name};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    ids(breaks);
    repeated_ids(breaks);
    dependencies(breaks);
    nothing_to_grade(breaks);
    grader_like_texts(breaks);
    references(breaks);
    variables(breaks);
    leftovers(breaks);
    tasks(breaks);
}

/// A name between braces in a case with variables, of which it is none.
fn variables(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("plain assertion") {
        if breaks.within(&site, "case").is_some_and(|case| case.node.get("vars").is_some()) {
            breaks.replace(Code::UnknownVariable, "an unknown variable", &site, text("Says {{ amout }}"));
        }
    }
}

fn ids(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("id") {
        for bad in [number("12"), Body::Bool(true), text(" "), text(""), text("a\u{7}b"), text("a\nb"), list([])] {
            breaks.replace(Code::InvalidId, "an id that is none", &site, bad).follow_ups = &[Code::UnknownDependency];
        }
    }
}

/// The second of two cases gets the id of the first. Files are read by the order of their bytes, lists from the top.
fn repeated_ids(breaks: &mut Breaks<'_>) {
    let ids = breaks.tagged("id");
    for pair in ids.windows(2) {
        let (first, second) = (&pair[0], &pair[1]);
        let in_order = first.file == second.file || matches!(breaks.project.layout, Layout::Tasks);
        // Case directories may have no id: their names are ids as well.
        if !in_order {
            continue;
        }
        let id = first.node.text().unwrap_or_default();
        let added = breaks.replace(Code::DuplicateId, "an id twice", second, text(id));
        added.follow_ups = &[Code::UnknownDependency, Code::DependencyCycle];
        added.is_local = false;
        if breaks.is_tasks() {
            continue;
        }
        // Two ids, one test.
        let other = format!("{id}!");
        let same: String = format!("{id}?");
        let (file, first_path, path) = (first.file.to_owned(), first.path.clone(), second.path.clone());
        let case = breaks.around(second).map(|case| case.path).unwrap_or_default();
        let added = breaks.push(Code::TestNameCollision, "two ids, one test", vec![file.clone()], move |project| {
            let root = &mut project.data_mut(&file).root;
            root.at_mut(&first_path).body = text(&other);
            root.at_mut(&path).body = text(&same);
            vec![Expected {
                code: Code::TestNameCollision,
                file: file.clone(),
                place: Place::At(case.clone(), Part::Value, 0),
            }]
        });
        added.follow_ups = &[Code::UnknownDependency, Code::DependencyCycle];
    }
}

fn dependencies(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("dependency") {
        breaks.replace(Code::UnknownDependency, "a dependency that is not a case", &site, text("setpu"));
        let Some(case) = breaks.within(&site, "case") else { continue };
        let Some(id) = case.node.get("id").and_then(Node::text) else { continue };
        breaks.replace(Code::UnknownDependency, "a dependency on itself", &site, text(id));
    }
    for case in breaks.tagged("case") {
        if case.node.get("depends_on").is_none() {
            breaks.insert(Code::NoEffect, "`on_dependency_failure` alone", &case, "on_dependency_failure", name("run"));
        }
    }
    cycle(breaks);
}

/// Two cases of one list that depend on each other: the second closes the cycle.
fn cycle(breaks: &mut Breaks<'_>) {
    let cases: Vec<Site<'_>> = breaks.tagged("case").into_iter().filter(|case| case.node.get("id").is_some()).collect();
    for pair in cases.windows(2) {
        let (first, second) = (&pair[0], &pair[1]);
        let id = |site: &Site<'_>| site.node.get("id").and_then(Node::text).unwrap_or_default().to_owned();
        if first.file != second.file {
            continue;
        }
        let (file, paths, ids) =
            (first.file.to_owned(), [first.path.clone(), second.path.clone()], [id(first), id(second)]);
        breaks.push(Code::DependencyCycle, "two cases that wait for each other", vec![file.clone()], move |project| {
            let root = &mut project.data_mut(&file).root;
            let mut place = Vec::new();
            for (path, other) in paths.iter().zip(ids.iter().rev()) {
                let entries = root.entries_at(path);
                entries.retain(|entry| entry.key != "depends_on");
                entries.push(entry("depends_on", crate::tree::list([any_text(other)])));
                place = join(&join(path, entries.len() - 1), 0);
            }
            vec![Expected { code: Code::DependencyCycle, file: file.clone(), place: Place::At(place, Part::Value, 0) }]
        });
    }
}

fn nothing_to_grade(breaks: &mut Breaks<'_>) {
    let has_suite_graders = breaks.only("eval file").is_some_and(|root| root.node.get("assertions").is_some());
    for case in breaks.tagged("case") {
        let skips = case.node.get("execution").is_some_and(|execution| execution.get("skip_defaults").is_some());
        if case.node.get("mode").is_some() || has_suite_graders && !skips {
            continue;
        }
        let keys = ["criteria", "assertions", "expected_output"];
        let added = breaks.remove(Code::NothingToGrade, "a case that cannot be graded", &case, &keys);
        added.follow_ups = &[Code::MissingReferenceSolution];
        let (path, file) = (case.path.clone(), case.file.to_owned());
        let added = breaks.push(
            Code::UngradedCase,
            "a case with an empty list of assertions",
            vec![file.clone()],
            move |project| {
                let entries = project.data_mut(&file).root.entries_at(&path);
                entries.retain(|entry| !["criteria", "expected_output", "assertions"].contains(&entry.key.as_str()));
                entries.push(entry("assertions", crate::tree::list([])));
                vec![Expected {
                    code: Code::UngradedCase,
                    file: file.clone(),
                    place: Place::At(path.clone(), Part::Value, 0),
                }]
            },
        );
        added.follow_ups = &[Code::MissingReferenceSolution];
    }
}

fn references(breaks: &mut Breaks<'_>) {
    let Some(root) = breaks.only("suite.json") else { return };
    let is_required = ["requireReferenceSolution", "require_reference_solution"]
        .iter()
        .any(|key| matches!(root.node.get(key).map(|value| &value.body), Some(Body::Bool(true))));
    if !is_required {
        return;
    }
    let (tag, key) = if breaks.is_tasks() { ("task", "reference_solution") } else { ("case", "expected_output") };
    for site in breaks.tagged(tag) {
        let added = breaks.remove(Code::MissingReferenceSolution, format!("no `{key}`"), &site, &[key]);
        added.follow_ups = &[Code::FieldNotInExpected];
        // suite.json says so.
        added.is_local = false;
    }
}

/// A plain text that looks like a grader, at the end of the list of a case.
fn grader_like_texts(breaks: &mut Breaks<'_>) {
    for case in breaks.tagged("case") {
        let Some((index, Body::List(items))) = case.node.find("assertions").map(|(index, node)| (index, &node.body))
        else {
            continue;
        };
        let (path, file, last) = (join(&case.path, index), case.file.to_owned(), items.len());
        breaks.push(Code::GraderLikeCriterion, "a text like a grader", vec![file.clone()], move |project| {
            if let Body::List(items) = &mut project.data_mut(&file).root.at_mut(&path).body {
                items.push(any_text("contains hello"));
            }
            let place = Place::At(join(&path, last), Part::Value, 0);
            vec![Expected { code: Code::GraderLikeCriterion, file: file.clone(), place }]
        });
    }
}

/// Keys of other versions.
fn leftovers(breaks: &mut Breaks<'_>) {
    for case in breaks.tagged("case") {
        breaks.insert(Code::NoEffect, "`suite` of a case", &case, "suite", any_text("refunds"));
        breaks.insert(Code::NoEffect, "`reference_answer`", &case, "reference_answer", any_text("Approved"));
        breaks.insert(Code::DeprecatedKey, "`evaluator` of a case", &case, "evaluator", name("llm-grader"));
        let rubrics = crate::tree::list([any_text("Stays polite")]);
        breaks.insert(Code::DeprecatedKey, "`rubrics` of a case", &case, "rubrics", rubrics);
        let (path, index) = (case.path.clone(), case.node.entries().len());
        let file = case.file.to_owned();
        breaks.push(Code::InvalidChoice, "an unknown `evaluator`", vec![file.clone()], move |project| {
            project.data_mut(&file).root.entries_at(&path).push(entry("evaluator", name("code-grader")));
            let place = |part| Place::At(join(&path, index), part, 0);
            vec![
                Expected { code: Code::DeprecatedKey, file: file.clone(), place: place(Part::Key) },
                Expected { code: Code::InvalidChoice, file: file.clone(), place: place(Part::Value) },
            ]
        });
    }
}

fn tasks(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("task graders") {
        breaks.replace(Code::NoGraders, "a task without graders", &site, list([]));
    }
    for site in breaks.sites() {
        if site.syntax == Syntax::Json && matches!(site.node.rule, Rule::Keys("suite.json")) {
            breaks.insert(Code::UnknownKey, "a key of an eval file in suite.json", &site, "description", any_text("x"));
        }
    }
}
