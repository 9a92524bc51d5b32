//! Values of a wrong type, out of range, or not among the choices.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Site, join, list, map, number, text};
use crate::render::{Part, Syntax};
use crate::tree::{Body, Rule, UNBOUNDED, Wanted};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    for site in breaks.sites() {
        typed(&site, breaks);
        ranges(&site, breaks);
        interpolated(&site, breaks);
    }
}

/// Values with a type of their own, whose breaks are elsewhere.
const ROOTS: &[&str] =
    &["case", "task", "suite.json", "eval file", "template file", "workspace file root", "calibration"];

fn typed(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let tag = site.node.tag;
    if ROOTS.contains(&tag) {
        return;
    }
    let (text, list, map) = (text("text"), list([text("a"), number("2")]), map([("a", number("1"))]));
    let flag = Body::Bool(true);
    let wrong: Vec<Body> = match site.node.rule {
        Rule::Free => match tag {
            "fixture" => Vec::new(),
            "samples" => vec![number("3"), flag, map],
            "turn input" | "turn parts" => vec![flag, map],
            "range map" | "range list" => vec![number("3"), text],
            "prompt text" => vec![number("1"), list],
            "args" | "args match" => vec![number("1")],
            _ => Vec::new(),
        },
        Rule::Keys("a message" | "a content part") => Vec::new(),
        Rule::Keys("`workspace`" | "a hook") => Vec::new(),
        // Text is another form of it: a word, the name of a function.
        Rule::Keys("`network`" | "`user`") => vec![number("4"), list],
        Rule::Keys(_) => match tag {
            "grader" => vec![number("4"), flag, list],
            "criterion" => vec![number("4"), list],
            _ if matches!(site.node.rule, Rule::Keys("a target")) => vec![number("7"), list],
            _ if matches!(site.node.rule, Rule::Keys("`prompt`")) => vec![number("7"), list],
            _ => vec![text, number("4"), list],
        },
        Rule::Open => vec![number("1"), text, list],
        Rule::List if matches!(tag, "argument paths" | "call args match") => vec![number("1"), map],
        Rule::List if tag == "tests" => Vec::new(),
        Rule::List if tag == "criteria" => vec![number("1"), map],
        Rule::List => vec![text, number("1"), map],
        Rule::Text if tag == "plain assertion" => vec![number("19.9"), flag, list],
        Rule::Text if tag == "plain criterion" => vec![number("19.9"), list],
        Rule::Text if tag == "prompt file" => vec![number("3"), list],
        Rule::Text if tag == "target name" => vec![number("3"), list],
        // A user may be written in place of the name of a function.
        Rule::Text if tag == "user name" => vec![number("12"), flag, list],
        Rule::Text | Rule::NotEmpty | Rule::String => vec![number("12"), flag, list, map],
        // A number that is a fraction is an old way to write a pass mark.
        Rule::Bool => vec![text_of("true"), number("2"), list],
        Rule::Integer(..) => vec![text_of("3"), number("2.5"), flag],
        Rule::Number(_) => vec![text_of("0.5"), flag, list],
        Rule::Choice(_) => vec![number("1"), flag, list],
        Rule::Path(_, Code::MissingFixture) => Vec::new(),
        Rule::Path(..) if tag == "samples file" => vec![number("1"), flag, map],
        Rule::Path(..) if tag == "workspace file" => vec![number("1"), flag],
        // A schema may be written in place of its path.
        Rule::Path(Wanted::File, Code::MissingPath) => vec![number("1"), list],
        Rule::Path(..) => vec![number("1"), list, map],
        Rule::Weight => Vec::new(),
        Rule::Command => vec![number("1"), map],
        Rule::Argv => vec![text, map],
    };
    for body in wrong {
        let what = format!("{} becomes {}", describe(site), kind(&body));
        let added = breaks.replace(Code::WrongType, what, site, body);
        added.follow_ups = follow_ups(tag);
    }
}

fn text_of(written: &str) -> Body {
    text(written)
}

/// What the loss of a value leads to: other values name it.
fn follow_ups(tag: &str) -> &'static [Code] {
    match tag {
        "matrix" | "target name" | "suite execution" => &[Code::InvalidTarget],
        // Then the case gets the suite's files, which messages cannot have.
        "case execution" | "skip defaults" => &[Code::InputFilesWithMessages],
        _ => &[],
    }
}

fn describe(site: &Site<'_>) -> String {
    let rule = match site.node.rule {
        Rule::Keys(what) => what.to_owned(),
        Rule::Path(wanted, code) => format!("path of {wanted:?} ({code})"),
        rule => format!("{rule:?}").split('(').next().unwrap_or_default().to_owned(),
    };
    if site.node.tag.is_empty() { rule } else { format!("{} ({rule})", site.node.tag) }
}

fn kind(body: &Body) -> &'static str {
    match body {
        Body::Null => "null",
        Body::Bool(_) => "a boolean",
        Body::Number(_) => "a number",
        Body::Text(_) => "text",
        Body::List(_) => "a list",
        Body::Map(_) => "a mapping",
        Body::Raw(_) => "something raw",
    }
}

