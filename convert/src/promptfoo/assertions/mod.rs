//! Assertions of promptfoo as graders, one file per family.

mod grader;
mod json;
mod judged;
mod scripts;
mod text;
mod tools;
mod transform_code;
mod transformed;
mod transforms;

use std::path::PathBuf;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::{Object, json};

pub(super) use self::grader::{Grader, LOWEST_MARK, Names, never_passes};
use super::source_files::{FILE_SCHEME, FileValue, load};
use super::{template, values};
use crate::output::Output;
use crate::report::{Place, Report};
use crate::source::SourceFiles;

/// An assertion where it is written.
#[derive(Debug, Clone)]
pub(super) struct Assertion {
    /// A mapping.
    pub(super) value: Value,
    pub(super) place: Place,
}

/// What assertions of a case are mapped with.
pub(super) struct CaseContext<'a> {
    /// The variables of the case.
    pub(super) variables: &'a Object,
    pub(super) files: &'a SourceFiles,
    /// The id of the case.
    pub(super) id: &'a str,
    /// Whether the score of the case decides, not the verdict of each assertion.
    pub(super) scores_decide: bool,
    /// What is done to answers before they are graded.
    pub(super) transform: Option<&'a str>,
    pub(super) output: &'a mut Output,
    pub(super) report: &'a mut Report,
}

impl CaseContext<'_> {
    /// Reports that the verdict of a check may be another one.
    fn different(&mut self, check: &Check<'_>, reason: impl Into<String>) {
        self.report.different(check.place(), reason);
    }

    fn different_if(&mut self, is_different: bool, check: &Check<'_>, reason: &str) {
        if is_different {
            self.different(check, reason);
        }
    }
}

/// promptfoo's distance without a threshold.
const DISTANCE: f64 = 5.0;

/// What checks an assertion.
pub(super) struct Check<'a> {
    /// The type without `not-`.
    pub(super) kind: &'a str,
    pub(super) is_negated: bool,
    /// The value with its variables filled in; `None` if there is none.
    pub(super) value: Option<Value>,
    /// The script that the value names.
    pub(super) script: Option<(PathBuf, Option<String>)>,
    pub(super) threshold: Option<f64>,
    pub(super) assertion: &'a Assertion,
}

impl Check<'_> {
    /// The value as JavaScript writes it.
    pub(super) fn text(&self) -> Option<String> {
        self.value.as_ref().map(values::javascript_text)
    }

    /// Whether the value is in another file.
    pub(super) fn is_from_file(&self) -> bool {
        let written = self.assertion.value.get("value").and_then(Value::as_text);
        written.is_some_and(|text| text.starts_with(FILE_SCHEME))
    }

    /// The texts of an assertion that looks for several.
    fn texts(&self) -> Result<Vec<String>, String> {
        let value = self.value.as_ref().ok_or("it has no value")?;
        let texts: Vec<String> = match value.items() {
            Some(items) => items.iter().map(values::string).collect(),
            None => values::comma_list(&self.text().unwrap_or_default()).0,
        };
        if texts.is_empty() || texts.iter().any(String::is_empty) {
            return Err("a text to look for is empty".to_owned());
        }
        Ok(texts)
    }

    /// The largest distance of texts that passes.
    fn largest_distance(&self, context: &mut CaseContext<'_>) -> Result<f64, String> {
        let threshold = self.threshold.unwrap_or(DISTANCE);
        if threshold < 0.0 {
            return Err("its threshold is below 0, so it never passes".to_owned());
        }
        context.different_if(threshold == 0.0, self, "older versions of promptfoo take a threshold of 0 for 5");
        Ok(threshold)
    }

    pub(super) fn place(&self) -> &Place {
        &self.assertion.place
    }
}

/// The graders of assertions, and whether one of them was dropped, which is reported.
pub(super) fn map_all(assertions: &[Assertion], context: &mut CaseContext<'_>) -> (Vec<Grader>, bool) {
    let (mut graders, mut is_lost) = (Vec::new(), false);
    for assertion in assertions {
        let mapped = map(assertion, context);
        match context.report.kept(&assertion.place, mapped) {
            Some(grader) => graders.extend(grader),
            None => is_lost = true,
        }
    }
    (graders, is_lost)
}

