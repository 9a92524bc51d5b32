//! The table of samples: graders with works that pass and fail them, and with results that cannot be read.

use evalsuite_schema::json::{Value, json};

/// What an agent reports, and what a judge says about it.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) evidence: Value,
    pub(crate) reply: Option<String>,
}

impl Work {
    /// An answer after some calls.
    fn new(answer: &str, calls: Value) -> Self {
        let message = json!({"role": "assistant", "content": answer, "tool_calls": calls});
        Self { evidence: json!({"messages": [message]}), reply: None }
    }

    fn reported(mut self, key: &str, value: Value) -> Self {
        self.evidence[key] = value;
        self
    }

    fn judged(mut self, reply: &str) -> Self {
        self.reply = Some(reply.to_owned());
        self
    }

    /// The work with other calls.
    pub(crate) fn with_calls(&self, change: impl FnOnce(&mut Vec<Value>)) -> Self {
        let mut work = self.clone();
        if let Some(Value::Array(calls)) = work.evidence["messages"][0].get_mut("tool_calls") {
            change(calls);
        }
        work
    }

    /// The work with another answer, if the answer is JSON.
    pub(crate) fn with_answer(&self, change: impl FnOnce(&Value) -> Value) -> Self {
        let mut work = self.clone();
        let answer = work.evidence["messages"][0]["content"].as_str().unwrap_or_default();
        if let Ok(value) = evalsuite_schema::json::from_str::<Value>(answer) {
            work.evidence["messages"][0]["content"] = Value::from(change(&value).to_string());
        }
        work
    }
}

fn answer(text: &str) -> Work {
    Work::new(text, json!([]))
}

fn answers(texts: &[&str]) -> Vec<Work> {
    texts.iter().map(|text| answer(text)).collect()
}

/// Works that call these tools, with the argument `x`.
fn calls(works: &[&[(&str, i64)]]) -> Vec<Work> {
    let call = |(tool, x): &(&str, i64)| json!({"tool": tool, "input": {"x": x, "y": "z"}});
    works.iter().map(|calls| Work::new("done", calls.iter().map(call).collect())).collect()
}

fn judged(replies: &[&str]) -> Vec<Work> {
    replies.iter().map(|reply| answer("the answer").judged(reply)).collect()
}

/// A grader as an entry of a suite, with its works.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) entry: Value,
    pub(crate) passes: Vec<Work>,
    pub(crate) fails: Vec<Work>,
    /// Entries and works of which the result cannot be read, or of which nothing is known that the grader reads.
    pub(crate) unreadable: Vec<(Value, Work)>,
    /// Whether the order of calls matters.
    pub(crate) is_ordered: bool,
}

fn sample(entry: Value, passes: Vec<Work>, fails: Vec<Work>) -> Sample {
    let mut entry = entry;
    entry["name"] = json!("sample");
    Sample { entry, passes, fails, unreadable: Vec::new(), is_ordered: false }
}

impl Sample {
    fn unreadable(mut self, works: Vec<Work>) -> Self {
        let entry = self.entry.clone();
        self.unreadable.extend(works.into_iter().map(|work| (entry.clone(), work)));
        self
    }

    fn ordered(self) -> Self {
        Self { is_ordered: true, ..self }
    }
}

/// Replies of a judge that are no judgement of any shape.
const GARBAGE: [&str; 9] = [
    "",
    "I like it",
    "{\"score\": 1",
    "{\"score\": \"high\"}",
    "{\"score\": 2}",
    "[]",
    "{}",
    "null",
    "{\"score\": NaN, \"better\": 1, \"checks\": 1}",
];

/// Outputs of a command that are no result.
const OUTPUTS: [&str; 12] = [
    "all good",
    "log\n{\"score\": 1}",
    "{\"score\": 1}\nlog",
    "Result: {\"score\": 1}",
    "[{\"score\": 1}]",
    "True",
    "nan",
    "100%",
    "PASS: all",
    "score: 1",
    "{\"score\": 1",
    "{\"score\": \"1\"}",
];

/// A work without a transcript: it is not known which calls there were.
fn unreported() -> Work {
    Work { evidence: json!({"messages": "none"}), reply: None }
}

fn texts() -> Vec<Sample> {
    vec![
        sample(
            json!({"type": "contains", "value": "19.90"}),
            answers(&["total 19.90 EUR"]),
            answers(&["total 19,90", ""]),
        ),
        sample(json!({"type": "contains-any", "value": ["a", "b"]}), answers(&["xb"]), answers(&["x", ""])),
        sample(json!({"type": "contains-all", "value": ["a", "b"]}), answers(&["ba"]), answers(&["a", ""])),
        sample(json!({"type": "icontains", "value": "Paid"}), answers(&["PAID"]), answers(&["pai d"])),
        sample(json!({"type": "icontains-any", "value": ["A", "B"]}), answers(&["xb"]), answers(&["x"])),
        sample(json!({"type": "icontains-all", "value": ["A", "b"]}), answers(&["Ba"]), answers(&["a"])),
        sample(json!({"type": "starts-with", "value": "Dear"}), answers(&[" Dear X"]), answers(&["X Dear"])),
        sample(json!({"type": "ends-with", "value": "bye"}), answers(&["Good bye \n"]), answers(&["bye now"])),
        sample(json!({"type": "equals", "value": "approved"}), answers(&[" approved\n"]), answers(&["approved."])),
        sample(json!({"type": "regex", "value": "^\\d+$"}), answers(&["12"]), answers(&["12a"])),
        sample(
            json!({"type": "similar", "value": "Refund approved."}),
            answers(&["Refund approved"]),
            answers(&["No refund", "Refund"]),
        ),
        sample(json!({"type": "similar", "value": "abc", "max_distance": 1}), answers(&["abd"]), answers(&["ade"])),
    ]
}

