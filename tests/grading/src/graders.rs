//! `graders.jsonl`, `code_grader.jsonl` and `rubrics.jsonl`: the grades of one answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalsuite::record::{Assertion, CommandRecord, GraderRecord, GraderState};
use evalsuite::{AgentError, RunOptions, Trial, Verdict};
use evalsuite_conformance::record::Record;
use evalsuite_conformance::{comparison, grader_record};
use evalsuite_schema::json::{Value, json};

use crate::replay::Replay;
use crate::stub_judge::StubJudge;
use crate::{consistency, evidence, grader_rules, payload, prompts, replay};

/// A part of a grade that can differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Only one of the two rejects the entry at load time.
    Loading,
    /// Our grader did not run.
    Skipped,
    /// Our grader returned an error.
    Error,
    /// The value, by more than 1e-12.
    Score,
    /// Pass or fail.
    Verdict,
    /// Texts of assertions, and whether they passed.
    Assertions,
    /// Evidence of assertions.
    Evidence,
    /// Details, such as those of a command's result.
    Details,
    /// We list the assertions of a composite's members, too.
    Members,
    /// Results of a composite's members.
    MemberScores,
    /// Number of calls of the judge.
    Calls,
    /// The judge's prompt.
    Prompt,
}

/// A record and our grade.
#[derive(Debug)]
pub struct Graded<'a> {
    /// The record.
    pub record: &'a Record,
    /// The entry as written.
    pub grader: &'a Value,
    /// The grade of the reference.
    pub expected: &'a Value,
    /// Our grade; `None` if nothing was graded.
    pub ours: Option<GraderRecord>,
    /// Why nothing was graded.
    pub shown: String,
    /// Number of calls of our judge.
    pub asked: usize,
    /// Standard output of commands, by the file that has it.
    pub outputs: BTreeMap<String, String>,
}

impl Graded<'_> {
    /// Whether the record has a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.record.json["tags"].as_array().is_some_and(|tags| tags.iter().any(|own| own == tag))
    }

    /// The built-in type of the entry, spelled with `-`.
    pub fn kind(&self) -> String {
        self.grader["type"].as_str().unwrap_or_default().replace('_', "-")
    }

    /// The evidence.
    pub fn evidence(&self) -> &Value {
        &self.record.json["evidence"]
    }

    /// The recorded answer.
    pub fn answer(&self) -> String {
        evidence::text(self.evidence(), "output").unwrap_or_default()
    }

    /// Texts of the reference's assertions.
    pub fn expected_texts(&self) -> Vec<String> {
        self.expected["assertions"].as_array().into_iter().flatten().filter_map(|a| evidence::text(a, "text")).collect()
    }

    /// The reference's value before negation.
    pub fn expected_value(&self) -> Option<f64> {
        let value = self.expected["score"].as_f64()?;
        Some(if self.grader["negate"] == true { 1.0 - value } else { value })
    }

    /// Our value before negation.
    pub fn value(&self) -> Option<f64> {
        let ours = self.ours.as_ref()?;
        ours.value.map(|value| if ours.negated { 1.0 - value } else { value })
    }

    /// The error of our grader.
    pub fn error(&self) -> &str {
        self.ours.as_ref().and_then(|ours| ours.error.as_deref()).unwrap_or_default()
    }

    /// Whether nothing was graded because an environment variable is not set or blank.
    pub fn is_variable_unset(&self) -> bool {
        self.shown.contains("(setup/variable_unset)")
    }

    /// The recorded calls of tools.
    pub fn calls(&self) -> impl Iterator<Item = &Value> {
        let messages = self.evidence()["messages"].as_array().into_iter().flatten();
        messages.flat_map(|message| message["tool_calls"].as_array().into_iter().flatten())
    }

    /// What the process printed that graded.
    pub fn printed(&self) -> Option<&str> {
        let file = self.command()?.stdout.as_ref()?;
        self.outputs.get(file).map(String::as_str)
    }

    /// The process that graded.
    pub fn command(&self) -> Option<&CommandRecord> {
        self.ours.as_ref()?.command.as_ref()
    }
}

