//! `input`, `expected_output` and messages.

use super::Generator;
use crate::tree::{Node, Rule, Wanted, any_text, entry, keys, list, name, number, open, text};

impl Generator {
    /// Text for an `input`.
    pub(super) fn text_input(&mut self) -> Node {
        self.any_sentence().tag("input")
    }

    /// A list of messages.
    pub(super) fn messages(&mut self) -> Node {
        let mut items = vec![self.message("system")];
        while items.len() < 4 && self.has() {
            let role = self.choices.one("role", &["user", "assistant", "tool", "user"]);
            items.push(self.message(role));
        }
        list(items).rule(Rule::Free).tag("input")
    }

    fn message(&mut self, role: &str) -> Node {
        let mut node = keys("a message").tag("message").put("role", any_text(role).literal().tag("role"));
        if role == "tool" {
            let call = keys("a tool call")
                .need(evalsuite_schema::diagnostics::Code::MissingKey, "tool", text("search"))
                .put("input", self.free())
                .put("output", self.free())
                .put("id", any_text("call_1").rule(Rule::String));
            node = node.put("tool_calls", list([call]).tag("tool calls"));
        } else {
            node = node.put("content", self.content().tag("content"));
        }
        if self.has() {
            node = node.put("name", any_text("").rule(Rule::String));
        }
        node
    }

    fn content(&mut self) -> Node {
        match self.choices.pick("content", 3) {
            0 => self.any_sentence(),
            1 => self.parts(),
            _ => open([("order", number(1182)), ("kind", any_text("refund"))]).rule(Rule::Free),
        }
    }

    /// Parts of a message.
    pub(super) fn parts(&mut self) -> Node {
        let mut items = vec![any_text("").tag("text part")];
        while items.len() < 4 && self.has() {
            let part = |kind: &str, value: Node| {
                keys("a content part")
                    .tag("part")
                    .put("type", name(kind).rule(Rule::Free).tag("part type"))
                    .put("value", value)
            };
            items.push(match self.choices.pick("part", 3) {
                0 => part("text", any_text("Look at this:").tag("part text")),
                1 => {
                    let file = self.shared_file("brief.md").rule(Rule::Free).tag("part file");
                    part("file", file)
                }
                _ => {
                    let image = self.choices.one("image", &["logo.png", "photo.JPG"]);
                    let image = self.shared(image, Wanted::File).rule(Rule::Free).tag("part image");
                    part("image", image)
                }
            });
        }
        list(items).rule(Rule::Free).tag("parts")
    }

    pub(super) fn input_files(&mut self) -> Node {
        let mut items = vec![self.shared_file("brief.md").tag("input file")];
        if self.has() {
            items.push(self.shared_file("order.csv").tag("input file"));
        }
        list(items)
    }

    /// `expected_output`, and whether it holds the document that `field-accuracy` compares with.
    pub(super) fn expected_output(&mut self) -> (Node, bool) {
        let document = || {
            let item = open([("price", number("19.90"))]).rule(Rule::Free);
            open([
                ("order", open([("id", number(1182)), ("items", list([item]).rule(Rule::Free))]).rule(Rule::Free)),
                ("due", any_text("2025-01-31")),
            ])
            .rule(Rule::Free)
        };
        let (node, has_document) = match self.choices.pick("expected output", 5) {
            0 => (self.any_sentence(), false),
            1 => (document(), true),
            2 => (self.message("assistant"), false),
            3 => (list([self.message("user"), self.message("assistant")]).rule(Rule::Free), false),
            _ => (list([number(1), any_text("two")]).rule(Rule::Free), false),
        };
        let tag = match node.tag {
            "message" => "expected message",
            _ if node.items().first().is_some_and(|item| item.tag == "message") => "expected messages",
            _ if has_document => "expected document",
            _ => "expected output",
        };
        (node.tag(tag), has_document)
    }

    /// `turns` of a conversation.
    pub(super) fn turns(&mut self) -> Node {
        let mut items = Vec::new();
        for _ in 0..=self.choices.pick("turns", 3) {
            let input = match self.choices.pick("turn input", 2) {
                0 => any_text("And the order 1183?").tag("turn input"),
                _ => self.parts().tag("turn parts"),
            };
            let mut turn = keys("a turn").tag("turn");
            turn.push(entry("input", input));
            if self.has() {
                let (expected, _) = self.expected_output();
                turn.push(entry("expected_output", expected));
            }
            if self.has() {
                let assertions = self.assertions(1, false).tag("turn assertions");
                turn = turn.renamed("assertions", &["assert", "evaluators"], assertions);
            }
            items.push(turn);
        }
        list(items).tag("turns")
    }
}
