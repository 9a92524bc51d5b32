//! A trial of a case as text: what was asked, what the agent did step by step, how it was graded.

use std::io;
use std::path::Path;

use evalsuite_records::record::{GraderRecord, GraderState, Reason, Status, TrialRecord, Usage, UserRecord, Verdict};
use evalsuite_records::run_data::TextFile;
use evalsuite_records::run_directory::{EVIDENCE, INPUT, read_run_record};
use evalsuite_records::summary::lower_bound;
use evalsuite_report::{CaseData, RunData, TrialData, content_text};
use evalsuite_schema::decimal::{shown, shown_against};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::{Content, Input, Value};

use super::{add_facts, add_indented};

/// Adds a trial, by default the first that did not pass; with `step` only that step of its transcript.
pub(super) fn add(
    text: &mut String,
    run: &RunData,
    case: &CaseData,
    trial: Option<u32>,
    step: Option<usize>,
) -> Result<(), String> {
    let found = match trial {
        Some(number) => case.trials.iter().find(|trial| trial.record.trial == number),
        None => {
            let failed = case.trials.iter().find(|trial| trial.record.outcome != Status::Passed);
            failed.or_else(|| case.trials.first())
        }
    };
    let Some(TrialData { directory, record, .. }) = found else {
        let (id, of) = (&case.record.case_id, case.trials.len());
        return match trial {
            Some(number) if of > 0 => Err(format!("case `{id}` has no trial {number}: it has {of}")),
            None if step.is_none() => {
                add_head(text, run, case, None);
                Ok(())
            }
            _ => Err(format!("case `{id}` is {}: none of its trials ran", case.record.outcome.as_str())),
        };
    };
    let mut files = TrialFiles { run: &run.directory, trial: directory, problems: Vec::new() };
    let transcript = record.trajectory.as_ref().and_then(|file| files.json(file));
    if step.is_none() {
        add_head(text, run, case, Some(record));
        if let Some(prompt) = prompt(&mut files) {
            text.push_str("\nprompt\n");
            add_indented(text, "  ", &prompt);
        }
    }
    match &transcript {
        Some(document) => add_steps(text, document, step)?,
        None if step.is_some() => return Err("the trial has no transcript".to_owned()),
        None => {}
    }
    if step.is_none() {
        let is_shown = |document: &Value| record.answer.as_ref().is_some_and(|answer| says(document, answer));
        add_results(text, record, &mut files, !transcript.as_ref().is_some_and(is_shown));
        files.problems.iter().for_each(|problem| text.push_str(&format!("\nproblem  {problem}\n")));
    }
    Ok(())
}

/// Adds the result of the case, and that of the shown trial beside the number of the trial.
fn add_head(text: &mut String, run: &RunData, case: &CaseData, trial: Option<&TrialRecord>) {
    let result = |outcome: Status, score: Option<f64>, threshold| {
        let shown = |value| shown_against(value, threshold);
        let score = score.map(|score| format!("  score {}, threshold {}", shown(score), shown(threshold)));
        format!("{}{}", outcome.as_str(), score.unwrap_or_default())
    };
    let record = &case.record;
    let of_case = result(record.outcome, record.score, record.threshold);
    text.push_str(&format!("{} ({}@{}): {of_case}\n", record.case_id, record.suite, record.target));
    let reason = |reason: &Option<Reason>| reason.as_ref().map(|reason| reason.message.clone());
    let of_trial = trial.and_then(|trial| reason(&trial.reason));
    if let Some(message) = reason(&record.reason).filter(|message| of_trial.as_ref() != Some(message)) {
        add_indented(text, "  ", &message);
    }
    text.push_str(&format!("  {}  test {}\n", record.location, record.test_name));
    match trial {
        None => text.push_str(&format!("  run {}  no trial ran\n", run.run_id)),
        Some(trial) => {
            let (number, trials) = (trial.trial, case.trials.len());
            let of_trial = result(trial.outcome, trial.score, trial.threshold);
            let trial = format!("trial {number} of {trials}, counted from 0: {of_trial}");
            text.push_str(&format!("  run {}  {trial}\n", run.run_id));
        }
    }
    if let Some(message) = of_trial {
        add_indented(text, "  ", &message);
    }
}

