//! Prints the verdicts of made-up answers to all suites below a directory: one line per case and answer. Two versions of evalsuite are
//! compared by comparing what they print, as in `docs/grading-differences.md`.
//!
//! ```console
//! $ cargo run -p evalsuite-grading-tests --example corpus_verdicts -- DIRECTORY > verdicts.txt
//! ```
//!
//! Answers are made of the texts and calls that the graders of a case name. Judges reply by a digest of what they are asked.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use evalsuite::record::Usage;
use evalsuite::{AgentError, Message, Outcome, Role, RunOptions, ToolCall, Trial};
use evalsuite_conformance::record::Record;
use evalsuite_grading_tests::replay;
use evalsuite_grading_tests::stub_judge::StubJudge;
use evalsuite_loader::{Request, load};
use evalsuite_schema::grader::{Args, Composite, GraderConfig};
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::{Case, Grader};

/// Answers per case.
const SAMPLES: u64 = 24;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::args().nth(1).ok_or("the directory with the suites is missing")?);
    let mut suites = Vec::new();
    find(&root, &mut suites)?;
    suites.sort();
    for suite in suites {
        let shown = suite.strip_prefix(&root)?.display().to_string();
        for line in verdicts(&root, &suite).unwrap_or_else(|problem| vec![format!("not run: {problem}")]) {
            println!("{shown} {line}");
        }
    }
    Ok(())
}

/// The suites below a directory: eval files, and directories with `suite.json`.
fn find(directory: &Path, suites: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_dir() {
            find(&path, suites)?;
        } else if name == "eval.yaml" || name.ends_with(".eval.yaml") {
            suites.push(path);
        } else if name == "suite.json" {
            suites.push(directory.to_owned());
        }
    }
    Ok(())
}

fn verdicts(root: &Path, suite: &Path) -> Result<Vec<String>, String> {
    let package = suite.ancestors().find(|above| above.parent() == Some(root)).unwrap_or(root);
    let eval = suite.strip_prefix(package).map_err(|error| error.to_string())?.display().to_string();
    let mut files = Object::new();
    add_files(package, package, &mut files)?;
    let loaded = load(&Request::new(&eval, package));
    let cases: BTreeMap<String, Case> = loaded
        .suite
        .map(|suite| suite.cases.iter().map(|case| (case.case.id.clone(), (*case.case).clone())).collect())
        .unwrap_or_default();
    let mut lines = Vec::new();
    for sample in 0..SAMPLES {
        let made_up: BTreeMap<String, Outcome> =
            cases.iter().map(|(id, case)| (id.clone(), outcome(case, &mut Random::new(id, sample)))).collect();
        let agent = move |trial: &mut Trial<'_>| {
            made_up.get(trial.case_id()).cloned().ok_or_else(|| AgentError::new("the case is not known"))
        };
        let json = json!({ "files": files });
        let record = Record { eval: Some(eval.clone()), id: "corpus".to_owned(), env: BTreeMap::new(), json };
        let judge = StubJudge::of(&json!({"judge_reply": judge_reply(sample).to_string()}));
        let ran = replay::run_with_judge(&record, RunOptions::new(), agent, judge.as_ref())?;
        for run in &ran.cases {
            let score = run.case.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.6}"));
            let reason = run.case.reason.as_ref().map(|reason| reason.message.lines().next().unwrap_or_default());
            let (id, outcome) = (&run.case.case_id, run.case.outcome.as_str());
            lines.push(format!("{id} {sample} {outcome} {score} {}", reason.unwrap_or_default()));
        }
    }
    Ok(lines)
}

fn add_files(root: &Path, directory: &Path, files: &mut Object) -> Result<(), String> {
    for entry in fs::read_dir(directory).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            add_files(root, &path, files)?;
        } else if let Ok(text) = fs::read_to_string(&path) {
            let name = path.strip_prefix(root).map_err(|error| error.to_string())?;
            files.insert(name.display().to_string(), text.into());
        }
    }
    Ok(())
}

/// A free-form reply, which some of the judges accept.
fn judge_reply(sample: u64) -> Value {
    json!({"score": [0.5, 0.75, 0.8, 0.85, 1.0][(sample % 5) as usize]})
}

/// What an agent might return for a case: a part of what its graders look for.
fn outcome(case: &Case, random: &mut Random) -> Outcome {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    case.graders.iter().for_each(|grader| parts(grader, &mut texts, &mut calls));
    let reference: Vec<String> =
        case.expected_output.iter().filter_map(|message| Some(json!(message.content.as_ref()?).to_string())).collect();
    texts.extend(reference.iter().map(|text| text.trim_matches('"').to_owned()));
    texts.retain(|_| random.chance(3, 4));
    calls.retain(|_| random.chance(4, 5));
    if random.chance(1, 4) {
        calls.push(ToolCall::new("delete_database"));
    }
    if random.chance(1, 4) && calls.len() > 1 {
        calls.swap(0, 1);
    }
    let mut message = Message::text(Role::Assistant, texts.join("\n"));
    message.tool_calls = calls;
    let tokens = random.below(4000);
    Outcome::new()
        .with_messages(vec![message])
        .with_usage(Usage::new(tokens, tokens / 2))
        .with_cost_usd(tokens as f64 / 50_000.0)
        .with_duration(Duration::from_millis(tokens * 3))
}

/// The texts and the calls that a grader looks for.
fn parts(grader: &Grader, texts: &mut Vec<String>, calls: &mut Vec<ToolCall>) {
    match &grader.config {
        GraderConfig::Contains(config) | GraderConfig::Icontains(config) | GraderConfig::Equals(config) => {
            texts.push(config.value.clone());
        }
        GraderConfig::StartsWith(config) => texts.insert(0, config.value.clone()),
        GraderConfig::EndsWith(config) => texts.push(config.value.clone()),
        GraderConfig::ContainsAny(config) | GraderConfig::ContainsAll(config) => texts.extend(config.value.clone()),
        GraderConfig::IcontainsAny(config) | GraderConfig::IcontainsAll(config) => texts.extend(config.value.clone()),
        GraderConfig::ToolTrajectory(config) => {
            for item in &config.expected {
                let call = ToolCall::new(item.tool.replace(['*', '?'], "x"));
                calls.push(match &item.args {
                    Some(Args::Object(arguments)) => call.with_input(arguments.clone()),
                    _ => call,
                });
            }
            for (tool, count) in &config.minimums {
                calls.extend((0..*count).map(|_| ToolCall::new(tool.replace(['*', '?'], "x"))));
            }
        }
        GraderConfig::Composite(Composite { members, .. }) => {
            members.iter().for_each(|member| parts(member, texts, calls));
        }
        _ => {}
    }
}

/// A sequence of numbers that depends on a text and a number (splitmix64).
struct Random(u64);

impl Random {
    fn new(text: &str, number: u64) -> Self {
        Self(
            text.bytes().fold(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), |state, byte| {
                state.wrapping_mul(31) + u64::from(byte)
            }),
        )
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn chance(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }
}
