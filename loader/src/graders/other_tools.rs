//! Types of graders as other tools name them, and how they are written here.

use crate::diagnostic::{Edit, Fix};
use crate::read::node::Node;

/// The names of types in another tool, the type here, and what `value` becomes.
type Foreign = (&'static [&'static str], &'static str, Text);

/// What becomes of the key `value` of a [`Foreign`] type.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    /// It stays.
    Value,
    /// It is the one criterion of `rubrics`.
    Criterion,
    /// It is the prompt of an `llm-grader`.
    Prompt,
    /// It is written in another way, as these words say.
    Otherwise(&'static str),
}

const CALLS: Text = Text::Otherwise("`mode: in_order` and `expected: [{ tool: NAME }]`");
const SCHEMA: Text = Text::Otherwise("`schema: ./answer.schema.json`");
const SCRIPT: Text = Text::Otherwise("`command: [PROGRAM, ./graders/check.py]`");
const NOTHING: Text = Text::Otherwise("");

const FOREIGN: &[Foreign] = &[
    // promptfoo, as `convert` writes them.
    (&["llm-rubric", "agent-rubric", "model-graded-closedqa", "factuality"], "rubrics", Text::Criterion),
    (&["model-graded-factuality", "trajectory:goal-success"], "rubrics", Text::Criterion),
    (&["g-eval", "answer-relevance"], "llm-grader", Text::Prompt),
    (&["levenshtein"], "similar", Text::Value),
    (&["javascript", "python", "ruby", "webhook"], "code-grader", SCRIPT),
    (&["is-valid-json", "json"], "is-json", NOTHING),
    (&["trajectory:tool-used", "trajectory:tool-sequence", "trajectory:tool-args-match"], "tool-trajectory", CALLS),
    (&["tool-call-f1"], "tool-trajectory", CALLS),
    (&["trajectory:step-count"], "execution-metrics", Text::Otherwise("`max_tool_calls`")),
    (&["skill-used"], "skill-trigger", Text::Otherwise("`skill`")),
    (&["assert-set"], "composite", Text::Otherwise("`assertions` and `aggregator`")),
    // Inspect.
    (&["includes"], "contains", Text::Value),
    (&["match"], "ends-with", Text::Value),
    (&["exact"], "equals", Text::Value),
    (&["pattern"], "regex", Text::Value),
    (&["model-graded-qa", "model-graded-fact"], "llm-grader", Text::Prompt),
    // OpenAI's evals.
    (&["string-check"], "equals", Text::Otherwise("`value`")),
    (&["text-similarity"], "similar", Text::Otherwise("`value` and `threshold`")),
    (&["label-model", "score-model", "modelgraded"], "llm-grader", Text::Prompt),
    (&["fuzzy-match"], "similar", Text::Value),
    (&["json-match"], "json-schema", SCHEMA),
    // DeepEval.
    (&["geval", "answer-relevancy", "faithfulness", "hallucination", "task-completion"], "llm-grader", Text::Prompt),
    (&["tool-correctness"], "tool-trajectory", CALLS),
    (&["json-correctness"], "json-schema", SCHEMA),
    // Others.
    (&["exact-match", "equals-expected"], "equals", Text::Value),
    (&["llm", "llm-as-judge", "judge"], "llm-grader", Text::Prompt),
    (&["rouge-n", "bleu"], "similar", Text::Value),
];

/// How a type that is not built in is written here, if another tool has it, or it is a built-in one with `not-` before it.
pub(crate) struct Replacement {
    type_name: &'static str,
    text: Text,
    is_negated: bool,
}

impl Replacement {
    /// The replacement of the type that is written as `written`.
    pub(crate) fn of(written: &str) -> Option<Self> {
        let folded = written.to_lowercase().replace('_', "-");
        let positive = folded.strip_prefix("not-");
        let name = positive.unwrap_or(&folded);
        // The classes of DeepEval.
        let short = name.strip_suffix("metric").map_or(name, |name| name.trim_end_matches('-'));
        let is_named = |foreign: &&str| [name, short].contains(foreign) || foreign.replace('-', "") == short;
        let (type_name, text) = match super::built_in(name) {
            Some(table) => (table.id, Text::Value),
            None => {
                let found = FOREIGN.iter().find(|(names, ..)| names.iter().any(is_named));
                found.map(|(_, type_name, text)| (*type_name, *text))?
            }
        };
        (type_name != folded).then_some(Self { type_name, text, is_negated: positive.is_some() })
    }

    /// What to write. `grader` is the mapping, if it is known.
    pub(crate) fn help(&self, grader: Option<&Node>) -> String {
        let value = grader.and_then(|grader| grader.entry("value")).map(|entry| entry.value.shown());
        let value = value.as_deref().unwrap_or("…");
        let mut settings = match self.text {
            Text::Criterion => vec![format!("`criteria: [{value}]`")],
            Text::Prompt => vec![format!("`prompt: {value}`")],
            Text::Otherwise(words) if !words.is_empty() => vec![words.to_owned()],
            Text::Value | Text::Otherwise(_) => Vec::new(),
        };
        if self.is_negated {
            settings.push("`negate: true`".to_owned());
        }
        let settings = settings.join(" and ");
        let with = if settings.is_empty() { String::new() } else { format!(" with {settings}") };
        format!("write `type: {}`{with}", self.type_name)
    }

    /// The changes of a grader that write it so, if they are certain.
    pub(crate) fn fix(&self, grader: &Node) -> Option<Fix> {
        let (type_entry, value) = (grader.entry("type")?, grader.entry("value"));
        let (start, end) = type_entry.value.span.range?;
        let mut kind = type_entry.quoted_alike(self.type_name);
        if self.is_negated && grader.entry("negate").is_none() {
            let separator = grader.separator(type_entry.key_span.range?.0.column)?;
            kind.push_str(&format!("{separator}{}: true", type_entry.quoted_alike("negate")));
        }
        let mut edits = vec![Edit::new(start, end, kind)];
        let key = match self.text {
            Text::Value => return Some(Fix::Edits(edits)),
            Text::Criterion => "criteria",
            Text::Prompt => "prompt",
            Text::Otherwise(_) => return None,
        };
        let value = value.filter(|entry| entry.value.as_str().is_some() && grader.entry(key).is_none())?;
        let (key_start, key_end) = value.key_span.range?;
        edits.push(Edit::new(key_start, key_end, type_entry.quoted_alike(key)));
        if self.text == Text::Criterion {
            let ((start, end), text) = (value.value.span.range?, value.value.to_json());
            edits.push(Edit::new(start, end, format!("[{text}]")));
        }
        Some(Fix::Edits(edits))
    }
}
