//! Made-up runs in the shape of real ones: records of the types that evalsuite writes, and the files beside them.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{
    Assertion, CaseRecord, GitState, GraderKind, GraderRecord, GraderState, JudgeRecord, Reason, ReasonCode, RunRecord,
    Stability, Stage, Status, SuiteRecord, SuiteRun, SuiteTest, TrialRecord, TrialSummary, Usage, Verdict,
    WorkspaceRecord,
};
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Location, Object};
use serde::Serialize;

/// A made-up run. The same numbers give the same run.
#[derive(Debug, Clone)]
pub struct SyntheticRun {
    /// Id of the run, and name of its directory.
    pub id: String,
    /// When it started, RFC 3339.
    pub started_at: String,
    /// Number of cases, in three suites.
    pub cases: usize,
    /// Trials of each case.
    pub trials: u32,
    /// Chance that a trial of an average case passes, 0 to 1.
    pub skill: f64,
    /// Text in the place of ids, answers, prompts, tags and messages of the first case.
    pub hostile: Option<String>,
}

const SUITES: [(&str, &str); 3] = [
    ("refunds", "crates/support/suites/refunds"),
    ("scheduling", "crates/support/suites/scheduling"),
    ("repair", "crates/repair/suites/repair"),
];
const TASKS: [(&str, &str, &str); 10] = [
    ("refund-after-window", "I bought the blender 45 days ago and it just died. I want my money back.", "refund"),
    ("refund-duplicate-charge", "You charged my card twice for order 88213.", "refund"),
    ("gift-card-balance", "How much is left on my gift card ending in 4471?", "lookup"),
    ("move-dentist", "Move my dentist appointment from Tuesday to Thursday afternoon.", "calendar"),
    ("two-people-named-ana", "Set up lunch with Ana next Friday.", "ambiguous"),
    ("time-zone-across-dst", "Book a call with Lisbon for 9:00 their time on 29 March.", "calendar"),
    ("off-by-one", "The sums of squares in program.rs are too small. Fix it.", "code"),
    ("slice-inside-character", "program.rs panics on the word “naïve”.", "code"),
    ("angry-customer", "This is the THIRD time I write. Fix this or I cancel.", "tone"),
    ("password-in-note", "Save this: my bank password is hunter2", "safety"),
];
const LANGUAGES: [&str; 4] = ["en", "de", "ja", "pt"];
const DIFFICULTIES: [&str; 3] = ["easy", "medium", "hard"];

impl SyntheticRun {
    /// A run of this many cases and trials.
    pub fn new(id: impl Into<String>, cases: usize, trials: u32) -> Self {
        Self {
            id: id.into(),
            started_at: "2026-11-22T14:25:50.464Z".to_owned(),
            cases,
            trials,
            skill: 0.9,
            hostile: None,
        }
    }

    /// Writes the run below an output directory; returns the run directory.
    ///
    /// # Panics
    ///
    /// If a file cannot be written.
    pub fn write(&self, output: &Path) -> PathBuf {
        let directory = output.join("runs").join(&self.id);
        for (suite, (name, path)) in SUITES.iter().enumerate() {
            let numbers: Vec<usize> = (0..self.cases).filter(|number| number % SUITES.len() == suite).collect();
            let root = directory.join("suites").join(format!("{name}-{suite:08x}"));
            let mut record = SuiteRecord::new();
            record.name = (*name).to_owned();
            record.digest = "5".repeat(64);
            for number in numbers {
                let case = Case::new(self, number, name, path);
                let test = SuiteTest::new("evals-6abfee23f4ed26b8", &case.record.test_name, &case.record.case_id);
                record.tests.push(test);
                case.write(&root.join("cases").join(&case.record.case_key));
            }
            write(&root.join("suite.json"), &record);
        }
        let mut run = RunRecord::new();
        run.run_id.clone_from(&self.id);
        run.started_at.clone_from(&self.started_at);
        run.package = "support-agent".to_owned();
        run.package_version = "0.4.2".to_owned();
        run.git = Some(GitState::new("557ca363dbbc35a2553be0b859cffd5dbd5b0fec", self.id.len().is_multiple_of(2)));
        run.suites = SUITES.iter().map(|(name, _)| SuiteRun::new(*name, "support-agent", 1)).collect();
        write(&directory.join("run.json"), &run);
        fs::create_dir_all(directory.join("locks")).expect("the directory can be made");
        directory
    }
}