fn add_results(text: &mut String, record: &TrialRecord, files: &mut TrialFiles<'_>, needs_answer: bool) {
    if let Some(answer) = record.answer.as_ref().filter(|_| needs_answer) {
        text.push_str("\nanswer\n");
        add_indented(text, "  ", answer);
    }
    let graders: Vec<&GraderRecord> = record.all_graders().collect();
    let of_user: Vec<&GraderRecord> = record.user.iter().flat_map(|user| &user.graders).collect();
    for (title, graders) in [("graders", graders), ("graders of the simulated user", of_user)] {
        if !graders.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            graders.iter().for_each(|grader| add_grader(text, grader, "  "));
        }
    }
    let patch = record.workspace.as_ref().and_then(|workspace| workspace.patch.as_ref());
    if let Some(patch) = patch.and_then(|file| files.text(file)) {
        text.push_str("\nchanges\n");
        add_indented(text, "  ", &patch);
    }
    if !record.notes.is_empty() {
        text.push_str("\nnotes\n");
        record.notes.iter().for_each(|note| add_indented(text, "  ", &format!("{}  {}", note.code, note.message)));
    }
    let dollars = |usd: f64| format!("{usd:.4} USD");
    let number = |usage: Usage| format!("{} input, {} output", usage.input, usage.output);
    let (unknown_tokens, unknown_costs) = (record.unknown_tokens(), record.unknown_costs());
    let tokens = |usage: Option<Usage>, is_bound| usage.map(|usage| lower_bound(is_bound, &number(usage)));
    let cost = |usd: Option<f64>, is_bound| usd.map(|usd| lower_bound(is_bound, &dollars(usd)));
    let seals = record.seals();
    add_facts(
        text,
        &[
            ("seal", Some(seals.join("; ")).filter(|seals| !seals.is_empty())),
            ("model", record.model.clone()),
            ("duration", record.duration_ms.map(|ms| format!("{ms} ms"))),
            ("tokens", tokens(record.usage, unknown_tokens.agent)),
            ("cost", cost(record.cost_usd, unknown_costs.agent)),
            ("judge tokens", tokens(record.judge_usage, unknown_tokens.judges)),
            ("judge cost", cost(record.judge_cost_usd, unknown_costs.judges)),
            ("user", record.user.as_ref().map(user_text)),
            ("user tokens", tokens(record.user_usage, unknown_tokens.user)),
            ("user cost", cost(record.user_cost_usd, unknown_costs.user)),
        ],
    );
}

/// `customer, 3 turns; the user was done; in its role`.
fn user_text(user: &UserRecord) -> String {
    let mut text = format!("{}, {}", user.name, counted(user.turns, "turn"));
    if let Some(ended) = user.ended {
        text.push_str(&format!("; {}", ended.text()));
    }
    match user.in_role {
        Some(true) => text.push_str("; in its role"),
        Some(false) => text.push_str("; left its role"),
        None => {}
    }
    text
}

fn add_grader(text: &mut String, grader: &GraderRecord, indent: &str) {
    let mark = match (grader.state, grader.verdict) {
        (GraderState::Error, _) => "!",
        (_, Some(Verdict::Pass)) => "✓",
        (_, Some(Verdict::Fail)) => "✗",
        _ => "–",
    };
    let value = grader.value.map(|value| format!("  {value:.2}")).unwrap_or_default();
    text.push_str(&format!("{indent}{mark} {}{value}  {}\n", grader.name, grader.location));
    let deeper = format!("{indent}    ");
    for (name, value) in &grader.metrics {
        add_indented(text, &deeper, &format!("{name}  {}", shown(*value)));
    }
    for assertion in &grader.assertions {
        let mark = if assertion.passed { "✓" } else { "✗" };
        add_indented(text, &deeper, &format!("{mark} {}", assertion.text));
        let parts =
            [("expected", &assertion.expected), ("actual", &assertion.actual), ("evidence", &assertion.evidence)];
        for (name, value) in parts.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            add_indented(text, &format!("{deeper}  "), &format!("{name}: {value}"));
        }
    }
    // The rationale of many graders lists their assertions again.
    let is_assertion = |line: &str| grader.assertions.iter().any(|it| it.text == line.trim_start_matches("- "));
    let rationale = grader.rationale.as_ref().filter(|text| !text.lines().all(is_assertion));
    for note in rationale.into_iter().chain(&grader.error) {
        add_indented(text, &deeper, note);
    }
    grader.members.iter().for_each(|member| add_grader(text, member, &deeper));
}