/// The differences of a record.
#[derive(Debug, Default)]
pub struct RecordCheck {
    /// Names of the rules that explain differences.
    pub rules: BTreeSet<&'static str>,
    /// Differences without a rule.
    pub unexplained: Vec<String>,
}

/// A record whose suite has run.
#[derive(Debug)]
pub struct Ran {
    /// The suite.
    pub suite: Record,
    /// Its results.
    pub replay: Replay,
    /// System and user prompt of every call of the judge.
    pub asked: Vec<(String, String)>,
}

/// Runs a record and explains every difference.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn check(record: &Record) -> Result<RecordCheck, String> {
    explain(record, &run(record)?)
}

/// Runs the suite of a record.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn run(record: &Record) -> Result<Ran, String> {
    let mut limited = record.clone();
    // In the reference, commands have the time limit of agents; ours have their own.
    if let Some(limit) = record.json["agent_timeout_ms"].as_f64() {
        limited.json["grader"]["timeout_seconds"] = json!(limit / 1000.0);
    }
    if let Some(grader) = limited.json.get_mut("grader") {
        payload::redirect(grader);
    }
    let suite = grader_record::suite(limited)?;
    let evidence = record.json["evidence"].clone();
    let judge = StubJudge::of(&record.json);
    let agent = move |trial: &mut Trial<'_>| {
        let root = trial.suite_dir().display().to_string();
        let root = root.trim_end_matches('/');
        let evidence = with_files_in_trial(&evidence, root, trial.workspace())?;
        let evidence = evalsuite_schema::json::from_str(&evidence.to_string().replace("{ROOT}", root));
        evidence::report(&evidence.map_err(|error| AgentError::new(error.to_string()))?, trial)
    };
    let replay = replay::run_with_judge(&suite, RunOptions::new(), agent, judge.as_ref())?;
    let asked = judge.as_ref().map(StubJudge::asked).unwrap_or_default();
    Ok(Ran { suite, replay, asked })
}

/// Explains every difference of a record from our results.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn explain(record: &Record, Ran { suite, replay, asked }: &Ran) -> Result<RecordCheck, String> {
    let root = replay.root.display().to_string();
    let fill = |value: &Value| evalsuite_schema::json::from_str::<Value>(&value.to_string().replace("{ROOT}", &root));
    let expected = fill(record.expected()).map_err(|error| error.to_string())?;
    let ran = replay.cases.first();
    // The results of a list of graders, or of a single one.
    let several = expected["graders"].as_array().cloned();
    let is_one = several.is_none();
    let list = several.unwrap_or_else(|| vec![expected.clone()]);
    let mut checked = RecordCheck::default();
    let mut last = None;
    for (index, expected) in list.iter().enumerate() {
        let graded = Graded {
            record,
            grader: &record.json["grader"],
            expected,
            ours: ran.and_then(|ran| ran.trials.first()?.graders.get(index).cloned()),
            shown: ran.map_or_else(|| format!("refused: {:?}", replay.refused), |ran| ran.shown.clone()),
            asked: asked.len(),
            outputs: ran.map(|ran| ran.outputs.clone()).unwrap_or_default(),
        };
        let mut found = differences(&graded, !replay.refused.is_empty());
        if is_one && graded.ours.is_some() {
            found.extend(judging(&graded, asked, &root));
        }
        let mut impossible = consistency::of_ours(&graded);
        if found.iter().any(|field| *field != Field::Loading) {
            impossible.extend(consistency::of_theirs(&graded));
        }
        let shown = impossible.into_iter().map(|what| describe(&what, &graded));
        checked.unexplained.extend(shown);
        for field in found {
            if field == Field::Loading {
                loading(suite, &graded, &mut checked)?;
                continue;
            }
            match grader_rules::explain(field, &graded) {
                Some(rules) => checked.rules.extend(rules),
                None => checked.unexplained.push(describe(&format!("{field:?}"), &graded)),
            }
        }
        last = Some(graded);
    }
    let Some(graded) = last else { return Ok(checked) };
    for difference in payload::differences(&graded, &replay.root)? {
        match difference.explain(&replay.root) {
            Some(rule) => {
                checked.rules.insert(rule);
            }
            None => checked.unexplained.push(format!("standard input: {difference:?}")),
        }
    }
    Ok(checked)
}

