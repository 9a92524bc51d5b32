//! Keys that are unknown, missing, given twice, old or merged.

use evalsuite_schema::diagnostics::Code;

use super::{Breaks, Expected, Place, Site, join, list, number, text};
use crate::render::{Part, Syntax};
use crate::tree::{Body, Entry, Node, Rule, entry};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    for site in breaks.sites() {
        if !matches!(site.node.body, Body::Map(_)) {
            continue;
        }
        unknown(&site, breaks);
        twice(&site, breaks);
        merged(&site, breaks);
        for index in 0..site.node.entries().len() {
            missing(&site, index, breaks);
            spellings(&site, index, breaks);
        }
    }
}

fn unknown(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    let value = || crate::tree::any_text("x");
    let what = match site.node.rule {
        Rule::Keys(what) => what,
        _ if site.node.tag == "include entry" => "an include",
        _ => return,
    };
    // Settings of the command: only what looks like a typing error is one.
    if what == "code-grader" || site.node.tag == "config" && site.node.get("command").is_some() {
        let near = ["comand", "commnad", "cwdd", "timeout_second", "confg", "preprocessor"];
        for key in near {
            breaks.insert(Code::NearMissKey, "a near miss in a code-grader", site, key, value());
        }
        return;
    }
    breaks.insert(Code::UnknownKey, format!("an unknown key in {what}"), site, "something_else", value());
    let first = site.node.entries().first().map(|entry| entry.key.clone()).unwrap_or_default();
    if first.len() > 3 && first.is_ascii() {
        let near = format!("{}{}", &first[..1], &first[2..]);
        if site.node.get(&near).is_none() {
            breaks.insert(Code::UnknownKey, format!("a near miss in {what}"), site, &near, value());
        }
    }
    match what {
        "a case" => {
            for key in ["asserts", "prompt", "timeout", "labels", "Input"] {
                breaks.insert(Code::UnknownKey, "a key of other tools in a case", site, key, value());
            }
        }
        "`execution` of a case" => {
            for key in ["workers", "budget_usd", "fail_on_error", "cache"] {
                breaks.insert(Code::UnknownKey, "a key of the suite in a case", site, key, value());
            }
        }
        _ => {}
    }
}

fn twice(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    for (index, original) in site.node.entries().iter().enumerate() {
        let (path, copy) = (site.path.clone(), original.clone());
        breaks.local(Code::DuplicateKey, format!("a key twice in {:?}", site.syntax), site, move |root| {
            let entries = root.entries_at(&path);
            entries.insert(index + 1, copy.clone());
            (join(&path, index + 1), Part::Key)
        });
        // A value that is not read must not be checked either.
        let (path, other) = (site.path.clone(), Entry { value: Node::new(number("-7")), ..original.clone() });
        breaks.local(Code::DuplicateKey, format!("a key twice in {:?}, far apart", site.syntax), site, move |root| {
            let entries = root.entries_at(&path);
            entries.push(other.clone());
            (join(&path, entries.len() - 1), Part::Key)
        });
    }
}

fn merged(site: &Site<'_>, breaks: &mut Breaks<'_>) {
    if site.syntax != Syntax::Yaml {
        return;
    }
    for bad in [text("base"), number("3"), Body::Bool(true)] {
        breaks.insert_bad_value(Code::BadMergeKey, "a merge key without a mapping", site, "<<", Node::new(bad));
    }
    let (path, index) = (site.path.clone(), site.node.entries().len());
    breaks.local(Code::BadMergeKey, "a merge key with a bad list", site, move |root| {
        root.entries_at(&path).push(entry("<<", Node::new(list([Body::Map(Vec::new()), number("1")]))));
        (join(&join(&path, index), 1), Part::Value)
    });
}

fn missing(site: &Site<'_>, index: usize, breaks: &mut Breaks<'_>) {
    let Entry { key, required: Some(code), value, .. } = &site.node.entries()[index] else { return };
    let code = *code;
    let follow_ups: &[Code] = match value.tag {
        // A case without an id is none, and others depend on it.
        "id" => &[Code::UnknownDependency],
        "target name" => &[Code::InvalidTarget],
        _ => &[],
    };
    breaks.remove(code, format!("no `{key}` in {:?}", site.node.rule), site, &[key]).follow_ups = follow_ups;
    let (path, place) = (site.path.clone(), join(&site.path, index));
    let added = breaks.local(code, format!("`{key}` is null in {:?}", site.node.rule), site, move |root| {
        root.at_mut(&path).body_entry(index).value.body = Body::Null;
        (place.clone(), Part::Key)
    });
    added.follow_ups = follow_ups;
}

impl Node {
    fn body_entry(&mut self, index: usize) -> &mut Entry {
        &mut self.entries_at(&[])[index]
    }
}

fn spellings(site: &Site<'_>, index: usize, breaks: &mut Breaks<'_>) {
    let original = site.node.entries()[index].clone();
    for old in original.old {
        let path = site.path.clone();
        breaks.local(Code::DeprecatedKey, format!("`{old}` for `{}`", original.key), site, move |root| {
            root.entries_at(&path)[index].key = (*old).to_owned();
            (join(&path, index), Part::Key)
        });
        let copy = Entry { key: (*old).to_owned(), ..original.clone() };
        breaks.insert_entry(Code::ConflictingKeys, format!("`{old}` beside `{}`", original.key), site, copy);
    }
    let olds: Vec<Entry> =
        original.old.iter().map(|old| Entry { key: (*old).to_owned(), ..original.clone() }).collect();
    if let [first, second] = olds.as_slice() {
        let (path, first, second) = (site.path.clone(), first.clone(), second.clone());
        let file = site.file.to_owned();
        breaks.push(Code::ConflictingKeys, "two old spellings", vec![file.clone()], move |project| {
            let entries = project.data_mut(&file).root.entries_at(&path);
            entries[index] = first.clone();
            entries.push(second.clone());
            let at = |index| Place::At(join(&path, index), Part::Key, 0);
            let last = entries.len() - 1;
            vec![
                Expected { code: Code::DeprecatedKey, file: file.clone(), place: at(index) },
                Expected { code: Code::ConflictingKeys, file: file.clone(), place: at(last) },
            ]
        });
    }
    if let Some((other, reported)) = original.other {
        let copy = Entry { key: other.to_owned(), ..original.clone() };
        let path = site.path.clone();
        breaks.local(Code::ConflictingKeys, format!("`{other}` beside `{}`", original.key), site, move |root| {
            let entries = root.entries_at(&path);
            entries.push(copy.clone());
            let place = entries.iter().position(|entry| entry.key == reported).unwrap_or_default();
            (join(&path, place), Part::Key)
        });
    }
}
