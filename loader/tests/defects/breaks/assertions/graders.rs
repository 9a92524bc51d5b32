//! Common settings of graders, and those of the built-in types.

use evalsuite_schema::diagnostics::Code;

use super::super::{Breaks, Site, join, list, map, number, text};
use crate::render::{Part, Syntax};
use crate::tree::{
    Body, Node, Rule, any_text, boolean, entry, integer, keys, list as node_list, name, number as num, open,
};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    types(breaks);
    names(breaks);
    labels(breaks);
    patterns(breaks);
    limits(breaks);
    trajectories(breaks);
    fields(breaks);
    code_graders(breaks);
    weights(breaks);
}

fn types(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("type") {
        for removed in ["llm-judge", "code_judge"] {
            breaks.replace(Code::RemovedGraderType, "a type of an old version", &site, text(removed));
        }
        if site.node.text() == Some("rubrics") {
            breaks.replace(Code::DeprecatedKey, "the type `rubric`", &site, text("rubric"));
        }
    }
    for site in breaks.tagged("required") {
        let Some(grader) = breaks.around(&site) else { continue };
        match grader.node.get("min_score") {
            None => drop(breaks.replace(Code::DeprecatedValue, "`required` with a mark", &site, number("0.7"))),
            Some(_) => {
                let path = site.path.clone();
                breaks.local(Code::ConflictingKeys, "`required` with a second mark", &site, move |root| {
                    root.at_mut(&path).body = number("0.7");
                    (path.clone(), Part::Key)
                });
            }
        }
        for bad in [number("0"), number("1.5")] {
            breaks.replace(Code::WrongType, "`required` with a mark that is none", &site, bad);
        }
    }
}

fn names(breaks: &mut Breaks<'_>) {
    for tag in ["assertions", "turn assertions", "members"] {
        for list in breaks.tagged(tag) {
            // The suite's graders are put together with a case's, and nothing says that a case wants them.
            if tag == "assertions" && breaks.within(&list, "case").is_none() {
                continue;
            }
            let named: Vec<(usize, usize, &str)> = list
                .node
                .items()
                .iter()
                .enumerate()
                .filter_map(|(index, item)| {
                    item.find("name").map(|(at, name)| (index, at, name.text().unwrap_or_default()))
                })
                .collect();
            for pair in named.windows(2) {
                let ((_, _, first), (index, at, _)) = (pair[0], pair[1]);
                let site = Site { path: join(&join(&list.path, index), at), ..list.clone() };
                let code = if tag == "members" { Code::InvalidComposite } else { Code::RepeatedGraderName };
                breaks.replace(code, format!("a name twice among {tag}"), &site, text(first));
            }
        }
    }
}

fn labels(breaks: &mut Breaks<'_>) {
    for site in breaks.sites() {
        let is_of_cases = site.node.get("type").is_some();
        if is_of_cases && matches!(site.node.rule, Rule::Keys("is-json" | "code-grader")) {
            breaks.insert(Code::NoEffect, "`id` of a grader", &site, "id", any_text("AMOUNT"));
        }
    }
}

fn patterns(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("pattern") {
        for bad in ["(", "[a", "a)", r"\p{Foo}", "(?<n", r"(a)\2", "*", "(((a{1000}){1000}){1000})"] {
            breaks.replace(Code::InvalidRegex, format!("the pattern {bad}"), &site, text(bad));
        }
        let is_negated = breaks
            .around(&site)
            .is_some_and(|grader| matches!(grader.node.get("negate"), Some(Node { body: Body::Bool(true), .. })));
        let (always, never) = match is_negated {
            true => (Code::GraderCannotPass, Code::GraderCannotFail),
            false => (Code::GraderCannotFail, Code::GraderCannotPass),
        };
        breaks.replace(always, "a pattern that matches every text", &site, text("(refund)?"));
        breaks.replace(never, "a pattern that matches no text", &site, text("(?!)"));
        breaks.replace(Code::ControlCharacter, "a pattern with a backspace", &site, text("\u{8}refund"));
        if site.syntax != Syntax::Json {
            breaks.replace(Code::CheckedAtRunTime, "a pattern that is interpolated", &site, text("(${{ PATTERN }}"));
        }
    }
    for site in breaks.tagged("flags") {
        for bad in ["q", "ii", "I", "imi", "i m"] {
            breaks.replace(Code::InvalidRegex, format!("the flags {bad}"), &site, text(bad));
        }
        for flag in ["g", "iy"] {
            breaks.replace(Code::IgnoredRegexFlag, format!("the flags {flag}"), &site, text(flag));
        }
    }
    for site in breaks.tagged("values") {
        breaks.replace(Code::BlankValue, "no values", &site, list([]));
    }
}

fn limits(breaks: &mut Breaks<'_>) {
    let limits = [
        "max_total",
        "max_input",
        "max_output",
        "max_tool_calls",
        "min_tool_calls",
        "max_llm_calls",
        "min_llm_calls",
        "max_tokens",
        "max_cost_usd",
        "max_duration_ms",
        "target_exploration_ratio",
    ];
    for grader in breaks.sites() {
        if grader.node.get("type").and_then(Node::text) != Some("latency") {
            continue;
        }
        if let Some((index, _)) = grader.node.find("threshold") {
            let site = Site { path: join(&grader.path, index), ..grader.clone() };
            breaks.replace(Code::UnlikelyLimit, "seconds", &site, number("0.5"));
        }
    }
    for site in breaks.tagged("only limit") {
        let Some(grader) = breaks.around(&site) else { continue };
        breaks.remove(Code::MissingGraderSetting, "a grader without limits", &grader, &limits);
    }
}