/// The evidence with the files of the answer in the trial's directory: elsewhere they are an error. In the workspace they would be changes.
fn with_files_in_trial(evidence: &Value, root: &str, workspace: &Path) -> Result<Value, AgentError> {
    let mut evidence = evidence.clone();
    let failed = |error: std::io::Error| AgentError::new(error.to_string());
    let directory = workspace.parent().unwrap_or(workspace);
    for message in evidence.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        for part in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(name) = part["path"].as_str().and_then(|path| path.strip_prefix("{ROOT}/")) else { continue };
            let (from, to) = (Path::new(root).join(name), directory.join(name));
            if from.is_file() {
                std::fs::create_dir_all(to.parent().unwrap_or(directory)).map_err(failed)?;
                std::fs::copy(from, &to).map_err(failed)?;
            }
            part["path"] = json!(to);
        }
    }
    Ok(evidence)
}

/// The text with the root of the record in place of the directory of its only trial.
fn with_root(text: &str, root: &str) -> String {
    let mut parts = text.split("/trial-000/").peekable();
    let mut replaced = String::new();
    while let Some(part) = parts.next() {
        let is_path = parts.peek().is_some();
        let start = part.rfind([' ', '\n', '"', '`', '(']).map_or(0, |index| index + 1);
        let kept = if is_path { &part[..start] } else { part };
        replaced.push_str(kept);
        if is_path {
            replaced.push_str(root);
            replaced.push('/');
        }
    }
    replaced
}

/// Differences in the judge's calls and prompt, as far as they are recorded.
fn judging(graded: &Graded<'_>, asked: &[(String, String)], root: &str) -> Vec<Field> {
    let json = &graded.record.json;
    let mut found = Vec::new();
    if json["expected"]["dropped"] == true {
        // In the reference, the judge of a case without graders was asked.
        return found;
    }
    if json["judge_calls"].as_u64().is_some_and(|calls| calls != asked.len() as u64) {
        found.push(Field::Calls);
    }
    if let (Some(theirs), Some((_, ours))) = (json["prompt"]["user"].as_str(), asked.first())
        && !prompts::same(&theirs.replace("{ROOT}", root), &with_root(ours, root))
    {
        found.push(Field::Prompt);
    }
    found
}

/// Explains a decision at load time: the checks of recorded loads have to explain it.
fn loading(suite: &Record, graded: &Graded<'_>, checked: &mut RecordCheck) -> Result<(), String> {
    let unexplained = comparison::check(suite)?.unexplained;
    if unexplained.is_empty() {
        checked.rules.insert("decided-at-load-time");
    } else {
        checked.unexplained.push(format!("{}\n{}", describe("Loading", graded), unexplained.join("\n")));
    }
    Ok(())
}

/// Explains that only one of the two refuses a suite, the reference with an `error` unless it is null: the checks of recorded
/// loads have to explain it.
///
/// # Errors
///
/// What keeps the suite from being loaded.
pub fn refused(suite: &Record, error: &Value) -> Result<RecordCheck, String> {
    let mut suite = suite.clone();
    suite.json["expected"] = match error {
        Value::Null => json!({ "warnings": [] }),
        error => json!({ "warnings": [], "error": error, "error_kind": "agentv" }),
    };
    let mut checked = RecordCheck { rules: BTreeSet::new(), unexplained: comparison::check(&suite)?.unexplained };
    if checked.unexplained.is_empty() {
        checked.rules.insert("decided-at-load-time");
    }
    Ok(checked)
}

/// Details that say how the reference works.
const REFERENCE_DETAILS: &[&str] = &["normalization", "aggregation", "mode", "grader_target"];

