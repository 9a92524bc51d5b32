//! Graders of every built-in type, and of one that is registered in Rust.

use std::sync::LazyLock;

use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::grader::{ResultSource, TABLES};

use super::Generator;
use crate::tree::{
    FRACTION, NOT_NEGATIVE, Node, PASS_MARK, Rule, UNBOUNDED, any_text, boolean, choice, entry, integer, keys, list,
    name, number, open, text,
};

/// Types of graders, and one that is registered in Rust. `field-accuracy` needs a reference answer, which is generated with it.
pub(super) static TYPES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let types = TABLES.iter().map(|table| table.id).filter(|id| *id != "field-accuracy");
    types.chain(["tone_of_voice"]).collect()
});

/// The schema that graders name, in the suite.
pub(crate) const SCHEMA: &str = "_shared/order.schema.json";

const NEEDED: Code = Code::MissingGraderSetting;

pub(super) const MODES: &[&str] = &["any_order", "in_order", "exact", "superset", "subset"];
const ARGS_MATCHES: &[&str] = &["exact", "superset", "subset", "ignore"];
const MATCHES: &[&str] = &["exact", "numeric_tolerance", "date"];
const AGGREGATIONS: &[&str] = &["weighted_average", "all_or_nothing"];
const FORMATS: &[&str] = &["YYYY-MM-DD", "DD/MM/YYYY", "DD-MMM-YYYY"];