/// A case with its trials and the files of each.
struct Case {
    record: CaseRecord,
    trials: Vec<Trial>,
}

struct Trial {
    record: TrialRecord,
    files: Vec<(String, String)>,
}

impl Case {
    fn new(run: &SyntheticRun, number: usize, suite: &str, path: &str) -> Self {
        let (task, prompt, bucket) = TASKS[number % TASKS.len()];
        let hostile = run.hostile.as_ref().filter(|_| number == 0);
        let id = if number < TASKS.len() { task.to_owned() } else { format!("{task}-{number:04}") };
        let key = format!("{id}-{number:08x}");
        let mut record = CaseRecord::new();
        record.run_id.clone_from(&run.id);
        record.suite = suite.to_owned();
        record.case_id = hostile.cloned().unwrap_or_else(|| id.clone());
        record.case_key = key;
        record.case_digest = format!("{number:064x}");
        record.input_digest = format!("{:064x}", number + 1);
        // A few definitions differ between runs.
        record.grader_digest = format!("{:064x}", number + 2);
        if number % 41 == 40 {
            record.case_digest = format!("{:032x}{number:032x}", run.id.len());
            record.grader_digest = record.case_digest.clone();
        }
        record.test_name = format!("{suite}::{}::{}", bucket, id.replace('-', "_"));
        record.program = "evals-6abfee23f4ed26b8".to_owned();
        record.target = if number % 7 == 3 { "small" } else { "default" }.to_owned();
        record.agent = "support_agent::agent".to_owned();
        record.location = Location::new(format!("{path}/cases/{bucket}/{id}/case.yaml"), 1, 1);
        record.runner_attempt = 1;
        record.threshold = 0.8;
        record.planned = run.trials;
        // How hard a case is belongs to the case, luck to the run.
        let difficulty = number.wrapping_mul(7) % 3;
        let chance = match (noise(number as u64, 1), difficulty) {
            (hard, 2) if hard < 0.2 => run.skill - 0.75,
            (hard, _) if hard < 0.12 => run.skill - 0.4,
            _ => run.skill + 0.09,
        };
        let is_skipped = number % 97 == 13;
        let seed = seed(&run.id, number);
        let count = if is_skipped { 1 } else { run.trials };
        let trials: Vec<Trial> = (0..count)
            .map(|trial| {
                let fate = if is_skipped {
                    Status::Skipped
                } else if noise(seed, 100 + trial) < 0.012 {
                    Status::Error
                } else if noise(seed, trial) < chance {
                    Status::Passed
                } else {
                    Status::Failed
                };
                let mut metadata = Object::new();
                metadata.insert("failure_bucket".to_owned(), bucket.into());
                metadata.insert("difficulty".to_owned(), DIFFICULTIES[difficulty].into());
                metadata.insert("language".to_owned(), LANGUAGES[number % LANGUAGES.len()].into());
                Trial::new(&record, trial, fate, prompt, metadata, seed, hostile.map(String::as_str))
            })
            .collect();
        record.finish(&trials);
        Self { record, trials }
    }

    fn write(&self, directory: &Path) {
        for trial in &self.trials {
            let directory = directory.join(format!("trial-{:03}", trial.record.trial));
            write(&directory.join("result.json"), &trial.record);
            for (path, text) in &trial.files {
                let path = directory.join(path);
                fs::create_dir_all(path.parent().expect("files are in the directory")).expect("it can be made");
                fs::write(path, text).expect("the file can be written");
            }
        }
        write(&directory.join("case.json"), &self.record);
    }
}

trait Finish {
    fn finish(&mut self, trials: &[Trial]);
}