/// The parts that differ.
pub fn differences(graded: &Graded<'_>, is_refused: bool) -> Vec<Field> {
    let kept = graded.expected["score"].is_number() || graded.expected["implicit"] == true;
    if !kept && graded.is_variable_unset() {
        return vec![Field::Skipped];
    }
    if is_refused || !kept {
        return if is_refused == kept { vec![Field::Loading] } else { Vec::new() };
    }
    let Some(ours) = &graded.ours else { return vec![Field::Skipped] };
    if ours.state != GraderState::Decided {
        return vec![Field::Error];
    }
    let mut found = Vec::new();
    let implicit = graded.expected["implicit"] == true;
    // For the judge of a case without graders, only the case's score is recorded.
    let score = if implicit { &graded.expected["test"]["score"] } else { &graded.expected["score"] };
    let score = score.as_f64();
    if !matches!((ours.value, score), (Some(ours), Some(score)) if (ours - score).abs() < 1e-12) {
        found.push(Field::Score);
    }
    let verdict = ours.verdict.map(|verdict| if verdict == Verdict::Pass { "pass" } else { "fail" });
    if !implicit && verdict != graded.expected["verdict"].as_str() {
        found.push(Field::Verdict);
    }
    if let Some(theirs) = graded.expected["scores"].as_array()
        && !same_members(theirs, &ours.members)
    {
        found.push(Field::MemberScores);
    }
    let details = graded.expected["details"].as_object().into_iter().flatten();
    let mut details = details.filter(|(key, _)| !REFERENCE_DETAILS.contains(&key.as_str()));
    if details.any(|(key, theirs)| !ours.detail(key).is_some_and(|ours| payload::same(theirs, ours))) {
        found.push(Field::Details);
    }
    if graded.has_tag("engine-text") || graded.has_tag("os-text") {
        return found;
    }
    let list = graded.expected["assertions"].as_array().cloned().unwrap_or_default();
    let passed: Vec<bool> = list.iter().map(|assertion| assertion["passed"] == true).collect();
    let wanted: Vec<(String, bool)> = graded.expected_texts().into_iter().zip(passed).collect();
    let texts: Vec<(String, bool)> = ours.assertions.iter().map(|a| (a.text.clone(), a.passed)).collect();
    if texts != wanted {
        let own = texts.len().checked_sub(of_members(ours)).map(|own| &texts[..own]);
        let only_members = graded.kind() == "composite" && own == Some(wanted.as_slice());
        found.push(if only_members { Field::Members } else { Field::Assertions });
        return found;
    }
    // We may have evidence where the reference has none.
    let differs = |(theirs, ours): (&Value, &Assertion)| {
        evidence::text(theirs, "evidence").is_some_and(|theirs| Some(theirs) != ours.evidence)
    };
    if list.iter().zip(&ours.assertions).any(differs) {
        found.push(Field::Evidence);
    }
    found
}

/// Compares name, value and verdict of each member, recursively.
fn same_members(theirs: &[Value], ours: &[GraderRecord]) -> bool {
    theirs.len() == ours.len()
        && theirs.iter().zip(ours).all(|(theirs, ours)| {
            let verdict = ours.verdict.map(|verdict| if verdict == Verdict::Pass { "pass" } else { "fail" });
            let score = theirs["score"].as_f64();
            theirs["name"] == ours.name.as_str()
                && matches!((ours.value, score), (Some(ours), Some(score)) if (ours - score).abs() < 1e-12)
                && theirs["verdict"].as_str() == verdict
                && theirs["scores"].as_array().is_none_or(|theirs| same_members(theirs, &ours.members))
        })
}

/// Number of assertions of a composite's members.
pub fn of_members(ours: &GraderRecord) -> usize {
    ours.members.iter().map(|member| member.assertions.len()).sum()
}

/// A difference, and what it is about.
pub fn describe(what: &str, graded: &Graded<'_>) -> String {
    let ours = graded.ours.as_ref().map_or_else(
        || graded.shown.clone(),
        |ours| {
            let texts: Vec<(&str, bool, Option<&str>)> =
                ours.assertions.iter().map(|a| (a.text.as_str(), a.passed, a.evidence.as_deref())).collect();
            let members: Vec<_> = ours.members.iter().map(|m| (&m.name, m.value, m.verdict)).collect();
            format!("{:?} {:?} {:?} {texts:?} {members:?}", ours.value, ours.verdict, ours.error)
        },
    );
    let short = |text: String| text.chars().take(700).collect::<String>();
    format!(
        "{what}\n  grader   {}\n  evidence {}\n  expected {}\n  ours     {}",
        short(graded.grader.to_string()),
        short(graded.evidence().to_string()),
        short(graded.expected.to_string()),
        short(ours)
    )
}