impl Generator {
    /// A list of `count` assertions or a few more, and a `field-accuracy` if there is a document to compare with.
    pub(super) fn assertions(&mut self, count: usize, has_document: bool) -> Node {
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.assertion(0));
        }
        while items.len() < count + 4 && self.has() {
            items.push(self.assertion(0));
        }
        if has_document && self.has() {
            items.push(self.grader("field-accuracy", 0));
        }
        list(items).tag("assertions")
    }

    fn assertion(&mut self, depth: usize) -> Node {
        match self.choices.pick("assertion", 6) {
            0 => self.sentence().tag("plain assertion"),
            1 if !self.is_template => {
                let template = self.choices.one("template", &["polite", "short", "./_shared/own.yaml"]);
                Node::new(crate::tree::Body::Map(Vec::new()))
                    .tag("include entry")
                    .put("include", name(template).tag("include"))
            }
            _ => {
                let kind = self.choices.one("grader", &TYPES);
                self.grader(kind, depth)
            }
        }
    }

    /// An entry of `assertions`.
    pub(super) fn grader(&mut self, kind: &'static str, depth: usize) -> Node {
        let kind = if depth >= 2 && kind == "composite" { "is-json" } else { kind };
        let (written, what) = match kind {
            "tone_of_voice" => (kind.to_owned(), "a grader registered in Rust"),
            _ if self.choices.rarely("underscore") => (kind.replace('-', "_"), kind),
            _ => (kind.to_owned(), kind),
        };
        let mut node = keys(what).tag("grader").need(NEEDED, "type", name(written).tag("type"));
        if !self.is_template || depth > 0 {
            let fresh = self.fresh();
            node = node.put("name", name(fresh).tag("grader name"));
        }
        if self.has() {
            node = node.put("weight", number(self.choices.one("weight", &["2", "0.5", "1.0"])).rule(Rule::Weight));
        }
        if self.has() {
            node = node.put("required", boolean(self.choices.pick("required", 2) == 0).tag("required"));
        }
        if self.has() && !matches!(kind, "composite" | "similar") {
            node = node.put("min_score", number("0.75").rule(PASS_MARK));
        }
        if self.has() {
            node = node.put("negate", boolean(false));
        }
        if self.has() {
            node = node.put("examples", self.examples());
        }
        for setting in self.settings(kind, depth) {
            node.push(setting);
        }
        node
    }

    /// Results that a case or a grader has to pass or to fail.
    pub(super) fn examples(&mut self) -> Node {
        let node = keys("`examples`").put("pass", list([any_text("19.90 EUR"), any_text("")]));
        if self.has() { node.put("fail", list([any_text("1990 EUR")])) } else { node }
    }

    /// A grader of a task: what other layouts write side by side is under `config`.
    pub(super) fn task_grader(&mut self, kind: &'static str) -> Node {
        let node =
            keys("a grader").tag("task grader").need(Code::MissingKey, "name", text(kind).tag("task grader name"));
        if kind == "tone_of_voice" {
            return node.put("config", self.facts());
        }
        let mut config = keys(kind).tag("config");
        for setting in self.settings(kind, 0) {
            config.push(setting);
        }
        if self.has() && !matches!(kind, "composite" | "similar") {
            config = config.put("min_score", number("0.75").rule(PASS_MARK));
        }
        if self.has() {
            config = config.put("negate", boolean(true));
        }
        let node = if self.has() { node.put("examples", self.examples()) } else { node };
        if config.entries().is_empty() { node } else { node.put("config", config) }
    }

    fn settings(&mut self, kind: &'static str, depth: usize) -> Vec<crate::tree::Entry> {
        let node = keys(kind);
        let node = match kind {
            "contains" | "icontains" | "starts-with" | "ends-with" | "equals" => {
                let value = self.any_sentence().rule(Rule::NotEmpty);
                node.need(NEEDED, "value", value)
            }
            "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => {
                let mut items = vec![self.any_sentence().rule(Rule::NotEmpty)];
                if self.has() {
                    items.push(any_text(" ").rule(Rule::NotEmpty));
                }
                node.need(NEEDED, "value", list(items).tag("values"))
            }
            "regex" => self.regex(node),
            "similar" => {
                let node = node.put("value", self.any_sentence().rule(Rule::NotEmpty));
                let node = if self.has() { node.put("ignore_case", boolean(true)) } else { node };
                match self.choices.pick("mark of similar", 3) {
                    0 => node.put("min_score", number("0.75").rule(PASS_MARK)),
                    1 => node.put("max_distance", integer(3, 0, UNBOUNDED)),
                    _ => node,
                }
            }
            "contains-json" => {
                if self.has() {
                    node.put("schema", self.shared_file(SCHEMA.trim_start_matches("_shared/")))
                } else {
                    node
                }
            }
            "json-schema" => {
                let schema = self.shared_file(SCHEMA.trim_start_matches("_shared/")).tag("schema file");
                node.need(NEEDED, "schema", schema)
            }
            "token-usage" => {
                node.renamed("max_total", &["maxTotal"], number(4000).rule(NOT_NEGATIVE).tag("only limit"))
            }
            "execution-metrics" => {
                node.renamed("max_tool_calls", &["maxToolCalls"], number(3).rule(NOT_NEGATIVE).tag("only limit"))
            }
            "tool-trajectory" => self.trajectory(node),
            "field-accuracy" => self.field_accuracy(node),
            "code-grader" => self.code_grader(node),
            "composite" => self.composite(node, depth),
            "llm-grader" => self.llm_grader(node),
            "rubrics" => {
                let node = node.need(NEEDED, "criteria", self.criteria());
                self.with_preprocessors(node)
            }
            "compare" => {
                let node = node.put("reference", self.any_sentence().rule(Rule::Text));
                self.with_preprocessors(node)
            }
            "tone_of_voice" => node.put("config", self.facts()),
            _ => node,
        };
        let node = match TABLES.iter().find(|table| table.id == kind) {
            Some(table) => self.stated(node, table, &["against", "ignore_case", "max_distance"]),
            None => node,
        };
        node.entries().to_vec()
    }

    fn regex(&mut self, node: Node) -> Node {
        let pattern =
            self.choices.one("pattern", &[r"\b19[.,]90\b", "(?i)refund(?!ed)", "(a+)+$", r"(?<q>['\x22]).*\k<q>"]);
        let node = node.need(NEEDED, "value", any_text(pattern).rule(Rule::NotEmpty).tag("pattern"));
        if self.has() { node.put("flags", any_text("imsxu").rule(Rule::String).tag("flags")) } else { node }
    }

    fn trajectory(&mut self, node: Node) -> Node {
        let mode = self.choices.one("mode", MODES);
        let node = node.need(NEEDED, "mode", choice(mode, MODES).tag("trajectory mode"));
        let node = match mode {
            "any_order" => {
                let mut minimums = open([("search", integer(1, 0, UNBOUNDED)), ("Read", integer(0, 0, UNBOUNDED))]);
                minimums.tag = "minimums";
                let mut maximums = open([("search", integer(5, 1, UNBOUNDED)), ("delete_*", integer(0, 0, UNBOUNDED))]);
                maximums.tag = "maximums";
                match self.has() {
                    true => node.put("minimums", minimums).put("maximums", maximums),
                    false => node.need(NEEDED, "minimums", minimums),
                }
            }
            _ => {
                let mut calls = vec![self.expected_call(mode)];
                if self.has() {
                    calls.push(self.expected_call(mode));
                }
                node.need(NEEDED, "expected", list(calls).tag("expected calls"))
            }
        };
        if self.has() { node.renamed("args_match", &["argsMatch"], self.args_match()) } else { node }
    }

    fn args_match(&mut self) -> Node {
        match self.choices.pick("args match", 2) {
            0 => any_text(self.choices.one("args match word", ARGS_MATCHES)).literal().tag("args match"),
            _ => list([text("order.id"), text("items.0")]).tag("argument paths"),
        }
    }

    fn expected_call(&mut self, mode: &str) -> Node {
        let mut node = keys("an expected call").need(NEEDED, "tool", text("search"));
        node = match self.choices.pick("args", 3) {
            0 => node,
            1 => node.put("args", any_text("any").tag("args")),
            _ => {
                let args = open([
                    ("order", open([("id", number(1182))]).rule(Rule::Free)),
                    ("items", list([number(1)]).rule(Rule::Free)),
                ]);
                let node = if self.has() { node.put("ignore_args", list([text("request_*")])) } else { node };
                node.put("args", args.tag("args")).renamed(
                    "args_match",
                    &["argsMatch"],
                    self.args_match().tag("call args match"),
                )
            }
        };
        if matches!(mode, "in_order" | "exact") && self.has() {
            node = node.renamed("max_duration_ms", &["maxDurationMs"], number(250).rule(NOT_NEGATIVE));
        }
        node
    }

    fn field_accuracy(&mut self, node: Node) -> Node {
        let mut fields = vec![self.field("exact", "order.id")];
        if self.has() {
            fields.push(self.field("numeric_tolerance", "order.items[0].price"));
        }
        if self.has() {
            fields.push(self.field("date", "due"));
        }
        let node = node.need(NEEDED, "fields", list(fields).tag("fields"));
        if self.has() { node.put("aggregation", choice("all_or_nothing", AGGREGATIONS)) } else { node }
    }

    fn field(&mut self, matching: &str, path: &str) -> Node {
        let mut node = keys("a field").tag("field").need(NEEDED, "path", text(path).tag("field path"));
        node = node.need(NEEDED, "match", choice(matching, MATCHES).tag("field match"));
        if self.has() {
            node = node.put("required", boolean(false)).put("weight", number(2).rule(Rule::Weight));
        }
        match matching {
            "numeric_tolerance" if self.has() => {
                node.put("tolerance", number("0.01").rule(NOT_NEGATIVE)).put("relative", boolean(true))
            }
            "date" if self.has() => node.put("formats", list(FORMATS.iter().map(|format| choice(format, FORMATS)))),
            _ => node,
        }
    }

    fn code_grader(&mut self, node: Node) -> Node {
        let node = node.tag("code-grader");
        let mut node = match self.choices.pick("command", 3) {
            0 => node.need(NEEDED, "command", any_text("cargo test --quiet").rule(Rule::Command)),
            1 => node.need(NEEDED, "command", self.argv().rule(Rule::Command)),
            // A working directory is searched first.
            _ => {
                let command =
                    list([text("./grade.py"), text("--strict")].map(|word| word.rule(Rule::Free))).rule(Rule::Command);
                node.need(NEEDED, "command", command).put("cwd", self.shared_directory("scripts"))
            }
        };
        let last = node.entries().iter().position(|entry| entry.key == "command").unwrap_or_default();
        node.entries_at(&[])[last].old = &["script"];
        if self.has() {
            node = node.put("config", open([("currency", any_text("EUR")), ("deep", self.free())]));
        }
        if self.has() {
            node = node.put("tolerance_in_cents", self.free());
        }
        node = self.sealing(node);
        self.with_preprocessors(node)
    }

    /// A program of the suite, or one of the system with a script of the suite.
    pub(super) fn argv(&mut self) -> Node {
        let words: &[&str] = self.choices.one(
            "argv",
            &[
                &["python3", "_shared/scripts/grade.py", "--level", "2"] as &[&str],
                &["./_shared/scripts/to_text", "./_shared/brief.md"],
                &["/usr/bin/env", "true", "${{ HOME }}/x"],
            ],
        );
        list(words.iter().map(|word| any_text(*word))).rule(Rule::Argv)
    }

    pub(super) fn preprocessors(&mut self) -> Node {
        let argv = self.argv();
        let node = keys("a preprocessor").need(Code::MissingKey, "type", name("application/pdf")).need(
            Code::MissingKey,
            "command",
            argv,
        );
        list([node])
    }

    fn composite(&mut self, node: Node, depth: usize) -> Node {
        let mut members = vec![self.grader("contains", depth + 1)];
        while members.len() < 4 && self.has() {
            let kind = self.choices.one("member", &TYPES);
            members.push(self.grader(kind, depth + 1));
        }
        let first = members[0].get("name").and_then(Node::text).unwrap_or_default().to_owned();
        let members = list(members).tag("members");
        let mut node = node.need(Code::InvalidComposite, "assertions", members);
        node.entries_at(&[])[0].old = &["assert", "evaluators"];
        node.need(NEEDED, "aggregator", self.aggregator(&first))
    }

    fn aggregator(&mut self, member: &str) -> Node {
        let node = keys("`aggregator`").tag("aggregator");
        let kind = |kind: &str| name(kind).tag("aggregator type");
        match self.choices.pick("aggregator", 4) {
            0 => {
                let node = node.need(NEEDED, "type", kind("weighted_average"));
                match self.has() {
                    true => {
                        let mut weights = open([]).tag("weights");
                        weights.push(entry(member, number("0.5").rule(Rule::Weight)));
                        node.put("weights", weights)
                    }
                    false => node,
                }
            }
            1 => node.need(NEEDED, "type", kind("threshold")).need(
                NEEDED,
                "threshold",
                number("0.5").rule(FRACTION).tag("aggregator threshold"),
            ),
            2 => {
                let command = self.argv().rule(Rule::Command);
                let mut node = node.need(NEEDED, "type", kind("code-grader")).need(NEEDED, "command", command);
                let last = node.entries().len() - 1;
                node.entries_at(&[])[last].other = Some(("path", "path"));
                if self.has() {
                    node = node.put("cwd", self.shared_directory("scripts"));
                }
                if self.has() { node.put("result", choice("status", ResultSource::WORDS)) } else { node }
            }
            _ => {
                let node = node.need(NEEDED, "type", kind("llm-grader"));
                let node = match self.choices.pick("aggregator prompt", 3) {
                    0 => node,
                    1 => node.put(
                        "prompt",
                        text("Sum up {{ EVALUATOR_RESULTS_JSON }} in one score").tag("aggregator prompt"),
                    ),
                    _ => node.put("prompt", text("file://_shared/results.txt").tag("prompt file")),
                };
                if self.has() { node.put("model", text("gpt-5")) } else { node }
            }
        }
    }

    fn llm_grader(&mut self, node: Node) -> Node {
        let node = match self.choices.pick("prompt", 3) {
            0 => node.put("prompt", any_text("Is {{ output }} polite?").rule(Rule::Free).tag("prompt text")),
            1 => node.put("prompt", text("file://_shared/judge.md").tag("prompt file")),
            _ => {
                let command = keys("`prompt`").need(NEEDED, "command", self.argv());
                node.put("prompt", if self.has() { command.put("config", self.facts()) } else { command })
            }
        };
        let node = if self.has() { node.put("rubrics", self.criteria()) } else { node };
        self.with_preprocessors(node)
    }

    fn with_preprocessors(&mut self, node: Node) -> Node {
        if self.has() { node.put("preprocessors", self.preprocessors()) } else { node }
    }
}
