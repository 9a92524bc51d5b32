//! A case of the cases, combined and bare layouts.

use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Case, SimulatedUser};

use super::Generator;
use crate::tree::{Node, Rule, UNBOUNDED, any_text, choice, integer, keys, list, name};

const ON_DEPENDENCY_FAILURE: &[&str] = &["skip", "fail", "run"];
const MODES: &[&str] = &["conversation"];
const AGGREGATIONS: &[&str] = &["mean", "min", "max"];
const ON_TURN_FAILURE: &[&str] = &["continue", "stop"];

impl Generator {
    /// A case; in a case directory, `directory` is its name.
    pub(super) fn case(&mut self, directory: Option<&str>) -> Node {
        let mut node = keys("a case").tag("case");
        let id = directory.map_or_else(|| self.fresh(), str::to_owned);
        match directory {
            None => node = node.need(Code::MissingKey, "id", any_text(&id).literal().tag("id")),
            Some(_) if self.has() => node = node.put("id", any_text(&id).literal().tag("id")),
            Some(_) => {}
        }
        if directory.is_some() && self.has() {
            node = node.put("$schema", any_text("https://example.org/case.json"));
        }
        let is_conversation = !self.needs_reference && self.choices.pick("conversation", 4) == 3;
        let judges = if is_conversation { 0 } else { self.choices.pick("judges of a case", 5) };
        // With the suite's graders there would be others.
        let skips_defaults = judges % 2 == 1 || self.choices.pick("skip defaults", 3) == 2;
        if self.has() {
            node = node.renamed("criteria", &["expected_outcome"], self.sentence());
        }
        node = self.case_input(node, is_conversation, skips_defaults);
        let mut has_document = false;
        if is_conversation {
            node = self.conversation(node);
        } else if self.needs_reference || self.has() {
            let (expected, is_document) = self.expected_output();
            has_document = is_document;
            node = node.put("expected_output", expected);
        }
        let assertions = match judges {
            0 | 4 => self.assertions(1, has_document),
            3 => list([self.grader("contains", 0), self.grader("is-json", 0)]).tag("assertions"),
            count => self.judges(&id, count),
        };
        node = node.renamed("assertions", &["assert", "evaluators"], assertions);
        if skips_defaults || self.has() {
            node = node.put("execution", self.case_execution(skips_defaults));
        }
        if self.has() {
            node = node.put("workspace", self.workspace(false));
        }
        if self.has() {
            node = node.put("requires", self.requires(false));
        }
        if !is_conversation && self.has() {
            node = node.put("examples", self.examples());
        }
        node = self.stated(node, Case::TABLE, &["on_dependency_failure"]);
        if !self.ids.is_empty() && self.has() {
            let count = 1 + self.choices.pick("dependencies", self.ids.len().min(3));
            let ids: Vec<Node> = self.ids.iter().take(count).map(|id| name(id).tag("dependency")).collect();
            node = node.put("depends_on", list(ids).tag("dependencies"));
            if self.has() {
                node = node.put("on_dependency_failure", choice("fail", ON_DEPENDENCY_FAILURE));
            }
        }
        self.ids.push(id);
        node
    }

    fn case_input(&mut self, node: Node, is_conversation: bool, skips_defaults: bool) -> Node {
        if is_conversation && !self.has() {
            return node;
        }
        let must_be_text = self.has_suite_files && !skips_defaults;
        let code = if is_conversation { None } else { Some(Code::MissingInput) };
        let with = |node: Node, input: Node| match code {
            Some(code) => node.need(code, "input", input),
            None => node.put("input", input),
        };
        if must_be_text || self.choices.pick("input", 2) == 0 {
            let node = with(node, self.text_input());
            return if self.has() { node.put("input_files", self.input_files()) } else { node };
        }
        with(node, self.messages())
    }

    fn conversation(&mut self, node: Node) -> Node {
        let mode = any_text("conversation").rule(Rule::Choice(MODES)).literal().tag("case mode");
        let mut node = node.put("mode", mode).put("turns", self.turns());
        if self.has() {
            node = node
                .put("aggregation", choice("min", AGGREGATIONS))
                .put("on_turn_failure", choice("stop", ON_TURN_FAILURE));
        }
        if self.has() {
            node = node.put("window_size", integer(2, 1, UNBOUNDED));
        }
        if self.has() {
            node = node.put("conversation", self.with_user());
        }
        node
    }

    /// `conversation` of a case whose user is simulated.
    fn with_user(&mut self) -> Node {
        let mut node = keys("`conversation`").tag("conversation");
        if self.has() {
            return node.need(Code::MissingKey, "user", name("angry_customer").tag("user name"));
        }
        let mut user = keys("`user`").tag("user").need(Code::MissingKey, "goal", self.sentence());
        user = self.stated(user, SimulatedUser::TABLE, &["name", "goal"]);
        if self.has() {
            user = user.put("assertions", list([self.grader("contains", 0)]));
        }
        node = node.need(Code::MissingKey, "user", user);
        if self.has() {
            node = node.put("turn_assertions", list([self.grader("contains", 0)]));
        }
        node
    }
}