/// The grader of an assertion; `None` if it grades nothing, in the original as well. The error says why it is dropped.
fn map(assertion: &Assertion, context: &mut CaseContext<'_>) -> Result<Option<Grader>, String> {
    let (value, place) = (&assertion.value, &assertion.place);
    let kind = value.get("type").and_then(Value::as_text).ok_or("it has no type")?;
    if matches!(kind, "latency" | "cost") && value.get("threshold").is_none() {
        let reason = "promptfoo reports an error without a threshold; every record has duration and cost";
        context.report.different(place, reason);
        return Ok(None);
    }
    let (is_negated, kind) = kind.strip_prefix("not-").map_or((false, kind), |kind| (true, kind));
    let grader = match kind {
        "assert-set" | "and" | "or" => set(assertion, kind, context)?,
        _ => {
            let threshold = value.get("threshold").and_then(Value::as_number);
            let check = Check { kind, is_negated, value: None, script: None, threshold, assertion };
            Some(single(check, context)?)
        }
    };
    let Some(mut grader) = grader else { return Ok(None) };
    context.report.mapped(place);
    note_refused_settings(assertion, context.report);
    grader.weight = value.get("weight").and_then(Value::as_number).unwrap_or(1.0);
    if grader.weight < 0.0 {
        context.report.different(place, "its weight is negative, and 0 here");
        grader.weight = 0.0;
    }
    // Where verdicts decide, a set that always passes must not hold back the mean.
    if grader.is_set && !grader.can_fail && !context.scores_decide {
        grader.weight = 0.0;
    }
    let name = value.get("metric").and_then(Value::as_text);
    let rendered =
        |name: &str| template::render(name, context.variables).map_or_else(|_| name.to_owned(), |name| name.text);
    grader.name = name.map(rendered);
    (grader.above, grader.beside) = (value.above.clone(), value.beside.clone());
    Ok(Some(grader))
}

/// Reports settings of a type for which promptfoo refuses the whole configuration.
fn note_refused_settings(assertion: &Assertion, report: &mut Report) {
    for (key, value) in assertion.value.entries() {
        let expected = match (key.as_str(), &value.data) {
            ("threshold" | "weight", Data::Number(_)) | ("metric", Data::Text(_)) | ("config", Data::Mapping(_)) => {
                continue;
            }
            ("threshold" | "weight", _) => "a finite number",
            ("metric", _) => "text",
            ("config", _) => "a mapping",
            _ => continue,
        };
        report.different(
            &assertion.place,
            format!("promptfoo refuses the configuration, because `{key}` is not {expected}"),
        );
    }
}

fn single(mut check: Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if let Some(written) = check.assertion.value.get("value") {
        fill_in(written, &mut check, context)?;
    }
    let family = Family::of(check.kind);
    if check.script.is_some() && !matches!(family, Some(Family::Script) | None) {
        return Err("its value is written by a program".to_owned());
    }
    let weight = check.assertion.value.get("weight").and_then(Value::as_number);
    let is_optional = context.scores_decide || weight.is_some_and(|weight| weight <= 0.0);
    let error = "where the transform fails, the whole test is an error in promptfoo";
    context.different_if(is_optional && transforms::may_fail(&check, context), &check, error);
    let grader = match family {
        Some(Family::Metric) => grader::map(&check),
        _ if transforms::applies(&check, context) => transformed::map(&check, context),
        Some(Family::Json) => json::map(&check, context),
        Some(Family::Text) => text::map(&check, context),
        Some(Family::Judged) => judged::map(&check, context),
        Some(Family::Tools) => tools::map(&check, context),
        Some(Family::Script) => {
            context.different_if(context.scores_decide, &check, "a score above 1 counts as 1, and one below 0 as 0");
            scripts::map(&check, context)
        }
        None => Err(reason(check.kind)),
    }?;
    unknown_keys(check.assertion, context.report);
    Ok(grader)
}

/// What types of assertions have in common.
#[derive(PartialEq, Eq)]
enum Family {
    Metric,
    Json,
    /// They compare the answer with a text, which JavaScript does after a `transform` of the answer.
    Text,
    /// A model judges.
    Judged,
    Tools,
    Script,
}

