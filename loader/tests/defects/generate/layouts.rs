//! Which files a layout has.

use evalsuite_schema::diagnostics::Code;

use super::Generator;
use crate::project::{File, Layout};
use crate::render::Syntax;
use crate::tree::{Body, Node, Rule, entry, keys, list, name};

const DIRECTORIES: &[&str] = &["refund small", "Großes", "no", "step_2", "type"];

impl Generator {
    pub(super) fn layout(&mut self) {
        self.project.root = self.choices.one("root", &["suites/card agent", "evals", "a/b/Prüfung"]).to_owned();
        self.project.entry = self.project.root.clone();
        self.resources();
        match self.project.layout {
            Layout::Tasks => {
                self.suite_json();
                self.tasks();
                if self.has() {
                    self.project.entry.push_str("/suite.json");
                }
            }
            Layout::Combined => {
                self.suite_json();
                self.case_directories("cases");
            }
            Layout::Cases => {
                let name = self.choices.one("eval file", &["EVAL.yaml", "eval.YML", "refunds.eval.yaml", "plain.yaml"]);
                self.eval_file(name);
                if name == "plain.yaml" || self.has() {
                    self.project.entry = self.project.inside(name);
                }
            }
            Layout::Directories => {
                self.case_directories("");
            }
            Layout::Lines => {
                let cases: Vec<Node> = (0..4).map(|_| self.case(None)).collect();
                self.add("cases.jsonl", list(cases).rule(Rule::Free).tag("case list"), Syntax::Lines);
                self.project.entry = self.project.inside("cases.jsonl");
            }
        }
        self.calibration();
        self.shared_files();
    }

    fn tasks(&mut self) {
        let places = [
            ("tasks/task.json", false),
            ("tasks/positive/25 invoice/task.json", true),
            ("tasks/positive/empty.json", false),
            ("tasks/negative/Straße.JSON", false),
        ];
        for (file, has_workspace) in places {
            if has_workspace {
                let path = self.project.inside(&file.replace("task.json", "workspace/notes.json"));
                self.project.add_text(&path, "not a task");
            }
            self.task(file, has_workspace);
        }
    }

    pub(super) fn case_directories(&mut self, below: &str) {
        let count = 2 + self.choices.pick("case directories", DIRECTORIES.len() - 1);
        for directory in DIRECTORIES.iter().take(count) {
            let path = if below.is_empty() { (*directory).to_owned() } else { format!("{below}/{directory}") };
            let file = if self.choices.rarely("case.yml") { "case.yml" } else { "case.yaml" };
            let case = self.case(Some(directory));
            if case.get("workspace").is_none() && self.has() {
                let inside = self.project.inside(&format!("{path}/workspace/README.md"));
                self.project.add_text(&inside, "A workspace.\n");
            }
            self.add(&format!("{path}/{file}"), case, Syntax::Yaml);
        }
        let ignored = self.project.inside(format!("{below}/_draft").trim_start_matches('/'));
        self.project.add(&ignored, File::Directory);
    }

    /// Templates of assertions and a workspace file, if something names them: otherwise they are unused.
    fn shared_files(&mut self) {
        if self.is_named("include", "./_shared/own.yaml") {
            let mut assertions = self.template_assertions();
            let include = name("short").tag("include");
            let include = Node::new(Body::Map(vec![entry("include", include)])).tag("include entry");
            assertions.items_at(&[]).push(include);
            self.template("_shared/own.yaml", assertions);
        }
        for (include, file) in
            [("polite", ".evalsuite/templates/polite.yaml"), ("short", ".agentv/templates/short.yml")]
        {
            if self.is_named("include", include) {
                let assertions = self.template_assertions();
                self.template(file, assertions);
            }
        }
        if self.is_named("workspace file", "_shared/workspace.yaml") {
            let workspace = self.workspace_object(false).tag("workspace file root");
            self.add("_shared/workspace.yaml", workspace, Syntax::Yaml);
        }
    }

    fn is_named(&self, tag: &str, end: &str) -> bool {
        let mut found = false;
        self.project.walk(|_, _, node| found |= node.tag == tag && node.text().is_some_and(|text| text.ends_with(end)));
        found
    }

    fn template_assertions(&mut self) -> Node {
        self.is_template = true;
        let assertions = self.assertions(1, false);
        self.is_template = false;
        assertions
    }

    fn template(&mut self, file: &str, assertions: Node) {
        let assertions = assertions.rule(Rule::Free).tag("template list");
        let node = keys("a template").tag("template file").need(Code::InvalidExternalFile, "assertions", assertions);
        self.add(file, node, Syntax::Yaml);
    }
}