fn trajectories(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("trajectory mode") {
        let Some(grader) = breaks.around(&site) else { continue };
        let (key, value) = match site.node.text() {
            Some("any_order") => ("expected", node_list([keys("").put("tool", name("search"))])),
            _ => ("minimums", open([("search", integer(1, 0, 9))])),
        };
        breaks.insert(Code::SettingConflict, format!("`{key}` in another mode"), &grader, key, value);
    }
    for tag in ["minimums", "maximums"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::MissingGraderSetting, format!("no {tag}"), &site, map([]));
        }
    }
    for site in breaks.tagged("expected calls") {
        let mode = breaks.around(&site).and_then(|grader| grader.node.get("mode").and_then(Node::text));
        if mode == Some("in_order") {
            breaks.replace(Code::MissingGraderSetting, "no calls in order", &site, list([]));
        }
        if matches!(mode, Some("superset" | "subset")) {
            let Some(Body::Map(_)) = site.node.items().first().map(|call| &call.body) else { continue };
            let call = Site { path: join(&site.path, 0), node: &site.node.items()[0], ..site.clone() };
            breaks.insert(Code::SettingConflict, "a limit without order", &call, "max_duration_ms", num(5));
        }
    }
    for tag in ["args match", "argument paths", "call args match"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::MissingGraderSetting, "no paths of arguments", &site, list([]));
            for bad in ["Exact", "", "any"] {
                breaks.replace(Code::InvalidChoice, format!("arguments match {bad:?}"), &site, text(bad));
            }
        }
    }
    for site in breaks.tagged("call args match") {
        let place = join(&site.path, 1);
        let path = site.path.clone();
        breaks.local(Code::SettingConflict, "a path that is not in the arguments", &site, move |root| {
            root.at_mut(&path).body = list([text("order.id"), text("order.nr")]);
            (place.clone(), Part::Value)
        });
    }
    for site in breaks.tagged("args") {
        if matches!(site.node.body, Body::Text(_)) {
            breaks.replace(Code::WrongType, "arguments that are a word", &site, text("some"));
        }
    }
}

fn fields(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("fields") {
        breaks.replace(Code::MissingGraderSetting, "no fields", &site, list([]));
        let path = site.path.clone();
        breaks.local(Code::ZeroTotalWeight, "fields without weight", &site, move |root| {
            for field in root.items_at(&path) {
                set(field, "weight", number("0"));
            }
            (path.clone(), Part::Value)
        });
    }
    for site in breaks.tagged("field path") {
        for bad in ["order.idd", "order.items[7].price", "Due"] {
            breaks.replace(Code::FieldNotInExpected, "a field that is not in the reference", &site, text(bad));
        }
    }
    for site in breaks.tagged("field") {
        let matching = site.node.get("match").and_then(Node::text).unwrap_or_default();
        if matching != "numeric_tolerance" {
            breaks.insert(Code::SettingConflict, "`tolerance` of another match", &site, "tolerance", num(1));
            breaks.insert(Code::SettingConflict, "`relative` of another match", &site, "relative", boolean(true));
        }
        if matching != "date" {
            let formats = node_list([any_text("YYYY-MM-DD")]);
            breaks.insert(Code::SettingConflict, "`formats` of another match", &site, "formats", formats);
        }
    }
    for case in breaks.tagged("case") {
        let Some((_, list)) = case.node.find("assertions") else { continue };
        let Some((at, _)) = case.node.find("expected_output") else { continue };
        let compared = list.items().iter().position(|item| item.get("fields").is_some());
        let Some(grader) = compared else { continue };
        let path = case.path.clone();
        breaks.local(Code::FieldNotInExpected, "a reference that is not a document", &case, move |root| {
            let entries = root.entries_at(&path);
            entries[at].value.body = text("Order 1182");
            let assertions = entries.iter().position(|entry| entry.key == "assertions").unwrap_or_default();
            (join(&join(&path, assertions), grader), Part::Value)
        });
    }
}

pub(super) fn set(node: &mut Node, key: &str, body: Body) {
    let entries = node.entries_at(&[]);
    match entries.iter_mut().find(|entry| entry.key == key) {
        Some(entry) => entry.value.body = body,
        None => entries.push(entry(key, Node::new(body))),
    }
}

fn code_graders(breaks: &mut Breaks<'_>) {
    let graders: Vec<Site<'_>> = breaks
        .sites()
        .into_iter()
        .filter(|site| matches!(site.node.rule, Rule::Keys("code-grader")) && site.node.get("command").is_some())
        .collect();
    for site in graders {
        breaks.insert(Code::UnsupportedKey, "`target` of a code-grader", &site, "target", any_text("gpt"));
        if site.node.get("config").is_some() {
            breaks.insert(Code::ConflictingKeys, "a setting of a command twice", &site, "currency", any_text("USD"));
        }
    }
}

fn weights(breaks: &mut Breaks<'_>) {
    let has_suite_graders = breaks.only("eval file").is_some_and(|root| root.node.get("assertions").is_some());
    for case in breaks.tagged("case") {
        let skips = case.node.get("execution").is_some_and(|execution| execution.get("skip_defaults").is_some());
        let Some((index, list)) = case.node.find("assertions") else { continue };
        let is_simple = list.items().iter().all(|item| item.tag == "grader");
        if !is_simple || has_suite_graders && !skips {
            continue;
        }
        let path = join(&case.path, index);
        breaks.local(Code::ZeroTotalWeight, "graders without weight", &case, move |root| {
            for grader in root.items_at(&path) {
                set(grader, "weight", number("0"));
            }
            (join(&path, 0), Part::Value)
        });
    }
}
