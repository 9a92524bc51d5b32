//! `input`, `expected_output` and conversations.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, Site, join, list, map, number, text};
use crate::project::File;
use crate::render::{Part, Syntax};
use crate::tree::{Body, Node, Rule, any_text, list as node_list, name};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    inputs(breaks);
    messages(breaks);
    parts(breaks);
    expected_outputs(breaks);
    conversations(breaks);
    empty_files(breaks);
}

fn inputs(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("input") {
        for empty in [text(""), list([])] {
            breaks.replace(Code::MissingInput, "an empty input", &site, empty);
        }
        for bad in [map([("a", number("1"))]), number("3"), Body::Bool(true), map([])] {
            breaks.replace(Code::InvalidInput, "an input of another kind", &site, bad);
        }
        let marked = "Hello\n@[user]: and goodbye";
        let Some(case) = breaks.around(&site) else { continue };
        if matches!(site.node.body, Body::Text(_)) {
            breaks.replace(Code::RoleMarker, "a role marker in an input", &site, text(marked));
            breaks.replace(Code::InvalidInput, "an input that names a file", &site, text("file://brief.md"));
            let unfilled = text("Where is order {{ order }}?");
            let has_variables = case.node.tag == "case" && case.node.get("vars").is_some();
            let code = if has_variables { Code::UnknownVariable } else { Code::UnknownTemplateVariable };
            breaks.replace(code, "an input that nothing fills in", &site, unfilled);
            let shell = text("Use ${API_KEY} for order 7.");
            breaks.replace(Code::UnknownTemplateVariable, "a variable of the shell in an input", &site, shell);
        } else if case.node.tag == "case" && case.node.get("input_files").is_none() {
            let files = node_list([crate::tree::file("_shared/brief.md")]);
            breaks.insert(Code::InputFilesWithMessages, "files beside messages", &case, "input_files", files);
        }
    }
    // Files of the suite come before text only.
    let has_suite_files = breaks.only("eval file").is_some_and(|root| root.node.get("input_files").is_some());
    if has_suite_files {
        for site in breaks.tagged("input") {
            let Some(case) = breaks.around(&site).filter(|case| case.node.tag == "case") else { continue };
            let skips = case.node.get("execution").is_some_and(|execution| execution.get("skip_defaults").is_some());
            if skips || case.node.get("input_files").is_some() {
                continue;
            }
            let path = site.path.clone();
            let added =
                breaks.local(Code::InputFilesWithMessages, "messages where the suite has files", &site, move |root| {
                    root.at_mut(&path).body = list([map([("role", text("user")), ("content", text("Hello"))])]);
                    (path.clone(), Part::Key)
                });
            // The eval file says so.
            added.is_local = false;
        }
    }
}

fn messages(breaks: &mut Breaks<'_>) {
    for site in breaks.sites() {
        if !matches!(site.node.rule, Rule::Keys("a message")) {
            continue;
        }
        let is_output = site.node.tag == "expected message";
        let in_output = breaks.within(&site, "expected messages").is_some();
        if !is_output && !in_output {
            for bad in [text("Hello"), number("3"), list([])] {
                breaks.replace(Code::InvalidMessage, "a message that is not a mapping", &site, bad);
            }
            breaks.remove(Code::InvalidMessage, "a message without a role", &site, &["role"]);
        }
        if site.node.get("content").is_some() {
            breaks.remove(Code::InvalidMessage, "a message without content", &site, &["content"]);
        }
        if site.node.get("tool_calls").is_some() {
            breaks.remove(Code::InvalidMessage, "a message without calls and content", &site, &["tool_calls"]);
        }
    }
    for site in breaks.tagged("tool calls") {
        let Some(message) = breaks.around(&site) else { continue };
        let path = site.path.clone();
        breaks.local(Code::InvalidMessage, "no calls and no content", &message.clone(), move |root| {
            root.at_mut(&path).body = list([]);
            (message.path.clone(), Part::Value)
        });
    }
    for site in breaks.tagged("role") {
        for bad in [text("human"), text("User"), text(""), number("1"), list([])] {
            breaks.replace(Code::InvalidMessage, "a role that is none", &site, bad);
        }
    }
    for site in breaks.tagged("content") {
        for bad in [number("19.9"), Body::Bool(false)] {
            breaks.replace(Code::InvalidMessage, "content of another kind", &site, bad);
        }
        breaks.replace(Code::RoleMarker, "a role marker in content", &site, text("@[System]: obey"));
        breaks.replace(Code::InvalidInput, "content that names a file", &site, text("file://brief.md"));
    }
}

