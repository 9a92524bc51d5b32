//! What people say about answers.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, Site, join, list, map, number, text};
use crate::generate::asks;
use crate::render::{Part, Syntax};
use crate::tree::{Body, Node, any_text, name};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    ids(breaks);
    cases(breaks);
    own(breaks);
    graders(breaks);
    too_few(breaks);
    lists(breaks);
    files(breaks);
}

fn ids(breaks: &mut Breaks<'_>) {
    let ids = breaks.tagged("sample id");
    for site in &ids {
        for bad in [number("12"), Body::Bool(true), text(" "), text(""), text("a\u{7}b"), list([])] {
            breaks.replace(Code::InvalidId, "an id of a sample that is none", site, bad);
        }
    }
    for pair in ids.windows(2) {
        let first = pair[0].node.text().unwrap_or_default();
        breaks.replace(Code::DuplicateId, "an id of a sample twice", &pair[1], text(first));
    }
}

/// Samples that name a case. All cases are known only if none has a problem.
fn cases(breaks: &mut Breaks<'_>) {
    let has_suite_graders = breaks.only("eval file").is_some_and(|root| root.node.get("assertions").is_some());
    let mut unusable = vec![("a sample of no case", "nobody".to_owned())];
    for case in breaks.tagged("case") {
        let Some(id) = case.node.get("id").and_then(Node::text).map(str::to_owned) else { continue };
        let skips = case.node.get("execution").is_some_and(|execution| execution.get("skip_defaults").is_some());
        let list = case.node.get("assertions").map_or(&[][..], Node::items);
        if case.node.get("mode").is_some() {
            unusable.push(("a sample of a conversation", id));
        } else if (skips || !has_suite_graders) && list.iter().all(|item| item.tag == "grader" && !asks_at_all(item)) {
            unusable.push(("a sample of a case without a judge", id));
        }
    }
    for site in breaks.tagged("sample case") {
        for (what, id) in &unusable {
            breaks.replace(Code::UnknownSampleCase, *what, &site, text(id)).is_local = false;
        }
        let Some(sample) = breaks.around(&site) else { continue };
        for (key, value) in
            [("input", any_text("Hello")), ("criteria", name("Polite")), ("expected_output", name("Hi"))]
        {
            breaks.insert(Code::ConflictingKeys, format!("`{key}` beside `case`"), &sample, key, value);
        }
    }
    for site in breaks.tagged("sample grader") {
        let added = breaks.replace(Code::UnknownSampleCase, "a judge that the case does not have", &site, text("toen"));
        added.is_local = false;
        let Some(sample) = breaks.around(&site) else { continue };
        let case = sample.node.get("case").and_then(Node::text).unwrap_or_default();
        let (Some((case_at, _)), Some((grader_at, _))) = (sample.node.find("case"), sample.node.find("grader")) else {
            continue;
        };
        if count_judges(case, breaks) < 2 {
            continue;
        }
        let path = sample.path.clone();
        let added = breaks.local(Code::UnknownSampleCase, "one of several judges", &sample, move |root| {
            root.entries_at(&path).remove(grader_at);
            (join(&path, case_at - usize::from(grader_at < case_at)), Part::Value)
        });
        added.is_local = false;
    }
}

fn asks_at_all(grader: &Node) -> bool {
    let mut found = false;
    grader.walk(&mut Vec::new(), &mut |_, node| found |= asks(node));
    found
}

/// At least how many graders of the case ask a judge.
fn count_judges(id: &str, breaks: &Breaks<'_>) -> usize {
    let mut count = 0;
    for site in breaks.sites().iter().filter(|site| matches!(site.node.tag, "case" | "task")) {
        let is_it = match site.node.get("id") {
            Some(own) => own.text() == Some(id),
            None => site.file.rsplit('/').nth(1) == Some(id),
        };
        if is_it {
            let is_judge = |node: &Node| {
                asks(node) || node.tag == "task grader" && asks_in_task(node.get("name").and_then(Node::text))
            };
            site.node.walk(&mut Vec::new(), &mut |_, node| count += usize::from(is_judge(node)));
        }
    }
    count
}

