//! The table of graders in `docs/passing.md` says what the code does.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite::__private::{AgentWork, GradableEvidence};
use evalsuite::record::{GraderRecord, GraderState, Usage};
use evalsuite::{Content, Message, Role, ToolCall, Verdict};
use evalsuite_loader::{Request, load};
use evalsuite_schema::Grader;
use evalsuite_schema::grader::{BUILT_IN, GraderConfig, TABLES};
use evalsuite_schema::json::json;

/// A row of the table.
struct Contract {
    score: String,
    guard: String,
    unreadable: String,
}

/// The rows, by the types that they are about.
fn contracts() -> BTreeMap<String, Contract> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/passing.md");
    let page = std::fs::read_to_string(page).expect("docs/passing.md can be read");
    let rows = page.split_once("\n## Graders\n").expect("the page has the section").1;
    let mut contracts = BTreeMap::new();
    for row in rows.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches([' ', '|']).split(" | ").map(str::trim).collect();
        let [types, score, guard, unreadable] = cells[..] else { panic!("four cells: {row}") };
        for name in types.split(", ") {
            let [score, guard, unreadable] = [score, guard, unreadable].map(str::to_owned);
            let before = contracts.insert(name.trim_matches('`').to_owned(), Contract { score, guard, unreadable });
            assert!(before.is_none(), "{name} is in the table twice");
        }
    }
    contracts
}

/// The examples of the table of graders, as a suite that is loaded.
fn examples() -> BTreeMap<String, Grader> {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |file: &str, text: &str| {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    };
    write("refund.schema.json", r#"{"type": "object"}"#);
    write("graders/totals.py", "print('no result')");
    let cases: Vec<String> = TABLES
        .iter()
        .map(|table| {
            format!(
                "  - {{ id: {}, input: q, criteria: c, expected_output: {{ total: 19.9 }}, assertions: [{}] }}\n",
                table.id, table.example
            )
        })
        .collect();
    write("EVAL.yaml", &format!("tests:\n{}", cases.concat()));
    let loaded = load(&Request::new("EVAL.yaml", directory.path()));
    assert!(!loaded.diagnostics.has_errors(), "{:#?}", loaded.diagnostics);
    let cases = loaded.suite.expect("a suite").cases;
    cases.iter().map(|case| (case.case.id.clone(), case.case.graders[0].clone())).collect()
}

fn graded(grader: &Grader, negate: bool, work: AgentWork) -> GraderRecord {
    let mut grader = grader.clone();
    grader.negate = negate;
    GradableEvidence::new(work).grade(&grader)
}

/// Work of an agent that reported nothing, and whose answer is no JSON.
fn nothing(answer: &str) -> AgentWork {
    let expected = Message::new(Role::Assistant, Content::Data(json!({"total": 19.9})));
    AgentWork { answer: answer.to_owned(), expected_output: vec![expected], ..AgentWork::default() }
}

/// Work of an agent that reported everything.
fn work(answer: &str, tools: &[&str], tokens: u64) -> AgentWork {
    let mut message = Message::text(Role::Assistant, answer);
    message.tool_calls = tools.iter().map(|tool| ToolCall::new(*tool)).collect();
    AgentWork {
        transcript: Some(vec![message]),
        usage: Some(Usage::new(tokens, tokens)),
        cost_usd: Some(tokens as f64 / 1e6),
        duration_ms: tokens as f64,
        ..nothing(answer)
    }
}

#[test]
fn every_grader_has_one_row() {
    let rows: BTreeSet<String> = contracts().into_keys().collect();
    assert_eq!(rows, BUILT_IN.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn the_guards_are_those_of_the_table() {
    let contracts = contracts();
    let is_guard = |grader: &Grader| grader.is_guard() && grader.counts_entirely();
    for (name, mut grader) in examples() {
        let guard = contracts[&name].guard.as_str();
        let expected = match guard {
            "yes" | "if the skill must not be used" => true,
            "no" | "of its members" => false,
            other => panic!("{name}: `{other}`"),
        };
        assert_eq!(is_guard(&grader), expected, "{name}");
        if let GraderConfig::SkillTrigger(config) = &mut grader.config {
            config.should_trigger = true;
            assert!(!is_guard(&grader), "{name}");
            grader.negate = true;
            assert!(is_guard(&grader), "{name}: a skill that must not be used, in other words");
        }
        (grader.weight, grader.min_score) = (1.0, Some(0.5));
        assert!(!is_guard(&grader), "{name} with a `min_score`");
        (grader.weight, grader.min_score) = (0.0, None);
        assert!(!is_guard(&grader), "{name} with weight 0");
    }
}

#[test]
fn what_is_missing_or_unreadable_is_as_the_table_says() {
    let contracts = contracts();
    for (name, grader) in examples() {
        let says = contracts[&name].unreadable.as_str();
        for negate in [false, true] {
            let record = graded(&grader, negate, nothing("no JSON {"));
            let (state, verdict) = (record.state, record.verdict);
            if says.starts_with("fails") {
                assert_eq!((state, verdict), (GraderState::Decided, Some(Verdict::Fail)), "{name}");
            } else if says.starts_with('–')
                || says.starts_with("error if texts")
                || says.starts_with("error if matching")
            {
                assert_eq!(state, GraderState::Decided, "{name}: {record:?}");
            } else if name != "composite" {
                assert!(says.starts_with("error"), "{name}: {says}");
                assert_eq!(state, GraderState::Error, "{name}: {record:?}");
            }
        }
    }
}

#[test]
fn scores_of_0_or_1_are_never_between() {
    let contracts = contracts();
    let answers = ["", "19.90", "Dear order 1182, refund of 19.90 paid. Your shop", "approved", r#"{"total": 19.9}"#];
    for (name, grader) in examples().into_iter().filter(|(name, _)| contracts[name].score == "0 or 1") {
        let mut seen = BTreeSet::new();
        for answer in answers {
            for (tools, tokens) in [(&["find_order", "refund"][..], 10), (&["Skill"][..], 1_000_000)] {
                let value = graded(&grader, false, work(answer, tools, tokens)).value.expect("a value");
                seen.insert((value * 1000.0) as u32);
            }
        }
        assert!(seen.is_subset(&BTreeSet::from([0, 1000])) && !seen.is_empty(), "{name}: {seen:?}");
    }
}

#[test]
fn graders_that_can_run_out_of_bounds_are_errors_then() {
    let long = |letter: &str| letter.repeat(150_000);
    let grader = |config| {
        let config = evalsuite_schema::json::from_value(config).expect("a grader");
        Grader::new("g", evalsuite_schema::Location::new("EVAL.yaml", 1, 1), config)
    };
    let similar = grader(json!({"similar": {"value": long("a")}}));
    let regex = grader(json!({"regex": {"value": r"^(x|xx|xxx)+(?=y)\1$"}}));
    for (grader, answer) in [(similar, long("b")), (regex, "x".repeat(5_000))] {
        for negate in [false, true] {
            assert_eq!(graded(&grader, negate, nothing(&answer)).state, GraderState::Error);
        }
    }
}