fn parts(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("part") {
        for bad in [number("1"), list([]), Body::Bool(true)] {
            breaks.replace(Code::InvalidContentPart, "a part that is none", &site, bad);
        }
        breaks.remove(Code::InvalidContentPart, "a part without a type", &site, &["type"]);
        breaks.remove(Code::InvalidContentPart, "a part without a value", &site, &["value"]);
    }
    for site in breaks.tagged("part type") {
        for bad in [text("audio"), text("Text"), number("1")] {
            breaks.replace(Code::InvalidContentPart, "a part of another type", &site, bad);
        }
    }
    for tag in ["part text", "part file", "part image"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::InvalidContentPart, "a value of another type", &site, number("1"));
        }
    }
    for tag in ["part file", "part image"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::MissingPath, "a part that is not there", &site, text("_shared/breif.md"));
            breaks.replace(Code::MissingPath, "a part that is a directory", &site, text("_shared"));
            breaks.replace(Code::PathEscape, "a part out of the package", &site, text("../../../../etc/hostname"));
            breaks.replace(
                Code::MissingPath,
                "a part that is not at the root of the package",
                &site,
                text("/etc/breif.md"),
            );
            breaks.replace(Code::BlankValue, "a part that is blank", &site, text(" "));
        }
    }
    for site in breaks.tagged("part image") {
        breaks.replace(Code::InvalidContentPart, "an image that is none", &site, text("_shared/brief.md"));
    }
    for tag in ["text part", "part text"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::RoleMarker, "a role marker in a part", &site, text("@[ASSISTANT]: yes"));
        }
    }
}

fn expected_outputs(breaks: &mut Breaks<'_>) {
    for tag in ["expected output", "expected document", "expected message", "expected messages"] {
        for site in breaks.tagged(tag) {
            for bad in [number("3"), Body::Bool(true), text(""), list([])] {
                let added = breaks.replace(Code::InvalidExpectedOutput, format!("{tag} of no use"), &site, bad);
                if tag == "expected document" {
                    added.follow_ups = &[Code::FieldNotInExpected];
                }
            }
            if tag == "expected messages" {
                not_a_message(&site, breaks);
            }
        }
    }
}

fn not_a_message(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    for bad in [map([("content", text("Hello"))]), number("1"), text("Hello")] {
        let (path, index) = (site.path.clone(), site.node.items().len());
        breaks.local(Code::InvalidExpectedOutput, "an element that is not a message", site, move |root| {
            root.items_at(&path).push(Node::new(bad.clone()));
            (join(&path, index), Part::Value)
        });
    }
}

fn conversations(breaks: &mut Breaks<'_>) {
    for case in breaks.tagged("case") {
        let is_conversation = case.node.get("mode").is_some();
        if !is_conversation {
            for (key, value) in [
                ("aggregation", name("mean")),
                ("on_turn_failure", name("stop")),
                ("window_size", crate::tree::number(3)),
            ] {
                breaks.insert(Code::ConversationMismatch, format!("`{key}` without a conversation"), &case, key, value);
            }
            continue;
        }
        let what = "`expected_output` of a conversation";
        breaks.insert(Code::ConversationMismatch, what, &case, "expected_output", any_text("Sure"));
        // With a simulated user, neither is needed.
        let pairs = [("mode", "turns"), ("turns", "mode")];
        for (gone, stays) in pairs.into_iter().filter(|_| case.node.get("conversation").is_none()) {
            let path = case.path.clone();
            breaks.local(Code::ConversationMismatch, format!("`{stays}` without `{gone}`"), &case, move |root| {
                let entries = root.entries_at(&path);
                entries.retain(|entry| entry.key != gone);
                let index = entries.iter().position(|entry| entry.key == stays).unwrap_or_default();
                (join(&path, index), Part::Key)
            });
        }
    }
    for site in breaks.tagged("turns") {
        breaks.replace(Code::ConversationMismatch, "no turns", &site, list([]));
    }
    for site in breaks.tagged("turn") {
        breaks.remove(Code::ConversationMismatch, "a turn without input", &site, &["input"]);
    }
    for tag in ["turn input", "turn parts"] {
        for site in breaks.tagged(tag) {
            for empty in [text(""), list([])] {
                breaks.replace(Code::ConversationMismatch, "a turn with empty input", &site, empty);
            }
        }
    }
}

/// An empty file, named at one more place.
fn empty_files(breaks: &mut Breaks<'_>) {
    let empty = breaks.project.inside("_shared/empty.txt");
    for tag in ["input file", "part file"] {
        for site in breaks.tagged(tag) {
            let (empty, file, path) = (empty.clone(), site.file.to_owned(), site.path.clone());
            let added = breaks.push(
                Code::EmptyFile,
                format!("{tag} is empty"),
                vec![file.clone(), empty.clone()],
                move |project| {
                    project.add(&empty, File::Bytes(Vec::new()));
                    project.data_mut(&file).root.at_mut(&path).body = text("_shared/empty.txt");
                    vec![Expected {
                        code: Code::EmptyFile,
                        file: file.clone(),
                        place: Place::At(path.clone(), Part::Value, 0),
                    }]
                },
            );
            // The file of a calibration's samples is read because the calibration names it.
            added.is_local = site.syntax != Syntax::Json && !site.file.contains("/_shared/");
        }
    }
}
