//! `calibration.yaml`: what people say about answers, of the suite's cases and of others.

use evalsuite_schema::diagnostics::Code;

use super::Generator;
use crate::project::Layout;
use crate::render::Syntax;
use crate::tree::{FRACTION, Node, Rule, any_text, keys, list, name, number, text};

/// A case with graders that ask judges.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    case: String,
    /// Names of the graders.
    graders: Vec<String>,
    /// There is no other grader that asks, so that no sample has to name it.
    is_only: bool,
}

const CORRELATION: Rule = Rule::Number(&evalsuite_schema::keys::range::CORRELATION);

/// Graders that ask a judge themselves.
pub(crate) const JUDGES: &[&str] = &["llm-grader", "rubrics", "compare"];

impl Generator {
    /// Assertions of a case of which one asks a judge, or several.
    pub(super) fn judges(&mut self, case: &str, count: usize) -> Node {
        let first = self.choices.one("judge", JUDGES);
        let mut items = vec![self.grader(first, 0)];
        if count == 1 {
            items.push(self.grader("contains", 0));
        } else {
            items.push(self.grader("composite", 0));
            items.push(self.grader("rubrics", 0));
        }
        let node = list(items).tag("assertions");
        let mut graders = Vec::new();
        node.walk(&mut Vec::new(), &mut |_, node| {
            if let Some(name) = asks(node).then(|| node.get("name").and_then(Node::text)).flatten() {
                graders.push(name.to_owned());
            }
        });
        self.judged.push(Judged { case: case.to_owned(), graders, is_only: count == 1 });
        node
    }

    /// Graders of a task of which one asks a judge, or two.
    pub(super) fn task_judges(&mut self, task: &str, count: usize) -> Vec<Node> {
        let kinds = &JUDGES[..count];
        let graders = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        self.judged.push(Judged { case: task.to_owned(), graders, is_only: count == 1 });
        kinds.iter().chain(&["contains"]).map(|kind| self.task_grader(kind)).collect()
    }

    /// Adds a calibration beside the suite.
    pub(super) fn calibration(&mut self) {
        if !self.has() {
            return;
        }
        let mut node = keys("a calibration").tag("calibration");
        if self.has() {
            node = node.put("$schema", any_text("https://example.org/calibration.json"));
        }
        if self.has() {
            node = node.put("tolerance", number(self.choices.one("tolerance", &["0.1", "0", "1"])).rule(FRACTION));
        }
        if self.has() {
            node = node.put("threshold", number("0.5").rule(FRACTION));
        }
        if self.has() {
            let mut minimum = keys("`minimum`").put("kappa", number("0.6").rule(CORRELATION));
            for key in ["spearman", "pearson"] {
                if self.has() {
                    minimum = minimum.put(key, number("-0.5").rule(CORRELATION));
                }
            }
            node = node.put("minimum", minimum.put("agreement", number("0.8").rule(FRACTION)));
        }
        if self.has() {
            node = node.put("maximum", keys("`maximum`").put("mae", number("0.2").rule(FRACTION)));
        }
        let has_grader = self.choices.pick("grader of samples", 2) == 1;
        if has_grader {
            let kind = self.choices.one("judge of samples", JUDGES);
            node = node.put("grader", self.grader(kind, 0).tag("sample judge"));
        }
        let items = self.samples(has_grader);
        let samples = match self.choices.pick("samples", 3) {
            0 => list(items).rule(Rule::Free).tag("samples"),
            file => {
                let (name, syntax) = [("labels.jsonl", Syntax::Lines), ("labels.yaml", Syntax::Yaml)][file - 1];
                self.add(&format!("_shared/{name}"), list(items).rule(Rule::Free).tag("sample list"), syntax);
                self.shared_file(name).tag("samples file")
            }
        };
        let node = node.need(Code::MissingKey, "samples", samples);
        let file = self.name_of_calibration();
        self.add(&file, node, Syntax::Yaml);
    }

    fn name_of_calibration(&mut self) -> String {
        let ending = self.choices.one("ending of the calibration", &["yaml", "yml"]);
        let file = format!("calibration.{ending}");
        let stem = match self.project.layout {
            Layout::Lines => Some("cases"),
            Layout::Cases => ["EVAL.yaml", "eval.YML", "refunds.eval.yaml", "plain.yaml"]
                .iter()
                .find(|name| self.project.files.contains_key(&self.project.inside(name)))
                .and_then(|name| name.split('.').next()),
            _ => None,
        };
        match stem {
            Some(stem) if self.choices.pick("calibration of one suite", 2) == 1 => format!("{stem}.{file}"),
            _ => file,
        }
    }

    /// At least two of each kind, as far as there are cases for it.
    fn samples(&mut self, has_grader: bool) -> Vec<Node> {
        let mut items = Vec::new();
        let judged: Vec<Judged> = self.judged.iter().take(6).cloned().collect();
        for judged in judged {
            let mut node = self.sample().put("case", name(&judged.case).tag("sample case"));
            if !judged.is_only || self.has() {
                let index = self.choices.pick("judge of a case", judged.graders.len());
                node = node.put("grader", name(&judged.graders[index]).tag("sample grader"));
            }
            items.push(node);
        }
        for _ in 0..2 {
            let input = if self.has() { self.messages() } else { self.text_input() };
            let mut node = self.sample().tag("own sample").need(Code::MissingInput, "input", input);
            if !has_grader || self.has() {
                node = node.put("criteria", self.sentence());
            }
            if self.has() {
                let (expected, _) = self.expected_output();
                node = node.put("expected_output", expected);
            }
            items.push(node);
        }
        let count = self.choices.pick("order of samples", items.len());
        items.rotate_left(count);
        items
    }

    fn sample(&mut self) -> Node {
        let mut node = keys("a sample").tag("sample");
        let id = self.fresh();
        node = node.need(Code::MissingKey, "id", any_text(id).literal().tag("sample id"));
        let score = number(self.choices.one("score", &["0", "0.25", "1.0", "1"])).rule(FRACTION);
        node = node.need(Code::MissingKey, "human_score", score);
        node = node.need(Code::MissingKey, "output", self.any_sentence().rule(Rule::String));
        if self.has() { node.put("rationale", text("Nobody was polite.")) } else { node }
    }
}

/// Whether a value is a grader that asks a judge itself.
pub(crate) fn asks(node: &Node) -> bool {
    let kind = node.get("type").and_then(Node::text).unwrap_or_default().replace('_', "-");
    node.tag == "grader" && JUDGES.contains(&kind.as_str())
}
