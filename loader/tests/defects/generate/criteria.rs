//! Criteria of judge graders.

use evalsuite_schema::diagnostics::Code;

use super::Generator;
use crate::tree::{Node, Rule, any_text, boolean, choice, entry, keys, list, name, number, open, text};

impl Generator {
    /// A list of criteria.
    pub(super) fn criteria(&mut self) -> Node {
        let has_ranges = self.choices.pick("score ranges", 2) == 1;
        let mut items = vec![self.criterion(has_ranges)];
        while items.len() < 4 && self.has() {
            let item = match self.choices.pick("criterion", 2) {
                0 => self.sentence().tag("plain criterion"),
                _ => self.criterion(has_ranges),
            };
            items.push(item);
        }
        list(items).tag("criteria")
    }

    fn criterion(&mut self, has_ranges: bool) -> Node {
        let mut node = keys("a criterion").tag("criterion");
        if self.has() {
            node = node.put("id", name(self.fresh()).tag("criterion id"));
        }
        if has_ranges {
            node = node.put("score_ranges", self.score_ranges());
            if self.has() {
                node = node.put(
                    "min_score",
                    number(self.choices.one("minimum", &["0.6", "1", "0.05"])).tag("criterion minimum"),
                );
            }
        } else {
            node = node.need(Code::InvalidRubric, "outcome", self.sentence());
            if self.has() {
                node = node.put("operator", choice("contradiction", &["correctness", "contradiction"]));
            }
        }
        if self.has() {
            node = node.put("weight", number(self.choices.one("weight", &["2", "0.5", "1.0"])).rule(Rule::Weight));
        }
        if self.has() {
            node = node.put("required", boolean(true));
        }
        node
    }

    fn score_ranges(&mut self) -> Node {
        match self.choices.pick("ranges as", 2) {
            0 => {
                let entries = ["0", "4", "8"].map(|low| entry(low, text("what it is worth")));
                let mut node = open([]).tag("range map");
                for entry in entries {
                    node.push(entry);
                }
                // A list is as good, so that only numbers and text are of a wrong type; breaks of the ranges are apart.
                node.rule(Rule::Free)
            }
            _ => {
                let range = |low: u8, high: u8| {
                    let bounds = list([number(low), number(high)]).rule(Rule::Free).tag("score range");
                    keys("a score range").need(Code::InvalidScoreRanges, "score_range", bounds).need(
                        Code::InvalidScoreRanges,
                        "outcome",
                        text("what it is worth"),
                    )
                };
                let items = [range(0, 3), range(4, 7), range(8, 10)];
                list(items).rule(Rule::Free).tag("range list")
            }
        }
    }

    /// What a fact may be, where anything may be.
    pub(super) fn free(&mut self) -> Node {
        match self.choices.pick("free", 5) {
            0 => any_text("refunds"),
            1 => number("19.5"),
            2 => Node::new(crate::tree::Body::Null),
            3 => list([number(1), any_text(""), boolean(false).rule(Rule::Free)]).rule(Rule::Free),
            _ => open([("a b", number(1)), ("b", list([]).rule(Rule::Free))]).rule(Rule::Free),
        }
        .tag("free")
    }

    /// A mapping with any keys.
    pub(super) fn facts(&mut self) -> Node {
        let mut node = open([("failure_bucket", any_text("refunds").tag("free"))]);
        while node.entries().len() < 4 && self.has() {
            let value = self.free();
            node.push(entry(["", "second", "Drittes", "4"][node.entries().len()], value));
        }
        node
    }
}