fn documents() -> Vec<Sample> {
    let schema = json!({"type": "object", "required": ["a", "b"]});
    let fields = json!([
        {"path": "total", "match": "numeric_tolerance", "tolerance": 0.01}, {"path": "when", "match": "date"},
    ]);
    let garbage = || answers(&["", "not JSON", "{\"total\": 19.9", "{\"a\": 1,}", "{'a': 1}"]);
    vec![
        sample(
            json!({"type": "is-json"}),
            answers(&["{\"a\": 1, \"b\": 2}", " [1] "]),
            answers(&["{\"a\": 1", "", "{a: 1}"]),
        ),
        sample(
            json!({"type": "contains-json"}),
            answers(&["{\"a\": 1, \"b\": [2]}", "so: {\"a\": 1}."]),
            answers(&["[1]", "{\"a\": 1", "{\"a\": {\"b\": 1}, \"c\": ", ""]),
        ),
        sample(
            json!({"type": "json-schema", "schema": schema}),
            answers(&["{\"a\": 1, \"b\": 2}"]),
            answers(&["{\"a\": 1}", "[]"]),
        )
        .unreadable(garbage()),
        sample(
            json!({"type": "field-accuracy", "fields": fields}),
            answers(&["{\"total\": 19.91, \"when\": \"31 Jan 2025\"}"]),
            answers(&["{\"total\": 19.92, \"when\": \"2025-01-31\"}", "{\"total\": 19.9}"]),
        )
        .unreadable(garbage()),
    ]
}

fn metrics() -> Vec<Sample> {
    let took = |duration: f64| answer("done").reported("duration_ms", json!(duration));
    let cost = |cost: f64| answer("done").reported("cost_usd", json!(cost));
    let used = |input: u64| answer("done").reported("token_usage", json!({"input": input, "output": 5}));
    let both = |input: u64, cost: f64| used(input).reported("cost_usd", json!(cost));
    vec![
        sample(json!({"type": "latency", "threshold": 100}), vec![took(100.0), took(1.0)], vec![took(100.5)]),
        sample(json!({"type": "cost", "budget": 0.3}), vec![cost(0.3), cost(0.1 + 0.2)], vec![cost(0.31)])
            .unreadable(vec![answer("done")]),
        sample(json!({"type": "token-usage", "max_total": 10}), vec![used(5)], vec![used(6)])
            .unreadable(vec![answer("done")]),
        sample(
            json!({"type": "execution-metrics", "max_tokens": 10, "max_cost_usd": 0.1, "max_tool_calls": 5}),
            vec![both(5, 0.1)],
            vec![both(6, 0.1), both(5, 0.2)],
        )
        .unreadable(vec![answer("done"), used(5)]),
    ]
}

fn trajectories() -> Vec<Sample> {
    let trajectory = |entry: Value, passes: &[&[(&str, i64)]], fails: &[&[(&str, i64)]]| {
        let mut written = json!({"type": "tool-trajectory"});
        for (key, value) in entry.as_object().expect("settings") {
            written[key.as_str()] = value.clone();
        }
        sample(written, calls(passes), calls(fails)).unreadable(vec![unreported()])
    };
    let skill = |name: &str| Work::new("done", json!([{"tool": "Skill", "input": {"skill": name}}, {"tool": "Bash"}]));
    let item = json!([{"tool": "a"}, {"tool": "a", "args": {"x": 1, "y": "z"}}]);
    vec![
        trajectory(
            json!({"mode": "any_order", "minimums": {"a": 1, "b*": 2}}),
            &[&[("b1", 1), ("a", 1), ("b2", 1)]],
            &[&[("a", 1), ("b", 1)], &[]],
        ),
        trajectory(
            json!({"mode": "any_order", "minimums": {"a": 1, "b": 1, "c": 1, "d": 1}, "maximums": {"delete_*": 0}}),
            &[&[("a", 1), ("b", 1), ("c", 1), ("d", 1)]],
            &[&[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("delete_all", 1)]],
        ),
        trajectory(
            json!({"mode": "superset", "expected": item}),
            &[&[("a", 1), ("a", 2)], &[("a", 2), ("c", 3), ("a", 1)]],
            &[&[("a", 1)], &[("a", 2), ("a", 3)]],
        ),
        trajectory(
            json!({"mode": "subset", "expected": [{"tool": "read*"}]}),
            &[&[("read", 1), ("read_all", 1)]],
            &[&[("read", 1), ("read", 2), ("read", 3), ("read", 4), ("delete_database", 1)]],
        ),
        trajectory(
            json!({"mode": "in_order", "expected": [{"tool": "a"}, {"tool": "b"}]}),
            &[&[("a", 1), ("c", 1), ("b", 1)]],
            &[&[("b", 1), ("a", 1)]],
        )
        .ordered(),
        trajectory(
            json!({"mode": "exact", "expected": [{"tool": "a"}, {"tool": "b"}]}),
            &[&[("a", 1), ("b", 1)]],
            &[&[("a", 1), ("b", 1), ("b", 1)], &[("b", 1), ("a", 1)]],
        )
        .ordered(),
        sample(json!({"type": "skill-trigger", "skill": "pdf"}), vec![skill("pdf")], vec![skill("csv")])
            .unreadable(vec![unreported()]),
        sample(
            json!({"type": "skill-trigger", "skill": "pdf", "should_trigger": false}),
            vec![skill("csv")],
            vec![skill("pdf")],
        )
        .unreadable(vec![unreported()]),
    ]
}