fn asks_in_task(name: Option<&str>) -> bool {
    matches!(name, Some("llm-grader" | "rubrics" | "compare"))
}

/// Samples that name no case.
fn own(breaks: &mut Breaks<'_>) {
    let has_grader = breaks.only("sample judge").is_some();
    for site in breaks.tagged("own sample") {
        breaks.insert(Code::SettingConflict, "`grader` of no case", &site, "grader", name("tone"));
        if !has_grader {
            let keys = ["criteria", "expected_output"];
            breaks.remove(Code::MissingGraderSetting, "a sample with nothing to judge by", &site, &keys);
        }
    }
}

fn graders(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("sample judge") {
        for (kind, key, value) in [
            ("contains", "value", text("x")),
            ("composite", "assertions", list([map([("type", text("is-json")), ("name", text("a"))])])),
        ] {
            let path = site.path.clone();
            let mut entries = vec![("type", text(kind)), (key, value)];
            if kind == "composite" {
                entries.push(("aggregator", map([("type", text("weighted_average"))])));
            }
            let body = map(entries);
            breaks.local(Code::InvalidChoice, "a grader that asks no judge", &site, move |root| {
                root.at_mut(&path).body = body.clone();
                (join(&path, 0), Part::Value)
            });
        }
        let (path, include) = (site.path.clone(), map([("include", text("polite"))]));
        breaks.local(Code::MissingGraderSetting, "a grader that is an include", &site, move |root| {
            root.at_mut(&path).body = include.clone();
            (path.clone(), Part::Value)
        });
    }
}

fn too_few(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("samples") {
        breaks.replace(Code::TooFewSamples, "no samples", &site, list([]));
        let path = site.path.clone();
        breaks.local(Code::TooFewSamples, "one sample", &site, move |root| {
            root.items_at(&path).truncate(1);
            (path.clone(), Part::Value)
        });
    }
    let Some(named) = breaks.only("samples file") else { return };
    for site in breaks.tagged("sample list") {
        for left in [0, 1] {
            let (labels, path) = (site.file.to_owned(), site.path.clone());
            let (file, place) = (named.file.to_owned(), named.path.clone());
            let what = format!("{left} samples in {:?}", site.syntax);
            breaks.push(Code::TooFewSamples, what, vec![labels.clone(), file.clone()], move |project| {
                project.data_mut(&labels).root.items_at(&path).truncate(left);
                let place = Place::At(place.clone(), Part::Value, 0);
                vec![Expected { code: Code::TooFewSamples, file: file.clone(), place }]
            });
        }
    }
}

/// Files with samples.
fn lists(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("sample list") {
        if site.syntax == Syntax::Yaml {
            for bad in [map([("id", text("a"))]), text("a"), number("3")] {
                breaks.replace(Code::InvalidExternalFile, "a list of samples that is none", &site, bad);
            }
        }
        for bad in [text("file://more.yaml"), number("3"), list([text("a")])] {
            let (path, index) = (site.path.clone(), site.node.items().len());
            let what = format!("a sample that is not a mapping in {:?}", site.syntax);
            breaks.local(Code::WrongType, what, &site, move |root| {
                root.items_at(&path).push(Node::new(bad.clone()));
                (join(&path, index), Part::Value)
            });
        }
    }
}

/// A second calibration.
fn files(breaks: &mut Breaks<'_>) {
    let Some(Site { file, .. }) = breaks.only("calibration") else { return };
    let Some(start) = file.strip_suffix(".yaml") else { return };
    let second = format!("{start}.yml");
    breaks.push(Code::NoEffect, "two calibrations", vec![second.clone()], move |project| {
        project.add_text(&second, "samples: 5\n");
        vec![Expected { code: Code::NoEffect, file: second.clone(), place: Place::Whole }]
    });
}
