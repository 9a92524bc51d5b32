//! Patterns in the engines of JavaScript and Python. Where they differ from `regex` is in the table of `docs/patterns.md`; what patterns
//! without the parts of this table match is the same.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use evalsuite::Verdict;
use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, from_str, json};
use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::compared::{answered, graded, grader, inputs, seed};

/// A pattern, its flags, and texts.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) pattern: String,
    pub(crate) flags: String,
    pub(crate) texts: Vec<String>,
}

/// Whether the pattern is in each of the texts; `None` if it is refused.
pub(crate) type Found = Option<Vec<bool>>;

/// A row of the table of differences.
pub(crate) struct Row {
    pub(crate) pattern: String,
    pub(crate) flags: String,
    pub(crate) text: String,
    pub(crate) evalsuite: String,
    pub(crate) javascript: String,
    pub(crate) python: String,
}

/// Parts of patterns that mean the same in ASCII texts without line breaks at their end.
const PARTS: &[&str] = &[
    "a",
    "b",
    "A",
    "1",
    "_",
    " ",
    "-",
    "#",
    "/",
    "\"",
    "[ab]",
    "[^a]",
    "[a-z]",
    "[a-zA-Z0-9_.-]",
    "\\d",
    "\\w",
    "\\s",
    "\\D",
    "\\W",
    "\\S",
    ".",
    "\\b",
    "^",
    "$",
    "(a)",
    "(?:b)",
    "(a|b)",
    "(?:1|ab)",
    "()",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?<!a)",
    "a*",
    "b+",
    "1?",
    "a{2}",
    "b{1,}",
    "a{0,2}",
    "a*?",
    "b+?",
    "(?:ab)*",
    "(a|1)+",
    "\\/",
    "\\-",
    "\\.",
    "\\#",
    "\\\"",
    "\\\\",
    "\\n",
    "\\t",
    "\\x61",
    "\\u0062",
    "\\{",
    "\\(",
    "\\|",
    "|",
];

pub(crate) fn by_evalsuite(input: &Input) -> Found {
    let Input { pattern, flags, .. } = input;
    // What the build refuses.
    let prefix = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    fancy_regex::Regex::new(&format!("{prefix}{pattern}")).ok()?;
    let grader = grader(json!({"regex": {"value": pattern, "flags": flags}}));
    Some(input.texts.iter().map(|text| graded(&grader, answered(text)).verdict == Some(Verdict::Pass)).collect())
}

/// What a program of `tools` says about the inputs.
pub(crate) fn by(program: &str, script: &str, inputs: &[Input]) -> Vec<Found> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(script);
    let mut command = Command::new(program);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let lines: String = inputs
        .iter()
        .map(|input| format!("{}\n", json!({"pattern": input.pattern, "flags": input.flags, "texts": input.texts})))
        .collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).expect("the program reads"));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("everything is written");
    assert!(output.status.success(), "{program}: {}", output.status);
    let printed = String::from_utf8(output.stdout).expect("a text");
    let found: Vec<Found> = printed
        .lines()
        .map(|line| {
            let value: Value = from_str(line).expect("JSON");
            value.as_array().map(|found| found.iter().map(|found| *found == json!(true)).collect())
        })
        .collect();
    assert_eq!(found.len(), inputs.len(), "{program} says something about every pattern");
    found
}

/// The table of differences.
pub(crate) fn rows() -> Vec<Row> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/patterns.md");
    let page = fs::read_to_string(page).expect("the page");
    let row = |line: &str| {
        let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
        let [pattern, flags, text, evalsuite, javascript, python] =
            line.trim_matches('|').split('|').map(cell).collect::<Vec<_>>().try_into().expect("six cells");
        let text = from_str::<Value>(&text).expect("a text of JSON").as_str().expect("a text").to_owned();
        Row { pattern, flags, text, evalsuite, javascript, python }
    };
    page.lines().filter(|line| line.starts_with("| `")).map(row).collect()
}

#[needs(node, python)]
#[test]
fn the_table_of_differences_is_right() {
    let rows = rows();
    let input =
        |row: &Row| Input { pattern: row.pattern.clone(), flags: row.flags.clone(), texts: vec![row.text.clone()] };
    let inputs: Vec<Input> = rows.iter().map(input).collect();
    let ours: Vec<Found> = inputs.iter().map(by_evalsuite).collect();
    let [javascript, python] =
        [("node", "engines.mjs"), ("python3", "engines.py")].map(|(program, script)| by(program, script, &inputs));
    let mut wrong = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for (engine, found, cell) in [
            ("evalsuite", &ours[at], &row.evalsuite),
            ("JavaScript", &javascript[at], &row.javascript),
            ("Python", &python[at], &row.python),
        ] {
            let said = match found.as_deref() {
                None => "refused",
                Some([true]) => "yes",
                _ => "no",
            };
            if cell != "–" && cell != said {
                wrong.push(format!("{} {:?}: {engine} says {said}, the page {cell}", row.pattern, row.text));
            }
        }
    }
    assert!(rows.len() > 40 && wrong.is_empty(), "{} rows\n{}", rows.len(), wrong.join("\n"));
}

#[needs(node, python)]
#[test]
fn other_patterns_match_the_same_in_javascript_and_python() {
    let texts = vec("[abA1_ .#/\\-\\n]{0,5}[abA1_ .#/-]", 3);
    let strategy = (vec(select(PARTS), 1..5), select(&["", "i", "m", "s"][..]), texts);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let inputs: Vec<Input> = (0..inputs())
        .map(|_| {
            let (parts, flags, texts) = strategy.new_tree(&mut runner).expect("an input").current();
            Input { pattern: parts.concat(), flags: flags.to_owned(), texts }
        })
        .collect();
    for (program, script) in [("node", "engines.mjs"), ("python3", "engines.py")] {
        for (input, found) in inputs.iter().zip(by(program, script, &inputs)) {
            assert_eq!(by_evalsuite(input), found, "{program}, TEST_ORACLE_SEED={}: {input:?}", seed());
        }
    }
}