/// A command that prints this text.
fn prints(output: &str) -> Value {
    json!(["sh", "-c", "printf %s \"$1\"", "sh", output])
}

fn commands_and_judges() -> Vec<Sample> {
    // Prints the answer, which is in a line of its input.
    let echo = "sed -n 's/^  \"answer\": \"\\(.*\\)\",*$/\\1/p'";
    let mut command = sample(
        json!({"type": "code-grader", "command": echo}),
        answers(&["pass", "0.8", "1"]),
        answers(&["fail", "0.5"]),
    );
    let printing = OUTPUTS
        .map(|output| (json!({"name": "sample", "type": "code-grader", "command": prints(output)}), answer("done")));
    command.unreadable.extend(printing);
    let members = json!([{"type": "contains", "value": "paid", "name": "m"}]);
    let composite = |aggregator: Value| json!({"type": "composite", "assertions": members, "aggregator": aggregator});
    let combine = "grep -q '\"verdict\": \"pass\"' && echo pass || echo fail";
    let mut aggregated =
        sample(composite(json!({"type": "code-grader", "command": combine})), answers(&["paid"]), answers(&["open"]));
    let printing = OUTPUTS.map(|output| {
        let mut entry = composite(json!({"type": "code-grader", "command": prints(output)}));
        entry["name"] = json!("sample");
        (entry, answer("paid"))
    });
    aggregated.unreadable.extend(printing);
    let two = json!([{"type": "contains", "value": "a", "name": "m"}, {"type": "contains", "value": "b", "name": "n"}]);
    let of_two = |aggregator: Value| json!({"type": "composite", "assertions": two, "aggregator": aggregator});
    let judge_passes = "{\"score\": 0.9, \"assertions\": [{\"text\": \"t\", \"passed\": true}]}";
    let judge_fails = "{\"score\": 0.2, \"assertions\": [{\"text\": \"t\", \"passed\": false}]}";
    let check = |satisfied: bool| {
        json!({"checks": [{"id": "rubric-1", "satisfied": satisfied, "reasoning": "r"}], "overall_reasoning": "o"})
            .to_string()
    };
    let judged_with = |text: &str, reply: &str| answer(text).judged(reply);
    vec![
        command,
        aggregated,
        sample(
            of_two(json!({"type": "weighted_average", "weights": {"m": 9}})),
            answers(&["ab", "a"]),
            answers(&["b", ""]),
        ),
        sample(of_two(json!({"type": "threshold", "threshold": 0.5})), answers(&["a", "b"]), answers(&["x"])),
        sample(
            composite(json!({"type": "llm-grader"})),
            vec![judged_with("paid", judge_passes)],
            vec![judged_with("paid", judge_fails)],
        )
        .unreadable(GARBAGE.map(|reply| judged_with("paid", reply)).to_vec()),
        sample(
            json!({"type": "llm-grader", "prompt": "Is it polite?"}),
            judged(&[judge_passes]),
            judged(&[judge_fails]),
        )
        .unreadable(judged(&GARBAGE)),
        sample(
            json!({"type": "rubrics", "criteria": ["Is polite"]}),
            judged(&[&check(true)]),
            judged(&[&check(false)]),
        )
        .unreadable(judged(&GARBAGE)),
        sample(
            json!({"type": "compare", "reference": "another answer"}),
            judged(&["{\"better\": \"tie\"}"]),
            judged(&["{\"better\": \"OTHER\"}"]),
        )
        .unreadable(judged(&GARBAGE)),
    ]
}

/// All samples.
pub(crate) fn samples() -> Vec<Sample> {
    [texts(), documents(), metrics(), trajectories(), commands_and_judges()].concat()
}
