//! Graders in graders.

use evalsuite_schema::diagnostics::Code;

use super::super::{Breaks, join, list, map, text};
use crate::render::Part;
use crate::tree::{Body, Node, any_text, entry, number as num, open};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    composites(breaks);
    aggregators(breaks);
}

fn composites(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("members") {
        breaks.replace(Code::InvalidComposite, "no members", &site, list([]));
        let Some(composite) = breaks.around(&site) else { continue };
        // Four around each other are the most.
        let inner = |inside: Body| {
            map([
                ("type", text("composite")),
                ("assertions", list([inside])),
                ("aggregator", map([("type", text("weighted_average"))])),
            ])
        };
        let mut nest = inner(text("Stays polite"));
        for _ in 0..3 {
            nest = inner(nest);
        }
        let (path, index) = (site.path.clone(), site.node.items().len());
        let depth = site.path.len();
        if composite.path.len() <= 3 && depth < 8 && breaks.within(&composite, "members").is_none() {
            breaks.local(Code::InvalidComposite, "composites nested too deeply", &site, move |root| {
                root.items_at(&path).push(Node::new(nest.clone()));
                let mut place = join(&path, index);
                for _ in 0..3 {
                    // The list of members of each, and the only one in it.
                    place.extend([1, 0]);
                }
                (place, Part::Value)
            });
        }
    }
    for site in breaks.tagged("weights") {
        breaks.insert(Code::InvalidComposite, "a weight of no member", &site, "nobody", num(1));
    }
}

fn aggregators(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("aggregator type") {
        for bad in ["mean", "weighted-average", "llm-judge", "Threshold"] {
            breaks.replace(Code::InvalidComposite, format!("the aggregator {bad}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("aggregator") {
        let kind = site.node.get("type").and_then(Node::text).unwrap_or_default();
        let surplus = [
            ("weighted_average", "weights", open([])),
            ("threshold", "threshold", num("0.5")),
            ("code-grader", "command", any_text("true")),
            ("code-grader", "result", any_text("status")),
            ("llm-grader", "model", any_text("gpt-5")),
            ("llm-grader", "prompt", any_text("Sum up")),
        ];
        for (owner, key, value) in surplus {
            if kind != owner {
                breaks.insert(Code::SettingConflict, format!("`{key}` of another aggregator"), &site, key, value);
            }
        }
    }
    for site in breaks.tagged("aggregator threshold") {
        let Some(composite) = breaks.around(&site).and_then(|aggregator| breaks.around(&aggregator)) else { continue };
        let (path, place) = (composite.path.clone(), site.path.clone());
        breaks.local(Code::SettingConflict, "two marks of a composite", &composite, move |root| {
            root.entries_at(&path).push(entry("min_score", num("0.5")));
            (place.clone(), Part::Key)
        });
    }
}