impl Finish for CaseRecord {
    /// What the trials come to.
    fn finish(&mut self, trials: &[Trial]) {
        let count = |outcome| trials.iter().filter(|trial| trial.record.outcome == outcome).count() as u32;
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        (self.passed, self.completed, self.errors) = (passed, passed + failed, count(Status::Error));
        let scores: Vec<f64> = trials.iter().filter_map(|trial| trial.record.score).collect();
        let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        (self.score, self.mean) = (mean, mean);
        self.ci95_lower = mean.map(|mean| (mean - 0.11).max(0.0));
        self.ci95_upper = mean.map(|mean| (mean + 0.11).min(1.0));
        self.stability = (self.completed > 1).then_some(match (passed, failed) {
            (_, 0) => Stability::StablePass,
            (0, _) => Stability::StableFail,
            _ => Stability::Flaky,
        });
        let decides = trials.iter().find(|trial| trial.record.outcome != Status::Passed);
        self.outcome = if passed > 0 { Status::Passed } else { trials[0].record.outcome };
        if passed == 0 {
            self.reason = decides.and_then(|trial| trial.record.reason.clone());
        }
        for trial in trials {
            let path = format!("trial-{:03}/result.json", trial.record.trial);
            self.trials.push(TrialSummary::new(&trial.record, path));
        }
    }
}

impl Trial {
    fn new(
        case: &CaseRecord,
        index: u32,
        outcome: Status,
        prompt: &str,
        metadata: Object,
        seed: u64,
        hostile: Option<&str>,
    ) -> Self {
        let mut record = TrialRecord::of_case(case);
        record.trial = index;
        record.trials_planned = case.planned;
        record.outcome = outcome;
        record.started_at = "2026-11-22T14:25:51.000Z".to_owned();
        record.ended_at = "2026-11-22T14:26:03.000Z".to_owned();
        record.failure_bucket = metadata.get("failure_bucket").and_then(Value::as_str).map(str::to_owned);
        record.metadata = metadata;
        record.tags = hostile.map_or_else(
            || {
                if seed.is_multiple_of(3) {
                    vec!["nightly".to_owned(), "gpu-free".to_owned()]
                } else {
                    vec!["nightly".to_owned()]
                }
            },
            |text| vec![text.to_owned()],
        );
        record.trajectory = Some("trajectory.json".to_owned());
        let text = |ours: &str| hostile.unwrap_or(ours).to_owned();
        let mut files = vec![(
            "evidence.json".to_owned(),
            json!({ "seen": { "input": { "messages": [
                { "role": "system", "content": { "text": "You are the support agent of a small shop. Never promise what the policy does not allow." } },
                { "role": "user", "content": { "text": text(prompt) } },
            ] } } })
            .to_string(),
        )];
        match outcome {
            Status::Skipped => {
                let message = "needs `psql`, which is not installed".to_owned();
                record.reason = Some(Reason::new(Stage::Requirements, ReasonCode::RequirementMissing, message));
                record.trajectory = None;
                return Self { record, files };
            }
            Status::Error => {
                let message = text("the agent did not answer within 300 s");
                record.reason = Some(Reason::new(Stage::Agent, ReasonCode::Timeout, message));
                record.duration_ms = Some(300_000);
            }
            Status::Passed | Status::Failed => {
                record.duration_ms = Some(2_000 + (noise(seed, 50 + index) * 28_000.0) as u64);
                record.answer = Some(hostile.map_or_else(|| answer(case, outcome, index, seed), str::to_owned));
                grade(&mut record, &mut files, seed, hostile);
            }
        }
        let duration = record.duration_ms.unwrap_or_default();
        (record.timings.setup_ms, record.timings.agent_ms, record.timings.capture_ms) = (38, duration, 12);
        (record.timings.grading_ms, record.timings.total_ms) = (1_840, duration + 1_890);
        let input = 1_500 + (noise(seed, 60 + index) * 9_000.0) as u64;
        record.usage = Some(Usage::new(input, 90 + input / 40).with_cached(input / 3));
        record.cost_usd = Some(input as f64 * 3e-6);
        record.model = Some("support-large-2".to_owned());
        let patch = "--- a/orders/88213.toml\n+++ b/orders/88213.toml\n@@ -2,4 +2,5 @@ id = 88213\n status = \"paid\"\n-charges = 2\n+charges = 1\n+refunded = \"24.90\"\n currency = \"EUR\"\n";
        record.workspace = Some({
            let mut workspace = WorkspaceRecord::default();
            workspace.path = "/w/workspace".to_owned();
            workspace.modified = vec![text("orders/88213.toml")];
            workspace.patch = Some("diff.patch".to_owned());
            workspace
        });
        files.push(("diff.patch".to_owned(), hostile.map_or_else(|| patch.to_owned(), |text| format!("+{text}\n"))));
        files.push(("trajectory.json".to_owned(), trajectory(&record, prompt, hostile).to_string()));
        files.push(("log.txt".to_owned(), text("connected to sandbox\npolicy v7 loaded\n")));
        Self { record, files }
    }
}

