//! `cargo evalsuite show`.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use evalsuite_records::record::{GraderRecord, GraderState, Reason, Status, TrialRecord, Usage, UserRecord, Verdict};
use evalsuite_records::run_data::TextFile;
use evalsuite_records::run_directory::{EVIDENCE, INPUT, LATEST, open_regular_file, read_run_record};
use evalsuite_records::summary::lower_bound;
use evalsuite_report::{CaseData, RunData, Transcript, TrialData, content_text, write_transcripts};
use evalsuite_schema::decimal::{shown, shown_against};
use evalsuite_schema::diagnostics::{counted, suggest};
use evalsuite_schema::{Content, Input, Value};

use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, ErrorContext, Result};
use crate::platform::output::stdout;
use crate::platform::pager;

/// Show a case of a run in detail, or a transcript in the ATIF format
///
/// Prints the prompt, the transcript step by step, the graders with their assertions, the changes in the workspace, and the cost. Shows the
/// first trial that did not pass, unless `--trial` selects another one. ATIF files may come from any program; evalsuite writes them as
/// trajectory.json. On a terminal, the output goes through `PAGER`; an empty `PAGER` disables the pager. Exit status: 0 on success, 2 if a
/// file or run cannot be read, or if the case, trial or step does not exist.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Id or test name of a case, or ATIF files
    #[arg(required = true, value_name = "CASE|FILE")]
    pub(crate) names: Vec<String>,
    /// Run: its id, its directory, or `latest` [default: latest]
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Show the case of this target only
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Trial to show, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Show this step of the transcript only, counted from 1
    #[arg(long, value_name = "N", conflicts_with = "html")]
    pub(crate) step: Option<usize>,
    /// Write the transcripts of ATIF files to an HTML file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// The largest transcript that is shown, in bytes.
const LARGEST: u64 = 64 << 20;

pub(crate) fn run(command: &Show) -> Result<CommandStatus> {
    let [name] = command.names.as_slice() else { return show_files(command) };
    if command.html.is_some() || Path::new(name).is_file() { show_files(command) } else { show_case(command, name) }
}

fn show_files(command: &Show) -> Result<CommandStatus> {
    if let Some(name) = command.names.iter().find(|name| !Path::new(name).exists()) {
        let message = format!("`{name}` is not a file; several names, and --html, are for ATIF files");
        return Err(CliError::with_help(message, "`cargo evalsuite report --html FILE` shows cases"));
    }
    let of_cases = [
        ("--run", command.run.is_some()),
        ("--target", command.target.is_some()),
        ("--trial", command.trial.is_some()),
    ];
    if let Some((option, _)) = of_cases.iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::new(format!("{option} selects a case, and `{}` is a file", command.names[0])));
    }
    let (mut transcripts, mut documents) = (Vec::new(), Vec::new());
    for name in &command.names {
        let file = Path::new(name);
        let text = read(file).at(file)?;
        transcripts.push(Transcript::parse(name.clone(), &text).at(file)?);
        documents.push(evalsuite_schema::json::from_slice::<Value>(&text).at(file)?);
    }
    let Some(page) = &command.html else {
        let mut text = String::new();
        for (name, document) in command.names.iter().zip(&documents) {
            text.push_str(&format!("{name}\n"));
            add_steps(&mut text, document, command.step).map_err(CliError::new)?;
            add_metrics(&mut text, document);
        }
        return pager::print(&text);
    };
    write_transcripts(&transcripts, page).at(page)?;
    writeln!(stdout(), "{}", page.display())?;
    Ok(CommandStatus::Good)
}

/// A file that the user names.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    open_regular_file(file)?.take(LARGEST + 1).read_to_end(&mut text)?;
    match text.len() as u64 {
        0..=LARGEST => Ok(text),
        _ => Err(io::Error::other(format!("it has more than {LARGEST} bytes"))),
    }
}

fn show_case(command: &Show, name: &str) -> Result<CommandStatus> {
    let run = RunData::read(stored_runs::find(command.run.as_deref().unwrap_or(LATEST))?.path())?;
    let cases = || run.suites.iter().flat_map(|suite| &suite.cases);
    let has_name = |case: &&CaseData| [&case.record.case_id, &case.record.test_name].contains(&&name.to_owned());
    let mut found: Vec<&CaseData> = cases().filter(has_name).collect();
    if found.is_empty() {
        let meant = suggest::did_you_mean(name, cases().map(|case| case.record.case_id.as_str()));
        return Err(CliError::with_suggestion(format!("run `{}` has no case `{name}`", run.run_id), meant));
    }
    if let Some(target) = &command.target {
        let known: BTreeSet<&str> = found.iter().map(|case| case.record.target.as_str()).collect();
        found.retain(|case| case.record.target == *target);
        if found.is_empty() {
            let message = format!("run `{}` has no case `{name}` of target `{target}`", run.run_id);
            let known = suggest::listed(&Vec::from_iter(known));
            return Err(CliError::with_help(message, format!("targets of this case: {known}")));
        }
    }
    let mut text = String::new();
    for (index, case) in found.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if found.len() > 1 && command.step.is_some() {
            text.push_str(&format!("{}\n", case.record.test_name));
        }
        add_trial(&mut text, &run, case, command.trial, command.step).map_err(CliError::new)?;
    }
    pager::print(&text)
}

/// Adds the facts that are known, one per line below an empty one.
fn add_facts(text: &mut String, facts: &[(&str, Option<String>)]) {
    let known = || facts.iter().filter_map(|(name, fact)| Some((name, fact.as_ref()?)));
    let width = known().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (index, (name, fact)) in known().enumerate() {
        let before = if index == 0 { "\n" } else { "" };
        text.push_str(&format!("{before}{name:<width$}  {fact}\n"));
    }
}

/// Adds each line with an indent.
fn add_indented(text: &mut String, indent: &str, lines: &str) {
    for line in lines.lines() {
        text.push_str(&format!("{indent}{line}\n"));
    }
}

/// Adds a trial, by default the first that did not pass; with `step` only that step of its transcript.
fn add_trial(
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
fn add_steps(text: &mut String, document: &Value, only: Option<usize>) -> Result<(), String> {
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
fn add_metrics(text: &mut String, document: &Value) {
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
fn says(document: &Value, answer: &str) -> bool {
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
