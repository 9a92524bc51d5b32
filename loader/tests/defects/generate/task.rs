//! `suite.json` and task files.

use evalsuite_schema::Task;
use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::keys::Keys;

use super::Generator;
use super::graders::TYPES;
use crate::render::Syntax;
use crate::tree::{FRACTION, Node, Rule, Wanted, any_text, boolean, choice, entry, keys, list, number, open, text};

pub(super) const KINDS: &[&str] = &["capability", "regression", "mixed"];
const SOURCES: &[&str] = &["manual", "captured", "synthesized"];

impl Generator {
    pub(super) fn suite_json(&mut self) {
        let mut node = keys("suite.json").tag("suite.json").need(Code::MissingKey, "name", text("Card agent")).need(
            Code::MissingKey,
            "agent_name",
            text("card_agent"),
        );
        if self.has() {
            node = node.put("$schema", any_text("https://example.org/suite.json"));
        }
        if self.has() {
            let kind = self.choices.one("kind", KINDS);
            self.may_pass_at_k = kind == "capability";
            node = node.put("kind", choice(kind, KINDS).tag("kind"));
        } else {
            self.may_pass_at_k = false;
        }
        let spellings = ("requireReferenceSolution", "require_reference_solution");
        if self.has() {
            self.needs_reference = self.choices.pick("needs reference", 2) == 0;
            let value = boolean(self.needs_reference);
            self.either(&mut node, spellings, value);
        }
        if self.has() {
            let value = number(self.choices.one("threshold", &["0.75", "1", "0"])).rule(FRACTION);
            self.either(&mut node, ("taskPassThreshold", "task_pass_threshold"), value);
        }
        self.add("suite.json", node, Syntax::Json);
    }

    fn either(&mut self, node: &mut Node, (first, second): (&'static str, &'static str), value: Node) {
        let (key, other) = if self.choices.pick("spelling", 2) == 0 { (first, second) } else { (second, first) };
        let mut entry = entry(key, value);
        entry.other = Some((other, second));
        node.push(entry);
    }

    pub(super) fn task(&mut self, file: &str, has_workspace: bool) {
        let id = self.fresh();
        let mut input = open([("content", any_text("Lunch, 14.20 EUR").tag("free"))]);
        if self.has() {
            input.push(entry("fixture_dir", self.fixture("_shared/template")));
        }
        if self.has() {
            input.push(entry("base_fixture", self.fixture("_shared/repo")));
        }
        if self.has() {
            input.push(entry("when", self.free()));
        }
        let mut node = keys("a task").tag("task").need(Code::MissingKey, "id", any_text(&id).tag("id"));
        if has_workspace || self.has() {
            node = node.put("input", input);
        }
        if self.has() {
            node = node.put("examples", self.examples());
        }
        node = self.stated(node, Task::TABLE, &["input"]);
        if self.has() {
            node = node.put("$schema", any_text("https://example.org/task.json"));
        }
        if self.needs_reference || self.has() {
            let mut solution = keys("`reference_solution`").tag("reference solution");
            if self.has() {
                solution = solution.put("expected_outcome", self.facts());
            }
            if self.has() {
                solution = solution.put("source", choice("captured", SOURCES));
            }
            node = node.put("reference_solution", solution);
        }
        let graders = match self.choices.pick("judges of a task", 3) {
            0 => self.task_graders(),
            count => self.task_judges(&id, count),
        };
        node = node.need(Code::NoGraders, "graders", list(graders).tag("task graders"));
        self.add(file, node, Syntax::Json);
    }

    fn task_graders(&mut self) -> Vec<Node> {
        let mut graders = Vec::new();
        while graders.is_empty() || graders.len() < 8 && self.has() {
            let kind = self.choices.one("task grader", &TYPES);
            graders.push(self.task_grader(kind));
        }
        graders
    }

    fn fixture(&mut self, written: &str) -> Node {
        // Anything but text belongs to the agent.
        any_text(written).rule(Rule::Path(Wanted::Directory, Code::MissingFixture)).tag("fixture")
    }
}