fn answer(case: &CaseRecord, outcome: Status, index: u32, seed: u64) -> String {
    let days = if outcome == Status::Passed { 30 } else { 60 };
    // Some cases answer alike in all trials.
    let variant = if seed.is_multiple_of(4) { 0 } else { index % 2 };
    let opening = ["Thanks for writing to us.", "I am sorry about the trouble."][variant as usize];
    format!(
        "{opening}\n\nI looked into `{}`. Our policy covers returns within {days} days, so here is what I did:\n\n- checked the order and its charges\n- refunded the second charge of 24.90 EUR\n- sent you a confirmation\n\nIs there anything else?",
        case.case_id
    )
}

fn grade(record: &mut TrialRecord, files: &mut Vec<(String, String)>, seed: u64, hostile: Option<&str>) {
    let passed = record.outcome == Status::Passed;
    let file = record.location.file.clone();
    let text = |ours: &str| hostile.unwrap_or(ours).to_owned();
    let mut policy = grader(
        "states-policy",
        "contains",
        GraderKind::Code,
        f64::from(u8::from(passed)),
        passed,
        Location::new(&file, 14, 5),
    );
    policy.required = true;
    policy.assertions = vec![
        Assertion::new(text("the answer names the window of 30 days"), passed)
            .with_expected("30 days")
            .with_actual(text(if passed { "30 days" } else { "60 days" })),
        Assertion::new("the answer does not blame the customer", true),
    ];
    let tone_value = 0.6 + noise(seed, 70 + record.trial) * 0.4;
    let mut tone =
        grader("tone", "llm-grader", GraderKind::Model, tone_value, tone_value >= 0.7, Location::new(&file, 19, 5));
    tone.assertions = vec![
        Assertion::new("[calm] Stays calm and kind", true).with_evidence("“I am sorry about the trouble.”"),
        Assertion::new("[short] Comes to the point", tone_value >= 0.7)
            .with_evidence("Two sentences before the first fact."),
    ];
    tone.rationale = Some(text("Polite and specific. It could come to the point sooner."));
    tone.duration_ms = 1_720;
    tone.pass_mark = Some(0.7);
    tone.metrics = [("warmth".to_owned(), 0.75), ("words".to_owned(), 48.0)].into();
    let mut details = Object::new();
    details.insert(
        "votes".to_owned(),
        json!([
            { "judge": "judge-large", "state": "decided", "verdict": "pass", "value": tone_value, "error": null },
            { "judge": "judge-small", "state": "decided", "verdict": if tone_value >= 0.7 { "pass" } else { "fail" }, "value": tone_value - 0.05, "error": null },
        ]),
    );
    tone.details = Some(details);
    tone.judge = Some({
        let mut judge = JudgeRecord::default();
        judge.name = "judge-large".to_owned();
        judge.model = Some("judge-large-1".to_owned());
        judge.attempts = 2;
        judge.usage = Some(Usage::new(1_210, 140));
        judge.cost_usd = Some(0.0041);
        judge.prompt_sha256 = "9".repeat(64);
        judge.replies =
            vec!["graders/tone-9f242f24/reply-1.txt".to_owned(), "graders/tone-9f242f24/reply-2.txt".to_owned()];
        judge
    });
    record.judge_usage = Some(Usage::new(1_210, 140));
    record.judge_cost_usd = Some(0.0041);
    let directory = "graders/tone-9f242f24";
    files.push((
        format!("{directory}/system.txt"),
        "You check what an AI agent did with a task against a list of items.".to_owned(),
    ));
    files.push((format!("{directory}/prompt.txt"), text("Check the answer below against each item.\n\n[[ ## answer ## ]]\n<untrusted 1>\nThanks for writing to us.\n</untrusted 1>")));
    files.push((
        format!("{directory}/reply-1.txt"),
        json!({ "score": tone_value, "overall_reasoning": "Polite and specific." }).to_string(),
    ));
    files.push((
        format!("{directory}/reply-2.txt"),
        json!({ "score": tone_value - 0.05, "overall_reasoning": "Polite." }).to_string(),
    ));
    let mut tools =
        grader("looks-up-order", "tool-trajectory", GraderKind::Code, 1.0, true, Location::new(&file, 27, 5));
    tools.assertions = vec![Assertion::new("`find_order` was called before `refund`", true)];
    let score = (policy.value.unwrap_or_default() * 2.0 + tone_value + 1.0) / 4.0;
    if !passed {
        let message = text("required grader `states-policy` did not pass: the answer names the window of 30 days");
        record.reason = Some(
            Reason::new(Stage::Grading, ReasonCode::RequiredGraderFailed, message)
                .with_location(policy.location.clone()),
        );
    }
    policy.weight = 2.0;
    record.score = Some(score);
    record.graders = vec![policy, tone, tools];
}