fn ranges(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let what = describe(site);
    match site.node.rule {
        Rule::Text => {
            for blank in ["", "  ", "\n\t"] {
                let added = breaks.replace(Code::BlankValue, format!("{what} is blank"), site, text(blank));
                added.follow_ups = follow_ups(site.node.tag);
            }
        }
        Rule::NotEmpty => {
            breaks.replace(Code::BlankValue, format!("{what} is empty"), site, text(""));
        }
        Rule::Integer(low, high) => {
            let mut bad = vec![low - 1, -70_000];
            if high != UNBOUNDED {
                bad.push(high + 1);
            }
            for bad in bad {
                breaks.replace(Code::OutOfRange, format!("{what} is {bad}"), site, number(&bad.to_string()));
            }
        }
        Rule::Number(range) => {
            let near =
                [range.low, range.low - 0.25, range.low - 1.0, range.low + 3.0, range.high + 0.01, range.high + 100.0];
            for bad in near.into_iter().filter(|value| value.is_finite() && !range.contains(*value)) {
                breaks.replace(Code::OutOfRange, format!("{what} is {bad}"), site, number(&bad.to_string()));
            }
        }
        Rule::Choice(choices) => choice(choices, site, breaks),
        Rule::Weight => {
            for bad in [number("-1"), text("2"), list([]), Body::Bool(true)] {
                breaks.replace(Code::InvalidWeight, format!("{what} is bad"), site, bad);
            }
        }
        Rule::Path(wanted, missing) => paths(wanted, missing, site, breaks),
        Rule::Command => {
            breaks.replace(Code::InvalidCommand, "a blank command", site, text(" "));
            argv(site, breaks);
        }
        Rule::Argv => argv(site, breaks),
        _ => {}
    }
}

fn choice(choices: &[&str], site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let upper = choices[0].to_uppercase();
    let near = format!("{}s", choices[choices.len() - 1]);
    for bad in ["", "zzz", &upper, &near].into_iter().filter(|bad| !choices.contains(bad)) {
        breaks.replace(Code::InvalidChoice, format!("{} is `{bad}`", describe(site)), site, text(bad));
    }
}

fn paths(wanted: Wanted, missing: Code, site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let what = describe(site);
    for bad in ["/etc/hostname", "~/notes.md", "C:\\notes.md", "../../../../../../../../../../../../etc/hostname"] {
        // A file of a message may be named from the root of the package.
        let is_found_there = bad.starts_with('/') && site.node.tag == "input file";
        let code = if is_found_there { missing } else { Code::PathEscape };
        breaks.replace(code, format!("{what} is {bad}"), site, text(bad));
    }
    let wrong_kind = match wanted {
        Wanted::File => "_shared",
        Wanted::Directory => "_shared/brief.md",
    };
    for bad in ["_shared/nowhere", "../nowhere.md", wrong_kind] {
        // Tasks search the suite's directory only.
        let code = if bad.starts_with("..") && breaks.is_tasks() { Code::PathEscape } else { missing };
        breaks.replace(code, format!("{what} is {bad}"), site, text(bad));
    }
    let blank = if missing == Code::MissingFixture { missing } else { Code::BlankValue };
    breaks.replace(blank, format!("{what} is blank"), site, text(" "));
}

fn argv(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let missing = if breaks.is_tasks() { "_shared/nowhere.sh" } else { "./nowhere.sh" };
    breaks.replace(Code::InvalidCommand, "an argv without elements", site, list([]));
    let second = join(&site.path, 1);
    for (code, bad) in
        [(Code::InvalidCommand, text(" ")), (Code::WrongType, number("7")), (Code::MissingPath, text(missing))]
    {
        let body = list([text("sh"), bad, text("-x")]);
        // A program of the system without a slash may be there at run time; a script has to be there now.
        let (path, place) = (site.path.clone(), second.clone());
        breaks.local(code, format!("an argv with a bad element: {code}"), site, move |root| {
            root.at_mut(&path).body = body.clone();
            (place.clone(), Part::Value)
        });
    }
    let (path, place) = (site.path.clone(), join(&site.path, 0));
    breaks.local(Code::MissingPath, "a program that is not there", site, move |root| {
        root.at_mut(&path).body = list([text("_shared/nowhere"), text("x")]);
        (place.clone(), Part::Value)
    });
    let (path, place) = (site.path.clone(), join(&site.path, 2));
    breaks.local(Code::ArgumentNotFound, "an argument that names nothing", site, move |root| {
        root.at_mut(&path).body = list([text("sh"), text("_shared/scripts/grade.py"), text("../nothing/here")]);
        (place.clone(), Part::Value)
    });
    let (path, place) = (site.path.clone(), join(&site.path, 1));
    breaks.local(Code::PathEscape, "a script out of the package", site, move |root| {
        let outside = "../../../../../../../../../../../../../../bin/sh";
        root.at_mut(&path).body = list([text("bash"), text(outside)]);
        (place.clone(), Part::Value)
    });
}

fn interpolated(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    // JSON files of the tasks layout, and suite.json everywhere, are not interpolated.
    if !site.node.literal || site.syntax == Syntax::Json || site.node.tag.ends_with("of cases") {
        return;
    }
    let added = breaks.replace(
        Code::InterpolationNotAllowed,
        format!("{} is interpolated", describe(site)),
        site,
        text("a${{ SOME_NAME }}"),
    );
    // Nothing else is read then.
    added.is_local &= !site.node.tag.starts_with("tests");
    added.follow_ups = match site.node.tag {
        "id" => &[Code::UnknownDependency],
        "target name" => &[Code::InvalidTarget],
        _ => &[],
    };
}
