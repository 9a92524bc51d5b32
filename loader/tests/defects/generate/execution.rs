//! `execution` and `requires`.

use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{CommonExecution, SuiteExecution, Trials};

use super::Generator;
use crate::tree::{Node, boolean, choice, keys, list, name, text};

pub(super) const STRATEGIES: &[&str] = &["pass_at_k", "mean", "confidence_interval"];

impl Generator {
    /// `execution` of an eval file.
    pub(super) fn suite_execution(&mut self) -> Node {
        let mut node = keys("`execution`").tag("suite execution");
        match self.choices.pick("targets", 3) {
            0 => {}
            1 => node = node.put("target", name("gpt").tag("suite target")),
            _ => {
                self.targets = vec!["gpt", "Größe 2", "local"];
                let hooks = self.hooks();
                let items = list([
                    name("gpt").tag("target name"),
                    keys("a target")
                        .need(Code::MissingKey, "name", name("Größe 2").tag("target name"))
                        .put("use_target", name("gpt"))
                        .put("hooks", hooks),
                    name("local").tag("target name"),
                ]);
                node = node.put("targets", items.tag("matrix"));
            }
        }
        node = self.common_execution(node);
        self.stated(node, SuiteExecution::TABLE, &[])
    }

    /// `execution` of a case.
    pub(super) fn case_execution(&mut self, skip_defaults: bool) -> Node {
        let mut node = keys("`execution` of a case").tag("case execution");
        match self.choices.pick("case targets", 3) {
            1 if self.targets.is_empty() => node = node.put("target", name("mini")),
            1 => node = node.put("target", name("gpt").tag("chosen target")),
            2 if !self.targets.is_empty() => {
                node =
                    node.put("targets", list([name("local").tag("chosen target"), name("gpt").tag("chosen target")]));
            }
            _ => {}
        }
        node = self.common_execution(node);
        if skip_defaults {
            node = node.put("skip_defaults", boolean(true).tag("skip defaults"));
        }
        node
    }

    fn common_execution(&mut self, mut node: Node) -> Node {
        if self.has() {
            let mut trials = keys("`trials`").tag("trials");
            if self.has() {
                let first = if self.may_pass_at_k { 0 } else { 1 };
                let strategy = self.choices.one("strategy", &STRATEGIES[first..]);
                trials = trials.put("strategy", choice(strategy, STRATEGIES).tag("strategy"));
            }
            // Trials that resemble each other have no interval.
            let is_interval = trials.get("strategy").and_then(Node::text) == Some("confidence_interval");
            let written: &[&str] = if is_interval { &["strategy", "correlated"] } else { &["strategy"] };
            node = node.put("trials", self.stated(trials, Trials::TABLE, written));
        }
        self.stated(node, CommonExecution::TABLE, &[])
    }

    /// `requires` of a suite or a case.
    pub(super) fn requires(&mut self, of_suite: bool) -> Node {
        let mut node = keys("`requires`");
        if self.has() {
            node = node.put("env", list([text("API_HOST"), text("API_KEY")]));
        }
        if self.has() {
            node = node.put("commands", list([text("cargo")]));
        }
        if of_suite && self.has() {
            node = node.put("evalsuite", name(">=0.1, <100").tag("version"));
        }
        node
    }
}
