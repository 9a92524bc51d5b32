//! Settings of suites and of cases outside of their graders.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, join, number, text};
use crate::project::Layout;
use crate::render::Part;
use crate::tree::{Body, Node, any_text, boolean, list as node_list, name};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    eval_file(breaks);
    suite_execution(breaks);
    case_execution(breaks);
    strategies(breaks);
    matrix(breaks);
    sealing(breaks);
}

fn sealing(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("ports") {
        breaks.replace(Code::OutOfRange, "no ports", &site, Body::List(Vec::new()));
    }
    for site in breaks.tagged("opened path") {
        for (code, bad) in [
            (Code::MissingPath, "./nowhere"),
            (Code::MissingPath, "~agent/nowhere"),
            (Code::PathEscape, "../../../../../../../../../../../../srv/data"),
        ] {
            breaks.replace(code, format!("{bad} is opened"), &site, text(bad));
        }
    }
}

fn eval_file(breaks: &mut Breaks<'_>) {
    let Some(root) = breaks.only("eval file") else { return };
    for site in breaks.tagged("suite name") {
        for bad in ["My Suite", "", "größe", "a.b", &"a".repeat(65)] {
            breaks.replace(Code::InvalidSuiteName, format!("a suite called {bad:?}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("suite description") {
        breaks.replace(Code::OutOfRange, "a long description", &site, text(&"ä".repeat(1025)));
    }
    for site in breaks.tagged("gate") {
        for bad in ["pass_rate", "pas_rate >= 0.9", "score >= 2", "suite:a score >= 0.5", "cost <= 2 per suite"] {
            breaks.replace(Code::InvalidGate, "a gate that is none", &site, text(bad));
        }
    }
    for site in breaks.tagged("gates") {
        breaks.replace(Code::InvalidGate, "no gates", &site, Body::List(Vec::new()));
    }
    for site in breaks.tagged("version") {
        for bad in [">=99", "newest", "=0.0.1"] {
            breaks.replace(Code::OutOfRange, "a version that is not this one", &site, text(bad));
        }
    }
    for site in breaks.sites() {
        if matches!(site.node.rule, crate::tree::Rule::Keys("`requires`"))
            && site.path.len() == 1
            && site.file == root.file
        {
            breaks.insert(Code::NoEffect, "`requires.agentv`", &site, "agentv", any_text(">=4"));
        }
    }
    for site in breaks.tagged("canary") {
        for bad in ["3f0c9b52", "3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e4g", "{3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46}"] {
            breaks.replace(Code::OutOfRange, format!("the canary {bad}"), &site, text(bad));
        }
    }
    breaks.insert(Code::DeprecatedKey, "`evaluator`", &root, "evaluator", name("llm-grader"));
    breaks.insert(Code::NoEffect, "`dataset`", &root, "dataset", any_text("refunds"));
    breaks.insert(Code::NoEffect, "`defaults`", &root, "defaults", any_text("refunds"));
    let execution = root.node.get("execution");
    match execution.and_then(|execution| execution.find("target")) {
        Some(_) => {
            let added = breaks.insert(Code::ConflictingKeys, "`target` twice", &root, "target", name("other"));
            added.follow_ups = &[Code::DeprecatedKey];
        }
        None if execution.is_none_or(|execution| execution.get("targets").is_none()) => {
            breaks.insert(Code::DeprecatedKey, "`target` of the suite", &root, "target", name("other"));
        }
        None => {}
    }
}

fn suite_execution(breaks: &mut Breaks<'_>) {
    let Some(site) = breaks.only("suite execution") else { return };
    for key in ["total_budget_usd", "totalBudgetUsd"] {
        breaks.insert(Code::UnsupportedKey, "a budget of an old version", &site, key, Node::new(number("3")));
    }
    breaks.insert(Code::SettingConflict, "`skip_defaults` in a suite", &site, "skip_defaults", boolean(true));
    breaks.insert(Code::NoEffect, "`cache`", &site, "cache", boolean(true));
    breaks.insert(Code::NoEffect, "`cache_path`", &site, "cache_path", any_text(".cache"));
    let (file, path, index) = (site.file.to_owned(), site.path.clone(), site.node.entries().len());
    breaks.push(Code::NoEffect, "`cachePath`", vec![file.clone()], move |project| {
        project.data_mut(&file).root.entries_at(&path).push(crate::tree::entry("cachePath", any_text(".cache")));
        [Code::DeprecatedKey, Code::NoEffect]
            .map(|code| Expected { code, file: file.clone(), place: Place::At(join(&path, index), Part::Key, 0) })
            .to_vec()
    });
    let has_assertions = breaks.only("eval file").is_some_and(|root| root.node.get("assertions").is_some());
    old_assertions(&site, has_assertions, breaks);
    match (site.node.get("target"), site.node.get("targets")) {
        (Some(_), _) => {
            let targets = node_list([name("a")]);
            let added = breaks.insert(Code::ConflictingKeys, "`targets` beside `target`", &site, "targets", targets);
            // Cases name other targets.
            added.follow_ups = &[Code::InvalidTarget];
        }
        (None, Some(_)) => {
            let (path, targets) = (site.path.clone(), site.node.find("targets").map_or(0, |(index, _)| index));
            let added = breaks.local(Code::ConflictingKeys, "`target` beside `targets`", &site, move |root| {
                root.entries_at(&path).push(crate::tree::entry("target", name("gpt")));
                (join(&path, targets), Part::Key)
            });
            added.follow_ups = &[Code::InvalidTarget];
        }
        _ => {}
    }
}

/// Assertions under `execution`, where old versions had them.
fn old_assertions(site: &super::Site<'_>, has_assertions: bool, breaks: &mut Breaks<'_>) {
    let code = if has_assertions { Code::ConflictingKeys } else { Code::DeprecatedKey };
    let is_case = site.node.tag == "case execution";
    for key in ["assertions", "assert", "evaluators"] {
        let list = node_list([any_text("Stays polite")]);
        let (file, path, index) = (site.file.to_owned(), site.path.clone(), site.node.entries().len());
        let what = format!("`execution.{key}` of a {}", if is_case { "case" } else { "suite" });
        breaks.push(code, what, vec![file.clone()], move |project| {
            project.data_mut(&file).root.entries_at(&path).push(crate::tree::entry(key, list.clone()));
            let place = Place::At(join(&path, index), Part::Key, 0);
            let mut expected = vec![Expected { code: Code::DeprecatedKey, file: file.clone(), place: place.clone() }];
            if has_assertions {
                expected.push(Expected { code, file: file.clone(), place });
            }
            expected
        });
    }
}

fn case_execution(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("case execution") {
        let Some(case) = breaks.within(&site, "case") else { continue };
        old_assertions(&site, case.node.get("assertions").is_some(), breaks);
        let has_matrix = breaks.only("matrix").is_some();
        if !has_matrix && ["target", "targets"].iter().all(|key| site.node.get(key).is_none()) {
            let (path, index) = (site.path.clone(), site.node.entries().len());
            breaks.local(Code::InvalidTarget, "a part of a matrix that is not there", &site, move |root| {
                root.entries_at(&path).push(crate::tree::entry("targets", node_list([name("gpt")])));
                (join(&join(&path, index), 0), Part::Value)
            });
        }
    }
    for site in breaks.tagged("chosen target") {
        breaks.replace(Code::InvalidTarget, "a target that is not in the matrix", &site, text("gtp"));
    }
}

fn strategies(breaks: &mut Breaks<'_>) {
    let kind = breaks.only("kind").and_then(|kind| kind.node.text());
    let is_capability = match breaks.project.layout {
        Layout::Tasks => return,
        Layout::Combined => kind == Some("capability"),
        _ => kind.is_none_or(|kind| kind == "capability"),
    };
    for site in breaks.tagged("trials") {
        let path = site.path.clone();
        let is_interval = Some("confidence_interval");
        if site.node.get("strategy").and_then(|strategy| strategy.text()) != is_interval {
            continue;
        }
        breaks.local(Code::SettingConflict, "`correlated` with an interval", &site, move |root| {
            root.entries_at(&path).push(crate::tree::entry("correlated", boolean(true)));
            let entries = root.entries_at(&path);
            let strategy = entries.iter().position(|entry| entry.key == "strategy").unwrap_or_default();
            (join(&path, strategy), Part::Value)
        });
    }
    if is_capability {
        return;
    }
    for site in breaks.tagged("strategy") {
        let added =
            breaks.replace(Code::SettingConflict, "`pass_at_k` where every trial counts", &site, text("pass_at_k"));
        // The suite's file says so.
        added.is_local = false;
    }
}

fn matrix(breaks: &mut Breaks<'_>) {
    let Some(site) = breaks.only("matrix") else { return };
    let path = site.path.clone();
    breaks.local(Code::InvalidTarget, "a target twice", &site, move |root| {
        let items = root.items_at(&path);
        items.push(name("gpt"));
        (join(&path, items.len() - 1), Part::Value)
    });
    breaks.replace(Code::OutOfRange, "an empty matrix", &site, Body::List(Vec::new())).follow_ups =
        &[Code::InvalidTarget];
}