fn grader(
    name: &str,
    grader_type: &str,
    kind: GraderKind,
    value: f64,
    passed: bool,
    location: Location,
) -> GraderRecord {
    let mut record = GraderRecord::default();
    record.name = name.to_owned();
    record.grader_type = grader_type.to_owned();
    record.kind = kind;
    record.state = GraderState::Decided;
    record.value = Some(value);
    record.verdict = Some(Verdict::from_passed(passed));
    record.pass_mark = Some(1.0);
    record.weight = 1.0;
    record.location = location;
    record
}

fn trajectory(record: &TrialRecord, prompt: &str, hostile: Option<&str>) -> Value {
    let text = |ours: &str| hostile.unwrap_or(ours).to_owned();
    let call = |id: &str, name: &str, arguments: Value, ms: f64| json!({ "tool_call_id": id, "function_name": name, "arguments": arguments, "extra": { "duration_ms": ms } });
    json!({
        "schema_version": "ATIF-v1.8",
        "session_id": record.run_id,
        "agent": { "name": record.agent, "version": "0.4.2", "model_name": record.model },
        "steps": [
            { "step_id": 1, "source": "user", "message": text(prompt) },
            { "step_id": 2, "source": "agent", "message": text("Let me find the order first."), "reasoning_content": text("The customer names an order. The policy decides by its date."),
              "tool_calls": [call("call-1", "find_order", json!({ "id": text("88213") }), 412.5)],
              "observation": { "results": [{ "source_call_id": "call-1", "content": text("{\"id\": 88213, \"charges\": 2, \"total\": \"24.90 EUR\"}") }] },
              "metrics": { "prompt_tokens": 1_450, "completion_tokens": 62, "cached_tokens": 900 } },
            { "step_id": 3, "source": "agent", "message": "",
              "tool_calls": [
                  call("call-2", "read_policy", json!({ "section": "returns" }), 38.1),
                  call("call-3", "refund", json!({ "order": 88213, "amount": "24.90", "currency": "EUR", "reason": "charged twice" }), 1_904.0),
              ],
              "observation": { "results": [
                  { "source_call_id": "call-2", "content": "Returns are possible within 30 days after delivery. Duplicate charges are always refunded.\n" },
                  { "source_call_id": "call-3", "content": "ok" },
              ] },
              "metrics": { "prompt_tokens": 2_100, "completion_tokens": 118, "cached_tokens": 1_450 } },
            { "step_id": 4, "source": "agent", "message": record.answer.as_deref().unwrap_or_default(), "metrics": { "prompt_tokens": 2_420, "completion_tokens": 96 } },
        ],
    })
}

fn seed(run: &str, number: usize) -> u64 {
    run.bytes().fold(number as u64 + 1, |hash, byte| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte))
}

/// A number from 0 to 1 (SplitMix64).
fn noise(seed: u64, stream: u32) -> f64 {
    let mut x =
        seed.wrapping_add(u64::from(stream).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn write(path: &Path, record: &impl Serialize) {
    fs::create_dir_all(path.parent().expect("files are in the directory")).expect("it can be made");
    fs::write(path, serde_json::to_vec_pretty(record).expect("records are JSON")).expect("the file can be written");
}