impl Family {
    /// `None` for a type without graders.
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "latency" | "cost" => Self::Metric,
            "is-json" | "contains-json" => Self::Json,
            "contains" | "icontains" | "contains-any" | "contains-all" | "icontains-any" | "icontains-all"
            | "starts-with" | "equals" | "regex" | "levenshtein" => Self::Text,
            "similar" | "similar:cosine" | "similar:dot" | "similar:euclidean" | "llm-rubric" | "factuality"
            | "g-eval" | "answer-relevance" | "agent-rubric" => Self::Judged,
            "model-graded-closedqa" | "model-graded-factuality" | "trajectory:goal-success" => Self::Judged,
            "tool-call-f1" | "skill-used" | "trajectory:tool-used" | "trajectory:tool-sequence" => Self::Tools,
            "trajectory:tool-args-match" | "trajectory:step-count" => Self::Tools,
            "javascript" | "python" => Self::Script,
            _ => return None,
        })
    }
}

/// Why there is no grader for a type.
fn reason(kind: &str) -> String {
    match kind {
        "context-faithfulness" | "context-recall" | "context-relevance" => {
            "it judges retrieved text, which a case does not have: judge it with an `llm-grader` whose prompt shows the text".to_owned()
        }
        "perplexity" | "perplexity-score" => "agents report no probabilities of tokens".to_owned(),
        "ruby" | "webhook" => "write a `code-grader` that calls it".to_owned(),
        "select-best" | "max-score" => "it compares answers of several providers: compare runs with `cargo evalsuite diff`".to_owned(),
        _ => format!("there is no grader `{kind}`: write a `code-grader`, or one in Rust"),
    }
}

/// Fills the value of a check in.
fn fill_in(written: &Value, check: &mut Check<'_>, context: &mut CaseContext<'_>) -> Result<(), String> {
    let place = check.place().clone();
    if let Some(text) = written.as_text() {
        let reference = text.strip_prefix(FILE_SCHEME).unwrap_or(text);
        if text.starts_with("package:") {
            return Err(format!("`{text}` is a program of a package"));
        }
        match filled(text, &place, context)? {
            FileValue::Script(path, _) if !path.is_file() => {
                return Err(format!("the file `{reference}` does not exist"));
            }
            FileValue::Script(path, function) => check.script = Some((path, function)),
            value => check.value = value.value(),
        }
        return Ok(());
    }
    let mut value = written.clone();
    if let Data::List(items) = &mut value.data {
        for item in items {
            if let Some(text) = item.as_text() {
                let is_program = || format!("`{}` is a program", text.strip_prefix(FILE_SCHEME).unwrap_or(text));
                *item = filled(text, &place, context)?.value().ok_or_else(is_program)?;
            }
        }
        value = Value::new(value.data);
    }
    check.value = Some(value);
    Ok(())
}

/// A text with its variables filled in, or what the file that it names holds.
fn filled(text: &str, place: &Place, context: &mut CaseContext<'_>) -> Result<FileValue, String> {
    if let Some(reference) = text.strip_prefix(FILE_SCHEME) {
        return Ok(match load(reference, context.files, place)? {
            FileValue::Data(mut value) => {
                values::dates_of_file_to_texts(&mut value, place, context.report);
                FileValue::Data(value)
            }
            other => other,
        });
    }
    let rendered = template::render(text, context.variables)?;
    rendered.report(place, context.report);
    Ok(FileValue::Text(rendered.text))
}

/// Settings of an assertion that the suite does not have.
fn unknown_keys(assertion: &Assertion, report: &mut Report) {
    for (key, _, place) in assertion.place.entries(&assertion.value) {
        match key {
            "provider" => report
                .dropped(&place, "the judge of a run is set where it runs, with `EVALSUITE_JUDGE_MODEL` or in Rust"),
            "rubricPrompt" => report.dropped(&place, "judges get the prompt of `llm-grader` and `rubrics`"),
            "contextTransform" => report.dropped(&place, "a case has no retrieved text"),
            // How it is weighed and named, and what it checks.
            "type" | "weight" | "metric" | "value" | "threshold" | "transform" | "config" => {}
            _ => report.dropped(&place, "there is no such setting"),
        }
    }
}