/// What the agent was asked.
fn prompt(files: &mut TrialFiles<'_>) -> Option<String> {
    let mut evidence = files.json(EVIDENCE).or_else(|| files.json(INPUT))?;
    let input: Input = evalsuite_schema::json::from_value(evidence["seen"]["input"].take()).ok()?;
    let messages = match input {
        Input::Data(data) => return serde_json::to_string_pretty(&data).ok(),
        Input::Messages(messages) => messages,
    };
    let texts = messages.iter().map(|message| {
        let content = match &message.content {
            Some(Content::Text(text)) => text.clone(),
            Some(other) => serde_json::to_string_pretty(other).unwrap_or_default(),
            None => String::new(),
        };
        format!("{}: {content}", message.role.as_str())
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The files of a trial. What cannot be read is a problem: what is there is shown.
struct TrialFiles<'a> {
    run: &'a Path,
    /// Directory of the trial, relative to the run.
    trial: &'a Path,
    problems: Vec<String>,
}

impl TrialFiles<'_> {
    /// `None` if the file is missing or cannot be read.
    fn json(&mut self, file: &str) -> Option<Value> {
        let read = read_run_record(self.run, &self.trial.join(file));
        self.problem_of(file, read)
    }

    /// The beginning of a text; `None` if the file is missing or cannot be read.
    fn text(&mut self, file: &str) -> Option<String> {
        let TextFile { mut text, omitted, .. } = self.problem_of(file, TextFile::read(self.run, self.trial, file))?;
        if omitted > 0 {
            text.push_str(&format!("\n[{omitted} more bytes]\n"));
        }
        Some(text)
    }

    fn problem_of<T>(&mut self, file: &str, read: io::Result<Option<T>>) -> Option<T> {
        read.unwrap_or_else(|error| {
            self.problems.push(format!("{}: {error}", self.trial.join(file).display()));
            None
        })
    }
}

/// Adds all steps, or the one with this number, counted from 1.
pub(super) fn add_steps(text: &mut String, document: &Value, only: Option<usize>) -> Result<(), String> {
    let steps = document["steps"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(step) = only.filter(|step| !(1..=steps.len()).contains(step)) {
        return Err(format!("there is no step {step}: the transcript has {}", steps.len()));
    }
    for (index, step) in steps.iter().enumerate() {
        if only.is_none_or(|only| only == index + 1) {
            add_step(text, index + 1, step);
        }
    }
    Ok(())
}

fn add_step(text: &mut String, number: usize, step: &Value) {
    let source = step["source"].as_str().unwrap_or("unknown");
    let simulated = if step["extra"]["simulated"] == true { " (simulated)" } else { "" };
    text.push_str(&format!("\nstep {number}  {source}{simulated}\n"));
    if let Some(thoughts) = step["reasoning_content"].as_str() {
        add_indented(text, "  | ", thoughts);
    }
    add_indented(text, "  ", &content_text(&step["message"]));
    let results = step["observation"]["results"].as_array().map_or(&[][..], Vec::as_slice);
    for call in step["tool_calls"].as_array().into_iter().flatten() {
        let name = call["function_name"].as_str().unwrap_or("unknown");
        text.push_str(&format!("  → {name} {}\n", call["arguments"]));
        let id = &call["tool_call_id"];
        for result in results.iter().filter(|result| result["source_call_id"] == *id) {
            add_indented(text, "  ← ", &content_text(&result["content"]));
        }
    }
    // Of calls that are not in this step.
    for result in results.iter().filter(|result| result["source_call_id"].is_null()) {
        add_indented(text, "  ← ", &content_text(&result["content"]));
    }
}

/// Adds tokens and cost of the whole transcript, as far as the document has them.
pub(super) fn add_metrics(text: &mut String, document: &Value) {
    let metrics = &document["final_metrics"];
    let number = |key: &str| metrics[key].as_f64();
    let tokens = [("total_prompt_tokens", "input"), ("total_completion_tokens", "output")];
    let tokens = tokens.iter().filter_map(|(key, what)| Some(format!("{} {what}", number(key)?)));
    let tokens: Vec<String> = tokens.collect();
    let tokens = (!tokens.is_empty()).then(|| tokens.join(", "));
    let cost = number("total_cost_usd").map(|usd| format!("{usd:.4} USD"));
    add_facts(text, &[("tokens", tokens), ("cost", cost)]);
}

/// Whether a step of the agent has this text.
pub(super) fn says(document: &Value, answer: &str) -> bool {
    let steps = document["steps"].as_array().into_iter().flatten();
    let mut of_agent = steps.filter(|step| step["source"] == "agent");
    of_agent.any(|step| content_text(&step["message"]).trim() == answer.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_a_grader_are_below_its_name() {
        let mut grader = GraderRecord::default();
        grader.name = "cards".to_owned();
        grader.metrics = [("recall".to_owned(), 0.5), ("precision".to_owned(), 0.75)].into();
        let mut text = String::new();
        add_grader(&mut text, &grader, "");
        assert!(text.ends_with("\n    precision  0.75\n    recall  0.5\n"), "{text}");
    }
}
