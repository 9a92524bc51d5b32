//! The eval file.

use evalsuite_schema::Suite;
use evalsuite_schema::keys::Keys;

use super::Generator;
use super::task::KINDS;
use crate::render::Syntax;
use crate::tree::{Node, Rule, any_text, choice, keys, list, name, text};

impl Generator {
    /// Adds the eval file, and all that its `tests` name.
    pub(super) fn eval_file(&mut self, file: &str) {
        let mut node = keys("an eval file").tag("eval file");
        if self.has() {
            node = node.put("$schema", any_text("https://example.org/eval.json"));
        }
        if self.has() {
            node = node.put("name", any_text("refunds_2-a").literal().rule(Rule::String).tag("suite name"));
        }
        if self.has() {
            node = node.put("description", self.sentence().tag("suite description"));
        }
        if self.has() {
            let gates = list([name("pass_rate >= 90%").tag("gate"), name("p95(time) <= 60s per bucket").tag("gate")]);
            node = node.put("gates", gates.tag("gates"));
        }
        if self.has() {
            let kind = self.choices.one("kind", KINDS);
            self.may_pass_at_k = kind == "capability";
            node = node.put("kind", choice(kind, KINDS).tag("kind"));
        }
        if self.has() {
            let canary = text("3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46");
            node = node.put("canary", canary.tag("canary"));
        }
        node = self.stated(node, Suite::TABLE, &["kind"]);
        for key in ["metadata", "governance"] {
            if self.has() {
                node = node.put(key, self.facts());
            }
        }
        if self.has() {
            node = node.put("requires", self.requires(true));
        }
        if self.has() {
            let input = if self.has() { self.messages() } else { self.text_input() };
            node = node.put("input", input);
        }
        if self.choices.pick("suite files", 3) == 2 {
            self.has_suite_files = true;
            node = node.put("input_files", self.input_files());
        }
        if self.has() {
            let assertions = self.assertions(1, false);
            node = node.renamed("assertions", &["assert", "evaluators"], assertions);
        }
        if self.has() {
            node = node.put("execution", self.suite_execution());
        }
        if self.has() {
            node = node.put("workspace", self.workspace(true));
        }
        if self.has() {
            node = node.put("preprocessors", self.preprocessors());
        }
        if let Some(tests) = self.tests() {
            node = node.renamed("tests", &["eval_cases", "evalcases"], tests);
        }
        self.add(file, node, Syntax::Yaml);
    }

    /// The cases, and the value of `tests` that names them.
    fn tests(&mut self) -> Option<Node> {
        let structural = |node: Node| node.rule(Rule::Free).literal();
        Some(match self.choices.pick("tests", 5) {
            0 => self.list_of_cases(),
            1 => {
                self.case_directories("cases");
                return None;
            }
            2 => {
                self.case_directories("own");
                structural(name("./own/").tag("tests directory"))
            }
            3 => {
                self.case_list("lists/cases.yaml", 3);
                structural(name("lists/cases.yaml").tag("tests file"))
            }
            _ => {
                self.case_list("./lists/cases.jsonl", 3);
                structural(name("./lists/cases.jsonl").tag("tests file"))
            }
        })
    }

    fn list_of_cases(&mut self) -> Node {
        let mut items = vec![self.case(None), self.case(None)];
        while items.len() < 6 && self.has() {
            items.push(match self.choices.pick("element of tests", 4) {
                0 => self.case(None),
                1 => {
                    let file = format!("lists/{}.yml", self.made);
                    self.case_list(&file, 2);
                    name(format!("file://{file}")).rule(Rule::Free).tag("file of cases")
                }
                2 => {
                    let file = format!("lists/{}.jsonl", self.made);
                    self.case_list(&file, 2);
                    name(format!("file://./{file}")).rule(Rule::Free).tag("file of cases")
                }
                _ => {
                    let directory = format!("globs/{}", self.made);
                    self.case_list(&format!("{directory}/a.yaml"), 1);
                    self.case_list(&format!("{directory}/b/c.jsonl"), 1);
                    let path = self.project.inside(&format!("{directory}/b/.hidden.yaml"));
                    self.project.add_text(&path, "not: read\n");
                    name(format!("file://{directory}/**/*.{{yaml,jsonl}}")).rule(Rule::Free).tag("glob of cases")
                }
            });
        }
        list(items).tag("tests")
    }

    /// Adds a file with a list of cases.
    fn case_list(&mut self, file: &str, count: usize) {
        let cases: Vec<Node> = (0..count).map(|_| self.case(None)).collect();
        let syntax = if file.ends_with(".jsonl") { Syntax::Lines } else { Syntax::Yaml };
        self.add(file.trim_start_matches("./"), list(cases).rule(Rule::Free).tag("case list"), syntax);
    }
}
