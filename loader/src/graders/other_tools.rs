//! Types of graders as other tools name them, and how they are written here.

use crate::diagnostic::{Edit, Fix};
use crate::read::node::Node;

/// A type of another tool.
struct Foreign {
    /// Its name, with `-` for `_`.
    name: &'static str,
    /// The type here.
    type_name: &'static str,
    /// What becomes of its text.
    text: Text,
}

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
    of("llm-rubric", "rubrics", Text::Criterion),
    of("agent-rubric", "rubrics", Text::Criterion),
    of("model-graded-closedqa", "rubrics", Text::Criterion),
    of("factuality", "rubrics", Text::Criterion),
    of("model-graded-factuality", "rubrics", Text::Criterion),
    of("trajectory:goal-success", "rubrics", Text::Criterion),
    of("g-eval", "llm-grader", Text::Prompt),
    of("answer-relevance", "llm-grader", Text::Prompt),
    of("levenshtein", "similar", Text::Value),
    of("javascript", "code-grader", SCRIPT),
    of("python", "code-grader", SCRIPT),
    of("ruby", "code-grader", SCRIPT),
    of("webhook", "code-grader", SCRIPT),
    of("is-valid-json", "is-json", NOTHING),
    of("json", "is-json", NOTHING),
    of("trajectory:tool-used", "tool-trajectory", CALLS),
    of("trajectory:tool-sequence", "tool-trajectory", CALLS),
    of("trajectory:tool-args-match", "tool-trajectory", CALLS),
    of("trajectory:step-count", "execution-metrics", Text::Otherwise("`max_tool_calls`")),
    of("tool-call-f1", "tool-trajectory", CALLS),
    of("skill-used", "skill-trigger", Text::Otherwise("`skill`")),
    of("assert-set", "composite", Text::Otherwise("`assertions` and `aggregator`")),
    // Inspect.
    of("includes", "contains", Text::Value),
    of("match", "ends-with", Text::Value),
    of("exact", "equals", Text::Value),
    of("pattern", "regex", Text::Value),
    of("model-graded-qa", "llm-grader", Text::Prompt),
    of("model-graded-fact", "llm-grader", Text::Prompt),
    // OpenAI's evals.
    of("string-check", "equals", Text::Otherwise("`value`")),
    of("text-similarity", "similar", Text::Otherwise("`value` and `threshold`")),
    of("label-model", "llm-grader", Text::Prompt),
    of("score-model", "llm-grader", Text::Prompt),
    of("modelgraded", "llm-grader", Text::Prompt),
    of("fuzzy-match", "similar", Text::Value),
    of("json-match", "json-schema", SCHEMA),
    // DeepEval.
    of("geval", "llm-grader", Text::Prompt),
    of("answer-relevancy", "llm-grader", Text::Prompt),
    of("faithfulness", "llm-grader", Text::Prompt),
    of("hallucination", "llm-grader", Text::Prompt),
    of("task-completion", "llm-grader", Text::Prompt),
    of("tool-correctness", "tool-trajectory", CALLS),
    of("json-correctness", "json-schema", SCHEMA),
    // Others.
    of("exact-match", "equals", Text::Value),
    of("equals-expected", "equals", Text::Value),
    of("llm", "llm-grader", Text::Prompt),
    of("llm-as-judge", "llm-grader", Text::Prompt),
    of("judge", "llm-grader", Text::Prompt),
    of("rouge-n", "similar", Text::Value),
    of("bleu", "similar", Text::Value),
];

const fn of(name: &'static str, type_name: &'static str, text: Text) -> Foreign {
    Foreign { name, type_name, text }
}

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
        let is_named =
            |foreign: &&Foreign| [name, short].contains(&foreign.name) || foreign.name.replace('-', "") == short;
        let (type_name, text) = match super::built_in(name) {
            Some(table) => (table.id, Text::Value),
            None => FOREIGN.iter().find(is_named).map(|foreign| (foreign.type_name, foreign.text))?,
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
            let column = usize::try_from(type_entry.key_span.range?.0.column).ok()?;
            let separator = match grader.is_flow() {
                true => ", ".to_owned(),
                false => format!("\n{}", " ".repeat(column.checked_sub(1)?)),
            };
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