/// A set counts as one assertion, with the rules of a test. Of an `or`, one has to pass.
fn set(assertion: &Assertion, kind: &str, context: &mut CaseContext<'_>) -> Result<Option<Grader>, String> {
    let (value, place) = (&assertion.value, &assertion.place);
    let threshold = value.get("threshold").and_then(Value::as_number);
    let outer_scores_decide = context.scores_decide;
    context.scores_decide |= threshold.is_some();
    let members_decide = !context.scores_decide && kind != "or";
    let key = if value.get("assert").is_some() { "assert" } else { "value" };
    let member = |(item, index): (&Value, u32)| {
        let place = place.below(item.position.line, &format!("{key}[{index}]"));
        Assertion { value: item.clone(), place }
    };
    let items = value.get(key).and_then(Value::items).unwrap_or_default();
    let (members, is_lost) = map_all(&items.iter().zip(0..).map(member).collect::<Vec<_>>(), context);
    context.scores_decide = outer_scores_decide;
    if members.is_empty() && is_lost {
        return Err("nothing of it is left".to_owned());
    }
    if members.is_empty() {
        context.report.mapped(place);
        // Its score is 0.
        let can_fail = context.scores_decide || threshold.is_some_and(|threshold| threshold > 0.0);
        let settings = json!({"type": "code-grader", "name": "empty-set", "command": "exit 1"});
        return Ok(can_fail.then(|| Grader { is_set: true, ..Grader::new(settings) }));
    }
    let is_weighed = members.iter().any(|member| member.weight > 0.0);
    let passes_always = !is_weighed && threshold.is_none_or(|threshold| threshold <= 0.0);
    if passes_always && !context.scores_decide && kind == "assert-set" {
        context.report.mapped(place);
        return Ok(None);
    }
    let all_or_nothing = members.iter().all(|member| member.weight == 0.0 || member.can_fail && member.mark == 1.0);
    let mut names = Names { of_members: true, ..Names::default() };
    let members: Vec<Value> =
        members.into_iter().map(|member| names.write(member, members_decide && is_weighed, true)).collect();
    let mut grader = Grader::composite(Value::new(Data::List(members)));
    grader.is_set = true;
    for (key, _, at) in place.entries(value) {
        let is_known = ["type", "assert", "threshold", "weight", "metric"].contains(&key);
        if !is_known && (key != "value" || kind == "assert-set") {
            context.report.dropped(&at, "a composite has no such setting");
        }
    }
    if items.iter().any(|item| item.get("type").and_then(Value::as_text) == Some("assert-set")) {
        context.report.different(place, "promptfoo has no sets in sets and reports an error");
    }
    if kind != "assert-set" {
        let reason = format!("promptfoo has no type `{kind}` and reports an error");
        context.report.different(place, reason);
    }
    if kind == "or" {
        grader.entries[1].1 = Value::from(json!({"type": "threshold", "threshold": LOWEST_MARK}));
        grader.has_own_threshold = true;
        return Ok(Some(grader.graded(LOWEST_MARK)));
    }
    Ok(Some(match threshold {
        // All of its assertions weigh nothing: none can fail it.
        _ if !is_weighed && threshold.is_none_or(|threshold| threshold <= 0.0) => Grader { can_fail: false, ..grader },
        Some(threshold) if threshold <= 0.0 => Grader { can_fail: false, is_graded: true, ..grader },
        // Where verdicts decide, it fails whatever its score is.
        Some(threshold) if threshold > 1.0 => {
            if !context.scores_decide {
                grader.add_member(never_passes());
            }
            grader.graded(1.0)
        }
        Some(threshold) => grader.graded(threshold),
        None if all_or_nothing => grader,
        // Members that pass with less than 1 leave the mean below 1: any mean passes, their own marks decide.
        None => grader.graded(LOWEST_MARK),
    }))
}

/// The beginning of a text, for messages.
pub(super) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let end = line.char_indices().nth(60).map_or(line.len(), |(end, _)| end);
    if end < line.len() { format!("{}…", &line[..end]) } else { line.to_owned() }
}
